/* The data file of a simulation. See simulate/data_file.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/base/text.h"
#include "sim/machine/cost.h"
#include "simulate/bytes.h"
#include "simulate/data_file.h"
#include "simulate/phase_texts.h"

/* What stands on a line of its own: where the file tells of the machines, and where the costs of
   each begin and end. The events can be `with_faults`. */
static const char *const places[] = { "@machines", "@events", "@totals" };
enum { MACHINES, EVENTS, TOTALS, N_PLACES };

static const char with_faults[] = "@events faults";

static const char begins[] = "@data\n# tlbgrind data\n";

/* Pieces of the text that are the same for all machines, each before a place, the last one behind
   them all. */
enum { N_PIECES = N_PLACES + 1 };

typedef struct {
   const char *at;
   size_t n;
} piece;

typedef struct {
   TgOutText cost, lines;
} of_machine;

struct TgDataFile {
   unsigned n;
   TgOutText head, objects, tail; /* of pieces: all but the lines of source */
   of_machine machine[];
};

/* --- Reading --- */

static bool is_place(const char *line, size_t length, unsigned place)
{
   return tg_run_text_is(line, length, places[place])
          || (place == EVENTS && tg_run_text_is(line, length, with_faults));
}

size_t tg_data_text_at(const char *text, size_t n)
{
   const char *at = text, *const end = text + n;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (tg_run_text_is(line, length, "@data"))
         return (size_t)(line - text);
   }
   return n;
}

/* Whether it is "object: NUMBER ...", with the next number. */
static bool is_object(const char *line, size_t length, unsigned number)
{
   static const char key[] = "object: ";
   const char *at = line + sizeof key - 1;
   uint64_t found;
   return length >= sizeof key && memcmp(line, key, sizeof key - 1) == 0
          && tlb_text_number(&at, line + length, &found) && found == number;
}

/* How many objects the text has, whose lines of source come behind all of them. */
static unsigned count_objects(const char *text, size_t n)
{
   const char *at = text, *const end = text + n;
   unsigned found = 0;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (is_place(line, length, EVENTS))
         break;
      found += is_object(line, length, found + 1);
   }
   return found;
}

const char *tg_data_text_check(const char *text, size_t n, unsigned n_lines)
{
   const unsigned n_objects = count_objects(text, n);
   const char *at = text, *const end = text + n;
   unsigned place = 0;
   if (n < sizeof begins || memcmp(text, begins, sizeof begins - 1) != 0 || text[n - 1] != '\n')
      return "the text of the data at the end is no text";
   at = memchr(text, '\n', n) + 1;
   while (at < end) {
      size_t length;
      TgSourceLine unused;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (tg_run_text_has_control(line, length))
         return "the text of the data at the end has control characters";
      if (line[0] == '@' && (place == N_PLACES || !is_place(line, length, place++)))
         return "the text of the data at the end has what belongs elsewhere";
      if (line[0] == ':' && (place != TOTALS || !tg_run_text_source_of_data(line, length, n_lines,
                                                                           n_objects, &unused)))
         return "the text of the data at the end has a line of source that can not be";
   }
   return place == N_PLACES ? NULL : "the text of the data at the end is not complete";
}

/* Finds the pieces of a text that has been checked. */
static void find_pieces(const char *text, size_t n, piece out[N_PIECES])
{
   const char *at = memchr(text, '\n', n) + 1, *const end = text + n;
   unsigned place = 0;
   out[0] = (piece){ at, (size_t)(end - at) };
   while (place < N_PLACES) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (!is_place(line, length, place))
         continue;
      out[place].n = (size_t)(line - out[place].at);
      out[++place] = (piece){ at, (size_t)(end - at) };
   }
}

/* --- A machine --- */

static void put_cost(TgOutText *out, const TgOutFile *o, const uint64_t *total, uint64_t least)
{
   if (!tlb_cost_is_known(&o->machine->m))
      tg_out_put(out, "unknown");
   else if (o->machine->cycles != 0)
      tg_out_put(out, "%llu..%llu of %llu cycles", (unsigned long long)least,
                 (unsigned long long)total[TG_ALL_CYCLES], (unsigned long long)o->machine->cycles);
   else
      tg_out_put(out, "%llu..%llu assumed: %d..%d instructions a cycle", (unsigned long long)least,
                 (unsigned long long)total[TG_ALL_CYCLES], TLB_LEAST_PER_CYCLE, TLB_MOST_PER_CYCLE);
}

static void put_line(TgOutText *out, const TgOutFile *o, const char *line, size_t length,
                     const TgEvent **event, unsigned n_events)
{
   TgSourceLine l;
   uint64_t cost[TG_N_COSTS];
   if (!tg_run_text_source_of_data(line, length, tg_replay_n_lines(o->replay), ~0u, &l)) {
      tg_out_put_n(out, line, length);
      tg_out_put_n(out, "\n", 1);
      return;
   }
   tg_out_file_costs(o, &l, cost);
   tg_out_put_n(out, l.position, l.position_length);
   tg_out_put_n(out, " ", 1);
   tg_out_file_put_costs(out, cost, event, n_events);
}

