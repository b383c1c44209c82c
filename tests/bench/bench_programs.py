# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The programs that the bench runs, and their inputs.

Every input is generated, and the same on every machine. A program is one function here, which writes what the program
reads into a folder and says how it is run; what is not asked for is not generated.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
from itertools import accumulate
from pathlib import Path
from typing import Callable, NamedTuple

HERE = Path(__file__).resolve().parent
PATH = "/usr/bin:/bin:/usr/games"
KERNEL_FLAGS = ["-O2", "-fno-tree-loop-distribute-patterns", "-Wall"]

COMPRESSORS = "compressors"
PROGRAMS = "programs"
START_UP = "start-up"
KERNELS = "kernels"
# Programs that miss often. Not among those that the project's targets are about, hence only when
# asked for.
MEMORY = "memory"
GROUPS = (COMPRESSORS, PROGRAMS, START_UP, KERNELS, MEMORY)


class Missing(Exception):
    """A program is not installed; the text says what to install."""


class Command(NamedTuple):
    arguments: list[str]
    stdin: Path | None = None


class Place(NamedTuple):
    """Where inputs are written, and how large they are to be."""

    folder: Path
    quick: bool

    def text(self, megabytes: int) -> Path:
        """A text of so many megabytes, a tenth of it for --quick."""
        size = megabytes * 1_000_000 // (10 if self.quick else 1)
        path = self.folder / f"text-{size}"
        if not path.exists():
            path.write_bytes(text(size))
        return path

    def choose(self, full: int, quick: int) -> str:
        return str(quick if self.quick else full)

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        return path

    def compile(self, source: Path) -> str:
        program = self.folder / source.stem
        if not program.exists():
            by = [installed("g++", "g++")] if source.suffix == ".cc" else compiler()
            subprocess.run([*by, *KERNEL_FLAGS, "-o", str(program), str(source)], check=True)
        return str(program)


class Program(NamedTuple):
    name: str
    group: str
    what: str
    make: Callable[[Place], Command]


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "gcc"))


def installed(name: str, package: str) -> str:
    path = shutil.which(name, path=PATH)
    if path is None:
        raise Missing(f"{name} is not installed (Debian package: {package})")
    return path


# ---------------------------------------------------------------- inputs


