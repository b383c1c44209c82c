/* Makes a function that reads 4096 pages, and says what it is called, in a perf map. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
   static const unsigned char code[] = {
      0x31, 0xc0,                         /*    xor  %eax, %eax */
      0x48, 0x03, 0x07,                   /* 1: add  (%rdi), %rax */
      0x48, 0x81, 0xc7, 0, 0x10, 0, 0,    /*    add  $4096, %rdi */
      0x48, 0xff, 0xce,                   /*    dec  %rsi */
      0x75, 0xf1,                         /*    jnz  1b */
      0xc3,                               /*    ret */
   };
   char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   char *pages = mmap(NULL, 4096 * 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   char name[64];
   long sum = 0;

   memcpy(made, code, sizeof code);
   snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
   FILE *map = fopen(name, "w");
   fprintf(map, "%lx %zx read_pages\n", (unsigned long)made, sizeof code);
   fclose(map);

   for (int i = 0; i < 50; i++)
      sum += ((long (*)(char *, long))made)(pages, 4096);
   unlink(name);
   return (int)sum;
}
