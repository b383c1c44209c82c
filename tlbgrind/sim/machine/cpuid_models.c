/* Which machine file describes a processor, by vendor, family and model.

   Models and families as Intel (SDM, volume 4, table 2-1) and AMD (revision
   guides of each family) number them; Centaur's as InstLatx64's dumps have them. */

#include "sim/machine/cpuid_models.h"

#include "sim/machine/cpuid_reader.h"

enum { BIG, SMALL, ANY };

/* Intel's models of family 6. A hybrid processor has a big and a small core. */
static const struct {
   uint8_t model, core;
   const char *name;
} intel_files[] = {
   { 0x0e, ANY, "core-duo-t2600" },
   { 0x0f, ANY, "core2" }, { 0x16, ANY, "core2" }, { 0x17, ANY, "core2" },
   { 0x1d, ANY, "core2" },
   { 0x1c, ANY, "bonnell" }, { 0x26, ANY, "bonnell" },
   { 0x27, ANY, "bonnell" }, { 0x35, ANY, "bonnell" },
   { 0x36, ANY, "bonnell" },
   { 0x37, ANY, "silvermont" }, { 0x4a, ANY, "silvermont" },
   { 0x4d, ANY, "silvermont" }, { 0x5a, ANY, "silvermont" },
   { 0x5d, ANY, "silvermont" },
   { 0x4c, ANY, "airmont" },
   { 0x5c, ANY, "goldmont" }, { 0x5f, ANY, "goldmont" },
   { 0x1a, ANY, "nehalem" }, { 0x1e, ANY, "nehalem" },
   { 0x1f, ANY, "nehalem" }, { 0x2e, ANY, "nehalem" },
   { 0x25, ANY, "nehalem" }, { 0x2c, ANY, "nehalem" },
   { 0x2f, ANY, "nehalem" },
   { 0x2a, ANY, "sandybridge" }, { 0x2d, ANY, "sandybridge" },
   { 0x3a, ANY, "ivybridge" }, { 0x3e, ANY, "ivybridge" },
   { 0x3c, ANY, "haswell" }, { 0x3f, ANY, "haswell" },
   { 0x45, ANY, "haswell" }, { 0x46, ANY, "haswell" },
   { 0x3d, ANY, "broadwell" }, { 0x47, ANY, "broadwell" },
   { 0x4f, ANY, "broadwell" }, { 0x56, ANY, "broadwell" },
   { 0x4e, ANY, "skylake" }, { 0x5e, ANY, "skylake" },
   { 0x55, ANY, "skylake" }, { 0x66, ANY, "skylake" },
   { 0x8e, ANY, "kabylake" }, { 0x9e, ANY, "kabylake" },
   { 0xa5, ANY, "kabylake" }, { 0xa6, ANY, "kabylake" },
   { 0x57, ANY, "knl" }, { 0x85, ANY, "knl" },
   { 0x7a, ANY, "goldmont-plus" },
   { 0x86, ANY, "tremont" }, { 0x96, ANY, "tremont" },
   { 0x9c, ANY, "tremont" },
   { 0x6a, ANY, "icelake" }, { 0x6c, ANY, "icelake" },
   { 0x7d, ANY, "icelake" }, { 0x7e, ANY, "icelake" },
   { 0xa7, ANY, "icelake" },
   { 0x8a, BIG, "icelake" }, { 0x8a, SMALL, "tremont" },
   { 0x8c, ANY, "tigerlake" }, { 0x8d, ANY, "tigerlake" },
   { 0x8f, ANY, "goldencove" }, { 0xcf, ANY, "goldencove" },
   { 0x97, BIG, "goldencove" }, { 0x9a, BIG, "goldencove" },
   { 0xb7, BIG, "goldencove" }, { 0xba, BIG, "goldencove" },
   { 0xbf, BIG, "goldencove" }, { 0xd7, ANY, "goldencove" },
   { 0x97, SMALL, "gracemont" }, { 0x9a, SMALL, "gracemont" },
   { 0xb7, SMALL, "gracemont" }, { 0xba, SMALL, "gracemont" },
   { 0xbf, SMALL, "gracemont" }, { 0xbe, ANY, "gracemont" },
   { 0xaa, BIG, "redwoodcove" }, { 0xac, BIG, "redwoodcove" },
   { 0xb5, BIG, "redwoodcove" }, { 0xad, ANY, "redwoodcove" },
   { 0xae, ANY, "redwoodcove" },
   { 0xaa, SMALL, "crestmont" }, { 0xac, SMALL, "crestmont" },
   { 0xb5, SMALL, "crestmont" }, { 0xaf, ANY, "crestmont" },
   { 0xbd, BIG, "lioncove" }, { 0xc5, BIG, "lioncove" },
   { 0xc6, BIG, "lioncove" },
   { 0xcc, BIG, "cougarcove" }, { 0xd5, BIG, "cougarcove" },
   { 0xbd, SMALL, "skymont" }, { 0xc5, SMALL, "skymont" },
   { 0xc6, SMALL, "skymont" }, { 0xcc, SMALL, "skymont" },
   { 0xd5, SMALL, "skymont" }, { 0xdd, ANY, "skymont" },
};

