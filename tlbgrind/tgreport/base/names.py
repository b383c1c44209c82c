# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Shortens names of functions, files and objects, so that a row fits into a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Callable

_CUT = "..."

# "<" begins template arguments behind a name, but not in operator<, operator<< and operator<=>.
_OPERATOR = re.compile(r"operator\s*(<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)")
# Rust's newer names have "::" before them, and "<impl Trait for Type>" there, which is a name.
_ARGUMENTS = re.compile(r"(?<=[\w)])<|(?<=operator<=>)<|(?<=::)<(?!impl )")

# The type arguments of a generic function of Go, in its symbol.
_SHAPES = "[go.shape."


def fold(name: str) -> str:
    """The name with its template arguments as "<...>", where that is shorter; those of Go as "[...]"."""
    if _SHAPES in name:
        name = _without_shapes(name)
    if "<" not in name:
        return name
    text: list[str] = []
    at = 0
    for begin, end in _brackets(name):
        if end - begin > len(_CUT) + 2:
            text += [name[at : begin + 1], _CUT]
            at = end - 1
    return "".join((*text, name[at:]))


def _without_shapes(name: str) -> str:
    text, at = "", 0
    while (begin := name.find(_SHAPES, at)) >= 0:
        end = closing(name, begin, "[", "]")
        if end is None:
            break
        text += f"{name[at:begin]}[{_CUT}]"
        at = end
    return text + name[at:]


def _brackets(name: str) -> Iterator[tuple[int, int]]:
    """The outermost template arguments: where they begin, and where they end."""
    at = 0
    while True:
        operator = _OPERATOR.search(name, at)
        found = _ARGUMENTS.search(name, at)
        if found is None:
            return
        if operator is not None and operator.start() < found.start() < operator.end():
            at = operator.end()
            # Behind operator< itself arguments may follow: operator< <int>.
            continue
        end = closing(name, found.start(), "<", ">")
        if end is None:
            return
        yield found.start(), end
        at = end


def closing(text: str, begin: int, opening: str, closing: str) -> int | None:
    """The end of the bracket that begins there. An arrow closes none."""
    depth = 0
    for place in range(begin, len(text)):
        letter = text[place]
        if letter == opening:
            depth += 1
        elif letter == closing and text[place - 1] != "-":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


_FOLDERS = re.compile(r"(?:\.\.\.|[^\s\[\]:/]*)(?:/[^\s\[\]:/]+)*/(?=[^\s\[\]:/]+)")


def _without_folders_of_objects(text: str) -> str:
    head, bracket, tail = text.rpartition("[")
    return head + bracket + _without_folders(tail) if bracket and tail.endswith("]") else text


def _without_folders(text: str) -> str:
    """Each path as its last part, with dots before it."""
    return _FOLDERS.sub(lambda path: _shorter(path[0], _CUT + "/"), text)


# Behind a name, and not behind "operator": "(anonymous namespace)", "(below main)" and the call operator
# are no parameters, nor is the type of a method of Go, as in "json.(*Decoder).Decode".
_PARAMETERS = re.compile(r"(?<=[^:\s.])(?<!operator)\(")


def _without_parameters(text: str) -> str:
    found = _PARAMETERS.search(text)
    begin = found.start() if found is not None else 0
    end = closing(text, begin, "(", ")") if begin > 0 else None
    if end is None:
        return text
    return text[: begin + 1] + _shorter(text[begin + 1 : end - 1], _CUT) + text[end - 1 :]


def _without_marks(text: str) -> str:
    """Without the dots where folders were."""
    return re.sub(r"(?<![^\s\[])\.\.\./", "", text)


def _without_file(text: str) -> str:
    """A function without its source file; a line keeps it."""
    return re.sub(r"\A[^\s:\[\]]+:(?=[^\s:0-9])", "", text)


def _shorter(text: str, other: str) -> str:
    return other if len(other) < len(text) else text


# What is left out first, for a label that is too long: "FILE:FUNCTION [OBJECT]", "FILE", "OBJECT".
_STEPS: tuple[Callable[[str], str], ...] = (
    _without_folders_of_objects,
    _without_folders,
    _without_parameters,
    _without_marks,
)
_OBJECT = re.compile(r"(?<=\S) \[[^\[\]]*\]\Z")
_NO_PARAMETERS = re.compile(r"\((?:\.\.\.)?\)(?: const)?\Z")
_LEAST = 24  # columns of a name whose object stays


def fit(text: str, room: int) -> str:
    """The text in so many columns: what it calls the function goes last, and of that the end stays.

    The object stays, if there is room for it without the source file.
    """
    for step in _STEPS:
        if len(text) <= room:
            return text
        text = step(text)
    if len(text) <= room:
        return text
    found = _OBJECT.search(text)
    if found is None:
        return _fit_function(text, room)
    name = text[: found.start()]
    least = min(_LEAST, len(_without_file(name)))
    for whole in (found[0], f" [{found[0][2:-1].rpartition('/')[2]}]"):  # of a path with blanks
        if room - len(whole) >= least:
            return _fit_function(name, room - len(whole)) + whole
    return _fit_function(name, room)


def _fit_function(name: str, room: int) -> str:
    """First without the file, then without the scopes that the function is in, the outermost first,
    then without its parameters; the middle of what remains goes last."""
    if len(name) <= room:
        return name
    function = _without_file(name)
    if len(marked := f"{_CUT}:{function}") <= room and len(marked) < len(name):
        return marked
    texts = [function, *_with_fewer_scopes(function)]
    texts.append(_NO_PARAMETERS.sub("", texts[-1]))
    texts.append(texts[-1].replace(f"{_CUT}::", ""))
    return next((text for text in texts if len(text) <= room), _cut_out(texts[-1], room))


def _with_fewer_scopes(name: str) -> Iterator[str]:
    depth = begin = 0
    inside = False
    for place, letter in enumerate(name):
        if letter in "<([{":
            depth += 1
        elif letter in ">)]}" and not name.startswith("->", place - 1):
            depth = max(0, depth - 1)
        elif depth > 0:
            continue
        elif letter == " ":
            if inside:
                return
            begin = place + 1  # behind a type that is returned, or a word before the function
        elif place > begin and name.startswith("::", place):
            inside = True
            yield name[:begin] + _CUT + name[place:]


def _cut_out(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    left = (room - len(_CUT)) // 2
    right = room - len(_CUT) - left
    return text[:left] + _CUT + text[len(text) - right :]


def shortened(labels: Sequence[str], room: int, folder: str) -> list[str]:
    """The labels with folded templates and paths relative to the folder, in so many columns.

    Two that differ stay different: those that would look alike are shortened less.
    """
    inside = re.compile(rf"(^|[\s\[]){re.escape(folder.rstrip('/'))}/(?=[^/\s])")

    def relative(label: str) -> str:
        return inside.sub(r"\1", label)

    def fitted(folds: bool, columns: int, label: str) -> str:
        name = relative(label)
        return fit(fold(name) if folds else name, columns)

    steps: list[Callable[[str], str]] = [
        partial(fitted, folds, room * halves // 2) for folds in (True, False) for halves in (2, 3, 4, 6)
    ]
    steps += [relative, str]
    short: dict[str, str] = {}
    alike = list(labels)
    for step in steps:
        short.update((label, step(label)) for label in alike)
        times = Counter(short.values())
        alike = [label for label, text in short.items() if times[text] > 1]
        if not alike:
            break
    return [short[label] for label in labels]


def cut(text: str, room: int) -> str:
    """The begin of the text, in so many columns."""
    return text if len(text) <= room else text[: max(0, room - len(_CUT))] + _CUT
