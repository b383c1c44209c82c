# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Debian's own programs, and something small and always the same for each of them to do."""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from oracle_support import CLIENTS, WHEN, X86, need, set_times

SEED = 20240229
WORDS = ("page", "table", "walk", "miss", "entry", "level", "fill", "evict", "touch", "array") + (
    "set",
    "way",
    "tag",
    "root",
    "leaf",
    "fault",
)


@dataclass(frozen=True)
class Program:
    """A program, the Debian package it comes from, and its arguments, in the folder of make_place()."""

    name: str
    package: str
    arguments: tuple[str, ...]
    command: str = ""

    def line(self) -> list[str]:
        command = self.command or self.name
        if command == "cc1":
            # -print-prog-name gives the name back as it is if there is no such program.
            gcc = need("gcc", "gcc")
            found = subprocess.run(
                [gcc, "-print-prog-name=cc1"], capture_output=True, text=True, check=True
            )
            command = os.path.realpath(found.stdout.strip())
        return [need(command, self.package), *self.arguments]


DASH = r"""
i=0
while [ $i -lt 300 ]; do
   i=$((i + 1)); x="$i-$((i * i % 89))"; case $x in *7*) y=${x%-*} ;; *) set -- "$x" "$y" ;; esac
done
echo "$@"
while read -r a b rest; do echo "$b $a $rest"; done <few.txt
"""

AWK = r"""
{ for (i = 1; i <= NF; i++) { count[$i]++; sum += length($i) } line[NR % 50] = $0 }
END { for (w in count) total += count[w]; gsub(/a/, "b", line[7]); print total, sum, line[7] }
"""

BASH = r"""
declare -A seen
for ((i = 0; i < 600; i++)); do
   x=$((i * i % 97)); seen[k$x]=$i; name=item_$x
   case $name in *_1*) t=${name#item_} ;; *) t=${name/_/-}-${#name} ;; esac
   list+=("$t")
done
while read -r a b rest; do printf '%s %s %d\n' "$b" "$a" "${#rest}"; done <few.txt
echo "${#seen[@]} ${list[*]:10:20}"
"""

PERL = r"""
my (%count, @long);
open my $in, '<', 'text.txt' or die;
while (<$in>) {
   $count{$_}++ for split;
   push @long, $_ if $. < 99 and /(\w+) (\w+).*\2 \1/;
}
print join(' ', map { "$_=$count{$_}" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count);
print "\n", scalar @long, "\n", sprintf('%.6f', exp(1.25)), "\n";
"""

PYTHON = r"""
class Tree:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None
    def add(self, key):
        side = 'left' if key < self.key else 'right'
        below = getattr(self, side)
        if below is None:
            setattr(self, side, Tree(key))
        else:
            below.add(key)
    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.key
        if self.right is not None:
            yield from self.right
tree = Tree(500)
x = 1
for _ in range(400):
    x = x * 48271 % 2147483647
    tree.add(x % 1009)
print(list(tree)[::40], sum(hash(str(i)) & 255 for i in range(999)), 7 ** 400 % 10 ** 30)
"""

SQL = r"""
create table walk (id integer primary key, name text, pages int, misses int);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 700)
   insert into walk select i, 'w' || (i * 7919 % 613), i * 31 % 97, i * i % 89 from n;
create index walk_name on walk (name);
select name, count(*), sum(misses) from walk group by name having count(*) > 1 order by 3, 1 limit 9;
update walk set pages = pages + 1 where name like 'w1%';
delete from walk where misses = 4;
select a.id, b.name from walk a join walk b on a.pages = b.misses order by 1, 2 limit 20;
"""

PROGRAMS = (
    Program("ls", "coreutils", ("-lR", "tree")),
    Program("bash", "bash", ("--norc", "script.sh")),
    Program("perl", "perl", ("script.pl",)),
    # Not -I, nor -E: they would leave PYTHONHASHSEED out.
    Program("python3", "python3", ("-S", "-s", "-B", "script.py"), "/usr/bin/python3"),
    Program("sqlite3", "sqlite3", ("-batch", "-init", "/dev/null", ":memory:", SQL)),
    Program("bzip2", "bzip2", ("-9", "-k", "-c", "text.txt")),
    # Not -c: to the standard output, xz 5.8 first forbids itself to open files (Landlock), and
    # with itself Valgrind, which passes that on to the kernel (3.27; 3.24 did not).
    Program("xz", "xz-utils", ("-T1", "-2", "-k", "text.txt")),
    # ggc decides by the machine's memory when to collect, unless told.
    Program(
        "cc1",
        "gcc",
        ("-quiet", "-O1", "-frandom-seed=1", "--param=ggc-min-expand=30")
        + ("--param=ggc-min-heapsize=4096", "source.c", "-o", "source.s"),
    ),
    Program("git", "git", ("--git-dir=repository", "--no-pager", "log", "-p", "--stat")),
    Program("mawk", "mawk", ("-Wrandom=1", AWK, "text.txt")),
    Program("sed", "sed", ("-E", r"s/(\w+) (\w+)/\2 \1/g; /leaf$/d; $!N; P; D", "few.txt")),
    # How much memory is free decides what sort does, unless told.
    Program("sort", "coreutils", ("--parallel=1", "-S1M", "-k3,3", "-k1r", "text.txt")),
    Program("gzip", "gzip", ("-9", "-n", "-c", "text.txt")),
    Program("tar", "tar", ("-cf", "packed.tar", "--sort=name", "--owner=0", "--group=0", "tree")),
    Program("find", "findutils", ("tree", "-name", "*1*", "-size", "-9", "-printf", "%p %s\n")),
    Program("make", "make", ("-n", "-r", "-f", "rules.mk", "goal")),
    Program("dash", "dash", ("plain.sh",)),
    Program("sha256sum", "coreutils", ("text.txt", "few.txt")),
    Program(
        "factor", "coreutils", ("1000000016000000063", "340282366920938463463374607431768211297")
    ),
    Program("as", "binutils", ("-o", "assembled.o", "assembly.s")),
    Program("objdump", "binutils", ("-d", "program.o")),
    Program("bc", "bc", ("-l", "sums.bc")),
)

