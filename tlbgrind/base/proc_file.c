/* Reads /proc and /sys of the host. See base/proc_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "arch/arch.h"
#include "base/proc_file.h"

HChar* tg_proc_read_all(const HChar* name, SizeT* length)
{
   const Int fd = VG_(fd_open)(name, VKI_O_RDONLY, 0);
   SizeT used = 0, room = 4096;
   if (fd < 0)
      return NULL;
   HChar* text = VG_(malloc)("tg.proc", room);
   for (;;) {
      const Int n = VG_(read)(fd, text + used, (Int)(room - used - 1));
      if (n <= 0)
         break;
      used += (SizeT)n;
      if (room - used < 2048) {
         room *= 2;
         text = VG_(realloc)("tg.proc", text, room);
      }
   }
   VG_(close)(fd);
   text[used] = '\0';
   if (length != NULL)
      *length = used;
   return text;
}

Bool tg_proc_read(const HChar* name, HChar* out, SizeT size)
{
   const Int fd = VG_(fd_open)(name, VKI_O_RDONLY, 0);
   if (fd < 0)
      return False;
   const Int n = VG_(read)(fd, out, (Int)size - 1);
   VG_(close)(fd);
   out[n > 0 ? n : 0] = '\0';
   return n > 0;
}

/* --- Links --- */

SizeT tg_proc_link(const HChar* name, HChar* out, SizeT size)
{
   const SSizeT n = VG_(readlink)(name, out, size);
   if (n <= 0 || (SizeT)n >= size)
      return 0;
   out[n] = '\0';
   return (SizeT)n;
}

SizeT tg_proc_descriptor(Int fd, HChar* out, SizeT size)
{
   HChar name[32];
   VG_(sprintf)(name, "/proc/self/fd/%d", fd);
   return tg_proc_link(name, out, size);
}

/* --- Pages --- */

