/* Known hits. See known_hits.h. */

#include "sim/mmu/known_hits.h"

#include "sim/mmu/mmu_memory.h"

/* --- Records --- */

/* The views whose answers are kept for each page. */
static unsigned n_kept(const tlb_mmus *all)
{
   return all->n_views > TLB_VIEWS_IN_RECORD ? all->n_views : TLB_VIEWS_IN_RECORD;
}

/* Room for the answers about so many pages, if they do not fit into the records; else NULL. */
static uint8_t *room_for_backing(tlb_mmus *all, size_t pages)
{
   return all->n_views > TLB_VIEWS_IN_RECORD ? tlb_mmus_take(all, pages * all->n_views) : NULL;
}

/* `backing`: room for the answers about the page, if they do not fit into its record. */
static void init_page(const tlb_mmus *all, tlb_side table, tlb_page *p,
                      tlb_page_number number, uint8_t *backing)
{
   const unsigned shift = all->traits.page_shift;
   /* Page faults and reach are those of the first address space. */
   const uint64_t consumers = tlb_space_of(all, number) == 0 ? ~UINT64_C(0) : TLB_OBSERVERS_MMUS;
   tlb_page_rest *const rest = tlb_rest(p);
   p->tag = tlb_writes(p)->tag = number << shift;
   p->time = tlb_writes(p)->time = 0;
   rest->observers = all->traits.observers[table] & consumers;
   rest->write_observers = table == TLB_DATA ? all->traits.write_observers & consumers : 0;
   rest->place = rest->large = 0;
   if (all->n_views > TLB_VIEWS_IN_RECORD)
      rest->many_backing = backing;
   for (unsigned i = 0; i < n_kept(all); i++)
      *tlb_backing_at(all, p, i) = TLB_NOT_ASKED;
   if (table == TLB_CODE) {
      tlb_code_unknown(p, shift);
   } else {
      tlb_data_unknown(p, shift);
      tlb_data_unknown(tlb_writes(p), shift);
   }
}

/* Room for a chunk that is not near: code, and data that is far from all other. */
static tlb_page_record *new_records(tlb_mmus *all)
{
   const tlb_page_number n = all->near_mask + 1;
   if (all->records.room == NULL || all->records.used == n) {
      all->records.room = tlb_mmus_take(all, n * sizeof *all->records.room);
      all->records.used = 0;
   }
   all->records.used += TLB_RECORD_CHUNK;
   return &all->records.room[all->records.used - TLB_RECORD_CHUNK];
}

static tlb_record_chunk **bucket_of(const tlb_record_table *t, tlb_page_number number)
{
   const uint64_t hash = number * UINT64_C(0x9E3779B97F4A7C15) >> 32;
   return &t->bucket[hash & (t->n_buckets - 1)];
}

static tlb_record_chunk *chunk_of(const tlb_mmus *all, tlb_side table,
                                  tlb_page_number number)
{
   tlb_record_chunk *c = *bucket_of(&all->records.table[table], number);
   while (c != NULL && c->number != number)
      c = c->next;
   return c;
}

static void add_chunk(tlb_record_table *t, tlb_record_chunk *c)
{
   tlb_record_chunk **const bucket = bucket_of(t, c->number);
   c->next = *bucket;
   *bucket = c;
}

static void make_buckets(tlb_mmus *all, tlb_record_table *t, size_t n)
{
   const tlb_record_table old = *t;
   t->n_buckets = n;
   t->bucket = tlb_mmus_take_zeroes(all, n * sizeof *t->bucket);
   for (size_t i = 0; i < old.n_buckets; i++) {
      tlb_record_chunk *next;
      for (tlb_record_chunk *c = old.bucket[i]; c != NULL; c = next) {
         next = c->next;
         add_chunk(t, c);
      }
   }
}

