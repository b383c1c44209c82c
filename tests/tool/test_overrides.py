# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Overrides and ranges of --machine=: the counts are those of a machine file with the same lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_names import labels_of
from tool_support import GEOMETRY, OutFile, read, run

MACHINES = Path(os.environ["TG_SRCDIR"], "tlbgrind/machines")
PROGRAM = ("ls", "-lR", str(MACHINES))


def outs(folder: Path, names: Sequence[str], *options: str) -> list[OutFile]:
    """Runs the machines in one run and reads the out-file of each, in their order.

    All runs have the same working folder: what a program executes can depend on it.
    """
    here = folder.parent / "run"
    done = run(here, *PROGRAM, options=options, out_file="out", geometry=(), collect=False)
    assert done.status == 0, done.err
    here.rename(folder)
    files = [folder / "out"] if len(names) == 1 else [folder / f"out_{label}" for label in labels_of(names)]
    assert sorted(folder.iterdir()) == sorted(files)
    return [read(file) for file in files]


def costs(out: OutFile) -> tuple[object, ...]:
    return out.lines, out.summary


def changed(folder: Path, machine: str, array: str, **lines: str) -> Path:
    """The machine's file with other lines in one array, edited as text."""
    text = (MACHINES / f"{machine}.machine").read_text()
    before, begin, rest = text.partition(f"\narray           {array}\n")
    block, blank, after = rest.partition("\n\n")
    rows = block.splitlines()
    for key, value in lines.items():
        word = key.replace("_", "-")
        found = [i for i, row in enumerate(rows) if row.split()[0] == word]
        if found:
            rows[found[0]] = f"   {word} {value}"
        else:
            rows.append(f"   {word} {value}")
    file = folder / f"{machine}-{array}.machine"
    file.write_text(before + begin + "\n".join(rows) + blank + after)
    return file


@pytest.mark.parametrize(
    "machine, array, lines",
    [
        ("skylake", "STLB", {"entries": "64", "ways": "4"}),
        ("skylake", "DTLB-4K", {"entries": "8", "ways": "full", "policy": "fifo"}),
        ("skylake", "DTLB-4K", {"policy": "random:7", "entries": "16"}),
        ("skylake", "ITLB-4K", {"entries": "16", "coalesces": "16K"}),
        ("zen4", "DTLB", {"entries": "12", "ways": "3", "policy": "nru"}),
        ("neoverse-v2", "DTLB", {"entries": "4", "pages": "4K", "larger-pages": "split"}),
        ("skylake", "DTLB-4K", {"entries": "16", "paired": "yes"}),
        ("skylake", "DTLB-4K", {"entries": "24", "ways": "full", "wired": "8"}),
        ("zen4", "DTLB", {"entries": "12", "coalesces": "4K:64K+2M:32M"}),
        ("la464", "STLB", {"entries": "32", "paired": "no"}),
        ("skylake", "STLB", {"entries": "64", "ways": "4", "inclusion": "inclusive"}),
        ("skylake", "STLB", {"entries": "64", "ways": "4", "inclusion": "exclusive"}),
    ],
)  # fmt: skip
def test_a_changed_machine_counts_as_a_file_with_these_lines(
    tmp_path: Path, machine: str, array: str, lines: dict[str, str]
) -> None:
    file = changed(tmp_path, machine, array, **{key.replace("-", "_"): value for key, value in lines.items()})
    named = f"{machine}:" + ",".join(f"{array}.{key}={value}" for key, value in lines.items())
    (of_name,) = outs(tmp_path / "name", [named], f"--machine={named}")
    (of_file,) = outs(tmp_path / "file", [str(file)], f"--machine={file}")
    (plain,) = outs(tmp_path / "plain", [machine], f"--machine={machine}")
    assert costs(of_name) == costs(of_file)
    assert of_name.summary != plain.summary
    # The same of the file, too, in which names are in other letters.
    small = named.replace(f"{machine}:", "").replace(array, array.lower())
    (of_both,) = outs(tmp_path / "both", ["x"], f"--machine={MACHINES / machine}.machine:{small}")
    assert costs(of_both) == costs(of_file)


def test_a_range_counts_each_machine_as_it_is_alone(tmp_path: Path) -> None:
    names = [
        f"skylake:stlb.entries={entries},stlb.ways=4,dtlb-4k.ways={ways}"
        for entries in (32, 64, 128)
        for ways in (2, 4)
    ]
    together = outs(
        tmp_path / "range",
        ["zen4", *names, "host"],
        "--machine=zen4,skylake:stlb.entries=32..128,stlb.ways=4,dtlb-4k.ways=2..4,host",
    )
    assert len({out.summary for out in together[1:4:2]}) == 2
    for number, (name, out) in enumerate(zip(["zen4", *names, "host"], together)):
        (alone,) = outs(tmp_path / f"{number}", [name], f"--machine={name}")
        assert costs(out) == costs(alone)


def test_rules_and_policies_follow_the_overrides(tmp_path: Path) -> None:
    both = ["skylake:stlb.ways=6@all:2M", "skylake:stlb.ways=12@all:2M"]
    first, second = outs(tmp_path / "pages", both, f"--machine={','.join(both)}")
    (plain,) = outs(tmp_path / "plain", ["skylake"], "--machine=skylake@all:2M")
    assert costs(first) == costs(second) == costs(plain)
    flushed = [f"skylake:stlb.entries={n}@flush:{how}" for n in (768, 1536) for how in ("linux", "all")]
    outs(tmp_path / "flushed", flushed, "--machine=skylake:stlb.entries=768..1536", "--flush-policy=linux,all")


@pytest.mark.parametrize(
    "options, named",
    [
        (["--itlb=16,full"], "skylake:ITLB-4K.entries=16,ITLB-4K.ways=full"),
        (["--stlb=64,4"], "skylake:STLB.entries=64,STLB.ways=4"),
        (
            ["--dtlb=32,4,2M,fifo", "--dtlb=16,4,4K"],
            "skylake:DTLB-2M.entries=32,DTLB-2M.ways=4,DTLB-2M.pages=2M,DTLB-2M.policy=fifo,DTLB-4K.entries=16,"
            + "DTLB-4K.ways=4,DTLB-4K.pages=4K",
        ),
    ],
)
def test_an_option_for_an_array_replaces_that_of_each_machine(tmp_path: Path, options: list[str], named: str) -> None:
    rest = named.partition(":")[2]
    names = [named, f"haswell:{rest}"] if "DTLB-2M" not in rest else [named]
    machines = ",".join(name.partition(":")[0] for name in names)
    by_option = outs(tmp_path / "short", names, f"--machine={machines}", *options)
    by_name = outs(tmp_path / "long", names, f"--machine={','.join(names)}")
    assert [costs(out) for out in by_option] == [costs(out) for out in by_name]
    (text, *_) = ((tmp_path / "short" / out.path.name).read_text() for out in by_option)
    assert f"changed by the user: {rest}"[:100] in text


def test_without_machine_the_options_make_one_of_their_own(tmp_path: Path) -> None:
    outs(tmp_path / "custom", ["custom"], *GEOMETRY)
    assert "custom" in (tmp_path / "custom" / "out").read_text()


def test_the_summary_names_the_change(tmp_path: Path) -> None:
    options = ["-v", "--machine=skylake:stlb.entries=768..1536"]
    said = run(tmp_path, "true", options=options, out_file="out", geometry=(), collect=False).err
    assert "Machine: skylake:stlb.entries=768, " in said
    assert "changed by the user: stlb.entries=768" in said
    assert "changed by the user: stlb.entries=1536" in said
