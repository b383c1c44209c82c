/* Reach: how often fully associative LRU arrays of every size would miss. See
   reach.h.

   The pages of one size stand in two parts. On top are those that the known 4K
   pages lie in, at most eight, in no order. Below, in a
   tlb_reach_stack, are all others by the order of their last references: each
   has a place, and a page that leaves the top gets the next free one. That
   keeps the order: what leaves the top is referenced longest ago of all there,
   and whatever lies below was referenced before that.

   So the distance of a page that comes back from below is the number of pages
   on top plus the number of pages in higher places than its own. Taken places
   are marked by bits; the bits are counted in four steps: in a word of 64, in
   the words of a row, in the rows of a block, in blocks. (Bennett and Kruskal,
   "LRU stack processing", IBM Journal of Research and Development 19, 1975,
   count with a tree; for so few places flat tables do.)

   When the places are used up, the taken ones move down and close up. At most
   TLB_REACH_LARGEST are kept then: a page with as many above it misses in
   all arrays until it is referenced again. Places have numbers that go on
   growing, so that a page whose place is below the lowest number is seen to
   have lost it, and the page itself need not be changed.

   Where a page has its place stands in its region. Regions are found by a hash
   table; most references go to the same region as the one before. */

#include "sim/tlb/reach.h"

enum {
   REGION_SHIFT = 21 - TLB_REACH_PAGE_SHIFT,
   PAGES = 1 << REGION_SHIFT,       /* of 4K in a region */
   BLOCK_SHIFT = 16 - TLB_REACH_PAGE_SHIFT,
   BLOCKS = PAGES >> BLOCK_SHIFT,   /* of 64K in a region */
   PLACES = TLB_REACH_BITS,
   MAX_REGIONS = 1 << (32 - REGION_SHIFT) /* an owner has 32 bits */
};

/* What stands for the place of a page that has none. */
enum {
   NEVER = 0,     /* was never referenced */
   NOWHERE = 1,   /* is on top, or lost its place */
   FIRST_PLACE = 2
};

/* The place of a known 4K page is KNOWN plus its number among the known. */
static const uint32_t KNOWN = UINT32_MAX - TLB_REACH_SMALLEST;

struct tlb_reach_region {
   tlb_reach_region *next; /* of the same bucket */
   uint64_t number;        /* the address divided by 2M */
   uint32_t index;         /* among the regions */
   /* Places, and how many known pages lie in each page of the larger sizes. */
   uint32_t place_2m;
   uint8_t known_in_2m;
   uint8_t known_in_64k[BLOCKS];
   uint32_t place_64k[BLOCKS];
   uint32_t place_4k[PAGES];
};

/* --- Counting places --- */

