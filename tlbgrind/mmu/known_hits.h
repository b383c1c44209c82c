/* What is known of each page, so that most references need not be simulated.

   A hit in the first level changes nothing but the time of the entry's last
   reference (LRU, PLRU), or nothing at all (FIFO, random, and NRU as long as
   the used bit is on). So while a page is known to hit in every machine of the
   run, all that a reference to it does is to note the time in the page's
   record. The simulated arrays read the time from there when they choose a
   victim, and take the knowledge back when it stops being true (sim/tlb/array.h).

   Who has not got this knowledge says so with its bit in `observers`: the next
   reference to the page matters to it. A page is known when nobody wants it.
   The time is one for all machines: however many hit, one store notes it.

   Reads and writes are told apart where it matters to somebody: machines with
   arrays of their own for loads and stores, and page faults, for a page that
   was only read can fault again when it is written. */

#ifndef TG_KNOWN_HITS_H
#define TG_KNOWN_HITS_H

#include "pub_tool_basics.h"

#include "attribution/events.h"

#include <stdint.h>

/* How many different sets of page-size rules a run can have. */
enum { TG_MAX_VIEWS = 8, TG_NO_VIEW = TG_MAX_VIEWS };
enum { TG_NOT_ASKED = 0xff };

/* A page of the base size, as data or as code: these are two records. The tag of a data
   page is its address while it is known, and one that no look-up here is for while it is
   not. The tag of a page of code is 0 while it is known. */
typedef struct {
   UWord tag;
   uint64_t time; /* of the last reference */
} __attribute__((aligned(16))) TgPage;

typedef struct {
   ULong observers;        /* by whom: a bit for each machine (of those with larger base
                           pages see mmu/large_pages.h), and those below */
   ULong write_observers; /* the same for writes; see TgRunTraits */
   union {
      UInt place;  /* with one machine: in which entry of the second level it was
                      last, see engine/fast_lru.h */
      UInt l2; /* with several: the number of what mmu/l2_presence.h keeps of it;
                      0: nothing yet */
   };
   UInt large; /* the same of what mmu/large_pages.h keeps of the large page in whose middle
                  it is */
   UChar backing[TG_MAX_VIEWS]; /* what backs it, by view; see mmu/mmu.c */
} TgRest;

/* A line of the processor's cache. */
typedef struct {
   TgPage page;  /* as reads and fetches look it up */
   TgPage write; /* as writes do; of code, the tag is the page's address, always */
   TgRest rest;
} __attribute__((aligned(64))) TgRecord;

_Static_assert(sizeof(TgRecord) == 64, "a line");

/* Records are made for so many pages at once that lie side by side. */
enum { TG_CHUNK_BITS = 6, TG_CHUNK_PAGES = 1 << TG_CHUNK_BITS };

/* Room is made for so many at once. What is not used costs no memory. */
#if VG_WORDSIZE == 8
enum { TG_ROOM_PAGES = 1 << 20 };
#else
enum { TG_ROOM_PAGES = 1 << 18 };
#endif

static inline TgPage* tg_writes(const TgPage* p)
{
   return (TgPage*)(Addr)(p + 1);
}

/* How far apart the two times of a page stand, in times. */
enum { TG_SECOND_TIME = sizeof(TgPage) / sizeof(uint64_t) };

/* How far behind the page's record stands what references of that kind are looked
   up by, in bytes, where writes are told apart; and that. */
static inline UChar tg_probe_at(UInt kind)
{
   return kind == TG_WRITE ? sizeof(TgPage) : 0;
}

static inline TgPage* tg_probe(const TgPage* p, UWord probe_at)
{
   return (TgPage*)((Addr)p + probe_at);
}

static inline TgRest* tg_rest(const TgPage* p)
{
   return &((TgRecord*)(Addr)p)->rest;
}

/* The n-th page from p on, if its record lies side by side with that. */
static inline TgPage* tg_page_at(TgPage* p, Word n)
{
   return &((TgRecord*)(Addr)p + n)->page;
}

/* The records of 2^bits pages, from a number that is a multiple of so many on, lie side
   by side, up to a chunk of them: at which place among them the page stands, and the
   first of those that it belongs to. */
static inline UInt tg_nth_page(UWord number, UInt bits)
{
   return (UInt)(number & (((UWord)1 << bits) - 1));
}

static inline TgPage* tg_first_page(TgPage* p, UWord number, UInt bits)
{
   return tg_page_at(p, -(Word)tg_nth_page(number, bits));
}

/* No page has this number. */
#define TG_NO_PAGE (~(UWord)0)

/* Bits of `observers` that are no machine's. */
#define TG_OBSERVER_FAULTS (1ULL << 62)
#define TG_OBSERVER_REACH (1ULL << 63)
enum { TG_MAX_MMUS = 62 };
#define TG_OBSERVERS_MMUS (TG_OBSERVER_FAULTS - 1)

typedef enum { TG_DATA, TG_CODE, TG_N_TABLES } TgTable;

static inline TgTable tg_table_of_kind(TgKind kind)
{
   return kind == TG_FETCH ? TG_CODE : TG_DATA;
}

typedef struct {
   UInt page_shift;
   ULong observers[TG_N_TABLES]; /* what a new page is wanted by */
   ULong write_observers;       /* the same for writes of data */
   ULong wide;  /* machines whose entries can cover more than a base page */
   ULong apart; /* machines that have arrays of their own for loads and stores */
   Bool split;  /* loads and stores have arrays of their own somewhere: a
                   write is looked up by `write` alone, with a time of its own.
                   If not, it is looked up as a read is, and `write` only says
                   that writes are known, too. */
   Bool writes; /* writes are told apart at all */
   Bool mixed;     /* somebody compares times of fetches and of data */
   Bool own_times; /* somebody compares the times of some references with what it has
                      noted itself: of others that missed elsewhere first, or of when
                      it cleared used bits */
   Bool code_behind; /* code that was missed elsewhere comes to what data asks first */
} TgRunTraits;

