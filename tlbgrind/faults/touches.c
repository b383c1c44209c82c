/* Notes which part of the program's work touches each page first. See faults/touches.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include "arch/arch.h"
#include "faults/log.h"
#include "faults/touches.h"
#include "native/maps.h"
#include "native/start.h"
#include "trace/segment_run.h"
#include "trace/shadow_area.h"

#define NEVER (~(Addr)0)

/* What each part of the work has done to a page: bit 2n of part n, it was touched; the next,
   written. */
enum { TOUCHED = 1, WRITTEN = 2, BITS = 2, ALL = (1 << BITS * TG_N_WORKS) - 1 };
enum { ANY_WRITTEN = WRITTEN | WRITTEN << BITS | WRITTEN << 2 * BITS };

typedef struct {
   Addr page; /* the key */
   UInt by;
} Page;

/* A cache entry. */
typedef struct {
   Addr page;
   Page* at; /* NULL: empty */
} Seen;

enum { N_SEEN = 1 << 12 };

/* Functions of glibc that run for other locales than C and POSIX only, or do nothing for these. */
static const HChar* const loads_locale[] = {
   "_nl_find_locale", "_nl_load_locale", "_nl_load_locale_from_archive", "_nl_intern_locale_data",
   "__wcsmbs_load_conv", "_nl_find_domain", "_nl_load_domain", "_nl_find_msg",
};

Bool tg_touches_on;
static UInt page_shift;
static Int sp_offset;
static Bool* has_run;   /* by thread */
static Bool in_locale;  /* the thread that runs is in such a function */
static Addr linker, linker_end; /* the dynamic linker's file in memory; equal: not known yet */
static OSet* pages;
static Seen seen[N_SEEN];

/* --- Pages --- */

static Addr page_of(Addr a)
{
   return a >> page_shift << page_shift;
}

static void forget_seen(void)
{
   VG_(memset)(seen, 0, sizeof seen);
}

static Page* need_page(Addr page)
{
   Page* p = VG_(OSetGen_Lookup)(pages, &page);
   if (p == NULL) {
      p = VG_(OSetGen_AllocNode)(pages, sizeof *p);
      *p = (Page){ .page = page };
      VG_(OSetGen_Insert)(pages, p);
   }
   return p;
}

/* The first page at or above `from`; NULL: none. */
static Page* first_from(Addr from)
{
   VG_(OSetGen_ResetIterAt)(pages, &from);
   return VG_(OSetGen_Next)(pages);
}

static void forget(Addr page)
{
   VG_(OSetGen_FreeNode)(pages, VG_(OSetGen_Remove)(pages, &page));
}

/* --- Touches --- */

/* What is done to a page for the first time by this part of the work. What the fault log has anyway
   is not said again: the program's touches that are faults. */
static void note(Page* p, TgWork work, tlb_touch touch, Addr a, UInt bits)
{
   UInt map;
   ULong native;
   const TgMap* m = tg_maps_find(a, &map, &native);
   const Bool is_first = touch == TLB_TOUCH_WRITE ? (p->by & ANY_WRITTEN) == 0 : p->by == 0;
   /* Present without a fault, as the arguments of the program: nobody's touch is one. */
   if (p->by == 0 && m != NULL && tlb_fault_is_present(tg_maps_model(), native, TLB_VIEW_4K)) {
      p->by = ALL;
      return;
   }
   p->by |= bits;
   if (m == NULL || m->hidden || (work == TG_WORK_PROGRAM && is_first))
      return;
   const TgTouch t = { .page = p->page, .map = map, .instructions = tg_instructions(),
                       .touch = touch, .work = work };
   tg_log_touch(&t);
}

static inline void touched(TgWork work, tlb_touch touch, Addr a)
{
   const Addr page = page_of(a);
   Seen* s = &seen[(page >> page_shift) % N_SEEN];
   const UInt done = touch == TLB_TOUCH_WRITE ? TOUCHED | WRITTEN : TOUCHED;
   const UInt bits = done << BITS * work;
   if (s->page != page || s->at == NULL)
      *s = (Seen){ page, need_page(page) };
   if ((s->at->by & bits) != bits)
      note(s->at, work, touch, a, bits);
}

static void touched_bytes(TgWork work, tlb_touch touch, Addr a, SizeT len)
{
   const Addr last = page_of(a + len - 1);
   touched(work, touch, a);
   for (Addr page = page_of(a); page != last;) {
      page += (Addr)1 << page_shift;
      touched(work, touch, page);
   }
}

/* --- Parts of the work --- */

static void find_linker(void)
{
   const Addr begin = tg_start_image()->interpreter;
   UInt number, first;
   ULong native;
   if (begin == 0 || tg_maps_find(begin, &first, &native) == NULL)
      return;
   const HChar* name = tg_maps_get(first)->name;
   const TgMap* m;
   linker = linker_end = begin;
   while ((m = tg_maps_find(linker_end, &number, &native)) != NULL && m->name != NULL
          && name != NULL && VG_(strcmp)(m->name, name) == 0)
      linker_end = (Addr)m->end;
}

static inline TgWork work_of(Addr ip)
{
   if (ip - linker < linker_end - linker)
      return TG_WORK_LINKER;
   return in_locale ? TG_WORK_LOCALE : TG_WORK_PROGRAM;
}

