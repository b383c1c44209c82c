/* Which object each word of the address space belongs to. See data/words.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_poolalloc.h"

#include "base/allocator.h"
#include "data/objects.h"
#include "data/words.h"

TgDataPage* tg_data_chunk[TG_N_CHUNKS];

static const TgWordsResolver* resolver;
static Bool has_records;

static PoolAlloc* word_pages;
static PoolAlloc* fine_pages; /* arrays of TG_WORDS */
static PoolAlloc* uses;

/* What was found for words with several objects: by address, until something changes there. */
enum { N_FOUND = 4096 };
static struct {
   Addr a;
   ULong changes;
   UInt object;
} found_in_mixed[N_FOUND];
static ULong n_changes = 1;

void tg_words_init(const TgWordsResolver* r, Bool records)
{
   resolver = r;
   has_records = records;
   word_pages = VG_(newPA)(sizeof(TgWordsPage), 256, VG_(malloc), "tg.data.words", VG_(free));
   fine_pages = VG_(newPA)(TG_WORDS * sizeof(UInt), 256, VG_(malloc), "tg.data.fine", VG_(free));
   uses = VG_(newPA)(sizeof(TgUse), 256, VG_(malloc), "tg.data.uses", VG_(free));
}

/* --- Pages --- */

static Bool is_possible(Addr a)
{
   return a >> TG_CHUNK_SHIFT < TG_N_CHUNKS;
}

/* The memory of a chunk is zero, and there is none of it until it is written to. */
static TgDataPage* page_of(Addr a)
{
   TgDataPage** chunk = &tg_data_chunk[a >> TG_CHUNK_SHIFT];
   if (*chunk == NULL)
      *chunk = tg_zero_pages(TG_CHUNK_PAGES * sizeof **chunk);
   return &(*chunk)[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)];
}

static UInt index_of(Addr a)
{
   return (UInt)((a & (TG_WORDS_PAGE - 1)) >> TG_WORD_SHIFT);
}

static void set_bit(ULong* bits, UInt i)
{
   bits[i / 64] |= 1ULL << (i % 64);
}

static void clear_bit(ULong* bits, UInt i)
{
   bits[i / 64] &= ~(1ULL << (i % 64));
}

static Bool has_bit(const ULong* bits, UInt i)
{
   return (bits[i / 64] >> (i % 64) & 1) != 0;
}

/* The array that is shown, but for TG_PAGE_EVEN. */
static UInt* seen(TgWordsPage* w)
{
   return w->fine != NULL ? w->fine : w->word;
}

static Bool has_words(const TgDataPage* p)
{
   return p->state == TG_PAGE_WORDS || p->state == TG_PAGE_EVEN;
}

/* The transitions: each sets all that the state has. */

static void enter_words(TgDataPage* p)
{
   p->state = TG_PAGE_WORDS;
   p->shown = seen(p->words);
   p->mask = TG_WORDS - 1;
}

static void enter_even(TgDataPage* p, UInt value)
{
   p->state = TG_PAGE_EVEN;
   p->all = value;
   p->shown = &p->all;
   p->mask = 0;
}

/* TG_PAGE_EMPTY or TG_PAGE_BLOCK: gives back what there was. */
static void enter_without_words(TgDataPage* p, UInt value, Bool starts)
{
   if (has_words(p)) {
      n_changes++;
      if (p->words->fine != NULL)
         VG_(freeEltPA)(fine_pages, p->words->fine);
      VG_(freeEltPA)(word_pages, p->words);
   }
   p->state = value == 0 ? TG_PAGE_EMPTY : TG_PAGE_BLOCK;
   p->words = NULL;
   p->shown = NULL;
   p->all = value;
   p->starts = starts;
}

static void untouch_words(TgWordsPage* w)
{
   for (UInt i = 0; i < TG_WORDS; i++) {
      if (w->word[i] != TG_WORD_MIXED)
         w->word[i] &= ~(UInt)TG_WORD_TOUCHED;
   }
   w->n_touched = 0;
}

/* Names on the page have changed: each word is looked up again. */
static void refine(TgDataPage* p)
{
   TgWordsPage* w = p->words;
   if (w->fine == NULL)
      w->fine = VG_(allocEltPA)(fine_pages);
   VG_(memset)(w->fine, 0, TG_WORDS * sizeof w->fine[0]);
   untouch_words(w);
   enter_words(p);
}

