/* Reads build IDs of ELF files, which distinguish files of the same name. */

#ifndef TG_BUILD_ID_H
#define TG_BUILD_ID_H

#include "pub_tool_basics.h"

/* Room for 64 bytes in hexadecimal digits, more than any linker makes. */
enum { TG_BUILD_ID_TEXT = 2 * 64 + 1 };

/* The build ID of an ELF file (the GNU note NT_GNU_BUILD_ID in a segment
   PT_NOTE) in hexadecimal digits, or "-" if it has none, is no ELF file or
   can not be read. */
void tg_build_id(const HChar* file, HChar id[TG_BUILD_ID_TEXT]);

#endif
