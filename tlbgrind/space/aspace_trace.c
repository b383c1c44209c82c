/* The client's address space in words. See space/aspace.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "space/aspace_parts.h"

static const HChar* const what_names[] = {
   [TG_SPACE_MAP] = "map",         [TG_SPACE_GROW] = "grow",
   [TG_SPACE_UNMAP] = "unmap",     [TG_SPACE_MOVE] = "move",
   [TG_SPACE_PROTECT] = "protect", [TG_SPACE_RENAME] = "rename",
   [TG_SPACE_ADVISE] = "advise",   [TG_SPACE_LOCK] = "lock",
   [TG_SPACE_UNLOCK] = "unlock",   [TG_SPACE_FORK] = "fork",
};

const HChar* tg_aspace_kind_name(const tlb_mapping* m)
{
   switch ((tlb_kind)m->kind) {
   case TLB_ANON:
      return m->flags & TLB_MAP_SHARED ? "shared" : "anonymous";
   case TLB_HEAP:
      return "heap";
   case TLB_STACK:
      return "stack";
   case TLB_THREAD_STACK:
      return "thread stack";
   case TLB_BSS:
      return m->flags & TLB_MAP_MAIN ? "program bss" : "library bss";
   case TLB_IMAGE:
      return m->flags & TLB_MAP_MAIN ? "program" : "library";
   case TLB_FILE:
      return "file";
   case TLB_SHM:
      return "System V";
   case TLB_N_KINDS:
      break;
   }
   return "?";
}

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

void tg_space_print_event(const TgSpaceEvent* e)
{
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

void tg_space_print_end(void)
{
   for (SizeT i = 0; i < tg_space.map.mappings.count; i++) {
      VG_(dmsg)("aspace: end ");
      print_mapping(tg_space.map.mappings.at[i]);
      VG_(dmsg)("\n");
   }
}
