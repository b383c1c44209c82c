/* Out-files of a simulation. See simulate/out_file.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/out_words.h"
#include "command/load_machine.h"
#include "sim/base/text.h"
#include "sim/machine/cost.h"
#include "sim/machine/description.h"
#include "simulate/out_file.h"

/* What stands on a line of its own where machines differ. */
static const char *const places[] = { "@machine", "@second misses", "@events", "@totals" };
enum { MACHINE, SECOND_MISSES, EVENTS, TOTALS, N_PLACES };

/* Behind the '@' of the events. */
static const char with_faults[] = "@events faults";

/* Where the names of phases and threads stand; and what begins the text of one. */
static const char with_sections[] = "@shares", section_begins[] = "@share ";

/* --- Reading --- */

static bool take_number(const char **at, const char *end, uint64_t *n)
{
   return tlb_text_number(at, end, n) && *at < end && *(*at)++ == ' ';
}

bool tg_run_text_source(const char *line, size_t n, unsigned n_lines, TgSourceLine *out)
{
   const char *at = line + 1, *const end = line + n;
   uint64_t number;
   if (n == 0 || line[0] != ':')
      return false;
   for (unsigned i = 0; i < TLB_N_USERS; i++) {
      if (!take_number(&at, end, &out->refs[i]))
         return false;
   }
   for (unsigned i = 0; i < TLB_N_USERS; i++) {
      if (!take_number(&at, end, &out->faults[i]))
         return false;
   }
   out->numbers = at;
   while (at < end && *at != ';') {
      if (!take_number(&at, end, &number) || number == 0 || number > n_lines)
         return false;
   }
   if (at == end)
      return false;
   out->position = ++at;
   out->position_length = (size_t)(end - at);
   for (const char *c = at; c < end; c++) {
      if (strchr("0123456789abcdefx ", *c) == NULL)
         return false;
   }
   return at < end;
}

const char *tg_run_text_line(const char **at, const char *end, size_t *length)
{
   const char *const line = *at, *const stop = memchr(line, '\n', (size_t)(end - line));
   *length = (size_t)((stop == NULL ? end : stop) - line);
   *at = stop == NULL ? end : stop + 1;
   return line;
}

static bool is(const char *line, size_t length, const char *text)
{
   return strlen(text) == length && memcmp(line, text, length) == 0;
}

static bool is_place(const char *line, size_t length, unsigned place)
{
   return is(line, length, places[place]) || (place == EVENTS && is(line, length, with_faults));
}

static const char label_characters[]
   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool has_control(const char *line, size_t length)
{
   for (size_t i = 0; i < length; i++) {
      if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
         return true;
   }
   return false;
}

/* The word at `at`; moves behind the space behind it. NULL: there is none. */
static const char *word(const char **at, const char *end, size_t *length)
{
   const char *const w = *at, *const stop = memchr(w, ' ', (size_t)(end - w));
   if (stop == NULL || stop == w)
      return NULL;
   *length = (size_t)(stop - w);
   *at = stop + 1;
   return w;
}

/* Reads "@share KIND LABEL NAME". */
static bool take_section(const char *line, size_t length, TgSection *s)
{
   const char *at = line + sizeof section_begins - 1, *const end = line + length;
   s->kind = word(&at, end, &s->kind_length);
   s->label = s->kind == NULL ? NULL : word(&at, end, &s->label_length);
   if (s->label == NULL || !(is(s->kind, s->kind_length, TG_OUT_PHASE) || is(s->kind, s->kind_length, TG_OUT_THREAD)))
      return false;
   for (size_t i = 0; i < s->label_length; i++) {
      if (strchr(label_characters, s->label[i]) == NULL)
         return false;
   }
   s->name = at;
   s->name_length = (size_t)(end - at);
   return s->name_length > 0 && !has_control(s->name, s->name_length);
}

unsigned tg_run_text_sections(const char *text, size_t n, TgSection *section, unsigned most,
                              const char **why)
{
   const char *at = text, *const end = text + n;
   unsigned found = 1;
   section[0] = (TgSection){ .text = text, .n = n };
   *why = NULL;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (length < sizeof section_begins || memcmp(line, section_begins, sizeof section_begins - 1) != 0)
         continue;
      section[found - 1].n = (size_t)(line - section[found - 1].text);
      if (found == most || !take_section(line, length, &section[found])) {
         *why = found == most ? "the text at the end has too many parts"
                              : "the text at the end has a part without name";
         return 0;
      }
      section[found].text = at;
      section[found++].n = (size_t)(end - at);
   }
   return found;
}

