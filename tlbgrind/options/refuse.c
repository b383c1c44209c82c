/* Ends a run because of an option. See options/refuse.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_vki.h"

#include "sim/base/text.h"

#include "options/refuse.h"

void tg_refuse(const HChar* arg, const HChar* format, ...)
{
   HChar reason[VKI_PATH_MAX + 512];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(reason, sizeof reason, format, args);
   va_end(args);
   HChar option[sizeof reason], shown[sizeof reason];
   tlb_text text = tlb_text_in(option, sizeof option);
   tlb_text_add(&text, arg);
   text = tlb_text_in(shown, sizeof shown);
   tlb_text_add(&text, reason);
   VG_(fmsg_bad_option)(option, "%s\n", shown);
   VG_(exit)(1);
}

const HChar* tg_shortened(const HChar* value, HChar out[TG_SHORTENED])
{
   static const HChar cut[] = "...";
   const SizeT length = VG_(strlen)(value);
   if (length < TG_SHORTENED) {
      VG_(strcpy)(out, value);
   } else {
      VG_(memcpy)(out, value, TG_SHORTENED - sizeof cut);
      VG_(strcpy)(out + TG_SHORTENED - sizeof cut, cut);
   }
   return out;
}
