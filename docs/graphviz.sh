#!/bin/sh
# graphviz.sh -- builds Graphviz 2.42 from its source archive as eight objects and as one.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# Debian's packages autoconf, automake, bison, flex, libltdl-dev, libtool and zlib1g-dev are needed.
# shared/cmd/dot/.libs/dot_builtins is a program with seven libraries, static/cmd/dot/dot_static is
# one program, and {one,direct,reversed}/dot_builtins have one library of the seven's object files.

tar xf "${1:?the source archive is missing}" || exit
cp -r graphviz-2.42.2 shared || exit
mv graphviz-2.42.2 static || exit
for kind in shared static; do
   other=static
   [ $kind = static ] && other=shared
   (
      cd $kind || exit
      ./autogen.sh NOCONFIG && ./configure --enable-$kind --disable-$other --disable-ltdl \
         --disable-tcl --enable-swig=no --without-x --without-pangocairo --without-libgd \
         --without-gts --without-expat --without-ipsepcola --without-ortho --with-sfdp=no \
         CFLAGS='-O2 -g -fcommon' && make -C lib && make -C plugin && make -C cmd/dot
   ) || exit
done

cc=${CC:-gcc}
parts=
for part in lib/cdt lib/cgraph lib/gvc lib/pathplan plugin/core plugin/dot_layout \
   plugin/neato_layout; do
   parts="$parts $(echo shared/$part/.libs/*_C.a)"
done
for kind in one direct reversed; do
   options=-Wl,-Bsymbolic-functions
   [ $kind = one ] && options=
   if [ $kind = reversed ]; then
      parts=$(echo "$parts" | tr ' ' '\n' | tac | tr '\n' ' ')
   fi
   mkdir $kind
   # shellcheck disable=SC2086
   $cc -shared -o $kind/libgraph.so $options -Wl,--whole-archive $parts -Wl,--no-whole-archive \
      -lz -lm || exit
   $cc -o $kind/dot_builtins shared/cmd/dot/dot_builtins-*.o $kind/libgraph.so \
      "-Wl,-rpath,$PWD/$kind" || exit
done
