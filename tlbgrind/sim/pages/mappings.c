/* The mappings of one address space, in order of their addresses.

   A sorted array of pointers: it is searched far more often than changed, and
   Valgrind's own list of segments, which is also a sorted array, of records ten
   times as large, has changed before this one. */

#include "sim/pages/mappings.h"

void tlb_mappings_init(tlb_mappings *s, const tlb_memory *memory)
{
   s->at = NULL;
   s->count = 0;
   s->room = 0;
   s->last = NULL;
   s->memory = *memory;
}

static void give_back(tlb_mappings *s, void *p)
{
   s->memory.give(p, s->memory.opaque);
}

void tlb_mappings_free(tlb_mappings *s)
{
   for (size_t i = 0; i < s->count; i++)
      give_back(s, s->at[i]);
   if (s->at != NULL)
      give_back(s, s->at);
   s->at = NULL;
   s->count = 0;
   s->room = 0;
   s->last = NULL;
}

size_t tlb_mappings_above(const tlb_mappings *s, uint64_t address)
{
   size_t low = 0;
   size_t high = s->count;
   while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (s->at[middle]->end > address)
         high = middle;
      else
         low = middle + 1;
   }
   return low;
}

const tlb_mapping *tlb_mappings_find(tlb_mappings *s, uint64_t address)
{
   if (s->last != NULL && s->last->start <= address && address < s->last->end)
      return s->last;
   const size_t i = tlb_mappings_above(s, address);
   if (i == s->count || s->at[i]->start > address)
      return NULL;
   s->last = s->at[i];
   return s->last;
}

int tlb_mappings_overlap(const tlb_mappings *s, uint64_t start, uint64_t end)
{
   const size_t i = tlb_mappings_above(s, start);
   return start < end && i < s->count && s->at[i]->start < end;
}

int tlb_mappings_piece(const tlb_mappings *s, uint64_t start, uint64_t end,
                       tlb_mapping *piece)
{
   const size_t i = tlb_mappings_above(s, start);
   if (start >= end || i == s->count || s->at[i]->start >= end)
      return 0;
   *piece = *s->at[i];
   if (piece->start < start) {
      piece->offset += start - piece->start;
      piece->start = start;
   }
   if (piece->end > end)
      piece->end = end;
   return 1;
}

/* Makes room for one more, at number i. */
static void open_at(tlb_mappings *s, size_t i, const tlb_mapping *m)
{
   if (s->count == s->room) {
      const size_t room = s->room == 0 ? 64 : s->room * 2;
      tlb_mapping **const at
         = s->memory.take(room * sizeof *at, s->memory.opaque);
      for (size_t k = 0; k < s->count; k++)
         at[k] = s->at[k];
      if (s->at != NULL)
         give_back(s, s->at);
      s->at = at;
      s->room = room;
   }
   for (size_t k = s->count; k > i; k--)
      s->at[k] = s->at[k - 1];
   s->count++;
   s->at[i] = s->memory.take(sizeof *m, s->memory.opaque);
   *s->at[i] = *m;
}

/* Takes the mappings [i, j) away. */
static void close_at(tlb_mappings *s, size_t i, size_t j)
{
   if (i == j)
      return;
   for (size_t k = i; k < j; k++)
      give_back(s, s->at[k]);
   for (size_t k = j; k < s->count; k++)
      s->at[i + (k - j)] = s->at[k];
   s->count -= j - i;
   s->last = NULL;
}

/* Cuts the mapping that `address` lies inside of, so that one begins there.
   Returns the number of the first mapping at or above it. */
static size_t cut(tlb_mappings *s, uint64_t address)
{
   const size_t i = tlb_mappings_above(s, address);
   if (i == s->count || s->at[i]->start >= address)
      return i;
   tlb_mapping upper = *s->at[i];
   upper.offset += address - upper.start;
   upper.start = address;
   s->at[i]->end = address;
   open_at(s, i + 1, &upper);
   return i + 1;
}

/* Whether Linux would make one mapping of the two. */
static int continues(const tlb_mapping *a, const tlb_mapping *b)
{
   return a->end == b->start && a->flags == b->flags && a->prot == b->prot
          && a->kind == b->kind && a->huge_shift == b->huge_shift
          && a->device == b->device && a->inode == b->inode
          && a->name == b->name && a->kind != TLB_SHM
          && (a->inode == 0 || a->offset + (a->end - a->start) == b->offset);
}

/* Makes one mapping of number i and the next, if they differ in nothing. */
static int join(tlb_mappings *s, size_t i)
{
   if (i + 1 >= s->count || !continues(s->at[i], s->at[i + 1]))
      return 0;
   s->at[i]->end = s->at[i + 1]->end;
   if (s->at[i + 1]->serial < s->at[i]->serial)
      s->at[i]->serial = s->at[i + 1]->serial;
   close_at(s, i + 1, i + 2);
   return 1;
}

/* Joins what can be joined from the mapping before number `first` up to the
   one that begins at `end`. */
static void join_range(tlb_mappings *s, size_t first, uint64_t end)
{
   size_t i = first > 0 ? first - 1 : 0;
   while (i + 1 < s->count && s->at[i + 1]->start <= end) {
      if (!join(s, i))
         i++;
   }
}

void tlb_mappings_remove(tlb_mappings *s, uint64_t start, uint64_t end)
{
   if (start >= end)
      return;
   const size_t i = cut(s, start);
   const size_t j = cut(s, end);
   close_at(s, i, j);
}

void tlb_mappings_add(tlb_mappings *s, const tlb_mapping *m)
{
   if (m->start >= m->end)
      return;
   tlb_mappings_remove(s, m->start, m->end);
   const size_t i = tlb_mappings_above(s, m->start);
   open_at(s, i, m);
   join_range(s, i, m->end);
}

void tlb_mappings_change(tlb_mappings *s, uint64_t start, uint64_t end,
                         tlb_mapping_change *change, void *opaque)
{
   if (start >= end)
      return;
   const size_t i = cut(s, start);
   const size_t j = cut(s, end);
   for (size_t k = i; k < j; k++)
      change(s->at[k], opaque);
   join_range(s, i, end);
}