# Clients of this folder, on their own: what they count themselves, test_clients.py compares.
CLIENT_NAMES = ("oracle_refs", "oracle_walk") + (("oracle_refs32", "oracle_walk32") if X86 else ())


def client(name: str) -> Program:
    return Program(name, "none: make check builds it", (), str(CLIENTS / name))


def make_place(place: Path) -> Path:
    """Makes the folder that the programs work in. Always the same, but for its own name."""
    dice = random.Random(SEED)

    def text(lines: int) -> str:
        return "".join(" ".join(dice.choices(WORDS, k=9)) + "\n" for _ in range(lines))

    (place / "text.txt").write_text(text(900))
    (place / "few.txt").write_text(text(60))
    (place / "script.sh").write_text(BASH)
    (place / "script.pl").write_text(PERL)
    (place / "script.py").write_text(PYTHON)
    (place / "plain.sh").write_text(DASH)
    (place / "rules.mk").write_text(
        "goal: $(foreach i,0 1 2 3 4 5 6 7 8 9,$(foreach j,a b c d e f g,$(i)$(j)))\n"
        "%: ; echo $@ $(filter-out w%,$(words $(sort $(subst 1,2 x,$@ walk $*))))\n"
    )
    (place / "sums.bc").write_text("scale = 60\nfor (i = 1; i < 12; i++) e(i) / a(1)\n2 ^ 900\n")
    (place / "source.c").write_text(c_source(dice))
    subprocess.run(
        [need("gcc", "gcc"), "-O1", "-S", "-o", "assembly.s", "source.c"], cwd=place, check=True
    )
    subprocess.run([need("as", "binutils"), "-o", "program.o", "assembly.s"], cwd=place, check=True)
    for branch in range(12):
        folder = place / "tree" / f"branch{branch}"
        folder.mkdir(parents=True)
        for leaf in range(8):
            (folder / f"leaf{branch * leaf}").write_text(text(dice.randrange(12)))
        (folder / "root").symlink_to(f"leaf{branch}")
    make_repository(place, text)
    for path in [*place.rglob("*"), place]:
        set_times(path)
    return place


def c_source(dice: random.Random) -> str:
    functions = []
    for number in range(3):
        a, b, c = (dice.randrange(3, 99) for _ in range(3))
        functions.append(
            f"int f{number}(int *v, int n)\n{{\n   int s = {a};\n   for (int i = 0; i < n; i++) {{\n"
            f"      if (v[i] % {b} > {c})\n         s += v[i] * {a} + i;\n      else\n"
            f"         v[i] ^= s << {a % 7};\n   }}\n   switch (s & 7) {{\n"
            + "".join(f"   case {k}: return s / {dice.randrange(2, 50)};\n" for k in range(5))
            + f"   }}\n   return n > 1 ? f{number}(v + 1, n / 2) : s;\n}}\n"
        )
    return "".join(functions)


def make_repository(place: Path, text: object) -> None:
    assert callable(text)
    git = need("git", "git")
    work = place / "worktree"
    work.mkdir()
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(place / "repository"),
        "GIT_WORK_TREE": str(work),
    }
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "A U Thor", f"GIT_{role}_EMAIL": "thor@example.org"}

    def run(*arguments: str) -> None:
        subprocess.run([git, *arguments], cwd=work, env=env, check=True, capture_output=True)

    run("init", "-q", "--template=", "-b", "main")
    for number in range(6):
        (work / "file").write_text(text(40))
        (work / f"file{number}").write_text(text(10))
        stamp = f"{WHEN + number * 1000} +0000"
        env |= {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        run("add", "-A")
        run("commit", "-q", "-m", f"commit {number}")


# What programs in C begin with that are written for one test: memory, and work that refers to it.
WORK = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tlbgrind.h"
enum { ALL = 2 << 20 };
static char *b;
static void *work(void *step)
{
   for (long i = 0; i < ALL; i += (long)step)
      b[i] += b[i * 7919 & (ALL - 1)];
   return NULL;
}
"""
