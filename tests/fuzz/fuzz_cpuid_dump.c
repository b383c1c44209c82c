/* Fuzzes the reader of dumps of cpuid -r and the decoder behind it; dump_case.c has the checks.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

const char *const fuzz_words[] = {
   "CPU 0:\n", "CPU 1:\n", "CPU:\n", "CPU", ":", "0x", "eax=", "ebx=", "ecx=",
   "edx=", "0x00000000", "0x00000001", "0x00000002", "0x00000004", "0x00000007",
   "0x00000018", "0x0000001a", "0x40000000", "0x80000000", "0x80000001",
   "0x80000002", "0x80000005", "0x80000006", "0x80000019", "0x80000021",
   "0x80000028", "0x00", "0x01", "0x02", "0x3f", "0x40", "0xffffffff",
   /* Vendors: eax is the highest leaf. */
   "eax=0x00000020 ebx=0x756e6547 ecx=0x6c65746e edx=0x49656e69",
   "eax=0x00000010 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65",
   "eax=0x00000010 ebx=0x6f677948 ecx=0x656e6975 edx=0x6e65476e",
   "eax=0x00000002 ebx=0x746e6543 ecx=0x736c7561 edx=0x48727561",
   /* Descriptors. */
   "0x00feff01", "0x05b0b101", "0x005657f0", "0x2cb43049", "0x4fba5901",
   "0x0e3080c0", "0x61b3a001", "0x6164a001", "0x6c6b6a01", "0x00ff616d",
   "0x5a0302c4", "0x76036301", "0x00f0b5ff", "0x00c30000", "0x00ca5d5c",
   /* Sub-leaves. */
   "0x00080001", "0x0010000f", "0x00040006", "0x00000121", "0x00004122",
   "0x00004043", "0x00004024", "0x00004125", "0x000000e1",
   /* AMD. */
   "0xff40ff40", "0x01ff01ff", "0x04400120", "0x68004200", "0x48002200",
   "0x00004200", "0xf040f040", "0x64000000", "0x00600f12", "0x00b20f40",
   "0xfed8320b", "\r\n", "\t", NULL
};
