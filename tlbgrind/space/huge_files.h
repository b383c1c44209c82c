/* Tracks the page size of files and System V segments in huge pages. */

#ifndef TG_HUGE_FILES_H
#define TG_HUGE_FILES_H

#include "pub_tool_basics.h"

/* Linux's flags of shmget() and memfd_create() for huge pages
   (linux/shm.h, linux/memfd.h). */
enum { TG_SHM_HUGETLB = 04000, TG_MFD_HUGETLB = 4 };

void tg_huge_files_init(void);

/* The logarithm of the huge page's size in the flags of mmap(), shmget() or memfd_create(): the
   default if they contain none, 0 if there are no huge pages of that size. */
UInt tg_huge_files_shift(UWord flags);

/* The logarithm of a segment's page size, and its length; 0: it is not in huge
   pages. */
UInt tg_huge_files_segment(Int shmid, ULong* bytes);

/* The logarithm of a file's page size, for a file of memfd_create() or on a hugetlbfs; 0: it is
   not in huge pages. */
UInt tg_huge_files_file(ULong device, ULong inode);

/* The same for a file of memfd_create(), by its descriptor. */
UInt tg_huge_files_made(Int fd);

/* To be called after shmget() or memfd_create() with these flags; the first argument is the
   call's result. */
void tg_huge_files_segment_was_made(Int shmid, ULong bytes, UWord flags);
void tg_huge_files_file_was_made(Int fd, UWord flags);

#endif
