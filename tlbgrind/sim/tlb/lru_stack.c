/* A ladder of fully associative LRU arrays. See lru_stack.h. */

#include "sim/tlb/lru_stack.h"

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
   *l = (tlb_ladder){ .rungs = n, .place = memory, .free = 1,
                      .room = sizes[n - 1] - sizes[0] };
   for (uint32_t i = 0; i < n; i++)
      l->rung[i].size = sizes[i];
   for (uint32_t i = 0; i < n_places; i++)
      l->place[i] = (tlb_place){ .older = i + 1 < n_places ? i + 1 : END };
   l->place[END].older = END;
}

static void unlink_place(tlb_ladder *l, const tlb_place *p)
{
   l->place[p->newer].older = p->older;
   l->place[p->older].newer = p->newer;
}

/* Makes the page of that place, which is in no order, the newest. */
static void put_first(tlb_ladder *l, uint32_t at, void *page)
{
   tlb_place *const p = &l->place[at];
   *p = (tlb_place){ .page = page, .newer = END, .older = l->place[END].older,
                     .rung = 1 };
   l->place[p->older].newer = at;
   l->place[END].older = at;
}

/* --- While not all rungs are full --- */

/* The oldest page of a rung leaves it. */
static void drop_oldest(tlb_ladder *l, uint32_t rung)
{
   l->rung[rung].oldest = l->place[l->rung[rung].oldest].newer;
   l->rung[rung].n--;
}

/* Takes the page off its rung. */
static void take(tlb_ladder *l, uint32_t at)
{
   tlb_place *const p = &l->place[at];
   const uint32_t rung = p->rung;
   if (l->rung[rung].oldest == at)
      drop_oldest(l, rung);
   else
      l->rung[rung].n--;
   unlink_place(l, p);
   *p = (tlb_place){ .older = l->free };
   l->free = at;
   l->room++;
}

/* There is room: what does not fit on one rung does on the next, or on one behind. */
static uint32_t put(tlb_ladder *l, void *page)
{
   const uint32_t at = l->free;
   uint32_t comes = at;
   uint32_t rung = 1;
   l->free = l->place[at].older;
   put_first(l, at, page);
   for (;; rung++) {
      l->place[comes].rung = rung;
      if (l->rung[rung].n++ == 0)
         l->rung[rung].oldest = comes;
      if (l->rung[rung].n <= l->rung[rung].size - l->rung[rung - 1].size)
         break;
      comes = l->rung[rung].oldest;
      drop_oldest(l, rung);
   }
   l->room--;
   return at;
}

/* --- When all are --- */

/* The place of the page, which is on that rung, is for the one that comes, and from
   each rung before it the oldest page goes to the next. */
static void exchange(tlb_ladder *l, uint32_t at, uint32_t rung, void *comes)
{
   const uint32_t newer = l->place[at].newer;
   unlink_place(l, &l->place[at]);
   put_first(l, at, comes);
   if (l->rung[rung].oldest == at && newer != END)
      l->rung[rung].oldest = newer;
   for (uint32_t r = 1; r < rung; r++) {
      tlb_place *const oldest = &l->place[l->rung[r].oldest];
      oldest->rung = r + 1;
      l->rung[r].oldest = oldest->newer;
   }
}

uint32_t tlb_ladder_miss(tlb_ladder *l, const void *page, uint32_t place,
                         void *evicted, uint32_t *evicted_place)
{
   const int there = place != END && l->place[place].page == page;
   const uint32_t last = l->rungs - 1;
   const uint32_t missed = there ? l->place[place].rung : l->rungs;
   if (evicted == NULL)
      return missed;
   if (l->room == 0) {
      const uint32_t at = there ? place : l->rung[last].oldest;
      exchange(l, at, there ? missed : last, evicted);
      *evicted_place = at;
      return missed;
   }
   if (there)
      take(l, place);
   *evicted_place = put(l, evicted);
   return missed;
}
