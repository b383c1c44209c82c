/* Prints changes of the client's mappings. See space/aspace_trace.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "space/aspace.h"
#include "space/aspace_trace.h"

static const HChar* const what_names[] = {
   [TG_SPACE_MAP] = "map",         [TG_SPACE_GROW] = "grow",
   [TG_SPACE_UNMAP] = "unmap",     [TG_SPACE_MOVE] = "move",
   [TG_SPACE_PROTECT] = "protect", [TG_SPACE_RENAME] = "rename",
   [TG_SPACE_ADVISE] = "advise",   [TG_SPACE_LOCK] = "lock",
   [TG_SPACE_UNLOCK] = "unlock",   [TG_SPACE_FORK] = "fork",
};

static void print_mapping(const tlb_mapping* m)
{
   static const struct {
      UInt flag;
      const HChar* name;
   } flags[] = {
      { TLB_MAP_FOREIGN, "foreign" },
      { TLB_MAP_HUGEPAGE, "hugepage" },
      { TLB_MAP_NOHUGEPAGE, "nohugepage" },
      { TLB_MAP_LOCKED, "locked" },
      { TLB_MAP_NO_FORK, "dontfork" },
      { TLB_MAP_WIPE_ON_FORK, "wipeonfork" },
   };
   VG_(dmsg)("%llx-%llx %c%c%c%c #%llu %s", (ULong)m->start, (ULong)m->end,
             m->prot & TLB_MAY_READ ? 'r' : '-',
             m->prot & TLB_MAY_WRITE ? 'w' : '-',
             m->prot & TLB_MAY_EXECUTE ? 'x' : '-',
             m->flags & TLB_MAP_SHARED ? 's' : 'p', (ULong)m->serial,
             tg_aspace_kind_name(m));
   if (m->flags & TLB_MAP_HUGETLB)
      VG_(dmsg)(" [hugetlb %lluK]", 1ULL << (m->huge_shift - 10));
   for (UInt i = 0; i < sizeof flags / sizeof flags[0]; i++) {
      if (m->flags & flags[i].flag)
         VG_(dmsg)(" [%s]", flags[i].name);
   }
   if (m->name != NULL)
      VG_(dmsg)(" %s+%llx", m->name, (ULong)m->offset);
}

static void print_event(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   VG_(dmsg)("aspace: %s ", what_names[e->what]);
   if (e->mapping != NULL)
      print_mapping(e->mapping);
   else
      VG_(dmsg)("%llx-%llx", (ULong)e->start, (ULong)e->start + e->length);
   if (e->what == TG_SPACE_PROTECT)
      VG_(dmsg)(" %c%c%c", e->prot & TLB_MAY_READ ? 'r' : '-',
                e->prot & TLB_MAY_WRITE ? 'w' : '-',
                e->prot & TLB_MAY_EXECUTE ? 'x' : '-');
   if (e->what == TG_SPACE_MOVE)
      VG_(dmsg)(" from %llx", (ULong)e->from);
   if (e->what == TG_SPACE_ADVISE)
      VG_(dmsg)(" %d", e->advice);
   VG_(dmsg)("%s%s%s%s\n",
             e->flags & TG_SPACE_STARTUP ? " (at start)" : "",
             e->flags & TG_SPACE_POPULATE ? " (populated)" : "",
             e->flags & TG_SPACE_ON_FAULT ? " (on fault)" : "",
             e->flags & TG_SPACE_CHILD ? " (child)" : "");
}

static Bool on;

void tg_aspace_trace_begin(void)
{
   on = True;
   tg_aspace_listen(print_event, NULL);
}

void tg_aspace_trace_end(void)
{
   const tlb_mappings* all = &tg_aspace_map()->mappings;
   for (SizeT i = 0; on && i < all->count; i++) {
      VG_(dmsg)("aspace: end ");
      print_mapping(all->at[i]);
      VG_(dmsg)("\n");
   }
}
