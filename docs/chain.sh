#!/bin/sh
# chain.sh -- 26 routines in a row: ./one has them in the program, ./many in 26 libraries.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

# Each calls the next one, and works on its own afterwards, so that no call becomes a jump.
last=z
for name in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
   next=$(printf %s "$name" | tr a-z b-za)
   call="next_$next() + 1"
   [ $name = $last ] && call=1
   printf 'int next_%s(void);\nint next_%s(void) { return %s; }\n' $next $name "$call" >$name.c
done
printf '%s\n' '#include <stdio.h>' 'int next_a(void);' 'int main(void)' '{' \
   '   long sum = 0;' '   for (int i = 0; i < 10000; i++)' '      sum += next_a();' \
   '   printf("%ld\n", sum);' '   return 0;' '}' >chain.c
cc=${CC:-gcc}
$cc -g -O1 -o one chain.c [a-z].c || exit
libraries=
for name in z y x w v u t s r q p o n m l k j i h g f e d c b a; do
   # shellcheck disable=SC2086
   $cc -g -O1 -fPIC -shared -o lib$name.so $name.c $libraries -Wl,-rpath,. || exit
   libraries="./lib$name.so"
done
$cc -g -O1 -o many chain.c ./liba.so -Wl,-rpath-link,.
