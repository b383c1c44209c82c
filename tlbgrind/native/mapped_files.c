/* Tracks the cached and dirty pages of files. See native/mapped_files.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "native/mapped_files.h"
#include "native/maps.h"

enum { MS_SYNC_ = 4 };

static Long pwrite_offset(const UWord* args)
{
#if VG_WORDSIZE == 8
   return (Long)args[3];
#else
   return (Long)((ULong)args[4] << 32 | args[3]);
#endif
}

/* Bytes were written at `offset`; -1: up to the file's current position. */
static void written(Int fd, Long offset, UWord bytes)
{
   struct vg_stat st;
   if (VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode))
      return;
   if (offset < 0)
      offset = (Long)VG_(lseek)(fd, 0, VKI_SEEK_CUR) - (Long)bytes;
   if (offset >= 0)
      tlb_fault_file_written(tg_maps_model(), st.dev, st.ino, (ULong)offset, bytes,
                             (ULong)st.size);
}

static void write_back_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_written_back(tg_maps_model(), native, end, 0, 0);
}

static void written_back_there(Addr a, SizeT len)
{
   tg_maps_each_part(a, len, write_back_part, NULL);
   tg_maps_forget(a, len);
}

static void written_back(Int fd)
{
   struct vg_stat st;
   if (VG_(fstat)(fd, &st) != 0 || !VKI_S_ISREG(st.mode))
      return;
   tlb_fault_written_back(tg_maps_model(), 0, ~0ULL, st.dev, st.ino);
   tg_maps_forget_all();
}

void tg_mapped_files_follow(UInt number, const UWord* args, SysRes result)
{
   if (number == __NR_write || number == __NR_writev)
      written((Int)args[0], -1, sr_Res(result));
   if (number == __NR_pwrite64)
      written((Int)args[0], pwrite_offset(args), sr_Res(result));
   if (number == __NR_ftruncate)
      written((Int)args[0], 0, 0);
   if (number == __NR_msync && (args[2] & MS_SYNC_) != 0)
      written_back_there(args[0], VG_PGROUNDUP(args[1]));
   if (number == __NR_fsync || number == __NR_fdatasync)
      written_back((Int)args[0]);
   /* The dynamic linker reads the header of an object before it maps the object. */
   struct vg_stat st;
   if (number == __NR_read && args[2] < VKI_PAGE_SIZE
       && VG_(fstat)((Int)args[0], &st) == 0 && VKI_S_ISREG(st.mode))
      tlb_fault_file_header(tg_maps_model(), st.dev, st.ino);
}