static TgWordsPage* words_of(TgDataPage* p, Addr a)
{
   if (has_words(p))
      return p->words;
   TgWordsPage* w = VG_(allocEltPA)(word_pages);
   for (UInt i = 0; i < TG_WORDS; i++)
      w->word[i] = p->all;
   VG_(memset)(w->starts, 0, sizeof w->starts);
   if (p->state == TG_PAGE_BLOCK && p->starts)
      set_bit(w->starts, 0);
   w->background = resolver->place_of_page(a);
   w->n_touched = 0;
   w->fine = NULL;
   p->words = w;
   p->starts = False;
   const Addr page = a & ~(Addr)(TG_WORDS_PAGE - 1);
   if (has_records || resolver->is_named(page, page + TG_WORDS_PAGE))
      refine(p);
   else
      enter_words(p);
   return w;
}

static void empty(TgDataPage* p)
{
   enter_without_words(p, 0, False);
}

/* --- Look-up --- */

static void touch(TgDataPage* p, UInt object, UInt i)
{
   TgUse* u = p->uses;
   while (u != NULL && u->object != object)
      u = u->next;
   if (u == NULL) {
      u = VG_(allocEltPA)(uses);
      *u = (TgUse){ .next = p->uses, .object = object };
      p->uses = u;
   }
   set_bit(u->touched, i);
}

/* A word of the page has been touched for the first time. */
static void count_touched(TgDataPage* p)
{
   const UInt* word = seen(p->words);
   if (++p->words->n_touched < TG_WORDS)
      return;
   for (UInt i = 1; i < TG_WORDS; i++) {
      if (word[i] != word[0])
         return;
   }
   enter_even(p, word[0]);
}

/* Sets a word's value when a block comes or goes. */
static void set_word(TgDataPage* p, UInt i, UInt value)
{
   TgWordsPage* w = p->words;
   const UInt old = seen(w)[i];
   if (old != TG_WORD_MIXED && (old & TG_WORD_TOUCHED) != 0)
      w->n_touched--;
   enter_words(p);
   if (w->fine != NULL) {
      w->fine[i] = 0;
      n_changes++;
   }
   w->word[i] = value;
   clear_bit(w->starts, i);
}

static UInt place(Addr a, const TgWordsPage* w)
{
   return w->background != 0 ? w->background : resolver->place(a);
}

/* The value of a word without names and records. */
static UInt coarse_value(TgWordsPage* w, Addr word)
{
   UInt* value = &w->word[index_of(word)];
   if (*value == 0) {
      const UInt first = place(word, w);
      const UInt last = place(word + TG_WORD_BYTES - 1, w);
      *value = first == last ? first << TG_WORD_OBJECT : TG_WORD_MIXED;
   }
   return *value;
}

/* The last of the page's words 0 to i at which a heap block starts; -1: there is none. */
static Int last_start(const TgDataPage* p, UInt i)
{
   if (!has_words(p))
      return p->starts ? 0 : -1;
   ULong bits = p->words->starts[i / 64] & ~0ULL >> (63 - i % 64);
   Int n = (Int)(i / 64);
   while (bits == 0 && n > 0)
      bits = p->words->starts[--n];
   return bits == 0 ? -1 : n * 64 + 63 - __builtin_clzll(bits);
}

/* Where the heap block starts that holds `a`, if that is at most 4 KiB before; else 0. */
static Addr block_start(Addr a)
{
   const Addr word = a & ~(Addr)(TG_WORD_BYTES - 1);
   Addr page = a & ~(Addr)(TG_WORDS_PAGE - 1);
   Int i = last_start(page_of(a), index_of(a));
   if (i < 0 && page != 0) {
      page -= TG_WORDS_PAGE;
      i = last_start(page_of(page), TG_WORDS - 1);
   }
   const Addr start = page + (Addr)i * TG_WORD_BYTES;
   return i >= 0 && word - start < TG_WORDS_PAGE ? start : 0;
}

/* The number of the object, or of its cell, at `a`: what names and records change is heeded.
   Sets *end to where that changes, or an address before. */