static tlb_record_chunk *new_chunk(tlb_mmus *all, tlb_side table, tlb_page_number number)
{
   const tlb_page_number first = number >> TLB_RECORD_CHUNK_BITS << TLB_RECORD_CHUNK_BITS;
   tlb_record_table *const t = &all->records.table[table];
   tlb_page_record *const near = tlb_near_record(all, first);
   tlb_record_chunk *const c = tlb_mmus_take(all, sizeof *c);
   c->number = number >> TLB_RECORD_CHUNK_BITS;
   c->listed = 0;
   /* No page but the first can have the tag 0. */
   c->record = table == TLB_DATA && near[1].page.tag == 0 ? near : new_records(all);
   uint8_t *const backing = room_for_backing(all, TLB_RECORD_CHUNK);
   for (tlb_page_number i = 0; i < TLB_RECORD_CHUNK; i++)
      init_page(all, table, &c->record[i].page, first + i,
                backing == NULL ? NULL : backing + i * all->n_views);
   if (t->n++ == t->n_buckets)
      make_buckets(all, t, 2 * t->n_buckets);
   add_chunk(t, c);
   return c;
}

tlb_page *tlb_record_of(tlb_mmus *all, tlb_side table, tlb_page_number number)
{
   const tlb_record_chunk *c = chunk_of(all, table, number >> TLB_RECORD_CHUNK_BITS);
   if (c == NULL)
      c = new_chunk(all, table, number);
   return &c->record[number & (TLB_RECORD_CHUNK - 1)].page;
}

tlb_page *tlb_no_page(tlb_mmus *all)
{
   if (all->records.no_page == NULL) {
      all->records.no_page = &new_records(all)->page;
      init_page(all, TLB_CODE, all->records.no_page, 0, room_for_backing(all, 1));
      all->records.no_page->tag = 0;
   }
   return all->records.no_page;
}

void tlb_known_init(tlb_mmus *all, tlb_page_record *near, tlb_page_number n)
{
   enum { FEW = 64 };
   enum { NUMBER_BITS = 8 * sizeof(tlb_page_number) };
   all->near = near;
   all->near_mask = n - 1;
   all->space_shift = all->options.address_bits == 0
                         ? NUMBER_BITS - 1 : all->options.address_bits - all->traits.page_shift;
   for (unsigned table = 0; table < TLB_N_TABLES; table++)
      make_buckets(all, &all->records.table[table], FEW);
   tlb_record_of(all, TLB_DATA, 0); /* see tlb_data_page() */
}

/* --- What a page is known to --- */

void tlb_page_observe(const tlb_mmus *all, tlb_side table, tlb_page *p, bool reads,
                      bool writes, uint64_t mask)
{
   const unsigned shift = all->traits.page_shift;
   const bool split = all->traits.split;
   tlb_page_rest *const rest = tlb_rest(p);
   if (table == TLB_CODE) {
      rest->observers |= mask;
      tlb_code_unknown(p, shift);
      return;
   }
   if (reads || !split) {
      rest->observers |= mask;
      tlb_data_unknown(p, shift);
   }
   if (writes && split)
      rest->write_observers |= mask;
   if (writes || !split)
      tlb_data_unknown(tlb_writes(p), shift);
}

/* --- Ranges --- */

typedef void each_chunk(tlb_mmus *all, tlb_record_chunk *c, tlb_page_number first,
                        tlb_page_number last, void *opaque);

/* Chunks between two numbers: each of the range, or each there is, whichever
   are fewer. */
static void chunks_in(tlb_mmus *all, tlb_side table, tlb_page_number first,
                      tlb_page_number n, each_chunk *each, void *opaque)
{
   const tlb_page_number end = ~(tlb_page_number)0;
   const tlb_page_number last = n - 1 > end - first ? end : first + (n - 1);
   const tlb_page_number from = first >> TLB_RECORD_CHUNK_BITS;
   const tlb_page_number to = last >> TLB_RECORD_CHUNK_BITS;
   const tlb_record_table *const t = &all->records.table[table];
   if (n == 0)
      return;
   if (to - from > t->n) {
      for (size_t i = 0; i < t->n_buckets; i++) {
         for (tlb_record_chunk *c = t->bucket[i]; c != NULL; c = c->next) {
            if (c->number >= from && c->number <= to)
               each(all, c, first, last, opaque);
         }
      }
      return;
   }
   for (tlb_page_number number = from;; number++) {
      tlb_record_chunk *const c = chunk_of(all, table, number);
      if (c != NULL)
         each(all, c, first, last, opaque);
      if (number == to)
         return;
   }
}

/* The pages of a chunk from page number `first` on that lie between two numbers, a bit for
   each. */
