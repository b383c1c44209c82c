/* Intercepts and follows execs. See tool/exec_calls.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "base/file.h"
#include "base/path.h"
#include "base/program_text.h"
#include "base/streams.h"
#include "options/exec.h"
#include "tool/exec_calls.h"

/* The core's, without a header for tools. */
extern Bool VG_(clo_trace_children);
extern const HChar* VG_(libdir);
extern const HChar* VG_(name_of_launcher);
extern Bool VG_(should_we_trace_this_child)(const HChar* child_exe_name,
                                            const HChar** child_argv);
extern SysRes VG_(pre_exec_check)(const HChar* exe_name, Int* out_fd, Bool allow_setuid);
extern Int VG_(check_executable)(Bool* is_setuid, const HChar* f, Bool allow_setuid);

static Bool is_child;
static Bool began_to_trace;

/* Names (HChar*) of files that were written before an exec; removed if it fails. */
static XArray* written_files;

void tg_exec_calls_init(void)
{
   written_files = VG_(newXA)(VG_(malloc), "tg.exec", VG_(free), sizeof(HChar*));
}

void tg_exec_calls_forked(void)
{
   is_child = True;
   tg_exec_forked();
}

Bool tg_exec_calls_has(UInt syscall)
{
   return syscall == __NR_execve || syscall == __NR_execveat;
}

/* The file to be executed, to be freed, or NULL; `argv`: its arguments. */
static HChar* file_of(UInt syscall, const UWord* args, const HChar*** argv)
{
   const Bool is_at = syscall != __NR_execve;
   const HChar* path = tg_program_text(args[is_at ? 1 : 0]);
   const Addr list = args[is_at ? 2 : 1];
   static const HChar* none[] = { NULL };
   if (path == NULL)
      return NULL;
   *argv = VG_(am_is_valid_for_client)(list, 2 * sizeof(HChar*), VKI_PROT_READ)
              ? (const HChar**)list
              : none;
   enum { HERE = -100 }; /* AT_FDCWD */
   if (!is_at || path[0] == '/' || (Int)args[0] == HERE)
      return VG_(strdup)("tg.exec", path);
   const Int room = (Int)VG_(strlen)(path) + 40;
   HChar* file = VG_(malloc)("tg.exec", (SizeT)room);
   VG_(snprintf)(file, room, "/proc/self/fd/%d%s%s", (Int)args[0],
                 path[0] == '\0' ? "" : "/", path);
   return file;
}

/* The platform of a program or of a script's interpreter, such as "amd64-linux"; NULL: unknown.
   Follows as many nested scripts as the kernel. `file`: freed and replaced by the program. */
static const HChar* platform_of(HChar** file)
{
   static const struct {
      UChar bits; /* as in the file's header: 1 is 32, 2 is 64 */
      UShort machine;
      const HChar* platform;
   } kinds[] = {
      { 1, 3, "x86-linux" }, { 2, 62, "amd64-linux" }, { 2, 183, "arm64-linux" },
      { 2, 243, "riscv64-linux" }, { 2, 21, "ppc64le-linux" },
   };
   for (UInt depth = 0; depth < 5; depth++) {
      HChar head[256];
      const Int fd = VG_(fd_open)(*file, VKI_O_RDONLY, 0);
      const Int n = fd < 0 ? -1 : VG_(read)(fd, head, sizeof head - 1);
      if (fd >= 0)
         VG_(close)(fd);
      if (n < 20)
         return NULL;
      head[n] = '\0';
      if (VG_(memcmp)(head, "\177ELF", 4) == 0) {
         const UInt machine = (UChar)head[18] | (UInt)(UChar)head[19] << 8;
         for (UInt i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            if (kinds[i].bits == (UChar)head[4] && kinds[i].machine == machine)
               return kinds[i].platform;
         }
         return NULL;
      }
      if (head[0] != '#' || head[1] != '!')
         return NULL;
      HChar* name = head + 2;
      while (*name == ' ' || *name == '\t')
         name++;
      HChar* end = name;
      while (*end != '\0' && *end != ' ' && *end != '\t' && *end != '\n')
         end++;
      *end = '\0';
      VG_(free)(*file);
      *file = VG_(strdup)("tg.exec", name);
   }
   return NULL;
}

static Bool is_tool_there(const HChar* platform)
{
   const SizeT room = VG_(strlen)(VG_(libdir)) + VG_(strlen)(platform) + 16;
   HChar* tool = VG_(malloc)("tg.exec", room);
   struct vg_stat st;
   VG_(snprintf)(tool, (Int)room, "%s/tlbgrind-%s", VG_(libdir), platform);
   const Bool is_there = !sr_isError(VG_(stat)(tool, &st));
   VG_(free)(tool);
   return is_there;
}

/* Whether argv[0] is the file's name. Valgrind passes the file's name as argv[0], and a program may
   depend on another one. */
static Bool is_called_by_file(const HChar* file, const HChar* name)
{
   return VG_(strcmp)(name, file) == 0 || VG_(strcmp)(name, tg_path_file(file)) == 0;
}

