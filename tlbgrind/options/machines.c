/* Makes the simulated machines. See options/machines.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_argument.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"
#include "sim/machine/machine_list.h"
#include "sim/tlb/base_pages.h"

#include "arch/arch.h"
#include "options/array_options.h"
#include "options/exec.h"
#include "base/shown.h"
#include "base/file.h"
#include "options/host.h"
#include "options/machine_args.h"
#include "options/machines.h"
#include "options/refuse.h"

tlb_base_pages tg_machine_base_pages(UInt base_shift)
{
   tlb_base_pages b = { .shift = base_shift };
   if (base_shift == 0 && tg_arch.isa != NULL) {
      b.shift = (UInt)__builtin_ctzl(VKI_PAGE_SIZE);
      VG_(strcpy)(b.isa, tg_arch.isa);
   }
   return b;
}

static void take_base_pages(TgMachine* m, UInt base_shift)
{
   const tlb_base_pages b = tg_machine_base_pages(base_shift);
   tlb_reason note[TLB_MOST_BASE_NOTES];
   const UInt n = tlb_base_pages_take(&b, &m->m, note);
   for (UInt i = 0; i < n; i++)
      tg_machine_assume(m, "%s", note[i].text);
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

/* Reads to the end: files of /proc have no size. NULL: the file is too large. */
static HChar* read_all(Int fd, SizeT room, SizeT* length)
{
   HChar* text = VG_(malloc)("tg.machines.file", room);
   *length = 0;
   for (;;) {
      const Int n = VG_(read)(fd, text + *length, (Int)(room - *length));
      if (n <= 0)
         return text;
      *length += (SizeT)n;
      if (*length > TLB_MACHINE_INPUT_SIZE) {
         VG_(free)(text);
         return NULL;
      }
      if (*length == room) {
         room *= 2;
         text = VG_(realloc)("tg.machines.file", text, room);
      }
   }
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
      text = read_all(fd, (SizeT)st.size + 4096, length);
      if (text == NULL)
         VG_(snprintf)(why->text, sizeof why->text,
                       "is larger than the %d bytes that machine files and dumps of CPUID have at "
                       "most", TLB_MACHINE_INPUT_SIZE);
   }
   VG_(close)(fd);
   return text;
}

/* Prints all that is wrong with a machine file but the last, which its caller does; *line and
   *why are that one's. */
