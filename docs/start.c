/* start.c -- a program that is mostly its start: many functions of which it calls a few, tables of
   pointers, a locale. The example of start-up.md.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL(F) FOUR(F, 0) FOUR(F, 1) FOUR(F, 2) FOUR(F, 3)
#define FOUR(F, a) SIXTEEN(F, a##0) SIXTEEN(F, a##1) SIXTEEN(F, a##2) SIXTEEN(F, a##3)
#define SIXTEEN(F, b) EIGHT(F, b##0) EIGHT(F, b##1)
#define EIGHT(F, c) F(c##0) F(c##1) F(c##2) F(c##3) F(c##4) F(c##5) F(c##6) F(c##7)

/* A command of the program, with code for cases that a start does not have. */
#define COMMAND(n)                                                   \
   static int command_##n(const char* text)                          \
   {                                                                 \
      if (text[0] == '!')                                            \
         __asm__ volatile(".skip 1600, 0x90");                       \
      return (int)strlen(text) + #n[0];                              \
   }
ALL(COMMAND)

struct entry {
   const char* name;
   int (*run)(const char*);
   char help[112];
};
#define ENTRY(n) { "command " #n, command_##n, "does " #n },
static struct entry commands[] = { ALL(ENTRY) };
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char* known[COMMANDS];
static int counts[1 << 14];

int main(void)
{
   int sum = 0;
   setlocale(LC_ALL, "");
   for (int i = 0; i < COMMANDS; i++)
      known[i] = strdup(commands[i].name);
   for (int i = 0; i < COMMANDS; i += 9)
      counts[i * 60 % (1 << 14)] = commands[i].run(known[i]);
   for (int i = 0; i < 1 << 14; i += 1024)
      sum += counts[i];
   printf("%d commands, %d\n", COMMANDS, sum);
   return 0;
}
