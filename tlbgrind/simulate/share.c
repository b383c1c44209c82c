/* A share of the machines. See share.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "simulate/share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "command/whole_file.h"
#include "simulate/chosen_part.h"
#include "simulate/out_file.h"
#include "simulate/parts.h"
#include "simulate/phase_texts.h"
#include "simulate/progress.h"
#include "simulate/reach_curve.h"
#include "simulate/recording.h"
#include "simulate/replay.h"
#include "simulate/trace_run.h"

/* The run, its phases and threads. */
enum { MOST_SECTIONS = 2048 };

/* The text at the end. Once it has been checked, `n` is how much of it is not the data's. */
typedef struct {
   char *text;
   size_t n, room, n_data;
} end_text;

/* --- Reading --- */

static void add_text(end_text *t, const char *text, size_t n)
{
   if (t->n + n + 1 > t->room) {
      t->room = 2 * (t->n + n + 1);
      t->text = realloc(t->text, t->room);
      if (t->text == NULL)
         tg_load_refuse("no memory");
   }
   memcpy(t->text + t->n, text, n);
   t->n += n;
   t->text[t->n] = '\0';
}

static TgShareResult ended(TgEnding how, const tlb_stream_reader *s, const char *why)
{
   TgShareResult r = { .ending = how, .instructions = s->instructions };
   snprintf(r.why, sizeof r.why, "%s", why);
   return r;
}

/* Whether the run has told why the recording ends early: "@cut REASON". */
static bool is_cut(const end_text *t, const tlb_stream_reader *s, TgShareResult *r)
{
   static const char cut[] = "@cut ";
   if (t->n < sizeof cut || memcmp(t->text, cut, sizeof cut - 1) != 0)
      return false;
   *r = ended(TG_CUT, s, t->text + sizeof cut - 1);
   for (char *c = r->why; *c != '\0'; c++) {
      if ((unsigned char)*c < 0x20)
         *c = *(c + 1) == '\0' ? '\0' : '?';
   }
   return true;
}

/* Each section is a text like that of the run. */
static const char *check_text(end_text *t, unsigned n_lines, unsigned n_arcs, bool has_data)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   const size_t data_at = tg_data_text_at(t->text, t->n);
   t->n_data = t->n - data_at;
   t->n = data_at;
   if (has_data != (t->n_data > 0))
      return "it has no text of data at the end, or one that is not said in its head";
   const unsigned n = tg_run_text_sections(t->text, t->n, section, MOST_SECTIONS, &why);
   for (unsigned i = 0; i < n && why == NULL; i++)
      why = tg_run_text_check(section[i].text, section[i].n, n_lines, n_arcs);
   return why != NULL || !has_data ? why : tg_data_text_check(t->text + t->n, t->n_data, n_lines);
}

/* Whether the program asks for huge pages as it has not before. */
static bool asks_for_more(const tlb_map_event *e, TgAsked *asked)
{
   const TgAsked before = *asked;
   asked->thp |= e->what == TLB_EVENT_ASK;
   if (e->mapping != NULL && (e->mapping->flags & TLB_MAP_HUGETLB) != 0)
      asked->sizes |= UINT64_C(1) << e->mapping->huge_shift;
   return asked->thp != before.thp || asked->sizes != before.sizes;
}

