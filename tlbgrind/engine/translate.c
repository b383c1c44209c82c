/* One reference of the program. See engine/translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "sim/mmu/refer.h"

#include "data/references.h"
#include "engine/recording.h"
#include "engine/translate.h"
#include "faults/recorder.h"
#include "space/forks.h"
#include "trace/segment_run.h"

static Bool debug_check;
/* What copies of the program miss beyond a reference's first: part of no total. NULL: there are
   none. */
static uint64_t (*extra_of_copies)[TLB_N_USERS][TLB_N_COSTS];

void tg_translate_init(const TgOptions* options)
{
   debug_check = options->debug_check;
   if (options->kernel.copies > 1)
      extra_of_copies = VG_(calloc)("tg.translate", options->n_machines, sizeof *extra_of_copies);
}

void tg_translate_check(void)
{
   const HChar* wrong = debug_check ? tlb_mmus_check(&tg_mmus) : NULL;
   if (wrong != NULL)
      VG_(tool_panic)(wrong);
}

/* All takes long: only now and then. */
static void check_at_times(void)
{
   enum { TIMES = 4096 };
   static UInt n;
   if (UNLIKELY(debug_check) && ++n % TIMES == 0)
      tg_translate_check();
}

static Bool is_write(const TgRef* r)
{
   return r->kind == TLB_STORE || r->modifies || r->locked;
}

Bool tg_translate_touches(const TgRef* r, const tlb_page* p)
{
   const tlb_page_rest* rest = tlb_rest(p);
   const ULong observers = is_write(r) ? rest->write_observers : rest->observers;
   return (observers & TLB_OBSERVER_FAULTS) != 0;
}

/* The first read, fetch or write of a page, for what a fork shares and for the fault log. */
static void touch(const TgRef* r, tlb_page* p, tlb_page_number number)
{
   tlb_page_rest* rest = tlb_rest(p);
   const Bool writes = is_write(r);
   if (LIKELY(!tg_translate_touches(r, p)))
      return;
   TgLine* line = tg_data_on && r->kind != TLB_FETCH ? tg_data_line_of_ref(tg_simulated, r)
                                                     : NULL;
   const tlb_touch kind = r->kind == TLB_FETCH ? TLB_TOUCH_FETCH
                          : writes             ? TLB_TOUCH_WRITE
                                               : TLB_TOUCH_READ;
   const Addr page = number << tg_mmus.traits.page_shift;
   if (writes)
      tg_forks_written(page);
   tg_recorder_touch(r->site, line, kind, page, tg_instructions_before(r));
   /* What has been written to can be read. */
   rest->observers &= ~TLB_OBSERVER_FAULTS;
   if (writes)
      rest->write_observers &= ~TLB_OBSERVER_FAULTS;
}

/* `before`: the page of the first part, if this is the second. */
static void refer_all(uint64_t* counts, tlb_page* p, tlb_page_number before, tlb_page_number number,
                      tlb_user user, ULong now, TgRecordedPart part)
{
   if (part == TG_RECORDED_SECOND)
      tlb_refer_second(&tg_mmus, counts, p, before, number, user, now);
   else
      tlb_refer_all(&tg_mmus, counts, p, number, user, now);
}

static void refer(TgRef* r, tlb_page* p, tlb_page_number before, tlb_page_number number, ULong now,
                  TgRecordedPart part)
{
   uint64_t (*const extra)[TLB_N_USERS][TLB_N_COSTS] = tg_mmus.parts.extra;
   touch(r, p, number);
   if (UNLIKELY(tg_recording_on))
      tg_recording_refer(r, p, number, now, part);
   const tlb_page_rest* rest = tlb_rest(p);
   uint64_t* counts = ((rest->observers | rest->write_observers) & TLB_OBSERVERS_MMUS) == 0
                      ? NULL : tg_ref_misses(r);
   if (UNLIKELY(extra_of_copies != NULL) && tg_simulated->copy != 0)
      tg_mmus.parts.extra = extra_of_copies;
   refer_all(counts, p, before, number, r->kind, now, part);
   if (r->modifies && tg_mmus.traits.split)
      refer_all(counts, p, before, number, TLB_STORE, now, part);
   tg_mmus.parts.extra = extra;
}

void tg_translate(TgRef* r, tlb_page* p, tlb_page_number number, ULong now,
                  Bool on_one_page)
{
   tlb_missed_begin(&tg_mmus,
                    !on_one_page  ? TLB_OBSERVERS_MMUS
                    : r->modifies ? tg_mmus.traits.apart : 0, r->kind);
   refer(r, p, number, number, now, on_one_page ? TG_RECORDED_WHOLE : TG_RECORDED_FIRST);
   check_at_times();
}

void tg_translate_touch(const TgRef* r, tlb_page* p, tlb_page_number number)
{
   touch(r, p, number);
   tlb_page_settle(&tg_mmus, r->kind == TLB_FETCH ? TLB_CODE : TLB_DATA, p);
}

void tg_translate_second(TgRef* r, tlb_page* p, tlb_page_number before, tlb_page_number number,
                         ULong now)
{
   refer(r, p, before, number, now, TG_RECORDED_SECOND);
}
