/* The program headers of an ELF file.

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

#endif
