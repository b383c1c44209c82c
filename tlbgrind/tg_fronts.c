/* First levels, all at once. See tg_fronts.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "sim/policy.h"

#include "tg_behind.h"
#include "tg_fronts.h"
#include "tg_lanes.h"
#include "tg_missed.h"
#include "tg_shared.h"
#include "tg_traits.h"

/* How it is found who is evicted. */
typedef enum { OF_4, OF_6, OF_8, OF_16, BY_SCAN, BY_TREE, BY_POLICY } Search;

typedef struct _Front Front;

struct _Front {
   tlb_array* array;
   tlb_key* key;
   uint64_t** short_cut;
   const TgStream* stream;
   Front* beside; /* of an array at the same level that takes the same pages, or NULL */
   /* The machine's bit, if references of that kind ask the array, else 0. If stores
      are not told apart, they ask what loads do. */
   ULong loads; /* or fetches */
   ULong stores;
   UInt set_mask;
   UChar how;     /* Search */
   UChar time_at; /* where the time stands in a page's record */
   UChar other;   /* its other time, counted from there in times; 0: there is none */
   Bool full;     /* all that the array has is known, and stays so */
} __attribute__((aligned(64)));

static Front fronts[TG_N_KINDS][TG_MAX_LANES];
static Front besides[TG_N_KINDS][TG_MAX_LANES];
TgFronts tg_fronts[TG_CHUNK_BITS + 1];
UInt tg_n_fronts;

/* --- Whom they evict --- */

/* A way with the time of its last reference in one number: see tg_timed(). */
static inline uint64_t timed(uint64_t* const* time, UInt other, UInt way)
{
   const uint64_t a = time[way][0];
   const uint64_t b = time[way][other];
   return (a > b ? a : b) << 3 | way;
}

/* `ways`: a constant, up to 8. */
static inline __attribute__((always_inline))
uint64_t earliest(uint64_t* const* time, UInt other, UInt ways)
{
   uint64_t found = timed(time, other, 0);
   #pragma GCC unroll 8
   for (UInt way = 1; way < ways; way++) {
      const uint64_t t = timed(time, other, way);
      found = t < found ? t : found;
   }
   return found;
}

static inline __attribute__((always_inline))
UInt earliest_of(const Front* f, UInt set, UInt ways)
{
   return set * ways + (UInt)(earliest(f->short_cut + set * ways, f->other, ways) & 7);
}

static inline UInt earliest_of_16(const Front* f, UInt set)
{
   const uint64_t a = earliest(f->short_cut + set * 16, f->other, 8);
   const uint64_t b = earliest(f->short_cut + set * 16 + 8, f->other, 8);
   return set * 16 + (a < b ? (UInt)(a & 7) : 8 + (UInt)(b & 7));
}

static inline __attribute__((always_inline))
UInt entry_to_evict(const Front* f, tlb_key key)
{
   const UInt set = (UInt)key & f->set_mask;
   switch ((Search)f->how) {
   case OF_4:
      return earliest_of(f, set, 4);
   case OF_6:
      return earliest_of(f, set, 6);
   case OF_8:
      return earliest_of(f, set, 8);
   case OF_16:
      return earliest_of_16(f, set);
   case BY_SCAN:
      return tlb_plain_oldest(f->array, key);
   case BY_TREE:
      return tlb_policy_oldest_known(f->array);
   case BY_POLICY:
      break;
   }
   return tlb_array_place(f->array, key);
}

/* Whether all that the array has is known, also now that more may have come. */
static Bool is_full(Front* f, Bool large)
{
   const tlb_array* a = f->array;
   if (!f->full)
      f->full = a->n_attached == a->g.entries
                && a->n_ranges == (large ? a->g.entries : 0);
   return f->full;
}

typedef struct {
   const Front* front;
   UInt entry;
   TgPage* page; /* that is evicted; of a large page the first */
} Eviction;

static uint64_t time_of(const Front* f, UInt entry)
{
   const uint64_t* time = f->short_cut[entry];
   return time[0] > time[f->other] ? time[0] : time[f->other];
}

/* Of two arrays side by side the one with the older page takes a new one. Returns
   False if one of their pages is not known. */
static __attribute__((noinline))
Bool choose_side(Front** f, UInt* entry, tlb_key key)
{
   Front* beside = (*f)->beside;
   if (!is_full(beside, False))
      return False;
   const UInt other = entry_to_evict(beside, key);
   if (time_of(beside, other) < time_of(*f, *entry)) {
      *f = beside;
      *entry = other;
   }
   return True;
}

static TgPage* first_of_entry(const Front* f, UInt entry, TgTable table, UInt large)
{
   const UWord number = (UWord)tlb_key_page(f->key[entry]) << large;
   return table == TG_CODE ? tg_page(TG_CODE, number) : tg_data_page(number);
}

