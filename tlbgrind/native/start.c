/* Rebuilds the program's initial stack. See native/start.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "arch/arch.h"
#include "native/running_on_valgrind.h"
#include "native/start.h"
#include "base/proc_file.h"
#include "base/registers.h"
#include "attribution/sites.h"
#include "native/vdso_stub.h"

/* The core's, without a header for tools: the break's begin, the addresses of these parts of the
   program's first stack, and the file that the core opens in place of /proc/self/auxv. */
extern Addr VG_(brk_base);
extern UWord* VG_(client_auxv);
extern Int VG_(cl_auxv_fd);

enum { AT_NULL_ = 0, AT_IGNORE_ = 1, AT_BASE_ = 7, AT_ENTRY_ = 9, AT_PLATFORM_ = 15,
       AT_RANDOM_ = 25, AT_EXECFN_ = 31, AT_SYSINFO_EHDR_ = 33, AT_MINSIGSTKSZ_ = 51 };

static TgImage image;

const TgImage* tg_start_image(void)
{
   return &image;
}

Bool tg_start_in_vdso(Addr a)
{
   return image.vdso != 0 && a >= image.vdso
          && a < image.vdso + tg_proc_vdso_bytes();
}

Addr tg_start_brk(void)
{
   return VG_(brk_base);
}

/* --- The stack --- */

/* The parts of a program's initial stack. */
typedef struct {
   UWord argc;
   const HChar** argv;
   const HChar** envp;
   UWord envc;
   UWord* auxv; /* pairs */
   UWord auxc;  /* pairs, AT_NULL included */
} Block;

static Block read_block(Addr sp)
{
   UWord* word = (UWord*)sp;
   Block b = { .argc = word[0], .argv = (const HChar**)(word + 1) };
   b.envp = b.argv + b.argc + 1;
   while (b.envp[b.envc] != NULL)
      b.envc++;
   b.auxv = (UWord*)(b.envp + b.envc + 1);
   while (b.auxv[2 * b.auxc] != AT_NULL_)
      b.auxc++;
   b.auxc++;
   return b;
}

static UWord* auxv_find(const Block* b, UWord type)
{
   for (UWord i = 0; i < b->auxc; i++) {
      if (b->auxv[2 * i] == type)
         return &b->auxv[2 * i + 1];
   }
   return NULL;
}

/* Whether the variable is set by the launcher or by Debian's wrapper around Valgrind, and absent
   natively. */
static Bool is_foreign(const HChar* text)
{
   return VG_(strncmp)(text, "VALGRIND_LIB=", 13) == 0
          || VG_(strcmp)(text, "GLIBCPP_FORCE_NEW=1") == 0
          || VG_(strcmp)(text, "GLIBCXX_FORCE_NEW=1") == 0;
}

/* Whether the part of a list is one of Valgrind's preloaded objects, or a folder that Debian's
   wrapper adds. */
static Bool is_foreign_part(const HChar* part)
{
   return VG_(strstr)(part, "/vgpreload_") != NULL
          || VG_(strcmp)(part, "/usr/lib/debug") == 0;
}

/* A copy of the list without such parts, NULL if nothing is left.
   Separators are as the dynamic linker has them. */
static HChar* without_foreign(const HChar* value)
{
   HChar* out = VG_(malloc)("tg.native.list", VG_(strlen)(value) + 1);
   HChar* at = out;
   while (*value != '\0') {
      SizeT n = 0;
      while (value[n] != '\0' && value[n] != ':' && value[n] != ' ')
         n++;
      HChar* end = at;
      if (at != out)
         *at++ = ':';
      VG_(memcpy)(at, value, n);
      at[n] = '\0';
      at = n == 0 || is_foreign_part(at) ? end : at + n;
      *at = '\0';
      value += n + (value[n] != '\0');
   }
   if (at != out)
      return out;
   VG_(free)(out);
   return NULL;
}

