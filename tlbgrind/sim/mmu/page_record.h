/* Page records: which pages hit in the first level of every simulated MMU.

   A hit in the first level changes nothing but the time of the entry's last
   reference (LRU, PLRU), or nothing at all (FIFO, random). So while a page is known to hit in every
   machine of the run, all that a reference to it does is to note the time in the page's
   record. The simulated arrays read the time from there when they choose a
   victim, and release the page when that ends (sim/tlb/array.h).

   `observers` has one bit for each consumer (an MMU, page faults, reach) that must
   see the next reference to this page. 0: the page is on the fast path. The time is one
   for all machines: however many hit, one store notes it.

   Reads and writes are told apart where that matters: by machines with arrays of
   their own for loads and stores, and by page faults, for a page that was only read
   can fault again when it is written.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PAGE_RECORD_H
#define TLB_PAGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mmu/mmu.h"

#define TLB_LIKELY(x) __builtin_expect((x) != 0, 1)
#define TLB_UNLIKELY(x) __builtin_expect((x) != 0, 0)

/* The number of a base page of the run: its address divided by its size. */
typedef uintptr_t tlb_page_number;

/* No page has this number. */
#define TLB_NO_PAGE (~(tlb_page_number)0)

enum { TLB_NO_VIEW = TLB_MAX_VIEWS, TLB_NOT_ASKED = 0xff };

/* The answers of so many views stand in the record itself, those of more beside it. */
enum { TLB_VIEWS_IN_RECORD = 8 };

/* Two sides have records of their own for each page: data and code. Of data, stores have
   first-level arrays of their own in some machines. */
typedef enum { TLB_DATA, TLB_CODE, TLB_OWN_STORES, TLB_N_SIDES } tlb_side;
enum { TLB_N_TABLES = TLB_OWN_STORES };

static inline tlb_side tlb_side_of_user(tlb_user user)
{
   return user == TLB_FETCH ? TLB_CODE : TLB_DATA;
}

/* Whose records the side's are. */
static inline tlb_side tlb_table_of(tlb_side side)
{
   return side == TLB_CODE ? TLB_CODE : TLB_DATA;
}

/* A page of the base size, as data or as code. The tag of a data page is its address
   while it is known, and one that no look-up here is for while it is not. The tag of a
   page of code is 0 while it is known. */
typedef struct {
   uintptr_t tag;
   uint64_t time; /* of the last reference */
} __attribute__((aligned(16))) tlb_page;

typedef struct {
   uint64_t observers;       /* a bit for each machine (of those with larger base pages see
                                large_pages.h), and those below */
   uint64_t write_observers; /* the same for writes; see tlb_run_traits */
   union {
      uint32_t place; /* with one machine: in which entry of the second level it was last */
      uint32_t l2;    /* with several: the number of what l2_presence.h keeps of it; 0:
                         nothing yet */
   };
   uint32_t large; /* the same of what large_pages.h keeps of the large page in whose middle
                      it is */
   union {
      uint8_t backing[TLB_VIEWS_IN_RECORD]; /* what backs it, by view; see l1_lookup.c */
      uint8_t *many_backing;                /* the same with more views */
   };
} tlb_page_rest;

/* A line of the processor's cache. */
typedef struct {
   tlb_page page;  /* as reads and fetches look it up */
   tlb_page write; /* as writes do; of code, the tag is the page's address, always */
   tlb_page_rest rest;
} __attribute__((aligned(64))) tlb_page_record;

_Static_assert(sizeof(tlb_page_record) == 64, "a line");

/* Records are made for so many pages at once that lie side by side. */
enum { TLB_RECORD_CHUNK_BITS = 6, TLB_RECORD_CHUNK = 1 << TLB_RECORD_CHUNK_BITS };

/* Bits of `observers` that are no machine's; the first is that of the last of TLB_MAX_MMUS, of
   which a run with a recording has one less. */
#define TLB_OBSERVER_RECORDING (UINT64_C(1) << (TLB_MAX_MMUS - 1))
#define TLB_OBSERVER_FAULTS (UINT64_C(1) << 62)
#define TLB_OBSERVER_REACH (UINT64_C(1) << 63)
#define TLB_OBSERVERS_MMUS (TLB_OBSERVER_FAULTS - 1)

