/* Reads the program headers of an ELF file. See base/elf_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"

#include "base/elf_file.h"

/* The fields of <elf.h> that are needed. */
enum { CLASS_AT = 4, CLASS_64 = 2, MAX_SEGMENTS = 64 };

Int tg_elf_open(const HChar* file)
{
   struct vg_stat st;
   /* Opening a pipe would block until its other end is open. */
   if (sr_isError(VG_(stat)(file, &st)) || !VKI_S_ISREG(st.mode))
      return -1;
   const SysRes r = VG_(open)(file, VKI_O_RDONLY, 0);
   return sr_isError(r) ? -1 : (Int)sr_Res(r);
}

Bool tg_elf_read(Int fd, ULong offset, void* to, UInt size)
{
   if ((ULong)(OffT)offset != offset || (Long)offset < 0
       || VG_(lseek)(fd, (OffT)offset, VKI_SEEK_SET) != (OffT)offset)
      return False;
   return VG_(read)(fd, to, (Int)size) == (Int)size;
}

/* Every program that can run has the host's byte order. */
ULong tg_elf_number(const UChar* at, UInt size)
{
   ULong n = 0;
   for (UInt i = 0; i < size; i++)
      n |= (ULong)at[i] << (8 * i);
   return n;
}

static ULong number(const UChar* at, Bool is64, UInt at64, UInt at32)
{
   return is64 ? tg_elf_number(at + at64, 8) : tg_elf_number(at + at32, 4);
}

Bool tg_elf_segment(Int fd, UInt nth, TgElfSegment* out)
{
   UChar header[64], segment[56];
   if (!tg_elf_read(fd, 0, header, 52) || VG_(memcmp)(header, "\177ELF", 4) != 0)
      return False;
   const Bool is64 = header[CLASS_AT] == CLASS_64;
   if (is64 && !tg_elf_read(fd, 0, header, sizeof header))
      return False;
   const ULong table = number(header, is64, 32, 28);
   const ULong entry = tg_elf_number(header + (is64 ? 54 : 42), 2);
   const ULong n = tg_elf_number(header + (is64 ? 56 : 44), 2);
   if (nth >= n || nth >= MAX_SEGMENTS
       || !tg_elf_read(fd, table + nth * entry, segment, is64 ? 56 : 32))
      return False;
   *out = (TgElfSegment){ .type = (UInt)tg_elf_number(segment, 4),
                          .flags = (UInt)tg_elf_number(segment + (is64 ? 4 : 24), 4),
                          .offset = number(segment, is64, 8, 4),
                          .address = number(segment, is64, 16, 8),
                          .size = number(segment, is64, 32, 16) };
   return True;
}
