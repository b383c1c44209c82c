/* Ends a run of a tool that was built for another version of Valgrind than the one at hand. */

#ifndef TG_VALGRIND_HERE_H
#define TG_VALGRIND_HERE_H

/* Ends the process with a message if the tools beside this one are of another version. */
void tg_valgrind_here_check(void);

#endif
