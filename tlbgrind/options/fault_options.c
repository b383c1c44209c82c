/* Parses the options for page faults. See options/fault_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "sim/faults/kernel_rules.h"
#include "sim/machine/geometry.h"

#include "arch/arch.h"
#include "options/fault_options.h"
#include "options/features.h"
#include "options/given.h"
#include "options/refuse.h"
#include "base/number_format.h"
#include "base/proc_file.h"
#include "options/thp.h"

/* Linux's defaults, for settings that cannot be read from the host: mm/memory.c,
   include/linux/mm.h (VM_READAHEAD_PAGES). */
enum { DEFAULT_AROUND = 65536, DEFAULT_AHEAD = 128 * 1024 };

/* --- The host --- */

/* A size with the mode "inherit" has the mode of transparent huge pages. */
static void host_folios(tlb_fault_settings* s)
{
   for (UInt shift = s->page_shift + 1; shift < s->huge_shift; shift++) {
      HChar name[128], text[128];
      VG_(snprintf)(name, sizeof name, TG_THP_FOLDER "hugepages-%llukB/enabled",
                    1ULL << (shift - 10));
      if (!tg_proc_read(name, text, sizeof text))
         continue;
      const HChar* word = tg_thp_chosen(text);
      tlb_thp_mode mode = TLB_THP_NEVER;
      if (word != NULL && VG_(strcmp)(word, "inherit") == 0)
         mode = s->thp;
      else if (word != NULL)
         tg_thp_read(word, &mode);
      const uint32_t bit = 1u << (shift - s->page_shift);
      if (mode == TLB_THP_ALWAYS)
         s->mthp_always |= bit;
      if (mode == TLB_THP_MADVISE)
         s->mthp_madvise |= bit;
   }
}

/* The host's size of fault-around; 0: unknown, because only root can read it, with debugfs
   mounted. */
static uint64_t host_around(void)
{
   HChar text[64];
   HChar* end;
   if (!tg_proc_read("/sys/kernel/debug/fault_around_bytes", text, sizeof text))
      return 0;
   return VG_(strtoull10)(text, &end);
}

/* The rules of the host's version; if that cannot be told, the usual ones. */
static const tlb_kernel_rules* host_kernel(void)
{
   UInt version[2];
   return tg_proc_linux(version) ? tlb_kernel_of(version[0], version[1]) : tlb_kernel_usual();
}

/* --- Trials --- */

static void try_folio(tlb_fault_settings* s, UInt shift)
{
   const uint32_t bit = shift > s->page_shift ? 1u << (shift - s->page_shift) : 0;
   if (bit == 0 || shift >= s->huge_shift || (s->mthp_always & bit) != 0)
      return;
   s->trial[s->n_trials++] = (tlb_fault_folios) { s->thp, s->mthp_always | bit, s->mthp_madvise };
}

/* What a run with other sizes would have is counted along: tg_faults --what-if. */
static void try_others(tlb_fault_settings* s)
{
   enum { SMALL = 14, USUAL = 16 };
   try_folio(s, SMALL);
   try_folio(s, USUAL);
   if (s->thp != TLB_THP_ALWAYS)
      s->trial[s->n_trials++] = (tlb_fault_folios) { TLB_THP_ALWAYS, s->mthp_always,
                                                     s->mthp_madvise };
}

/* --- Texts --- */

/* A size, or "off", which is the base page. */
static Bool read_size(const HChar* text, UInt page_shift, UInt largest,
                      uint64_t* bytes, tlb_reason* why)
{
   if (VG_(strcmp)(text, "off") == 0) {
      *bytes = 1ULL << page_shift;
      return True;
   }
   const UInt shift = tlb_page_size_parse(text, why);
   if (shift == 0 || shift > largest) {
      HChar quoted[41] = "";
      VG_(strncpy)(quoted, text, sizeof quoted - 1);
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%s' is not allowed; it is off, or a power of two from 4K "
                    "to %s", quoted, tg_page_size(largest).text);
      return False;
   }
   *bytes = 1ULL << shift;
   return True;
}

static Bool read_folio(const HChar* text, tlb_fault_settings* s,
                       tlb_reason* why)
{
   static const HChar suffix[] = "@madvise";
   HChar size[64];
   const HChar* at = VG_(strchr)(text, '@');
   const SizeT n = at == NULL ? VG_(strlen)(text) : (SizeT)(at - text);
   if ((at != NULL && VG_(strcmp)(at, suffix) != 0) || n >= sizeof size) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%s' is no size of folios; allowed are a size, and "
                    "@madvise behind it", text);
      return False;
   }
   VG_(strncpy)(size, text, n);
   size[n] = '\0';
   const UInt shift = tlb_page_size_parse(size, why);
   if (shift == 0)
      return False;
   if (shift <= s->page_shift || shift >= s->huge_shift) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%s' is no size of folios; allowed are sizes above the "
                    "base page and below the huge page of %lluK", size,
                    1ULL << (s->huge_shift - 10));
      return False;
   }
   if (at == NULL)
      s->mthp_always |= 1u << (shift - s->page_shift);
   else
      s->mthp_madvise |= 1u << (shift - s->page_shift);
   return True;
}

