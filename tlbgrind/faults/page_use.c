/* Records the used bytes of each page. See faults/page_use.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "faults/kinds.h"
#include "native/maps.h"
#include "trace/segment_run.h"
#include "faults/page_use.h"

/* The host's page, of which mappings consist. The simulated base page can be larger, and then
   contain parts of several mappings. */
enum { PIECE_SHIFT = 12, PIECE = 1 << PIECE_SHIFT, WORD_BITS = 64 };

/* The part of a page that belongs to one map. */
typedef struct {
   struct {
      Addr page;
      UInt map;
   } key;
   HChar kinds[TLB_N_VIEWS];
   ULong* bits; /* one for each byte; NULL: all are 0 */
} Page;

/* A cache entry: the bits of a piece. */
typedef struct {
   UWord number; /* of the piece */
   ULong* bits;
} Seen;

/* Pieces of 256 MiB. */
enum { N_SEEN = 1 << 16 };

Bool tg_page_use_on;

static UInt page_shift;
static UWord page_bytes;
static Bool with_hidden;
static OSet* pages;  /* Page by key; mapped pages */
static XArray* gone_ranges; /* TgPageUseRange; unmapped pages, in the order of unmapping */
static Seen seen_pieces[N_SEEN];
static ULong unused_bits[PIECE / WORD_BITS]; /* written for pieces that no report has */

static Word compare_keys(const void* key, const void* element)
{
   const Page* a = key; /* the key is the first member */
   const Page* b = element;
   if (a->key.page != b->key.page)
      return a->key.page < b->key.page ? -1 : 1;
   return (a->key.map > b->key.map) - (a->key.map < b->key.map);
}

static void forget_all_seen(void)
{
   VG_(memset)(seen_pieces, 0, sizeof seen_pieces);
   /* An entry is empty if its piece belongs in another entry: 1 in entry 0, 0 in all others. */
   seen_pieces[0].number = 1;
}

static void start_empty(void)
{
   pages = VG_(OSetGen_Create)(offsetof(Page, key), compare_keys, VG_(malloc),
                               "tg.used.pages", VG_(free));
   gone_ranges = VG_(newXA)(VG_(malloc), "tg.used.gone", VG_(free),
                     sizeof(TgPageUseRange));
   forget_all_seen();
}

void tg_page_use_clear(void)
{
   if (!tg_page_use_on)
      return;
   const Page* p;
   VG_(OSetGen_ResetIter)(pages);
   while ((p = VG_(OSetGen_Next)(pages)) != NULL)
      VG_(free)(p->bits);
   VG_(OSetGen_Destroy)(pages);
   VG_(deleteXA)(gone_ranges);
   start_empty();
}

/* --- Pages --- */

static Addr page_of(Addr a)
{
   return a & ~(page_bytes - 1);
}

/* The page of the byte at `a` in its map, made at the first call. */
static Page* need_page(Addr a, UInt map)
{
   const Page new_page = { .key = { page_of(a), map } };
   Page* p = VG_(OSetGen_Lookup)(pages, &new_page.key);
   if (p != NULL)
      return p;
   p = VG_(OSetGen_AllocNode)(pages, sizeof *p);
   *p = new_page;
   VG_(memset)(p->kinds, TG_PAGE_USE_NOT_THERE, sizeof p->kinds);
   VG_(OSetGen_Insert)(pages, p);
   return p;
}

static void free_page(Page* p)
{
   VG_(free)(p->bits);
   const Page copy = *p;
   VG_(OSetGen_FreeNode)(pages, VG_(OSetGen_Remove)(pages, &copy.key));
}

/* The first page at or above `from`. */
static Page* first_from(Addr from)
{
   const Page at = { .key = { page_of(from), 0 } };
   VG_(OSetGen_ResetIterAt)(pages, &at.key);
   return VG_(OSetGen_Next)(pages);
}

static UInt ones(ULong w)
{
   w -= w >> 1 & 0x5555555555555555ULL;
   w = (w & 0x3333333333333333ULL) + (w >> 2 & 0x3333333333333333ULL);
   w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
   return (UInt)(w * 0x0101010101010101ULL >> 56);
}