/* A copy of the variable with its native value; NULL: it is absent natively. */
static HChar* native_variable(const HChar* text)
{
   static const HChar* const lists[] = { "LD_PRELOAD=", "LD_LIBRARY_PATH=" };
   if (is_foreign(text))
      return NULL;
   for (UInt i = 0; i < sizeof lists / sizeof lists[0]; i++) {
      const SizeT n = VG_(strlen)(lists[i]);
      if (VG_(strncmp)(text, lists[i], n) != 0)
         continue;
      HChar* rest = without_foreign(text + n);
      if (rest == NULL)
         return NULL;
      HChar* out = VG_(malloc)("tg.native.variable", n + VG_(strlen)(rest) + 1);
      VG_(strcpy)(out, lists[i]);
      VG_(strcpy)(out + n, rest);
      VG_(free)(rest);
      return out;
   }
   return VG_(strdup)("tg.native.variable", text);
}

/* Lays the texts out below `at` in the kernel's order, the first lowest. Returns the lowest
   byte. */
static Addr lay_texts(Addr at, HChar** text, UWord n, Addr* where)
{
   for (UWord i = n; i > 0; i--) {
      at -= VG_(strlen)(text[i - 1]) + 1;
      where[i - 1] = at;
   }
   return at;
}

static HChar* copy_text(const HChar* text)
{
   return VG_(strdup)("tg.native.text", text == NULL ? "" : text);
}

/* The parts of the new stack. */
typedef struct {
   HChar** text; /* arguments, then variables */
   Addr* where;  /* the address of each in the new stack */
   UWord argc, envc;
   HChar* execfn;
   HChar* platform;
   UChar random[16];
   UWord* auxv;
   UWord auxc;
} Parts;

/* The auxiliary vector in the kernel's order, with Valgrind's values where Valgrind has some.
   Pairs that Valgrind removes stay removed, except two: the vDSO, which has a stand-in, and the
   size of a signal's stack, from which programs derive sizes of memory that they allocate. */
static UWord* native_auxv(const Block* b, UWord* pairs)
{
   UWord* native = tg_proc_auxv(pairs);
   if (native == NULL || *pairs < b->auxc) {
      VG_(free)(native);
      *pairs = b->auxc;
      native = VG_(malloc)("tg.native.auxv", *pairs * 2 * sizeof(UWord));
      VG_(memcpy)(native, b->auxv, *pairs * 2 * sizeof(UWord));
      return native;
   }
   for (UWord i = 0; i < *pairs - 1; i++) {
      UWord* pair = &native[2 * i];
      const UWord* value = auxv_find(b, pair[0]);
      if (value != NULL)
         pair[1] = *value;
      else if (pair[0] == AT_SYSINFO_EHDR_ && image.vdso != 0)
         pair[1] = image.vdso;
      else if (pair[0] != AT_MINSIGSTKSZ_)
         pair[0] = AT_IGNORE_;
   }
   return native;
}

static Parts take_apart(const Block* b)
{
   Parts p = { .argc = b->argc };
   const SizeT room = b->argc + b->envc + 1;
   const UWord* execfn = auxv_find(b, AT_EXECFN_);
   const UWord* platform = auxv_find(b, AT_PLATFORM_);
   const UWord* random = auxv_find(b, AT_RANDOM_);
   p.text = VG_(malloc)("tg.native.texts", room * sizeof *p.text);
   p.where = VG_(malloc)("tg.native.where", room * sizeof *p.where);
   for (UWord i = 0; i < b->argc; i++)
      p.text[i] = copy_text(b->argv[i]);
   for (UWord i = 0; i < b->envc; i++) {
      HChar* text = native_variable(b->envp[i]);
      if (text != NULL)
         p.text[p.argc + p.envc++] = text;
   }
   p.execfn = copy_text(execfn == NULL ? NULL : (const HChar*)*execfn);
   p.platform = copy_text(platform == NULL ? NULL : (const HChar*)*platform);
   if (random != NULL)
      VG_(memcpy)(p.random, (const void*)*random, sizeof p.random);
   p.auxv = native_auxv(b, &p.auxc);
   return p;
}

static void free_parts(Parts* p)
{
   for (UWord i = 0; i < p->argc + p->envc; i++)
      VG_(free)(p->text[i]);
   VG_(free)(p->text);
   VG_(free)(p->where);
   VG_(free)(p->execfn);
   VG_(free)(p->platform);
   VG_(free)(p->auxv);
}

