# docs_run.py -- executes the commands of a document, one behind the other, in one folder.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

from docs_blocks import Command, commands_of, difference
from docs_support import ROOT

# The companions of the source tree, tlbgrind of the build.
COMMANDS = [Path(os.environ.get("TG_BUILDDIR", ROOT / "build"), "tlbgrind"), ROOT / "tlbgrind"]
PROCESS = re.compile(r"==(\d+)==")


class Reader:
    """A reader of a document, who types what it shows, below a folder with the folder docs/."""

    def __init__(self, folder: Path, processes: Sequence[str] = ()) -> None:
        """`processes`: the numbers of a document that shows no outputs."""
        self.folder = folder
        self.processes = processes
        (folder / "docs").symlink_to(ROOT / "docs")
        # Nothing else: the start of a program takes longer the more variables there are.
        self.environment = {
            **{name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ},
            "PATH": os.pathsep.join([*map(str, COMMANDS), os.environ["PATH"]]),
            "PWD": str(folder),
            "LC_ALL": "C.UTF-8",
            "VALGRIND_OPTS": "--tlbgrind:thp=madvise",
        }

    def does(self, command: Command) -> tuple[int, str]:
        """The exit status and what is printed. Its files get the process number of the document."""
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        printed = done.stdout.replace(str(self.folder), "/tmp/ex")
        # In the order in which they appear.
        told = list(dict.fromkeys(PROCESS.findall(command.output))) or self.processes
        number = dict(zip(dict.fromkeys(PROCESS.findall(printed)), told))
        if number:
            own = re.compile(rf"(==|\.)({'|'.join(number)})(?!\d)")
            printed = own.sub(lambda m: m[1] + number[m[2]], printed)
            for path in list(self.folder.iterdir()):
                name = own.sub(lambda m: m[1] + number[m[2]], path.name)
                if name != path.name:
                    path.rename(path.with_name(name))
        return done.returncode, printed


def same_compiler() -> bool:
    """The documents' outputs are those of programs that Debian 12's compiler has made."""
    done = subprocess.run(["gcc", "-dumpversion"], capture_output=True, check=True, encoding="ascii")
    return done.stdout.strip() == "12"


def faults_of(name: str, folder: Path, not_run: Collection[str] = ()) -> list[str]:
    """What the commands of a document print in another way than it says.

    Those that begin as one of `not_run` are passed over.
    """
    page = name.endswith(".md")
    reader = Reader(folder, processes=[] if page else ["4711"])
    if not page:
        # A man page's ./program is any program, of any *.c, and its runs are of one number.
        make = "cp docs/join.c . && gcc -O2 -g join.c -o program"
        status, printed = reader.does(Command(0, "near", make, ""))
        assert status == 0, printed
    wrong = []
    for command in commands_of(ROOT / name):
        if command.text.startswith(tuple(not_run)):
            continue
        status, printed = reader.does(command)
        where = f"{name}:{command.line}: $ {command.text}"
        if status:
            wrong.append(f"{where}\nexit status {status}\n{printed}")
        elif command.how == "compiled" and not same_compiler():
            continue
        elif found := difference(command.output, printed, command.how):
            wrong.append(f"{where}\n{found}\n--- printed:\n{printed}")
    return wrong