static uint64_t inside_of(tlb_page_number first, tlb_page_number from, tlb_page_number to)
{
   uint64_t bits = ~UINT64_C(0);
   if (to < first || from > first + (TLB_RECORD_CHUNK - 1))
      return 0;
   if (from > first)
      bits &= ~UINT64_C(0) << (from - first);
   if (to < first + (TLB_RECORD_CHUNK - 1))
      bits &= ~UINT64_C(0) >> (first + (TLB_RECORD_CHUNK - 1) - to);
   return bits;
}

static uint64_t inside(const tlb_record_chunk *c, tlb_page_number from, tlb_page_number to)
{
   return inside_of(c->number << TLB_RECORD_CHUNK_BITS, from, to);
}

typedef struct {
   tlb_side table;
   tlb_page_number first, last; /* in each address space */
   uint64_t mask;
   unsigned view;
} forgetting;

static void forget_in(tlb_mmus *all, tlb_record_chunk *c, tlb_page_number from,
                      tlb_page_number to, void *opaque)
{
   const forgetting *const f = opaque;
   const tlb_page_number number = tlb_in_space(all, c->number << TLB_RECORD_CHUNK_BITS);
   (void)from, (void)to;
   for (uint64_t bits = inside_of(number, f->first, f->last); bits != 0; bits &= bits - 1) {
      tlb_page *const p = &c->record[__builtin_ctzll(bits)].page;
      if (f->table == TLB_DATA) {
         tlb_rest(p)->write_observers |= f->mask & all->traits.write_observers;
         tlb_data_unknown(tlb_writes(p), all->traits.page_shift);
      }
      tlb_page_observe(all, f->table, p, true, true,
                       f->mask & all->traits.observers[f->table]);
      if (f->view != TLB_NO_VIEW)
         *tlb_backing_at(all, p, f->view) = TLB_NOT_ASKED;
   }
}

void tlb_pages_forget(tlb_mmus *all, tlb_side table, tlb_page_number first,
                      tlb_page_number n, uint64_t mask, unsigned view)
{
   const tlb_page_number end = ~(tlb_page_number)0;
   const bool one_space = all->options.address_bits == 0;
   forgetting f = { table, first, n - 1 > end - first ? end : first + (n - 1), mask, view };
   if (n > 0)
      chunks_in(all, table, one_space ? first : 0, one_space ? n : end, forget_in, &f);
}

/* --- Lists --- */

void tlb_page_list(tlb_mmus *all, tlb_side table, tlb_page_number number)
{
   chunk_of(all, table, number >> TLB_RECORD_CHUNK_BITS)->listed
      |= UINT64_C(1) << (number & (TLB_RECORD_CHUNK - 1));
}

typedef struct {
   tlb_each_page *each;
   void *opaque;
} listing;

/* Whether the page is still known to a machine with large entries. */
static bool is_known_widely(const tlb_mmus *all, const tlb_page *p)
{
   const tlb_page_rest *const rest = tlb_rest(p);
   const uint64_t unknown = all->traits.split ? rest->observers & rest->write_observers
                                              : rest->observers;
   return (~unknown & all->traits.wide) != 0;
}

static void listed_in(tlb_mmus *all, tlb_record_chunk *c, tlb_page_number from,
                      tlb_page_number to, void *opaque)
{
   const listing *const l = opaque;
   for (uint64_t bits = c->listed & inside(c, from, to); bits != 0; bits &= bits - 1) {
      tlb_page *const p = &c->record[__builtin_ctzll(bits)].page;
      l->each(all, p, l->opaque);
      if (!is_known_widely(all, p))
         c->listed &= ~(bits & -bits);
   }
}

void tlb_pages_listed(tlb_mmus *all, tlb_side table, tlb_page_number first,
                      tlb_page_number n, tlb_each_page *each, void *opaque)
{
   listing l = { each, opaque };
   chunks_in(all, table, first, n, listed_in, &l);
}

static void all_in(tlb_mmus *all, tlb_record_chunk *c, tlb_page_number from,
                   tlb_page_number to, void *opaque)
{
   const listing *const l = opaque;
   (void)from, (void)to;
   for (unsigned i = 0; i < TLB_RECORD_CHUNK; i++)
      l->each(all, &c->record[i].page, l->opaque);
}

void tlb_pages_each(tlb_mmus *all, tlb_side table, tlb_each_page *each, void *opaque)
{
   listing l = { each, opaque };
   chunks_in(all, table, 0, ~(tlb_page_number)0, all_in, &l);
}