def text(size: int) -> bytes:
    """English as a statistician sees it: few words are frequent, most are rare."""
    rng = random.Random(1)
    syllables = [c + v + e for c in "bcdfglmnprst" for v in "aeiou" for e in ("", "n", "r", "st")]
    words = ["".join(rng.choices(syllables, k=1 + i % 4)) for i in range(20_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    pieces: list[str] = []
    length = 0
    while length < size:
        sentence = " ".join(rng.choices(words, cum_weights=weights, k=12))
        line = f"{sentence.capitalize()}, {int(rng.random() * 10_000)}.\n"
        pieces.append(line)
        length += len(line)
    return "".join(pieces).encode("ascii")[:size]


def c_source(functions: int) -> str:
    """A C program of many functions with what optimizers work on: loops, branches, calls, structures."""
    rng = random.Random(2)

    def number(n: int) -> int:
        return int(rng.random() * n)

    parts = [
        ("typedef struct item { long key; double weight; struct item *next; unsigned char tag[16]; } item;\n"
        "extern long external(long, double);\nstatic long table[256];\n")
    ]
    for i in range(functions):
        callee = f"f{number(i)}(q, n - 1)" if i else "external(n, 1.0)"
        cases = "".join(
            f"      case {number(8) + 8 * k}: sum += table[(n + {number(256)}) & 255] * {number(99)}; break;\n"
            for k in range(6)
        )
        parts.append(
            f"long f{i}(item *p, long n)\n{{\n   long sum = {number(1000)};\n   double w = 0;\n"
            f"   for (item *q = p; q; q = q->next) {{\n      w += q->weight * {number(50) + 1};\n"
            f"      for (int j = 0; j < {4 + number(13)}; j++)\n         sum ^= (long)q->tag[j & 15] << (j & {number(31)});\n"
            f"      switch (q->key & 63) {{\n{cases}      default: sum -= q->key / {number(9) + 2}; break;\n      }}\n"
            f"      if (n > {number(9)} && q->key > sum)\n         sum += {callee};\n   }}\n"
            f"   for (long k = 0; k < n; k++)\n      table[k & 255] += sum % (k + {number(70) + 1}) + table[(k * {number(9) + 2}) & 255];\n"
            f"   return sum + (long)w;\n}}\n\n"
        )
    return "".join(parts)


def pages_source(functions: int) -> str:
    """A ring of functions, each on a page of its own."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "static unsigned long x = 1;"]
    attribute = "__attribute__((noinline, noclone, aligned(4096)))"
    lines += [f"static {attribute} void f{i}(void) {{ x = x * {2 * i + 3} + {i}; }}" for i in range(functions)]
    lines += ["int main(int argc, char** argv)", "{", "   if (argc != 2)", "      return 2;"]
    lines += ["   for (long n = atol(argv[1]); n > 0; n--) {"]
    lines += [f"      f{i}();" for i in range(functions)]
    lines += ["   }", '   printf("%lu\\n", x);', "   return 0;", "}", ""]
    return "\n".join(lines)


# ---------------------------------------------------------------- programs


def bzip2(place: Place) -> Command:
    return Command([installed("bzip2", "bzip2"), "-kc", str(place.text(10))])


def xz(place: Place) -> Command:
    return Command([installed("xz", "xz-utils"), "-T1", "-1", "-kc", str(place.text(10))])


SQL = """
create table t (id integer primary key, key integer, name text, weight real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
   insert into t select i, (i * 7919) % 100003, 'name ' || (i * 31 % 5003), i * 0.5 from n;
create index by_key on t (key);
create index by_name on t (name);
select count(*), sum(weight) from t where key between 1000 and 60000;
select name, count(*), avg(weight) from t group by name order by 3 desc limit 10;
select count(*) from t a join t b on a.key = b.id where a.id % 5 = 0;
update t set weight = weight + 1 where key < 20000;
select t.name, max(weight) from t where name like 'name 1%' group by name order by name limit 5;
"""


def sqlite3(place: Place) -> Command:
    script = place.write("queries.sql", SQL.format(rows=place.choose(100_000, 10_000)))
    return Command([installed("sqlite3", "sqlite3"), "-batch", ":memory:"], script)


PYTHON_SCRIPT = """
import sys
n = int(sys.argv[1])
x = 12345
table = {}
for i in range(n):
    x = (x * 1103515245 + 12345) % 2147483648
    word = 'k%d' % (x % (n // 2))
    table[word] = table.get(word, 0) + i
items = sorted(table.items(), key=lambda item: (item[1] % 1000, item[0]))
lengths = {}
for word, value in items:
    lengths.setdefault(len(word), []).append(value)
print(len(items), {k: sum(v) for k, v in sorted(lengths.items())})
"""


def python3(place: Place) -> Command:
    script = place.write("dict_and_sort.py", PYTHON_SCRIPT)
    # Not -I: it would leave PYTHONHASHSEED out.
    return Command([installed("python3", "python3"), "-s", str(script), place.choose(200_000, 20_000)])


PERL_SCRIPT = """
my (%count, $numbers);
while (<>) {
   $numbers += $1 if /, (\\d+)\\.$/;
   $count{lc $_}++ for /[A-Za-z]+/g;
   s/(\\w)(\\w*)st\\b/$2$1/g;
}
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$numbers $_ $count{$_}\\n" for @words[0 .. 20];
"""


def perl(place: Place) -> Command:
    script = place.write("words.pl", PERL_SCRIPT)
    return Command([installed("perl", "perl"), str(script), str(place.text(2))])


AWK_SCRIPT = """
{ for (i = 1; i <= NF; i++) count[tolower($i)]++; letters += length($0); gsub(/[aeiou]/, ""); rest += length($0) }
END { for (w in count) if (count[w] > most) most = count[w]; print letters, rest, most }
"""


def mawk(place: Place) -> Command:
    script = place.write("words.awk", AWK_SCRIPT)
    return Command([installed("mawk", "mawk"), "-f", str(script), str(place.text(5))])


def cc1(place: Place) -> Command:
    asked = [installed("gcc", "gcc"), "-print-prog-name=cc1"]
    path = subprocess.run(asked, check=True, capture_output=True, encoding="utf-8").stdout.strip()
    if not os.path.isabs(path):
        raise Missing("cc1 is not installed (Debian package: gcc)")
    source = place.write("generated.c", c_source(int(place.choose(60, 15))))
    return Command([path, "-quiet", "-O2", str(source), "-o", str(place.folder / "generated.s")])


def gnugo(place: Place) -> Command:
    moves = int(place.choose(12, 4)) // 2 * ["genmove black", "genmove white"]
    script = place.write("game.gtp", "\n".join(["boardsize 9", "clear_board", *moves, "showboard", "quit", ""]))
    return Command([installed("gnugo", "gnugo"), "--mode", "gtp", "--seed", "1", "--level", "5"], script)


def ls(place: Place) -> Command:
    folder = place.folder / "files"
    folder.mkdir(exist_ok=True)
    for i in range(100):
        (folder / f"file-{i}").touch()
    return Command([installed("ls", "coreutils"), "-l", str(folder)])


def git(_: Place) -> Command:
    return Command([installed("git", "git"), "--version"])


def bash(_: Place) -> Command:
    return Command([installed("bash", "bash"), "-c", ":"])


def gpmetis(place: Place) -> Command:
    """A square of points, each joined with those beside it, is cut into 8 parts."""
    side = int(place.choose(500, 200))
    rows = [f"{side * side} {2 * side * (side - 1)}"]
    for i in range(side):
        for j in range(side):
            beside = ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j))
            rows.append(" ".join(str(a * side + b + 1) for a, b in beside if 0 <= a < side and 0 <= b < side))
    graph = place.write("square.graph", "\n".join(rows) + "\n")
    return Command([installed("gpmetis", "metis"), str(graph), "8"])


def kernel(name: str, *arguments: str) -> Callable[[Place], Command]:
    """Arguments FULL/QUICK have two values."""

    def make(place: Place) -> Command:
        source = HERE / "kernels" / f"{name}.c"
        program = place.compile(source if source.exists() else source.with_suffix(".cc"))
        return Command([program, *(a.split("/")[-1 if place.quick else 0] for a in arguments)])

    return make


def pages(place: Place) -> Command:
    source = place.write("pages.c", pages_source(1000))
    return Command([place.compile(source), place.choose(30_000, 3_000)])


ALL: dict[str, Program] = {
    p.name: p
    for p in (
        Program("bzip2", COMPRESSORS, "compresses 10 MB of text", bzip2),
        Program("xz", COMPRESSORS, "compresses 10 MB of text, level 1", xz),
        Program("sqlite3", PROGRAMS, "100,000 rows, two indices, queries, in memory", sqlite3),
        Program("python3", PROGRAMS, "a dict of 100,000 words, sorted", python3),
        Program("perl", PROGRAMS, "counts and changes the words of 2 MB of text", perl),
        Program("mawk", PROGRAMS, "counts and changes the words of 5 MB of text", mawk),
        Program("cc1", PROGRAMS, "gcc's compiler, -O2, on 60 generated functions", cc1),
        Program("gnugo", PROGRAMS, "12 moves against itself on a board of 9 by 9, level 5", gnugo),
        Program("ls", START_UP, "ls -l of 100 files", ls),
        Program("git", START_UP, "git --version", git),
        Program("bash", START_UP, "bash -c :", bash),
        Program("stream", KERNELS, "STREAM's sweeps, 2,000,000 doubles, 10 times", kernel("stream", "2000000/200000", "10")),
        Program("random", KERNELS, "10,000,000 random updates in 64 MiB", kernel("random", "64", "10000000/1000000")),
        Program("chase", KERNELS, "a random list through 64 MiB, 5,000,000 steps", kernel("chase", "64/8", "5000000/1000000")),
        Program("matrix", KERNELS, "product of matrices of 400 by 400", kernel("matrix", "400/150")),
        Program("pages", KERNELS, "1000 functions on 1000 pages, called in turn 30,000 times", pages),
        Program("gpmetis", MEMORY, "METIS cuts a graph of 250,000 points into 8 parts", gpmetis),
        Program("lookups", MEMORY, "an ordered C++ map of 300,000 strings, 600,000 look-ups", kernel("lookups", "300000/100000", "600000/200000")),
    )
}

FULL_STREAM = Program(
    "stream-full", KERNELS, "STREAM's sweeps, 44,739,240 doubles (1 GiB in all), 10 times", kernel("stream", "44739240/4473924", "10")
)
