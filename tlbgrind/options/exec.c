/* A process that becomes another program. See options/exec.h. */

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

#include "pub_tool_clientstate.h" /* asks for pub_tool_xarray.h before it */

#include "options/exec.h"
#include "base/file.h"
#include "base/streams.h"

/* The core's, without a header for tools. */
extern Bool VG_(clo_trace_children);
extern const HChar* VG_(libdir);
extern const HChar* VG_(name_of_launcher);
extern Bool VG_(should_we_trace_this_child)(const HChar* child_exe_name,
                                            const HChar** child_argv);
extern SysRes VG_(pre_exec_check)(const HChar* exe_name, Int* out_fd, Bool allow_setuid);
extern Int VG_(check_executable)(Bool* is_setuid, const HChar* f, Bool allow_setuid);

static const HChar was_option[] = "--was=";

/* What the process was before: passed on from one program to the next. */
static struct {
   UInt execs;         /* how often it has become another program */
   UInt n_missing;     /* of those programs, whose counts are in no file */
   ULong instructions; /* of these */
   const HChar* folder;
} before;

static const HChar* was_arg;
static const HChar* trace_arg; /* the last --trace-children; NULL: none is given */
static Bool is_child;
static Bool added_arg;     /* to the core's, by tg_exec_follow() */
static Bool began_to_trace;

/* Files that were written because a thread was about to become another
   program (HChar*); taken back if that fails. */
static XArray* written;

/* --- What the process was --- */

Bool tg_exec_option(const HChar* arg)
{
   if (VG_(strncmp)(arg, was_option, sizeof was_option - 1) != 0)
      return False;
   was_arg = VG_(strdup)("tg.exec", arg);
   return True;
}

/* A number and the comma behind it. */
static Bool read_number(const HChar** at, ULong* number)
{
   HChar* end;
   if (!VG_(isdigit)(**at))
      return False;
   *number = VG_(strtoull10)(*at, &end);
   *at = end + 1;
   return *end == ',';
}

static Bool read_before(void)
{
   const HChar* at = was_arg + sizeof was_option - 1;
   ULong execs, n_missing;
   if (!read_number(&at, &execs) || !read_number(&at, &n_missing)
       || !read_number(&at, &before.instructions) || (*at != '/' && *at != '\0'))
      return False;
   before.execs = (UInt)execs;
   before.n_missing = (UInt)n_missing;
   before.folder = *at == '/' ? at : NULL;
   return True;
}

/* The core's arguments are those that it starts itself with at an exec; what the process
   was is told anew then. */
static void read_arguments(void)
{
   static const HChar trace_option[] = "--trace-children=";
   for (Word i = VG_(sizeXA)(VG_(args_for_valgrind)) - 1; i >= 0; i--) {
      const HChar* arg = *(HChar**)VG_(indexXA)(VG_(args_for_valgrind), i);
      if (VG_(strncmp)(arg, was_option, sizeof was_option - 1) == 0)
         VG_(removeIndexXA)(VG_(args_for_valgrind), i);
      else if (trace_arg == NULL
               && VG_(strncmp)(arg, trace_option, sizeof trace_option - 1) == 0)
         trace_arg = arg;
   }
}

const HChar* tg_exec_init(tlb_reason* why)
{
   written = VG_(newXA)(VG_(malloc), "tg.exec", VG_(free), sizeof(HChar*));
   read_arguments();
   if (was_arg == NULL || read_before())
      return NULL;
   VG_(snprintf)(why->text, sizeof why->text,
                 "it is the tool's own, to tell itself what a process was before exec");
   return was_arg;
}

UInt tg_exec_n_before(ULong* instructions)
{
   *instructions = before.instructions;
   return before.n_missing;
}

void tg_exec_print(void)
{
   if (before.n_missing == 0 || VG_(clo_verbosity) == 0)
      return;
   VG_(umsg)("This process was %u other program%s before, of %llu instructions that "
             "are not counted\n", before.n_missing, before.n_missing == 1 ? "" : "s",
             before.instructions);
   VG_(umsg)("  (--trace-children=yes writes a file for each).\n");
   VG_(umsg)("\n");
}

const HChar* tg_exec_folder(void)
{
   return before.folder;
}

void tg_exec_forked(void)
{
   is_child = True;
   before.execs = 0;
   before.n_missing = 0;
   before.instructions = 0;
}

/* --- What it becomes --- */

Bool tg_exec_is(UInt syscall)
{
   return syscall == __NR_execve
#ifdef __NR_execveat
          || syscall == __NR_execveat
#endif
      ;
}

