/* IBM's processors by the version in their register PVR.

   The numbers are those that Linux has in arch/powerpc/include/asm/reg.h. */

#include "sim/machine/power_models.h"

#include <stddef.h>

static const struct {
   uint16_t version;
   const char *name;
} files[] = {
   { 0x0035, "power4" },  { 0x0038, "power4" }, /* POWER4+ */
   { 0x0039, "ppc970" },  { 0x003c, "ppc970" }, /* 970FX */
   { 0x0044, "ppc970" },  { 0x0045, "ppc970" }, /* 970MP, 970GX */
   { 0x003f, "power7" },  { 0x004a, "power7" }, /* POWER7+ */
   { 0x004b, "power8" },  { 0x004c, "power8" }, /* POWER8E, with NVLink */
   { 0x004d, "power8" },  { 0x004e, "power9" },
   { 0x0080, "power10" }, { 0x0082, "power11" },
};

const char *tlb_power_file(uint32_t version)
{
   for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
      if (files[i].version == version)
         return files[i].name;
   }
   return NULL;
}
