/* Out-files of a simulation. See simulate/out_file.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

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

static bool is_of_characters(const char *at, const char *end, const char *characters)
{
   for (const char *c = at; c < end; c++) {
      if (strchr(characters, *c) == NULL)
         return false;
   }
   return at < end;
}

/* Counts, numbers up to `most`, and a position, whose characters are among these. */
static bool take_counts(const char *at, const char *end, unsigned most, const char *characters,
                        TgSourceLine *out)
{
   uint64_t number;
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
      if (!take_number(&at, end, &number) || number == 0 || number > most)
         return false;
   }
   if (at == end)
      return false;
   out->position = ++at;
   out->position_length = (size_t)(end - at);
   return is_of_characters(at, end, characters);
}

static bool take_source(const char *line, size_t n, unsigned n_lines, const char *characters,
                        TgSourceLine *out)
{
   return n > 0 && line[0] == ':' && take_counts(line + 1, line + n, n_lines, characters, out);
}

static const char in_position[] = "0123456789abcdefx ";

bool tg_run_text_source(const char *line, size_t n, unsigned n_lines, TgSourceLine *out)
{
   return take_source(line, n, n_lines, in_position, out);
}

bool tg_run_text_call(const char *line, size_t n, unsigned n_arcs, TgCallLine *out)
{
   const char *at = line + 1, *const end = line + n;
   if (n == 0 || line[0] != '>' || !take_number(&at, end, &out->calls)
       || !take_counts(at, end, n_arcs, "0123456789abcdefx ;", &out->inclusive))
      return false;
   const char *const target = out->inclusive.position,
              *const stop = memchr(target, ';', (size_t)(end - target));
   if (stop == NULL || !is_of_characters(target, stop, in_position)
       || !is_of_characters(stop + 1, end, in_position))
      return false;
   out->target = target;
   out->target_length = (size_t)(stop - target);
   out->inclusive.position = stop + 1;
   out->inclusive.position_length = (size_t)(end - (stop + 1));
   return true;
}

/* "LINE OBJECT" or "LINE OBJECT+OFFSET". */
bool tg_run_text_source_of_data(const char *line, size_t n, unsigned n_lines, unsigned n_objects,
                                TgSourceLine *out)
{
   uint64_t number, object, offset;
   if (!take_source(line, n, n_lines, "0123456789+ ", out))
      return false;
   const char *at = out->position, *const end = at + out->position_length;
   if (!take_number(&at, end, &number) || !tlb_text_number(&at, end, &object) || object > n_objects)
      return false;
   return at == end || (*at++ == '+' && tlb_text_number(&at, end, &offset) && at == end);
}

const char *tg_run_text_line(const char **at, const char *end, size_t *length)
{
   const char *const line = *at, *const stop = memchr(line, '\n', (size_t)(end - line));
   *length = (size_t)((stop == NULL ? end : stop) - line);
   *at = stop == NULL ? end : stop + 1;
   return line;
}

bool tg_run_text_is(const char *line, size_t length, const char *text)
{
   return strlen(text) == length && memcmp(line, text, length) == 0;
}

static bool is_place(const char *line, size_t length, unsigned place)
{
   return tg_run_text_is(line, length, places[place])
          || (place == EVENTS && tg_run_text_is(line, length, with_faults));
}

static const char label_characters[]
   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool tg_run_text_has_control(const char *line, size_t length)
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
   if (s->label == NULL || !(tg_run_text_is(s->kind, s->kind_length, TG_OUT_PHASE)
                             || tg_run_text_is(s->kind, s->kind_length, TG_OUT_THREAD)))
      return false;
   for (size_t i = 0; i < s->label_length; i++) {
      if (strchr(label_characters, s->label[i]) == NULL)
         return false;
   }
   s->name = at;
   s->name_length = (size_t)(end - at);
   return s->name_length > 0 && !tg_run_text_has_control(s->name, s->name_length);
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
      if (length < sizeof section_begins
          || memcmp(line, section_begins, sizeof section_begins - 1) != 0)
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

const char *tg_run_text_check(const char *text, size_t n, unsigned n_lines, unsigned n_arcs)
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
      if (tg_run_text_has_control(line, length))
         return "the text at the end has control characters";
      if (tg_run_text_is(line, length, with_sections) && place == SECOND_MISSES && !has_sections) {
         has_sections = true;
         continue;
      }
      if (line[0] == '@' && (place == N_PLACES || !is_place(line, length, place++)))
         return "the text at the end has what belongs elsewhere";
      if (line[0] == ':'
          && (place != TOTALS || !tg_run_text_source(line, length, n_lines, &unused)))
         return "the text at the end has a line of source that can not be";
      TgCallLine unused_too;
      if (line[0] == '>'
          && (place != TOTALS || !tg_run_text_call(line, length, n_arcs, &unused_too)))
         return "the text at the end has calls that can not be";
   }
   return place == N_PLACES ? NULL : "the text at the end is not complete";
}

