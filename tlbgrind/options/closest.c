/* Compares mistyped options with the tool's. See options/closest.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "sim/base/closeness.h"

#include "options/closest.h"

/* Those of --help; what is for debugging is not suggested. */
static const HChar* const names[] = {
   "--advice", "--calls", "--copies", "--cores", "--cycles", "--data", "--data-frames",
   "--data-offsets", "--data-out-file", "--data-stride", "--dtlb", "--dump-instr", "--entries", "--entries-out-file",
   "--fast-path", "--fault-around", "--faults", "--faults-hidden", "--faults-out-file",
   "--faults-used", "--flush-policy", "--huge-pool", "--hugetlb", "--instr-at-start", "--itlb",
   "--list-machines", "--machine", "--mappings", "--merge-code", "--miss-cost", "--mthp",
   "--native-start", "--nested", "--page-size", "--pages", "--prefetch", "--progress", "--reach",
   "--reach-out-file", "--read-ahead", "--separate-threads", "--shared-context", "--show-machine", "--stlb",
   "--switch-every", "--syscall-tlb", "--thp", "--timeline", "--timeline-out-file", "--tlbgrind-out-file",
   "--toggle-collect",
};

enum { MAX_NAME = 40 };

const HChar* tg_closest_option(const HChar* arg)
{
   HChar name[MAX_NAME] = "";
   if (arg[0] != '-' || arg[1] != '-')
      return NULL;
   for (UInt i = 0; i < MAX_NAME - 1 && arg[i] != '\0' && arg[i] != '='; i++)
      name[i] = arg[i];
   const HChar* closest = NULL;
   UInt least = TLB_FAR;
   SizeT length = 0;
   for (UInt i = 0; i < sizeof names / sizeof names[0]; i++) {
      const UInt d = tlb_distance(name, names[i]);
      const SizeT n = VG_(strlen)(names[i]);
      /* Of several that begin so, the shortest. */
      if (d < least || (d < TLB_FAR && d == least && n < length)) {
         least = d;
         length = n;
         closest = names[i];
      }
   }
   return closest;
}
