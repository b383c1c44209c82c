# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What --to=pprof and --to=firefox write, read back by readers of their own: the sums to the digit."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from annotate_support import HERE, run
from call_traces import Trace, by_chance, write
from tg_companions import call
from tg_tables import document

FEW = ["main", "alpha", "beta", "gamma", "delta", "epsilon"]
EVENTS = ["Ir", "I1tm", "ILtm", "Dr", "D1tmr", "DLtmr", "Dw", "D1tmw", "DLtmw"]
SUMS = ["walks", "DLtm", "L1tm", "D1tm", "Drw"]


class Frame(NamedTuple):
    object: str
    file: str
    function: str
    line: int


Stack = tuple[Frame, ...]  # from the first function on


class Profile(NamedTuple):
    events: list[str]
    first: str  # the event that a reader shows first
    samples: list[tuple[Stack, list[int]]]

    def column(self, event: str) -> list[tuple[Stack, int]]:
        place = self.events.index(event)
        return [(stack, values[place]) for stack, values in self.samples]

    def total(self, event: str) -> int:
        return sum(value for _, value in self.column(event))


def good(*arguments: str) -> bytes:
    result = call("tg_annotate", *arguments)
    assert (result.status, result.err) == (0, b"")
    return result.out


# ---------------------------------------------------------------- a reader of protocol buffers


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        assert key & 7 in (0, 2)
        if key & 7 == 0:
            yield key >> 3, value
        else:
            assert at + value <= len(data)
            yield key >> 3, data[at : at + value]
            at += value


def message(data: bytes) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for field, value in fields(data):
        found.setdefault(field, []).append(value)
    return found


def packed(data: bytes) -> list[int]:
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def one(found: dict[int, list[Any]], field: int) -> Any:
    values = found.get(field, [0])
    assert len(values) == 1
    return values[0]


def pprof(*arguments: str) -> Profile:
    whole = message(gzip.decompress(good(*arguments)))
    assert set(whole) <= {1, 2, 3, 4, 5, 6, 13, 14}
    texts = [text.decode() for text in whole[6]]
    assert texts[0] == "" and len(set(texts)) == len(texts)
    types = [message(kind) for kind in whole[1]]
    assert {texts[one(kind, 2)] for kind in types} <= {"count", "cycles"}
    objects = {0: "???"}
    for mapping in map(message, whole.get(3, [])):
        assert [one(mapping, has) for has in (7, 8, 9, 10)] == [1, 1, 1, 1]
        objects[one(mapping, 1)] = texts[one(mapping, 5)]
    functions = {}
    for function in map(message, whole.get(5, [])):
        assert one(function, 1) not in functions
        functions[one(function, 1)] = (texts[one(function, 4)], texts[one(function, 2)])
    locations = {}
    for location in map(message, whole.get(4, [])):
        line = message(one(location, 4))
        file, name = functions[one(line, 1)]
        assert one(location, 1) not in locations
        locations[one(location, 1)] = Frame(objects[one(location, 2)], file or "???", name, one(line, 2))
    assert 0 not in locations and 0 not in functions
    samples = []
    for sample in map(message, whole.get(2, [])):
        places, values = packed(one(sample, 1)), packed(one(sample, 2))
        assert len(values) == len(types)
        samples.append((tuple(locations[place] for place in reversed(places)), values))
    assert any(texts[comment].startswith("cmd: ") for comment in whole[13])
    return Profile([texts[one(kind, 1)] for kind in types], texts[one(whole, 14)], samples)


# ---------------------------------------------------------------- a reader of Firefox's profiles


def check_table(table: dict[str, Any]) -> None:
    columns = [column for name, column in table.items() if name not in ("length", "weightType")]
    assert columns and {len(column) for column in columns} == {table["length"]}


