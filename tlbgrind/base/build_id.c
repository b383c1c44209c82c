/* Reads the build ID of an ELF file. See base/build_id.h.

   Only the header, the table of segments and the notes are read. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

#include "base/build_id.h"
#include "base/elf_file.h"

/* The fields of <elf.h> that are needed. */
enum { PT_NOTE = 4, NT_GNU_BUILD_ID = 3, MAX_NOTES = 4096 };

static Bool find_in_notes(const UChar* note, UInt size,
                          HChar id[TG_BUILD_ID_TEXT])
{
   UInt at = 0;
   while (size - at >= 16) {
      const ULong name_size = tg_elf_number(note + at, 4);
      const ULong id_size = tg_elf_number(note + at + 4, 4);
      const ULong type = tg_elf_number(note + at + 8, 4);
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
   UChar notes[MAX_NOTES];
   TgElfSegment s;
   for (UInt i = 0; tg_elf_segment(fd, i, &s); i++) {
      if (s.type == PT_NOTE && s.size <= sizeof notes
          && tg_elf_read(fd, s.offset, notes, (UInt)s.size)
          && find_in_notes(notes, (UInt)s.size, id))
         return True;
   }
   return False;
}

void tg_build_id(const HChar* file, HChar id[TG_BUILD_ID_TEXT])
{
   const Int fd = tg_elf_open(file);
   const Bool found = fd >= 0 && find(fd, id);
   if (fd >= 0)
      VG_(close)(fd);
   if (!found)
      VG_(strcpy)(id, "-");
}
