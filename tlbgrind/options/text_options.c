/* Options whose texts are checked at once. See options/text_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "options/refuse.h"
#include "options/text_options.h"

void tg_text_options_take_entries(const HChar* arg, const HChar* value, TgOptions* o)
{
   o->entries_data = VG_(strcmp)(value, "data") == 0;
   o->entries = o->entries_data || VG_(strcmp)(value, "yes") == 0;
   if (!o->entries && VG_(strcmp)(value, "no") != 0)
      tg_refuse(arg, "'%s' is none of no, yes, data", value);
}

/* NAME:BYTES[,NAME:BYTES...]. */
void tg_text_options_take_data_stride(const HChar* arg, const HChar* value, TgOptions* o)
{
   HChar* list = VG_(strdup)("tg.options", value);
   UInt n = 1, n_found = 0;
   for (const HChar* c = value; *c != '\0'; c++)
      n += *c == ',';
   HChar* saved;
   for (HChar* one = VG_(strtok_r)(list, ",", &saved); one != NULL;
        one = VG_(strtok_r)(NULL, ",", &saved)) {
      const HChar* colon = VG_(strrchr)(one, ':');
      HChar* end;
      const ULong bytes = colon == NULL ? 0 : VG_(strtoull10)(colon + 1, &end);
      if (colon == NULL || colon == one || *end != '\0' || bytes == 0 || bytes > 65536)
         tg_refuse(arg, "'%s' is not NAME:BYTES, with 1 to 65536 bytes", one);
      n_found++;
   }
   if (n_found != n)
      tg_refuse(arg, "'%s' is not NAME:BYTES[,NAME:BYTES...]", value);
   VG_(free)(list);
   o->data_strides = value;
}

void tg_text_options_take_merge_code(const HChar* arg, const HChar* value, TgOptions* o)
{
   if (value[0] == '\0')
      tg_refuse(arg, "%s", "a pattern for the names of objects is missing, such as libfoo*.so*");
   if (VG_WORDSIZE == 4)
      tg_refuse(arg, "%s", "there is no room for merged code in 32-bit programs");
   o->merge_code = value;
}
