/* Keeps names of code by address. See attribution/code_names.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/code_names.h"

/* Pieces that overlap count as equal, so that a look-up finds one of those in a range. */
static Word compare(const void* key, const void* element)
{
   const TgCodeName *a = key, *b = element;
   return a->last < b->first ? -1 : b->last < a->first;
}

void tg_code_names_init(TgCodeNames* names)
{
   names->pieces = VG_(OSetGen_Create)(0, compare, VG_(malloc), "tg.code_names", VG_(free));
}

static TgCodeName* overlapping(const TgCodeNames* names, Addr first, Addr last)
{
   const TgCodeName key = { .first = first, .last = last };
   return VG_(OSetGen_Lookup)(names->pieces, &key);
}

static void insert(TgCodeNames* names, const TgCodeName* piece)
{
   TgCodeName* own = VG_(OSetGen_AllocNode)(names->pieces, sizeof *own);
   *own = *piece;
   VG_(OSetGen_Insert)(names->pieces, own);
}

/* Of a piece that sticks out of the range what sticks out is left. */
static void clear(TgCodeNames* names, Addr first, Addr last)
{
   TgCodeName* old;
   while ((old = overlapping(names, first, last)) != NULL) {
      TgCodeName before = *old, behind = *old;
      VG_(OSetGen_FreeNode)(names->pieces, VG_(OSetGen_Remove)(names->pieces, old));
      if (before.first < first) {
         before.last = first - 1;
         insert(names, &before);
      }
      if (behind.last > last) {
         behind.first = last + 1;
         insert(names, &behind);
      }
   }
}

Bool tg_code_names_add(TgCodeNames* names, const TgCodeName* more)
{
   if (VG_(OSetGen_Size)(names->pieces) >= TG_MOST_CODE_NAMES)
      return False;
   clear(names, more->first, more->last);
   insert(names, more);
   return True;
}

void tg_code_names_move(TgCodeNames* names, Addr from, Addr first, Addr last)
{
   XArray* moved = VG_(newXA)(VG_(malloc), "tg.code_names.moved", VG_(free), sizeof(TgCodeName));
   const Addr end = from + (last - first);
   const TgCodeName* old;
   for (Addr a = from; (old = overlapping(names, a, end)) != NULL;) {
      /* Of several that overlap the look-up may find any: it has to be the first. */
      while (old->first > a && overlapping(names, a, old->first - 1) != NULL)
         old = overlapping(names, a, old->first - 1);
      TgCodeName piece = *old;
      if (piece.first < from)
         piece.first = from;
      if (piece.last > end)
         piece.last = end;
      a = piece.last;
      piece.first = first + (piece.first - from);
      piece.last = first + (piece.last - from);
      VG_(addToXA)(moved, &piece);
      if (a++ == end)
         break;
   }
   for (Word i = 0; i < VG_(sizeXA)(moved); i++) {
      if (!tg_code_names_add(names, VG_(indexXA)(moved, i)))
         break;
   }
   VG_(deleteXA)(moved);
}

const TgCodeName* tg_code_names_at(const TgCodeNames* names, Addr a)
{
   return overlapping(names, a, a);
}
