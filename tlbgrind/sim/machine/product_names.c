/* What a processor is sold as. See sim/machine/product_names.h. */

#include "sim/machine/product_names.h"

#include "sim/base/text.h"

static const struct {
   const char *machine;
   const char *products;
} names[] = {
   { "apple-m1", "A14 Bionic" },
   { "apple-m2", "A15 Bionic" },
   { "broadwell", "Xeon E5 v4, Xeon D" },
   { "cortex-a53", "Raspberry Pi 3" },
   { "cortex-a7", "Raspberry Pi 2" },
   { "cortex-a72", "Raspberry Pi 4, Graviton 1" },
   { "cortex-a76", "Raspberry Pi 5" },
   { "goldencove", "Xeon Scalable 4th and 5th generation, Emerald Rapids" },
   { "haswell", "Xeon E5 v3" },
   { "icelake", "Xeon Scalable 3rd generation" },
   { "ivybridge", "Xeon E5 v2" },
   { "k8", "Turion, Sempron, Griffin" },
   { "kabylake", "Kaby Lake, Coffee Lake, Whiskey Lake, Amber Lake" },
   { "neoverse-v2", "Axion" },
   { "redwoodcove", "Xeon 6" },
   { "sandybridge", "Xeon E5" },
   { "skylake", "Xeon Scalable 1st and 2nd generation" },
   { "u74", "VisionFive 2" },
   { "zen1", "Ryzen 1000 and 2000, Threadripper, EPYC 7001, Naples" },
   { "zen2", "Ryzen 3000, Threadripper, EPYC 7002, Rome" },
   { "zen3", "Ryzen 5000, Threadripper, EPYC 7003, Milan" },
   { "zen4", "Ryzen 7000, Threadripper, EPYC 9004, Genoa, Bergamo" },
   { "zen5", "Ryzen 9000, Threadripper, EPYC 9005, Turin" },
   { "zx-e", "KaiXian" },
};

const char *tlb_product_names(const char *machine)
{
   for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
      if (tlb_text_same(names[i].machine, machine))
         return names[i].products;
   }
   return "";
}

/* A small letter or a digit; NUL for a separator. */
static char plain(char c)
{
   c = tlb_text_small(c);
   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '\0';
}

static int begins_with(const char *text, const char *name)
{
   unsigned n = 0;
   for (; *name != '\0'; name++) {
      if (plain(*name) == '\0')
         continue;
      while (*text != '\0' && plain(*text) == '\0')
         text++;
      if (plain(*text) != plain(*name))
         return 0;
      text++;
      n++;
   }
   return n >= 3 || (n > 0 && plain(*text) == '\0');
}

int tlb_is_called(const char *text, const char *name)
{
   for (const char *s = text; *s != '\0'; s++) {
      const int in_word = s > text && plain(s[-1]) != '\0';
      if (!in_word && plain(*s) != '\0' && begins_with(s, name))
         return 1;
   }
   return 0;
}
