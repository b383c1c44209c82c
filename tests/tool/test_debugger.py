# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A debugger changes no count.

Where gdb sets or removes a breakpoint, Valgrind discards the translation of that code, which can be
the very block that the program has stopped in.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tg_environment import HAVE_X86, TLBGRIND, client
from tool_support import (
    GEOMETRY,
    OutFile,
    check_sound,
    expectations,
    read,
    run,
)

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
needs_gdb = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
BITS = ["", pytest.param("32", marks=needs_x86)]
SOURCE = Path(os.environ["TG_SRCDIR"]) / "tests" / "clients" / "run_debugged.c"
VALGRIND = os.environ.get("VALGRIND", "valgrind")

# Long after everything here has ended on a slow machine.
TIMEOUT = 3600


def places() -> dict[str, str]:
    """FILE:LINE of the client's lines that say "break: NAME"."""
    found = {}
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1):
        match = re.search(r"/\* break: (\w+) \*/", line)
        if match:
            found[match.group(1)] = f"{SOURCE.name}:{number}"
    return found


def script() -> list[str]:
    """gdb's commands from the first stop to the end of the program.

    gdb removes all its breakpoints from the code whenever the program stops, and sets them again
    before it goes on; stepi goes on with none where the program is.
    """
    at = places()
    commands: list[str] = []
    # Every place by itself: set before the code is first run, or after it has often been.
    for name in ("begin", "first", "second", "end", "main"):
        commands += [f"break {at[name]}", "continue", "stepi", "stepi", "delete", "stepi"]
    # Set and removed in the block that the program is in the middle of.
    commands += [f"break {at['second']}", "continue", f"break {at['first']}", f"tbreak {at['end']}", "stepi"]
    commands += ["continue"] * 4 + ["delete"]
    commands += ["break plain", "continue", *["stepi"] * 9, "delete", "tbreak *$pc", "continue"]
    # Instruction by instruction through both loops.
    commands += ["tbreak work", "continue", "set $i = 0", "while $i < 200", "stepi", "set $i = $i + 1", "end"]
    # To each of them in turn.
    commands += ["set $i = 0", "while $i < 10"]
    for name in ("begin", "first", "second", "end", "main"):
        commands += [f"tbreak {at[name]}", "continue"]
    commands += ["set $i = $i + 1", "end"]
    # A last one that is never removed, to be passed many times.
    commands += [f"break {at['first']}", "ignore $bpnum 500", "continue", "delete", "continue"]
    return commands


def debugged(folder: Path, program: Path, *options: str) -> OutFile:
    """Runs the program under the tool, stopped and continued by gdb."""
    folder.mkdir()
    prefix = f"--vgdb-prefix={folder}/vgdb"
    vgdb = shutil.which(str(Path(VALGRIND).parent / "vgdb")) or shutil.which("vgdb")
    assert vgdb is not None, "there is no vgdb beside valgrind"
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)}
    stdout, stderr, gdb_said = (folder / name for name in ("stdout", "stderr", "gdb"))
    with stdout.open("wb") as out, stderr.open("wb") as err, gdb_said.open("wb") as said:
        tool = subprocess.Popen(
            [TLBGRIND, *GEOMETRY, *options, "--vgdb-error=0", prefix, "--tlbgrind-out-file=out.%p", str(program)],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        try:
            # vgdb waits for the tool to be there; it ends with gdb, or with the tool.
            connect = f"target remote | {vgdb} {shlex.quote(prefix)} --pid={tool.pid} --wait={TIMEOUT}"
            settings = ["set pagination off", "set confirm off", "set sysroot /"]
            commands = folder / "commands"
            commands.write_text("\n".join([*settings, connect, *script(), ""]), encoding="utf-8")
            gdb = subprocess.Popen(
                ["gdb", "-nx", "-batch", "-x", str(commands), str(program)],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                gdb.wait(timeout=TIMEOUT)
            finally:
                # gdb with its vgdb.
                if gdb.poll() is None:
                    os.killpg(gdb.pid, signal.SIGKILL)
                    gdb.wait()
            # One that gdb has left alone is still where gdb should have found it.
            tool.wait(timeout=TIMEOUT if "exited normally" in gdb_said.read_text() else 10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if tool.poll() is None:
                tool.kill()
                tool.wait()
    check_sound(stderr.read_text())
    transcript = gdb_said.read_text()
    assert tool.returncode == 0, f"{tool.returncode}: {stderr.read_text()}\n{transcript}"
    # Otherwise this test proves nothing.
    assert len(re.findall(r"^(?:Temporary b|B)reakpoint \d+, ", transcript, re.MULTILINE)) > 60, transcript
    assert "exited normally" in transcript, transcript
    return check_expectations(read(folder / f"out.{tool.pid}"), stdout.read_text())


def check_expectations(out: OutFile, printed: str) -> OutFile:
    expected = expectations(printed)
    assert expected
    assert {key: out.function(key[1]) for key in expected} == expected
    return out


@needs_gdb
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", ["yes", "no"])
@pytest.mark.parametrize("vgdb", ["yes", "full"])
def test_breakpoints_change_no_count(tmp_path: Path, vgdb: str, path: str, bits: str) -> None:
    options = [f"--vgdb={vgdb}", f"--fast-path={path}"]
    program = client("run_debugged" + bits)
    alone = run(tmp_path / "alone", program, options=[*options, f"--vgdb-prefix={tmp_path}/none"]).check().only()
    stopped = debugged(tmp_path / "gdb", program, *options)
    for function in ("work", "main", "plain"):
        assert stopped.function(function, str(program)) == alone.function(function, str(program)), function
