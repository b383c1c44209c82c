dnl tg_valgrind.m4 -- the installed Valgrind: where its parts are, and whether they fit.
dnl Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dnl TG_MISSING(WHAT, DEBIAN-PACKAGE)
dnl Note something that the build cannot do without.
AC_DEFUN([TG_MISSING],
  [AS_VAR_APPEND([tg_missing], ["
    $1 (Debian package: $2)"])])

AC_DEFUN([TG_REPORT_MISSING],
  [AS_IF([test -n "$tg_missing"],
     [AC_MSG_ERROR([missing:$tg_missing])])])

dnl TG_COMPILER
dnl The Debian package with the 32-bit libraries has the compiler's version in its name; the
dnl unversioned gcc-multilib conflicts with every cross compiler, so it is avoided.
AC_DEFUN([TG_COMPILER],
  [tg_gcc_major=`$CC -dumpversion 2>/dev/null | $SED 's/\..*//'`
   tg_multilib_package=gcc-${tg_gcc_major:-12}-multilib
   AC_MSG_CHECKING([whether $CC compiles C11])
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if __STDC_VERSION__ < 201112L
#error "older than C11"
#endif
_Static_assert(sizeof(long long) == 8, "64 bits");]])],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([$CC does not compile C11])])])

dnl TG_ARCHIVE_VERSION(VARIABLE, ARCHIVE)
dnl The core contains its version as the text "valgrind-3.19.0".  No symbol has it.
AC_DEFUN([TG_ARCHIVE_VERSION],
  [$1=`$GREP -a -o 'valgrind-@<:@0-9@:>@@<:@0-9A-Za-z.@:>@*' "$2" 2>/dev/null |
       $SED -n '1s/^valgrind-//p'`])