static Bool lacks_launcher(void)
{
   return VG_(name_of_launcher) == NULL || VG_(name_of_launcher)[0] != '/';
}

/* The reason why the core cannot or should not follow the exec; NULL: none. */
static const HChar* obstacle(const HChar* file, const HChar** argv)
{
   const HChar* name = argv[0] == NULL ? NULL : tg_program_text((Addr)argv[0]);
   Bool is_privileged = False;
   if (lacks_launcher())
      return "Valgrind can not find itself";
   HChar* program = VG_(strdup)("tg.exec", file);
   const HChar* platform = platform_of(&program);
   const Bool is_ready = platform != NULL && is_tool_there(platform);
   VG_(check_executable)(&is_privileged, program, False);
   VG_(free)(program);
   if (is_privileged)
      return "it has privileges (set-user-ID) that it would lose";
   if (!is_ready)
      return "there is no tool for programs of its kind";
   if (name == NULL || !is_called_by_file(file, name))
      return "it is not called by its file's name, which Valgrind can not pass on; "
             "--trace-children=yes follows it all the same";
   return NULL;
}

/* Whether the core follows the exec, with its options as they are now. */
static Bool is_traced(const HChar* file, const HChar** argv)
{
   return VG_(should_we_trace_this_child)(file, argv[0] == NULL ? NULL : argv);
}

/* Whether an exec of the first process can be followed by default. NULL: yes; else the reason. */
static const HChar* try_to_follow(const HChar* file, const HChar** argv)
{
   const HChar* why = obstacle(file, argv);
   if (why != NULL)
      return why;
   VG_(clo_trace_children) = True;
   const Bool traced = is_traced(file, argv);
   VG_(clo_trace_children) = False;
   return traced ? NULL : "--trace-children-skip says so";
}

static Bool is_list(Addr a)
{
   return a == 0 || VG_(am_is_valid_for_client)(a, sizeof(HChar*), VKI_PROT_READ);
}

/* Whether the core takes its arguments and environment. */
static Bool has_lists(UInt syscall, const UWord* args)
{
   const UInt first = syscall == __NR_execve ? 1 : 2;
   return is_list(args[first]) && is_list(args[first + 1]);
}

/* Whether the core makes the exec fail, by the checks that it makes before it: a program that it
   follows may not have privileges (set-user-ID). An exec that passes them is made; if it fails all
   the same, the core ends the process. */
static Bool is_refused(const HChar* file, Bool traced)
{
   return sr_isError(VG_(pre_exec_check)(file, NULL, !traced)) || (traced && lacks_launcher());
}

TgExec tg_exec_calls_look(UInt syscall, const UWord* args)
{
   const HChar** argv;
   HChar* file = file_of(syscall, args, &argv);
   const Bool traced = file != NULL && is_traced(file, argv);
   TgExec how = TG_EXEC_LEAVES;
   const HChar* why = NULL;
   if (file == NULL || !has_lists(syscall, args) || is_refused(file, traced)) {
      how = TG_EXEC_FAILS;
   } else if (traced) {
      how = TG_EXEC_IS_TRACED;
   } else if (!is_child) {
      why = tg_exec_trace_arg() == NULL  ? try_to_follow(file, argv)
            : VG_(clo_trace_children)    ? "--trace-children-skip says so"
                                         : "--trace-children=no says so, and "
                                           "--trace-children=yes follows it";
      if (why == NULL)
         how = TG_EXEC_FOLLOWED;
   }
   if (why != NULL && VG_(clo_verbosity) > 0)
      VG_(umsg)("The program becomes %s, which is not followed: %s.\n", file, why);
   VG_(free)(file);
   return how;
}

void tg_exec_calls_follow(TgExec how, ULong instructions)
{
   began_to_trace = how == TG_EXEC_FOLLOWED;
   tg_exec_pass_on(began_to_trace, instructions);
   if (began_to_trace)
      VG_(clo_trace_children) = True;
}

HChar* tg_exec_calls_file_name(TgExec how, HChar* name)
{
   if (how != TG_EXEC_IS_TRACED || tg_streams_has(name))
      return name;
   const Int room = (Int)VG_(strlen)(name) + 24;
   HChar* numbered = VG_(malloc)("tg.exec", (SizeT)room);
   VG_(snprintf)(numbered, room, "%s_exec%u", name, tg_exec_count() + 1);
   VG_(free)(name);
   return numbered;
}

void tg_exec_calls_note_file(HChar* name, Bool is_written)
{
   if (is_written && !tg_file_is_special(name))
      VG_(addToXA)(written_files, &name);
   else
      VG_(free)(name);
}

void tg_exec_calls_failed(void)
{
   for (Word n; (n = VG_(sizeXA)(written_files)) > 0;) {
      HChar* name = *(HChar**)VG_(indexXA)(written_files, n - 1);
      VG_(unlink)(name);
      VG_(free)(name);
      VG_(dropTailXA)(written_files, 1);
   }
   tg_exec_take_back();
   if (began_to_trace)
      VG_(clo_trace_children) = False;
   began_to_trace = False;
}
