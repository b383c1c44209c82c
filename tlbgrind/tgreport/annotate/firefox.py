# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes a profile for the Firefox Profiler: its processed format, of a version that it upgrades.

The profile has one thread, whose samples are stacks, and their weights the counts of one event.
"""

from __future__ import annotations

import json
import os
from typing import Any

from .._version import VERSION
from ..base.errors import printable
from ..formats.outfile import Function
from .events import Event
from .profile import Profile
from .stacks import ROOT, Frame, Stacks, frame_name, known

# The versions of Firefox's own format and of the processed one. The profiler reads all older ones.
_GECKO, _PROCESSED = 31, 58

_LIBRARY = 1  # a kind of resource


class _Table:
    """Rows by what they are, written as columns."""

    def __init__(self, *columns: str) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in columns}
        self.numbers: dict[object, int] = {}

    def number(self, key: object) -> int | None:
        return self.numbers.get(key)

    def add(self, key: object, *row: object) -> int:
        number = self.numbers[key] = len(self.numbers)
        for column, value in zip(self.columns.values(), row):
            column.append(value)
        return number

    def written(self) -> dict[str, Any]:
        return {**self.columns, "length": len(self.numbers)}


class _Thread:
    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.libs: list[dict[str, Any]] = []
        self.sources = _Table("uuid", "filename")
        self.resources = _Table("lib", "name", "host", "type")
        self.functions = _Table(
            *("name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber")
        )
        self.frames = _Table(
            *("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"),
            *("innerWindowID", "line", "column"),
        )

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def resource(self, path: str) -> int:
        """-1: none."""
        if not path:
            return -1
        number = self.resources.number(path)
        if number is None:
            name = os.path.basename(path) or path
            lib = {"arch": "", "name": name, "path": path, "debugName": name, "debugPath": path}
            self.libs.append({**lib, "breakpadId": "", "codeId": None})
            number = self.resources.add(path, len(self.libs) - 1, self.string(name), None, _LIBRARY)
        return number

    def source(self, path: str) -> int | None:
        if not path:
            return None
        number = self.sources.number(path)
        return self.sources.add(path, None, self.string(path)) if number is None else number

    def function(self, function: Function, file: str) -> int:
        number = self.functions.number((function, file))
        if number is None:
            name = self.string(frame_name(function))
            resource = self.resource(known(function.object))
            source = self.source(known(file))
            row = (name, False, False, resource, source, None, None)
            number = self.functions.add((function, file), *row)
        return number

    def frame(self, frame: Frame) -> int:
        number = self.frames.number(frame)
        if number is None:
            function = self.function(frame.function, frame.file)
            row = (-1, 0, 0, 0, function, None, None, frame.line or None, None)
            number = self.frames.add(frame, *row)
        return number


def firefox(profile: Profile, stacks: Stacks, event: Event) -> list[str]:
    thread = _Thread()
    weights = [(place, event.of(counts)) for place, counts in stacks.samples]
    samples = [(place, weight) for place, weight in weights if weight]
    # Of the stacks, only those that lead to a sample.
    used = sorted({at for place, _ in samples for at in stacks.way(place)})
    numbers = {place: number for number, place in enumerate(used)}
    numbers[ROOT] = ROOT
    prefixes = [numbers[stacks.callers[place]] for place in used]
    stack_table = {
        "frame": [thread.frame(stacks.frames[place]) for place in used],
        "prefix": [None if prefix == ROOT else prefix for prefix in prefixes],
        "length": len(used),
    }
    command = printable(" / ".join(dict.fromkeys(out.command for out in profile.files if out.command)))
    descriptions = profile.files[0].descriptions
    facts = [
        {"label": printable(name), "format": "string", "value": printable(value)}
        for name, value in descriptions
    ]
    title = f"{event.name}: {event.meaning}" if event.meaning else event.name
    whole = {
        "meta": {
            "interval": 1,
            "startTime": 0,
            "processType": 0,
            "product": command or "tlbgrind",
            "importedFrom": f"tlbgrind {VERSION}",
            "arguments": command,
            "stackwalk": 1,
            "version": _GECKO,
            "preprocessedProfileVersion": _PROCESSED,
            "symbolicated": True,
            "symbolicationNotSupported": True,
            "usesOnlyOneStackType": True,
            "sourceCodeIsNotOnSearchfox": True,
            "categories": [{"name": "Other", "color": "grey", "subcategories": ["Other"]}],
            "markerSchema": [],
            "extra": [{"label": "tlbgrind", "entries": facts}],
        },
        "threads": [
            {
                "name": printable(title),
                "isMainThread": True,
                "processType": "default",
                "processName": command,
                "processStartupTime": 0,
                "processShutdownTime": None,
                "registerTime": 0,
                "unregisterTime": None,
                "pausedRanges": [],
                "pid": profile.files[0].pid or "0",
                "tid": profile.files[0].pid or "0",
                "samples": {
                    "stack": [numbers[place] for place, _ in samples],
                    "time": list(range(len(samples))),
                    "weight": [weight for _, weight in samples],
                    "weightType": "samples",
                    "length": len(samples),
                },
                "markers": _Table(
                    "data", "name", "startTime", "endTime", "phase", "category"
                ).written(),
                "stackTable": stack_table,
                "frameTable": thread.frames.written(),
                "funcTable": thread.functions.written(),
                "resourceTable": thread.resources.written(),
                "nativeSymbols": _Table("libIndex", "address", "name", "functionSize").written(),
            }
        ],
        "libs": thread.libs,
        "shared": {"stringArray": list(thread.strings), "sources": thread.sources.written()},
    }
    return [json.dumps(whole, ensure_ascii=True, separators=(",", ":"))]
