#!/bin/sh
# order.sh -- builds a program twice: as it is, and in the order in which a run enters its functions.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

# usage: sh order.sh BUILD PROGRAM [ARGUMENT...]
# BUILD is a command for the shell that builds PROGRAM anew and links it with $ORDER_FLAGS (of the
# compiler as linker) or, for cargo, compiles with $ORDER_RUSTFLAGS; C needs -ffunction-sections:
#   make:   'make -B CFLAGS="-O2 -ffunction-sections" LDFLAGS="$ORDER_FLAGS"'
#   CMake:  'cmake -S . -B build -DCMAKE_EXE_LINKER_FLAGS="$ORDER_FLAGS" && cmake --build build'
#   cargo:  'RUSTFLAGS="$ORDER_RUSTFLAGS" cargo build --release'
# ORDER_DATA=yes orders variables, too; then C also needs -fdata-sections.
# Leaves order.txt, and the ordered PROGRAM if that takes fewer page faults, else the plain one.
# Exit status: 0 the ordered program was kept; 3 it was not better; 1 something else is wrong.

if [ $# -lt 2 ]; then
   echo 'usage: sh order.sh BUILD PROGRAM [ARGUMENT...]' >&2
   exit 1
fi
build=$1
program=$2
shift 2
case $program in */*) ;; *) program=./$program ;; esac

# Both programs are linked by the same linker: lld, gold or bfd (GNU ld 2.43 or newer).
linker=${ORDER_LINKER:-lld}
case $linker in
   lld) option=-Wl,--symbol-ordering-file=$PWD/order.txt ;;
   gold) option=-Wl,--section-ordering-file,$PWD/order.txt ;;
   bfd) option=-Wl,--section-ordering-file=$PWD/order.txt ;;
   *) echo "order.sh: no linker $linker; lld, gold and bfd can order functions" >&2; exit 1 ;;
esac

fail () { echo "order.sh: $1" >&2; exit 1; }

# Links with what is given beside the linker. The program itself must not see it: its variables lie
# on the stack, and more of them can take a page more.
build ()
{
   rust="-Clink-arg=-fuse-ld=$linker"
   [ -z "$1" ] || rust="$rust -Clink-arg=$1"
   rm -f "$program"
   ORDER_FLAGS="-fuse-ld=$linker $1" ORDER_RUSTFLAGS=$rust sh -c "$build" >&2 && [ -x "$program" ]
}

# Runs the program; its fault log goes to $1.
measure ()
{
   log=$1
   shift
   tlbgrind -q --machine=skylake --log-file=order.log --tlbgrind-out-file=/dev/null \
      --faults-out-file="$log" "$@" >/dev/null || fail "the program failed; see order.log"
}

case ${ORDER_DATA:-no} in
   yes) entries=data with_data=--with-data ;;
   no) entries=yes with_data= ;;
   *) fail "ORDER_DATA is yes or no, not $ORDER_DATA" ;;
esac

# 1. As it is, and what it executes.
build '' || fail "the command does not build $program"
measure order.before --entries=$entries --entries-out-file=order.entries "$program" "$@"
cp -p "$program" order.plain || exit 1
tg_order $with_data "--$linker=order.txt" --forecast --faults=order.before order.entries >&2 || exit 1

# 2. In order. A linker that takes no notice of the file is found out here (status 2), and a program
# that cannot be built so is not better.
kept='the ordered program'
if ! build "$option"; then
   kept='the plain program: the ordered one cannot be built'
elif ! tg_order --check="$program" --order=order.txt >&2; then
   kept='the plain program: the linker did not follow the order'
else
   measure order.after "$program" "$@"
   # 3. Fewer faults, or it is not kept.
   tg_faults --compare --max-more=-1 --top=5 order.before order.after >&2
   case $? in
      0) ;;
      3) kept='the plain program: the ordered one takes no fewer page faults' ;;
      *) exit 1 ;;
   esac
fi
echo "order.sh: kept $kept" >&2
[ "$kept" = 'the ordered program' ] || { cp -p order.plain "$program" && exit 3; }
