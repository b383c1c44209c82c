/* Which machine file describes a processor, by vendor, family and model.

   Models and families as Intel (SDM, volume 4, table 2-1) and AMD (revision
   guides of each family) number them; Centaur's as InstLatx64's dumps have them. */

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

/* AMD's and Hygon's families, from each of these models on; NULL: these have no file, for they are
   K6-2+ and K6-III+ (family 5), Hygon's second, Phoenix 2 (family 19H), whose second levels are
   others, and Zen 6 (family 1AH). */
static const struct {
   uint8_t family, from_model;
   const char *name;
} amd_files[] = {
   { 0x05, 0x09, "k6-iii" },     { 0x05, 0x0a, "geode-lx" },
   { 0x05, 0x0b, NULL },
   { 0x06, 0x0a, "k7" },         { 0x06, 0x0b, NULL },
   { 0x0f, 0x00, "k8" },         { 0x10, 0x00, "k10" },
   { 0x11, 0x00, "k8" },         { 0x12, 0x00, "llano" },
   { 0x14, 0x00, "bobcat" },
   { 0x15, 0x00, "bulldozer" },  { 0x15, 0x02, "piledriver" },
   { 0x16, 0x00, "jaguar" },     { 0x17, 0x00, "zen1" },
   { 0x17, 0x30, "zen2" },       { 0x17, 0x50, "zen1" },
   { 0x17, 0x51, "zen2" },
   { 0x18, 0x00, "zen1" },       { 0x18, 0x10, NULL },
   { 0x19, 0x00, "zen3" },       { 0x19, 0x10, "zen4" },
   { 0x19, 0x20, "zen3" },       { 0x19, 0x60, "zen4" },
   { 0x19, 0x78, NULL },         { 0x19, 0x79, "zen4" },
   { 0x1a, 0x00, "zen5" },       { 0x1a, 0x50, NULL },
   { 0x1a, 0x60, "zen5" },       { 0x1a, 0x90, NULL },
   { 0x1a, 0xb0, "zen5" },       { 0x1a, 0xc0, NULL },
   { 0x1a, 0xd0, "zen5" },
};

enum { N_AMD_FILES = sizeof amd_files / sizeof amd_files[0] };

/* Centaur's models, which Zhaoxin goes on with. */
static const struct {
   uint8_t family, model;
   const char *name;
} via_files[] = {
   { 0x06, 0x0f, "isaiah" },
   { 0x07, 0x3b, "zx-e" },
};

enum { N_VIA_FILES = sizeof via_files / sizeof via_files[0] };

/* Arrow Lake-H has small cores of two kinds; leaf 1AH has their native model, 2 for Crestmont and
   3 for Skymont, as Linux has them (arch/x86/events/intel). */
static int is_crestmont(const tlb_cpuid_reader *r)
{
   return r->model == 0xc5 && r->atom_core && tlb_bits(tlb_cpuid_leaf(r, 0x1a, 0).eax, 23, 0) == 2;
}

const char *tlb_cpuid_file_of(const tlb_cpuid_reader *r)
{
   const char *name = NULL;
   if (r->amd) {
      for (unsigned i = 0; i < N_AMD_FILES; i++) {
         if (amd_files[i].family == r->family
             && amd_files[i].from_model <= r->model)
            name = amd_files[i].name;
      }
   } else if (r->intel && r->family == 6 && is_crestmont(r)) {
      name = "crestmont";
   } else if (r->intel && r->family == 6) {
      for (unsigned i = 0; i < N_INTEL_FILES && name == NULL; i++) {
         if (intel_files[i].model == r->model
             && (intel_files[i].core == ANY
                 || (intel_files[i].core == SMALL) == r->atom_core))
            name = intel_files[i].name;
      }
   } else if (r->via) {
      for (unsigned i = 0; i < N_VIA_FILES; i++) {
         if (via_files[i].family == r->family && via_files[i].model == r->model)
            name = via_files[i].name;
      }
   }
   return name;
}
