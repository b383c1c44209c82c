# test_machines.py -- the machine files that are shipped: facts, sources, what streams do to them.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Every file is read by the simulator's parser (machinedrive) and compared with what is known of the
processor from elsewhere (facts.py) and with another reader (naive_reader.py).
"""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import pytest
from machines.costs import COSTS
from machines.facts import FACTS, INCLUSION, PAIRED, SPLITS
from machines.naive_reader import describe
from machines.walks import WALKS

DRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "machines", "machinedrive")
FOLDER = Path(os.environ["TG_SRCDIR"], "tlbgrind", "machines")
FILES = sorted(FOLDER.glob("*.machine"))
NAMES = sorted(path.stem for path in FILES)

MANUAL = Path(os.environ["TG_SRCDIR"], "docs", "machines.md")

# These must be there, whatever else is.
# fmt: off
REQUIRED = [
    "ppc970", "power7", "power8", "ultrasparc-t1", "ultrasparc-t2", "core-duo-t2600", "core2", "nehalem",
    "sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "icelake", "goldencove", "redwoodcove",
    "lioncove", "gracemont", "knl", "k8", "k10", "bulldozer", "zen1", "zen2", "zen3", "zen4", "zen5",
    "cortex-a53", "cortex-a57", "cortex-a72", "cortex-a76", "neoverse-n1", "neoverse-v1", "neoverse-v2",
    "apple-m1", "c910", "u74",
]
# fmt: on


def drive(*files: Path) -> list[str]:
    run = subprocess.run([DRIVE, *files], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def read() -> dict[str, list[str]]:
    """The lines of each machine, by name; all are read in one run, so nothing is left of the one before."""
    machines: dict[str, list[str]] = {}
    name = ""
    for line in drive(*FILES):
        if line.startswith("machine "):
            name = line.split()[1]
            machines[name] = []
        machines[name].append(line)
    return machines


def text_of(name: str) -> str:
    return FOLDER.joinpath(f"{name}.machine").read_text(encoding="ascii")


def agrees(value: str, fact: str) -> bool:
    return value.startswith("?") if fact == "?" else value == fact


def test_at_least_100_machines_are_shipped_and_these_among_them() -> None:
    assert set(REQUIRED) <= set(NAMES)
    assert len(NAMES) >= 100


def test_each_file_has_facts_and_each_fact_a_file() -> None:
    assert sorted(FACTS) == NAMES
    assert sorted(WALKS) == NAMES
    assert set(COSTS) <= set(NAMES)
    assert set(SPLITS) <= set(NAMES)
    assert set(PAIRED) <= set(NAMES)
    assert set(INCLUSION) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_as_the_facts_say(name: str, read: dict[str, list[str]]) -> None:
    facts = [line.split() for line in FACTS[name].strip().splitlines()]
    for fact in facts:
        if fact[3] == fact[2]:
            fact[3] = "full"
    arrays = [line.split()[2:9] for line in read[name] if line.startswith("array ")]
    for fact in facts:
        found = [array for array in arrays if all(map(agrees, array, fact))]
        assert found, f"no array is {' '.join(fact)}"
        arrays.remove(found[0])
    assert arrays == [], "arrays that no fact speaks of"


@pytest.mark.parametrize("name", sorted(SPLITS))
def test_larger_pages_are_split_where_that_is_known(name: str, read: dict[str, list[str]]) -> None:
    splits = {words[1]: words[9] for words in map(str.split, read[name]) if words[0] == "array"}
    for array, what in SPLITS[name].items():
        assert splits[array] == what, array


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_of_pairs_where_that_is_known(name: str, read: dict[str, list[str]]) -> None:
    arrays = [line.split() for line in read[name] if line.startswith("array ")]
    assert [words[1] for words in arrays if "paired" in words[13:]] == PAIRED.get(name, [])


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_inclusive_or_exclusive_where_a_source_says_so(name: str, read: dict[str, list[str]]) -> None:
    arrays = [line.split() for line in read[name] if line.startswith("array ")]
    found = {words[1]: words[words.index("inclusion") + 1] for words in arrays if "inclusion" in words[13:]}
    assert found == INCLUSION.get(name, {})


@pytest.mark.parametrize("name", NAMES)
def test_walks_are_as_the_facts_say(name: str, read: dict[str, list[str]]) -> None:
    found = []
    for line in read[name]:
        kind, _, rest = line.partition(" ")
        if kind in ("walk", "step"):
            found.append(rest)
    assert found == [line.strip() for line in WALKS[name].strip().splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_another_reader_reads_the_same(name: str, read: dict[str, list[str]]) -> None:
    mine = [line for line in read[name] if not line.startswith("note ")]
    assert mine == describe(text_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_assumption_is_noted(name: str, read: dict[str, list[str]]) -> None:
    notes = "\n".join(line for line in read[name] if line.startswith("note "))
    for line in read[name]:
        words = line.split()
        if words[0] != "array":
            continue
        expected = zip(
            words[4:8] + [words[9]],
            (
                "entries unknown, {}",
                "ways unknown, {}",
                "page sizes unknown, {} assumed",
                "replacement policy unknown, {} assumed",
                "unknown what becomes of larger pages",
            ),
            strict=True,
        )
        for value, sentence in expected:
            if value.startswith("?"):
                assert sentence.format(value[1:].replace("full", "full associativity")) in notes


@pytest.mark.parametrize("name", NAMES)
def test_every_assumed_cost_is_noted_and_has_a_source(name: str, read: dict[str, list[str]]) -> None:
    for at, line in enumerate(read[name]):
        words = line.split()
        if words[0] not in ("array", "walk"):
            continue
        value, of = (words[8], "hit") if words[0] == "array" else (words[2], "walk")
        if value.startswith("?"):
            told = value[1:].replace("..", " to ")
            assert any(note.startswith(f"note cycles of a {of} unknown, {told} assumed") for note in read[name])
            assert "assumed: " in read[name][at + 1] or "more than 20 cycles" in read[name][at + 1]


def least_and_most(cycles: str) -> tuple[int, int] | None:
    """The ends of a cost as naive_reader.py has it: 5, 5..7, ?5..7; None: unknown."""
    if cycles == "-":
        return None
    least, _, most = cycles.lstrip("?").partition("..")
    return int(least), int(most or least)


@pytest.mark.parametrize("name", NAMES)
def test_no_hit_costs_as_much_as_the_least_walk(name: str) -> None:
    """A walk begins where every level has missed, so its cost has the look-ups of all levels in it."""
    walk = least_and_most(WALKS[name].split()[1])
    hits = [least_and_most(line.split()[-1]) for line in FACTS[name].strip().splitlines()]
    for hit in filter(None, hits):
        assert walk is None or hit[1] < walk[0]


def test_the_cost_of_most_walks_is_known_or_assumed(read: dict[str, list[str]]) -> None:
    walks = [line.split()[2] for lines in read.values() for line in lines if line.startswith("walk ")]
    assert sum(cycles != "-" for cycles in walks) >= 50


UNITS = {"K": 1 << 10, "M": 1 << 20}


def in_bytes(size: str) -> str:
    """32K becomes 32768; ?32K: ?32768."""
    return "?" * size.startswith("?") + str(int(size.strip("?KM")) * UNITS[size[-1]])


def costs_of(lines: list[str]) -> dict[str, list[list[str]]]:
    """What machinedrive prints of caches, the memory, overlaps and the window, in the words of costs.py."""
    found: dict[str, list[list[str]]] = {"cache": [], "memory": [], "walks": [], "hits": [], "window": []}
    for words in map(str.split, lines):
        if words[0] == "cache":
            found["cache"].append([*words[1:5], *words[6:-1]])
        elif words[0] in ("memory", "walks", "window"):
            found[words[0]].append(words[2:3] if words[0] == "walks" else words[1:2])
        elif words[0] == "array" and "overlap" in words[13:]:
            found["hits"].append([words[words.index("overlap") + 1]])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_as_the_facts_say(name: str, read: dict[str, list[str]]) -> None:
    expected: dict[str, list[list[str]]] = {"cache": [], "memory": [], "walks": [], "hits": [], "window": []}
    for kind, *rest in map(str.split, COSTS.get(name, "").strip().splitlines()):
        if kind in expected:
            expected[kind].append(rest)
        else:
            expected["cache"].append([kind, in_bytes(rest[0]), *rest[1:]])
    found = costs_of(read[name])
    # Every array for loads behind the first level has the same overlap, and no other has one.
    behind = [words for words in map(str.split, read[name]) if words[0] == "array" and words[2] != "1"]
    for_loads = [words for words in behind if "loads" in words[3] or words[3] == "all"]
    expected["hits"] *= len(for_loads)
    assert found == expected


def test_only_where_nothing_overlaps_the_window_is_not_told(read: dict[str, list[str]]) -> None:
    for name, lines in read.items():
        overlaps = any("overlap" in line.split() for line in lines if line.startswith(("walks ", "array ")))
        assert not overlaps or any(line.startswith("window ") for line in lines), name


@pytest.mark.parametrize("name", NAMES)
def test_of_each_cache_page_tables_are_assumed_to_get_half(name: str, read: dict[str, list[str]]) -> None:
    caches = [line.split() for line in read[name] if line.startswith("cache ")]
    assert {words[5] for words in caches} <= {"?50%"}


@pytest.mark.parametrize("name", NAMES)
def test_farther_caches_cost_more(name: str, read: dict[str, list[str]]) -> None:
    lines = [words for words in map(str.split, read[name]) if words[0] in ("cache", "memory")]
    costs = [least_and_most(words[-2]) for words in lines[1:]]
    for near, far in itertools.pairwise(filter(None, costs)):
        assert near[0] < far[0]
        assert near[1] < far[1]


@pytest.mark.parametrize("name", NAMES)
def test_an_assumed_cost_of_a_cache_is_of_confidence_c_and_says_of_whom(name: str, read: dict[str, list[str]]) -> None:
    of_machine = read[name][0].split()[4]
    for at, line in enumerate(read[name]):
        words = line.split()
        if words[0] not in ("cache", "memory"):
            continue
        confidence = words[-1].replace("-", of_machine)
        source = read[name][at + 1]
        assert source != "source "
        is_first = words[0] == "cache" and not read[name][at - 2].startswith("cache ")
        size_or_cycles = words[2:3] * (words[0] == "cache") + words[-2:-1] * (not is_first)
        assumed = any(value.startswith("?") for value in size_or_cycles)
        assert (confidence == "C") == assumed, line
        assert ("assumed: " in source) == assumed, line


def test_walks_that_read_tables_have_caches_and_no_others(read: dict[str, list[str]]) -> None:
    """Nothing is looked up where a trap handler walks, or where no steps say what is read."""
    for name, lines in read.items():
        walk = next(line.split() for line in lines if line.startswith("walk "))
        reads = walk[1] == "hardware" and any(line.startswith("step ") for line in lines)
        assert any(line.startswith("cache ") for line in lines) == reads, name
        assert not reads or walk[2] != "-", name


def kind_of(known: list[bool]) -> str:
    """In the words of the manual's table."""
    return "-" if not known else "published" if all(known) else "in part" if any(known) else "assumed"