/* Returns how many there are, or -1 if one of them is not known. */
static Int find_large_evictions(Front* of_kind, ULong wanted, tlb_key key,
                                TgTable table, UInt large, Eviction* out)
{
   Int n = 0;
   for (; wanted != 0; wanted &= wanted - 1) {
      Front* f = &of_kind[__builtin_ctzll(wanted)];
      if (UNLIKELY(!is_full(f, True)))
         return -1;
      const UInt entry = tlb_array_place(f->array, key);
      out[n++] = (Eviction){ f, entry, first_of_entry(f, entry, table, large) };
   }
   return n;
}

/* The same for base pages. */
static Int find_evictions(Front* of_kind, ULong wanted, tlb_key key, Eviction* out)
{
   Int n = 0;
   for (; wanted != 0; wanted &= wanted - 1) {
      Front* f = &of_kind[__builtin_ctzll(wanted)];
      if (UNLIKELY(!is_full(f, False)))
         return -1;
      UInt entry = entry_to_evict(f, key);
      if (UNLIKELY(f->beside != NULL) && !choose_side(&f, &entry, key))
         return -1;
      TgPage* evicted = (TgPage*)((Addr)f->short_cut[entry] - f->time_at);
      __builtin_prefetch(tg_rest(evicted), 1);
      out[n++] = (Eviction){ f, entry, evicted };
   }
   return n;
}

/* --- What becomes of it --- */

/* Without a branch: whether it was known is a matter of chance. */
static inline void forget(TgPage* p, UWord unknown, ULong by)
{
   const UWord if_known = (p->tag & 1) - 1;
   p->tag ^= by != 0 ? unknown & if_known : 0;
}

static inline __attribute__((always_inline))
void want(const Front* f, TgPage* p, Bool code)
{
   const UInt shift = tg_knowledge.page_shift;
   TgRest* rest = tg_rest(p);
   rest->wanted |= f->loads;
   if (code) {
      tg_code_unknown(p, shift);
   } else {
      const UWord unknown = 1 | (UWord)TG_DATA_UNKNOWN << shift;
      rest->wanted_writes |= f->stores;
      forget(p, unknown, f->loads);
      forget(tg_writes(p), unknown, tg_knowledge.split ? f->stores : f->loads);
   }
}

static inline __attribute__((always_inline))
void exchange(const Eviction* e, tlb_key key, TgPage* p, Bool code, UInt large,
              ULong now)
{
   const Front* f = e->front;
   uint64_t* time = (uint64_t*)((Addr)p + f->time_at);
   if (large > 0) {
      TgPage* evicted = e->page;
      for (UInt i = 0; i < 1u << large; i++, evicted = tg_next_page(evicted))
         want(f, evicted, code);
      tlb_array_replace(f->array, e->entry, key, now, &tlb_range);
      return;
   }
   want(f, e->page, code);
   f->key[e->entry] = key;
   f->short_cut[e->entry] = time;
   if (f->how >= OF_16)
      tlb_array_replaced(f->array);
   if (f->how == BY_TREE)
      tlb_policy_bound(f->array, 0, e->entry, now);
}

/* p: of a large page the first. */
static inline __attribute__((always_inline))
void replace_all(TgRef* r, TgPage* p, const Eviction* eviction, Int n, tlb_key key,
                 const tlb_reference* ref, TgKind kind, UInt large)
{
   const Bool code = kind == TG_FETCH;
   const TgTable table = code ? TG_CODE : TG_DATA;
   tlb_shelf_page* behind = tg_n_lanes > 1 ? tg_behind(table, p, large) : NULL;
   ULong* counts = tg_ref_misses(r) + tg_streams_at();
   TgMissed missed = { 0, 0, 0 };
   ULong loads = 0, stores = 0;
   for (Int i = 0; i < n; i++) {
      const Eviction* e = &eviction[i];
      exchange(e, key, p, code, large, ref->now);
      loads |= e->front->loads;
      stores |= e->front->stores;
      const TgStream* s = e->front->stream;
      tg_missed_stream(&missed, counts, behind, s,
                       tg_rungs_missed(s, kind, behind, e->page), ref->now);
   }
   for (UInt i = 0; i < 1u << large; i++, p = tg_next_page(p)) {
      TgRest* rest = tg_rest(p);
      rest->wanted &= ~loads;
      rest->wanted_writes &= ~stores;
      if (large > 0)
         tg_settle(table, p);
   }
   tg_missed_ask(r, &missed, table, behind, ref);
}

/* A bit for the page, which few others share. */
static inline ULong trace_of(const TgPage* p)
{
   return 1ULL << ((Addr)p / sizeof(TgPair) % 64);
}

/* Whether one of the pages is among 2^large from `first` on. */
static Bool is_among_large(const TgPage* first, UInt large, TgPage* const* page, UInt n)
{
   Bool found = False;
   for (UInt i = 0; i < n; i++)
      found |= (Addr)page[i] - (Addr)first < sizeof(TgPair) << large;
   return found;
}

/* Whether one of the pages would be evicted. */
static Bool is_needed(const Eviction* eviction, Int n_evictions, TgPage* const* page,
                      UInt n)
{
   ULong traces = 0;
   Bool perhaps = False;
   Bool needed = False;
   for (UInt i = 0; i < n; i++)
      traces |= trace_of(page[i]);
   for (Int i = 0; i < n_evictions; i++)
      perhaps |= (traces & trace_of(eviction[i].page)) != 0;
   for (Int i = 0; perhaps && i < n_evictions; i++) {
      for (UInt j = 0; j < n; j++)
         needed |= eviction[i].page == page[j];
   }
   return needed;
}

