# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes a profile for pprof: its protocol buffer, compressed by gzip.

Its readers take the file of github.com/google/pprof/proto/profile.proto, whose field numbers these are.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from .._version import VERSION
from ..base.errors import printable
from ..formats.outfile import Function
from .events import Event, Events
from .profile import Profile
from .stacks import Frame, Stacks, frame_name, known

# Fields of a profile.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_COMMENT, _DEFAULT_SAMPLE_TYPE = 13, 14


class Message:
    """A protocol buffer in the making: fields one behind the other."""

    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, field: int, value: int) -> None:
        """What is 0 is left out: a reader takes it for that."""
        if value:
            _add_varint(self.data, field << 3)
            _add_varint(self.data, value)

    def numbers(self, field: int, values: Iterable[int]) -> None:
        """A repeated field, packed."""
        packed = bytearray()
        for value in values:
            _add_varint(packed, value)
        self.bytes(field, packed)

    def bytes(self, field: int, value: bytes | bytearray) -> None:
        _add_varint(self.data, field << 3 | 2)
        _add_varint(self.data, len(value))
        self.data += value


def _add_varint(data: bytearray, value: int) -> None:
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)


class _Strings:
    """The table of texts, of which number 0 is the empty one."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def __getitem__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


class _Writer:
    def __init__(self) -> None:
        self.profile = Message()
        self.strings = _Strings()
        self.mappings: dict[str, int] = {}
        self.functions: dict[tuple[Function, str], int] = {}
        self.locations: dict[Frame, int] = {}

    def mapping(self, name: str) -> int:
        """Number 0: none."""
        if not name:
            return 0
        number = self.mappings.get(name)
        if number is None:
            number = self.mappings[name] = len(self.mappings) + 1
            mapping = Message()
            mapping.number(1, number)
            mapping.number(5, self.strings[name])
            for has in (7, 8, 9, 10):  # functions, files, lines, inlined frames: nothing to look up
                mapping.number(has, 1)
            self.profile.bytes(_MAPPING, mapping.data)
        return number

    def function(self, function: Function, file: str) -> int:
        number = self.functions.get((function, file))
        if number is None:
            number = self.functions[function, file] = len(self.functions) + 1
            name = self.strings[frame_name(function)]
            message = Message()
            message.number(1, number)
            message.number(2, name)
            message.number(3, name)
            message.number(4, self.strings[known(file)])
            self.profile.bytes(_FUNCTION, message.data)
        return number

    def location(self, frame: Frame) -> int:
        number = self.locations.get(frame)
        if number is None:
            number = self.locations[frame] = len(self.locations) + 1
            line = Message()
            line.number(1, self.function(frame.function, frame.file))
            line.number(2, frame.line)
            message = Message()
            message.number(1, number)
            message.number(2, self.mapping(known(frame.function.object)))
            message.bytes(4, line.data)
            self.profile.bytes(_LOCATION, message.data)
        return number


def _unit(event: Event) -> str:
    return "cycles" if event.name == "Wcyc" else "count"


def pprof(profile: Profile, stacks: Stacks, first: Event | None) -> bytes:
    """All events, recorded ones and sums; readers show `first` unless they are asked for another."""
    writer = _Writer()
    events = list(Events(profile).by_name.values())
    for event in events:
        kind = Message()
        kind.number(1, writer.strings[event.name])
        kind.number(2, writer.strings[_unit(event)])
        writer.profile.bytes(_SAMPLE_TYPE, kind.data)
    for place, counts in stacks.samples:
        sample = Message()
        sample.numbers(1, map(writer.location, stacks.stack(place)))
        sample.numbers(2, (event.of(counts) for event in events))
        writer.profile.bytes(_SAMPLE, sample.data)
    commands = dict.fromkeys(out.command for out in profile.files if out.command)
    facts = [f"{name}: {value}" for name, value in profile.files[0].descriptions]
    for text in (f"tg_annotate {VERSION}", *(f"cmd: {command}" for command in commands), *facts):
        writer.profile.number(_COMMENT, writer.strings[printable(text)])
    if first is not None:
        writer.profile.number(_DEFAULT_SAMPLE_TYPE, writer.strings[first.name])
    for text in writer.strings.numbers:
        writer.profile.bytes(_STRING, text.encode("utf-8", "replace"))
    return gzip.compress(bytes(writer.profile.data), mtime=0)
