/* Tracks files and segments in huge pages. See space/huge_files.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "sim/machine/geometry.h"

#include "space/huge_files.h"
#include "base/proc_file.h"

/* Linux's numbers: 6 bits of the flags have the size's logarithm, or 0 for the default
   (asm-generic/hugetlb_encode.h). */
enum { LINUX_HUGE_SHIFT = 26, LINUX_HUGE_MASK = 0x3f, DEFAULT_SHIFT = 21 };

typedef struct {
   Int shmid;
   UInt shift;
   ULong bytes;
} Segment;

/* A file of memfd_create(). */
typedef struct {
   ULong device;
   ULong inode;
   UInt shift;
} File;

static XArray* segments; /* Segment */
static XArray* files;    /* File */

void tg_huge_files_init(void)
{
   segments = VG_(newXA)(VG_(malloc), "tg.huge.segments", VG_(free),
                         sizeof(Segment));
   files = VG_(newXA)(VG_(malloc), "tg.huge.files", VG_(free), sizeof(File));
}

/* `shift`, or 0 if there are no huge pages of that size. */
static UInt possible(UInt shift)
{
   return shift < 16 || shift > TLB_MAX_PAGE_SHIFT ? 0 : shift;
}

UInt tg_huge_files_shift(UWord flags)
{
   const UInt shift = (UInt)(flags >> LINUX_HUGE_SHIFT) & LINUX_HUGE_MASK;
   return shift == 0 ? DEFAULT_SHIFT : possible(shift);
}

UInt tg_huge_files_segment(Int shmid, ULong* bytes)
{
   for (Word i = 0; i < VG_(sizeXA)(segments); i++) {
      const Segment* s = VG_(indexXA)(segments, i);
      if (s->shmid == shmid) {
         *bytes = s->bytes;
         return s->shift;
      }
   }
   return 0;
}

static UInt made_file(ULong device, ULong inode)
{
   for (Word i = 0; i < VG_(sizeXA)(files); i++) {
      const File* f = VG_(indexXA)(files, i);
      if (f->device == device && f->inode == inode)
         return f->shift;
   }
   return 0;
}

UInt tg_huge_files_file(ULong device, ULong inode)
{
   const UInt shift = made_file(device, inode);
   return shift != 0 ? shift : possible(tg_proc_file_system(device).huge_shift);
}

UInt tg_huge_files_made(Int fd)
{
   struct vg_stat st;
   if (VG_(sizeXA)(files) == 0 || VG_(fstat)(fd, &st) != 0)
      return 0;
   return made_file(st.dev, st.ino);
}

/* The kernel reuses identifiers of segments. */
static void forget_segment(Int shmid)
{
   for (Word i = VG_(sizeXA)(segments) - 1; i >= 0; i--) {
      const Segment* s = VG_(indexXA)(segments, i);
      if (s->shmid == shmid)
         VG_(removeIndexXA)(segments, i);
   }
}

/* shmget() may return an existing segment. Then the size of this call is ignored: the segment keeps
   that of its creation. */
void tg_huge_files_segment_was_made(Int shmid, ULong bytes, UWord flags)
{
   ULong old;
   const UInt shift = tg_huge_files_segment(shmid, &old);
   if (!(flags & TG_SHM_HUGETLB) || (shift != 0 && bytes == 0))
      return;
   const Segment s = { shmid, tg_huge_files_shift(flags), bytes };
   forget_segment(shmid);
   VG_(addToXA)(segments, &s);
}

/* The kernel reuses inode numbers. */
static void forget_file(ULong device, ULong inode)
{
   for (Word i = VG_(sizeXA)(files) - 1; i >= 0; i--) {
      const File* f = VG_(indexXA)(files, i);
      if (f->device == device && f->inode == inode)
         VG_(removeIndexXA)(files, i);
   }
}

void tg_huge_files_file_was_made(Int fd, UWord flags)
{
   struct vg_stat st;
   const UInt shift = tg_huge_files_shift(flags);
   if (!(flags & TG_MFD_HUGETLB) || shift == 0 || VG_(fstat)(fd, &st) != 0)
      return;
   forget_file(st.dev, st.ino);
   const File f = { st.dev, st.ino, shift };
   VG_(addToXA)(files, &f);
}
