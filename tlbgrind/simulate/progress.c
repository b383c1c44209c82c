/* How far a simulation is. See simulate/progress.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "command/bar.h"
#include "simulate/progress.h"

enum { WHOLE = 1 << 24, MILLISECONDS = 200 };

static atomic_uint *parts; /* of WHOLE, of each part; NULL: nothing is shown */
static unsigned n_parts, own;
static bool shows;

/* Memory that other processes have, too. */
static void *shared(size_t bytes)
{
   void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   return memory == MAP_FAILED ? NULL : memory;
}

static void show(void)
{
   uint64_t sum = 0;
   if (parts == NULL || !shows)
      return;
   for (unsigned i = 0; i < n_parts; i++)
      sum += atomic_load_explicit(&parts[i], memory_order_relaxed);
   tg_bar_show_left((double)sum / ((double)n_parts * WHOLE));
}

void tg_progress_begin(unsigned n)
{
   n_parts = n;
   parts = shared(n * sizeof *parts);
   shows = true;
   show();
}

void tg_progress_of(unsigned part)
{
   own = part;
   shows = false;
}

void tg_progress_note(double done)
{
   if (parts == NULL || done < 0.0)
      return;
   atomic_store_explicit(&parts[own], (unsigned)((done > 1.0 ? 1.0 : done) * WHOLE),
                         memory_order_relaxed);
   show();
}

void tg_progress_await(int fd)
{
   struct pollfd p = { .fd = fd, .events = POLLIN };
   for (;;) {
      const int n = poll(&p, 1, MILLISECONDS);
      if (n > 0 || (n < 0 && errno != EINTR))
         return;
      show();
   }
}