/* `curve`: NULL, or it gets all records, too. */
static TgShareResult read_all(const TgSimulation *sim, TgRecording *recording, TgReplay *replay,
                       TgParts *parts, TgReachCurve *curve, end_text *text)
{
   tlb_stream_reader *const s = tg_recording_stream(recording);
   TgAsked asked = { false, 0 };
   const char *wrong;
   TgShareResult r;
   for (;;) {
      switch (tg_recording_read(recording)) {
      case TLB_READ_RECORDS:
         wrong = text->n > 0 ? "references stand behind the text at the end"
                             : tg_replay_block(replay, s);
         tg_progress_note(tg_recording_done(recording));
         if (wrong != NULL)
            return ended(TG_DAMAGED, s, wrong);
         if (curve != NULL)
            tg_reach_curve_records(curve, s->record, s->n);
         break;
      case TLB_READ_EVENT:
         if (text->n > 0 || tg_recording_strength(recording)->large == 0)
            return ended(TG_DAMAGED, s, "a change of mappings stands where there is none");
         if (asks_for_more(&s->event, &asked))
            tg_simulated_check(&sim->list, tg_recording_strength(recording), &asked,
                               sim->options.recording);
         tg_replay_event(replay, &s->event);
         break;
      case TLB_READ_TEXT:
         add_text(text, s->text, s->n);
         break;
      case TLB_READ_MARK:
         wrong = text->n > 0 ? "references stand behind the text at the end"
                             : tg_parts_mark(parts, replay, s->mark, s->text, s->n);
         if (wrong != NULL)
            return ended(TG_DAMAGED, s, wrong);
         if (curve != NULL && s->mark == TLB_MARK_ZERO)
            tg_reach_curve_zero(curve);
         break;
      case TLB_READ_POINT:
         if (text->n > 0)
            return ended(TG_DAMAGED, s, "references stand behind the text at the end");
         wrong = NULL;
         if (s->point == TLB_POINT_FLUSH)
            wrong = tg_replay_flush(replay, &s->flush);
         else
            tg_replay_point(replay, s->point, s->first, s->last);
         if (wrong != NULL)
            return ended(TG_DAMAGED, s, wrong);
         break;
      case TLB_READ_END:
         if (is_cut(text, s, &r))
            return r;
         wrong = check_text(text, tg_replay_n_lines(replay), tg_replay_n_arcs(replay),
                            tg_recording_has_data(recording));
         return ended(wrong != NULL ? TG_DAMAGED : TG_WHOLE, s, wrong != NULL ? wrong : "");
      case TLB_READ_CUT:
         return ended(TG_CUT, s, "the file is not complete");
      case TLB_READ_DAMAGED:
         return ended(TG_DAMAGED, s, s->damage);
      }
   }
}

/* --- Out-files --- */

/* A section's text with the lines that flushes give costs. To be freed; NULL: it has no other lines
   than the recording has for it. */
static char *text_with_flushes(const TgSimulation *s, const TgOutFile *o, const TgSection *run,
                               const TgSection *section, size_t *n)
{
   if (!s->flushes || (section->text != run->text && !tg_out_file_has_flushes(o)))
      return NULL;
   char *const text = tg_phase_text_with(run, section, tg_out_file_has_flushes_at, o, n);
   if (text == NULL)
      tg_load_refuse("%s: the recording is damaged: the texts of its parts do not fit each other",
                     s->options.recording);
   return text;
}

/* `run`: the section of the whole run. */
static void write_out_file(const TgSimulation *s, const TgOutFile *o, const TgSection *run,
                           const TgSection *section, const char *name)
{
   size_t n, behind_machine, n_text = section->n;
   char *const owned = text_with_flushes(s, o, run, section, &n_text);
   char *const whole = tg_out_file_make(o, owned != NULL ? owned : section->text, n_text, &n,
                                        &behind_machine);
   free(owned);
   if (s->advice != NULL)
      tg_advice_keep(s->advice, o->number - 1, name, whole, n,
                     section->kind == NULL ? behind_machine : 0);
   else if (!tg_write_whole(name, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
   free(whole);
}

/* The machine's out-file, of a part of the run. */
static void write_out_file_of_part(const TgSimulation *s, const TgOutFile *of_part,
                                   const TgSection *run, const TgSection *section)
{
   char *const name = tg_simulation_file(s, of_part->number - 1);
   write_out_file(s, of_part, run, section, name);
   free(name);
}

/* The machine's out-file, and those of phases and threads. */
static void write_out_files(const TgSimulation *s, const TgOutFile *machine, const TgParts *parts,
                            const end_text *text)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   char *const name = tg_simulation_file(s, machine->number - 1);
   TgOutFile o = *machine;
   o.section = section;
   o.n_sections = tg_run_text_sections(text->text, text->n, section, MOST_SECTIONS, &why);
   o.file = name;
   write_out_file(s, &o, &section[0], &section[0], name);
   for (unsigned i = 1; i < o.n_sections; i++) {
      const TgSection *const of = &section[i];
      TgSelection selection = tg_parts_of(parts, of->kind[0] == 'p' ? TG_PHASE : TG_THREAD,
                                          of->label, of->label_length);
      char *const own_name = tg_section_file(of, name);
      TgOutFile own = *machine;
      own.parts = &selection;
      write_out_file(s, &own, &section[0], of, own_name);
      free(own_name);
      free(selection.has);
   }
   free(name);
}

/* --- What is counted --- */

/* What is counted: all of the run, or a part. Of a recording that was cut short there is no
   text. */
typedef struct {
   bool is_part;
   TgChosenPart part;
   TgSection run, section;
} counted;
static counted find_counted(const TgSimulation *s, const TgParts *parts, const end_text *text,
                            TgShareResult *r)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   counted c = { .is_part = tg_is_part(&s->options.part) };
   const unsigned n = r->ending == TG_WHOLE
                         ? tg_run_text_sections(text->text, text->n, section, MOST_SECTIONS, &why)
                         : 0;
   if (n > 0)
      c.run = c.section = section[0];
   if (!c.is_part || r->ending == TG_DAMAGED)
      return c;
   if (!tg_choose_part(&s->options.part, parts, section, n, &c.part, r->why, sizeof r->why))
      r->ending = TG_NO_PART;
   c.section = c.part.section;
   return c;
}

