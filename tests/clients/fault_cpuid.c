/* Prints what CPUID answers: leaf, sub-leaf, eax, ebx, ecx, edx. */

#include <cpuid.h>
#include <stdio.h>

static void ask(unsigned leaf, unsigned sub)
{
   unsigned a = 0, b = 0, c = 0, d = 0;
   __cpuid_count(leaf, sub, a, b, c, d);
   printf("%u %u %u %u %u %u\n", leaf, sub, a, b, c, d);
}

int main(void)
{
   ask(0, 0);
   ask(7, 0);
   for (unsigned sub = 0; sub < 32; sub++)
      ask(13, sub);
   ask(0x80000000, 0);
   return 0;
}
