/* Says where the stack begins: the stack pointer at the very first
   instruction, the dynamic linker's. */

#include <stdio.h>

/* glibc's own variable. */
extern void* __libc_stack_end;

int main(void)
{
   printf("%p\n", __libc_stack_end);
   return 0;
}
