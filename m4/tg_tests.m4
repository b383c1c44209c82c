dnl tg_tests.m4 -- what `make check' needs beyond the build.
dnl Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

dnl TG_TEST_PREREQUISITES
dnl A build without tests must be possible, so nothing here is an error of configure; but a
dnl test that cannot run must not look like a skipped one, so `make check' refuses to start
dnl and prints tg_check_missing.
AC_DEFUN([TG_TEST_PREREQUISITES],
  [tg_check_missing=

   AC_MSG_CHECKING([for cmocka])
   tg_save_LIBS=$LIBS
   LIBS="-lcmocka $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>]], [[return cmocka_run_group_tests_name("", (struct CMUnitTest *)0, NULL, NULL);]])],
     [tg_cmocka=yes], [tg_cmocka=no])
   LIBS=$tg_save_LIBS
   AC_MSG_RESULT([$tg_cmocka])
   AS_IF([test $tg_cmocka = no], [AS_VAR_APPEND([tg_check_missing], [" libcmocka-dev"])])
   AM_CONDITIONAL([HAVE_CMOCKA], [test $tg_cmocka = yes])

   AC_MSG_CHECKING([whether $CC has AddressSanitizer and UBSan])
   TG_SAN_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all"
   tg_save_CFLAGS=$CFLAGS
   CFLAGS=$TG_SAN_CFLAGS
   AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [tg_san=yes], [tg_san=no])
   CFLAGS=$tg_save_CFLAGS
   AC_MSG_RESULT([$tg_san])
   AS_IF([test $tg_san = no], [AS_VAR_APPEND([tg_check_missing], [" libgcc-${tg_gcc_major:-12}-dev(libasan)"])])
   AC_SUBST([TG_SAN_CFLAGS])

   dnl Without it the fuzzers run, but choose inputs without coverage.
   AC_MSG_CHECKING([whether $CC tells fuzzers where the program has been])
   TG_COVERAGE_CFLAGS=-fsanitize-coverage=trace-pc
   tg_save_CFLAGS=$CFLAGS
   CFLAGS="$TG_COVERAGE_CFLAGS -Werror"
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [tg_coverage=yes], [tg_coverage=no TG_COVERAGE_CFLAGS=])
   CFLAGS=$tg_save_CFLAGS
   AC_MSG_RESULT([$tg_coverage])
   AC_SUBST([TG_COVERAGE_CFLAGS])

   AC_CHECK_PROGS([CPUID], [cpuid], [no])
   AS_IF([test "$CPUID" = no], [AS_VAR_APPEND([tg_check_missing], [" cpuid"])])

   # The first python3 may be one that the user installed beside the distribution's; or a script that
   # looks for it, which takes longer than many a test: then the one that it finds comes first in PATH.
   AC_ARG_VAR([PYTHON], [Python 3 with pytest, for the tests])
   AC_MSG_CHECKING([for a Python with pytest])
   tg_pytest=no
   for tg_python in ${PYTHON:-python3 /usr/bin/python3}; do
     AS_IF([tg_version=`"$tg_python" -c 'import pytest; print(pytest.__version__)' 2>/dev/null`],
       [tg_pytest=yes
        PYTHON=`"$tg_python" -c 'import sys; print(sys.executable)'`
        break])
   done
   AS_IF([test $tg_pytest = yes],
     [AC_MSG_RESULT([$PYTHON, pytest $tg_version])],
     [AC_MSG_RESULT([no])
      PYTHON=${PYTHON:-python3}
      AS_VAR_APPEND([tg_check_missing], [" python3-pytest"])])
   AS_IF([test $tg_pytest = yes && test "`command -v python3`" != "${PYTHON%/*}/python3"],
     [TG_PYTHON_FIRST=${PYTHON%/*}:])
   AC_SUBST([TG_PYTHON_FIRST])

   AC_CHECK_PROGS([MYPY], [mypy], [mypy])
   AC_CHECK_PROGS([RUFF], [ruff], [ruff])
   AC_SUBST([TG_CHECK_MISSING], [$tg_check_missing])])
