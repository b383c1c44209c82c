/* Tracks the cached and dirty pages of files. See native/mapped_files.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "native/mapped_files.h"
#include "native/maps.h"

enum { MS_SYNC_ = 4 };
enum { PUNCH_HOLE = 2, ZERO_RANGE = 16 }; /* fallocate() */

static void (*listener)(Addr start, Addr end, Bool are_gone);

void tg_mapped_files_listen(void (*flushed)(Addr start, Addr end, Bool are_gone))
{
   listener = flushed;
}

static void report_clean(uint64_t native, void* opaque)
{
   UInt number;
   const Addr here = tg_maps_here(native, &number);
   (void)opaque;
   if (here != 0)
      listener(here, here + (Addr)tg_maps_page_bytes(), False);
}

/* Reports the pages that will be cleaned, if that is of interest. */
static void before_cleaning(ULong native, ULong end, ULong device, ULong inode)
{
   if (listener != NULL)
      tlb_fault_each_dirty(tg_maps_model(), native, end, device, inode, report_clean, NULL);
}

static void report_gone(uint64_t native, uint64_t end, void* opaque)
{
   UInt number;
   const Addr here = tg_maps_here(native, &number);
   (void)opaque;
   if (here == 0)
      return;
   if (listener != NULL)
      listener(here, here + (Addr)(end - native), True);
   tg_maps_forget(here, (SizeT)(end - native));
}

/* The file has lost its bytes [from, to). */
static void gone(Int fd, ULong from, ULong to, Bool copies)
{
   struct vg_stat st;
   if (VG_(fstat)(fd, &st) == 0 && VKI_S_ISREG(st.mode) && from < to)
      tlb_fault_file_gone(tg_maps_model(), st.dev, st.ino, from, to, copies, report_gone, NULL);
}

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
   before_cleaning(native, end, 0, 0);
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
   before_cleaning(0, ~0ULL, st.dev, st.ino);
   tlb_fault_written_back(tg_maps_model(), 0, ~0ULL, st.dev, st.ino);
   tg_maps_forget_all();
}

void tg_mapped_files_follow(UInt number, const UWord* args, SysRes result)
{
   if (number == __NR_write || number == __NR_writev)
      written((Int)args[0], -1, sr_Res(result));
   if (number == __NR_pwrite64)
      written((Int)args[0], pwrite_offset(args), sr_Res(result));
   if (number == __NR_ftruncate) {
      written((Int)args[0], 0, 0);
      gone((Int)args[0], args[1], ~0ULL, True);
   }
#if VG_WORDSIZE == 8
   if (number == __NR_fallocate && (args[1] & (PUNCH_HOLE | ZERO_RANGE)) != 0)
      gone((Int)args[0], args[2], args[2] + args[3], False);
#endif
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
