/* What is known of each page. See mmu/known_hits.h. */

#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/known_hits.h"

typedef struct _Chunk {
   struct _Chunk* next; /* first two: as VG_(HashTable) wants them */
   UWord number;        /* of its first page, without the lower bits */
   TgRecord* record;    /* of its first page */
   ULong listed;        /* a bit per page, see tg_page_list() */
} Chunk;

TgRunTraits tg_run_traits;
TgRecord tg_near[TG_ROOM_PAGES];

static VgHashTable* chunks[TG_N_TABLES];

static void init_page(TgTable table, TgPage* p, UWord number)
{
   TgRest* rest = tg_rest(p);
   p->tag = tg_writes(p)->tag = number << tg_run_traits.page_shift;
   p->time = tg_writes(p)->time = 0;
   rest->observers = tg_run_traits.observers[table];
   rest->write_observers = table == TG_DATA ? tg_run_traits.write_observers : 0;
   rest->place = rest->large = 0;
   VG_(memset)(rest->backing, TG_NOT_ASKED, sizeof rest->backing);
   if (table == TG_CODE) {
      tg_code_unknown(p, tg_run_traits.page_shift);
   } else {
      tg_data_unknown(p, tg_run_traits.page_shift);
      tg_data_unknown(tg_writes(p), tg_run_traits.page_shift);
   }
}

/* Room for a chunk that is not near: code, and data that is far from all other. */
static TgRecord* new_records(void)
{
   static TgRecord* room;
   static UInt used = TG_ROOM_PAGES;
   if (used == TG_ROOM_PAGES) {
      const SizeT size = sizeof *room;
      UChar* bytes = VG_(malloc)("tg.known.room", (TG_ROOM_PAGES + 1) * size);
      room = (TgRecord*)VG_ROUNDUP((Addr)bytes, size);
      used = 0;
   }
   used += TG_CHUNK_PAGES;
   return &room[used - TG_CHUNK_PAGES];
}

static Chunk* find_chunk(TgTable table, UWord number)
{
   return VG_(HT_lookup)(chunks[table], number >> TG_CHUNK_BITS);
}

static Chunk* new_chunk(TgTable table, UWord number)
{
   const UWord first = number >> TG_CHUNK_BITS << TG_CHUNK_BITS;
   Chunk* c = VG_(malloc)("tg.known.chunk", sizeof *c);
   c->number = number >> TG_CHUNK_BITS;
   c->listed = 0;
   TgRecord* near = &tg_near[first & (TG_ROOM_PAGES - 1)];
   /* No page but the first can have the tag 0. */
   c->record = table == TG_DATA && near[1].page.tag == 0 ? near : new_records();
   for (UWord i = 0; i < TG_CHUNK_PAGES; i++)
      init_page(table, &c->record[i].page, first + i);
   VG_(HT_add_node)(chunks[table], c);
   return c;
}

TgPage* tg_page(TgTable table, UWord number)
{
   Chunk* c = find_chunk(table, number);
   if (c == NULL)
      c = new_chunk(table, number);
   return &c->record[number & (TG_CHUNK_PAGES - 1)].page;
}

TgPage* tg_no_page(void)
{
   static TgPage* page;
   if (page == NULL) {
      page = &new_records()->page;
      init_page(TG_CODE, page, 0);
      page->tag = 0;
   }
   return page;
}

void tg_known_init(const TgRunTraits* k)
{
   tg_run_traits = *k;
   chunks[TG_DATA] = VG_(HT_construct)("tg.known.data");
   chunks[TG_CODE] = VG_(HT_construct)("tg.known.code");
   tg_page(TG_DATA, 0); /* see tg_near_page() */
}

void tg_page_observe(TgTable table, TgPage* p, Bool reads, Bool writes,
                    ULong mask)
{
   TgRest* rest = tg_rest(p);
   if (table == TG_CODE) {
      rest->observers |= mask;
      tg_code_unknown(p, tg_run_traits.page_shift);
      return;
   }
   if (reads || !tg_run_traits.split) {
      rest->observers |= mask;
      tg_data_unknown(p, tg_run_traits.page_shift);
   }
   if (writes && tg_run_traits.split)
      rest->write_observers |= mask;
   if (writes || !tg_run_traits.split)
      tg_data_unknown(tg_writes(p), tg_run_traits.page_shift);
}

