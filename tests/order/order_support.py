# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_order, builds programs to be ordered, and imports the package that tg_order uses."""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = HERE / "data"
COMPANIONS = Path(os.environ.get("TG_ANNOTATE") or ROOT / "tlbgrind" / "tg_annotate").resolve().parent
CC = shlex.split(os.environ.get("CC", "gcc"))


class Result(NamedTuple):
    status: int
    out: str
    err: str


def package(module: str) -> Any:
    """A module of the package that the companions use, in the source tree or installed."""
    beside, installed = COMPANIONS, COMPANIONS.parent / "share" / "tlbgrind" / "python"
    folder = str(beside if (beside / "tgreport").is_dir() else installed)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(f"tgreport.{module}")


def run(folder: Path, *arguments: object, name: str = "tg_order") -> Result:
    done = subprocess.run(
        [sys.executable, "-B", str(COMPANIONS / name), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert "Traceback" not in err, err
    return Result(done.returncode, out, err)


def good(folder: Path, *arguments: object, name: str = "tg_order") -> str:
    result = run(folder, *arguments, name=name)
    assert result.status == 0, result.err
    return result.out


def refused(folder: Path, complaint: str, *arguments: object, name: str = "tg_order") -> None:
    """One line on stderr, warnings aside, nothing on stdout, status 1."""
    result = run(folder, *arguments, name=name)
    errors = [line for line in result.err.splitlines() if not line.startswith(f"{name}: warning: ")]
    assert errors == [f"{name}: error: {complaint}"]
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
    command = [os.environ["TLBGRIND"], "-q", "--machine=default", f"--entries={what}"]
    command += [f"--entries-out-file={out}", f"--tlbgrind-out-file={folder / 'costs'}"]
    subprocess.run([*command, *options, str(program), *arguments], cwd=folder, check=True)
    return out


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
