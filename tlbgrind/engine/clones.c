/* Clones of segments. See engine/clones.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "engine/clones.h"
#include "trace/copy_counts.h"
#include "trace/run_mmus.h"

TgClones** tg_clones;
UInt tg_clones_room;

static UInt n_copies;
static UWord distance;

void tg_clones_init(UInt n, UWord between)
{
   n_copies = n;
   distance = between;
}

static void note_base(TgClones* c, UChar base)
{
   UInt i = 0;
   while (i < c->n_bases && c->base[i] != base)
      i++;
   if (i == c->n_bases && base != TG_NO_BASE)
      c->base[c->n_bases++] = base;
}

static tlb_page* code_page_of(UInt copy, const tlb_page* page)
{
   const UInt shift = tg_mmus.traits.page_shift;
   return tlb_record_of(&tg_mmus, TLB_CODE,
                        tlb_code_page_number(page, shift) + (copy * distance >> shift));
}

static TgSegment* make_clone(const TgSegment* s, UInt copy)
{
   const SizeT bytes = (SizeT)((Addr)tg_segment_instrs(s) - (Addr)s);
   TgSegment* clone = VG_(malloc)("tg.clones.segment", bytes);
   VG_(memcpy)(clone, s, bytes);
   clone->copy = (UChar)copy;
   if (s->guarded)
      clone->fetch = tlb_no_page(&tg_mmus); /* in whose place it has counted */
   else if (s->n_fetches > 0)
      clone->fetch = code_page_of(copy, s->fetch);
   for (UInt i = 0; i < tg_more_fetches(s); i++)
      tg_segment_fetches(clone)[i] = code_page_of(copy, tg_segment_fetches(s)[i]);
   for (UInt i = 0; i < s->n_groups; i++)
      clone->group[i].first += copy * distance;
   for (UInt i = 0; i < s->n_refs; i++) {
      TgRef* r = &tg_segment_refs(clone)[i];
      if (r->kind == TLB_FETCH)
         r->at.page = code_page_of(copy, r->at.page);
      else
         r->at.offset += copy * distance;
      r->misses = tg_copy_misses(copy, r->kind);
   }
   return clone;
}

static void make_room(UInt number)
{
   const UInt old = tg_clones_room;
   if (number < old)
      return;
   tg_clones_room = 2 * number + 1024;
   tg_clones = VG_(realloc)("tg.clones.segments", tg_clones, tg_clones_room * sizeof *tg_clones);
   VG_(memset)(tg_clones + old, 0, (tg_clones_room - old) * sizeof *tg_clones);
}

TgClones* tg_clones_make(TgSegment* s)
{
   TgClones* c = VG_(calloc)("tg.clones.clones", 1, sizeof *c + n_copies * sizeof c->of[0]);
   for (UInt i = 0; i < s->n_refs; i++) {
      const TgRef* r = &tg_segment_refs(s)[i];
      if (r->kind != TLB_FETCH)
         note_base(c, r->base);
   }
   for (UInt copy = 1; copy < n_copies; copy++)
      c->of[copy] = make_clone(s, copy);
   make_room(s->number);
   tg_clones[s->number] = c;
   return c;
}

TgClones* tg_clones_take(UInt number)
{
   TgClones* c = number < tg_clones_room ? tg_clones[number] : NULL;
   if (c != NULL)
      tg_clones[number] = NULL;
   return c;
}

void tg_clones_free(TgClones* c)
{
   for (UInt copy = 1; copy < n_copies; copy++)
      VG_(free)(c->of[copy]);
   VG_(free)(c);
}
