# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--advice=SIZE[,...]: each memory in larger pages, as runs with such a --pages count it, and tg_annotate --advice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tg_companions import SCRIPTS
from tg_environment import client
from tg_written import written
from tool_support import OutFile, messages, run

MAPPINGS = ("anon#1", "anon#2", "anon#3", "anon#4+", "text#1", "text#2+")
KINDS = ("text", "data", "heap", "anon", "stack", "file", "all")


def use(folder: Path, *options: str, kind: str = "anon") -> tuple[list[OutFile], list[str]]:
    r = run(folder, client("pages_use"), kind, 4, options=list(options), geometry=(), prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    return r.files, messages(r.err)


def compiled(folder: Path, name: str, code: str, *options: str) -> Path:
    source = folder / f"{name}.c"
    source.write_text(code, encoding="utf-8")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O1", "-o", str(folder / name), str(source), *options], check=True)
    return folder / name


def machine(out: OutFile) -> str:
    (name,) = out.descriptions("Machine")
    return name


def without_file(out: OutFile) -> dict[str, str]:
    """The rules of the variants that the machine's file tells of, and why nothing changes."""
    words = (text.split(" ", 2) for text in out.descriptions("Same"))
    return {rule: why for _, why, rule in words}


def counted(out: OutFile) -> list[str]:
    """All of the file, but the machine's name, and what a machine's file says of its variants."""
    return [line for line in out.body() if not line.startswith(("desc: Machine:", "desc: Variants:", "desc: Same"))]


def touched(files: list[OutFile]) -> dict[str, tuple[int, int]]:
    """By rule: base pages that were touched, and the faults that they take."""
    found = {}
    for out in files:
        rule = machine(out).partition("@")[2]
        for text in out.descriptions("Touched") if rule else ():
            found[rule] = text.split(" ")
        rule_of = {text.split(" ", 2)[0]: text.split(" ", 2)[2] for text in out.descriptions("Same")}
        for number, *counts in (text.split(" ") for text in out.descriptions("Same touched")):
            found[rule_of[number]] = counts
    return {rule: (int(pages), int(faults)) for rule, (pages, faults) in found.items()}


def ir(out: OutFile) -> int:
    return dict(zip(out.field("events").split(), out.summary))["Ir"]


def walks(out: OutFile) -> int:
    counts = dict(zip(out.field("events").split(), out.summary))
    return counts["ILtm"] + counts["DLtmr"] + counts["DLtmw"]


@pytest.mark.parametrize(
    ("words", "sizes", "named", "kind"),
    [
        ("2M", ["2M"], [], "anon"),
        ("64K", ["64K"], [], "heap"),
        ("yes,data=pages_us*,*.so.*", ["64K", "2M"], ["data=pages_us*", "*.so.*"], "bss"),
    ],
)
def test_counts_are_those_of_runs_with_such_pages(
    tmp_path: Path, words: str, sizes: list[str], named: list[str], kind: str
) -> None:
    files, _ = use(tmp_path / "run-00", "--machine=skylake", f"--advice={words}", kind=kind)
    rules = {f"{memory}:{size}" for memory in (*KINDS, *MAPPINGS, *named) for size in sizes}
    by_rule = {machine(out).partition("@")[2]: out for out in files}
    base = by_rule[""]
    others = without_file(base)
    assert {*by_rule, *others} == {"", *rules}
    assert len(files) + len(others) == 1 + len(rules)
    assert base.descriptions("Variants") == [str(len(rules))]
    assert others.keys() & {f"{kind}:{size}" for size in sizes} == set()
    for number, rule in enumerate(("", *sorted(rules)), 1):
        # The folder's name stands in the client's environment: all are as long.
        alone, _ = use(tmp_path / f"run-{number:02}", "--machine=skylake", *([f"--pages={rule}"] if rule else []), kind=kind)
        if rule in others:
            assert (alone[0].lines, alone[0].summary) == (base.lines, base.summary)
        else:
            assert counted(by_rule[rule]) == counted(alone[0])


def advice(files: list[OutFile]) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "tg_annotate"), "--advice", *(str(out.path) for out in files)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_pays_is_named_with_what_it_saves(tmp_path: Path) -> None:
    """The client reads 4 MiB of anonymous memory at random: two pages of 2M, whichever order the files are given in."""
    files, said = use(tmp_path, "--machine=skylake", "--advice=2M")
    by_name = {machine(out): out for out in files}
    base, anon = walks(by_name["skylake"]), walks(by_name["skylake@anon:2M"])
    text = advice(files[::-1])
    assert text[0].startswith("skylake: misses take ")
    assert text[0].endswith(f" of the time; {base:,} page walks, {1000 * base / ir(by_name['skylake']):,.3f} per 1000 instructions")
    head = next(number for number, line in enumerate(text) if line.startswith("memory "))
    rows = [re.split(r" {2,}", line) for line in text[head + 1 :] if re.match(r"\S.*  2M  ", line)]
    assert rows[0][:2] == ["anon", "2M"]
    assert rows[0][4] == f"{base - anon:,}"
    # 1024 pages of 4K came with a fault each, now two of 2M do.
    assert rows[0][-3:] == ["1,022", "4,096K", "0K"]
    saved = [int(row[3].replace(",", "").rpartition(" ")[2]) for row in rows[:-1]]
    assert saved == sorted(saved, reverse=True)
    assert rows[-1][0] == "all of it"
    assert "Pages of 2M pay for anon:" in text
    # The command that the run prints names the files.
    first = by_name["skylake"]
    assert said[-1] == f"To see what larger pages would save:  tg_annotate --advice {first.path}"
    assert advice([first]) == text


