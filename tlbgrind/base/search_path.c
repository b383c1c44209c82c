/* Looks for a program. See base/search_path.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "base/search_path.h"

/* The core's, without a header for tools. */
extern Int VG_(access)(const HChar* path, Bool irusr, Bool iwusr, Bool ixusr);

HChar* tg_search_path(const HChar* program)
{
   const HChar* path = VG_(getenv)("PATH");
   HChar* folders = VG_(strdup)("tg.search_path", path == NULL ? "/usr/bin:/bin" : path);
   HChar *saved, *found = NULL;
   for (HChar* folder = VG_(strtok_r)(folders, ":", &saved); folder != NULL && found == NULL;
        folder = VG_(strtok_r)(NULL, ":", &saved)) {
      const SizeT room = VG_(strlen)(folder) + VG_(strlen)(program) + sizeof "/";
      found = VG_(malloc)("tg.search_path", room);
      VG_(snprintf)(found, (Int)room, "%s/%s", folder, program);
      if (folder[0] != '/' || VG_(access)(found, True, False, True) != 0) {
         VG_(free)(found);
         found = NULL;
      }
   }
   VG_(free)(folders);
   return found;
}
