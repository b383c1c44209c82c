# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the comparisons share: running a program under either tool, always the same, and reading what
the tools wrote.

Two runs of one program make the same references only if everything that the program can see is the
same. What is pinned here, and why:

- One VALGRIND_LIB for both tools: its path stands in LD_PRELOAD, and ld.so's counts depend on how
  long that is.
- `setarch -R`: without it some of the addresses that the kernel chooses differ, and with them the
  sets that pages fall into.
- The whole environment: it lies on the stack and moves everything above it; hash seeds of perl
  and python, the locale and the time zone decide which code runs.
- The standard input is empty and the standard output is a file: programs ask what they are
  connected to (tar does nothing at all if its output is /dev/null).
- The working folder holds the same, for its programs list it (python) or look whether their output
  is there already: what a run made there is removed, and the tools write elsewhere. Its times are
  the same, too.

- Programs that read the time or look for their stack get answers that are always the same
  (oracle_pins.c).

What cannot be pinned must not be read by the programs: the pid, random numbers, and
/proc/self/maps, which shows the tool's own mappings. (gawk, grep, diff and m4 parse it when they
begin, to tell a stack overflow from another fault.)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BUILD = Path(os.environ["TG_BUILDDIR"])
SOURCE = Path(os.environ["TG_SRCDIR"])
CLIENTS = Path(os.environ["TG_CLIENTS"])
VALGRIND = os.environ.get("VALGRIND", "/usr/bin/valgrind")
X86 = os.environ.get("TG_HAVE_X86") == "yes"

# mawk seeds its random numbers from the time, and only then from what it is told; how many
# instructions that takes differs by the seed. Python 3.14 asks the C library for its stack, which
# reads /proc/self/maps for it.
PINNED = ("mawk", "python3")

# Lines of an out-file that are the run's, not the machine's. (Straddles are told for the smallest base page of the run.)
TOLD_APART = ("pid: ", "# checksum: ", "desc: Straddles: ", "desc: Machine number: ")

# Times of files and commits.
WHEN = 1_700_000_000
MUCH_LATER = 4_000_000_000

sys.path.insert(0, str(SOURCE / "tlbgrind"))
from tgreport.formats import outfile

EVENTS = ("Ir", "I1tm", "ILtm", "Dr", "D1tmr", "DLtmr", "Dw", "D1tmw", "DLtmw")
CACHEGRIND_EVENTS = ("Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw")

# cachegrind's program has Valgrind's start and layout.
STARTED_ALIKE = ("--native-start=no",)

# What makes Vex translate for cachegrind as it does for the tool. Cachegrind lets it drop a load
# without a use unless every register is kept up to date at every memory access, and
# lets it follow jumps, so that the second condition of "a && b" is executed, and counted, in any
# case. --as-cachegrind=yes makes the tool do as cachegrind does, which then needs no options.
TRANSLATED_AS_OURS = (
    "--px-default=unwindregs-at-mem-access",
    "--px-file-backed=unwindregs-at-mem-access",
    "--vex-guest-chase=no",
    "--vex-iropt-unroll-thresh=0",
)

Counts = tuple[int, ...]
Place = tuple[str, str, int]  # file, function, line


@cache
def prefix() -> tuple[str, ...]:
    """`setarch -R`, where it is allowed: some containers forbid it. Valgrind lays out the client
    itself, so there its lack changes nothing that was ever seen."""
    command = ("setarch", "-R")
    allowed = (
        subprocess.run(
            [*command, "true"], check=False, capture_output=True
        ).returncode
        == 0
    )
    return command if allowed else ()


def environment(program: str) -> dict[str, str]:
    preloaded = {"LD_PRELOAD": str(CLIENTS / "oracle_pins.so")}
    return {
        **(preloaded if os.path.basename(program) in PINNED else {}),
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC0",
        "PERL_HASH_SEED": "0",
        "PERL_PERTURB_KEYS": "0",
        "PYTHONHASHSEED": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "VALGRIND_LIB": str(BUILD / ".in_place"),
    }


@cache
def warm_up(program: tuple[str, ...], place: Path) -> None:
    """Runs the program once without Valgrind: what is read for the first time gets a new time of
    access, and a time with a fraction is another object for python than one without."""
    before = set(os.listdir(place))
    subprocess.run(
        program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(program[0]),
        cwd=place,
        check=False,
    )
    tidy(place, before)


def tidy(place: Path, before: set[str]) -> None:
    for name in set(os.listdir(place)) - before:
        (place / name).unlink()
    set_times(place)


def set_times(path: Path) -> None:
    """The same times for every run; to access a file does not change one that is in the future."""
    os.utime(path, (MUCH_LATER, WHEN), follow_symlinks=False)