static UInt bytes_of(const Page* p)
{
   UInt n = 0;
   if (p->bits == NULL)
      return 0;
   for (UWord i = 0; i < page_bytes / WORD_BITS; i++)
      n += ones(p->bits[i]);
   return n;
}

/* --- References --- */

static Bool is_accessible(Addr a)
{
   return VG_(am_is_valid_for_client)(a, 1, VKI_PROT_READ)
          || VG_(am_is_valid_for_client)(a, 1, VKI_PROT_WRITE)
          || VG_(am_is_valid_for_client)(a, 1, VKI_PROT_EXEC);
}

/* The bits of the byte's piece, looked up in the maps. */
static ULong* bits_at(Addr a)
{
   UInt map;
   ULong native;
   const TgMap* m = tg_maps_find(a, &map, &native);
   if (m == NULL || (m->hidden && !with_hidden) || !is_accessible(a))
      return unused_bits;
   Page* p = need_page(a, map);
   if (p->bits == NULL)
      p->bits = VG_(calloc)("tg.used.bits", page_bytes / WORD_BITS,
                            sizeof(ULong));
   const Addr piece = a & ~(Addr)(PIECE - 1);
   return p->bits + (piece - p->key.page) / WORD_BITS;
}

static inline void set_bits(ULong* bits, UInt from, UInt n)
{
   UInt word = from / WORD_BITS;
   const UInt shift = from % WORD_BITS;
   if (LIKELY(shift + n < WORD_BITS)) {
      bits[word] |= ((1ULL << n) - 1) << shift;
      return;
   }
   bits[word] |= ~0ULL << shift;
   for (n -= WORD_BITS - shift; n >= WORD_BITS; n -= WORD_BITS)
      bits[++word] = ~0ULL;
   if (n > 0)
      bits[word + 1] |= (1ULL << n) - 1;
}

/* Sets the bits of bytes in several pieces, or in one that is not cached. */
static __attribute__((noinline)) void use_anywhere(Addr a, SizeT n)
{
   while (n > 0) {
      const UWord number = a >> PIECE_SHIFT;
      const UInt from = (UInt)(a & (PIECE - 1));
      const UInt part = n < PIECE - from ? (UInt)n : PIECE - from;
      Seen* at = &seen_pieces[number % N_SEEN];
      if (at->number != number)
         *at = (Seen){ number, bits_at(a) };
      set_bits(at->bits, from, part);
      a += part;
      n -= part;
   }
}

static inline void use(Addr a, UInt n)
{
   const UWord number = a >> PIECE_SHIFT;
   const UInt from = (UInt)(a & (PIECE - 1));
   const Seen* at = &seen_pieces[number % N_SEEN];
   if (LIKELY(at->number == number && from + n <= PIECE))
      set_bits(at->bits, from, n);
   else
      use_anywhere(a, n);
}

static void use_code(const TgSegment* s, UInt n_instrs)
{
   TgSite* const* instr = tg_segment_instrs(s);
   for (UInt i = 0; i < n_instrs; i++)
      use(instr[i]->address, instr[i]->length);
}

void tg_page_use_segment(const TgShadowArea* hot, const TgSegment* s)
{
   /* The code's bits are set at the first execution only. They are not lost while the segment
      exists: when code is unmapped, its translation is discarded. */
   if (s->entered == 0)
      use_code(s, tg_n_instrs(s));
   const TgRef* ref = tg_segment_refs(s);
   for (UInt i = 0; i < s->n_refs; i++) {
      const TgRef* r = &ref[i];
      if (r->kind != TLB_FETCH)
         use(tg_address_of_ref(hot, r), r->size);
   }
}

void tg_page_use_interrupted(const TgShadowArea* hot, const TgSegment* s, UInt n_refs,
                       UInt n_instrs)
{
   use_code(s, n_instrs);
   for (UInt i = 0; i < n_refs; i++) {
      const TgRef* r = &tg_segment_refs(s)[i];
      if (r->kind != TLB_FETCH && tg_may_access(hot, r))
         use(tg_address_of_ref(hot, r), r->size);
   }
}