dnl TG_FIND_VALGRIND
dnl Sets VALGRIND (the launcher) and VALGRIND_{INCLUDEDIR,LIBDIR,LIBEXECDIR,VERSION}.
AC_DEFUN([TG_FIND_VALGRIND],
  [AC_ARG_WITH([valgrind],
     [AS_HELP_STRING([--with-valgrind=PREFIX], [the Valgrind installed under PREFIX (also an
        unpacked package); default: the one that pkg-config finds])],
     [AS_CASE([$withval],
        [yes], [with_valgrind=],
        [no], [AC_MSG_ERROR([--without-valgrind: there is no tlbgrind without Valgrind])],
        [/*], [],
        [AC_MSG_ERROR([--with-valgrind=$withval: give an absolute path])])],
     [with_valgrind=])
   AC_ARG_WITH([valgrind-includedir],
     [AS_HELP_STRING([--with-valgrind-includedir=DIR], [the folder of pub_tool_basics.h])],
     [], [with_valgrind_includedir=])
   AC_ARG_WITH([valgrind-libdir],
     [AS_HELP_STRING([--with-valgrind-libdir=DIR], [the folder of libcoregrind-*-linux.a])],
     [], [with_valgrind_libdir=])
   AC_ARG_WITH([valgrind-libexecdir],
     [AS_HELP_STRING([--with-valgrind-libexecdir=DIR], [the folder of Valgrind's own tools])],
     [], [with_valgrind_libexecdir=])
   AC_ARG_VAR([PKG_CONFIG], [path of pkg-config])
   AC_ARG_VAR([PKG_CONFIG_PATH], [folders that pkg-config searches before its own])
   AC_ARG_VAR([PKG_CONFIG_LIBDIR], [folders that pkg-config searches instead of its own])
   AC_ARG_VAR([VALGRIND], [the valgrind command])

   AC_PATH_TOOL([PKG_CONFIG], [pkg-config])
   # PREFIX replaces the .pc file's own prefix, which in an unpacked package is still /usr.
   # No other folder is searched then.
   tg_pc_prefix=
   AS_IF([test -n "$with_valgrind"],
     [tg_pc_prefix="--define-variable=prefix=$with_valgrind"
      PKG_CONFIG_PATH=
      PKG_CONFIG_LIBDIR=$with_valgrind/lib/pkgconfig
      for tg_dir in "$with_valgrind"/lib*/pkgconfig "$with_valgrind"/lib/*/pkgconfig; do
        AS_IF([test -f "$tg_dir/valgrind.pc"], [PKG_CONFIG_LIBDIR=$tg_dir; break])
      done])
   # Exported only where they are set, else an empty one would hide a default.
   AS_IF([test -n "$PKG_CONFIG_LIBDIR"], [export PKG_CONFIG_LIBDIR])
   AS_IF([test -n "$PKG_CONFIG_PATH"], [export PKG_CONFIG_PATH])
   tg_pc ()
   {
     test -n "$PKG_CONFIG" && "$PKG_CONFIG" $tg_pc_prefix "$[@]" valgrind 2>/dev/null
   }

   AC_MSG_CHECKING([for valgrind.pc])
   tg_pc_version=`tg_pc --modversion`
   AS_IF([test -n "$tg_pc_version"],
     [AC_MSG_RESULT([version $tg_pc_version])
      tg_prefix=`tg_pc --variable=prefix`
      tg_platform=`tg_pc --variable=platform`
      AS_IF([test "x$tg_platform" != "x$TG_ARCH-linux"],
        [AC_MSG_ERROR([valgrind.pc is for $tg_platform, not for $TG_ARCH-linux])])
      VALGRIND_INCLUDEDIR=`tg_pc --variable=includedir`
      VALGRIND_LIBDIR=`tg_pc --variable=libdir`/valgrind
      TG_LOAD_ADDRESS=`tg_pc --variable=valt_load_address`],
     [AC_MSG_RESULT([no])
      tg_prefix=${with_valgrind:-/usr}
      VALGRIND_INCLUDEDIR=
      VALGRIND_LIBDIR=
      AS_IF([test -z "$with_valgrind_includedir" || test -z "$with_valgrind_libdir"],
        [AS_IF([test -z "$PKG_CONFIG"],
           [TG_MISSING([pkg-config], [pkg-config])],
           [test -n "$with_valgrind"],
           [TG_MISSING([valgrind.pc in $PKG_CONFIG_LIBDIR], [valgrind])],
           [TG_MISSING([valgrind.pc among pkg-config's files (or give --with-valgrind=PREFIX)], [valgrind])])])])
   AS_IF([test -n "$with_valgrind_includedir"], [VALGRIND_INCLUDEDIR=$with_valgrind_includedir])
   AS_IF([test -n "$with_valgrind_libdir"], [VALGRIND_LIBDIR=$with_valgrind_libdir])
   AS_IF([test -z "$TG_LOAD_ADDRESS"], [TG_LOAD_ADDRESS=0x58000000])

   AC_MSG_CHECKING([for the valgrind command])
   AS_IF([test -n "$VALGRIND"], [],
     [test -n "$with_valgrind$tg_pc_version" && test -x "$tg_prefix/bin/valgrind"],
     [VALGRIND=$tg_prefix/bin/valgrind],
     [VALGRIND=`command -v valgrind 2>/dev/null`])
   AC_MSG_RESULT([${VALGRIND:-no}])
   AS_IF([test -z "$VALGRIND"], [TG_MISSING([the valgrind command], [valgrind])])

   AC_MSG_CHECKING([for Valgrind's headers])
   AS_IF([test -z "$VALGRIND_INCLUDEDIR"],
     [AC_MSG_RESULT([unknown])],
     [test -f "$VALGRIND_INCLUDEDIR/pub_tool_basics.h" && test -f "$VALGRIND_INCLUDEDIR/config.h"],
     [AC_MSG_RESULT([$VALGRIND_INCLUDEDIR])],
     [AC_MSG_RESULT([no])
      TG_MISSING([pub_tool_basics.h and config.h in $VALGRIND_INCLUDEDIR], [valgrind])])

   AC_MSG_CHECKING([for Valgrind's archives])
   tg_archives=
   for tg_lib in coregrind vex gcc-sup; do
     AS_IF([test -f "$VALGRIND_LIBDIR/lib$tg_lib-$TG_ARCH-linux.a"], [],
       [AS_VAR_APPEND([tg_archives], [" lib$tg_lib-$TG_ARCH-linux.a"])])
   done
   AS_IF([test -z "$VALGRIND_LIBDIR"],
     [AC_MSG_RESULT([unknown])],
     [test -z "$tg_archives"],
     [AC_MSG_RESULT([$VALGRIND_LIBDIR])],
     [AC_MSG_RESULT([no])
      TG_MISSING([archives$tg_archives in $VALGRIND_LIBDIR], [valgrind])])

   # The .pc file does not have the folder of the tools.  Try the prefix first (the package may be
   # unpacked), then the launcher, which has the folder compiled in; Debian's launcher is a shell
   # wrapper round valgrind.bin.  /usr/lib/valgrind may exist and hold suppressions only.
   AC_MSG_CHECKING([for the folder of Valgrind's tools])
   tg_told=
   AS_IF([test -n "$VALGRIND"],
     [tg_told=`$GREP -a -h -o '/@<:@!-~@:>@*/valgrind' "$VALGRIND.bin" "$VALGRIND" 2>/dev/null |
               $GREP '/lib' | sort -u`])
   VALGRIND_LIBEXECDIR=
   for tg_dir in $with_valgrind_libexecdir "$tg_prefix/libexec/valgrind" "$tg_prefix/lib/valgrind" $tg_told; do
     AS_IF([test -f "$tg_dir/vgpreload_core-$TG_ARCH-linux.so"],
       [VALGRIND_LIBEXECDIR=$tg_dir; break],
       [test "x$tg_dir" = "x$with_valgrind_libexecdir"], [break])
   done
   AS_IF([test -n "$VALGRIND_LIBEXECDIR"],
     [AC_MSG_RESULT([$VALGRIND_LIBEXECDIR])],
     [AC_MSG_RESULT([no])
      TG_MISSING([the folder with vgpreload_core-$TG_ARCH-linux.so${with_valgrind_libexecdir:+ ($with_valgrind_libexecdir has none)}], [valgrind])])

   TG_REPORT_MISSING

   # IR opcode numbers differ between versions, and the archives do not check them: an object made
   # with another version's headers links without an error and misbehaves.
   AC_MSG_CHECKING([whether Valgrind's parts are of one version])
   tg_h_version=`$SED -n 's/^#define VERSION "\(.*\)".*/\1/p' "$VALGRIND_INCLUDEDIR/config.h"`
   TG_ARCHIVE_VERSION([tg_a_version], [$VALGRIND_LIBDIR/libcoregrind-$TG_ARCH-linux.a])
   AS_IF([test "x$tg_h_version" = "x$tg_a_version" && test -n "$tg_h_version" &&
          test "x${tg_pc_version:-$tg_h_version}" = "x$tg_h_version"],
     [AC_MSG_RESULT([yes, $tg_h_version])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([the parts of Valgrind are not of one version:
    ${tg_h_version:-unknown} in the headers   ($VALGRIND_INCLUDEDIR/config.h)
    ${tg_pc_version:-unknown} in valgrind.pc
    ${tg_a_version:-unknown} in the archives  ($VALGRIND_LIBDIR/libcoregrind-$TG_ARCH-linux.a)
  A tool made of them would misbehave. Install one version, or point --with-valgrind=PREFIX
  (or --with-valgrind-includedir and --with-valgrind-libdir) at one.])])
   VALGRIND_VERSION=$tg_h_version

   AC_SUBST([VALGRIND_INCLUDEDIR])
   AC_SUBST([VALGRIND_LIBDIR])
   AC_SUBST([VALGRIND_LIBEXECDIR])
   AC_SUBST([VALGRIND_VERSION])
   AC_SUBST([TG_LOAD_ADDRESS])

   AC_MSG_CHECKING([whether the $TG_ARCH tool links])
   TG_TRY_TOOL([$TG_ARCH], [$tg_machine_flags -fomit-frame-pointer], [$TG_LOAD_ADDRESS],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([$CC cannot link a Valgrind tool with the archives in $VALGRIND_LIBDIR; see config.log])])

   dnl A miss goes through a dozen small functions of the simulator and the tool.
   AC_MSG_CHECKING([whether the tool can be optimized as a whole])
   TG_TRY_TOOL([$TG_ARCH], [$tg_machine_flags -fomit-frame-pointer -flto=1], [$TG_LOAD_ADDRESS],
     [AC_MSG_RESULT([yes, -flto=1])
      TG_LTO_CFLAGS=-flto=1],
     [AC_MSG_RESULT([no])
      TG_LTO_CFLAGS=-fno-lto])
   AC_SUBST([TG_LTO_CFLAGS])
  ])

dnl TG_TRY_TOOL(ARCH, MACHINE-FLAGS, LOAD-ADDRESS, IF-YES, IF-NO)
dnl Link the smallest tool there is: the same flags and archives as for ours (tlbgrind/local.mk).
AC_DEFUN([TG_TRY_TOOL],
  [cat >conftest.c <<_TGEOF
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
static void pre_clo_init(void) { }
VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
_TGEOF
   tg_command="$CC -isystem $VALGRIND_INCLUDEDIR -DVGA_$1=1 -DVGO_linux=1 -DVGP_$1_linux=1 -DVGPV_$1_linux_vanilla=1 \
     $2 -O2 -fno-pic -fno-pie -fno-stack-protector -fno-strict-aliasing -fno-builtin \
     -static -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=$3 -o conftest.tool conftest.c \
     $VALGRIND_LIBDIR/libcoregrind-$1-linux.a $VALGRIND_LIBDIR/libvex-$1-linux.a -lgcc \
     $VALGRIND_LIBDIR/libgcc-sup-$1-linux.a"
   echo "tool link: $tg_command" >&AS_MESSAGE_LOG_FD
   AS_IF([$tg_command >&AS_MESSAGE_LOG_FD 2>&1], [$4], [$5])
   rm -f conftest.c conftest.tool])

dnl TG_ARCHITECTURE
dnl Sets TG_ARCH to Valgrind's name of the host's architecture.
AC_DEFUN([TG_ARCHITECTURE],
  [tg_machine_flags=
   AS_CASE([$host],
     [x86_64-*-linux*], [TG_ARCH=amd64 tg_machine_flags=-m64],
     [aarch64-*-linux*], [TG_ARCH=arm64],
     [powerpc64le-*-linux*], [TG_ARCH=ppc64le],
     [riscv64-*-linux*], [TG_ARCH=riscv64],
     [AC_MSG_ERROR([tlbgrind is built for Linux on x86_64, aarch64, powerpc64le and riscv64; this is $host])])
   AC_SUBST([TG_ARCH])
   AM_CONDITIONAL([HAVE_AMD64], [test $TG_ARCH = amd64])
   AM_CONDITIONAL([HAVE_ARM64], [test $TG_ARCH = arm64])
   AM_CONDITIONAL([HAVE_PPC64LE], [test $TG_ARCH = ppc64le])
   AM_CONDITIONAL([HAVE_RISCV64], [test $TG_ARCH = riscv64])])

dnl TG_X86
dnl The 32-bit tool, for 32-bit programs and for exec from one width to the other.  It is built
dnl when the archives are there and a hosted -m32 program links (the tests have 32-bit clients).
AC_DEFUN([TG_X86],
  [AC_ARG_ENABLE([x86],
     [AS_HELP_STRING([--enable-x86=auto|yes|no], [the tool for 32-bit programs too @<:@auto@:>@])],
     [AS_CASE([$enableval], [yes|no|auto], [],
        [AC_MSG_ERROR([--enable-x86=$enableval: give auto, yes or no])])],
     [enable_x86=auto])
   AS_IF([test $TG_ARCH != amd64],
     [AS_IF([test "x$enable_x86" = xyes], [AC_MSG_ERROR([--enable-x86: only tools of amd64 have it])])
      enable_x86=no])
   tg_x86=no
   TG_LOAD_ADDRESS_X86=
   AS_IF([test "x$enable_x86" != xno],
     [tg_x86_lacks=
      AC_MSG_CHECKING([for Valgrind's 32-bit archives])
      TG_ARCHIVE_VERSION([tg_a_version], [$VALGRIND_LIBDIR/libcoregrind-x86-linux.a])
      AS_IF([test "x$tg_a_version" = "x$VALGRIND_VERSION" &&
             test -f "$VALGRIND_LIBDIR/libvex-x86-linux.a" &&
             test -f "$VALGRIND_LIBDIR/libgcc-sup-x86-linux.a" &&
             test -f "$VALGRIND_LIBEXECDIR/vgpreload_core-x86-linux.so"],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         tg_x86_lacks="libcoregrind-x86-linux.a and libvex-x86-linux.a of version $VALGRIND_VERSION in $VALGRIND_LIBDIR"
         tg_x86_package=valgrind])

      AC_MSG_CHECKING([whether $CC -m32 links a program])
      tg_save_CFLAGS=$CFLAGS
      CFLAGS="-m32"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]], [[return puts("32");]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AS_IF([test -z "$tg_x86_lacks"],
           [tg_x86_lacks="what $CC -m32 needs to link a program"
            tg_x86_package=$tg_multilib_package])])
      CFLAGS=$tg_save_CFLAGS

      # The secondary architecture has a load address of its own, which no file has; it is read from
      # the distribution's tools.
      TG_LOAD_ADDRESS_X86=`LC_ALL=C readelf -lW "$VALGRIND_LIBEXECDIR/none-x86-linux" 2>/dev/null |
        $AWK '$[1] == "LOAD" { print $[3]; exit }'`
      AS_IF([test -z "$TG_LOAD_ADDRESS_X86"], [TG_LOAD_ADDRESS_X86=$TG_LOAD_ADDRESS])

      AS_IF([test -z "$tg_x86_lacks"],
        [AC_MSG_CHECKING([whether an x86 tool links])
         TG_TRY_TOOL([x86], [-m32 -mpreferred-stack-boundary=2 -fomit-frame-pointer], [$TG_LOAD_ADDRESS_X86],
           [AC_MSG_RESULT([yes])
            tg_x86=yes],
           [AC_MSG_RESULT([no])
            tg_x86_lacks="a linker that takes the 32-bit archives in $VALGRIND_LIBDIR (see config.log)"
            tg_x86_package=binutils])])
      AS_IF([test -n "$tg_x86_lacks"],
        [AS_IF([test "x$enable_x86" = xyes],
           [TG_MISSING([$tg_x86_lacks], [$tg_x86_package])],
           [AC_MSG_NOTICE([no 32-bit tool: missing $tg_x86_lacks (Debian package: $tg_x86_package)])])])])
   # The folder of <asm/*.h> for Debian's 64-bit compilers, which they do not search with -m32.  Only
   # the package gcc-multilib, which is avoided (see above), would add it.
   TG_ASM_INCLUDEDIR=
   tg_multiarch=`$CC -print-multiarch 2>/dev/null`
   AS_IF([test -n "$tg_multiarch" && test -d "/usr/include/$tg_multiarch/asm"],
     [TG_ASM_INCLUDEDIR=/usr/include/$tg_multiarch])
   AC_SUBST([TG_ASM_INCLUDEDIR])
   AC_SUBST([TG_LOAD_ADDRESS_X86])
   AC_SUBST([TG_HAVE_X86], [$tg_x86])
   AM_CONDITIONAL([HAVE_X86], [test "x$tg_x86" = xyes])])

dnl TG_WARNINGS
dnl Our own C is always compiled with these warnings.  They are errors in a git checkout, but not
dnl with the user's CFLAGS: -O0 with -D_FORTIFY_SOURCE warns, and so do optimisations that are not
dnl tested.
AC_DEFUN([TG_WARNINGS],
  [AC_ARG_ENABLE([werror],
     [AS_HELP_STRING([--enable-werror], [warnings are errors @<:@yes in a git checkout, unless CFLAGS are given@:>@])],
     [tg_werror=$enableval],
     [AS_IF([test -e "$srcdir/.git" && test -z "$tg_user_cflags"], [tg_werror=yes], [tg_werror=no])])
   # Newer compilers refuse what is not declared; older ones do not even warn of Valgrind's functions,
   # whose names are macros of a system's header.
   TG_WARN_CFLAGS="-Wall -Wextra -Wshadow -Wconversion -Werror=implicit-function-declaration"
   AS_IF([test "x$tg_werror" = xyes], [TG_WARN_CFLAGS="$TG_WARN_CFLAGS -Werror"])
   AC_SUBST([TG_WARN_CFLAGS])])