enum { N_INTEL_FILES = sizeof intel_files / sizeof intel_files[0] };

/* AMD's and Hygon's families, with the models of each as Linux knows them
   (arch/x86/kernel/cpu/amd.c). Not here, because their second levels are others or not known: K6-2+
   and K6-III+ (family 5), Hygon's later ones, Phoenix 2 (19H, model 78H), Zen 6 (1AH). */
static const struct {
   uint8_t family, from_model, to_model;
   const char *name;
} amd_files[] = {
   { 0x05, 0x09, 0x09, "k6-iii" },     { 0x05, 0x0a, 0x0a, "geode-lx" },
   { 0x06, 0x0a, 0x0a, "k7" },
   { 0x0f, 0x00, 0xff, "k8" },         { 0x10, 0x00, 0xff, "k10" },
   { 0x11, 0x00, 0xff, "k8" },         { 0x12, 0x00, 0xff, "llano" },
   { 0x14, 0x00, 0xff, "bobcat" },
   { 0x15, 0x00, 0x01, "bulldozer" },  { 0x15, 0x02, 0xff, "piledriver" },
   { 0x16, 0x00, 0xff, "jaguar" },
   { 0x17, 0x00, 0x2f, "zen1" },       { 0x17, 0x30, 0x4f, "zen2" },
   { 0x17, 0x50, 0x5f, "zen1" },       { 0x17, 0x60, 0x7f, "zen2" },
   { 0x17, 0x90, 0x91, "zen2" },       { 0x17, 0xa0, 0xaf, "zen2" },
   { 0x18, 0x00, 0x0f, "zen1" },
   { 0x19, 0x00, 0x0f, "zen3" },       { 0x19, 0x10, 0x1f, "zen4" },
   { 0x19, 0x20, 0x5f, "zen3" },       { 0x19, 0x60, 0x77, "zen4" },
   { 0x19, 0x79, 0x7f, "zen4" },       { 0x19, 0xa0, 0xaf, "zen4" },
   { 0x1a, 0x00, 0x2f, "zen5" },       { 0x1a, 0x40, 0x4f, "zen5" },
   { 0x1a, 0x60, 0x7f, "zen5" },       { 0x1a, 0xd0, 0xd7, "zen5" },
};

enum { N_AMD_FILES = sizeof amd_files / sizeof amd_files[0] };

/* Centaur's models, which Zhaoxin goes on with. */
static const struct {
   uint8_t family, model;
   const char *name;
} via_files[] = {
   { 0x06, 0x0f, "isaiah" },
   { 0x07, 0x3b, "zx-e" },
   { 0x07, 0x6b, "kx-7000" },
};

enum { N_VIA_FILES = sizeof via_files / sizeof via_files[0] };

const char *tlb_model_file(const char *vendor, unsigned family, unsigned model, int small)
{
   const int via = tlb_text_same(vendor, "CentaurHauls") || tlb_text_same(vendor, "Shanghai");
   const int amd = tlb_text_same(vendor, "AuthenticAMD") || tlb_text_same(vendor, "HygonGenuine");
   for (unsigned i = 0; amd && i < N_AMD_FILES; i++) {
      if (amd_files[i].family == family && amd_files[i].from_model <= model
          && model <= amd_files[i].to_model)
         return amd_files[i].name;
   }
   for (unsigned i = 0; via && i < N_VIA_FILES; i++) {
      if (via_files[i].family == family && via_files[i].model == model)
         return via_files[i].name;
   }
   if (!tlb_text_same(vendor, "GenuineIntel") || family != 6)
      return NULL;
   for (unsigned i = 0; i < N_INTEL_FILES; i++) {
      if (intel_files[i].model == model
          && (intel_files[i].core == ANY || (intel_files[i].core == SMALL) == small))
         return intel_files[i].name;
   }
   return NULL;
}

/* Arrow Lake-H has small cores of two kinds; leaf 1AH has their native model, 2 for Crestmont and
   3 for Skymont, as Linux has them (arch/x86/events/intel). */
static int is_crestmont(const tlb_cpuid_reader *r)
{
   return r->intel && r->family == 6 && r->model == 0xc5 && r->atom_core
          && tlb_bits(tlb_cpuid_leaf(r, 0x1a, 0).eax, 23, 0) == 2;
}

const char *tlb_cpuid_file_of(const tlb_cpuid_reader *r)
{
   return is_crestmont(r) ? "crestmont"
                          : tlb_model_file(r->vendor, r->family, r->model, r->atom_core);
}