def firefox(event: str, *arguments: str) -> Profile:
    whole = json.loads(good(f"--to=firefox={event}", *arguments))
    meta = whole["meta"]
    assert (meta["preprocessedProfileVersion"], meta["version"]) == (58, 31)
    assert meta["categories"][0]["color"] == "grey"
    (thread,) = whole["threads"]
    texts = whole["shared"]["stringArray"]
    sources = whole["shared"]["sources"]
    tables = ("samples", "markers", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols")
    for table in (sources, *(thread[name] for name in tables)):
        check_table(table)
    stacks, frames, functions = (thread[name] for name in ("stackTable", "frameTable", "funcTable"))
    resources = thread["resourceTable"]

    def frame(number: int) -> Frame:
        function = frames["func"][number]
        resource, source = functions["resource"][function], functions["source"][function]
        library = "???" if resource < 0 else whole["libs"][resources["lib"][resource]]["path"]
        file = "???" if source is None else texts[sources["filename"][source]]
        return Frame(library, file, texts[functions["name"][function]], frames["line"][number] or 0)

    def stack(number: int | None) -> Stack:
        found: list[Frame] = []
        while number is not None:
            found.insert(0, frame(stacks["frame"][number]))
            prefix = stacks["prefix"][number]
            assert prefix is None or prefix < number
            number = prefix
        return tuple(found)

    samples = thread["samples"]
    assert samples["weightType"] == "samples"
    assert samples["time"] == sorted(set(samples["time"]))
    assert thread["name"].partition(":")[0] == event
    read = [(stack(number), [weight]) for number, weight in zip(samples["stack"], samples["weight"])]
    return Profile([event], event, read)


# ---------------------------------------------------------------- what they have


def totals(path: str) -> dict[str, int]:
    found = document(good("--format=json", "--show=all", path).decode())
    (rows,) = (table["rows"] for table in found["tables"] if table["name"] == "program")
    count = next(row for row in rows if row["measure"] == "count")
    return {event["name"]: count[event["name"]] for event in found["events"]}


@pytest.mark.parametrize("name", ["two-level", "three-level", "calls", "callgrind", "names", "odd-events"])
def test_each_event_adds_up_to_the_program_s_count(name: str) -> None:
    path = str(HERE / "data" / f"{name}.out")
    of_program = totals(path)
    for threshold in ("0", "0.1", "20"):
        profile = pprof("--to=pprof", f"--threshold={threshold}", path)
        assert {event: profile.total(event) for event in profile.events} == of_program
        for event in (event for event, count in of_program.items() if count):
            assert firefox(event, f"--threshold={threshold}", path).total(event) == of_program[event]


def by_line(event: str, path: str) -> dict[tuple[str, int], int]:
    options = ("--format=json", "--threshold=0", "--by=line", f"--show={event}")
    tables = document(good(*options, path).decode())["tables"]
    (rows,) = (table["rows"] for table in tables if table["name"] == "line")
    return {(row["file"], row["line"]): row[event] for row in rows if row[event]}


def test_without_calls_a_stack_is_a_line() -> None:
    path = str(HERE / "data" / "two-level.out")
    for profile in (pprof("--to=pprof", path), firefox("walks", path)):
        lines: Counter[tuple[str, int]] = Counter()
        for stack, walks in profile.column("walks"):
            (frame,) = stack
            lines[frame.file, frame.line] += walks
        assert {place: walks for place, walks in lines.items() if walks} == by_line("walks", path)


def of_functions(profile: Profile, event: str) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for stack, value in profile.column(event):
        if value:
            found[tuple(frame.function for frame in stack)] += value
    return found


def of_folded(path: str, event: str) -> Counter[tuple[str, ...]]:
    text = good(f"--to=folded={event}", "--threshold=0", path).decode()
    parted = (line.rpartition(" ") for line in text.splitlines())
    return Counter({tuple(stack.split(";")): int(count) for stack, _, count in parted})


@pytest.mark.parametrize("seed", range(8))
def test_stacks_are_those_of_the_folded_ones(seed: int, tmp_path: Path) -> None:
    path = str(by_chance(seed, FEW, recursive=False).write(tmp_path / "out"))
    for event in ("walks", "Ir"):
        folded = of_folded(path, event)
        profile = pprof("--to=pprof", "--threshold=0", path)
        assert of_functions(profile, event) == folded
        assert of_functions(firefox(event, "--threshold=0", path), event) == folded


def test_the_own_costs_of_a_function_with_one_caller_are_on_its_lines() -> None:
    path = str(HERE / "data" / "calls.out")
    rows = by_line("Ir", path)
    profile = pprof("--to=pprof", "--threshold=0", path)
    tables = {stack: value for stack, value in profile.column("Ir") if stack[-1].function == "table"}
    assert tables
    for stack, value in tables.items():
        assert rows[stack[-1].file, stack[-1].line] == value
    # A frame that calls has no line, since an out-file does not say from which line.
    callers = {frame for stack, _ in profile.samples for frame in stack[:-1]}
    assert callers and all(frame.line == 0 for frame in callers)


def test_what_is_below_the_threshold_counts_for_the_function_above_it(tmp_path: Path) -> None:
    trace = Trace()
    for name, walks in (("main", 1), ("middle", 900), ("inner", 99)):
        trace.call(name)
        trace.cost(walks)
    path = str(trace.write(tmp_path / "out"))
    assert of_functions(pprof("--to=pprof", "--threshold=50", path), "walks") == {
        ("main",): 1,
        ("main", "middle"): 900,
        ("main", "middle", "inner"): 99,
    }
    trace.call("innermost")
    trace.cost(1)
    path = str(trace.write(tmp_path / "out"))
    assert ("main", "middle", "inner", "innermost") in of_functions(pprof("--to=pprof", path), "walks")
    assert of_functions(pprof("--to=pprof", "--threshold=50", path), "walks")["main", "middle", "inner"] == 100


def test_the_event_of_the_option_comes_first(tmp_path: Path) -> None:
    path = str(write(tmp_path / "out", {"main": 5}, {}))
    assert pprof("--to=pprof", path).first == "walks"
    assert pprof("--to=pprof=Dr", path).first == "Dr"
    assert pprof("--to=pprof", "--sort=Ir", path).first == "Ir"
    assert pprof("--to=pprof", path).events == EVENTS + SUMS
    for form in ("pprof", "firefox"):
        status, out, err = call("tg_annotate", f"--to={form}=walk", path).text()
        assert (status, out) == (1, "")
        assert err.startswith("tg_annotate: error: argument --to: no event 'walk'; there are Ir, ")


def test_the_same_file_gives_the_same_bytes() -> None:
    path = str(HERE / "data" / "calls.out")
    for form in ("--to=pprof", "--to=firefox"):
        assert good(form, path) == good(form, path)


def test_where_nothing_was_counted_there_are_no_samples(place: Path) -> None:
    result = run(place, "--to=pprof", "empty.out")
    assert result.status == 0 and 2 not in message(gzip.decompress(result.out))
    result = run(place, "--to=firefox", "empty.out")
    assert (result.status, result.out) == (0, b"")
    assert b"warning: no stacks, for nothing was counted" in result.err