const char *tg_run_text_check(const char *text, size_t n, unsigned n_lines)
{
   const char *at = text, *const end = text + n;
   unsigned place = 0;
   bool has_sections = false;
   if (n == 0 || text[n - 1] != '\n')
      return "the text at the end is no text";
   while (at < end) {
      size_t length;
      TgSourceLine unused;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (has_control(line, length))
         return "the text at the end has control characters";
      if (is(line, length, with_sections) && place == SECOND_MISSES && !has_sections) {
         has_sections = true;
         continue;
      }
      if (line[0] == '@' && (place == N_PLACES || !is_place(line, length, place++)))
         return "the text at the end has what belongs elsewhere";
      if (line[0] == ':'
          && (place != TOTALS || !tg_run_text_source(line, length, n_lines, &unused)))
         return "the text at the end has a line of source that can not be";
   }
   return place == N_PLACES ? NULL : "the text at the end is not complete";
}

/* --- Costs --- */

static void add_misses(const TgOutFile *o, unsigned line, uint64_t *cost)
{
   uint64_t of[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
   tg_replay_add(o->replay, o->nth, line, o->parts, of);
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++) {
      for (unsigned i = 0; i < TG_N_OF_A_MISS; i++)
         cost[tg_cost(kind, TG_MISS_1 + i)] += of[kind][i];
      cost[TG_ALL_WALK_REFS] += of[kind][TLB_COST_WALK_REFERENCES];
      cost[TG_ALL_CYCLES] += of[kind][TLB_COST_CYCLES];
   }
}

static void costs_of(const TgOutFile *o, const TgSourceLine *l, uint64_t cost[TG_N_COSTS])
{
   const char *at = l->numbers;
   uint64_t number;
   memset(cost, 0, TG_N_COSTS * sizeof *cost);
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++) {
      cost[tg_cost(kind, TG_REFS)] = l->refs[kind];
      cost[TG_FAULTS + kind] = l->faults[kind];
   }
   while (*at != ';' && take_number(&at, l->position, &number))
      add_misses(o, (unsigned)number, cost);
}

static void add(uint64_t *to, const uint64_t *cost)
{
   for (unsigned i = 0; i < TG_N_COSTS; i++)
      to[i] += cost[i];
}

static bool is_nested(const TgOutFile *o)
{
   const tlb_machine *const m = &o->machine->m;
   return o->nested && m->n_walk_steps > 0 && !m->software_walk;
}

/* The least that the misses of one function cost. */
static uint64_t least_of(const TgOutFile *o, const uint64_t *cost)
{
   tlb_kind_misses missed[TLB_N_USERS];
   if (!tlb_cost_is_known(&o->machine->m) || cost[TG_ALL_CYCLES] == 0)
      return 0;
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++) {
      for (unsigned level = 0; level < TLB_MAX_LEVELS; level++)
         missed[kind].missed[level] = cost[tg_cost(kind, TG_MISS_1 + level)];
      missed[kind].walks = cost[tg_cost(kind, TG_WALKS)];
   }
   return tlb_cost_least(&o->machine->m, missed, cost[tg_cost(TLB_FETCH, TG_REFS)], is_nested(o),
                         cost[TG_ALL_CYCLES]);
}

/* Adds up all lines; *least: of all functions, each of which begins with its name. */
static void add_up(const TgOutFile *o, const char *text, size_t n, uint64_t total[TG_N_COSTS],
                   uint64_t *least)
{
   const char *at = text, *const end = text + n;
   uint64_t of_function[TG_N_COSTS] = { 0 };
   memset(total, 0, TG_N_COSTS * sizeof *total);
   *least = 0;
   while (at < end) {
      size_t length;
      TgSourceLine l;
      uint64_t cost[TG_N_COSTS];
      const char *const line = tg_run_text_line(&at, end, &length);
      if (length > 3 && memcmp(line, "fn=", 3) == 0) {
         *least += least_of(o, of_function);
         memset(of_function, 0, sizeof of_function);
      }
      if (!tg_run_text_source(line, length, tg_replay_n_lines(o->replay), &l))
         continue;
      costs_of(o, &l, cost);
      add(of_function, cost);
      add(total, cost);
   }
   *least += least_of(o, of_function);
}

void tg_out_file_sums(const TgOutFile *o, const char *text, size_t n, uint64_t total[TG_N_COSTS],
                      uint64_t *least)
{
   add_up(o, text, n, total, least);
   for (unsigned line = 1; n == 0 && line <= tg_replay_n_lines(o->replay); line++)
      add_misses(o, line, total);
}

/* --- Writing --- */

typedef struct {
   char *text;
   size_t n, room;
} out_text;

static void put_n(out_text *out, const char *text, size_t n)
{
   if (out->n + n > out->room) {
      out->room = 2 * (out->n + n) + 4096;
      out->text = realloc(out->text, out->room);
      if (out->text == NULL)
         tg_load_refuse("no memory");
   }
   memcpy(out->text + out->n, text, n);
   out->n += n;
}

