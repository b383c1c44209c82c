/* Arm's processors by implementer and part number.

   The numbers are those that the vendors give in the registers' description of each core, and that
   Linux has in arch/arm64/include/asm/cputype.h (Qualcomm's and Ampere's are GCC's, too). */

#include "sim/machine/arm_models.h"

#include <stddef.h>

enum {
   ARM = 0x41,
   FUJITSU = 0x46,
   HISILICON = 0x48,
   APM = 0x50,
   QUALCOMM = 0x51,
   APPLE = 0x61,
   AMPERE = 0xc0,
};
enum { ANY = 0xffff };

static const struct {
   uint16_t implementer, part, variant;
   const char *name;
} files[] = {
   { ARM, 0xc05, ANY, "cortex-a5" },    { ARM, 0xc07, ANY, "cortex-a7" },
   { ARM, 0xc08, ANY, "cortex-a8" },    { ARM, 0xc09, ANY, "cortex-a9" },
   { ARM, 0xc0e, ANY, "cortex-a17" },   { ARM, 0xc0f, ANY, "cortex-a15" },
   { ARM, 0xd03, ANY, "cortex-a53" },   { ARM, 0xd04, ANY, "cortex-a35" },
   { ARM, 0xd05, ANY, "cortex-a55" },   { ARM, 0xd07, ANY, "cortex-a57" },
   { ARM, 0xd08, ANY, "cortex-a72" },   { ARM, 0xd09, ANY, "cortex-a73" },
   { ARM, 0xd47, ANY, "cortex-a710" },  { ARM, 0xd49, ANY, "neoverse-n2" },
   { ARM, 0xd8c, ANY, "c1-ultra" },     { ARM, 0xd0b, ANY, "cortex-a76" },
   { ARM, 0xd0c, ANY, "neoverse-n1" },  { ARM, 0xd40, ANY, "neoverse-v1" },
   { ARM, 0xd48, ANY, "cortex-x2" },    { ARM, 0xd4f, ANY, "neoverse-v2" },
   { ARM, 0xd84, ANY, "neoverse-v3" },  { ARM, 0xd85, ANY, "cortex-x925" },
   { ARM, 0xd87, ANY, "cortex-a725" },  { ARM, 0xd8e, ANY, "neoverse-n3" },
   { ARM, 0xd46, ANY, "cortex-a510" },  { ARM, 0xd44, ANY, "cortex-x1" },
   { ARM, 0xd4e, ANY, "cortex-x3" },    { AMPERE, 0xac3, ANY, "ampereone" },
   { FUJITSU, 0x001, ANY, "a64fx" },    { HISILICON, 0xd01, ANY, "taishan-v110" },
   /* All X-Gene have part 0; the third, eMAG, is variant 3. */
   { APM, 0x000, 3, "emag" },
   { QUALCOMM, 0xc00, ANY, "falkor" },  { QUALCOMM, 0x001, ANY, "oryon" },
   /* M1, M1 Pro, M1 Max; the same of M2. */
   { APPLE, 0x022, ANY, "apple-m1-e" }, { APPLE, 0x023, ANY, "apple-m1" },
   { APPLE, 0x024, ANY, "apple-m1-e" }, { APPLE, 0x025, ANY, "apple-m1" },
   { APPLE, 0x028, ANY, "apple-m1-e" }, { APPLE, 0x029, ANY, "apple-m1" },
   { APPLE, 0x032, ANY, "apple-m2-e" }, { APPLE, 0x033, ANY, "apple-m2" },
   { APPLE, 0x034, ANY, "apple-m2-e" }, { APPLE, 0x035, ANY, "apple-m2" },
   { APPLE, 0x038, ANY, "apple-m2-e" }, { APPLE, 0x039, ANY, "apple-m2" },
};

const char *tlb_arm_file(uint32_t implementer, uint32_t part, uint32_t variant)
{
   for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
      if (files[i].implementer == implementer && files[i].part == part
          && (files[i].variant == ANY || files[i].variant == variant))
         return files[i].name;
   }
   return NULL;
}
