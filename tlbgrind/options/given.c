/* The arguments of the command line. See options/given.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "options/given.h"

static XArray* args; /* const HChar* */

static Word n_args(void)
{
   return args == NULL ? 0 : VG_(sizeXA)(args);
}

static const HChar* arg_at(Word place)
{
   return *(const HChar**)VG_(indexXA)(args, place);
}

const HChar* tg_given_note(const HChar* arg)
{
   const HChar* kept = NULL;
   if (args == NULL)
      args = VG_(newXA)(VG_(malloc), "tg.given", VG_(free), sizeof kept);
   for (Word i = 0; i < n_args() && kept == NULL; i++) {
      if (VG_(strcmp)(arg_at(i), arg) != 0)
         continue;
      kept = arg_at(i);
      VG_(removeIndexXA)(args, i);
   }
   if (kept == NULL)
      kept = VG_(strdup)("tg.given", arg);
   VG_(addToXA)(args, &kept);
   return kept;
}

static Bool is_of(const HChar* arg, const HChar* option)
{
   const HChar* equals = VG_(strchr)(option, '=');
   const SizeT n = equals == NULL ? VG_(strlen)(option) : (SizeT)(equals - option);
   return VG_(strncmp)(arg, option, n) == 0 && (arg[n] == '=' || arg[n] == '\0');
}

Word tg_given_place(const HChar* option)
{
   Word place = n_args() - 1;
   while (place >= 0 && !is_of(arg_at(place), option))
      place--;
   return place;
}

const HChar* tg_given(const HChar* option)
{
   const Word place = tg_given_place(option);
   return place < 0 ? NULL : arg_at(place);
}

const HChar* tg_given_nth(const HChar* option, UInt nth)
{
   for (Word i = 0; i < n_args(); i++) {
      if (is_of(arg_at(i), option) && nth-- == 0)
         return arg_at(i);
   }
   return NULL;
}

const HChar* tg_given_value(const HChar* arg)
{
   return VG_(strchr)(arg, '=') + 1;
}