void tg_page_use_bytes(Addr a, SizeT len)
{
   if (tg_page_use_on)
      use_anywhere(a, len);
}

/* --- Pages made present, unmapped, moved --- */

/* Sets how the page became present, unless it is set. */
static void came(Page* p, UInt view, HChar letter)
{
   if (p->kinds[view] == TG_PAGE_USE_NOT_THERE)
      p->kinds[view] = letter;
}

/* Adds the page at `page`, which the fault of another page has mapped. `distance`: from addresses
   here to native ones in the mapping of the fault. */
static void brought(Addr page, ULong distance, UInt view)
{
   for (Addr a = page; a - page < page_bytes; a += PIECE) {
      UInt map;
      ULong native;
      const TgMap* m = tg_maps_find(a, &map, &native);
      if (m != NULL && native - a == distance) {
         if (!m->hidden || with_hidden)
            came(need_page(a, map), view, TG_PAGE_USE_BROUGHT);
         return;
      }
   }
   /* The page is in another mapping, which is adjacent natively but not here: a huge page spans
      both. */
   UInt map;
   const Addr a = tg_maps_here(page + distance, &map);
   if (a != 0 && (!tg_maps_get(map)->hidden || with_hidden))
      came(need_page(a, map), view, TG_PAGE_USE_BROUGHT);
}

void tg_page_use_fault(Addr a, ULong native, const tlb_fault in[TLB_N_VIEWS])
{
   UInt map;
   ULong ignored;
   if (!tg_page_use_on || tg_maps_find(a, &map, &ignored) == NULL)
      return;
   for (UInt view = 0; view < TLB_N_VIEWS; view++) {
      for (UInt i = 0; i < in[view].n_brought; i++) {
         const tlb_page_run* run = &in[view].brought[i];
         for (Long n = run->from; n <= run->to; n++)
            brought(page_of(a) + (Addr)(n << page_shift), native - a, view);
      }
      if (in[view].came_late)
         came(need_page(a, map), view, TG_PAGE_USE_BROUGHT);
      else if (in[view].kind != TLB_NO_FAULT)
         came(need_page(a, map), view, tg_fault_letter(in[view].kind));
   }
}

static void populated(Addr a, SizeT len)
{
   for (SizeT done = 0; done < len; done += PIECE) {
      UInt map;
      ULong native;
      const TgMap* m = tg_maps_find(a + done, &map, &native);
      if (m == NULL || (m->hidden && !with_hidden))
         continue;
      for (UInt view = 0; view < TLB_N_VIEWS; view++) {
         if (tlb_fault_is_present(tg_maps_model(), native,
                                  (tlb_fault_view)view))
            came(need_page(a + done, map), view, TG_PAGE_USE_PRESENT);
      }
   }
}

static void changed(Addr a, SizeT len)
{
   if (len == 0)
      return;
   const UWord first = a >> PIECE_SHIFT;
   const UWord last = (a + len - 1) >> PIECE_SHIFT;
   if (last - first >= N_SEEN) {
      forget_all_seen();
      return;
   }
   for (UWord number = first; number <= last; number++) {
      Seen* at = &seen_pieces[number % N_SEEN];
      if (at->number == number)
         *at = (Seen){ ~(UWord)0, NULL };
   }
}

static TgPageUseRange range_of(const Page* p)
{
   TgPageUseRange range = { .map = p->key.map, .page = p->key.page, .count = 1,
                     .bytes = bytes_of(p) };
   for (UInt view = 0; view < TLB_N_VIEWS; view++) {
      range.kinds[view] = p->kinds[view] == TG_PAGE_USE_NOT_THERE && range.bytes > 0
                           ? TG_PAGE_USE_PRESENT : p->kinds[view];
   }
   return range;
}

/* Adds a range, or appends it to the last one. */
static void add_range(XArray* ranges, TgPageUseRange range)
{
   const Word n = VG_(sizeXA)(ranges);
   TgPageUseRange* last = n == 0 ? NULL : VG_(indexXA)(ranges, n - 1);
   if (last != NULL && last->map == range.map && last->bytes == range.bytes
       && last->page + (Addr)(last->count << page_shift) == range.page
       && VG_(strcmp)(last->kinds, range.kinds) == 0) {
      last->count += range.count;
      return;
   }
   range.order = (ULong)n;
   VG_(addToXA)(ranges, &range);
}