extern TgRunTraits tg_run_traits;

/* What of it is for a kind of reference. */
static inline ULong* tg_first_observers(TgRunTraits* k, TgKind kind)
{
   return kind == TG_FETCH   ? &k->observers[TG_CODE]
          : kind == TG_WRITE ? &k->write_observers
                             : &k->observers[TG_DATA];
}

void tg_known_init(const TgRunTraits* k);

/* A page of code that is always known. */
TgPage* tg_no_page(void);

/* The record of a page, made if it is new. */
TgPage* tg_page(TgTable table, UWord number);

/* In which bit of the page number an unknown page's tag differs from that of the
   same page when it is known. So of data it is neither the page itself nor the
   next, where the last byte of what begins on the page can be; and whoever looks
   up several pages and finds no other difference knows which kind is unknown. */
enum { TG_DATA_UNKNOWN = 2, TG_CODE_UNKNOWN = 4 };

static inline void tg_code_unknown(TgPage* p, UInt shift)
{
   const UWord tag = (UWord)TG_CODE_UNKNOWN << shift;
   p->tag = tag != 0 ? tag : ~tag; /* there may be no such bit with 32 bits */
}

/* The tag of an unknown data page differs in the lowest bit of all, too, which
   tells one from the other. */
static inline Bool tg_is_data_unknown(const TgPage* p)
{
   return p->tag & 1;
}

/* Makes the one of the other. */
static inline UWord tg_data_other_tag(const TgPage* p, UInt shift)
{
   return p->tag ^ (1 | (UWord)TG_DATA_UNKNOWN << shift);
}

static inline void tg_data_unknown(TgPage* p, UInt shift)
{
   if (!tg_is_data_unknown(p))
      p->tag = tg_data_other_tag(p, shift);
}

static inline void tg_data_known(TgPage* p, UInt shift)
{
   if (tg_is_data_unknown(p))
      p->tag = tg_data_other_tag(p, shift);
}

/* Where the records of data pages are looked for first: by the lower bits of the
   page's number, enough for 4 GiB of small pages, stack and heap among them (1 GiB
   with 32 bits). Of chunks that are so far apart the first that is used stands
   here; the others' pages have to be looked for each time. What is not used is
   zero. */
extern TgRecord tg_near[TG_ROOM_PAGES];

static inline UWord tg_page_number_of_data(const TgPage* p, UInt shift)
{
   const UWord number = p->tag >> shift;
   return tg_is_data_unknown(p) ? number ^ TG_DATA_UNKNOWN : number;
}

/* The record that `a` has, if it is near; else some other whose tags `a` does not
   match: if it is not used, they are those of page 0, which is near. */
static inline TgPage* tg_near_page(Addr a, UInt shift)
{
   return &tg_near[(a >> shift) & (TG_ROOM_PAGES - 1)].page;
}

/* The record of a data page, made if it is new. */
static inline TgPage* tg_data_page(UWord number)
{
   TgPage* p = tg_near_page(number << tg_run_traits.page_shift,
                            tg_run_traits.page_shift);
   return tg_page_number_of_data(p, tg_run_traits.page_shift) == number
             ? p : tg_page(TG_DATA, number);
}

/* The same of either table. */
static inline TgPage* tg_page_of(TgTable table, UWord number)
{
   return table == TG_CODE ? tg_page(TG_CODE, number) : tg_data_page(number);
}

static inline UWord tg_code_page_number(const TgPage* p, UInt shift)
{
   return tg_writes(p)->tag >> shift;
}

/* Sets the tags to what `observers` says. */
static inline void tg_data_settle(TgPage* p)
{
   const TgRest* rest = tg_rest(p);
   if (rest->observers == 0)
      tg_data_known(p, tg_run_traits.page_shift);
   if (rest->write_observers == 0 && (tg_run_traits.split || rest->observers == 0))
      tg_data_known(tg_writes(p), tg_run_traits.page_shift);
}

static inline void tg_code_settle(TgPage* p)
{
   if (tg_rest(p)->observers == 0)
      p->tag = 0;
}

static inline void tg_settle(TgTable table, TgPage* p)
{
   if (table == TG_CODE)
      tg_code_settle(p);
   else
      tg_data_settle(p);
}

/* The next reference to the page matters to those of the mask: to the next read
   (or fetch), the next write, or both. What a write is looked up by is for the
   callee to know. */
void tg_page_observe(TgTable table, TgPage* p, Bool reads, Bool writes,
                    ULong mask);

/* The same for all pages that have a record, from number `first` on, `n` of
   them; what backs them in the view is asked again. Whoever knows a page that he has
   asked about relies on the answer: it ends with what all of the view know. */
void tg_pages_forget(TgTable table, UWord first, UWord n, ULong mask, UInt view);

/* Pages that a wide machine may know stand in lists of their own, lest all of a
   large page has to be gone through: lists the page. */
void tg_page_list(TgTable table, UWord number);

/* Calls `each` for the listed ones among `n` pages from `first` on. It may say
   wanted. */
void tg_pages_listed(TgTable table, UWord first, UWord n,
                     void (*each)(TgPage* p, void* opaque), void* opaque);

#endif
