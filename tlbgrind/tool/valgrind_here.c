/* Compares this tool's version of Valgrind with that at hand. See tool/valgrind_here.h.

   The core is a part of this tool, but the launcher, what is preloaded into the program, vgdb and
   what gdb reads are those of the Valgrind at hand. None of these has its version in it; the tool
   "none" beside this one has. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "config.h"

#include "base/elf_file.h"
#include "base/path.h"
#include "base/proc_file.h"
#include "tool/valgrind_here.h"

/* The core's, without a header for tools: the folder of tools. */
extern const HChar* VG_(libdir);

/* The core has its version as the text "valgrind-3.19.0". */
static const HChar mark[] = "valgrind-";

enum { MARK = sizeof mark - 1 };

/* The version behind the first mark that a digit follows. False: there is none. */
static Bool find(const UChar* at, SizeT size, HChar* version, SizeT room)
{
   for (SizeT i = 0; i + MARK < size; i++) {
      if (at[i] != mark[0] || VG_(memcmp)(at + i, mark, MARK) != 0
          || !VG_(isdigit)((HChar)at[i + MARK]))
         continue;
      SizeT n = 0;
      for (SizeT k = i + MARK; k < size && n + 1 < room && at[k] > ' '; k++)
         version[n++] = (HChar)at[k];
      version[n] = '\0';
      return True;
   }
   return False;
}

static Bool find_in_file(const HChar* file, HChar* version, SizeT room)
{
   TgElfSection texts;
   SizeT size;
   UChar* contents = NULL;
   const Int fd = tg_elf_open(file);
   if (fd >= 0 && tg_elf_section_by_name(fd, ".rodata", &texts))
      contents = tg_elf_contents(fd, &texts, &size);
   if (fd >= 0)
      VG_(close)(fd);
   if (contents == NULL)
      return False;
   const Bool is_found = find(contents, size, version, room);
   VG_(free)(contents);
   return is_found;
}

void tg_valgrind_here_check(void)
{
   HChar self[VKI_PATH_MAX], version[64];
   if (tg_proc_link("/proc/self/exe", self, sizeof self) == 0)
      return;
   /* This tool's file ends in its platform: tlbgrind-amd64-linux. */
   const HChar* platform = VG_(strchr)(tg_path_file(self), '-');
   if (platform == NULL)
      return;
   HChar* none = VG_(malloc)("tg.none", VG_(strlen)(VG_(libdir)) + VG_(strlen)(platform)
                                           + sizeof "/none");
   VG_(sprintf)(none, "%s/none%s", VG_(libdir), platform);
   if (find_in_file(none, version, sizeof version) && VG_(strcmp)(version, VERSION) != 0) {
      VG_(fmsg)("tlbgrind was built for %s, this is %s: build again\n", VERSION, version);
      VG_(exit)(1);
   }
   VG_(free)(none);
}
