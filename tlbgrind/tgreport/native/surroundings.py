# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes a run under Valgrind and one without it alike: variables, files in the page cache."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from ..base.errors import ReportError

# Valgrind shows a processor of Intel's without AVX-512 and without transactions (with which
# Prefer_No_VZEROUPPER goes). Without this the C library picks other functions natively, on other
# pages. The last four are what it prefers on that processor.
TUNABLES = "glibc.cpu.hwcaps=" + ",".join(
    [f"-AVX512{part}" for part in ("F", "VL", "BW", "DQ", "CD")]
    + ["-RTM", "-Prefer_No_VZEROUPPER", "Fast_Rep_String", "Fast_Unaligned_Load"]
    + ["Fast_Unaligned_Copy", "Prefer_PMINUB_for_stringop"]
)
# OpenSSL and simdutf (of node) look at the processor by themselves. Of its leaf 7 Valgrind shows no
# AVX-512, SHA, GFNI and VAES.
_OTHERS = {"OPENSSL_ia32cap": ":~0x5f62fc230000"}
_SIMDUTF = {"SIMDUTF_FORCE_IMPLEMENTATION": "haswell"}
# Interpreters draw the order of their hash tables at random, if nobody says otherwise.
_SEEDS = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}


def variables(given: Mapping[str, str]) -> dict[str, str]:
    """What both runs are started with."""
    others = given.get("GLIBC_TUNABLES", "")
    tunables = f"{others}:{TUNABLES}" if others and TUNABLES not in others else TUNABLES
    simdutf = _SIMDUTF if _has_avx2() else {}
    return {**_SEEDS, **_OTHERS, **simdutf, **given, "GLIBC_TUNABLES": tunables}


def _has_avx2() -> bool:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            return any(line.startswith("flags") and " avx2" in line for line in stream)
    except OSError:
        return False


def passed_on(tlbgrind: str, start: Mapping[str, str]) -> list[str]:
    """The variables as a program under the tool gets them, and in that order: the tool is started by
    scripts, and a shell passes variables on in an order of its own."""
    command = [tlbgrind, "-q", "--tlbgrind-out-file=/dev/null", "--log-file=/dev/null", "/usr/bin/env", "-0"]
    done = subprocess.run(command, env=dict(start), capture_output=True, check=False, stdin=subprocess.DEVNULL)
    found = [os.fsdecode(word) for word in done.stdout.split(b"\0") if word]
    if done.returncode or not found:
        raise ReportError("does not run /usr/bin/env", tlbgrind)
    return found


def read_anew(files: Iterable[str], page_size: int, as_a_start_does: bool) -> None:
    """Reads files anew, in small pieces: what was just linked or installed lies in the page cache
    in large ones, which the kernel maps as a whole, but not after the next boot. Or only drops them,
    so that the next start of the program reads them."""
    for file in files:
        try:
            number = os.open(file, os.O_RDONLY)
        except OSError:  # it is gone, or not for us to read
            continue
        try:
            os.fsync(number)
            os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
            if as_a_start_does:
                continue
            os.posix_fadvise(number, 0, 0, os.POSIX_FADV_RANDOM)
            at = 0
            while os.pread(number, page_size, at):
                at += page_size
        except OSError:  # no regular file
            pass
        finally:
            os.close(number)


def in_words(start: Mapping[str, str], given: Mapping[str, str]) -> Sequence[str]:
    """What is added to the variables of the call, for a log that is recorded by hand."""
    return [f"{name}={value}" for name, value in start.items() if given.get(name) != value]