/* The text at that address of the program; NULL: it can not be read. */
static const HChar* text_at(Addr a)
{
   for (Addr at = a;; at++) {
      if ((at == a || VG_IS_PAGE_ALIGNED(at))
          && !VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ))
         return NULL;
      if (*(const HChar*)at == '\0')
         return (const HChar*)a;
   }
}

/* The file that is to be executed, to be freed, or NULL; and its arguments. */
static HChar* file_of(UInt syscall, const UWord* args, const HChar*** argv)
{
   const Bool is_at = syscall != __NR_execve;
   const HChar* path = text_at(args[is_at ? 1 : 0]);
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

/* "amd64-linux" for a program of that kind, or what its script's interpreter is; NULL: it is
   of another kind. As deep as the kernel goes. `file`: freed and replaced. */
static const HChar* platform_of(HChar** file)
{
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
         return head[4] == 2 && machine == 62  ? "amd64-linux"
                : head[4] == 1 && machine == 3 ? "x86-linux"
                                               : NULL;
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

/* Valgrind calls what it follows by its file, so a program that is called otherwise could
   behave otherwise. */
static Bool is_called_by_file(const HChar* file, const HChar* name)
{
   return VG_(strcmp)(name, file) == 0 || VG_(strcmp)(name, tg_file_in_folder(file)) == 0;
}

/* Why the core can not follow it, or should not; NULL: it can. */
static const HChar* obstacle(const HChar* file, const HChar** argv)
{
   const HChar* name = argv[0] == NULL ? NULL : text_at((Addr)argv[0]);
   Bool is_privileged = False;
   if (VG_(name_of_launcher) == NULL || VG_(name_of_launcher)[0] != '/')
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

/* Whether the core follows it, as things stand. */
static Bool is_traced(const HChar* file, const HChar** argv)
{
   return VG_(should_we_trace_this_child)(file, argv[0] == NULL ? NULL : argv);
}

/* Of the first process, where no option says what is to be done. */
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

TgExec tg_exec_look(UInt syscall, const UWord* args)
{
   const HChar** argv;
   HChar* file = file_of(syscall, args, &argv);
   TgExec how = TG_EXEC_LEAVES;
   const HChar* why = NULL;
   /* The core makes sure in the same way that it will succeed. */
   if (file == NULL || sr_isError(VG_(pre_exec_check)(file, NULL, True))) {
      how = TG_EXEC_FAILS;
   } else if (is_traced(file, argv)) {
      how = TG_EXEC_IS_TRACED;
   } else if (!is_child) {
      why = trace_arg == NULL            ? try_to_follow(file, argv)
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

/* --- What is passed on --- */

void tg_exec_follow(TgExec how, ULong instructions)
{
   const Bool is_missing = how == TG_EXEC_FOLLOWED;
   const HChar* folder = before.folder != NULL ? before.folder : VG_(get_startup_wd)();
   const SizeT room = (folder == NULL ? 0 : VG_(strlen)(folder)) + 80;
   HChar* arg = VG_(malloc)("tg.exec", room);
   VG_(snprintf)(arg, (Int)room, "%s%u,%u,%llu,%s", was_option, before.execs + 1,
                 before.n_missing + is_missing,
                 before.instructions + (is_missing ? instructions : 0),
                 folder == NULL ? "" : folder);
   VG_(addToXA)(VG_(args_for_valgrind), &arg);
   added_arg = True;
   began_to_trace = is_missing;
   if (began_to_trace)
      VG_(clo_trace_children) = True;
}

HChar* tg_exec_name(TgExec how, HChar* name)
{
   if (how != TG_EXEC_IS_TRACED || tg_streams_has(name))
      return name;
   const Int room = (Int)VG_(strlen)(name) + 24;
   HChar* numbered = VG_(malloc)("tg.exec", (SizeT)room);
   VG_(snprintf)(numbered, room, "%s_exec%u", name, before.execs + 1);
   VG_(free)(name);
   return numbered;
}

void tg_exec_note_file(HChar* name, Bool is_written)
{
   if (is_written && !tg_file_is_special(name))
      VG_(addToXA)(written, &name);
   else
      VG_(free)(name);
}

void tg_exec_failed(void)
{
   for (Word n; (n = VG_(sizeXA)(written)) > 0;) {
      HChar* name = *(HChar**)VG_(indexXA)(written, n - 1);
      VG_(unlink)(name);
      VG_(free)(name);
      VG_(dropTailXA)(written, 1);
   }
   if (added_arg)
      VG_(dropTailXA)(VG_(args_for_valgrind), 1);
   if (began_to_trace)
      VG_(clo_trace_children) = False;
   added_arg = began_to_trace = False;
}