static void put(out_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(out_text *out, const char *format, ...)
{
   char text[2 * TLB_SOURCE_SIZE];
   va_list args;
   va_start(args, format);
   const int n = vsnprintf(text, sizeof text, format, args);
   va_end(args);
   put_n(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_number(out_text *out, uint64_t n, char after)
{
   char digits[21];
   size_t at = sizeof digits;
   digits[--at] = after;
   do {
      digits[--at] = (char)('0' + n % 10);
      n /= 10;
   } while (n != 0);
   put_n(out, digits + at, sizeof digits - at);
}

/* With '?' for each control character, as the tool writes names. */
static void put_text(out_text *out, const char *text)
{
   for (; *text != '\0'; text++)
      put(out, "%c", (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void put_array(const char *line, void *opaque)
{
   put(opaque, TG_OUT_ARRAY, line);
}

static void put_line(const char *line, void *opaque)
{
   put(opaque, "desc: %s\n", line);
}

static void put_text_line(const char *line, void *opaque)
{
   put(opaque, "desc: ");
   put_text(opaque, line);
   put(opaque, "\n");
}

/* What system calls and context switches do. */
static void put_others(out_text *out, const TgOutFile *o)
{
   char words[120];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_syscalls_words(&o->machine->syscalls, &t);
   if (o->machine->syscalls.how != TLB_SYSCALLS_NONE)
      put(out, TG_OUT_SYSCALLS "%s\n", words);
   t = tlb_text_in(words, sizeof words);
   tlb_switches_words(&o->switches, &t);
   if (o->switches.every > 0)
      put(out, TG_OUT_SWITCHES "%s\n", words);
}

static void put_machine(out_text *out, const TgOutFile *o, const uint64_t *total, uint64_t least)
{
   const tlb_machine *const m = &o->machine->m;
   const tlb_run_cost run = { .least = least, .most = total[TG_ALL_CYCLES],
                              .instructions = total[tg_cost(TLB_FETCH, TG_REFS)],
                              .nested = is_nested(o) };
   put(out, TG_OUT_MACHINE);
   put_n(out, o->machine->name, strlen(o->machine->name));
   put(out, "\n");
   if (o->of > 1)
      put(out, TG_OUT_MACHINE_NUMBER "%u of %u\n", o->number, o->of);
   if (o->machine->file != NULL) {
      put(out, TG_OUT_MACHINE_FILE);
      put_text(out, o->machine->file);
      put(out, "\n");
   }
   put(out, TG_OUT_PAGE_SIZE, 1ULL << m->base_page_shift);
   tlb_describe_arrays(m, put_array, out);
   for (unsigned i = 0; i < m->n_notes; i++)
      put(out, TG_OUT_ASSUMPTION, m->note[i].text);
   for (unsigned i = 0; i < o->machine->notes.n; i++)
      put(out, TG_OUT_ASSUMPTION, o->machine->notes.text[i]);
   tlb_describe_cost(m, &run, put_line, out);
   put_others(out, o);
   tg_replay_backing(o->replay, o->nth, put_text_line, out);
}

static void put_second_misses(out_text *out, const TgOutFile *o, const TgEvent **event, unsigned n)
{
   uint64_t extra[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
   tg_replay_extra(o->replay, o->nth, o->parts, extra);
   put(out, TG_OUT_SECOND_MISSES);
   for (unsigned i = 0; i < n; i++) {
      const unsigned kind = event[i]->cost / TG_N_OF_A_KIND, what = event[i]->cost % TG_N_OF_A_KIND;
      if (event[i]->cost < TLB_N_USERS * TG_N_OF_A_KIND && what != TG_REFS)
         put(out, " %s %llu", event[i]->name, (unsigned long long)extra[kind][what - TG_MISS_1]);
   }
   put(out, "\n");
}

static const char *file_of(const char *path)
{
   const char *const slash = strrchr(path, '/');
   return slash == NULL ? path : slash + 1;
}

/* The names of phases and threads, each with that of its file. */
static void put_sections(out_text *out, const TgOutFile *o)
{
   for (unsigned i = 1; i < o->n_sections; i++) {
      const TgSection *const s = &o->section[i];
      char *const name = tg_section_file(s, o->file);
      const bool is_phase = s->kind[0] == 'p';
      put(out, "desc: %s: ", is_phase ? TG_OUT_EACH_PHASE : TG_OUT_EACH_THREAD);
      put_n(out, s->name, s->name_length);
      put(out, "\ndesc: %s: ", is_phase ? TG_OUT_PHASE_FILE : TG_OUT_THREAD_FILE);
      put_text(out, file_of(name));
      put(out, "\n");
      free(name);
   }
}

char *tg_section_file(const TgSection *s, const char *name)
{
   const size_t folder = (size_t)(file_of(name) - name);
   const size_t room = strlen(name) + s->kind_length + s->label_length + sizeof "__of_";
   char *const whole = malloc(room);
   if (whole == NULL)
      tg_load_refuse("no memory");
   snprintf(whole, room, "%.*s%.*s_%.*s_of_%s", (int)folder, name, (int)s->kind_length, s->kind,
            (int)s->label_length, s->label, name + folder);
   return whole;
}

static void put_events(out_text *out, const TgEvent **event, unsigned n)
{
   for (unsigned i = 0; i < n; i++)
      put(out, TG_OUT_EVENT, event[i]->name, event[i]->long_name);
   put(out, TG_OUT_WALKS "events:");
   for (unsigned i = 0; i < n; i++)
      put(out, " %s", event[i]->name);
   put(out, "\n");
}

static void put_costs(out_text *out, const uint64_t *cost, const TgEvent **event, unsigned n)
{
   for (unsigned i = 0; i < n; i++)
      put_number(out, cost[event[i]->cost], i + 1 < n ? ' ' : '\n');
}

static void put_source_line(out_text *out, const TgOutFile *o, const TgSourceLine *l,
                            const TgEvent **event, unsigned n)
{
   uint64_t cost[TG_N_COSTS];
   costs_of(o, l, cost);
   put_n(out, l->position, l->position_length);
   put_n(out, " ", 1);
   put_costs(out, cost, event, n);
}

/* As the tool's files have it (tlbgrind/base/file.h). */
uint32_t tg_out_file_sum(const char *text, size_t n)
{
   uint32_t sum = 1, sum_of_sums = 0;
   for (size_t i = 0; i < n; i++) {
      sum = (sum + (unsigned char)text[i]) % 65521;
      sum_of_sums = (sum_of_sums + sum) % 65521;
   }
   return sum_of_sums << 16 | sum;
}

static void put_checksum(out_text *out)
{
   put(out, "# checksum: %08x\n", (unsigned)tg_out_file_sum(out->text, out->n));
}

static bool has_faults(const char *text, size_t n)
{
   const char *at = text, *const end = text + n;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (is_place(line, length, EVENTS))
         return is(line, length, with_faults);
   }
   return false;
}

char *tg_out_file_variant(const TgOutFile *o, unsigned number, tlb_rule_effect *effect)
{
   out_text out = { NULL, 0, 0 };
   *effect = tg_replay_variant(o->replay, o->nth, number, put_text_line, &out);
   put_n(&out, "", 1);
   return out.text;
}

char *tg_out_file_with(const char *text, size_t n, size_t at, const char *lines, size_t *length)
{
   const size_t sum = sizeof "# checksum: 00000000\n" - 1;
   out_text out = { NULL, 0, 0 };
   put_n(&out, text, at);
   put_n(&out, lines, strlen(lines));
   put_n(&out, text + at, n - sum - at);
   put_checksum(&out);
   *length = out.n;
   return out.text;
}

char *tg_out_file_make(const TgOutFile *o, const char *text, size_t n, size_t *length,
                       size_t *behind_machine)
{
   const TgEvent *event[TG_MAX_EVENTS];
   const unsigned n_events = tg_events(&o->machine->m, has_faults(text, n), false,
                                       TLB_PREFETCH_IGNORE, event);
   const char *at = text, *const end = text + n;
   uint64_t total[TG_N_COSTS], least;
   out_text out = { NULL, 0, 0 };
   add_up(o, text, n, total, &least);
   while (at < end) {
      TgSourceLine l;
      size_t line_length;
      const char *const line = tg_run_text_line(&at, end, &line_length);
      if (is_place(line, line_length, MACHINE)) {
         put_machine(&out, o, total, least);
         *behind_machine = out.n;
      } else if (is(line, line_length, with_sections)) {
         put_sections(&out, o);
      } else if (is_place(line, line_length, SECOND_MISSES)) {
         put_second_misses(&out, o, event, n_events);
      } else if (is_place(line, line_length, EVENTS)) {
         put_events(&out, event, n_events);
      } else if (is_place(line, line_length, TOTALS)) {
         put(&out, "\nsummary: ");
         put_costs(&out, total, event, n_events);
         put(&out, "totals: ");
         put_costs(&out, total, event, n_events);
      } else if (tg_run_text_source(line, line_length, tg_replay_n_lines(o->replay), &l)) {
         put_source_line(&out, o, &l, event, n_events);
      } else {
         put_n(&out, line, line_length);
         put_n(&out, "\n", 1);
      }
   }
   put_checksum(&out);
   *length = out.n;
   return out.text;
}
