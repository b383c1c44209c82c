/* Flushes in a replay, and what they cost. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "simulate/replay_parts.h"

void tg_replay_keep_flushes(TgReplay *r, group *g)
{
   const size_t first = g->n_flushed > 0 ? tlb_mmus_flushes_at(g->all, 0) : 0;
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++) {
      if (memcmp(f->now, f->told, g->n_counts * sizeof *f->now) == 0)
         continue;
      uint64_t *const counts = tg_replay_counts_of(r, g, f->line, TLB_LOAD);
      if (r->at_hand == 0)
         tg_replay_note_change(r, f->line, TG_COUNTED_FLUSHES);
      for (size_t i = first; i < g->n_counts; i++)
         counts[i] += f->now[i] - f->told[i];
      memcpy(f->told, f->now, g->n_counts * sizeof *f->now);
   }
}

/* The counts of the line, which stay where they are. */
static uint64_t *flush_counts(const TgReplay *r, group *g, unsigned line)
{
   if (line >= g->flushed_room) {
      const unsigned room = 2 * r->n_lines + 64;
      g->flushed_at = tg_load_need(realloc(g->flushed_at, room * sizeof *g->flushed_at));
      memset(g->flushed_at + g->flushed_room, 0, (room - g->flushed_room) * sizeof *g->flushed_at);
      g->flushed_room = room;
   }
   if (g->flushed_at[line] == 0) {
      g->flushed = tg_load_need(realloc(g->flushed, (g->n_flushed + 1) * sizeof *g->flushed));
      g->flushed[g->n_flushed++] = (flushed_line){
         line, tg_load_need(calloc(g->n_counts, sizeof(uint64_t))),
         tg_load_need(calloc(g->n_counts, sizeof(uint64_t))) };
      g->flushed_at[line] = g->n_flushed;
   }
   return g->flushed[g->flushed_at[line] - 1].now;
}

const char *tg_replay_flush(TgReplay *r, const tlb_flush_point *f)
{
   if (f->line > r->n_lines + 1)
      return "a line has a number that is not its turn";
   r->n_lines = f->line > r->n_lines ? f->line : r->n_lines;
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      if (g->all->flushes)
         tlb_mmus_flush(g->all, f->line != 0 ? flush_counts(r, g, f->line) : g->uncounted, f->start,
                        f->end, f->bytes);
   }
   return NULL;
}

void tg_replay_forget_flushes(group *g)
{
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++)
      memcpy(f->told, f->now, g->n_counts * sizeof *f->now);
}

void tg_replay_free_flushes(group *g)
{
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++) {
      free(f->now);
      free(f->told);
   }
   free(g->flushed);
   free(g->flushed_at);
}
