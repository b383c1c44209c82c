# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes an out-file of a data file, so that all tables can be made of it, and of parts of it."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from operator import add
from typing import Callable

from ..base.errors import ReportError
from ..base.functions import matching, named, near
from ..base.progress import Progress
from ..base.terminal import Screen
from ..base.text import aligned
from ..formats import datafile, outfile
from ..formats.datafile import DataFile, DataObject, Frame, Section
from ..formats.outfile import Counts, OutFile, Run
from ..formats.share import described
from .members import Members, Naming
from .profile import Profile
from .selection import Selection


@dataclass
class OutFileOfData(OutFile):
    objects: dict[str, DataObject] = field(default_factory=dict)  # by label


INSTRUCTIONS = "(instructions)"
NO_OFFSET = "no offset"

# What stands between the program and its memory in a call stack.
_ALLOCATORS = ("malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "valloc",
               "pvalloc", "posix_memalign", "mmap", "mmap64", "strdup", "strndup")  # fmt: skip
_WRAPPERS = ("operator new", "std::", "__gnu_cxx::", "void std::", "__libc_", "_Zn")
_FRAMES = 2  # of a label


def _is_of_program(frame: Frame) -> bool:
    return frame.function not in _ALLOCATORS and not frame.function.startswith(_WRAPPERS)


@cache
def place(frame: Frame) -> str:
    if frame.line:
        return f"{frame.function} ({os.path.basename(frame.file)}:{frame.line})"
    return f"{frame.function} ({os.path.basename(frame.object)})"


def _caller(obj: DataObject) -> str:
    frames = [frame for frame in obj.stack if frame.function != "(below main)"]
    first = next((i for i, frame in enumerate(frames) if _is_of_program(frame)), 0)
    return " < ".join(map(place, frames[first : first + _FRAMES])) or "before the program starts"


def _label(obj: DataObject) -> str:
    if obj.kind == "heap":
        return f"heap {_caller(obj)}"
    if obj.kind == "mapping":
        return f"mmap {_caller(obj)}"
    return {
        "variable": f"variable {obj.name} [{os.path.basename(obj.file)}]",
        "stack": f"stack of {obj.name}",
        "file": f"file {obj.name}",
        "named": f"named {obj.name}",
        "allocator": "(allocator's own memory)",
        "sysv": "(System V memory)",
        "unknown": "(unknown)",
    }[obj.kind]


def labels_of(data: DataFile) -> dict[int, str]:
    """By number. Where two objects would have one label, their numbers tell them apart."""
    labels = {number: _label(obj) for number, obj in data.objects.items()}
    uses = Counter(labels.values())
    return {
        0: INSTRUCTIONS,
        **{n: f"{label} #{n}" if uses[label] > 1 else label for n, label in labels.items()},
    }


def _exactly(label: str, obj: DataObject) -> tuple[object, ...]:
    return obj.kind, obj.symbol or obj.name, obj.file, tuple(obj.stack)


def _but_for_lines(label: str, obj: DataObject) -> tuple[object, ...]:
    frames = tuple((frame.function, frame.object) for frame in obj.stack)
    return obj.kind, obj.symbol or obj.name, obj.file, frames


def _by_text(label: str, obj: DataObject) -> tuple[object, ...]:
    """Of one whose text is no other's; else it is its own."""
    return (label,) if label == _label(obj) else (label, id(obj))


# How an object is found again in another run: of several that look alike the first is the first.
_LOOKS = (_exactly, _but_for_lines, _by_text)


def with_common_labels(files: Sequence[OutFile]) -> list[OutFile]:
    """Gives what is one object in several runs one label, that of the first file that has it, and
    different ones different labels: the numbers in labels are those of one file."""
    known: dict[str, DataObject] = {}
    found: list[OutFile] = []
    for out in files:
        if isinstance(out, OutFileOfData):
            names = _found_again(out, known)
            for label, obj in out.objects.items():
                known.setdefault(names[label], obj)
            names[INSTRUCTIONS] = INSTRUCTIONS
            data = {names[label]: counts for label, counts in out.data.items()}
            offsets = {(names[label], offset): counts for (label, offset), counts in out.offsets.items()}
            objects = {names[label]: obj for label, obj in out.objects.items()}
            out = replace(out, data=data, offsets=offsets, objects=objects)
        found.append(out)
    return found


