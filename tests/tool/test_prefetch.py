# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--prefetch: what prefetch instructions fill, and what is dropped, against a client that knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tg_environment import HAVE_X86, client
from tool_support import GEOMETRY, OutFile, Run, messages, run

ARRAYS = ("--itlb=16,4", "--dtlb=16,full", "--stlb=64,full")
PROGRAMS = ["run_prefetch", *(["run_prefetch32"] if HAVE_X86 else [])]
COLUMNS = {"strong": ("Pref", "P1tm", "PLtm", "Pvain"), "weak": ("Pref", "P1tm", "Pdrop")}
LOADS = ("D1tmr", "DLtmr")


def played(folder: Path, how: str, *options: str, program: str = "run_prefetch") -> Run:
    r = run(folder, client(program), options=[f"--prefetch={how}", *options], geometry=ARRAYS)
    assert r.status == 0, r.err
    return r


def counts(out: OutFile, function: str, events: tuple[str, ...]) -> tuple[int, ...]:
    names = out.field("events").split()
    rows = [line.costs for line in out.lines if line.function == function]
    return tuple(sum(row[names.index(event)] for row in rows) for event in events)


def expected(r: Run, word: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for line in r.out.splitlines():
        first, function, *numbers = line.split()
        if first == word:
            yield function, tuple(map(int, numbers))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("options", [(), ("--fast-path=no",), ("--faults=yes",)])
@pytest.mark.parametrize("how", COLUMNS)
def test_each_function_prefetches_what_the_client_says(
    tmp_path: Path, how: str, options: tuple[str, ...], program: str
) -> None:
    r = played(tmp_path, how, *options, program=program)
    out = r.only()
    functions = dict(expected(r, how))
    assert len(functions) > 8
    assert functions == {function: counts(out, function, COLUMNS[how]) for function in functions}
    loaded = dict(expected(r, "form"))
    assert {function: counts(out, function, ("D1tmr",)) for function in loaded} == {
        function: (1 if how == "weak" else 0,) for function in loaded
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_strong_prefetch_does_to_the_tlbs_what_a_load_does(tmp_path: Path, program: str) -> None:
    out = played(tmp_path, "strong", program=program).only()
    loads = counts(out, "random_with_loads", LOADS)
    mixed = counts(out, "random_with_prefetches", LOADS)
    prefetches = counts(out, "random_with_prefetches", ("P1tm", "PLtm"))
    assert tuple(a + b for a, b in zip(mixed, prefetches)) == loads
    assert min(*mixed, *prefetches) > 500


@pytest.mark.parametrize("how", COLUMNS)
def test_the_slow_path_counts_what_the_fast_path_counts(tmp_path: Path, how: str) -> None:
    fast = played(tmp_path / "fast", how).only()
    slow = played(tmp_path / "slow", how, "--fast-path=no").only()
    assert [line for line in fast.body() if not line.startswith(("cmd:", "desc:"))] == [
        line for line in slow.body() if not line.startswith(("cmd:", "desc:"))
    ]


@pytest.mark.parametrize("how", COLUMNS)
def test_many_machines_count_as_each_alone(tmp_path: Path, how: str) -> None:
    names = ("default", "zen4", "core2", "core2@anon:2M")
    one = [f"--prefetch={how}"]
    many = run(tmp_path / "many", client("run_prefetch"), geometry=[f"--machine={','.join(names)}"], options=one)
    assert len(many.files) == len(names)
    for place, (name, out) in enumerate(zip(sorted(names), many.files)):
        alone = run(tmp_path / f"one{place}", client("run_prefetch"), geometry=[f"--machine={name}"], options=one).only()
        assert [line.costs for line in alone.lines] == [line.costs for line in out.lines], name


@pytest.mark.parametrize("kinds", ["weak,strong", "ignore,weak,strong"])
def test_machines_of_one_run_can_have_prefetches_of_their_own_kind(tmp_path: Path, kinds: str) -> None:
    many = played(tmp_path / "many", kinds)
    found = {out.path.name.partition("@prefetch:")[2]: out for out in many.files}
    assert sorted(found) == sorted(kinds.split(","))
    for how in COLUMNS:
        alone = played(tmp_path / how[:4], how).only()
        assert [line.costs for line in alone.lines] == [line.costs for line in found[how].lines]
    if "ignore" in found:
        assert "Pref" not in found["ignore"].field("events").split()
        # The last one is the stack's page, of the return address.
        assert counts(found["ignore"], "stride", ("DLtmr",)) == (100 + 1,)
    assert [row[0] for row in table_of(many)[1:]] == [f"custom@prefetch:{kind}" for kind in kinds.split(",")]


def test_without_the_option_nothing_is_different(tmp_path: Path) -> None:
    none = run(tmp_path / "none", client("run_prefetch"), geometry=ARRAYS)
    ignored = played(tmp_path / "same", "ignore")
    assert none.only().body() == [
        line.replace("/same/", "/none/").replace(" --prefetch=ignore", "") for line in ignored.only().body()
    ]
    assert "Pref" not in none.only().field("events")
    weak = played(tmp_path / "weak", "weak").only()
    n = len(none.only().summary)
    places = [i for i, name in enumerate(weak.field("events").split()[:n]) if name in ("Ir", "Dw")]
    assert [weak.summary[i] for i in places] == [none.only().summary[i] for i in places]


def test_only_chosen_functions_prefetches_are_kept(tmp_path: Path) -> None:
    r = played(tmp_path, "strong", "--toggle-collect=stride")
    functions = dict(expected(r, "strong"))
    assert counts(r.only(), "stride", COLUMNS["strong"]) == functions["stride"]
    assert counts(r.only(), "of_null", COLUMNS["strong"]) == (0, 0, 0, 0)


def test_the_summary_has_the_prefetches(tmp_path: Path) -> None:
    r = played(tmp_path, "strong")
    totals = dict(zip(r.only().field("events").split(), r.only().summary))
    rows = table_of(r)
    assert rows[0][1:] == ["prefetches", "L1 misses", "walks", "in vain"]
    assert rows[1] == ["custom", *(f"{totals[event]:,}" for event in COLUMNS["strong"])]
    two = run(tmp_path / "two", client("run_prefetch"), geometry=["--machine=zen4,core2"], options=["--prefetch=weak"])
    rows = table_of(two)
    assert rows[0][1:] == ["prefetches", "L1 misses", "dropped"]
    assert [row[0] for row in rows[1:]] == ["zen4", "core2"]
    assert two.files[0].descriptions("Prefetches") == ["weak"]


def table_of(r: Run) -> list[list[str]]:
    lines = messages(r.err)
    rows = lines[lines.index("Data prefetches") + 1 :]
    end = next(i for i, line in enumerate(rows) if line.startswith(("dropped:", "in vain:")))
    return [re.split(r"\s{2,}", row) for row in rows[:end]]


@pytest.mark.parametrize(
    "options, word",
    [
        (["--prefetch=maybe"], "'maybe' is no kind of prefetch; allowed are ignore, weak and strong"),
        (["--prefetch=weak,maybe"], "'maybe' is no kind of prefetch"),
        (["--prefetch=weak", "--calls=yes"], "--calls=yes goes without --prefetch=weak"),
        (["--prefetch=weak", "--data=yes"], "--data=yes goes without --prefetch=weak"),
        (["--prefetch=weak", "--mappings=yes"], "--mappings=yes goes without --prefetch=weak"),
        (["--prefetch=weak", "--reach=yes"], "--reach=yes goes without --prefetch=weak"),
        (["--prefetch=weak", "--as-cachegrind=yes"], "--as-cachegrind=yes goes without --prefetch=weak"),
        (["--prefetch=weak", "--page-size=8K"], "base pages of 4K, 16K and 64K"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, options: list[str], word: str) -> None:
    geometry = [] if "--page-size=8K" in options else list(GEOMETRY)
    r = run(tmp_path, client("run_prefetch"), options=options, geometry=geometry)
    assert r.status == 1 and word in r.err, r.err
