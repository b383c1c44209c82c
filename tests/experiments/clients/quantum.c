/* quantum.c -- the quantum part of Shor's algorithm, simulated by libquantum.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   quantum NUMBER: looks for the order of 2 modulo NUMBER. */

#include <quantum.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
   if (argc != 2)
      return 2;
   int n = atoi(argv[1]);
   int width = quantum_getwidth(n * n);
   int local = quantum_getwidth(n);
   srand(1);
   quantum_reg reg = quantum_new_qureg(0, width);
   for (int i = 0; i < width; i++)
      quantum_hadamard(i, &reg);
   quantum_addscratch(3 * local + 2, &reg);
   quantum_exp_mod_n(n, 2, width, local, &reg);
   for (int i = 0; i < 3 * local + 2; i++)
      quantum_bmeasure(0, &reg);
   quantum_qft(width, &reg);
   printf("%d amplitudes\n", reg.size);
   quantum_delete_qureg(&reg);
   return 0;
}
