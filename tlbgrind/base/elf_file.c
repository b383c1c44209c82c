/* Reads the segments and sections of an ELF file. See base/elf_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "base/elf_file.h"

/* The fields of <elf.h> that are needed. */
enum { CLASS_AT = 4, CLASS_64 = 2, MAX_SEGMENTS = 64, SHT_NOBITS = 8, SHF_COMPRESSED = 0x800,
       ELFCOMPRESS_ZLIB = 1 };

/* The largest section that is read, and the most that one is inflated to. The core ends the tool
   where there is no memory, of which a 32-bit program leaves little. */
enum { MAX_CONTENTS = sizeof(UWord) == 8 ? 1 << 30 : 1 << 26 };

/* The core's, without a header for tools: it reads compressed debug information with it. Returns
   the number of bytes, less than 0 (as SizeT, so large) if the data are damaged. */
extern SizeT tinfl_decompress_mem_to_mem(void* to, SizeT to_size, const void* from, SizeT size,
                                         Int flags);
enum { TINFL_FLAG_PARSE_ZLIB_HEADER = 1 };

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

/* The file's header; False: it is no ELF file. */
static Bool read_header(Int fd, UChar header[64], Bool* is64)
{
   if (!tg_elf_read(fd, 0, header, 52) || VG_(memcmp)(header, "\177ELF", 4) != 0)
      return False;
   *is64 = header[CLASS_AT] == CLASS_64;
   return !*is64 || tg_elf_read(fd, 0, header, 64);
}

Bool tg_elf_segment(Int fd, UInt nth, TgElfSegment* out)
{
   UChar header[64], segment[56];
   Bool is64;
   if (!read_header(fd, header, &is64))
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

static Bool read_section_header(Int fd, const UChar* header, Bool is64, ULong nth,
                                UChar section[64])
{
   const ULong table = number(header, is64, 40, 32);
   const ULong entry = tg_elf_number(header + (is64 ? 58 : 46), 2);
   const ULong n = tg_elf_number(header + (is64 ? 60 : 48), 2);
   return nth < n && tg_elf_read(fd, table + nth * entry, section, is64 ? 64 : 40);
}

/* Reads the text that begins at `offset`, as much of it as there is room for. */
static void read_text(Int fd, ULong offset, HChar* to, UInt room)
{
   VG_(memset)(to, 0, room);
   if (VG_(lseek)(fd, (OffT)offset, VKI_SEEK_SET) == (OffT)offset)
      VG_(read)(fd, to, (Int)room - 1);
}

Bool tg_elf_section(Int fd, UInt nth, TgElfSection* out)
{
   UChar header[64], section[64], names[64];
   Bool is64;
   if (!read_header(fd, header, &is64) || !read_section_header(fd, header, is64, nth, section)
       || !read_section_header(fd, header, is64, tg_elf_number(header + (is64 ? 62 : 50), 2),
                               names))
      return False;
   *out = (TgElfSection){ .type = (UInt)tg_elf_number(section + 4, 4),
                          .flags = number(section, is64, 8, 8),
                          .address = number(section, is64, 16, 12),
                          .offset = number(section, is64, 24, 16),
                          .size = number(section, is64, 32, 20) };
   read_text(fd, number(names, is64, 24, 16) + tg_elf_number(section, 4), out->name,
             sizeof out->name);
   return True;
}

Bool tg_elf_section_by_name(Int fd, const HChar* name, TgElfSection* out)
{
   for (UInt i = 0; tg_elf_section(fd, i, out); i++) {
      if (VG_(strcmp)(out->name, name) == 0)
         return True;
   }
   return False;
}

/* The header of a compressed section is of 12 or 24 bytes: how, [nothing,] size, alignment. */
static UChar* inflate(UChar* from, SizeT size, Bool is64, SizeT* inflated)
{
   const SizeT head = is64 ? 24 : 12;
   if (size < head || tg_elf_number(from, 4) != ELFCOMPRESS_ZLIB)
      return NULL;
   const ULong bytes = number(from, is64, 8, 4);
   if (bytes == 0 || bytes > MAX_CONTENTS)
      return NULL;
   UChar* to = VG_(malloc)("tg.elf.inflated", (SizeT)bytes);
   *inflated = tinfl_decompress_mem_to_mem(to, (SizeT)bytes, from + head, size - head,
                                           TINFL_FLAG_PARSE_ZLIB_HEADER);
   if (*inflated == bytes)
      return to;
   VG_(free)(to);
   return NULL;
}

UChar* tg_elf_contents(Int fd, const TgElfSection* s, SizeT* size)
{
   UChar header[64];
   Bool is64;
   if (s->type == SHT_NOBITS || s->size == 0 || s->size > MAX_CONTENTS
       || !read_header(fd, header, &is64))
      return NULL;
   *size = (SizeT)s->size;
   UChar* contents = VG_(malloc)("tg.elf.contents", *size);
   const Bool is_read = tg_elf_read(fd, s->offset, contents, (UInt)*size);
   if (is_read && (s->flags & SHF_COMPRESSED) == 0)
      return contents;
   UChar* inflated = is_read ? inflate(contents, *size, is64, size) : NULL;
   VG_(free)(contents);
   return inflated;
}
