/* What the running host says in /proc and /sys. */

#ifndef TG_PROC_FILE_H
#define TG_PROC_FILE_H

#include "pub_tool_basics.h"

/* Reads the file's first bytes as a text that ends with a zero. False: it can
   not be read. */
Bool tg_proc_read(const HChar* name, HChar* out, SizeT size);

/* The whole file as a text in memory of its own, or NULL. `length` may be
   NULL. */
HChar* tg_proc_read_all(const HChar* name, SizeT* length);

/* A file system that is mounted. */
typedef struct {
   ULong device;
   Bool in_memory;  /* it has no other place than the page cache */
   UInt huge_shift; /* hugetlbfs: the logarithm of its page size; else 0 */
} TgFileSystem;

/* What is known of the device; if it is not mounted, nothing. */
TgFileSystem tg_proc_file_system(ULong device);

/* Whether the process has all of these pages of 4K in memory. */
Bool tg_proc_are_there(Addr start, UInt pages);

/* Pages of code of the vDSO, as in Linux 6.18. */
enum { TG_VDSO_PAGES = 2 };

/* The pages that the kernel gives to every process: all of them, and where its
   code begins. False: there are none. */
Bool tg_proc_vdso(ULong* start, ULong* end, ULong* code);

/* The kernel's auxiliary vector: pairs, in memory of its own, and how many with
   the last, which is zero. NULL: it can not be read. */
UWord* tg_proc_auxv(UWord* pairs);

#endif