def _found_again(out: OutFileOfData, known: Mapping[str, DataObject]) -> dict[str, str]:
    """The labels of a file, and what they are among those known."""
    names: dict[str, str] = {}
    free = dict(known)
    for looks in _LOOKS:
        alike: dict[tuple[object, ...], list[str]] = {}
        for label, obj in free.items():
            alike.setdefault(looks(label, obj), []).append(label)
        for label, obj in out.objects.items():
            fitting = alike.get(looks(label, obj)) if label not in names else None
            if fitting:
                names[label] = fitting.pop(0)
                del free[names[label]]
    for label in out.objects:
        if label not in names:
            names[label] = f"{label} of {out.path}" if label in known else label
    return names


def _section(data: DataFile, machine: str | None) -> Section:
    names = [section.machine for section in data.sections]
    if machine is None and len(names) == 1:
        return data.sections[0]
    if machine in names:
        return data.sections[names.index(machine)]
    wrong = "choose one with --machine" if machine is None else f"--machine: no '{machine}'"
    raise ReportError(f"{wrong}; there are {', '.join(names)}", data.path)


_Find = Callable[[Iterable[str], str], set[str]]


def _identical(names: Iterable[str], wanted: str) -> set[str]:
    return {wanted} & set(names)


def _variables(data: DataFile) -> dict[int, str]:
    """What has a name of the program's."""
    return {n: obj.name for n, obj in data.objects.items() if obj.kind in ("variable", "named")}


def _matching(data: DataFile, labels: dict[int, str], of: str, find: _Find) -> set[int]:
    """The numbers of the objects that `of` means: a number, a name, a label or a pattern of one."""
    if of.startswith("#") and of[1:].isdecimal():
        return {int(of[1:])} & set(labels)
    variables = _variables(data)
    names = find(variables.values(), of)
    if names:
        return {number for number, name in variables.items() if name in names}
    return {n for n, label in labels.items() if label == of or fnmatchcase(label, of)}


def _rows_of(
    data: DataFile,
    section: Section,
    labels: dict[int, str],
    of: str,
    prefers_code: bool,
    warnings: list[str],
) -> list[datafile.Row]:
    functions = {row.function.name for row in section.rows}
    # What is called exactly so comes before what is so but for its parameters or scopes.
    for find in (_identical, named):
        names = find(functions, of)
        objects = _matching(data, labels, of, find)
        if names and (prefers_code or not objects):
            if len(names) > 1:
                warnings.append(f"{data.path}: --of={of} is of all of {', '.join(sorted(names))}")
            return [row for row in section.rows if row.function.name in names]
        if objects:
            return [row for row in section.rows if row.object in objects]
    raise ReportError(
        f"argument --of: no function and no data '{of}'; --by=function and --by=data list them"
        f"{near(functions.union(_variables(data).values()), of)}",
        data.path,
    )


def _sum(rows: Sequence[datafile.Row], width: int) -> Counts:
    return tuple(map(sum, zip(*(row.counts for row in rows)))) if rows else (0,) * width


def _of_type(data: DataFile, which: str) -> set[int]:
    """What --of takes, and what functions of that name have allocated."""
    labels = labels_of(data)
    found = _matching(data, labels, which, _identical)
    if found:
        return found
    code = matching((frame.function for obj in data.objects.values() for frame in obj.stack), which)
    return {
        number
        for number, obj in data.objects.items()
        if any(frame.function in code for frame in obj.stack)
    } or _matching(data, labels, which, named)


def _offset(number: int, offset: int | None, members: Members | None) -> str:
    if offset is None:
        return NO_OFFSET
    name = members.at(number, offset) if members is not None else ""
    return f"{offset} ({offset:#x})" + (f" {name}" if name else "")


def _miss_cycles(data: DataFile, section: Section) -> list[tuple[str, str]]:
    said = data.header.get("miss-cycles", "").split(", ")
    at = data.sections.index(section)
    instructions = dict(zip(section.events, section.totals)).get("Ir", 0)
    return described(said[at], instructions) if at < len(said) else []


def head(data: DataFile, section: Section) -> OutFileOfData:
    """What a machine's costs are of, and their sums."""
    out = OutFileOfData(data.path, data.mtime)
    out.creator = data.header.get("creator", "")
    out.command = data.header.get("cmd", "")
    out.pid = data.header.get("pid", "")
    out.descriptions = [("Machine", section.machine), *_miss_cycles(data, section)]
    out.events, out.events_line = section.events, section.events_line
    out.whole = out.totals = section.totals
    return out