static inline void touched_by(const TgShadowArea* hot, const TgRef* r)
{
   const Addr ip = r->site->address;
   const TgWork work = work_of(ip);
   if (r->kind == TLB_FETCH)
      touched(work, TLB_TOUCH_FETCH, r->size > 0 ? ip + r->site->length - 1 : ip);
   else
      touched_bytes(work, r->kind == TLB_STORE || r->modifies ? TLB_TOUCH_WRITE : TLB_TOUCH_READ,
                    tg_address_of_ref(hot, r), r->size);
}

void tg_touches_segment(UChar* guest_state, const TgSegment* s)
{
   const TgShadowArea* hot = tg_shadow_area(guest_state);
   if (linker == linker_end)
      find_linker();
   for (UInt i = 0; i < s->n_refs; i++)
      touched_by(hot, &tg_segment_refs(s)[i]);
}

void tg_touches_interrupted(const TgShadowArea* hot, const TgSegment* s, UInt n_refs)
{
   for (UInt i = 0; i < n_refs; i++) {
      const TgRef* r = &tg_segment_refs(s)[i];
      if (r->kind == TLB_FETCH || tg_may_access(hot, r))
         touched_by(hot, r);
   }
}

void tg_touches_bytes(Addr ip, Addr a, SizeT len, tlb_touch touch)
{
   if (tg_touches_on && len > 0)
      touched_bytes(ip == 0 ? TG_WORK_PROGRAM : work_of(ip), touch, a, len);
}

/* --- Functions that load a locale --- */

void tg_touches_sp(Int offset)
{
   sp_offset = offset;
}

Bool tg_touches_locale_begins_at(Addr a)
{
   const HChar* name;
   if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), tg_arch_global_entry(a), &name))
      return False;
   for (UInt i = 0; i < sizeof loads_locale / sizeof loads_locale[0]; i++) {
      if (VG_(strcmp)(loads_locale[i], name) == 0)
         return True;
   }
   return False;
}

void tg_touches_enter(UChar* guest_state)
{
   TgActiveArea* area = &tg_thread_area(guest_state)->touches;
   const Addr sp = *(Addr*)(void*)(guest_state + sp_offset);
   if (area->until == NEVER || sp > area->until) {
      area->until = sp;
      area->back = tg_arch_link(guest_state);
   }
   in_locale = True;
}

void tg_touches_leave(UChar* guest_state)
{
   tg_thread_area(guest_state)->touches.until = NEVER;
   in_locale = False;
}

void tg_touches_started(ThreadId tid)
{
   if (!tg_touches_on)
      return;
   TgThreadArea area = tg_thread_area_of(tid);
   if (!has_run[tid]) {
      /* A new thread has a copy of its creator's registers. */
      area.touches.until = NEVER;
      has_run[tid] = True;
      tg_thread_area_set(tid, &area);
   }
   in_locale = area.touches.until != NEVER;
}

void tg_touches_thread_ends(ThreadId tid)
{
   if (tg_touches_on)
      has_run[tid] = False;
}

/* --- Pages made present, unmapped, moved --- */

/* Nobody's touch of such a page is a fault. */
static void populated(Addr a, SizeT len)
{
   for (Addr page = page_of(a); page < a + len; page += (Addr)1 << page_shift)
      need_page(page)->by = ALL;
}

static Bool is_present(Addr page)
{
   UInt map;
   ULong native;
   return tg_maps_find(page, &map, &native) != NULL
          && tlb_fault_is_present(tg_maps_model(), native, TLB_VIEW_4K);
}

static void changed(Addr a, SizeT len)
{
   const Page* p;
   forget_seen();
   for (Addr at = page_of(a); (p = first_from(at)) != NULL && p->page - page_of(a) < len;) {
      const Addr page = p->page;
      at = page + ((Addr)1 << page_shift);
      if (!is_present(page))
         forget(page);
   }
}

static void moved(Addr from, Addr to, SizeT len, UInt map, UInt to_map)
{
   (void)map; (void)to_map;
   forget_seen();
   for (SizeT done = 0; done < len; done += (SizeT)1 << page_shift) {
      const Addr page = page_of(from + done);
      const Page* p = VG_(OSetGen_Lookup)(pages, &page);
      if (p == NULL)
         continue;
      const UInt by = p->by;
      forget(page);
      need_page(page_of(to + done))->by = by;
   }
}

static void start_empty(void)
{
   pages = VG_(OSetGen_Create)(offsetof(Page, page), NULL, VG_(malloc), "tg.touches", VG_(free));
   forget_seen();
}

void tg_touches_clear(void)
{
   if (!tg_touches_on)
      return;
   VG_(OSetGen_Destroy)(pages);
   start_empty();
}

void tg_touches_init(UInt shift)
{
   static const TgMapsListener listener = {
      .populated = populated, .changed = changed, .unmapped = changed, .moved = moved,
   };
   tg_touches_on = True;
   page_shift = shift;
   has_run = VG_(calloc)("tg.touches.threads", VG_N_THREADS, sizeof *has_run);
   start_empty();
   tg_maps_listen(&listener);
}
