# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The user's file about the machine at hand: --machine=host takes costs from it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND
from tg_written import written

WALK = 12345


def environment(home: Path, config: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    return {**kept, "HOME": str(home), **({"XDG_CONFIG_HOME": str(config)} if config else {})}


def show(home: Path, config: Path | None = None) -> str:
    return subprocess.run(
        [TLBGRIND, "--show-machine=host"], capture_output=True, text=True, check=True, env=environment(home, config)
    ).stdout


def run(folder: Path, home: Path, config: Path | None = None) -> tuple[str, str]:
    """The summary, and the out-file."""
    out = folder / "run.out"
    done = subprocess.run(
        [TLBGRIND, f"--tlbgrind-out-file={out}", "/bin/true"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(home, config),
    )
    return done.stderr, written(out)


def saved(home: Path, tmp_path: Path) -> Path:
    """A file of this processor, with a cost of walks that no other has."""
    shown = show(tmp_path / "nobody")
    if "CPUID" not in shown or "\nwalk " not in shown:
        pytest.skip("CPUID does not describe this processor")
    text = re.sub(r"(?m)^confidence .*$", "confidence      measured", shown)
    text = re.sub(r"(\nwalk +hardware\n(?: +(?!cycles).*\n)*) +cycles .*\n", rf"\1   cycles       {WALK}\n", text)
    assert f"cycles       {WALK}" in text
    file = home / "tlbgrind/host.machine"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def note(summary: str) -> list[str]:
    return [line.split("== ", 1)[1] for line in summary.splitlines() if "== Note: " in line]


@pytest.mark.parametrize("by_config", [True, False])
def test_costs_are_taken_and_the_file_is_named(tmp_path: Path, by_config: bool) -> None:
    home = tmp_path / "home"
    config = tmp_path / "config" if by_config else None
    file = saved(config or home / ".config", tmp_path)
    shown = show(home, config)
    assert f"   cycles       {WALK}\n" in shown
    words = f"what misses cost was measured on this machine: {file}"
    # What is said of a machine is cut at some length.
    assert f"note            {words[:150]}" in shown
    summary, out = run(tmp_path, home, config)
    assert len(note(summary)) == 1 and note(summary)[0].startswith(f"Note: {words[:150]}")
    assert f"{WALK:,} cycles a walk" in summary or f"{WALK} cycles a walk" in summary
    assert f"desc: Assumption: {words[:150]}" in out


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    summary, _ = run(tmp_path, tmp_path)
    assert note(summary) == []


def test_a_file_of_another_processor_is_not_used(tmp_path: Path) -> None:
    file = saved(tmp_path, tmp_path)
    file.write_text(re.sub(r"(?m)^title .*$", "title           Another", file.read_text()))
    assert str(WALK) not in show(tmp_path, tmp_path)
    summary, _ = run(tmp_path, tmp_path, tmp_path)
    (line,) = note(summary)
    assert line.startswith(f"Note: {file} is not used: it is of ")
    assert f"{WALK}" not in summary


@pytest.mark.parametrize("text", ["", "rubbish\n", "tlbgrind-machine 1\n", "\x00" * 40000], ids=["empty", "rubbish", "cut", "zeros"])
def test_a_broken_file_is_not_used(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tlbgrind/host.machine"
    file.parent.mkdir()
    file.write_text(text)
    if "CPUID" not in show(tmp_path / "nobody"):
        pytest.skip("CPUID does not describe this processor")
    assert "host.machine is not used: " in show(tmp_path, tmp_path)
    summary, _ = run(tmp_path, tmp_path, tmp_path)
    (line,) = note(summary)
    assert line.startswith(f"Note: {file} is not used: ")


def test_a_folder_in_its_place_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "tlbgrind/host.machine").mkdir(parents=True)
    if "CPUID" not in show(tmp_path / "nobody"):
        pytest.skip("CPUID does not describe this processor")
    assert "host.machine is not used: it is no machine file" in show(tmp_path, tmp_path)
    summary, _ = run(tmp_path, tmp_path, tmp_path)
    assert note(summary)[0].endswith("is not used: it is no machine file")