/* --- Costs --- */

static void add_by_kind(uint64_t of[TLB_N_USERS][TLB_N_COSTS], uint64_t *cost)
{
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++) {
      for (unsigned i = 0; i < TG_N_OF_A_MISS; i++)
         cost[tg_cost(kind, TG_MISS_1 + i)] += of[kind][i];
      cost[TG_ALL_WALK_REFS] += of[kind][TLB_COST_WALK_REFERENCES];
      cost[TG_ALL_CYCLES] += of[kind][TLB_COST_CYCLES];
   }
}

static void add_misses(const TgOutFile *o, unsigned line, uint64_t *cost)
{
   uint64_t of[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
   tg_replay_add(o->replay, o->nth, line, o->parts, of);
   add_by_kind(of, cost);
   tg_replay_add_flushes(o->replay, o->nth, line, o->parts, &cost[TG_FLUSHES]);
   tg_replay_add_prefetches(o->replay, o->nth, line, o->parts, &cost[TG_PREFETCHES]);
}

static void add_misses_of_arc(const TgOutFile *o, unsigned arc, uint64_t *cost)
{
   uint64_t of[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
   tg_replay_add_arc(o->replay, o->nth, arc, o->parts, of);
   add_by_kind(of, cost);
}

/* The counts that all machines have. */
static void take_common(const TgSourceLine *l, uint64_t cost[TG_N_COSTS])
{
   memset(cost, 0, TG_N_COSTS * sizeof *cost);
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++) {
      cost[tg_cost(kind, TG_REFS)] = l->refs[kind];
      cost[TG_FAULTS + kind] = l->faults[kind];
   }
}

static void call_costs(const TgOutFile *o, const TgCallLine *l, uint64_t cost[TG_N_COSTS])
{
   const char *at = l->inclusive.numbers;
   uint64_t number;
   take_common(&l->inclusive, cost);
   while (*at != ';' && take_number(&at, l->target, &number))
      add_misses_of_arc(o, (unsigned)number, cost);
}

void tg_out_file_costs(const TgOutFile *o, const TgSourceLine *l, uint64_t cost[TG_N_COSTS])
{
   const char *at = l->numbers;
   uint64_t number;
   take_common(l, cost);
   while (*at != ';' && take_number(&at, l->position, &number))
      add_misses(o, (unsigned)number, cost);
}

static bool has_flushes_of(const TgOutFile *o, unsigned line)
{
   uint64_t cost[TLB_N_FLUSH_COSTS] = { 0 }, any = 0;
   tg_replay_add_flushes(o->replay, o->nth, line, o->parts, cost);
   for (unsigned i = 0; i < TLB_N_FLUSH_COSTS; i++)
      any |= cost[i];
   return any != 0;
}

bool tg_out_file_has_flushes_at(const void *out_file, const TgSourceLine *l)
{
   const char *at = l->numbers;
   uint64_t number;
   bool any = false;
   while (*at != ';' && take_number(&at, l->position, &number))
      any |= has_flushes_of(out_file, (unsigned)number);
   return any;
}

bool tg_out_file_has_flushes(const TgOutFile *o)
{
   bool any = false;
   for (unsigned line = 1; !any && line <= tg_replay_n_lines(o->replay); line++)
      any = has_flushes_of(o, line);
   return any;
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
      tg_out_file_costs(o, &l, cost);
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

static void put_array(const char *line, void *opaque)
{
   tg_out_put(opaque, TG_OUT_ARRAY, line);
}

static void put_line(const char *line, void *opaque)
{
   tg_out_put(opaque, "desc: %s\n", line);
}

static void put_text_line(const char *line, void *opaque)
{
   tg_out_put(opaque, "desc: ");
   tg_out_put_text(opaque, line);
   tg_out_put(opaque, "\n");
}

/* What flushes, system calls, context switches and prefetches do. */
static void put_others(TgOutText *out, const TgOutFile *o)
{
   char words[120];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_flush_policy_words(&o->machine->flush, &t);
   if (o->machine->flush.how != TLB_FLUSH_NONE)
      tg_out_put(out, TG_OUT_FLUSHES "%s\n", words);
   t = tlb_text_in(words, sizeof words);
   tlb_syscalls_words(&o->machine->syscalls, &t);
   if (o->machine->syscalls.how != TLB_SYSCALLS_NONE)
      tg_out_put(out, TG_OUT_SYSCALLS "%s\n", words);
   t = tlb_text_in(words, sizeof words);
   tlb_switches_words(&o->switches, &t);
   if (o->switches.every > 0)
      tg_out_put(out, TG_OUT_SWITCHES "%s\n", words);
   if (o->machine->prefetch != TLB_PREFETCH_IGNORE)
      tg_out_put(out, TG_OUT_PREFETCHES "%s\n", tlb_prefetch_policy_word(o->machine->prefetch));
}

static void put_machine(TgOutText *out, const TgOutFile *o, const uint64_t *total, uint64_t least)
{
   const tlb_machine *const m = &o->machine->m;
   const tlb_run_cost run = { .least = least, .most = total[TG_ALL_CYCLES],
                              .instructions = total[tg_cost(TLB_FETCH, TG_REFS)],
                              .cycles = o->machine->cycles, .nested = is_nested(o) };
   tg_out_put(out, TG_OUT_MACHINE);
   tg_out_put_n(out, o->machine->name, strlen(o->machine->name));
   tg_out_put(out, "\n");
   if (o->of > 1)
      tg_out_put(out, TG_OUT_MACHINE_NUMBER "%u of %u\n", o->number, o->of);
   if (o->machine->file != NULL) {
      tg_out_put(out, TG_OUT_MACHINE_FILE);
      tg_out_put_text(out, o->machine->file);
      tg_out_put(out, "\n");
   }
   tg_out_put(out, TG_OUT_PAGE_SIZE, 1ULL << m->base_page_shift);
   tlb_describe_arrays(m, put_array, out);
   for (unsigned i = 0; i < o->machine->n_base_notes; i++)
      tg_out_put(out, TG_OUT_ASSUMPTION, o->machine->base_note[i].text);
   for (unsigned i = 0; i < m->n_notes; i++)
      tg_out_put(out, TG_OUT_ASSUMPTION, m->note[i].text);
   for (unsigned i = 0; i < o->machine->notes.n; i++)
      tg_out_put(out, TG_OUT_ASSUMPTION, o->machine->notes.text[i]);
   tlb_describe_cost(m, &run, put_line, out);
   put_others(out, o);
   tg_replay_backing(o->replay, o->nth, put_text_line, out);
}

static void put_second_misses(TgOutText *out, const TgOutFile *o, const TgEvent **event, unsigned n)
{
   uint64_t extra[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
   tg_replay_extra(o->replay, o->nth, o->parts, extra);
   tg_out_put(out, TG_OUT_SECOND_MISSES);
   for (unsigned i = 0; i < n; i++) {
      const unsigned kind = event[i]->cost / TG_N_OF_A_KIND, what = event[i]->cost % TG_N_OF_A_KIND;
      if (event[i]->cost < TLB_N_USERS * TG_N_OF_A_KIND && what != TG_REFS)
         tg_out_put(out, " %s %llu", event[i]->name,
                    (unsigned long long)extra[kind][what - TG_MISS_1]);
   }
   tg_out_put(out, "\n");
}

static const char *file_of(const char *path)
{
   const char *const slash = strrchr(path, '/');
   return slash == NULL ? path : slash + 1;
}

/* The names of phases and threads, each with that of its file. */
static void put_sections(TgOutText *out, const TgOutFile *o)
{
   for (unsigned i = 1; i < o->n_sections; i++) {
      const TgSection *const s = &o->section[i];
      char *const name = tg_section_file(s, o->file);
      const bool is_phase = s->kind[0] == 'p';
      tg_out_put(out, "desc: %s: ", is_phase ? TG_OUT_EACH_PHASE : TG_OUT_EACH_THREAD);
      tg_out_put_n(out, s->name, s->name_length);
      tg_out_put(out, "\ndesc: %s: ", is_phase ? TG_OUT_PHASE_FILE : TG_OUT_THREAD_FILE);
      tg_out_put_text(out, file_of(name));
      tg_out_put(out, "\n");
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

static void put_events(TgOutText *out, const TgEvent **event, unsigned n)
{
   for (unsigned i = 0; i < n; i++)
      tg_out_put(out, TG_OUT_EVENT, event[i]->name, event[i]->long_name);
   tg_out_put(out, TG_OUT_WALKS "events:");
   for (unsigned i = 0; i < n; i++)
      tg_out_put(out, " %s", event[i]->name);
   tg_out_put(out, "\n");
}

void tg_out_file_put_costs(TgOutText *out, const uint64_t *cost, const TgEvent **event, unsigned n)
{
   for (unsigned i = 0; i < n; i++)
      tg_out_put_number(out, cost[event[i]->cost], i + 1 < n ? ' ' : '\n');
}

static void put_source_line(TgOutText *out, const TgOutFile *o, const TgSourceLine *l,
                            const TgEvent **event, unsigned n)
{
   uint64_t cost[TG_N_COSTS];
   tg_out_file_costs(o, l, cost);
   tg_out_put_n(out, l->position, l->position_length);
   tg_out_put_n(out, " ", 1);
   tg_out_file_put_costs(out, cost, event, n);
}

static void put_call_line(TgOutText *out, const TgOutFile *o, const TgCallLine *l,
                          const TgEvent **event, unsigned n)
{
   uint64_t cost[TG_N_COSTS];
   call_costs(o, l, cost);
   tg_out_put(out, "calls=");
   tg_out_put_number(out, l->calls, ' ');
   tg_out_put_n(out, l->target, l->target_length);
   tg_out_put(out, "\n");
   tg_out_put_n(out, l->inclusive.position, l->inclusive.position_length);
   tg_out_put_n(out, " ", 1);
   tg_out_file_put_costs(out, cost, event, n);
}

bool tg_run_text_has_faults(const char *text, size_t n)
{
   const char *at = text, *const end = text + n;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (is_place(line, length, EVENTS))
         return tg_run_text_is(line, length, with_faults);
   }
   return false;
}

char *tg_out_file_variant(const TgOutFile *o, unsigned number, tlb_rule_effect *effect)
{
   TgOutText out = { NULL, 0, 0 };
   *effect = tg_replay_variant(o->replay, o->nth, number, put_text_line, &out);
   tg_out_put_n(&out, "", 1);
   return out.text;
}

char *tg_out_file_with(const char *text, size_t n, size_t at, const char *lines, size_t *length)
{
   const size_t sum = sizeof "# checksum: 00000000\n" - 1;
   TgOutText out = { NULL, 0, 0 };
   tg_out_put_n(&out, text, at);
   tg_out_put_n(&out, lines, strlen(lines));
   tg_out_put_n(&out, text + at, n - sum - at);
   tg_out_put_checksum(&out);
   *length = out.n;
   return out.text;
}

char *tg_out_file_make(const TgOutFile *o, const char *text, size_t n, size_t *length,
                       size_t *behind_machine)
{
   const TgEvent *event[TG_MAX_EVENTS];
   const unsigned n_events = tg_events(&o->machine->m, tg_run_text_has_faults(text, n),
                                       o->machine->flush.how != TLB_FLUSH_NONE,
                                       o->machine->prefetch, event);
   const char *at = text, *const end = text + n;
   uint64_t total[TG_N_COSTS], least;
   TgOutText out = { NULL, 0, 0 };
   add_up(o, text, n, total, &least);
   while (at < end) {
      TgSourceLine l;
      TgCallLine c;
      size_t line_length;
      const char *const line = tg_run_text_line(&at, end, &line_length);
      if (is_place(line, line_length, MACHINE)) {
         put_machine(&out, o, total, least);
         *behind_machine = out.n;
      } else if (tg_run_text_is(line, line_length, with_sections)) {
         put_sections(&out, o);
      } else if (is_place(line, line_length, SECOND_MISSES)) {
         put_second_misses(&out, o, event, n_events);
      } else if (is_place(line, line_length, EVENTS)) {
         put_events(&out, event, n_events);
      } else if (is_place(line, line_length, TOTALS)) {
         tg_out_put(&out, "\nsummary: ");
         tg_out_file_put_costs(&out, total, event, n_events);
         tg_out_put(&out, "totals: ");
         tg_out_file_put_costs(&out, total, event, n_events);
      } else if (tg_run_text_source(line, line_length, tg_replay_n_lines(o->replay), &l)) {
         put_source_line(&out, o, &l, event, n_events);
      } else if (tg_run_text_call(line, line_length, tg_replay_n_arcs(o->replay), &c)) {
         put_call_line(&out, o, &c, event, n_events);
      } else {
         tg_out_put_n(&out, line, line_length);
         tg_out_put_n(&out, "\n", 1);
      }
   }
   tg_out_put_checksum(&out);
   *length = out.n;
   return out.text;
}
