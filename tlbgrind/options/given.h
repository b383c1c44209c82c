/* The arguments of the command line, whole and in order, for what reads them when all are known.

   An option is asked for by its name, or by any argument of it: "--pages" or "--pages=all:2M". */

#ifndef TG_GIVEN_H
#define TG_GIVEN_H

#include "pub_tool_basics.h"

/* Notes an argument, and returns the copy that stays. An equal one loses its place: the core may
   pass the arguments a second time. */
const HChar* tg_given_note(const HChar* arg);

/* The option's last argument; NULL: it is not given. */
const HChar* tg_given(const HChar* option);

/* The option's arguments, one by one; NULL: there are no more. */
const HChar* tg_given_nth(const HChar* option, UInt nth);

/* The place of the option's last argument among all; -1: it is not given. */
Word tg_given_place(const HChar* option);

/* What stands behind the argument's equals sign. */
const HChar* tg_given_value(const HChar* arg);

#endif
