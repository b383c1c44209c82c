/* A filter of large pages. See large_filter.h. */

#include "sim/record/large_filter.h"

static size_t n_places(const tlb_large_filter *f)
{
   return (size_t)f->is.sets * f->is.ways;
}

void tlb_large_filter_init(tlb_large_filter *f, const tlb_filter *is, unsigned base_page_shift,
                           const tlb_memory *memory)
{
   *f = (tlb_large_filter){ .is = *is, .bits = is->shift - base_page_shift };
   f->at = memory->take(n_places(f) * sizeof *f->at, memory->opaque);
   for (size_t i = 0; i < n_places(f); i++)
      f->at[i] = (tlb_large_entry){ .number = 0 };
   for (size_t i = 0; i < TLB_LARGE_FOUND; i++)
      f->found[i] = f->at;
}

static tlb_large_entry *set_of(const tlb_large_filter *f, uint64_t number)
{
   return &f->at[tlb_filter_set(number, f->is.sets) * f->is.ways];
}

/* Whoever has it: 0 the filter's own users, else a user behind, plus 1. */
static tlb_large_entry *find(const tlb_large_filter *f, uint64_t number, unsigned others)
{
   tlb_large_entry *const set = set_of(f, number);
   for (unsigned i = 0; i < f->is.ways; i++) {
      if (set[i].number == number + 1 && set[i].others == others)
         return &set[i];
   }
   return NULL;
}

tlb_large_entry *tlb_large_filter_search(tlb_large_filter *f, uint64_t number)
{
   tlb_large_entry *const found = find(f, number, 0);
   if (found != NULL)
      f->found[number % TLB_LARGE_FOUND] = found;
   return found;
}

static uint64_t used_last(const tlb_large_entry *u)
{
   uint64_t time = 0;
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      time = u->by[user].time > time ? u->by[user].time : time;
   return time;
}

/* Makes room in the set, and returns the place; *gone: as tlb_large_filter_enter(). */
static tlb_large_entry *make_room(tlb_large_filter *f, uint64_t number, uint64_t *gone)
{
   tlb_large_entry *const set = set_of(f, number), *oldest = set;
   for (unsigned i = 0; i < f->is.ways && oldest->number != 0; i++) {
      if (set[i].number == 0 || used_last(&set[i]) < used_last(oldest))
         oldest = &set[i];
   }
   *gone = oldest->others == 0 ? oldest->number : 0;
   *oldest = (tlb_large_entry){ .number = number + 1 };
   return oldest;
}

uint64_t tlb_large_filter_enter(tlb_large_filter *f, uint64_t page)
{
   tlb_large_entry *const there = tlb_large_filter_find(f, page);
   uint64_t gone = 0;
   if (there != NULL)
      there->is_in_doubt = 0;
   else
      make_room(f, page >> f->bits, &gone);
   return gone;
}

uint64_t tlb_large_filter_enter_others(tlb_large_filter *f, unsigned user, uint64_t page,
                                       uint64_t time)
{
   const uint64_t number = page >> f->bits;
   tlb_large_entry *u = find(f, number, user + 1);
   uint64_t gone = 0;
   if (u == NULL) {
      u = make_room(f, number, &gone);
      u->others = (uint8_t)(user + 1);
   }
   u->by[0].time = time; /* whoever they are: prefetches have no number below TLB_N_USERS */
   return gone;
}

void tlb_large_filter_use(tlb_large_filter *f, unsigned user, uint64_t page, uint64_t time)
{
   tlb_large_entry *const u = tlb_large_filter_find(f, page);
   if (u != NULL)
      tlb_large_entry_use(u, user, page, time);
}

static int is_between(const tlb_large_filter *f, const tlb_large_entry *u, uint64_t first,
                      uint64_t last)
{
   return u->number != 0 && u->others == 0 && !u->is_in_doubt && u->number - 1 >= first >> f->bits
          && u->number - 1 <= last >> f->bits;
}

int tlb_large_filter_has(const tlb_large_filter *f, uint64_t first, uint64_t last)
{
   for (size_t i = 0; i < n_places(f); i++) {
      if (is_between(f, &f->at[i], first, last))
         return 1;
   }
   return 0;
}

void tlb_large_filter_doubt(tlb_large_filter *f, uint64_t first, uint64_t last)
{
   for (size_t i = 0; i < n_places(f); i++) {
      if (is_between(f, &f->at[i], first, last))
         f->at[i].is_in_doubt = 1;
   }
}