def test_memory_that_is_named_is_a_part_of_its_kind(tmp_path: Path) -> None:
    """All data that the client references at random is its bss; the libraries' data and its own text are others."""
    files, _ = use(tmp_path, "--machine=skylake", "--advice=data=pages_us*,text=pages_us*,2M", kind="bss")
    by_name = {machine(out): out for out in files}
    whole, own = by_name["skylake@data:2M"], by_name["skylake@data=pages_us*:2M"]
    assert own.summary == whole.summary != by_name["skylake"].summary
    assert without_file(by_name["skylake"])["text=pages_us*:2M"] == "room"
    assert "Pages of 2M pay for data, data=pages_us*:" in advice(files)


MAPS = """
#define _GNU_SOURCE
#include <sys/mman.h>
enum { M = 1 << 20, N = 7 };
static const int size[N] = { 4, 6, 1, 2, 8, 10, 4 };
static char *made[N];
int main(void)
{
   int i, page;
   for (i = 0; i < N; i++)
      made[i] = mmap(0, size[i] * M, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   for (i = N - 1; i >= 0; i--) {
      for (page = 0; page < size[i] * M; page += 4096)
         made[i][page] = 1;
   }
   made[0] = mremap(made[0], 4 * M, 4 * M, MREMAP_MAYMOVE | MREMAP_FIXED, made[1]);
   munmap(made[0], 2 * M);
   mprotect(made[0] + 2 * M, M, PROT_READ);
   return made[0][3 * M] != 1;
}
"""


