/* The segments and sections of an ELF file.

   All sizes are checked, because the file may be damaged. */

#ifndef TG_ELF_FILE_H
#define TG_ELF_FILE_H

#include "pub_tool_basics.h"

typedef struct {
   UInt type;      /* PT_LOAD and so on */
   UInt flags;     /* PF_X and so on */
   ULong offset;   /* in the file, of so many bytes */
   ULong size;
   ULong address;  /* as the file has it */
} TgElfSegment;

/* Opens a regular file; -1: there is none. To be closed with VG_(close)(). */
Int tg_elf_open(const HChar* file);

/* Reads `size` bytes at `offset` into `to`; False if there are fewer. */
Bool tg_elf_read(Int fd, ULong offset, void* to, UInt size);

/* A number of 1 to 8 bytes. */
ULong tg_elf_number(const UChar* at, UInt size);

/* Stores segment number nth, from 0; False: there is none, or the file is no ELF file. */
Bool tg_elf_segment(Int fd, UInt nth, TgElfSegment* out);

typedef struct {
   HChar name[24]; /* longer ones are cut */
   UInt type;      /* SHT_NOBITS and so on */
   ULong flags;    /* SHF_EXECINSTR and so on */
   ULong address;  /* as the file has it */
   ULong offset;   /* in the file, of so many bytes */
   ULong size;
} TgElfSection;

/* Stores section number nth, from 0; False: there is none, or the file is no ELF file. */
Bool tg_elf_section(Int fd, UInt nth, TgElfSection* out);

/* The section of that name; False: there is none. */
Bool tg_elf_section_by_name(Int fd, const HChar* name, TgElfSection* out);

/* The contents of a section, of *size bytes, to be freed by VG_(free)(). What zlib has compressed
   is inflated. NULL: there are none, they cannot be read, or they are larger than 1 GiB, 64 MiB in
   the tool for 32-bit programs. */
UChar* tg_elf_contents(Int fd, const TgElfSection* s, SizeT* size);

#endif
