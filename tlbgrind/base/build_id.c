/* Reads the build ID of an ELF file. See base/build_id.h.

   Only the header, the table of segments and the notes are read. All sizes are checked, because
   the file may be damaged. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_vki.h"

#include "base/build_id.h"

/* The fields of <elf.h> that are needed. */
enum {
   CLASS_AT = 4, CLASS_64 = 2,
   PT_NOTE = 4, NT_GNU_BUILD_ID = 3,
   MAX_NOTES = 4096, MAX_SEGMENTS = 64
};

/* Reads `size` bytes at `offset` into `to`; False if there are fewer. */
static Bool read_at(Int fd, ULong offset, void* to, UInt size)
{
   if ((ULong)(OffT)offset != offset || (Long)offset < 0
       || VG_(lseek)(fd, (OffT)offset, VKI_SEEK_SET) != (OffT)offset)
      return False;
   return VG_(read)(fd, to, (Int)size) == (Int)size;
}

/* A number in the host's byte order, which is that of every program that can run. */
static ULong field(const UChar* at, UInt size)
{
   ULong n = 0;
   for (UInt i = 0; i < size; i++)
      n |= (ULong)at[i] << (8 * i);
   return n;
}

static Bool find_in_notes(const UChar* note, UInt size,
                          HChar id[TG_BUILD_ID_TEXT])
{
   UInt at = 0;
   while (size - at >= 16) {
      const ULong name_size = field(note + at, 4);
      const ULong id_size = field(note + at + 4, 4);
      const ULong type = field(note + at + 8, 4);
      const ULong id_at = at + 12 + ((name_size + 3) & ~3ULL);
      const ULong next = id_at + ((id_size + 3) & ~3ULL);
      if (id_at + id_size > size)
         return False;
      if (type == NT_GNU_BUILD_ID && name_size == 4
          && VG_(memcmp)(note + at + 12, "GNU", 4) == 0
          && id_size > 0 && 2 * id_size < TG_BUILD_ID_TEXT) {
         for (ULong i = 0; i < id_size; i++)
            VG_(sprintf)(id + 2 * i, "%02x", note[id_at + i]);
         return True;
      }
      if (next > size)
         return False;
      at = (UInt)next;
   }
   return False;
}

static Bool find(Int fd, HChar id[TG_BUILD_ID_TEXT])
{
   UChar header[64], segment[56], notes[MAX_NOTES];
   if (!read_at(fd, 0, header, 52) || VG_(memcmp)(header, "\177ELF", 4) != 0)
      return False;
   const Bool is64 = header[CLASS_AT] == CLASS_64;
   if (is64 && !read_at(fd, 0, header, sizeof header))
      return False;
   const ULong table = is64 ? field(header + 32, 8) : field(header + 28, 4);
   const ULong entry = is64 ? field(header + 54, 2) : field(header + 42, 2);
   const ULong n = is64 ? field(header + 56, 2) : field(header + 44, 2);
   for (ULong i = 0; i < n && i < MAX_SEGMENTS; i++) {
      if (!read_at(fd, table + i * entry, segment, is64 ? 56 : 32))
         return False;
      if (field(segment, 4) != PT_NOTE)
         continue;
      const ULong offset = is64 ? field(segment + 8, 8)
                                : field(segment + 4, 4);
      const ULong size = is64 ? field(segment + 32, 8)
                              : field(segment + 16, 4);
      if (size <= sizeof notes && read_at(fd, offset, notes, (UInt)size)
          && find_in_notes(notes, (UInt)size, id))
         return True;
   }
   return False;
}

void tg_build_id(const HChar* file, HChar id[TG_BUILD_ID_TEXT])
{
   Bool found = False;
   struct vg_stat st;
   /* Opening a pipe would block until its other end is open. */
   if (!sr_isError(VG_(stat)(file, &st)) && VKI_S_ISREG(st.mode)) {
      const SysRes r = VG_(open)(file, VKI_O_RDONLY, 0);
      if (!sr_isError(r)) {
         found = find((Int)sr_Res(r), id);
         VG_(close)((Int)sr_Res(r));
      }
   }
   if (!found)
      VG_(strcpy)(id, "-");
}