def out_file(
    data: DataFile,
    machine: str | None,
    of: str | None,
    prefers_code: bool,
    warnings: list[str],
    members: Members | None = None,
) -> OutFile:
    section = _section(data, machine)
    labels = labels_of(data)
    rows = section.rows
    if of is not None:
        rows = _rows_of(data, section, labels, of, prefers_code, warnings)
    flat: dict[tuple[outfile.Function, str], array[int]] = {}
    places: dict[tuple[int, int | None], Counts] = {}
    for function, file, line, number, offset, counts in rows:
        flat.setdefault((function, file), array("Q")).extend((line, *counts))
        known = places.get((number, offset))
        places[number, offset] = counts if known is None else tuple(map(add, known, counts))
    by_data: dict[str, Counts] = {}
    by_offset: dict[tuple[str, str], Counts] = {}
    for (number, offset), counts in places.items():
        label = labels[number]
        by_offset[label, _offset(number, offset, members)] = counts
        known = by_data.get(label)
        by_data[label] = counts if known is None else tuple(map(add, known, counts))
    width = 1 + len(section.events)
    out = head(data, section)
    out.runs = {key: Run(run, width) for key, run in flat.items()}
    out.totals = _sum(rows, len(section.events))
    out.data, out.offsets = by_data, by_offset
    out.objects = {labels[number]: obj for number, obj in data.objects.items()}
    return out


def read(
    path: str,
    machine: str | None,
    of: str | None,
    by: Sequence[str],
    naming: Naming,
    warnings: list[str],
    progress: Progress,
) -> OutFile:
    """An out-file, or what there is in a data file of that machine and of that code or data."""
    of_data = next((what for what in by if what in ("data", "data:offset")), None)
    # Of a pipe nothing can be read twice: it is what it is asked for.
    is_pipe = os.path.exists(path) and not os.path.isfile(path)
    if datafile.is_data_file(path) or is_pipe and (of_data is not None or of is not None):
        data = datafile.read(path)
        if "data:offset" in by and "offsets" not in data.header:
            raise ReportError("--by=data:offset takes data files of --data-offsets=yes", path)
        members = Members(data, naming, _of_type) if "data:offset" in by else None
        return out_file(data, machine, of, of_data is not None, warnings, members)
    if os.path.exists(path) and (of_data is not None or of is not None):
        what = "--of" if of_data is None else f"--by={of_data}"
        why = "a run with --data=yes writes them, tlbgrind.data.PID"
        raise ReportError(f"{what} takes data files, and this is none; {why}", path)
    return outfile.read(path, progress)


def _average(obj: DataObject) -> str:
    return f"{obj.touched / obj.pages:,.1f}" if obj.pages else ""


_RECORDS = {
    "block": "block",
    "calloc": "element of calloc",
    "variable": "variable",
    "named": "named range",
    "given": "--data-stride",
    "seen": "by references",
}


def _record(obj: DataObject) -> str:
    if obj.record is None:
        return ""
    size, how = obj.record
    what = _RECORDS.get(how, how)
    return f"{size:,} ({what})" if size else f"several ({what})"


def details(profile: Profile, selection: Selection, screen: Screen) -> list[str]:
    """What the run says of the data in a table: how much there is of it, and the call stacks."""
    heads = ["object", "blocks", "bytes", "pages", "touched", "per page"]
    has_records = any(
        obj.record for out in profile.files if isinstance(out, OutFileOfData) for obj in out.objects.values()
    )
    rows: list[tuple[str, ...]] = [(*heads, *(["record"] if has_records else []), "data")]
    stacks: list[str] = []
    sums = {label: counts for label, counts in profile.data().items() if selection.matters(counts)}
    for label in sorted(sums, key=lambda label: (selection.rank(sums[label]), label)):
        for out in profile.files:
            obj = out.objects.get(label) if isinstance(out, OutFileOfData) else None
            if obj is None:
                continue
            numbers = (obj.blocks, obj.bytes, obj.pages, obj.touched)
            cells = [f"{number:,}" if number else "" for number in numbers]
            record = [_record(obj)] if has_records else []
            rows.append((f"#{obj.number}", *cells, _average(obj), *record, label))
            if obj.stack:
                stacks += [f"#{obj.number}  {label}", *(f"    {place(f)}" for f in obj.stack), ""]
    if len(rows) == 1:
        return []
    text = [*screen.title("Data: blocks and bytes allocated, pages and bytes touched"), *aligned(rows), ""]
    return text + ([*screen.title("Call stacks of the data"), *stacks] if stacks else [])
