/* System calls and context switches. See faults/interruptions.h. */

#include "pub_tool_basics.h"

#include "sim/mmu/mmu.h"

#include "faults/interruptions.h"
#include "trace/run_mmus.h"
#include "trace/sampling.h"
#include "trace/segment_run.h"

/* Pages of others, by what they are for: the kernel's code, the same as data, and those of the
   process that a switch brings. */
enum { OF_KERNEL_CODE = 0, OF_KERNEL_DATA = 1 << 20, OF_PROCESS_CODE = 2 << 20,
       OF_PROCESS_DATA = 3 << 20 };

TgInterruptions tg_interruptions;

static void (*settle_costs)(void);
static const TgKernelOptions* options;
static UInt page_shift;
static uint64_t flushed; /* machines of which a system call flushes everything */
static uint64_t all;
static struct {
   uint64_t mmus;
   UInt pages;
} by_kernel[TLB_MAX_MMUS]; /* machines with kernel:PAGES, by PAGES */
static UInt n_by_kernel;

/* --- Time --- */

/* So many references get times of their own; they take no instructions. Returns the first. */
static ULong time_for(ULong references)
{
   const ULong first = tg_clock + TG_TICKS;
   const ULong instructions = ((references + 1) * TG_TICKS >> TG_INSTR_SHIFT) + 1;
   tg_clock += instructions << TG_INSTR_SHIFT;
   tg_idle_passes += instructions;
   return first;
}

/* --- Others --- */

static void others_refer(uint64_t mmus, UInt pages, ULong code, ULong data)
{
   ULong now = time_for(2 * (ULong)pages);
   for (UInt i = 0; i < pages; i++) {
      tlb_mmus_refer_others(&tg_mmus, mmus, TLB_FETCH, code + i, now);
      tlb_mmus_refer_others(&tg_mmus, mmus, TLB_LOAD, data + i, now + TG_TICKS);
      now += 2 * TG_TICKS;
   }
}

/* --- System calls --- */

static void flush(void)
{
   settle_costs();
   if (flushed != 0)
      tlb_mmus_empty(&tg_mmus, flushed);
}

void tg_interruptions_pre_syscall(void)
{
   tg_interruptions.system_calls++;
   if (!options->syscalls)
      return;
   flush();
   for (UInt i = 0; i < n_by_kernel; i++)
      others_refer(by_kernel[i].mmus, by_kernel[i].pages, OF_KERNEL_CODE, OF_KERNEL_DATA);
}

/* Another thread may have run in between. */
void tg_interruptions_post_syscall(void)
{
   if (options->syscalls)
      flush();
}

void tg_interruptions_touch(Addr a, SizeT len, Bool is_write)
{
   if (!options->touches || len == 0)
      return;
   settle_costs();
   const ULong last = ((ULong)a + len - 1) >> page_shift;
   for (ULong page = (ULong)a >> page_shift; page <= last; page++) {
      const ULong now = time_for(1);
      for (UInt i = 0; i < n_by_kernel; i++)
         tlb_mmus_refer_uncounted(&tg_mmus, by_kernel[i].mmus, is_write ? TLB_STORE : TLB_LOAD,
                                  page, now + i * TG_TICKS);
   }
}

/* --- Context switches --- */

static TgSampler sampler;
static ULong next_switch; /* the number of instructions before it */

/* The clock can be ahead of the instructions. */
static void await(void)
{
   tg_sampler_set(&sampler, tg_clock + ((next_switch - tg_instructions()) << TG_INSTR_SHIFT));
}

static void switch_or_wait(void)
{
   if (tg_instructions() >= next_switch) {
      settle_costs();
      if (options->switch_pages == 0)
         tlb_mmus_empty(&tg_mmus, all);
      else
         others_refer(all, options->switch_pages, OF_PROCESS_CODE, OF_PROCESS_DATA);
      tg_interruptions.switches++;
      while (next_switch <= tg_instructions())
         next_switch += options->switch_every;
   }
   await();
}

/* --- Start --- */

void tg_interruptions_zero(void)
{
   tg_interruptions = (TgInterruptions){ 0, 0 };
}

static void add_by_kernel(UInt machine, UInt pages)
{
   UInt i = 0;
   while (i < n_by_kernel && by_kernel[i].pages != pages)
      i++;
   by_kernel[i].pages = pages;
   by_kernel[i].mmus |= 1ULL << machine;
   n_by_kernel += i == n_by_kernel;
}

void tg_interruptions_init(const TgOptions* o, void (*settle)(void))
{
   options = &o->kernel;
   settle_costs = settle;
   page_shift = o->page_shift;
   all = ~0ULL >> (64 - o->n_machines);
   for (UInt i = 0; i < o->n_machines; i++) {
      const TgKernelPolicy* p = &o->machine[i].kernel;
      if (p->syscall == TG_SYSCALLS_FLUSH)
         flushed |= 1ULL << i;
      else if (p->syscall == TG_SYSCALLS_KERNEL)
         add_by_kernel(i, p->syscall_pages);
   }
   if (o->kernel.switch_every == 0)
      return;
   tg_sampler_add(&sampler, switch_or_wait);
   next_switch = o->kernel.switch_every;
   await();
}