def valgrind(
    options: Sequence[str], program: Sequence[str], place: Path, status: int = 0
) -> tuple[bytes, bytes]:
    """Runs the program under Valgrind, in `place`; returns what it printed, and what Valgrind did."""
    warm_up(tuple(program), place)
    before = set(os.listdir(place))
    with tempfile.TemporaryFile() as stdout:
        done = subprocess.run(
            [*prefix(), VALGRIND, *options, *program],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment(program[0]),
            cwd=place,
            check=False,
        )
        stdout.seek(0)
        printed = stdout.read()
    tidy(place, before)
    assert done.returncode == status, (
        f"{options[0]} on {program[0]}: status {done.returncode}\n"
        + done.stderr.decode(errors="replace")[-2000:]
    )
    return printed, done.stderr


@dataclass(frozen=True)
class Profile:
    """What one run of either tool counted."""

    totals: Counts
    places: dict[Place, Counts]
    notes: dict[str, list[str]]  # the out-file's `desc:` lines, by what stands before the colon
    printed: bytes

    def note(self, name: str, *words: str) -> list[int]:
        """The numbers behind the words in the note of that name."""
        text = self.notes[name][0].replace(",", " ").split()
        return [int(text[text.index(word) + 1]) for word in words]

    def functions(self) -> dict[str, Counts]:
        sums: dict[str, Counts] = {}
        for (_, name, _), counts in self.places.items():
            old = sums.get(name, (0,) * len(counts))
            sums[name] = tuple(a + b for a, b in zip(old, counts))
        return sums


def out_path(place: Path) -> Path:
    path = place.with_name(place.name + ".out")
    path.unlink(missing_ok=True)
    return path


def cachegrind(options: Sequence[str], program: Sequence[str], place: Path) -> Profile:
    path = out_path(place)
    printed, _ = valgrind(
        ["--tool=cachegrind", "-q", "--cache-sim=yes", f"--cachegrind-out-file={path}", *options],
        program,
        place,
    )
    places: dict[Place, Counts] = {}
    totals: Counts = ()
    file = function = ""
    for line in path.read_text(errors="surrogateescape").splitlines():
        if line.startswith("fl="):
            file = line[3:]
        elif line.startswith("fn="):
            function = line[3:]
        elif line.startswith("events: "):
            assert tuple(line.split()[1:]) == CACHEGRIND_EVENTS
        elif line.startswith("summary: "):
            totals = tuple(map(int, line.split()[1:]))
        elif line[:1].isdigit():
            number, *counts = map(int, line.split())
            add(places, (file, function, number), tuple(counts))
    return Profile(totals, places, {}, printed)


def tlbgrind(options: Sequence[str], program: Sequence[str], place: Path) -> Profile:
    path = out_path(place)
    printed, _ = valgrind(
        ["--tool=tlbgrind", "-q", f"--tlbgrind-out-file={path}", *options], program, place
    )
    return read_profile(path, printed)


def read_profile(path: Path, printed: bytes = b"") -> Profile:
    data = outfile.read(str(path))
    assert data.events == EVENTS
    places: dict[Place, Counts] = {}
    for (function, file), run in data.runs.items():
        rows = run.rows
        for start in range(0, len(rows), len(EVENTS) + 1):
            number, *counts = rows[start : start + len(EVENTS) + 1]
            add(places, (file, function.name, number), tuple(counts))
    notes: dict[str, list[str]] = {}
    for name, text in data.descriptions:
        notes.setdefault(name, []).append(text)
    return Profile(data.totals, places, notes, printed)


def add(places: dict[Place, Counts], place: Place, counts: Counts) -> None:
    old = places.get(place)
    places[place] = counts if old is None else tuple(a + b for a, b in zip(old, counts))


def bytes_but_pid(options: Sequence[str], program: Sequence[str], place: Path) -> bytes:
    """The out-file of a run, without the lines that two runs do not share."""
    path = out_path(place)
    valgrind(["--tool=tlbgrind", "-q", f"--tlbgrind-out-file={path}", *options], program, place)
    lines = path.read_bytes().split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith((b"pid: ", b"# checksum: ")))


def named(counts: Mapping[str, int] | Counts) -> dict[str, int]:
    return dict(counts) if isinstance(counts, Mapping) else dict(zip(EVENTS, counts))


def need(command: str, package: str) -> str:
    """The command's path. One that is missing is an error, not a skip: the comparison is the proof."""
    path = command if command.startswith("/") else shutil.which(command, path="/usr/bin:/bin")
    assert path is not None and os.access(path, os.X_OK), (
        f"{command} is missing (Debian package: {package}); ./quickstart --check installs it"
    )
    return path