/* --- Ranges --- */

/* Chunks between two numbers: each of the range, or each there is, whichever
   are fewer. */
static void chunks_in(TgTable table, UWord first, UWord n,
                      void (*each)(Chunk* c, UWord from, UWord to,
                                   void* opaque),
                      void* opaque)
{
   const UWord last = n - 1 > ~(UWord)0 - first ? ~(UWord)0 : first + (n - 1);
   const UWord from = first >> TG_CHUNK_BITS;
   const UWord to = last >> TG_CHUNK_BITS;
   if (n == 0)
      return;
   if (to - from > VG_(HT_count_nodes)(chunks[table])) {
      Chunk* c;
      VG_(HT_ResetIter)(chunks[table]);
      while ((c = VG_(HT_Next)(chunks[table])) != NULL) {
         if (c->number >= from && c->number <= to)
            each(c, first, last, opaque);
      }
      return;
   }
   for (UWord number = from;; number++) {
      Chunk* c = VG_(HT_lookup)(chunks[table], number);
      if (c != NULL)
         each(c, first, last, opaque);
      if (number == to)
         return;
   }
}

/* The pages of a chunk that lie between two numbers, a bit for each. */
static ULong inside(const Chunk* c, UWord from, UWord to)
{
   const UWord first = c->number << TG_CHUNK_BITS;
   ULong bits = ~0ULL;
   if (from > first)
      bits &= ~0ULL << (from - first);
   if (to < first + (TG_CHUNK_PAGES - 1))
      bits &= ~0ULL >> (first + (TG_CHUNK_PAGES - 1) - to);
   return bits;
}

typedef struct {
   TgTable table;
   ULong mask;
   UInt view;
} Forgetting;

static void forget_in(Chunk* c, UWord from, UWord to, void* opaque)
{
   const Forgetting* f = opaque;
   for (ULong bits = inside(c, from, to); bits != 0; bits &= bits - 1) {
      TgPage* p = &c->record[__builtin_ctzll(bits)].page;
      if (f->table == TG_DATA) {
         tg_rest(p)->write_observers |= f->mask & tg_run_traits.write_observers;
         tg_data_unknown(tg_writes(p), tg_run_traits.page_shift);
      }
      tg_page_observe(f->table, p, True, True,
                     f->mask & tg_run_traits.observers[f->table]);
      if (f->view != TG_NO_VIEW)
         tg_rest(p)->backing[f->view] = TG_NOT_ASKED;
   }
}

void tg_pages_forget(TgTable table, UWord first, UWord n, ULong mask, UInt view)
{
   Forgetting f = { table, mask, view };
   chunks_in(table, first, n, forget_in, &f);
}

void tg_page_list(TgTable table, UWord number)
{
   find_chunk(table, number)->listed |= 1ULL << (number & (TG_CHUNK_PAGES - 1));
}

typedef struct {
   void (*each)(TgPage* p, void* opaque);
   void* opaque;
} Listing;

/* Whether a machine of those with large entries still knows the page. */
static Bool is_known_widely(const TgPage* p)
{
   const TgRest* rest = tg_rest(p);
   const ULong unknown = tg_run_traits.split ? rest->observers & rest->write_observers
                                            : rest->observers;
   return (~unknown & tg_run_traits.wide) != 0;
}

static void listed_in(Chunk* c, UWord from, UWord to, void* opaque)
{
   const Listing* l = opaque;
   for (ULong bits = c->listed & inside(c, from, to); bits != 0;
        bits &= bits - 1) {
      TgPage* p = &c->record[__builtin_ctzll(bits)].page;
      l->each(p, l->opaque);
      if (!is_known_widely(p))
         c->listed &= ~(bits & -bits);
   }
}

void tg_pages_listed(TgTable table, UWord first, UWord n,
                     void (*each)(TgPage* p, void* opaque), void* opaque)
{
   Listing l = { each, opaque };
   chunks_in(table, first, n, listed_in, &l);
}
