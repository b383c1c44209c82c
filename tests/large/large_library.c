/* large_library.c -- a library of one function, which is loaded as many copies.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "../clients/run_work.h"

WORK(work);
