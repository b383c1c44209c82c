/* Out-files of a simulation: the text at the end of a recording, with a machine's costs in it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_OUT_FILE_H
#define TG_SIMULATE_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/events.h"
#include "simulate/machines.h"
#include "simulate/out_text.h"
#include "simulate/replay.h"

/* A piece of the text at the end of a recording: the run's, or that of a phase or thread. */
typedef struct {
   const char *text;
   size_t n;
   const char *kind, *label, *name; /* of a phase or thread, not ended by a zero; NULL: the run's */
   size_t kind_length, label_length, name_length;
} TgSection;

/* Finds the sections of a text: the run's first. Returns how many there are, at most `most`, and
   *why is then NULL; or what is wrong. */
unsigned tg_run_text_sections(const char *text, size_t n, TgSection *section, unsigned most,
                              const char **why);

/* The line of a text that begins at `at`; moves behind it. */
const char *tg_run_text_line(const char **at, const char *end, size_t *length);

/* A line of source: counts that are the same for all machines, its numbers, and its position. */
typedef struct {
   uint64_t refs[TLB_N_USERS], faults[TLB_N_USERS];
   const char *numbers; /* each with a space behind it, up to a semicolon */
   const char *position;
   size_t position_length;
} TgSourceLine;

/* Reads such a line. False: it is none, or has a number above n_lines. */
bool tg_run_text_source(const char *line, size_t n, unsigned n_lines, TgSourceLine *out);

/* The same of a run's data, whose objects have numbers up to n_objects. */
bool tg_run_text_source_of_data(const char *line, size_t n, unsigned n_lines, unsigned n_objects,
                                TgSourceLine *out);

/* Calls from a line of source, which stand behind it: their inclusive counts, the numbers of their
   arcs, and behind these the position of what is called and that of the line. */
typedef struct {
   uint64_t calls;
   TgSourceLine inclusive; /* `position`: of the line */
   const char *target;
   size_t target_length;
} TgCallLine;

/* Reads such a line. False: it is none, or has a number above n_arcs. */
bool tg_run_text_call(const char *line, size_t n, unsigned n_arcs, TgCallLine *out);

/* Whether a line is that text; whether it has a control character. */
bool tg_run_text_is(const char *line, size_t length, const char *text);
bool tg_run_text_has_control(const char *line, size_t length);

/* Whether page faults are among the events. */
bool tg_run_text_has_faults(const char *text, size_t n);

/* Whether the text is one that tlbgrind ends a recording with, of so many lines of source
   and arcs of calls. Returns NULL, or what is wrong. */
const char *tg_run_text_check(const char *text, size_t n, unsigned n_lines, unsigned n_arcs);

/* The name of a phase's or thread's file beside that of the run; to be freed. */
char *tg_section_file(const TgSection *s, const char *name);

/* A machine of the replay. */
typedef struct {
   const TgSimulated *machine;
   unsigned number, of; /* its number in the whole list, from 1 */
   const TgReplay *replay;
   unsigned nth; /* in the replay */
   bool nested;
   tlb_switches switches;
   const TgSelection *parts; /* NULL: all of the run */
   const TgSection *section; /* all, for the run's own file, with its name; else not used */
   unsigned n_sections;
   const char *file;
} TgOutFile;

/* Adds up the costs of a machine, and the least that its misses cost. The text may be empty: then
   there are misses alone. */
void tg_out_file_sums(const TgOutFile *o, const char *text, size_t n, uint64_t total[TG_N_COSTS],
                      uint64_t *least);

/* Makes the out-file's text, to be freed, from one that has been checked. *behind_machine: where
   what is about the machine ends. */
char *tg_out_file_make(const TgOutFile *o, const char *text, size_t n, size_t *length,
                       size_t *behind_machine);

/* The lines about a variant of that number, if no count is another, to be freed; what its rule has
   come to. */
char *tg_out_file_variant(const TgOutFile *o, unsigned number, tlb_rule_effect *effect);

/* The out-file's text, to be freed, with lines more at some place. */
char *tg_out_file_with(const char *text, size_t n, size_t at, const char *lines, size_t *length);

/* The costs of a line of source; and some of them, with a line feed behind. */
void tg_out_file_costs(const TgOutFile *o, const TgSourceLine *l, uint64_t cost[TG_N_COSTS]);
void tg_out_file_put_costs(TgOutText *out, const uint64_t *cost, const TgEvent **event, unsigned n);

/* Whether flushes cost the machine anything in that part of the run: at the line of source, of an
   out-file; or at any. */
bool tg_out_file_has_flushes_at(const void *out_file, const TgSourceLine *l);
bool tg_out_file_has_flushes(const TgOutFile *o);

#endif