static uint32_t bits_in(uint64_t word)
{
   word -= word >> 1 & UINT64_C(0x5555555555555555);
   word = (word & UINT64_C(0x3333333333333333))
          + (word >> 2 & UINT64_C(0x3333333333333333));
   word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
   return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The sum of the eight bytes of a word. */
static uint32_t sum_of(uint64_t bytes)
{
   bytes = (bytes & UINT64_C(0x00ff00ff00ff00ff))
           + (bytes >> 8 & UINT64_C(0x00ff00ff00ff00ff));
   return (uint32_t)(bytes * UINT64_C(0x0001000100010001) >> 48);
}

/* Counts place i in (by = 1) or out (-1). */
static void count_place(tlb_reach_stack *s, uint32_t i, int by)
{
   const uint32_t word = i / 64, row = word / 8, block = row / 8;
   const uint64_t one = UINT64_C(1) << word % 8 * 8;
   s->bits[word] ^= UINT64_C(1) << i % 64;
   s->words[row] += by > 0 ? one : -one;
   s->rows[row] = (uint16_t)(s->rows[row] + by);
   s->blocks[block] = (uint16_t)(s->blocks[block] + by);
}

/* How many places above i are taken. */
static uint32_t places_above(const tlb_reach_stack *s, uint32_t i)
{
   const uint32_t word = i / 64, row = word / 8, block = row / 8;
   uint32_t n = bits_in(s->bits[word] >> i % 64 >> 1)
                + sum_of(s->words[row] >> word % 8 * 8 >> 8);
   for (uint32_t r = row + 1; r < (block + 1) * 8; r++)
      n += s->rows[r];
   for (uint32_t b = block + 1; b < sizeof s->blocks / sizeof *s->blocks; b++)
      n += s->blocks[b];
   return n;
}

/* --- Stacks --- */

/* A page of the larger sizes, or a 4K page, that has a place of its own. */
static uint32_t *place_of(const tlb_reach *r, tlb_reach_size size,
                          uint32_t owner)
{
   switch (size) {
   case TLB_REACH_4K:
      return &r->region[owner / PAGES]->place_4k[owner % PAGES];
   case TLB_REACH_64K:
      return &r->region[owner / BLOCKS]->place_64k[owner % BLOCKS];
   default:
      return &r->region[owner]->place_2m;
   }
}

/* The numbers of places have come to their end: from now on a page that lost
   its place is told so. */
static void forget_places(tlb_reach *r, tlb_reach_size size)
{
   const uint32_t n = size == TLB_REACH_4K ? PAGES
                      : size == TLB_REACH_64K ? BLOCKS : 1;
   for (uint32_t index = 0; index < r->n_regions; index++) {
      for (uint32_t i = 0; i < n; i++) {
         uint32_t *const place = place_of(r, size, index * n + i);
         if (*place != NEVER && *place < KNOWN)
            *place = NOWHERE;
      }
   }
}

static void clear_counts(tlb_reach_stack *s)
{
   for (uint32_t i = 0; i < sizeof s->bits / sizeof *s->bits; i++)
      s->bits[i] = 0;
   for (uint32_t i = 0; i < sizeof s->rows / sizeof *s->rows; i++)
      s->words[i] = s->rows[i] = 0;
   for (uint32_t i = 0; i < sizeof s->blocks / sizeof *s->blocks; i++)
      s->blocks[i] = 0;
}

/* All places are used up: the highest TLB_REACH_LARGEST that are taken move
   down, in their order. */
static void close_up(tlb_reach *r, tlb_reach_size size)
{
   tlb_reach_stack *const s = &r->stack[size];
   uint32_t taken = places_above(s, 0) + (uint32_t)(s->bits[0] & 1);
   uint32_t kept = 0;
   for (uint32_t i = 0; i < PLACES; i++) {
      if ((s->bits[i / 64] >> i % 64 & 1) == 0)
         continue;
      if (taken-- <= TLB_REACH_LARGEST)
         s->owner[kept++] = s->owner[i];
   }
   if (s->base <= KNOWN - 2 * PLACES) {
      s->base += PLACES;
   } else {
      forget_places(r, size);
      s->base = FIRST_PLACE;
   }
   s->used = kept;
   clear_counts(s);
   for (uint32_t i = 0; i < kept; i++) {
      *place_of(r, size, s->owner[i]) = s->base + i;
      count_place(s, i, 1);
   }
}

/* Puts a page on the highest place. */
static void push(tlb_reach *r, tlb_reach_size size, uint32_t owner,
                 uint32_t *place)
{
   tlb_reach_stack *const s = &r->stack[size];
   if (s->used == PLACES)
      close_up(r, size);
   s->owner[s->used] = owner;
   *place = s->base + s->used;
   count_place(s, s->used++, 1);
}

/* Takes a page from its place to the top, where `above` others are. */
static void take(tlb_reach_stack *s, uint32_t *place, uint32_t above)
{
   if (*place == NEVER) {
      s->cold++;
   } else if (*place < s->base) {
      s->beyond++;
   } else {
      const uint32_t i = *place - s->base;
      const uint32_t distance = above + places_above(s, i);
      if (distance < TLB_REACH_LARGEST)
         s->at[distance]++;
      else
         s->beyond++;
      count_place(s, i, -1);
   }
   *place = NOWHERE;
}

/* --- Regions --- */

static uint32_t bucket_of(const tlb_reach *r, uint64_t number)
{
   return (uint32_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32)
          & (r->capacity - 1);
}

/* Room for twice as many regions. Returns whether there was memory. */
static int grow(tlb_reach *r)
{
   const uint32_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
   if (capacity > MAX_REGIONS)
      return 0;
   const size_t bytes = capacity * sizeof *r->region;
   tlb_reach_region **const region = r->memory.take(bytes, r->memory.opaque);
   if (region == NULL)
      return 0;
   tlb_reach_region **const bucket = r->memory.take(bytes, r->memory.opaque);
   if (bucket == NULL) {
      r->memory.give(region, r->memory.opaque);
      return 0;
   }
   for (uint32_t i = 0; i < r->n_regions; i++)
      region[i] = r->region[i];
   if (r->capacity != 0) {
      r->memory.give(r->region, r->memory.opaque);
      r->memory.give(r->bucket, r->memory.opaque);
   }
   r->region = region;
   r->bucket = bucket;
   r->capacity = capacity;
   for (uint32_t i = 0; i < capacity; i++)
      bucket[i] = NULL;
   for (uint32_t i = 0; i < r->n_regions; i++) {
      const uint32_t at = bucket_of(r, region[i]->number);
      region[i]->next = bucket[at];
      bucket[at] = region[i];
   }
   return 1;
}

static tlb_reach_region *add_region(tlb_reach *r, uint64_t number)
{
   if (r->n_regions == r->capacity && !grow(r))
      return NULL;
   tlb_reach_region *const g = r->memory.take(sizeof *g, r->memory.opaque);
   if (g == NULL)
      return NULL;
   *g = (tlb_reach_region){ .number = number, .index = r->n_regions };
   const uint32_t at = bucket_of(r, number);
   g->next = r->bucket[at];
   r->bucket[at] = g;
   r->region[r->n_regions++] = g;
   return g;
}

static tlb_reach_region *find_region(tlb_reach *r, uint64_t number)
{
   tlb_reach_region *g = r->newest;
   if (g != NULL && g->number == number)
      return g;
   g = r->capacity == 0 ? NULL : r->bucket[bucket_of(r, number)];
   while (g != NULL && g->number != number)
      g = g->next;
   if (g == NULL)
      g = add_region(r, number);
   r->newest = g;
   return g;
}

/* --- The top --- */

/* Whether known page i has its time here, not with the caller. */
static int is_own(const tlb_reach *r, uint32_t i)
{
   return r->time[i] == &r->known[i].own;
}

static uint64_t later_time(const tlb_reach *r, uint32_t i)
{
   const uint64_t a = r->time[i][0];
   const uint64_t b = r->time[i][is_own(r, i) ? 0 : r->second_time];
   return a > b ? a : b;
}

/* All of the known pages are there. */
static uint32_t oldest_known(const tlb_reach *r)
{
   const int two_times = r->second_time != 0;
   uint32_t oldest = 0;
   uint64_t oldest_time = UINT64_MAX;
   for (uint32_t i = 0; i < TLB_REACH_SMALLEST; i++) {
      const uint64_t t = two_times ? later_time(r, i) : *r->time[i];
      oldest = t < oldest_time ? i : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return oldest;
}

/* Known page i leaves the top, and what it alone held there. */
static void leave(tlb_reach *r, uint32_t i)
{
   const tlb_reach_known *const k = &r->known[i];
   tlb_reach_region *const g = k->region;
   const uint32_t block = k->page >> BLOCK_SHIFT;
   push(r, TLB_REACH_4K, g->index * PAGES + k->page, &g->place_4k[k->page]);
   if (--g->known_in_64k[block] == 0) {
      r->stack[TLB_REACH_64K].covered--;
      push(r, TLB_REACH_64K, g->index * BLOCKS + block, &g->place_64k[block]);
   }
   if (--g->known_in_2m == 0) {
      r->stack[TLB_REACH_2M].covered--;
      push(r, TLB_REACH_2M, g->index, &g->place_2m);
   }
   if (!is_own(r, i))
      r->release(r->time[i], r->opaque);
}

/* A page comes to the top. */
static void enter(tlb_reach *r, tlb_reach_region *g, uint32_t page)
{
   tlb_reach_stack *const s = r->stack;
   const uint32_t block = page >> BLOCK_SHIFT;
   take(&s[TLB_REACH_4K], &g->place_4k[page], r->n_known);
   if (g->known_in_64k[block]++ == 0)
      take(&s[TLB_REACH_64K], &g->place_64k[block],
           s[TLB_REACH_64K].covered++);
   if (g->known_in_2m++ == 0)
      take(&s[TLB_REACH_2M], &g->place_2m, s[TLB_REACH_2M].covered++);
}

void tlb_reach_reference(tlb_reach *r, uint64_t page, uint64_t now,
                         uint64_t *time)
{
   tlb_reach_region *const g = r->failed
                                  ? NULL : find_region(r, page >> REGION_SHIFT);
   uint32_t i;
   if (g == NULL) {
      r->failed = 1;
      return;
   }
   const uint32_t in_region = (uint32_t)page % PAGES;
   if (g->place_4k[in_region] >= KNOWN) {
      i = g->place_4k[in_region] - KNOWN;
   } else {
      enter(r, g, in_region);
      if (r->n_known < TLB_REACH_SMALLEST) {
         i = r->n_known++;
      } else {
         i = oldest_known(r);
         leave(r, i);
      }
      g->place_4k[in_region] = KNOWN + i;
      r->known[i].region = g;
      r->known[i].page = in_region;
      r->time[i] = &r->known[i].own;
   }
   if (time != NULL)
      r->time[i] = time;
   /* Which of two it is only the caller knows. */
   if (time == NULL || r->second_time == 0)
      *r->time[i] = now;
}

void tlb_reach_detach(tlb_reach *r, const uint64_t *time)
{
   for (uint32_t i = 0; i < r->n_known; i++) {
      if (r->time[i] == time) {
         r->known[i].own = later_time(r, i);
         r->time[i] = &r->known[i].own;
      }
   }
}

/* --- Beginning, end, results --- */

void tlb_reach_zero(tlb_reach *r)
{
   for (tlb_reach_stack *s = r->stack; s < r->stack + TLB_REACH_CURVES; s++) {
      for (uint32_t d = 0; d < TLB_REACH_LARGEST; d++)
         s->at[d] = 0;
      s->beyond = s->cold = 0;
   }
}

void tlb_reach_init(tlb_reach *r, tlb_memory memory,
                    tlb_reach_release *release, void *opaque)
{
   r->memory = memory;
   r->release = release;
   r->opaque = opaque;
   r->second_time = 0;
   r->failed = 0;
   r->n_known = 0;
   r->newest = NULL;
   r->region = r->bucket = NULL;
   r->n_regions = r->capacity = 0;
   for (tlb_reach_stack *s = r->stack; s < r->stack + TLB_REACH_CURVES; s++) {
      s->base = FIRST_PLACE;
      s->used = s->covered = 0;
      clear_counts(s);
   }
   tlb_reach_zero(r);
}

void tlb_reach_destroy(tlb_reach *r)
{
   for (uint32_t i = 0; i < r->n_regions; i++)
      r->memory.give(r->region[i], r->memory.opaque);
   if (r->capacity != 0) {
      r->memory.give(r->region, r->memory.opaque);
      r->memory.give(r->bucket, r->memory.opaque);
   }
}

void tlb_reach_misses(const tlb_reach *r, tlb_reach_size size,
                      uint64_t misses[TLB_REACH_SIZES])
{
   const tlb_reach_stack *const s = &r->stack[size];
   uint64_t n = s->cold + s->beyond;
   for (uint32_t entries = TLB_REACH_LARGEST; ; entries--) {
      misses[entries - TLB_REACH_SMALLEST] = n;
      if (entries == TLB_REACH_SMALLEST)
         return;
      n += s->at[entries - 1];
   }
}
