/* Machines that are not given array by array. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/cpuid_design.h"

#include "tg_host.h"

void tg_machine_assume(TgMachine* m, const HChar* format, ...)
{
   HChar text[256];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(text, sizeof text, format, args);
   va_end(args);
   const HChar* copy = VG_(strdup)("tg.host.assumption", text);
   VG_(addToXA)(m->assumptions, &copy);
}

static void set_array(tlb_design* d, UInt level, tlb_side side, UInt entries,
                      UInt ways, UInt page_shift)
{
   d->at[level][side].present = 1;
   d->at[level][side].g = (tlb_geometry){
      .entries = entries, .ways = ways,
      .page_sizes = 1ULL << page_shift, .policy = TLB_LRU };
}

void tg_machine_default(TgMachine* m, UInt page_shift)
{
   m->name = "default";
   m->design = (tlb_design){ .levels = 2, .unified = { 0, 1 } };
   set_array(&m->design, 0, TLB_INSTRUCTION, 128, 8, page_shift);
   set_array(&m->design, 0, TLB_DATA, 64, 4, page_shift);
   set_array(&m->design, 1, TLB_DATA, 1536, 6, page_shift);
}

#if defined(VGA_amd64) || defined(VGA_x86)

static tlb_cpuid ask_host(void* opaque, uint32_t leaf, uint32_t subleaf)
{
   tlb_cpuid r;
   (void)opaque;
   __asm__ volatile("cpuid"
                    : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                    : "a"(leaf), "c"(subleaf));
   return r;
}

#else

static tlb_cpuid ask_host(void* opaque, uint32_t leaf, uint32_t subleaf)
{
   (void)opaque; (void)leaf; (void)subleaf;
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

#endif

/* The arrays that CPUID gives hold 4K pages. For another base page the same
   arrays are taken to hold that. */
static void rebase(TgMachine* m, UInt page_shift)
{
   if (page_shift == 12)
      return;
   for (UInt level = 0; level < m->design.levels; level++) {
      for (UInt side = 0; side < TLB_N_SIDES; side++)
         m->design.at[level][side].g.page_sizes = 1ULL << page_shift;
   }
   tg_machine_assume(m, "the arrays for 4K pages are taken to hold the base "
                        "page of this run in the same number");
}

void tg_machine_host(TgMachine* m, UInt page_shift)
{
   tlb_cpuid_design found;
   const Bool known = tlb_cpuid_decode(ask_host, NULL, &found) != 0;
   for (UInt i = 0; i < found.n_notes; i++)
      tg_machine_assume(m, "%s", found.note[i].text);
   if (!known) {
      tg_machine_default(m, page_shift);
      tg_machine_assume(m, "the default machine is taken for the host");
      return;
   }
   m->name = "host";
   m->design = found.design;
   rebase(m, page_shift);
   tg_machine_assume(m, "replacement policies are not known from CPUID; lru "
                        "is assumed");
}