def test_the_manual_says_whose_costs_are_published(read: dict[str, list[str]]) -> None:
    listed = {}
    for line in MANUAL.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `") and len(cells) == 8:
            listed[cells[1].strip("`")] = cells[2:7]
    expected = {}
    for name, lines in read.items():
        words = [line.split() for line in lines]
        caches = [w for w in words if w[0] == "cache"]
        of_caches = ["?" not in w[2] + (w[-2] if at else "") for at, w in enumerate(caches)]
        of_memory = ["?" not in w[1] for w in words if w[0] == "memory"]
        walk = next(w[2] for w in words if w[0] == "walk")
        overlaps = [w[2] for w in words if w[0] == "walks"]
        expected[name] = [
            kind_of(of_caches),
            kind_of(of_memory),
            kind_of([] if walk == "-" else ["?" not in walk]),
            (overlaps or ["-"])[0].replace("?", "assumed "),
            next((w[1] for w in words if w[0] == "window"), "-").replace("?", "assumed "),
        ]
    assert listed == expected


@pytest.mark.parametrize("name", NAMES)
def test_files_have_no_tabs_trailing_blanks_or_long_lines(name: str) -> None:
    text = text_of(name)
    assert "\t" not in text
    assert "\\" not in text
    assert "??" not in text, "a trigraph in the C file that is made of it"
    assert text.endswith("\nend\n")
    assert all(line == line.rstrip() and len(line) <= 160 for line in text.splitlines())


