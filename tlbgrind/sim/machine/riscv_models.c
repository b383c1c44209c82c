/* RISC-V processors by name and number.

   The names are those of Linux's device trees (Documentation/devicetree/bindings/riscv/cpus.yaml),
   without sifive,rocket0, as which several cores are known. The numbers are those of the RISC-V
   organization's list of open-source implementations (marchid.md). Others are the same for several
   cores: T-Head's are 0. */

#include "sim/machine/riscv_models.h"

#include "sim/base/text.h"

static const struct {
   const char *name, *file;
} names[] = {
   { "sifive,u54-mc", "u54" }, { "sifive,u54", "u54" },     { "sifive,u74-mc", "u74" },
   { "sifive,u74", "u74" },    { "sifive,bullet0", "u74" }, /* FU740 */
   { "sifive,p550", "p550" },  { "thead,c906", "c906" },    { "thead,c910", "c910" },
};

static const struct {
   unsigned long long marchid;
   const char *file;
} open_sources[] = { { 1, "rocket" }, { 2, "boom" }, { 3, "cva6" }, { 25, "xiangshan" } };

const char *tlb_riscv_file(const char *name, size_t n)
{
   for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      if (tlb_text_is(name, n, names[i].name))
         return names[i].file;
   }
   return NULL;
}

const char *tlb_riscv_open_file(unsigned long long marchid)
{
   for (size_t i = 0; i < sizeof open_sources / sizeof open_sources[0]; i++) {
      if (open_sources[i].marchid == marchid)
         return open_sources[i].file;
   }
   return NULL;
}