static void tell_errors(const HChar* file, const HChar* text, SizeT length, uint64_t* line,
                        tlb_reason* why)
{
   tlb_machine m;
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   UInt n = tlb_machine_text(text, length)
               ? tlb_machine_parse_all(text, length, &m, error) : 0;
   n = n < TLB_MACHINE_ERRORS ? n : TLB_MACHINE_ERRORS;
   for (UInt i = 0; i < n; i++) {
      *line = error[i].line;
      *why = error[i].why;
      if (i + 1 < n)
         VG_(umsg)("error: %s:%llu: %s\n", tg_shown(file), (ULong)*line, why->text);
   }
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
   if (!found && text != NULL && !split.numbered)
      tell_errors(file, text, length, &line, why);
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

/* Whether a colon follows the name of a machine that is known. */
static Bool has_known_name(const HChar* name)
{
   const HChar* colon = VG_(strchr)(name, ':');
   if (colon == NULL)
      return False;
   HChar* plain = VG_(strdup)("tg.machines.file", name);
   plain[colon - name] = '\0';
   const Bool known = tlb_builtin_machine(plain) != NULL || VG_(strcmp)(plain, "host") == 0
                      || VG_(strcmp)(plain, "default") == 0;
   VG_(free)(plain);
   return known;
}

static Bool find(const HChar* name, UInt base_shift, TgMachine* out,
                 const HChar** where, tlb_reason* why)
{
   const UInt shift = base_shift == 0 ? TLB_MIN_PAGE_SHIFT : base_shift;
   const tlb_builtin* builtin = tlb_builtin_machine(name);
   HChar text[TG_SHORTENED];
   if (VG_(strcmp)(name, "default") == 0) {
      tg_machine_default(out, shift);
      return True;
   }
   tg_machine_begin(out, name, shift);
   if (VG_(strcmp)(name, "host") == 0) {
      out->measured = tg_host_machine(&out->m);
      VG_(strcpy)(out->m.name, "host");
      return True;
   }
   if (builtin != NULL) {
      uint32_t line;
      return tlb_machine_parse(builtin->text, builtin->length, &out->m, &line,
                               why) != 0;
   }
   if (tlb_argument_is_override(name) && !is_file(name)) {
      VG_(snprintf)(why->text, sizeof why->text, "'%s' is an override and no machine; overrides "
                    "stand behind a machine's name and ':', before its '@'",
                    tg_shortened(name, text));
      return False;
   }
   if (is_path(name) && (!has_known_name(name) || is_file(name))) {
      out->file = VG_(strdup)("tg.machines.name", name);
      return from_file(name, out, where, why);
   }
   if (has_known_name(name)) {
      VG_(snprintf)(why->text, sizeof why->text, "'%s' is no override; it is "
                    "PART.LINE=VALUE, such as stlb.entries=2048",
                    tg_shortened(VG_(strchr)(name, ':') + 1, text));
      return False;
   }
   tlb_builtin_refuse(name, why);
   return False;
}

/* VG_(printf) goes to the standard error while options are read. */
Bool tg_machine_print_list(const HChar* pattern, tlb_reason* why)
{
   HChar line[TLB_LIST_LINE_SIZE + 1];
   tlb_machine_list list = tlb_machine_list_begin(pattern);
   if (list.n == 0) {
      tlb_machine_list_refuse(pattern, why);
      return False;
   }
   while (tlb_machine_list_next(&list, line, TLB_LIST_LINE_SIZE)) {
      const SizeT n = VG_(strlen)(line);
      line[n] = '\n';
      VG_(write)(1, line, (Int)n + 1);
   }
   return True;
}

/* --- Overrides --- */

/* Changes the machine as its own overrides and the options for single arrays say; *overrides has
   all of them then. */
static Bool change(TgMachine* m, HChar** overrides, const HChar** where, tlb_reason* why)
{
   HChar* more;
   const HChar* bad = tg_array_options_overrides(&m->m, &more, why);
   if (bad != NULL) {
      const SizeT room = VG_(strlen)(bad) + 3;
      HChar* place = VG_(malloc)("tg.machines.place", room);
      VG_(sprintf)(place, "%s: ", bad);
      *where = place;
      return False;
   }
   if (more != NULL && *overrides != NULL) {
      const SizeT room = VG_(strlen)(*overrides) + VG_(strlen)(more) + 2;
      *overrides = VG_(realloc)("tg.machines.overrides", *overrides, room);
      VG_(strcat)(*overrides, ",");
      VG_(strcat)(*overrides, more);
   } else if (more != NULL) {
      *overrides = more;
   }
   m->changed = *overrides != NULL;
   return !m->changed || tg_machine_args_change(&m->m, *overrides, where, why);
}

/* The words with which a user names such a machine. */
static const HChar* given_of(const TgMachineParts* p)
{
   const HChar* overrides = p->overrides == NULL ? "" : p->overrides;
   const HChar* rules = p->rules == NULL ? "" : p->rules;
   const SizeT room = VG_(strlen)(p->name) + VG_(strlen)(overrides) + VG_(strlen)(rules) + 3;
   HChar* given = VG_(malloc)("tg.machines.name", room);
   VG_(sprintf)(given, "%s%s%s%s%s", p->name, p->overrides == NULL ? "" : ":", overrides,
                p->rules == NULL ? "" : "@", rules);
   return given;
}

/* Takes the rules of a machine. */
static Bool take_rules(HChar* rules, TgMachine* m, tlb_reason* why)
{
   const Bool given = rules[0] != '\0';
   return tg_kernel_policy_take(rules, m->m.isa, &m->kernel, why)
          && ((given && rules[0] == '\0')
              || tlb_page_rules_parse(rules, '+', m->m.base_page_shift, &m->pages, why));
}

Bool tg_machine_by_name(const HChar* name, UInt base_shift,
                        const tlb_page_policy* pages, TgMachine* out,
                        const HChar** where, tlb_reason* why)
{
   TgMachineParts parts = tg_machine_args_parts(name);
   *where = "";
   Bool found = find(parts.name, base_shift, out, where, why);
   if (found) {
      out->own_name = VG_(strdup)("tg.machines.name", out->m.name);
      found = change(out, &parts.overrides, where, why);
   }
   if (found) {
      out->given = given_of(&parts);
      out->pages = *pages;
      take_base_pages(out, base_shift);
      tlb_machine_note_unknowns(&out->m);
      for (UInt i = 0; i < out->m.n_notes; i++)
         tg_machine_assume(out, "%s", out->m.note[i].text);
      found = parts.rules == NULL || take_rules(parts.rules, out, why);
   }
   VG_(free)(parts.name);
   VG_(free)(parts.overrides);
   VG_(free)(parts.rules);
   return found;
}

tlb_mmu_machine tg_mmu_machine(const TgMachine* machine)
{
   return (tlb_mmu_machine){ .machine = &machine->m, .pages = &machine->pages,
                             .asks = tlb_mmus_asks(&machine->m, &machine->pages),
                             .flush = machine->kernel.flush, .shared = machine->shared,
                             .prefetch = machine->kernel.prefetch };
}
