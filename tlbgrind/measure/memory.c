/* Memory to measure in. See measure/memory.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "measure/memory.h"
#include "measure/order.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

/* --- what the kernel says --- */

/* The first number of a file of one line, or `missing`. */
static uint64_t number_in(const char *name, uint64_t missing)
{
   FILE *const f = fopen(name, "r");
   unsigned long long number;
   if (f == NULL)
      return missing;
   const bool read = fscanf(f, "%llu", &number) == 1;
   fclose(f);
   return read ? number : missing;
}

uint64_t tg_memory_budget(void)
{
   FILE *const f = fopen("/proc/meminfo", "r");
   char line[128];
   uint64_t available = (uint64_t)1 << 30;
   unsigned long long kilobytes;
   if (f != NULL) {
      while (fgets(line, sizeof line, f) != NULL)
         if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1)
            available = (uint64_t)kilobytes * 1024;
      fclose(f);
   }
   /* "max" is no number. The group of a container is the root of what it sees. */
   const uint64_t limit = number_in("/sys/fs/cgroup/memory.max", UINT64_MAX);
   const uint64_t used = number_in("/sys/fs/cgroup/memory.current", 0);
   if (limit != UINT64_MAX && limit > used && limit - used < available)
      available = limit - used;
   return available / 4;
}

static unsigned shift_of(uint64_t bytes)
{
   unsigned shift = 0;
   while (shift < 63 && (uint64_t)1 << shift < bytes)
      shift++;
   return shift;
}

static long minor_faults(void)
{
   struct rusage r;
   getrusage(RUSAGE_SELF, &r);
   return r.ru_minflt;
}

/* --- places --- */

/* At the page's begin and at seven other places: one fault if it is one page. */
static bool touch_page(const TgPlace *place, char *page)
{
   const uint64_t bytes = (uint64_t)1 << place->shift;
   const long before = minor_faults();
   for (uint64_t at = 0; at < bytes; at += bytes / 8) {
      volatile char *const byte = page + at;
      if (place->use == TG_TO_READ)
         (void)*byte;
      else
         *byte = 0;
   }
   return place->from == TG_BASE_PAGES || minor_faults() - before <= 1;
}

bool tg_place_reserve(const TgPageSize *size, TgPlaceUse use, uint64_t span, uint64_t least,
                      TgPlace *out)
{
   const int protection = use == TG_TO_READ      ? PROT_READ
                          : use == TG_TO_EXECUTE ? PROT_READ | PROT_WRITE | PROT_EXEC
                                                 : PROT_READ | PROT_WRITE;
   const uint64_t page = (uint64_t)1 << size->shift;
   int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
   if (size->from == TG_POOL)
      flags |= MAP_HUGETLB | (int)(size->shift << MAP_HUGE_SHIFT);
   memset(out, 0, sizeof *out);
   for (; span >= least && span > 0; span /= 2) {
      if (span > (UINT64_MAX >> 1 >> size->shift))
         continue;
      /* One page more, to align it. */
      const uint64_t bytes = span << size->shift;
      const uint64_t more = size->from == TG_TRANSPARENT ? page : 0;
      char *const got = mmap(NULL, bytes + more, protection, flags, -1, 0);
      if (got == MAP_FAILED)
         continue;
      const uint64_t over = (uint64_t)(uintptr_t)got & (page - 1);
      out->base = over == 0 ? got : got + (page - over);
      if (out->base != got)
         munmap(got, (size_t)(out->base - got));
      if (out->base + bytes != got + bytes + more)
         munmap(out->base + bytes, (size_t)(got + more - out->base));
      if (size->from != TG_POOL)
         madvise(out->base, bytes, size->from == TG_BASE_PAGES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
      out->shift = size->shift;
      out->span = span;
      out->use = use;
      out->from = size->from;
      return true;
   }
   return false;
}

uint64_t tg_place_touch(TgPlace *place, uint64_t n, uint64_t stride)
{
   if (place->from == TG_BASE_PAGES) {
      const uint32_t *const order = tg_random_order(n);
      for (uint64_t i = 0; order != NULL && i < n; i++) {
         volatile char *const byte = place->base + (((uint64_t)order[i] * stride) << place->shift);
         if (place->use == TG_TO_READ)
            (void)*byte;
         else
            *byte = 0;
      }
      return order == NULL ? 0 : n;
   }
   /* In order, so that what is not a large page ends it. */
   for (uint64_t i = stride == 1 ? place->checked : 0; i < n; i++) {
      if (!touch_page(place, place->base + ((i * stride) << place->shift)))
         return i;
      if (stride == 1)
         place->checked = i + 1;
   }
   return n;
}

void tg_place_free(TgPlace *place)
{
   if (place->base != NULL)
      munmap(place->base, place->span << place->shift);
   memset(place, 0, sizeof *place);
}

/* --- page sizes --- */

/* Whether some pages of the size are had when they are asked for. */
static bool can_be_had(const TgPageSize *size, TgPlaceUse use)
{
   TgPlace place;
   if (!tg_place_reserve(size, use, 2, 2, &place))
      return false;
   const bool had = tg_place_touch(&place, 2, 1) == 2;
   tg_place_free(&place);
   return had;
}

static void add_pools(uint64_t budget, TgPageSize *out, unsigned *n)
{
   DIR *const d = opendir("/sys/kernel/mm/hugepages");
   struct dirent *entry;
   while (d != NULL && (entry = readdir(d)) != NULL && *n < TG_MOST_PAGE_SIZES) {
      unsigned long long kilobytes;
      char name[sizeof "/sys/kernel/mm/hugepages//free_hugepages" + sizeof entry->d_name];
      if (sscanf(entry->d_name, "hugepages-%llukB", &kilobytes) != 1)
         continue;
      snprintf(name, sizeof name, "/sys/kernel/mm/hugepages/%s/free_hugepages", entry->d_name);
      TgPageSize s = { .shift = shift_of((uint64_t)kilobytes * 1024), .from = TG_POOL };
      /* A pool is memory that was set aside for such use, but not all of it is ours. */
      s.most = number_in(name, 0) / 2;
      if (s.most > budget >> s.shift)
         s.most = budget >> s.shift;
      bool known = s.most < 8;
      for (unsigned i = 0; i < *n; i++)
         known = known || out[i].shift == s.shift;
      if (!known && can_be_had(&s, TG_TO_WRITE))
         out[(*n)++] = s;
   }
   if (d != NULL)
      closedir(d);
}

static int rising(const void *a, const void *b)
{
   const TgPageSize *const x = a, *const y = b;
   return (x->shift > y->shift) - (x->shift < y->shift);
}

unsigned tg_page_sizes(uint64_t budget, TgPageSize out[TG_MOST_PAGE_SIZES])
{
   unsigned n = 0;
   const uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE);
   out[n++] = (TgPageSize){ .shift = shift_of(base), .from = TG_BASE_PAGES, .zero_page = true,
                            .most = budget / base };
   const uint64_t huge = number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", 0);
   if (huge > base) {
      TgPageSize s = { .shift = shift_of(huge), .from = TG_TRANSPARENT, .most = budget / huge };
      if (can_be_had(&s, TG_TO_WRITE)) {
         s.zero_page = number_in("/sys/kernel/mm/transparent_hugepage/use_zero_page", 0) == 1
                       && can_be_had(&s, TG_TO_READ);
         out[n++] = s;
      }
   }
   add_pools(budget, out, &n);
   qsort(out, n, sizeof *out, rising);
   return n;
}
