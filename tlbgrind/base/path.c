/* Takes paths apart. See base/path.h. */

#include "pub_tool_basics.h"

#include "base/path.h"

/* The core's strrchr() ignores the first character. */
const HChar* tg_path_file(const HChar* path)
{
   const HChar* last = path;
   for (const HChar* at = path; *at != '\0'; at++) {
      if (*at == '/')
         last = at + 1;
   }
   return last;
}
