/* Places the code of several objects in one mapping. See space/merged_code.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "attribution/sites.h"
#include "base/elf_file.h"
#include "space/aspace.h"
#include "space/merged_code.h"

/* No mapping of a program on 64-bit Linux lies there. */
#if VG_WORDSIZE == 8
static const Addr base = 0x600000000000;
static const ULong room = 1ULL << 30;
#else
static const Addr base = 0; /* the option is refused: options/text_options.c */
static const ULong room = 0;
#endif

enum { ALIGNMENT = 16 }; /* of .text, as compilers have it */
enum { PT_LOAD = 1, PF_X = 1 };

static HChar** patterns; /* the last one is NULL; NULL: nothing is merged */
static XArray* pieces;   /* TgMergedCode */
static Addr next_place;        /* the end of the merged code */
static Addr plain_start; /* [plain_start, plain_end) is not merged; nothing changed since */
static Addr plain_end;

void tg_merged_code_init(const HChar* list)
{
   if (list == NULL)
      return;
   HChar* rest = VG_(strdup)("tg.merged.patterns", list);
   SizeT n = 1;
   for (const HChar* at = rest; *at != '\0'; at++)
      n += *at == ',';
   patterns = VG_(calloc)("tg.merged.patterns", n + 1, sizeof *patterns);
   for (SizeT i = 0; i < n; i++) {
      patterns[i] = rest;
      HChar* comma = VG_(strchr)(rest, ',');
      if (comma != NULL) {
         *comma = '\0';
         rest = comma + 1;
      }
   }
   pieces = VG_(newXA)(VG_(malloc), "tg.merged.pieces", VG_(free), sizeof(TgMergedCode));
   next_place = base;
   /* Rules for page sizes apply to the merged code as to a library's text. */
   const tlb_mapping m = { .start = base, .end = base + room, .device = 0, .inode = 0,
                           .name = "[merged code]", .kind = TLB_IMAGE,
                           .prot = TLB_MAY_READ | TLB_MAY_EXECUTE };
   tlb_pagemap_map(tg_aspace_map(), &m);
}

const HChar* tg_merged_code_pattern(UInt i)
{
   return patterns == NULL ? NULL : patterns[i];
}

Bool tg_merged_code_matches(const HChar* pattern, const HChar* name)
{
   const HChar* slash = VG_(strrchr)(name, '/');
   const Bool whole = VG_(strchr)(pattern, '/') != NULL;
   return tlb_pattern_matches(pattern, whole || slash == NULL ? name : slash + 1) != 0;
}

static Bool is_merged(const HChar* name)
{
   for (UInt i = 0; patterns[i] != NULL; i++) {
      if (tg_merged_code_matches(patterns[i], name))
         return True;
   }
   return False;
}

/* Narrows the piece to the bytes of its segment in the file: a mapping is whole pages. */
static void narrow(TgMergedCode* piece)
{
   TgElfSegment s;
   const Int fd = tg_elf_open(piece->name);
   if (fd < 0)
      return;
   for (UInt i = 0; tg_elf_segment(fd, i, &s); i++) {
      const ULong skipped = s.offset - piece->offset;
      if (s.type != PT_LOAD || (s.flags & PF_X) == 0
          || VG_PGROUNDDN((Addr)s.offset) != (Addr)piece->offset
          || skipped + s.size > piece->end - piece->start)
         continue;
      piece->end = piece->start + (Addr)(skipped + s.size);
      piece->start += (Addr)skipped;
      piece->offset += skipped;
      break;
   }
   VG_(close)(fd);
}

/* An object that is mapped a second time has its old place. */
static Addr place_of(const TgMergedCode* piece)
{
   for (Word i = 0; i < VG_(sizeXA)(pieces); i++) {
      const TgMergedCode* p = VG_(indexXA)(pieces, i);
      if (p->offset == piece->offset && p->end - p->start == piece->end - piece->start
          && VG_(strcmp)(p->name, piece->name) == 0)
         return p->to;
   }
   return 0;
}

static const TgMergedCode* add_piece(const NSegment* s, const HChar* name)
{
   TgMergedCode piece = { .name = name, .start = s->start, .end = s->end + 1,
                          .offset = (ULong)s->offset };
   narrow(&piece);
   piece.to = place_of(&piece);
   if (piece.to == 0) {
      const Addr to = VG_ROUNDUP(next_place, ALIGNMENT);
      if ((ULong)to + (piece.end - piece.start) > base + room)
         return NULL;
      piece.to = to;
      next_place = to + (piece.end - piece.start);
   }
   piece.name = VG_(strdup)("tg.merged.name", name);
   piece.in_file = tg_in_file(piece.start);
   return VG_(indexXA)(pieces, VG_(addToXA)(pieces, &piece));
}

Addr tg_merged_code_address(Addr a)
{
   if (LIKELY(patterns == NULL) || (a >= plain_start && a < plain_end))
      return a;
   const TgMergedCode* found = NULL;
   for (Word i = VG_(sizeXA)(pieces); i > 0 && found == NULL; i--) {
      const TgMergedCode* p = VG_(indexXA)(pieces, i - 1);
      if (a >= p->start && a < p->end)
         found = p;
   }
   const NSegment* s = VG_(am_find_nsegment)(a);
   const HChar* name = s == NULL ? NULL : VG_(am_get_filename)(s);
   if (name == NULL || !is_merged(name)) {
      plain_start = s == NULL ? 0 : s->start;
      plain_end = s == NULL ? 0 : s->end + 1;
      return a;
   }
   if (found == NULL || VG_(strcmp)(found->name, name) != 0)
      found = add_piece(s, name);
   return found == NULL || a < found->start || a >= found->end ? a
                                                               : found->to + (a - found->start);
}

void tg_merged_code_changed(void)
{
   plain_start = plain_end = 0;
}

void tg_merged_code_end(void)
{
   if (patterns != NULL && VG_(sizeXA)(pieces) == 0 && VG_(clo_verbosity) > 0)
      VG_(umsg)("Nothing was merged: no object that was executed matches --merge-code=.\n");
}

UInt tg_merged_code_count(void)
{
   return patterns == NULL ? 0 : (UInt)VG_(sizeXA)(pieces);
}

const TgMergedCode* tg_merged_code_number(UInt i)
{
   return VG_(indexXA)(pieces, (Word)i);
}
