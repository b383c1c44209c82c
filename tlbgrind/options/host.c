/* Makes the host's machine. See options/host.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "sim/machine/cpuid_here.h"
#include "sim/machine/host_here.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"
#include "sim/machine/measured_costs.h"

#include "base/file.h"
#include "options/host.h"

/* No such file is longer. */
enum { MOST_BYTES = TLB_MACHINE_TEXT_SIZE, PATH_SIZE = 4096 };

/* The text of the file, to be freed, or NULL with the reason; without one if there is no file. */
static HChar* text_of(const HChar* path, SizeT* length, tlb_reason* why)
{
   struct vg_stat st;
   const SysRes opened = VG_(open)(path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
   why->text[0] = '\0';
   if (sr_isError(opened)) {
      if (sr_Err(opened) != VKI_ENOENT && sr_Err(opened) != VKI_ENOTDIR)
         VG_(snprintf)(why->text, sizeof why->text, "it cannot be opened: %s",
                       tg_file_why(sr_Err(opened)));
      return NULL;
   }
   const Int fd = (Int)sr_Res(opened);
   HChar* text = NULL;
   if (VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode) || st.size > MOST_BYTES) {
      VG_(snprintf)(why->text, sizeof why->text, "it is no machine file");
   } else {
      text = VG_(malloc)("tg.host.file", (SizeT)st.size + 1);
      const Int n = VG_(read)(fd, text, (Int)st.size);
      *length = n > 0 ? (SizeT)n : 0;
   }
   VG_(close)(fd);
   return text;
}

/* Returns whether there is such a file. */
static Bool take_measured(tlb_machine* m)
{
   HChar path[PATH_SIZE];
   tlb_reason why;
   SizeT length = 0;
   if (!tlb_measured_can_be_used(tlb_cpuid_here, NULL)
       || !tlb_measured_file(VG_(getenv)("XDG_CONFIG_HOME"), VG_(getenv)("HOME"), path,
                             sizeof path))
      return False;
   HChar* text = text_of(path, &length, &why);
   const Bool there = text != NULL || why.text[0] != '\0';
   if (text != NULL && tlb_measured_costs_take(text, length, m, &why))
      tlb_measured_costs_note(m, path, NULL);
   else if (there)
      tlb_measured_costs_note(m, path, &why);
   VG_(free)(text);
   return there;
}

/* A tlb_file_begin. */
static long read_begin(void* opaque, const char* path, char* text, size_t size)
{
   (void)opaque;
   const SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
   if (sr_isError(opened))
      return -1;
   const Int n = VG_(read)((Int)sr_Res(opened), text, (Int)size);
   VG_(close)((Int)sr_Res(opened));
   return n;
}

const HChar* tg_host_machine(tlb_machine* m)
{
   tlb_machine_here(read_begin, NULL, m);
   return take_measured(m) && m->n_notes > 0
             ? VG_(strdup)("tg.host.note", m->note[m->n_notes - 1].text)
             : NULL;
}
