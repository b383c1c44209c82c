/* Makes the simulated machines. See options/machines.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "sim/machine/builtin.h"
#include "sim/tlb/hierarchy.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"

#include "options/exec.h"
#include "base/file.h"
#include "options/host.h"
#include "options/machines.h"

void tg_machine_assume(TgMachine* m, const HChar* format, ...)
{
   HChar text[256];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(text, sizeof text, format, args);
   va_end(args);
   const HChar* copy = VG_(strdup)("tg.machines.assumption", text);
   VG_(addToXA)(m->assumptions, &copy);
}

void tg_machine_begin(TgMachine* m, const HChar* name, UInt page_shift)
{
   VG_(memset)(m, 0, sizeof *m);
   m->given = VG_(strdup)("tg.machines.name", name);
   m->m.base_page_shift = page_shift;
   m->m.walk_cycles = TLB_UNKNOWN;
   m->assumptions = VG_(newXA)(VG_(malloc), "tg.machines", VG_(free),
                               sizeof(HChar*));
}

void tg_machine_add(TgMachine* m, const HChar* name, UInt level, UInt users,
                    const tlb_geometry* g)
{
   tl_assert(m->m.n_arrays < TLB_MAX_ARRAYS);
   tlb_machine_array* a = &m->m.array[m->m.n_arrays++];
   *a = (tlb_machine_array){ .level = level, .users = users, .g = *g,
                             .hit_cycles = TLB_UNKNOWN };
   VG_(snprintf)(a->name, sizeof a->name, "%s", name);
}

void tg_machine_default(TgMachine* m, UInt page_shift)
{
   tg_machine_begin(m, "default", page_shift);
   tlb_machine_default(page_shift, &m->m);
}

/* Whether, for every kind of reference to the array, another array of the same level holds pages of
   that size. */
static Bool is_held_beside(const tlb_machine* m, const tlb_machine_array* a,
                           UInt page_shift)
{
   UInt users = a->users;
   for (UInt i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array* other = &m->array[i];
      if (other->level == a->level && (other->g.page_sizes >> page_shift & 1) != 0)
         users &= ~(UInt)other->users;
   }
   return users == 0;
}

/* Sets the machine's base page. If the first level does not hold pages of that size, the arrays for
   the machine's own base pages hold them instead, unless another array of their level does. */
static void rebase(TgMachine* m, UInt page_shift)
{
   const ULong own = 1ULL << m->m.base_page_shift;
   const tlb_machine as_it_is = m->m;
   tlb_reason why;
   m->m.base_page_shift = page_shift;
   if (tlb_machine_holds(&m->m, page_shift, &why))
      return;
   for (UInt i = 0; i < m->m.n_arrays; i++) {
      tlb_geometry* g = &m->m.array[i].g;
      if ((g->page_sizes & own) != 0
          && !is_held_beside(&as_it_is, &as_it_is.array[i], page_shift))
         g->page_sizes = (g->page_sizes & ~own) | 1ULL << page_shift;
   }
   tg_machine_assume(m, "the arrays for %lluK pages are taken to hold the base "
                        "page of this run in the same number", own >> 10);
}

/* --- Machine files and dumps --- */

/* A file's path, to be freed. A relative name refers to the working folder of the process's first
   program: tg_exec_folder(). */
static HChar* place_of(const HChar* name)
{
   const HChar* folder = name[0] == '/' ? NULL : tg_exec_folder();
   const SizeT room = (folder == NULL ? 0 : VG_(strlen)(folder)) + VG_(strlen)(name) + 2;
   HChar* place = VG_(malloc)("tg.machines.file", room);
   VG_(snprintf)(place, (Int)room, "%s%s%s", folder == NULL ? "" : folder,
                 folder == NULL ? "" : "/", name);
   return place;
}

static Bool is_file(const HChar* name)
{
   struct vg_stat st;
   HChar* place = place_of(name);
   const Bool there = !sr_isError(VG_(stat)(place, &st));
   VG_(free)(place);
   return there;
}

/* Reads the whole file, to be freed; NULL: that failed, with the reason. */
static HChar* read_file(const HChar* name, SizeT* length, tlb_reason* why)
{
   struct vg_stat st;
   /* Opening a FIFO would block until it has a writer. */
   HChar* place = place_of(name);
   const SysRes opened = VG_(open)(place, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
   VG_(free)(place);
   if (sr_isError(opened) && is_file(name)) {
      VG_(snprintf)(why->text, sizeof why->text, "the file cannot be opened: %s",
                    tg_file_why(sr_Err(opened)));
      return NULL;
   }
   if (sr_isError(opened) || VG_(fstat)((Int)sr_Res(opened), &st) != 0) {
      VG_(snprintf)(why->text, sizeof why->text, "there is no such file");
      return NULL;
   }
   const Int fd = (Int)sr_Res(opened);
   HChar* text = NULL;
   if (!VKI_S_ISREG(st.mode)) {
      VG_(snprintf)(why->text, sizeof why->text, "is not a regular file");
   } else if (st.size > TLB_MACHINE_INPUT_SIZE) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "has %lld bytes; machine files and dumps of CPUID have at "
                    "most %d", (Long)st.size, TLB_MACHINE_INPUT_SIZE);
   } else {
      text = VG_(malloc)("tg.machines.file", (SizeT)st.size + 1);
      *length = 0;
      Int n;
      while (*length < (SizeT)st.size
             && (n = VG_(read)(fd, text + *length,
                               (Int)((SizeT)st.size - *length))) > 0)
         *length += (SizeT)n;
   }
   VG_(close)(fd);
   return text;
}