/* How far apart the two times of a page stand, in times. */
enum { TLB_SECOND_TIME = sizeof(tlb_page) / sizeof(uint64_t) };

static inline tlb_page *tlb_writes(const tlb_page *p)
{
   return (tlb_page *)(uintptr_t)(p + 1);
}

/* How far behind the page's record stands what references of that kind are looked
   up by, in bytes, where writes are told apart; and that. */
static inline uint8_t tlb_probe_at(unsigned user)
{
   return user == TLB_STORE ? sizeof(tlb_page) : 0;
}

static inline tlb_page *tlb_probe(const tlb_page *p, uintptr_t probe_at)
{
   return (tlb_page *)((uintptr_t)p + probe_at);
}

/* The page whose time that is, of what stands `probe_at` bytes behind. */
static inline tlb_page *tlb_page_of_time(const uint64_t *time, uintptr_t probe_at)
{
   return (tlb_page *)((uintptr_t)time - offsetof(tlb_page, time) - probe_at);
}

static inline tlb_page_rest *tlb_rest(const tlb_page *p)
{
   return &((tlb_page_record *)(uintptr_t)p)->rest;
}

/* Which consumers must see references of that kind to the page. */
static inline uint64_t *tlb_observers_of(tlb_page *p, tlb_user user, bool split)
{
   return split && user == TLB_STORE ? &tlb_rest(p)->write_observers
                                     : &tlb_rest(p)->observers;
}

/* The n-th page from p on, if its record lies side by side with that. */
static inline tlb_page *tlb_page_at(tlb_page *p, intptr_t n)
{
   return &((tlb_page_record *)(uintptr_t)p + n)->page;
}

/* The records of 2^bits pages, from a number that is a multiple of so many on, lie side
   by side, up to a chunk of them: at which place among them the page stands, and the
   first of those that it belongs to. */
static inline unsigned tlb_nth_page(tlb_page_number number, unsigned bits)
{
   return (unsigned)(number & (((tlb_page_number)1 << bits) - 1));
}

static inline tlb_page *tlb_first_page(tlb_page *p, tlb_page_number number, unsigned bits)
{
   return tlb_page_at(p, -(intptr_t)tlb_nth_page(number, bits));
}

/* In which bit of the page number an unknown page's tag differs from that of the
   same page when it is known. So of data it is neither the page itself nor the
   next, where the last byte of what begins on the page can be; and a look-up of several
   pages that finds no other difference can tell which kind is unknown. */
enum { TLB_DATA_UNKNOWN = 2, TLB_CODE_UNKNOWN = 4 };

static inline void tlb_code_unknown(tlb_page *p, unsigned shift)
{
   const uintptr_t tag = (uintptr_t)TLB_CODE_UNKNOWN << shift;
   p->tag = tag != 0 ? tag : ~tag; /* there may be no such bit with 32 bits */
}

/* The tag of an unknown data page differs in the lowest bit of all, too, which
   tells one from the other. */
static inline bool tlb_is_data_unknown(const tlb_page *p)
{
   return p->tag & 1;
}

/* Makes the one of the other. */
static inline uintptr_t tlb_data_other_tag(const tlb_page *p, unsigned shift)
{
   return p->tag ^ (1 | (uintptr_t)TLB_DATA_UNKNOWN << shift);
}

static inline void tlb_data_unknown(tlb_page *p, unsigned shift)
{
   if (!tlb_is_data_unknown(p))
      p->tag = tlb_data_other_tag(p, shift);
}

static inline void tlb_data_known(tlb_page *p, unsigned shift)
{
   if (tlb_is_data_unknown(p))
      p->tag = tlb_data_other_tag(p, shift);
}

static inline tlb_page_number tlb_page_number_of_data(const tlb_page *p, unsigned shift)
{
   const tlb_page_number number = p->tag >> shift;
   return tlb_is_data_unknown(p) ? number ^ TLB_DATA_UNKNOWN : number;
}

static inline tlb_page_number tlb_code_page_number(const tlb_page *p, unsigned shift)
{
   return tlb_writes(p)->tag >> shift;
}

static inline void tlb_code_settle(tlb_page *p)
{
   if (tlb_rest(p)->observers == 0)
      p->tag = 0;
}

#endif
