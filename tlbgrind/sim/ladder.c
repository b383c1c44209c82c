/* A ladder of fully associative LRU arrays. See ladder.h. */

#include "ladder.h"

enum { END = 0 };

static uint32_t places(const uint32_t *sizes, uint32_t n)
{
   /* All pages but those of the smallest array; one more while what does not
      fit makes its way down; and the ends. */
   return sizes[n - 1] - sizes[0] + 2;
}

size_t tlb_ladder_bytes(const uint32_t *sizes, uint32_t n)
{
   return places(sizes, n) * sizeof(tlb_place);
}

void tlb_ladder_init(tlb_ladder *l, const uint32_t *sizes, uint32_t n,
                     void *memory)
{
   const uint32_t n_places = places(sizes, n);
   *l = (tlb_ladder){ .rungs = n, .place = memory, .free = 1 };
   for (uint32_t i = 0; i < n; i++)
      l->size[i] = sizes[i];
   for (uint32_t i = 0; i < n_places; i++)
      l->place[i] = (tlb_place){ .older = i + 1 < n_places ? i + 1 : END };
   l->place[END].older = END;
}

/* Takes the page at that place out of the order, not off its rung. */
static void unlink_place(tlb_ladder *l, uint32_t at)
{
   tlb_place *const p = &l->place[at];
   l->place[p->newer].older = p->older;
   l->place[p->older].newer = p->newer;
   p->page = NULL;
   p->older = l->free;
   l->free = at;
}

/* The oldest page of a rung leaves it. */
static void drop_oldest(tlb_ladder *l, uint32_t rung)
{
   l->oldest[rung] = l->place[l->oldest[rung]].newer;
   l->n[rung]--;
}

uint32_t tlb_ladder_take(tlb_ladder *l, const void *page, uint32_t place)
{
   if (place == END || l->place[place].page != page)
      return l->rungs;
   const uint32_t rung = l->place[place].rung;
   if (l->oldest[rung] == place)
      drop_oldest(l, rung);
   else
      l->n[rung]--;
   unlink_place(l, place);
   return rung;
}

uint32_t tlb_ladder_put(tlb_ladder *l, void *page)
{
   const uint32_t at = l->free;
   uint32_t comes = at;
   tlb_place *const p = &l->place[at];
   l->free = p->older;
   *p = (tlb_place){ .page = page, .newer = END, .older = l->place[END].older };
   l->place[p->older].newer = at;
   l->place[END].older = at;
   for (uint32_t rung = 1; rung < l->rungs; rung++) {
      l->place[comes].rung = rung;
      if (l->n[rung]++ == 0)
         l->oldest[rung] = comes;
      if (l->n[rung] <= l->size[rung] - l->size[rung - 1])
         return at;
      comes = l->oldest[rung];
      drop_oldest(l, rung);
   }
   unlink_place(l, comes);
   return at;
}
