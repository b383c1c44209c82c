/* Room for the program's break.

   Valgrind lets the break grow by 8 MiB, whatever lies behind. A larger heap goes on
   elsewhere, in pieces for each of which malloc() keeps a little, so that other pages are
   touched than natively. */

#ifndef TG_BREAK_H
#define TG_BREAK_H

/* Lets it grow up to the next mapping, but for no more than 1 GiB (128 MiB with 32 bits).
   Before the program, or anything made for it, is mapped behind it. */
void tg_break_make_room(void);

#endif
