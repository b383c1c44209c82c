/* readahead LIST [PROGRAM [ARGUMENT...]] -- asks the kernel to read what LIST names,
   and starts PROGRAM.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   LIST is from `tg_faults --readahead=LIST': a line has a file, an offset and a length, with tabs
   between. The kernel reads while the program runs. It takes no more than the disk's read_ahead_kb
   of one call, so large parts are asked for in pieces.
   Files that cannot be opened are passed by. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 128 * 1024 };

static void ask_for(const char *name, long long offset, long long length)
{
   const int fd = open(name, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return;
   for (const long long end = offset + length; offset < end; offset += PIECE)
      posix_fadvise(fd, offset, end - offset < PIECE ? end - offset : PIECE, POSIX_FADV_WILLNEED);
   close(fd);
}

int main(int argc, char **argv)
{
   char *line = NULL;
   size_t room = 0;
   FILE *list = argc > 1 ? fopen(argv[1], "re") : NULL;
   if (list == NULL) {
      fprintf(stderr, "usage: readahead LIST [PROGRAM [ARGUMENT...]]: %s\n",
              argc > 1 ? strerror(errno) : "no LIST given");
      return 1;
   }
   while (getline(&line, &room, list) > 0) {
      char *length = strrchr(line, '\t');
      if (length == NULL)
         continue;
      *length = '\0';
      char *offset = strrchr(line, '\t');
      if (offset == NULL)
         continue;
      *offset = '\0';
      ask_for(line, atoll(offset + 1), atoll(length + 1));
   }
   fclose(list);
   free(line);
   if (argc == 2)
      return 0;
   execvp(argv[2], argv + 2);
   fprintf(stderr, "readahead: %s: %s\n", argv[2], strerror(errno));
   return 127;
}
