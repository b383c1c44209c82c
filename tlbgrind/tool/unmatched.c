/* Looks for what patterns match. See tool/unmatched.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_seqmatch.h"

#include "base/program.h"
#include "base/valgrind_versions.h"
#include "space/merged_code.h"
#include "tool/unmatched.h"

/* The core's, without a header for tools. On the architectures of the tool a symbol has one
   address. */
typedef struct {
   Addr main;
} SymAVMAs;

extern Int VG_(DebugInfo_syms_howmany)(const DebugInfo* di);
extern void VG_(DebugInfo_syms_getidx)(const DebugInfo* di, Int i, SymAVMAs* at, UInt* size,
                                       const HChar** name, const HChar*** others, Bool* is_text,
                                       Bool* is_ifunc, Bool* is_global);

static const HChar** functions; /* as in TgRegionOptions */
static Addr entry;              /* 0: there is nothing to look for */

void tg_unmatched_init(const TgOptions* options)
{
   functions = options->region.toggle_collect;
   if ((functions != NULL || options->merge_code != NULL) && VG_(clo_verbosity) > 0)
      entry = tg_program()->entry;
}

static void look_for_objects(void)
{
   const HChar* pattern;
   for (UInt i = 0; (pattern = tg_merged_code_pattern(i)) != NULL; i++) {
      const DebugInfo* di = VG_(next_DebugInfo)(NULL);
      while (di != NULL && !tg_merged_code_matches(pattern, VG_(DebugInfo_get_filename)(di)))
         di = VG_(next_DebugInfo)(di);
      if (di == NULL)
         VG_(umsg)("--merge-code=%s: no object that is loaded at the start has such a name; one "
                   "that the program loads later may have it.\n", pattern);
   }
}

/* What is known of the functions so far, by their numbers. */
typedef struct {
   Bool* is_there;
   HChar** with_arguments; /* a name that differs by the arguments only; NULL: none */
} Found;

static void compare(const HChar* name, Found* found)
{
   for (UInt i = 0; functions[i] != NULL; i++) {
      const SizeT n = VG_(strlen)(functions[i]);
      if (found->is_there[i])
         continue;
      found->is_there[i] = VG_(string_match)(functions[i], name) != 0;
      if (found->with_arguments[i] == NULL && VG_(strncmp)(name, functions[i], n) == 0
          && name[n] == '(')
         found->with_arguments[i] = VG_(strdup)("tg.unmatched", name);
   }
}

static void compare_all_of(const DebugInfo* di, Found* found)
{
   const DiEpoch epoch = VG_(current_DiEpoch)();
   const HChar* name;
   if (TG_VALGRIND_READS_SYMBOLS_LATE)
      VG_(get_fnname_if_entry)(epoch, VG_(DebugInfo_get_text_avma)(di), &name);
   const Int n = VG_(DebugInfo_syms_howmany)(di);
   for (Int i = 0; i < n; i++) {
      SymAVMAs at;
      UInt size;
      const HChar** others;
      Bool is_text, is_ifunc, is_global;
      VG_(DebugInfo_syms_getidx)(di, i, &at, &size, &name, &others, &is_text, &is_ifunc,
                                 &is_global);
      if (is_text && VG_(get_fnname_if_entry)(epoch, at.main, &name))
         compare(name, found);
   }
}

static void look_for_functions(void)
{
   UInt n = 0;
   while (functions[n] != NULL)
      n++;
   Found found = { VG_(calloc)("tg.unmatched", n, sizeof *found.is_there),
                   VG_(calloc)("tg.unmatched", n, sizeof *found.with_arguments) };
   for (const DebugInfo* di = VG_(next_DebugInfo)(NULL); di != NULL; di = VG_(next_DebugInfo)(di))
      compare_all_of(di, &found);
   for (UInt i = 0; i < n; i++) {
      if (!found.is_there[i] && found.with_arguments[i] != NULL)
         VG_(umsg)("--toggle-collect=%s: no function has that name, but there is %s: write it so, "
                   "or with * for a part of it.\n", functions[i], found.with_arguments[i]);
      else if (!found.is_there[i])
         VG_(umsg)("--toggle-collect=%s: no function that is loaded at the start has such a name, "
                   "as tg_annotate shows it; one that the program loads later may have it.\n",
                   functions[i]);
      VG_(free)(found.with_arguments[i]);
   }
   VG_(free)(found.with_arguments);
   VG_(free)(found.is_there);
}

void tg_unmatched_block(Addr a)
{
   if (LIKELY(a != entry || a == 0))
      return;
   entry = 0;
   look_for_objects();
   if (functions != NULL)
      look_for_functions();
}