static Bool read_folios(const HChar* text, tlb_fault_settings* s,
                        tlb_reason* why)
{
   HChar* copy;
   Bool good = True;
   if (VG_(strcmp)(text, "none") == 0)
      return True;
   copy = VG_(strdup)("tg.fault.options", text);
   for (HChar* at = copy; good && at != NULL;) {
      HChar* comma = VG_(strchr)(at, ',');
      if (comma != NULL)
         *comma = '\0';
      good = read_folio(at, s, why);
      at = comma == NULL ? NULL : comma + 1;
   }
   VG_(free)(copy);
   return good;
}

static Bool read_kernel(const HChar* text, const tlb_kernel_rules** kernel, tlb_reason* why)
{
   HChar names[64] = "host";
   if (VG_(strcmp)(text, names) == 0)
      return True;
   const tlb_kernel_rules* const found = tlb_kernel_named(text);
   if (found != NULL) {
      *kernel = found;
      return True;
   }
   for (UInt i = 0; i < TLB_N_KERNELS; i++) {
      VG_(strcat)(names, i + 1 < TLB_N_KERNELS ? ", " : " and ");
      VG_(strcat)(names, tlb_kernels[i].name);
   }
   HChar short_text[TG_SHORTENED];
   VG_(snprintf)(why->text, sizeof why->text, "'%s' is no version that is known; allowed are %s",
                 tg_shortened(text, short_text), names);
   return False;
}

const tlb_kernel_rules* tg_fault_options_kernel(void)
{
   const HChar* arg = tg_given("--kernel");
   const tlb_kernel_rules* kernel = host_kernel();
   tlb_reason ignored;
   if (arg != NULL)
      read_kernel(tg_given_value(arg), &kernel, &ignored);
   return kernel;
}

/* The base pages of Linux on x86-64 and arm64. Faults with other base pages are not modelled, and
   the log's format excludes them. */
static Bool check_page(UInt page_shift, const HChar* what, tlb_reason* why)
{
   if (page_shift == 12 || page_shift == 14 || page_shift == 16)
      return True;
   VG_(snprintf)(why->text, sizeof why->text,
                 "%s with base pages of 4K, 16K and 64K, not %s; --page-size gives all machines "
                 "the same", what, tg_page_size(page_shift).text);
   return False;
}

const HChar* tg_fault_options_finish(UInt page_shift, UInt huge_shift, tlb_thp_mode thp,
                                     const TgKernelOptions* kernel, TgFaultOptions* out,
                                     tlb_reason* why)
{
   tlb_fault_settings* s = &out->settings;
   const HChar* around = tg_given("--fault-around");
   const HChar* ahead = tg_given("--read-ahead");
   const HChar* mthp = tg_given("--mthp");
   const HChar* kernel_arg = tg_given("--kernel");
   const Bool flushes = kernel->flushes || kernel->touches;
   out->simulated = out->on || flushes || kernel->prefetches;
   if (out->on && !check_page(page_shift, "page faults can be recorded", why))
      return tg_feature_arg(TG_HAS_FAULTS);
   if (flushes && !check_page(page_shift, "flushes can be simulated", why))
      return tg_kernel_options_arg();
   if (kernel->prefetches && !check_page(page_shift, "prefetches can be simulated", why))
      return tg_given(tg_given("--prefetch") != NULL ? "--prefetch" : "--machine");
   s->page_shift = page_shift;
   s->huge_shift = huge_shift;
   s->thp = thp;
   s->phases = 1;
   if (out->simulated) {
      s->fault_around = host_around();
      out->around_assumed = s->fault_around == 0 && around == NULL;
      if (s->fault_around == 0)
         s->fault_around = DEFAULT_AROUND;
      if (mthp == NULL)
         host_folios(s);
   }
   s->read_ahead = DEFAULT_AHEAD;
   s->kernel = out->simulated ? host_kernel() : tlb_kernel_usual();
   s->code_folio_shift = tg_arch.code_folio_shift;
   /* The kernel maps at most one page table's range around a fault, aligned. */
   if (around != NULL
       && !read_size(tg_given_value(around), page_shift, s->huge_shift, &s->fault_around, why))
      return around;
   if (ahead != NULL
       && !read_size(tg_given_value(ahead), page_shift, TLB_MAX_PAGE_SHIFT, &s->read_ahead, why))
      return ahead;
   if (kernel_arg != NULL && !read_kernel(tg_given_value(kernel_arg), &s->kernel, why))
      return kernel_arg;
   if (mthp != NULL && !read_folios(tg_given_value(mthp), s, why))
      return mthp;
   if (out->touches)
      try_others(s);
   return NULL;
}
