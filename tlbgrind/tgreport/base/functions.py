# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the functions that an option names.

All options that take a function's name take the same: the whole name; or the name without parameters,
result, template arguments and a compiler's suffix; or the last parts of such a name. What a name is
equal to in an earlier of these ways hides what it is equal to in a later one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from typing import Callable

from .closest import did_you_mean
from .names import closing

# What compilers append to a name, which differs from build to build. The pieces are separated by
# dots: foo.constprop.0.cold, foo.__uniq.1234.llvm.5678.
_SUFFIX = re.compile(
    r"\.(?:llvm\.[0-9]+|__uniq\.[0-9]+|part\.[0-9]+|isra\.[0-9]+|constprop\.[0-9]+|"
    r"lto_priv\.[0-9]+|localalias(?:\.[0-9]+)?|cold(?:\.[0-9]+)?|clone\.[0-9]+|"
    r"specialized\.[0-9]+|warm|[0-9]+)\Z"
)

# What may mean more than itself in the name of a function of C++ or Rust.
_MARK = re.compile(r"::|[ (<\[{]|\boperator\b")
_CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_OPERATOR = re.compile(
    r"operator\s*(?:\(\)|\[\]|,|(?:new|delete)\b(?:\[\])?|<=>|<<=?|>>=?|->\*?|&&|\|\||\+\+|--"
    r"|[-+*/%^&|~!=<>]=?|[^(]*)\s*"
)
# Behind the parameters of a function in which another one is.
_OUTER = re.compile(r"(?: const| volatile| &&?)*(?=::)")


def stripped(name: str) -> list[str]:
    """The name with one compiler's suffix less, with two, and so on."""
    out: list[str] = []
    while True:
        shorter = _SUFFIX.sub("", name)
        if shorter == name or not shorter:
            return out
        out.append(shorter)
        name = shorter


def _parts(name: str) -> tuple[list[str], list[str]]:
    """The scopes and the name in them, without parameters and result: with and without template
    arguments."""
    whole, bare = [""], [""]
    at = 0
    while at < len(name):
        found = _MARK.search(name, at)
        end = len(name) if found is None else found.start()
        whole[-1] += name[at:end]
        bare[-1] += name[at:end]
        if found is None:
            break
        mark, at = found[0], found.end()
        if mark == "::":
            whole.append("")
            bare.append("")
        elif mark == " ":  # behind the result, or behind "virtual thunk to"
            whole, bare = [""], [""]
        elif mark == "operator":
            operator = _OPERATOR.match(name, end)
            at = at if operator is None else operator.end()
            whole[-1] += name[end:at].rstrip()
            bare[-1] += name[end:at].rstrip()
        else:
            at = closing(name, end, mark, _CLOSING[mark]) or len(name)
            if mark == "(" and bare[-1]:
                outer = _OUTER.match(name, at)
                if outer is None:
                    break
                at = outer.end()
            else:
                # What begins a part is no argument: (anonymous namespace), {lambda()#1}, <T as Trait>.
                bare[-1] += "" if bare[-1] else name[end:at]
                whole[-1] += name[end:at]
    return whole, bare


def _plain(name: str) -> list[str]:
    """The names without parameters."""
    whole, bare = _parts(name)
    return ["::".join(whole), "::".join(bare), *stripped("::".join(bare))]


def _last(name: str) -> Iterator[str]:
    """The last parts of the names."""
    whole, bare = _parts(name)
    for at in range(1, len(whole)):
        yield from ("::".join(whole[at:]), "::".join(bare[at:]), "::".join((*whole[at:-1], bare[-1])))


def _found(names: Iterable[str], fits: Callable[[str], object], ending: str) -> set[str]:
    """Of the first way to look at names in which one fits, all that do."""
    names = set(names)
    return (
        {name for name in names if fits(name)}
        or {name for name in names if any(map(fits, _plain(name)))}
        or {name for name in names if (ending and name.endswith(ending)) or any(map(fits, _last(name)))}
    )


def named(names: Iterable[str], wanted: str) -> set[str]:
    """Those of the names that an option means by `wanted`."""
    # A part of it that all these names have: it saves to take the others apart.
    key = re.match(r"\w*", wanted.rpartition("::")[2])
    piece = key[0] if key is not None else ""
    return _found((name for name in names if piece in name), wanted.__eq__, f"::{wanted}")


def matching(names: Iterable[str], pattern: str) -> set[str]:
    """Those that it means as a name or, if there is none, as a pattern, in which only * and ? are
    more than themselves: names have brackets."""
    known = set(names)
    found = named(known, pattern)
    if found or not re.search(r"[*?]", pattern):
        return found
    return _found(known, re.compile(translate(pattern.replace("[", "[[]"))).match, "")


def near(names: Iterable[str], wanted: str) -> str:
    """A question to put behind an error: which name was meant."""
    known = set(names)
    for name in set(known):
        bare = _parts(name)[1]
        known.update("::".join(bare[at:]) for at in range(len(bare)))
    return did_you_mean(wanted, sorted(known))
