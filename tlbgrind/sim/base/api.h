/* Marks of public headers, and the version of libtlbsim.

   What stands between TLB_API_BEGIN and TLB_API_END is exported from the shared library
   and has the names of C, also in C++. All else is hidden.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_API_H
#define TLB_API_H

#ifdef __cplusplus
#define TLB_API_BEGIN extern "C" { _Pragma("GCC visibility push(default)")
#define TLB_API_END _Pragma("GCC visibility pop") }
#else
#define TLB_API_BEGIN _Pragma("GCC visibility push(default)")
#define TLB_API_END _Pragma("GCC visibility pop")
#endif

/* The version of these headers: that of tlbgrind, of which libtlbsim is a part. */
#define TLBSIM_VERSION_MAJOR 0
#define TLBSIM_VERSION_MINOR 1
#define TLBSIM_VERSION_MICRO 0

/* The same as one number, for comparisons: 0x000100 is 0.1.0. */
#define TLBSIM_VERSION \
   (TLBSIM_VERSION_MAJOR << 16 | TLBSIM_VERSION_MINOR << 8 | TLBSIM_VERSION_MICRO)

TLB_API_BEGIN

/* TLBSIM_VERSION of the library that the program runs with. */
unsigned tlb_version(void);

TLB_API_END

#endif
