# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Completion in bash and zsh: what the commands allow, typed into real shells on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from tg_companions import MAIN, ROOT, SCRIPTS, call, package
from tg_environment import TLBGRIND

COMPLETION = ROOT / "tlbgrind" / "completion"
PATH = f"{SCRIPTS}:{Path(TLBGRIND).parent}:{os.environ['PATH']}"


def listed(command: str) -> dict[str, list[str]]:
    """Options as --list-options has them -> kind and words."""
    done = subprocess.run(
        [command, "--list-options"],
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    options = {name: words for name, *words in lines}
    assert len(options) == len(lines)
    return options


def in_help(text: str) -> set[str]:
    """The long options of a help text, with "=" where a value follows."""
    return set(re.findall(r"^ +(?:-\w(?: [A-Z]+)?,? )?(--[a-z][a-z:-]*=?)", text, re.MULTILINE))


@pytest.mark.parametrize("command", MAIN)
def test_a_companion_lists_the_options_of_its_help(command: str) -> None:
    help_text = package(MAIN[command]).HELP
    assert set(listed(command)) == in_help(help_text[: help_text.index("Examples:")])


def test_the_launcher_lists_the_options_of_the_tool_s_help() -> None:
    done = subprocess.run([TLBGRIND, "--help-all"], capture_output=True, check=True, encoding="utf-8")
    options = set(re.findall(r"^    (?:-\w )?(--[a-z][a-z-]*=?)", done.stdout, re.MULTILINE))
    assert {"--machine=", "--thp=", "--list-machines", "--log-file=", "--trace-children="} < options
    assert set(listed("tlbgrind")) == options - {"--tool="}


def test_the_launcher_lists_the_words_that_the_tool_s_help_has() -> None:
    options = listed("tlbgrind")
    assert options["--thp="] == ["one", "never", "madvise", "always"]
    assert options["--fault-around="] == ["one", "off"]
    assert options["--machine="] == ["machine"]
    assert options["--log-file="] == options["--tlbgrind-out-file="] == ["file"]
    assert options["--stlb="] == ["any"]
    assert options["--quiet"] == []


WORDS = [
    (command, option)
    for command in MAIN
    for option, words in listed(command).items()
    if words and words[0] in ("one", "some") and option not in ("--show=", "--sort=")
]


@pytest.mark.parametrize(("command", "option"), WORDS)
def test_the_words_listed_are_those_that_the_option_takes(command: str, option: str) -> None:
    told = call(command, f"{option}?", "file").text()
    assert told.status == 1
    allowed = re.search(r"'\?' is not (?:one of )?(.+) \(", told.err)
    assert allowed is not None
    assert re.split(", | or ", allowed[1]) == listed(command)[option][1:]


def test_the_events_listed_are_events() -> None:
    events = listed("tg_annotate")["--show="][1:]
    data = ROOT / "tests" / "annotate" / "data"
    there = {"all"}
    for name in ("two-level.out", "three-level.out"):
        told = call("tg_annotate", "--show=?", str(data / name)).text().err
        there |= set(told.rpartition("there are ")[2].rstrip("\n").split(", "))
    assert there <= set(events)
    flushes, prefetches = {"FLall", "FLone", "FLin", "FLout", "FLhot", "FLrem"}, {"Pref", "P1tm", "PLtm", "Pvain", "Pdrop"}
    assert set(events) - there <= {"PFi", "PFr", "PFw", "Wref", "Wcyc"} | flushes | prefetches


# ---------------------------------------------------------------- bash, asked for all

ASK = """
. "$1/tlbgrind.bash"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=($2) COMP_CWORD=$(($# - 3))
COMP_WORDS=("${@:3}")
function=$(complete -p "${COMP_WORDS[0]}" | awk '{ print $(NF - 1) }')
$function "${COMP_WORDS[0]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("command", ["tlbgrind", "tg_measure", "tg_simulate", *MAIN])
def test_bash_completes_all_options(command: str) -> None:
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", COMPLETION, f"{command} --", command, "--"],
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.splitlines() == list(listed(command))
    assert done.stderr == ""


# ---------------------------------------------------------------- both, on a terminal

PROMPT = "ready> "
START = {
    "bash": (
        ["bash", "--norc", "--noprofile"],
        f"bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; . {COMPLETION}/tlbgrind.bash",
    ),
    "zsh": (
        ["zsh", "-f"],
        (
            "unset zle_bracketed_paste; unsetopt beep auto_menu auto_list auto_remove_slash prompt_cr prompt_sp; "
            f"bindkey -e; fpath=({COMPLETION} $fpath); autoload -Uz compinit; compinit -D -u"
        ),
    ),
}


class Terminal:
    """A shell on a terminal, in a folder of its own."""

    def __init__(self, shell: str, folder: Path) -> None:
        command, start = START[shell]
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": PATH, "TERM": "xterm", "HOME": str(folder), "LC_ALL": "C.UTF-8"})
        # So wide that no line wraps.
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 1000, 0, 0))
        self.number = 0
        self.ask(f"{start}; PS1='{PROMPT}'; PS2=")

    def ask(self, line: str) -> str:
        """Runs a line; what it prints."""
        self.number += 1
        # The terminal echoes the line, in which the mark is in two parts.
        self.type(f"{line}\necho end''{self.number}\n")
        return self.read(f"end{self.number}")

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def read(self, until: str) -> str:
        seen = ""
        while until not in seen:
            ready, _, _ = select.select([self.fd], [], [], 600)
            assert ready, seen
            seen += os.read(self.fd, 65536).decode("utf-8", "replace")
        return seen

    def completed(self, line: str) -> str:
        """What becomes of a line when the tabulator is pressed behind it."""
        self.number += 1
        self.type(f"{line}\t\x01echo begin''{self.number} '\x05'end''{self.number}\n")
        seen = self.read(f"end{self.number}")
        found = re.search(rf"begin{self.number} (.*)end{self.number}", seen)
        assert found is not None, seen
        return found[1]

    def close(self) -> None:
        os.close(self.fd)
        os.waitpid(self.process, 0)


@pytest.fixture(params=START)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    (tmp_path / "folder").mkdir()
    (tmp_path / "first.out").touch()
    (tmp_path / "a-program").write_text("#!/bin/sh\n")
    (tmp_path / "a-program").chmod(0o755)
    shell = Terminal(request.param, tmp_path)
    yield shell
    shell.close()


# A blank at the end: the word is whole.
LINES = {
    "tg_annotate --ann": "tg_annotate --annotate ",
    "tg_annotate --mod-fi": "tg_annotate --mod-filename=",
    "tg_annotate --by=li": "tg_annotate --by=line",
    "tg_annotate --by=function,ob": "tg_annotate --by=function,object",
    "tg_annotate --show-percs=n": "tg_annotate --show-percs=no ",
    "tg_annotate --include=fol": "tg_annotate --include=folder/",
    "tg_annotate --include=fir": "tg_annotate --include=fir",
    "tg_annotate fir": "tg_annotate first.out ",
    "tg_annotate --diff fir": "tg_annotate --diff first.out ",
    "tg_faults --view=4": "tg_faults --view=4k ",
    "tg_faults --native=fir": "tg_faults --native=first.out ",
    "tg_measure --sec": "tg_measure --seconds=",
    "tg_order --bfd-": "tg_order --bfd-script=",
    "tlbgrind --list-m": "tlbgrind --list-machines ",
    "tlbgrind --thp=ma": "tlbgrind --thp=madvise ",
    "tlbgrind --machine=skyl": "tlbgrind --machine=skylake",
    "tlbgrind --machine=skylake,cortex-a5": "tlbgrind --machine=skylake,cortex-a5",
    "tlbgrind --machine=skylake,ultrasparc-ii": "tlbgrind --machine=skylake,ultrasparc-ii",
    "tlbgrind --machine=fir": "tlbgrind --machine=first.out",
    "tlbgrind --show-machine=geo": "tlbgrind --show-machine=geode-lx",
    "tlbgrind --trace-children=y": "tlbgrind --trace-children=yes ",
    "tlbgrind --faults=yes ./a-p": "tlbgrind --faults=yes ./a-program ",
    "tlbgrind --faults=yes ./a-program --fir": "tlbgrind --faults=yes ./a-program --fir",
    "tlbgrind --thp=always ./a-program fir": "tlbgrind --thp=always ./a-program first.out ",
}


def test_a_line_is_completed(terminal: Terminal) -> None:
    wanted, got = {}, {}
    for line, whole in LINES.items():
        wanted[line] = whole.rstrip(" ")
        got[line] = terminal.completed(line).rstrip(" ")
    assert got == wanted