def test_large_mappings_have_the_number_of_their_first_touch(tmp_path: Path) -> None:
    """The client touches 4, 10, 8, 2, 1, 6 and 4 MiB, each page once; those that lie side by side are one for Linux."""
    program = compiled(tmp_path, "maps", MAPS)
    options = ["--machine=skylake", "--advice=2M,anon#6,anon#5+,anon#7"]
    r = run(tmp_path / "run-00", program, options=options, geometry=(), prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    by_name = {machine(out): out for out in r.files}
    faults = {rule: pages - count for rule, (pages, count) in touched(r.files).items()}
    saved = {1: 4, 2: 10, 3: 8, 4: 2, 5: 6, 6: 4}  # MiB; that of 1 MiB is not large
    each = {number: mib * 256 - mib // 2 for number, mib in saved.items()}
    rules: dict[str, set[int]] = {"anon#1": {1}, "anon#2": {2}, "anon#3": {3}, "anon#4+": {4, 5, 6}, "anon#6": {6}, "anon#5+": {5, 6}, "anon#7": set()}
    for number, (rule, numbers) in enumerate(rules.items(), 1):
        assert faults[f"{rule}:2M"] == sum(each[one] for one in numbers), rule
        alone = run(tmp_path / f"run-{number:02}", program, options=["--machine=skylake", f"--pages={rule}:2M"], geometry=(), prefix=["setarch", "-R"])
        if f"{rule}:2M" in without_file(by_name["skylake"]):
            assert alone.files[0].summary == by_name["skylake"].summary
        else:
            assert counted(alone.files[0]) == counted(by_name[f"skylake@{rule}:2M"])
    text = "\n".join(advice([by_name["skylake"]]))
    for name, size in {"anon#1": 4096, "anon#2": 10240, "anon#3": 8192, "anon#6": 4096}.items():
        assert f"  {name}: a mapping of {size}K at 0x" in text
    assert "  anon#4+: 3 mappings, 12288K" in text
    assert "anon#7" not in text


LIBRARY = """
#define PAGE(n) __attribute__((aligned(4096), noinline)) int f##n(int x) { return x + n; }
PAGE(1) PAGE(2) PAGE(3)
__asm__(".text\\n.balign 4096\\n.skip 4 << 20, 0x90\\n");
PAGE(4)
int all(int x) { return f1(f2(f3(f4(x)))); }
"""


def test_large_text_has_a_number(tmp_path: Path) -> None:
    """That of a library is its first large one, whatever the loader mapped before."""
    library = compiled(tmp_path, "liblarge.so", LIBRARY, "-shared", "-fPIC")
    program = compiled(tmp_path, "user", "int all(int); int main(void) { return all(1) != 11; }", str(library), f"-Wl,-rpath,{tmp_path}")
    r = run(tmp_path / "run-00", program, options=["--machine=skylake", "--advice=2M"], geometry=(), prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    by_name = {machine(out): out for out in r.files}
    base = by_name["skylake"]
    own = by_name.get("skylake@text#1:2M")
    said = own.descriptions("Numbered") if own else [text.partition(" ")[2] for text in base.descriptions("Same numbered")]
    assert [text for text in said if text.startswith("text#1 1 ") and text.endswith(f" {library}")]
    assert without_file(base)["text#2+:2M"] == "untouched"
    alone = run(tmp_path / "run-01", program, options=["--machine=skylake", "--pages=text=liblarge.so:2M"], geometry=(), prefix=["setarch", "-R"])
    assert alone.files[0].summary == (own or base).summary


def test_files_of_older_runs_are_passed_over(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake", "--advice=2M")
    (base,) = (out for out in files if machine(out) == "skylake")
    text = advice([base])
    (anon,) = (out for out in files if machine(out) == "skylake@anon:2M")
    older = written(anon.path).replace("\npid: ", "\npid: 1").replace("@anon:", "@anon=old:")
    Path(f"{base.path}@old:2M").write_text(older)
    assert advice([base]) == text


def test_first_touches_of_both_sizes_are_of_the_same_base_pages(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake", "--advice=yes")
    found = touched(files)
    (pages,) = {pages for pages, _ in found.values()}
    assert found["heap:2M"] == (pages, pages)
    assert found["anon:2M"] == (pages, pages - 1024 + 2)
    assert found["anon:64K"] == (pages, pages - 1024 + 64)


def test_nothing_to_win(tmp_path: Path) -> None:
    r = run(tmp_path, "/bin/true", options=["--machine=skylake", "--advice=1G"], geometry=())
    text = advice(r.files)
    assert [line.partition(":")[0] for line in text if "win" in line] == ["Nothing to win"]


def test_rules_of_the_machine_stay(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake@stack:64K", "--advice=2M")
    assert {machine(out) for out in files} >= {"skylake@stack:64K", "skylake@stack:64K+anon:2M"}
    assert advice(files)[0].startswith("skylake@stack:64K: ")


def test_several_machines_in_one_run_are_each_as_alone(tmp_path: Path) -> None:
    """One of them is another with a rule of its own. On the terminal what does not change has no row."""
    names = ("skylake", "zen4", "zen4@stack:64K")
    files, said = use(tmp_path / "all", f"--machine={','.join(names)}", "--advice=2M")
    bases = [out for out in files if out.descriptions("Variants")]
    assert sorted(map(machine, bases)) == sorted(names)
    for number, name in enumerate(names):
        alone, _ = use(tmp_path / f"{number:03}", f"--machine={name}", "--advice=2M")
        before = "@" if "@" not in name else "+"
        own = [out for out in files if machine(out) == name or machine(out).startswith(f"{name}{before}")]
        own = [out for out in own if name != "zen4" or not machine(out).startswith("zen4@stack:64K")]
        assert {machine(out): out.body() for out in own} == {machine(out): out.body() for out in alone}
    rows = {line.split()[0] for line in said if line.startswith(("skylake", "zen4"))}
    assert rows == {machine(out) for out in files}
    assert f"No row and no file of their own, as no count is another: {3 * 13 - len(files) + 3} of 39 variants" in said
    (room,) = (line for line in said if line.startswith("  no room for a page of 2M: "))
    assert room == "  no room for a page of 2M: text, data, file"
    # All of them are in what the run says to call, in its order; one alone tells of that machine.
    command = said[-1].partition("tg_annotate --advice ")[2].split()
    by_path = {str(out.path): out for out in bases}
    assert tuple(machine(by_path[path]) for path in command) == names
    text = advice([by_path[path] for path in command])
    assert [line.partition(":")[0] for line in text if ": misses take " in line] == ["skylake", "zen4", "zen4@stack"]
    assert next(line for line in text if line.startswith("memory     pages  ")).split()[2:] == list(names)
    assert advice([by_path[command[0]]])[0].startswith("skylake: misses take ")


def test_a_reason_that_is_not_so_everywhere_has_its_machines(tmp_path: Path) -> None:
    """What is in large pages already changes nothing, on the machine that has it so."""
    other = "skylake@anon:2M+stack:4K"
    _, said = use(tmp_path, f"--machine=skylake,{other}", "--advice=2M")
    (same,) = (line for line in said if line.startswith("  the same misses in pages of 2M: "))
    assert same.partition(": ")[2] == f"anon ({other}), anon#1 ({other})"