static UInt fine_number(TgWordsPage* w, Addr a, Addr* end)
{
   const Addr word = a & ~(Addr)(TG_WORD_BYTES - 1);
   const UInt named = resolver->named_at(a, end);
   if (named != 0)
      return named;
   const UInt value = coarse_value(w, word);
   const Bool is_mixed = value == TG_WORD_MIXED;
   const UInt object = is_mixed ? resolver->place(a) : value >> TG_WORD_OBJECT;
   const Addr stop = is_mixed ? a + 1 : word + TG_WORD_BYTES;
   *end = stop < *end ? stop : *end;
   if (!has_records)
      return object;
   if (!is_mixed && (value & TG_WORD_BLOCK) != 0)
      return resolver->record_in_block(object, block_start(a), a, end);
   return tg_data_object_of(object)->kind == TG_DATA_VARIABLE
             ? resolver->record_in_variable(object, a, end) : object;
}

static UInt fine_value(TgWordsPage* w, Addr word)
{
   Addr end;
   const UInt number = fine_number(w, word, &end);
   const Bool is_looked_up = end < word + TG_WORD_BYTES
                             || (has_records && resolver->record_is_sought(number));
   return is_looked_up ? TG_WORD_MIXED : number << TG_WORD_OBJECT;
}

static UInt number_in_mixed(TgWordsPage* w, Addr a)
{
   Addr end;
   return w->fine != NULL ? fine_number(w, a, &end) : resolver->place(a);
}

static UInt find_in_mixed(TgWordsPage* w, Addr a)
{
   const UWord at = a % N_FOUND;
   if (found_in_mixed[at].a != a || found_in_mixed[at].changes != n_changes) {
      found_in_mixed[at].a = a;
      found_in_mixed[at].changes = n_changes;
      found_in_mixed[at].object = number_in_mixed(w, a);
   }
   return found_in_mixed[at].object;
}

UInt tg_words_find(Addr a, Bool touches)
{
   if (!is_possible(a))
      return resolver->place(a);
   TgDataPage* p = page_of(a);
   TgWordsPage* w = words_of(p, a);
   const Addr word = a & ~(Addr)(TG_WORD_BYTES - 1);
   UInt* value = &seen(w)[index_of(a)];
   if (*value == 0)
      *value = w->fine != NULL ? fine_value(w, word) : coarse_value(w, word);
   const UInt object = *value == TG_WORD_MIXED ? find_in_mixed(w, a) : *value >> TG_WORD_OBJECT;
   if (touches && (*value == TG_WORD_MIXED || (*value & TG_WORD_TOUCHED) == 0)) {
      touch(p, tg_data_whole(object), index_of(a));
      if (*value != TG_WORD_MIXED) {
         *value |= TG_WORD_TOUCHED;
         count_touched(p);
      }
   }
   return object;
}

UInt tg_words_value(Addr a)
{
   return is_possible(a) && has_words(page_of(a)) ? seen(page_of(a)->words)[index_of(a)] : 0;
}

/* --- Changes --- */

/* Calls `each` for the pages of [start, end) whose chunk has memory. */
static void each_page_of(Addr start, Addr end, void (*each)(TgDataPage* p))
{
   Addr a = start & ~(Addr)(TG_WORDS_PAGE - 1);
   while (a < end && is_possible(a)) {
      TgDataPage* chunk = tg_data_chunk[a >> TG_CHUNK_SHIFT];
      const Addr next = ((a >> TG_CHUNK_SHIFT) + 1) << TG_CHUNK_SHIFT;
      const Addr stop = next != 0 && next < end ? next : end;
      for (; chunk != NULL && a < stop; a += TG_WORDS_PAGE)
         each(&chunk[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)]);
      if (next == 0)
         return;
      a = next;
   }
}

void tg_words_forget(Addr start, Addr end)
{
   n_changes++;
   each_page_of(start, end, empty);
}

static void refine_if_used(TgDataPage* p)
{
   if (has_words(p))
      refine(p);
}

void tg_words_refine(Addr start, Addr end)
{
   n_changes++;
   each_page_of(start, end, refine_if_used);
}

/* Where the part of [a, end) ends that lies on the page of a. */
static Addr end_on_page(Addr a, Addr end)
{
   const Addr next = (a & ~(Addr)(TG_WORDS_PAGE - 1)) + TG_WORDS_PAGE;
   return end < next ? end : next;
}