/* Whether a part of the page still belongs to its map. */
static Bool is_mapped(const Page* p)
{
   for (UWord i = 0; i < page_bytes; i += PIECE) {
      UInt map;
      ULong native;
      if (tg_maps_find(p->key.page + i, &map, &native) != NULL
          && map == p->key.map)
         return True;
   }
   return False;
}

static void unmapped(Addr a, SizeT len)
{
   if (len == 0)
      return;
   changed(a, len);
   Addr at = page_of(a);
   Page* p;
   while ((p = first_from(at)) != NULL && p->key.page <= a + (len - 1)) {
      UInt last_map = 0;
      at = p->key.page;
      /* One Page for each map that has a part of the page. */
      while (p != NULL && p->key.page == at) {
         const Bool whole = at >= a && len - (at - a) >= page_bytes;
         last_map = p->key.map;
         if (whole || !is_mapped(p)) {
            add_range(gone_ranges, range_of(p));
            free_page(p);
         }
         const Page next = { .key = { at, last_map + 1 } };
         VG_(OSetGen_ResetIterAt)(pages, &next.key);
         p = VG_(OSetGen_Next)(pages);
      }
      if (at + page_bytes < at)
         return;
      at += page_bytes;
   }
}

static void moved(Addr from, Addr to, SizeT len, UInt map, UInt to_map)
{
   if (len == 0)
      return;
   changed(from, len);
   changed(to, len);
   /* With simulated pages larger than the host's, a move by a part of one moves no bits. */
   if ((to - from) % page_bytes != 0)
      return;
   for (SizeT done = 0; done < len; done += page_bytes) {
      const Page old = { .key = { page_of(from + done), map } };
      Page* p = VG_(OSetGen_Lookup)(pages, &old.key);
      if (p == NULL)
         continue;
      Page moved = *p;
      p->bits = NULL;
      free_page(p);
      Page* now = need_page(to + done, to_map);
      moved.key = now->key;
      VG_(free)(now->bits);
      *now = moved;
   }
}

void tg_page_use_init(UInt shift, Bool lists_hidden)
{
   static const TgMapsListener listener = {
      .populated = populated, .changed = changed, .unmapped = unmapped, .moved = moved,
   };
   tg_page_use_on = True;
   page_shift = shift;
   page_bytes = (UWord)1 << shift;
   with_hidden = lists_hidden;
   start_empty();
   tg_maps_listen(&listener);
}

/* --- Results --- */

static Int by_place(const void* a, const void* b)
{
   const TgPageUseRange* x = a;
   const TgPageUseRange* y = b;
   if (x->map != y->map)
      return x->map < y->map ? -1 : 1;
   if (x->page != y->page)
      return x->page < y->page ? -1 : 1;
   return (x->order > y->order) - (x->order < y->order);
}

/* Whether a view has pages of the range. */
static Bool is_there(const TgPageUseRange* range)
{
   for (UInt view = 0; view < TLB_N_VIEWS; view++) {
      if (range->kinds[view] != TG_PAGE_USE_NOT_THERE)
         return True;
   }
   return False;
}

XArray* tg_page_use_ranges(void)
{
   XArray* all = VG_(cloneXA)("tg.used.all", gone_ranges);
   const Page* p;
   VG_(OSetGen_ResetIter)(pages);
   while ((p = VG_(OSetGen_Next)(pages)) != NULL) {
      const TgPageUseRange range = range_of(p);
      if (is_there(&range))
         add_range(all, range);
   }
   VG_(setCmpFnXA)(all, by_place);
   VG_(sortXA)(all);
   XArray* joined = VG_(newXA)(VG_(malloc), "tg.used.joined", VG_(free),
                               sizeof(TgPageUseRange));
   for (Word i = 0; i < VG_(sizeXA)(all); i++)
      add_range(joined, *(TgPageUseRange*)VG_(indexXA)(all, i));
   VG_(deleteXA)(all);
   return joined;
}
