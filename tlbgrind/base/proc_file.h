/* Reads files of /proc and /sys: file systems, vDSO, auxiliary vector. */

#ifndef TG_PROC_FILE_H
#define TG_PROC_FILE_H

#include "pub_tool_basics.h"

/* Reads the file's first size - 1 bytes, and adds a zero. False: it cannot be read. */
Bool tg_proc_read(const HChar* name, HChar* out, SizeT size);

/* Reads the whole file as a text, to be freed; NULL: it cannot be read. `length` may be NULL. */
HChar* tg_proc_read_all(const HChar* name, SizeT* length);

/* Reads where the symbolic link leads to, as a text. 0: it is none, or longer than size - 1. */
SizeT tg_proc_link(const HChar* name, HChar* out, SizeT size);

/* The same for the link of an open descriptor: its file, or what else it is. */
SizeT tg_proc_descriptor(Int fd, HChar* out, SizeT size);

/* A file system that is mounted. */
typedef struct {
   ULong device;
   Bool in_memory;  /* its files are in the page cache only, as in tmpfs */
   Bool is_unaligned; /* mmap() does not align its files for huge pages */
   UInt huge_shift; /* hugetlbfs: the logarithm of its page size; else 0 */
} TgFileSystem;

/* The file system of the device. If it is not mounted, the other members are 0. */
TgFileSystem tg_proc_file_system(ULong device);

/* Whether all of these pages of 4K are present in the process. */
Bool tg_proc_are_there(Addr start, UInt pages);

/* The kernel's version, major and minor. False: it does not tell. */
Bool tg_proc_linux(UInt version[2]);

/* Whether it is this version or a later one. */
Bool tg_proc_linux_is(UInt major, UInt minor);

/* The bytes of this kernel's transparent huge pages: what one page table maps, and what mmap()
   aligns to. As much as entries of 8 bytes in a base page, if the kernel does not tell. */
ULong tg_proc_huge_bytes(void);

/* The bytes that the code of this kernel's vDSO takes. */
SizeT tg_proc_vdso_bytes(void);

/* The pages that the kernel maps into every process: [*start, *end), data first, and the vDSO's
   code from *code on. False: there are none. */
Bool tg_proc_vdso(ULong* start, ULong* end, ULong* code);

/* Reads the kernel's auxiliary vector, to be freed; `pairs`: their number, with the last one,
   AT_NULL. NULL: it cannot be read. */
UWord* tg_proc_auxv(UWord* pairs);

#endif
