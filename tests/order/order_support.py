# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_order, and builds programs to be ordered."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import tg_companions
from tg_companions import Answer, package
from tg_environment import CC, TLBGRIND

DATA = Path(__file__).resolve().parent / "data"


def run(folder: Path, *arguments: object) -> Answer:
    return tg_companions.run("tg_order", folder, *arguments).text()


def good(folder: Path, *arguments: object) -> str:
    result = run(folder, *arguments)
    assert result.status == 0, result.err
    return result.out


def refused(folder: Path, complaint: str, *arguments: object) -> None:
    """One line on stderr, warnings aside, nothing on stdout, status 1."""
    result = run(folder, *arguments)
    errors = [line for line in result.err.splitlines() if not line.startswith("tg_order: warning: ")]
    assert errors == [f"tg_order: error: {complaint}"]
    assert (result.status, result.out) == (1, "")


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    """An object file."""
    (folder / f"{name}.c").write_text(source)
    out = folder / f"{name}.o"
    command = [*CC, "-O1", "-g", "-fno-inline", "-fno-stack-protector", "-fcf-protection=none"]
    subprocess.run([*command, *flags, "-c", f"{name}.c", "-o", str(out)], cwd=folder, check=True)
    return out


def linked(folder: Path, name: str, objects: list[Path], *flags: str) -> Path:
    out = folder / name
    subprocess.run([*CC, "-o", str(out), *map(str, objects), *flags], cwd=folder, check=True)
    return out


def recorded(
    folder: Path, program: Path, *arguments: str, what: str = "yes", options: tuple[str, ...] = ()
) -> Path:
    """The entries file of a run."""
    out = folder / f"{program.name}.entries"
    command = [TLBGRIND, "-q", "--machine=default", f"--entries={what}"]
    command += [f"--entries-out-file={out}", f"--tlbgrind-out-file={folder / 'costs'}"]
    subprocess.run([*command, *options, str(program), *arguments], cwd=folder, check=True)
    return out


def recorded_with_faults(folder: Path, *command: object) -> tuple[Path, Path]:
    """The entries file, with data, and the fault log of one run."""
    name = Path(str(command[0])).name
    files = folder / f"{name}.entries", folder / f"{name}.faults"
    options = ["--entries=data", f"--entries-out-file={files[0]}", "--faults=yes", f"--faults-out-file={files[1]}"]
    line = [TLBGRIND, "-q", "--machine=zen4", "--tlbgrind-out-file=/dev/null", *options, *map(str, command)]
    subprocess.run(line, cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return files


DATA_KINDS = {"r": "read", "z": "zero page", "w": "write", "c": "write"}


def data_faults(faults: Path, program: str) -> Counter[str]:
    """The faults of the program's data that the log has."""
    module = package("formats.faultlog")
    view = module.VIEWS.index("warm")
    counts: Counter[str] = Counter()
    for fault in module.read(str(faults)).of(view):
        if fault.map.name == program and "w" in fault.map.protection and fault.kind(view) in DATA_KINDS:
            counts[DATA_KINDS[fault.kind(view)]] += 1
    return counts


def spread(functions: int, called: list[int], size: int, gap: int) -> str:
    """A program of functions of `size` bytes with `gap` bytes of never used code behind each, which
    calls some of them in the order given."""
    lines = ["volatile int sink;"]
    for n in range(functions):
        lines.append(f'void f{n}(void) {{ __asm__ volatile(".skip {size}, 0x90"); sink += {n}; }}')
        lines.append(f'void g{n}(void) {{ __asm__ volatile(".skip {gap}, 0x90"); sink -= {n}; }}')
    lines.append("int main(int argc, char **argv) {")
    lines += [f"f{n}();" for n in called]
    lines.append("if (argc > 99) {")
    lines += [f"f{n}(); g{n}();" for n in range(functions)]
    lines.append("} return 0; }")
    return "\n".join(lines) + "\n"


CALLED = [33, 7, 21, 38, 2, 15, 29, 11]


class Spread:
    """40 functions, one to a page, eight of them called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.object = compiled(folder, "spread", spread(40, CALLED, 200, 3830), "-ffunction-sections")
        self.program = linked(folder, "plain", [self.object])
        self.entries = recorded(folder, self.program)


DATA_PROGRAM = """
#define PAGED(name) char name[4096 - 64] __attribute__((aligned(64))) = { 1 }
PAGED(gap0); int one[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap1); int two[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap2); int three[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap3);
char zeros[3 * 4096] __attribute__((aligned(4096)));
const void *const pointers[] = { one, two, three, gap0, gap1, gap2, gap3 };
int main(int argc, char **argv)
{
   three[argc] = 3;
   one[argc] = 1;
   zeros[4096] = 1;
   return pointers[argc + 1] == argv;
}
"""


def row(text: str, name: str) -> dict[str, str]:
    """A row of the table of --check or --forecast by its columns."""
    lines = text.splitlines()
    heading = next(line for line in lines if line.lstrip().startswith("functions "))
    columns = re.split(r"  +", heading.strip())
    cells = next(re.split(r"  +", line.strip()) for line in lines if line.startswith(name))
    return dict(zip(columns, cells[1:]))


def has(linker: str) -> bool:
    return linker == "bfd-script" or shutil.which(f"ld.{linker}") is not None


def data_writes(text: str) -> tuple[int, int]:
    """Of the answer to --data --faults=: page faults of writes to the data, forecast and in the fault log."""
    match = re.search(r"^write +(\d+) .*Of all [\d,]+ faults of the run, (\d+) ", text, re.MULTILINE | re.DOTALL)
    assert match
    return int(match[1]), int(match[2])