Bool tg_proc_are_there(Addr start, UInt pages)
{
   static const ULong is_present = 1ULL << 63;
   const Int fd = VG_(fd_open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
   ULong entry;
   if (fd < 0)
      return False;
   Bool there = VG_(lseek)(fd, (OffT)(start / VKI_PAGE_SIZE * sizeof entry), VKI_SEEK_SET) >= 0;
   for (UInt i = 0; i < pages && there; i++)
      there = VG_(read)(fd, &entry, sizeof entry) == sizeof entry && (entry & is_present) != 0;
   VG_(close)(fd);
   return there;
}

/* --- File systems --- */

static const HChar* next_word(const HChar* at)
{
   while (*at != ' ' && *at != '\n' && *at != '\0')
      at++;
   return *at == ' ' ? at + 1 : at;
}

static const HChar* next_line(const HChar* at)
{
   while (*at != '\n' && *at != '\0')
      at++;
   return *at == '\n' ? at + 1 : at;
}

static Bool is_word(const HChar* at, const HChar* word)
{
   const SizeT n = VG_(strlen)(word);
   return VG_(strncmp)(at, word, n) == 0 && (at[n] == ' ' || at[n] == '\n');
}

/* Parses a line of mountinfo if it is of that device, else returns False. A line has two numbers,
   MAJOR:MINOR, three words, options up to a lone "-", type, source, and the type's options. */
static Bool read_mount(const HChar* line, ULong device, TgFileSystem* out)
{
   static const HChar size[] = "pagesize=";
   HChar* at = (HChar*)next_word(next_word(line));
   const ULong major = VG_(strtoull10)(at, &at);
   if (*at != ':')
      return False;
   const ULong minor = VG_(strtoull10)(at + 1, &at);
   /* The kernel's encoding of device numbers in stat(). */
   if (((minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12)
       != device)
      return False;
   const HChar* word = at;
   while (*word != '\0' && *word != '\n' && !is_word(word, "-"))
      word = next_word(word);
   word = next_word(word);
   const Bool huge = is_word(word, "hugetlbfs");
   out->in_memory = huge || is_word(word, "tmpfs") || is_word(word, "devtmpfs")
                    || is_word(word, "ramfs");
   /* An initial root is a tmpfs or ramfs that begins with all of its files. */
   out->is_unaligned = out->in_memory || is_word(word, "rootfs");
   if (!huge)
      return True;
   word = next_word(next_word(word));
   while (*word != '\0' && *word != '\n' && VG_(strncmp)(word, size, sizeof size - 1) != 0)
      word++;
   if (*word != '\0' && *word != '\n') {
      const ULong n = VG_(strtoull10)(word + sizeof size - 1, &at);
      const UInt unit = *at == 'G' ? 30 : *at == 'M' ? 20 : *at == 'K' ? 10 : 0;
      if (n != 0)
         out->huge_shift = unit + (UInt)__builtin_ctzll(n);
   }
   return True;
}

static TgFileSystem read_file_system(ULong device)
{
   TgFileSystem found = { .device = device };
   HChar* text = tg_proc_read_all("/proc/self/mountinfo", NULL);
   if (text == NULL)
      return found;
   const HChar* line = text;
   while (*line != '\0' && !read_mount(line, device, &found))
      line = next_line(line);
   VG_(free)(text);
   return found;
}

TgFileSystem tg_proc_file_system(ULong device)
{
   static XArray* looked_up; /* TgFileSystem */
   if (looked_up == NULL)
      looked_up = VG_(newXA)(VG_(malloc), "tg.proc.file_systems", VG_(free),
                         sizeof(TgFileSystem));
   for (Word i = 0; i < VG_(sizeXA)(looked_up); i++) {
      const TgFileSystem* f = VG_(indexXA)(looked_up, i);
      if (f->device == device)
         return *f;
   }
   const TgFileSystem f = read_file_system(device);
   VG_(addToXA)(looked_up, &f);
   return f;
}

/* --- This process --- */

Bool tg_proc_linux(UInt version[2])
{
   HChar release[64];
   HChar* at;
   if (!tg_proc_read("/proc/sys/kernel/osrelease", release, sizeof release))
      return False;
   version[0] = (UInt)VG_(strtoull10)(release, &at);
   version[1] = *at == '.' ? (UInt)VG_(strtoull10)(at + 1, &at) : 0;
   return True;
}

Bool tg_proc_linux_is(UInt major, UInt minor)
{
   UInt is[2];
   return tg_proc_linux(is) && (is[0] > major || (is[0] == major && is[1] >= minor));
}

/* Two pages of 4K, or a larger one; or one, before it got __vdso_getrandom() there. */
ULong tg_proc_huge_bytes(void)
{
   HChar text[32];
   const ULong told = tg_proc_read("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text,
                                   sizeof text)
                         ? VG_(strtoull10)(text, NULL) : 0;
   const Bool is_size = told > VKI_PAGE_SIZE && (told & (told - 1)) == 0;
   return is_size ? told : (ULong)VKI_PAGE_SIZE * (VKI_PAGE_SIZE / 8);
}

SizeT tg_proc_vdso_bytes(void)
{
   static SizeT bytes;
   const TgArchVdso* v = &tg_arch.vdso;
   if (bytes == 0)
      bytes = VG_PGROUNDUP(tg_proc_linux_is(v->large_from[0], v->large_from[1]) ? 8192 : 4096);
   return bytes;
}

/* Valgrind has unmapped the vDSO's code, but not the data below it. */
Bool tg_proc_vdso(ULong* start, ULong* end, ULong* code)
{
   HChar* text = tg_proc_read_all("/proc/self/maps", NULL);
   *start = ~0ULL;
   *code = 0;
   if (text == NULL)
      return False;
   for (const HChar* line = text; *line != '\0'; line = next_line(line)) {
      const HChar* name = next_line(line) - 1;
      while (name > line && *name != '[')
         name--;
      if (VG_(strncmp)(name, "[vvar", 5) != 0)
         continue;
      HChar* at;
      const ULong low = VG_(strtoull16)(line, &at);
      if (low < *start)
         *start = low;
      *code = VG_(strtoull16)(at + 1, &at);
   }
   *end = *code + tg_proc_vdso_bytes();
   VG_(free)(text);
   return *code != 0;
}

UWord* tg_proc_auxv(UWord* pairs)
{
   SizeT length = 0;
   HChar* vector = tg_proc_read_all("/proc/self/auxv", &length);
   *pairs = length / (2 * sizeof(UWord));
   return (UWord*)(void*)vector;
}
