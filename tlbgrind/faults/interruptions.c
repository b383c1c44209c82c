/* System calls and context switches. See faults/interruptions.h. */

#include "pub_tool_basics.h"

#include "sim/mmu/interruptions.h"

#include "faults/interruptions.h"
#include "trace/run_mmus.h"
#include "trace/sampling.h"
#include "trace/segment_run.h"

TgInterruptions tg_interruptions;

static TgInterruptionPoint* told;

void tg_interruptions_tell(TgInterruptionPoint* f)
{
   told = f;
}

static void tell(tlb_point point, ULong first, ULong last)
{
   if (told != NULL)
      told(point, first, last);
}

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

static void others_refer(uint64_t mmus, UInt pages, tlb_others who)
{
   tlb_mmus_others(&tg_mmus, mmus, who, pages, time_for(2 * (ULong)pages), TG_TICKS);
}

/* --- System calls --- */

static void flush(tlb_point point)
{
   settle_costs();
   tell(point, 0, 0);
   if (flushed != 0)
      tlb_mmus_empty(&tg_mmus, flushed);
}

void tg_interruptions_pre_syscall(void)
{
   tg_interruptions.system_calls++;
   if (!options->syscalls)
      return;
   flush(TLB_POINT_CALL);
   for (UInt i = 0; i < n_by_kernel; i++)
      others_refer(by_kernel[i].mmus, by_kernel[i].pages, TLB_OTHERS_KERNEL);
}

/* Another thread may have run in between. */
void tg_interruptions_post_syscall(void)
{
   if (options->syscalls)
      flush(TLB_POINT_RETURN);
}

void tg_interruptions_touch(Addr a, SizeT len, Bool is_write)
{
   if (!options->touches || len == 0)
      return;
   settle_costs();
   const ULong last = ((ULong)a + len - 1) >> page_shift;
   tell(is_write ? TLB_POINT_WRITE : TLB_POINT_READ, (ULong)a >> page_shift, last);
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
      tell(TLB_POINT_SWITCH, 0, 0);
      if (options->switches.pages == 0)
         tlb_mmus_empty(&tg_mmus, all);
      else
         others_refer(all, options->switches.pages, TLB_OTHERS_PROCESS);
      tg_interruptions.switches++;
      while (next_switch <= tg_instructions())
         next_switch += options->switches.every;
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
      if (p->syscalls.how == TLB_SYSCALLS_FLUSH)
         flushed |= 1ULL << i;
      else if (p->syscalls.how == TLB_SYSCALLS_KERNEL)
         add_by_kernel(i, p->syscalls.pages);
   }
   if (o->kernel.switches.every == 0)
      return;
   tg_sampler_add(&sampler, switch_or_wait);
   next_switch = o->kernel.switches.every;
   await();
}