/* Of a larger base page. */
static __attribute__((noinline))
TgFrontsEnd miss_large(const TgFronts* which, TgRef* r, TgPage* p, TgKind kind,
                              ULong wanted, const tlb_reference* ref,
                              TgPage* const* page, UInt n)
{
   Eviction eviction[TG_MAX_LANES];
   const TgTable table = kind == TG_FETCH ? TG_CODE : TG_DATA;
   const UInt large = which->large;
   const tlb_key key = tlb_key_of(ref->page >> large, ref->page_shift, 0);
   const Int n_evictions
      = find_large_evictions(fronts[kind], wanted, key, table, large, eviction);
   if (n_evictions < 0)
      return TG_NO_FRONTS;
   for (Int i = 0; i < n_evictions; i++) {
      if (is_among_large(eviction[i].page, large, page, n))
         return TG_FRONTS_NEEDED;
   }
   p = tg_first_page(p, (UWord)ref->page, large);
   replace_all(r, p, eviction, n_evictions, key, ref, kind, large);
   return TG_FRONTS_DONE;
}

TgFrontsEnd tg_fronts_miss(const TgFronts* which, TgRef* r, TgPage* p, UWord number,
                           TgKind kind, ULong wanted, ULong now, TgPage* const* page,
                           UInt n)
{
   Eviction eviction[TG_MAX_LANES];
   const UInt shift = tg_knowledge.page_shift;
   const tlb_reference ref = { .page = number, .now = now, .user = (uint8_t)kind,
                               .page_shift = (uint8_t)(shift + which->large),
                               .block_shift = (uint8_t)shift };
   if (which->large > 0)
      return miss_large(which, r, p, kind, wanted, &ref, page, n);
   const tlb_key key = tlb_key_of(number, shift, 0);
   const Int n_evictions = find_evictions(fronts[kind], wanted, key, eviction);
   if (n_evictions < 0)
      return TG_NO_FRONTS;
   if (is_needed(eviction, n_evictions, page, n))
      return TG_FRONTS_NEEDED;
   if (kind == TG_FETCH)
      replace_all(r, p, eviction, n_evictions, key, &ref, TG_FETCH, 0);
   else
      replace_all(r, p, eviction, n_evictions, key, &ref, kind, 0);
   return TG_FRONTS_DONE;
}

/* --- Who has one --- */

static Search search_of(const tlb_array* a)
{
   if (a->tree != NULL && a->sets == 1)
      return BY_TREE;
   if (a->g.policy != TLB_LRU || a->tree != NULL)
      return BY_POLICY;
   if (a->set_mask == TLB_NO_MASK)
      return BY_SCAN;
   switch (a->g.ways) {
   case 4: return OF_4;
   case 6: return OF_6;
   case 8: return OF_8;
   case 16: return OF_16;
   default: return BY_SCAN;
   }
}

static Front front_of(TgLane* lane, TgKind kind, tlb_array* a)
{
   const TgPort* port = a->opaque;
   const Bool split = tg_knowledge.split;
   return (Front){
      .array = a, .key = a->key, .short_cut = a->short_cut,
      .stream = &lane->stream[tg_side_of(lane, kind)],
      .loads = port->code || port->reads || !split ? lane->bit : 0,
      .stores = port->writes && split ? lane->bit : 0,
      .set_mask = a->set_mask, .how = (UChar)search_of(a),
      .time_at = (UChar)port->time_at,
      .other = (UChar)a->second_time };
}

/* Those of machines with base pages of that size. */
static TgFronts* fronts_of(UInt large)
{
   UInt i = 0;
   while (i < tg_n_fronts && tg_fronts[i].large != large)
      i++;
   if (i == tg_n_fronts)
      tg_fronts[tg_n_fronts++] = (TgFronts){ .large = large };
   return &tg_fronts[i];
}

static void find(TgLane* lane, TgKind kind)
{
   tlb_array* a[TG_MAX_BASE_ARRAYS];
   const UInt n = tg_base_arrays(lane, kind, a);
   for (UInt i = 0; i < n; i++) {
      if (a[i]->also_behind
          || (a[i]->g.policy != TLB_LRU && (a[i]->g.policy != TLB_PLRU || n > 1)))
         return;
   }
   if (n == 0)
      return;
   Front* f = &fronts[kind][lane->number];
   *f = front_of(lane, kind, a[0]);
   if (n > 1) {
      f->beside = &besides[kind][lane->number];
      *f->beside = front_of(lane, kind, a[1]);
   }
   fronts_of(lane->large)->lanes[kind] |= lane->bit;
}

void tg_fronts_find(Bool fast_path)
{
   tg_n_fronts = 0;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      for (UInt i = 0; fast_path && i < tg_n_lanes; i++)
         find(&tg_lanes[i], kind);
   }
}
