/* The page size of files and System V segments in huge pages. */

#ifndef TG_HUGE_FILES_H
#define TG_HUGE_FILES_H

#include "pub_tool_basics.h"

/* Linux's flags of shmget() and memfd_create() that ask for huge pages
   (linux/shm.h, linux/memfd.h). */
enum { TG_SHM_HUGETLB = 04000, TG_MFD_HUGETLB = 4 };

void tg_huge_files_init(void);

/* The size of huge pages in the flags of mmap(), shmget() or memfd_create(), as
   a logarithm; the default if they name none, 0 if they name what there is not. */
UInt tg_huge_files_shift(UWord flags);

/* The logarithm of a segment's page size, and its length; 0: it is not in huge
   pages. */
UInt tg_huge_files_segment(Int shmid, ULong* bytes);

/* The logarithm of a file's page size, which the program made so or which lies on a
   hugetlbfs; 0: it is not in huge pages. */
UInt tg_huge_files_file(ULong device, ULong inode);

/* The same of one that the program made. */
UInt tg_huge_files_made(Int fd);

/* shmget() or memfd_create() has been called with these flags, and that is the
   result. */
void tg_huge_files_segment_was_made(Int shmid, ULong bytes, UWord flags);
void tg_huge_files_file_was_made(Int fd, UWord flags);

#endif
