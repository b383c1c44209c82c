/* Takes client requests and monitor commands. See tool/region.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

#include "valgrind.h"

#include "tlbgrind.h"

#include "calls/collection.h"
#include "data/named.h"
#include "data/references.h"
#include "engine/batch.h"
#include "tool/outputs.h"
#include "tool/region.h"
#include "trace/instrumentation.h"

static Bool was_on; /* at any time */
static Bool is_whole;

Bool tg_region_is_whole(void)
{
   return is_whole;
}

/* --- Instrumentation --- */

static Bool switch_to(Bool on)
{
   if (on == tg_instrumented)
      return False;
   tg_batch_look_up();
   tg_instrumentation_set(on);
   was_on |= on;
   tg_instrumentation_renew();
   return True;
}

Bool tg_region_start(void)
{
   return switch_to(True);
}

Bool tg_region_stop(void)
{
   return switch_to(False);
}

/* --- Client requests --- */

enum { MAX_TEXT = 200 };

/* Copies a text of the program, up to MAX_TEXT bytes, or to the first unreadable one. */
static void copy_text(HChar* to, Addr from)
{
   UInt n = 0;
   for (; n < MAX_TEXT; n++) {
      if ((n == 0 || VG_IS_PAGE_ALIGNED(from + n))
          && !VG_(am_is_valid_for_client)(from + n, 1, VKI_PROT_READ))
         break;
      to[n] = *(const HChar*)(from + n);
      if (to[n] == '\0')
         break;
   }
   to[n] = '\0';
}

static void mark(Addr text)
{
   HChar phase[MAX_TEXT + 1];
   copy_text(phase, text);
   tg_outputs_mark(phase[0] == '\0' ? "(no name)" : phase);
}

static void give_name(Addr a, SizeT bytes, Addr text)
{
   HChar given[MAX_TEXT + 1];
   if (!tg_data_objects_on)
      return;
   copy_text(given, text);
   if (text == 0 || bytes == 0)
      tg_named_take(a, bytes);
   else if (given[0] != '\0' && a + bytes > a)
      tg_named_give(a, bytes, given);
   else
      VG_(umsg)("Warning: TLBGRIND_NAME(0x%lx, %lu): %s; ignored\n", a, bytes,
                given[0] == '\0' ? "the name is empty or can not be read"
                                 : "the memory ends beyond the last address");
}

/* Warns once that a request has no effect. */
static void refuse_request(void)
{
   static Bool is_said;
   if (!is_said)
      VG_(umsg)("Warning: --calls=yes counts the whole run: requests of tlbgrind.h have no "
                "effect\n");
   is_said = True;
}

Bool tg_region_take_request(const UWord* args)
{
   const UWord request = args[0];
   if (!VG_IS_TOOL_USERREQ('T', 'G', request))
      return False;
   if (request == VG_USERREQ__TLBGRIND_NAME) {
      give_name(args[1], args[2], args[3]);
      return True;
   }
   if (is_whole) {
      refuse_request();
      return True;
   }
   switch (request) {
   case VG_USERREQ__TLBGRIND_START: switch_to(True); return True;
   case VG_USERREQ__TLBGRIND_STOP: switch_to(False); return True;
   case VG_USERREQ__TLBGRIND_ZERO: tg_outputs_zero(); return True;
   case VG_USERREQ__TLBGRIND_DUMP: tg_outputs_dump("client request", NULL); return True;
   case VG_USERREQ__TLBGRIND_MARK: mark(args[1]); return True;
   default: return False;
   }
}

/* --- The run --- */

void tg_region_init(const TgOptions* o)
{
   was_on = o->region.instr_at_start;
   tg_instrumentation_set(was_on);
   is_whole = o->calls;
}

void tg_region_forked(void)
{
   was_on = tg_instrumented;
}

void tg_region_end(void)
{
   if (!was_on && VG_(clo_verbosity) > 0)
      VG_(umsg)("Nothing was measured: --instr-at-start=no, and nothing started it "
                "(TLBGRIND_START of tlbgrind.h, or `vgdb start').\n");
   else if (was_on && tg_collection_on && !tg_collection_was_on() && VG_(clo_verbosity) > 0)
      VG_(umsg)("Nothing was collected: no function that was called has the name of "
                "--toggle-collect=, as tg_annotate shows it.\n");
}
