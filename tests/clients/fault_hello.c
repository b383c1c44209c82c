/* The least that a program does. */

#include <stdio.h>

int main(void)
{
   puts("hello");
   return 0;
}