static TgShareResult replay_recording(const TgSimulation *s, unsigned first, unsigned step,
                               TgReplay **replay, TgParts *parts, TgReachCurve **curve,
                               end_text *text)
{
   TgRecording *const recording = tg_recording_open(s->options.recording);
   *replay = tg_replay_new(&s->list, first, step, tg_recording_strength(recording),
                           s->options.nested);
   if (tg_recording_has_calls(recording))
      tg_replay_count_calls(*replay);
   if (s->reach_file != NULL && first == 0)
      *curve = tg_reach_curve_new(tg_recording_strength(recording)->base_page_shift);
   const TgShareResult r = read_all(s, recording, *replay, parts, *curve, text);
   tg_recording_close(recording);
   return r;
}

static void keep_data(const TgSimulation *s, const TgOutFile *o, const end_text *text,
                      const TgTotals total, uint64_t least)
{
   const char *const why = tg_data_file_keep(s->data, o, text->text + text->n, text->n_data,
                                             s->flushes, total, least);
   if (why != NULL)
      tg_load_refuse("%s: the recording is damaged: %s", s->options.recording, why);
}

static void write_reach(const TgSimulation *s, const TgReachCurve *curve, const TgSection *run,
                        const TgTotals total)
{
   size_t n;
   char *const whole = tg_reach_curve_file(curve, run->text, run->n, total, &n);
   if (!tg_write_whole(s->reach_file, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", s->reach_file, strerror(errno));
   free(whole);
}

static TgShareResult replay_trace(const TgSimulation *s, unsigned first, unsigned step,
                                  TgReplay **replay, end_text *text)
{
   *replay = tg_replay_new_backed(&s->list, first, step, s->page_shift, s->options.nested,
                                  s->backing, s->physical);
   const TgTraceRun t = tg_trace_run(s->options.recording, s->options.input, *replay,
                                     s->page_shift, s->v2p, s->physical);
   TgShareResult r = { .instructions = t.instructions,
                       .ending = t.how == TG_TRACE_END ? TG_WHOLE
                                 : t.how == TG_TRACE_CUT ? TG_CUT : TG_DAMAGED };
   memcpy(r.why, t.why, sizeof t.why);
   memcpy(r.about, t.about, sizeof r.about);
   *text = (end_text){ t.text, t.n_text, t.n_text, 0 };
   return r;
}

TgShareResult tg_share_simulate(const TgSimulation *s, unsigned first, unsigned step,
                                TgTotals *total)
{
   TgReplay *replay;
   TgReachCurve *curve = NULL; /* made with the first machine of all */
   end_text text = { NULL, 0, 0, 0 };
   TgParts *const parts = tg_parts_new();
   TgShareResult r = s->options.input != NULL
                 ? replay_trace(s, first, step, &replay, &text)
                 : replay_recording(s, first, step, &replay, parts, &curve, &text);
   tg_replay_settle(replay);
   counted c = find_counted(s, parts, &text, &r);
   uint64_t least;
   for (unsigned i = first, nth = 0; r.ending <= TG_CUT && i < s->list.n; i += step, nth++) {
      const TgOutFile o = { .machine = &s->list.machine[i], .number = i + 1, .of = s->list.n,
                            .replay = replay, .nth = nth, .nested = s->options.nested,
                            .switches = s->list.switches,
                            .parts = c.is_part ? &c.part.parts : NULL };
      if (r.ending == TG_WHOLE && c.is_part)
         write_out_file_of_part(s, &o, &c.run, &c.section);
      else if (r.ending == TG_WHOLE)
         write_out_files(s, &o, parts, &text);
      tg_out_file_sums(&o, c.section.text, c.section.n, total[i], &least);
      if (s->advice != NULL)
         tg_advice_note(s->advice, &o, least);
      if (s->data != NULL && r.ending == TG_WHOLE)
         keep_data(s, &o, &text, total[i], least);
   }
   if (curve != NULL && r.ending == TG_WHOLE)
      write_reach(s, curve, &c.section, total[first]);
   if (curve != NULL)
      tg_reach_curve_free(curve);
   tg_chosen_part_free(&c.part);
   tg_replay_free(replay);
   tg_parts_free(parts);
   free(text.text);
   return r;
}
