/* Which machine file describes a processor of the x86 family, by vendor, family and model.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_MODELS_H
#define TLB_CPUID_MODELS_H

/* The name of the file, or NULL if there is none. `small` is one of a hybrid processor's two kinds
   of core; it makes no difference where there is one kind. */
const char *tlb_model_file(const char *vendor, unsigned family, unsigned model, int small);

#endif
