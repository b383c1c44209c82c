/* The least that a program does, without a dynamic linker. */

#include <stdio.h>

int main(void)
{
   puts("hello");
   return 0;
}