void tg_words_add_block(Addr a, SizeT bytes, UInt object)
{
   const UInt value = object << TG_WORD_OBJECT | TG_WORD_BLOCK;
   const Addr end = (a + (bytes == 0 ? 1 : bytes) + TG_WORD_BYTES - 1)
                    & ~(Addr)(TG_WORD_BYTES - 1);
   a &= ~(Addr)(TG_WORD_BYTES - 1);
   if (end <= a || !is_possible(a) || !is_possible(end - 1))
      return;
   Addr stop;
   for (Addr at = a; at < end; at = stop) {
      TgDataPage* p = page_of(at);
      stop = end_on_page(at, end);
      if (stop - at == TG_WORDS_PAGE) {
         enter_without_words(p, value, at == a);
         continue;
      }
      TgWordsPage* w = words_of(p, at);
      const UInt first = index_of(at);
      for (UInt i = first; i <= index_of(stop - 1); i++)
         set_word(p, i, value);
      if (at == a)
         set_bit(w->starts, first);
   }
}

/* Removes what the block has on the page, from `at` on. Returns where that ends. */
static Addr remove_on_page(TgDataPage* p, Addr at, Bool is_first, UInt value)
{
   const Addr next = (at & ~(Addr)(TG_WORDS_PAGE - 1)) + TG_WORDS_PAGE;
   if (!has_words(p)) {
      if (p->all != value || p->starts != is_first)
         return at;
      empty(p);
      return next;
   }
   TgWordsPage* w = p->words;
   for (Addr a = at; a < next; a += TG_WORD_BYTES) {
      const UInt i = index_of(a);
      if ((w->word[i] & ~(UInt)TG_WORD_TOUCHED) != value
          || has_bit(w->starts, i) != (is_first && a == at))
         return a;
      set_word(p, i, 0);
   }
   return next;
}

void tg_words_remove_block(Addr a)
{
   if (!is_possible(a) || a % TG_WORD_BYTES != 0)
      return;
   TgDataPage* p = page_of(a);
   const Bool starts = has_words(p) ? has_bit(p->words->starts, index_of(a))
                                        : p->starts && index_of(a) == 0;
   if (!starts)
      return;
   const UInt value = (has_words(p) ? p->words->word[index_of(a)] : p->all)
                      & ~(UInt)TG_WORD_TOUCHED;
   Addr at = a, end = a;
   do {
      at = end;
      end = remove_on_page(page_of(at), at, at == a, value);
   } while (end % TG_WORDS_PAGE == 0 && end != at && is_possible(end));
   resolver->block_freed(a, end);
}

/* --- What has been touched --- */

static void each_page(void (*each)(TgDataPage* p, Addr a, void* opaque), void* opaque)
{
   for (UWord c = 0; c < TG_N_CHUNKS; c++) {
      for (UWord i = 0; tg_data_chunk[c] != NULL && i < TG_CHUNK_PAGES; i++) {
         TgDataPage* p = &tg_data_chunk[c][i];
         if (has_words(p) || p->uses != NULL)
            each(p, (Addr)(c << TG_CHUNK_SHIFT | i << TG_WORDS_PAGE_SHIFT), opaque);
      }
   }
}

static void untouch(TgDataPage* p, Addr a, void* opaque)
{
   (void)a; (void)opaque;
   TgWordsPage* w = p->words;
   if (w != NULL) {
      untouch_words(w);
      if (w->fine != NULL)
         VG_(memset)(w->fine, 0, TG_WORDS * sizeof w->fine[0]);
      enter_words(p);
   }
   while (p->uses != NULL) {
      TgUse* u = p->uses;
      p->uses = u->next;
      VG_(freeEltPA)(uses, u);
   }
}

void tg_words_forked(void)
{
   each_page(untouch, NULL);
}

typedef struct {
   UInt page_shift;
   ULong* pages;
   ULong* words;
   UWord* last; /* by object: the last page that was counted, and one more */
} Sums;

static void count_page(TgDataPage* p, Addr a, void* opaque)
{
   Sums* sums = opaque;
   const UWord page = (a >> sums->page_shift) + 1;
   for (const TgUse* u = p->uses; u != NULL; u = u->next) {
      for (UInt i = 0; i < TG_WORDS / 64; i++)
         sums->words[u->object] += (ULong)__builtin_popcountll(u->touched[i]);
      sums->pages[u->object] += sums->last[u->object] != page;
      sums->last[u->object] = page;
   }
}

void tg_words_count(UInt page_shift, ULong* pages, ULong* words)
{
   Sums sums = { .page_shift = page_shift, .pages = pages, .words = words };
   sums.last = VG_(calloc)("tg.data.sums", tg_data_n_objects() + 1, sizeof *sums.last);
   each_page(count_page, &sums);
   VG_(free)(sums.last);
}