static void put_lines(TgOutText *out, const TgOutFile *o, const piece *lines, bool faults,
                      const uint64_t *total)
{
   const TgEvent *event[TG_MAX_EVENTS];
   const unsigned n_events = tg_events(&o->machine->m, faults,
                                       o->machine->flush.how != TLB_FLUSH_NONE,
                                       o->machine->prefetch, event);
   const char *at = lines->at, *const end = at + lines->n;
   tg_out_put(out, "\nmachine: ");
   tg_out_put_text(out, o->machine->label);
   tg_out_put(out, "\nevents:");
   for (unsigned i = 0; i < n_events; i++)
      tg_out_put(out, " %s", event[i]->name);
   tg_out_put(out, "\n");
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      put_line(out, o, line, length, event, n_events);
   }
   tg_out_put(out, "\ntotals: ");
   tg_out_file_put_costs(out, total, event, n_events);
}

/* Where the recording tells of flushes,
   it has the lines that have costs by them on some machine. */
static const char *keep_lines(TgOutText *out, const TgOutFile *o, piece lines, bool flushes,
                              bool faults, const uint64_t *total)
{
   char *const with = flushes ? tg_lines_of_data_with(lines.at, lines.n, tg_out_file_has_flushes_at,
                                                      o, &lines.n) : NULL;
   if (flushes && with == NULL)
      return "the text of the data at the end has lines of source that can not be";
   lines.at = flushes ? with : lines.at;
   put_lines(out, o, &lines, faults, total);
   free(with);
   return NULL;
}

const char *tg_data_file_keep(TgDataFile *d, const TgOutFile *o, const char *text, size_t n,
                              bool flushes, const uint64_t total[TG_N_COSTS], uint64_t least)
{
   const unsigned number = o->number - 1;
   of_machine *const m = &d->machine[number];
   piece pieces[N_PIECES];
   find_pieces(text, n, pieces);
   put_cost(&m->cost, o, total, least);
   const char *const why = keep_lines(&m->lines, o, pieces[TOTALS], flushes,
                                      tg_run_text_has_faults(text, n), total);
   if (number > 0 || why != NULL)
      return why;
   tg_out_put_n(&d->head, pieces[MACHINES].at, pieces[MACHINES].n);
   tg_out_put_n(&d->objects, pieces[EVENTS].at, pieces[EVENTS].n);
   tg_out_put_n(&d->tail, pieces[N_PLACES].at, pieces[N_PLACES].n);
   return NULL;
}

/* --- Through a pipe --- */

static bool send_text(const TgOutText *t, int fd)
{
   return tg_write_bytes(fd, &t->n, sizeof t->n) && tg_write_bytes(fd, t->text, t->n);
}

static bool receive_text(TgOutText *t, int fd)
{
   if (!tg_read_bytes(fd, &t->n, sizeof t->n))
      return false;
   t->room = t->n;
   t->text = tg_load_need(malloc(t->n + 1));
   return tg_read_bytes(fd, t->text, t->n);
}

bool tg_data_file_send(const TgDataFile *d, unsigned machine, int fd)
{
   const of_machine *const m = &d->machine[machine];
   return send_text(&m->cost, fd) && send_text(&m->lines, fd)
          && (machine > 0 || (send_text(&d->head, fd) && send_text(&d->objects, fd)
                              && send_text(&d->tail, fd)));
}

bool tg_data_file_receive(TgDataFile *d, unsigned machine, int fd)
{
   of_machine *const m = &d->machine[machine];
   return receive_text(&m->cost, fd) && receive_text(&m->lines, fd)
          && (machine > 0 || (receive_text(&d->head, fd) && receive_text(&d->objects, fd)
                              && receive_text(&d->tail, fd)));
}

/* --- All of it --- */

TgDataFile *tg_data_file_new(unsigned n_machines)
{
   TgDataFile *const d = tg_load_need(calloc(1, sizeof *d + n_machines * sizeof d->machine[0]));
   d->n = n_machines;
   return d;
}

char *tg_data_file_make(const TgDataFile *d, size_t *length)
{
   TgOutText out = { NULL, 0, 0 };
   tg_out_put_n(&out, d->head.text, d->head.n);
   tg_out_put(&out, "machines: %u\nmiss-cycles:", d->n);
   for (unsigned i = 0; i < d->n; i++) {
      tg_out_put(&out, i == 0 ? " " : ", ");
      tg_out_put_n(&out, d->machine[i].cost.text, d->machine[i].cost.n);
   }
   tg_out_put(&out, "\n");
   tg_out_put_n(&out, d->objects.text, d->objects.n);
   for (unsigned i = 0; i < d->n; i++)
      tg_out_put_n(&out, d->machine[i].lines.text, d->machine[i].lines.n);
   tg_out_put_n(&out, d->tail.text, d->tail.n);
   tg_out_put_checksum(&out);
   *length = out.n;
   return out.text;
}

void tg_data_file_free(TgDataFile *d)
{
   for (unsigned i = 0; i < d->n; i++) {
      free(d->machine[i].cost.text);
      free(d->machine[i].lines.text);
   }
   free(d->head.text);
   free(d->objects.text);
   free(d->tail.text);
   free(d);
}
