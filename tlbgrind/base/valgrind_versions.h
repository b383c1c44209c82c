/* Every difference between versions of Valgrind that the code knows, with the version that made it.

   No other file asks for a version. What differs and needs no answer: IR operations come and go
   (3.26 took Iop_Clz64 and its kin away), so the tool makes none but those that all versions have.
   Known are 3.19 to 3.27; .ci/releases builds with 3.19, 3.24 and 3.27. */

#ifndef TG_VALGRIND_VERSIONS_H
#define TG_VALGRIND_VERSIONS_H

/* A version as a number, which can be compared. */
#define TG_VALGRIND(major, minor) ((major) * 100 + (minor))

/* --- Which debug information Valgrind reads: for programs without Valgrind, too --- */

/* From this version on it reads DWARF 5 that has the offsets of its texts in a section of their
   own, as clang and rustc write it, of more than one unit. Those before give up at it. */
#define TG_VALGRIND_READS_OFFSETS TG_VALGRIND(3, 20)

/* Units of types (-fdebug-types-section) and of split files (-gsplit-dwarf) in DWARF 5: 3.19 reads
   their headers as if they were as short as those of others, 3.24 reads them. Those between were
   not tried, and nothing is said of them. */
#define TG_VALGRIND_READS_OTHER_UNITS TG_VALGRIND(3, 20)

/* From this version on it reads sections that zstd has compressed. */
#define TG_VALGRIND_READS_ZSTD TG_VALGRIND(3, 25)

/* --- The core's interface: for the tool --- */

#ifdef VGO_linux

#include "pub_tool_basics.h"

#include "valgrind.h"

/* The version that the tool is compiled for. */
#define TG_VALGRIND_HERE TG_VALGRIND(__VALGRIND_MAJOR__, __VALGRIND_MINOR__)

/* From 3.22 on an object's symbols are read when an address in it is looked up, before that when
   it is mapped. */
#define TG_VALGRIND_READS_SYMBOLS_LATE (TG_VALGRIND_HERE >= TG_VALGRIND(3, 22))

static inline void* tg_address_itself(void* address)
{
   return address;
}

static inline void* tg_address_of_result(SysRes result)
{
   return sr_isError(result) ? NULL : (void*)sr_Res(result);
}

/* What VG_(am_shadow_alloc)() returned, as an address; NULL: there is none. In 3.19 it is that
   itself, in 3.24 a SysRes. */
#define TG_SHADOW_ADDRESS(returned) \
   _Generic((returned), void*: tg_address_itself, SysRes: tg_address_of_result)(returned)

#endif

#endif