/* Makes the machine of FILE, a machine file or a dump of CPUID. FILE:NUMBER selects one kind of
   processor in a dump of several. */
static Bool from_file(const HChar* name, TgMachine* out, const HChar** where,
                      tlb_reason* why)
{
   HChar* file = VG_(strdup)("tg.machines.file", name);
   tlb_machine_file_name split = { .length = VG_(strlen)(name) };
   SizeT length;
   uint64_t line = 0;
   if (!is_file(name))
      split = tlb_machine_split_name(name);
   file[split.length] = '\0';
   HChar* text = read_file(file, &length, why);
   const Bool found = text != NULL
                      && tlb_machine_read(text, length, file, split, &out->m,
                                          &line, why);
   if (!found) {
      const Int size = (Int)VG_(strlen)(file) + 32;
      HChar* place = VG_(malloc)("tg.machines.place", (SizeT)size);
      if (line > 0)
         VG_(snprintf)(place, size, "%s:%llu: ", file, (ULong)line);
      else
         VG_(snprintf)(place, size, "%s: ", file);
      *where = place;
   }
   VG_(free)(text);
   VG_(free)(file);
   return found;
}

/* Whether the name is FILE or FILE:NUMBER: an existing file, or a name with a character that no
   machine's name has. */
static Bool is_path(const HChar* name)
{
   HChar* file = VG_(strdup)("tg.machines.file", name);
   file[tlb_machine_split_name(name).length] = '\0';
   const Bool path = is_file(name) || is_file(file)
                     || VG_(strchr)(name, '/') != NULL
                     || VG_(strchr)(name, '.') != NULL;
   VG_(free)(file);
   return path;
}

static Bool find(const HChar* name, UInt base_shift, TgMachine* out,
                 const HChar** where, tlb_reason* why)
{
   const UInt shift = base_shift == 0 ? TLB_MIN_PAGE_SHIFT : base_shift;
   const tlb_builtin* builtin = tlb_builtin_machine(name);
   if (VG_(strcmp)(name, "default") == 0) {
      tg_machine_default(out, shift);
      return True;
   }
   tg_machine_begin(out, name, shift);
   if (VG_(strcmp)(name, "host") == 0) {
      tg_host_machine(&out->m);
      return True;
   }
   if (builtin != NULL) {
      uint32_t line;
      return tlb_machine_parse(builtin->text, builtin->length, &out->m, &line,
                               why) != 0;
   }
   if (is_path(name)) {
      out->file = VG_(strdup)("tg.machines.name", name);
      return from_file(name, out, where, why);
   }
   tlb_builtin_refuse(name, why);
   return False;
}

/* VG_(printf) goes to the standard error while options are read. */
static void print_list_line(UInt i)
{
   HChar line[TLB_LIST_LINE_SIZE + 1];
   tlb_machine_list_line(i, line, TLB_LIST_LINE_SIZE);
   const SizeT n = VG_(strlen)(line);
   line[n] = '\n';
   VG_(write)(1, line, (Int)n + 1);
}

void tg_machine_print_list(void)
{
   print_list_line(tlb_n_builtins());
   for (UInt i = 0; i < tlb_n_builtins(); i++)
      print_list_line(i);
}

Bool tg_machine_by_name(const HChar* name, UInt base_shift,
                        const tlb_page_policy* pages, TgMachine* out,
                        const HChar** where, tlb_reason* why)
{
   *where = "";
   HChar* plain = VG_(strdup)("tg.machines.name", name);
   HChar* rules = VG_(strchr)(plain, '@');
   if (rules != NULL)
      *rules++ = '\0';
   Bool found = find(plain, base_shift, out, where, why);
   if (found) {
      out->given = VG_(strdup)("tg.machines.name", name);
      out->pages = *pages;
      if (base_shift != 0)
         rebase(out, base_shift);
      tlb_machine_note_unknowns(&out->m);
      for (UInt i = 0; i < out->m.n_notes; i++)
         tg_machine_assume(out, "%s", out->m.note[i].text);
      const Bool given = rules != NULL && rules[0] != '\0';
      found = (rules == NULL || tg_kernel_policy_take(rules, out->m.isa, &out->kernel, why))
              && (rules == NULL || (given && rules[0] == '\0')
                  || tlb_page_rules_parse(rules, '+', out->m.base_page_shift,
                                          &out->pages, why));
   }
   VG_(free)(plain);
   return found;
}

tlb_mmu_machine tg_mmu_machine(const TgMachine* machine)
{
   return (tlb_mmu_machine){ .machine = &machine->m, .pages = &machine->pages,
                             .asks = tlb_mmus_asks(&machine->m, &machine->pages),
                             .flush = machine->kernel.flush, .shared = machine->shared,
                             .prefetch = machine->kernel.prefetch };
}