static void point_to(Parts* p, UWord type, Addr to)
{
   for (UWord i = 0; i < p->auxc; i++) {
      if (p->auxv[2 * i] == type)
         p->auxv[2 * i + 1] = to;
   }
}

/* Makes /proc/self/auxv equal to the vector on the program's new stack, which is never shorter
   than the core's. */
static void tell_auxv(const Parts* p)
{
   const Int bytes = (Int)(2 * p->auxc * sizeof(UWord));
   if (VG_(cl_auxv_fd) < 0 || VG_(lseek)(VG_(cl_auxv_fd), 0, VKI_SEEK_SET) != 0)
      return;
   VG_(write)(VG_(cl_auxv_fd), p->auxv, bytes);
   VG_(lseek)(VG_(cl_auxv_fd), 0, VKI_SEEK_SET);
}

/* fs/exec.c and create_elf_tables() of fs/binfmt_elf.c in Linux: from the top,
   an empty word, the file's name, the variables, the arguments; then the
   platform's name, random bytes, and on the next 16 bytes the vectors. */
static void build(Parts* p, Addr end)
{
   Addr at = end - sizeof(UWord);
   const Addr execfn = at -= VG_(strlen)(p->execfn) + 1;
   at = lay_texts(at, p->text + p->argc, p->envc, p->where + p->argc);
   at = lay_texts(at, p->text, p->argc, p->where);
   image.strings = at;
   at &= ~(Addr)15;
   const Addr platform = at -= VG_(strlen)(p->platform) + 1;
   const Addr random = at -= sizeof p->random;
   image.stack_strings = at;
   const SizeT words = 2 * p->auxc + p->argc + 1 + p->envc + 1 + 1;
   const Addr sp = (at - words * sizeof(UWord)) & ~(Addr)15;
   if (!VG_(am_is_valid_for_client)(sp, end - sp, VKI_PROT_WRITE))
      return;
   image.sp = sp;
   point_to(p, AT_EXECFN_, execfn);
   point_to(p, AT_PLATFORM_, platform);
   point_to(p, AT_RANDOM_, random);

   VG_(memset)((void*)sp, 0, end - sp);
   VG_(strcpy)((HChar*)execfn, p->execfn);
   VG_(strcpy)((HChar*)platform, p->platform);
   VG_(memcpy)((void*)random, p->random, sizeof p->random);
   UWord* word = (UWord*)sp;
   *word++ = p->argc;
   for (UWord i = 0; i < p->argc + p->envc; i++) {
      if (i == p->argc)
         *word++ = 0;
      *word++ = p->where[i];
      VG_(strcpy)((HChar*)p->where[i], p->text[i]);
   }
   word += p->envc == 0 ? 2 : 1;
   VG_(client_envp) = (HChar**)sp + 1 + p->argc + 1;
   VG_(client_auxv) = word;
   VG_(memcpy)(word, p->auxv, 2 * p->auxc * sizeof(UWord));
   tell_auxv(p);
}

void tg_start_set_right(ThreadId tid, Bool changes)
{
   const Addr sp = VG_(get_SP)(tid);
   const NSegment* seg = VG_(am_find_nsegment)(sp);
   const Block b = read_block(sp);
   const UWord* base = auxv_find(&b, AT_BASE_);
   const UWord* entry = auxv_find(&b, AT_ENTRY_);
   if (base != NULL)
      image.interpreter = *base;
   image.entry = entry == NULL ? VG_(get_IP)(tid) : *entry;
   image.sp = sp;
   image.stack_end = seg == NULL ? sp : seg->end + 1;
   image.strings = b.argc == 0 ? image.stack_end : (Addr)b.argv[0];
   image.stack_strings = (Addr)(b.auxv + 2 * b.auxc);
   if (!changes || seg == NULL)
      return;
   tg_arch_show_native_cpuid();
   tg_running_on_valgrind_init();
   if (auxv_find(&b, AT_SYSINFO_EHDR_) == NULL)
      image.vdso = tg_vdso_stub();
   if (image.vdso != 0)
      tg_sites_name(image.vdso, tg_proc_vdso_bytes(), "[vdso]", "__vdso_getrandom");
   Parts p = take_apart(&b);
   build(&p, image.stack_end);
   free_parts(&p);
   tg_set_register(tid, tg_arch.registers.sp, image.sp);
}