def test_the_manual_lists_them_all(read: dict[str, list[str]]) -> None:
    listed = {}
    for line in MANUAL.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `") and len(cells) == 9:
            listed[cells[1].strip("`")] = cells[2:7]
    expected = {}
    for name, lines in read.items():
        _, _, isa, year, confidence, _, levels = lines[0].split()
        title = lines[1].partition(" ")[2]
        expected[name] = [title, isa, year if year != "0" else "unknown", levels, confidence]
    assert listed == expected


def test_the_example_of_the_manual_is_read(tmp_path: Path) -> None:
    text = MANUAL.read_text(encoding="utf-8")
    example = tmp_path / "example.machine"
    block = next(block for block in text.split("```") if block.startswith("\n# Lines that begin with #"))
    example.write_text(block.lstrip("\n"), encoding="ascii")
    lines = drive(example)
    assert [line for line in lines if not line.startswith("note ")] == describe(example.read_text(encoding="ascii"))
    assert lines[0] == "machine example x86-64 2026 B 12 2"


@pytest.mark.parametrize("damage", ["cut", "crlf", "nul", "long line", "binary", "empty"])
def test_a_broken_file_is_one_line_on_stderr(damage: str, tmp_path: Path) -> None:
    good = text_of("power8").encode("ascii")
    broken = tmp_path / "broken.machine"
    broken.write_bytes(
        {
            "cut": good[: len(good) // 2],
            "crlf": good.replace(b"\n", b"\r\n"),
            "nul": good.replace(b"level", b"le\0el", 1),
            "long line": good.replace(b"IBM", b"IBM" * 3495254, 1),
            "binary": bytes(range(256)) * 64,
            "empty": b"",
        }[damage]
    )
    run = subprocess.run([DRIVE, broken], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith(f"{broken}:")
    assert run.stderr.count("\n") == 1
    assert run.stderr.split(":")[1].isdigit()
