#!/bin/sh
# symbols.sh -- functions that are called through tables of pointers: ./apart has them in 40
# libraries, ./together in one, and ./static in the program.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

# Library N has 100 functions, and a table of pointers to one of each other library and of N itself.
cc=${CC:-gcc}
libraries=
numbers=$(seq 0 39)
for n in $numbers; do
   {
      for f in $(seq 0 99); do
         echo "int work_${n}_$f(int x) { return x + $f; }"
      done
      for m in $numbers; do
         echo "int work_${m}_$n(int);"
      done
      echo "int (*const volatile table_$n[])(int) = {"
      for m in $numbers; do
         echo "   work_${m}_$n,"
      done
      echo "};"
      echo "int start_$n(int x) { return table_$n[x % 40](x); }"
   } >symbols$n.c
   $cc -g -O1 -fPIC -c symbols$n.c || exit
   $cc -shared -o libsymbols$n.so symbols$n.o || exit
   libraries="$libraries ./libsymbols$n.so"
done
{
   for n in $numbers; do
      echo "int start_$n(int x);"
   done
   echo "int main(void) { int sum = 0;"
   for n in $numbers; do
      echo "   sum += start_$n($n);"
   done
   echo "   return sum == 0; }"
} >symbols.c
echo '{ global: start_*; local: *; };' >exported
$cc -shared -Wl,--version-script=exported -o libtogether.so symbols?.o symbols??.o || exit
# shellcheck disable=SC2086
$cc -g -O1 -o apart symbols.c $libraries -Wl,--allow-shlib-undefined || exit
$cc -g -O1 -o together symbols.c ./libtogether.so || exit
$cc -g -O1 -static -o static symbols.c symbols?.o symbols??.o
