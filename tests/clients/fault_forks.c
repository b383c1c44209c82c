/* Children that write to what they have in common with their parent, and the
   parent after them. */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3, BYTES = 600000 };

static char data[100000] = { 1 };

/* Not to be left out, though nobody looks. */
static void fill(char* p, int with, size_t bytes)
{
   memset(p, with, bytes);
   __asm__ volatile("" : : "r"(p) : "memory");
}

int main(void)
{
   char* heap = malloc(BYTES);
   fill(heap, 1, BYTES);
   for (int i = 0; i < CHILDREN; i++) {
      const pid_t child = fork();
      int status;
      if (child < 0)
         return 1;
      if (child == 0) {
         fill(heap, 2, BYTES / 2);
         fill(data, 2, sizeof data);
         _exit(0);
      }
      waitpid(child, &status, 0);
      if (status != 0)
         return 1;
      fill(heap + BYTES / 3, 3, BYTES / 3);
   }
   return heap[0] == 1 && data[0] == 1 ? 0 : 1;
}
