# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs a companion's call: options, errors in one line, output at the end."""

from __future__ import annotations

import argparse
import gc
import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import BinaryIO, Callable, NoReturn
from zlib import adler32

from .._version import VERSION
from .closest import did_you_mean
from .errors import ReportError, printable

LIST_OPTIONS = "--list-options"


class ListedOptions(Exception):
    """The answer to --list-options, which the completion of shells asks for."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines


class Parser(argparse.ArgumentParser):
    """Complains in the way of all companions, and takes options by their whole names only."""

    def __init__(self, name: str) -> None:
        super().__init__(prog=name, add_help=False, allow_abbrev=False, usage="")

    def error(self, message: str) -> NoReturn:
        raise ReportError(f"{message} ({self.prog} --help lists what is allowed)")

    def refuse_unknown(self, argument: str) -> NoReturn:
        name, equals, value = argument.partition("=")
        names = [known for action in self._actions for known in action.option_strings]
        known = [*names, "--help", "--version"] if name.startswith("--") else []
        takes_value = [known for action in self._actions if action.nargs != 0 for known in action.option_strings]
        meant = did_you_mean(name, known).rpartition(" ")[2].rstrip("?")
        after = equals + value if meant in takes_value else ""
        self.error(f"no option {name}{did_you_mean(name, known, after)}")

    def parse(self, arguments: Sequence[str], options: argparse.Namespace, files: str) -> None:
        """Parses into `options`, whose list `files` gets what is no option.

        Taken apart here: what argparse makes of "--" between options and files differs by version.
        """
        if list(arguments) == [LIST_OPTIONS]:
            raise ListedOptions(self.listed())
        end = arguments.index("--") if "--" in arguments else len(arguments)
        # A value that may be left out must stand behind "=", or a file would be taken for it.
        alone = {
            name: f"{name}={action.const}"
            for action in self._actions
            if action.nargs == "?"
            for name in action.option_strings
        }
        given = [alone.get(argument, argument) for argument in arguments[:end]]
        _, unknown = self.parse_known_intermixed_args(given, namespace=options)
        if unknown:
            self.refuse_unknown(unknown[0])
        setattr(options, files, [*getattr(options, files), *arguments[end + 1 :]])

    def listed(self) -> list[str]:
        """One line an option: its name, with "=" where a value follows, what the value is, and the
        words that are allowed."""
        lines = ["--help", "--version"]
        for action in self._actions:
            for name in action.option_strings:
                if not name.startswith("--"):
                    continue
                optional = action.nargs == "?" and isinstance(action.type, one_of)
                if action.nargs in (0, "?"):
                    lines.append(name)
                if action.nargs is None or optional:
                    kind = action.type if isinstance(action.type, Value) else Value("any")
                    lines.append(" ".join((f"{name}=", kind.what, *kind.allowed)))
        return sorted(lines)


class Value:
    """What may stand behind an option's equals sign, as far as a shell can complete it."""

    def __init__(self, what: str, *allowed: str) -> None:
        self.what = what  # file, folder, one (of some words), some (with commas between), any
        self.allowed = allowed


class name_of(Value):
    def __init__(self, what: str) -> None:
        super().__init__(what if what in ("file", "folder") else "any")
        self._named = what

    def __call__(self, text: str) -> str:
        if not text:
            raise argparse.ArgumentTypeError(f"the name of the {self._named} is missing")
        return text


file_name = name_of("file")


class one_of(Value):
    def __init__(self, *allowed: str) -> None:
        super().__init__("one", *allowed)

    def __call__(self, text: str) -> str:
        if text not in self.allowed:
            closest = did_you_mean(text, self.allowed)
            raise argparse.ArgumentTypeError(
                f"'{text}' is not one of {', '.join(self.allowed)}{closest}"
            )
        return text


class some_of(Value):
    def __init__(self, *allowed: str) -> None:
        super().__init__("some", *allowed)

    def __call__(self, text: str) -> list[str]:
        return list(dict.fromkeys(map(one_of(*self.allowed), text.split(","))))


class yes_or_no(Value):
    def __init__(self) -> None:
        super().__init__("one", "yes", "no")

    def __call__(self, text: str) -> bool:
        if text not in self.allowed:
            raise argparse.ArgumentTypeError(f"'{text}' is not yes or no")
        return text == "yes"


def whole_number(what: str, least: int = 0, most: int = 10**9) -> Callable[[str], int]:
    def check(text: str) -> int:
        if re.fullmatch(r"-?[0-9]{1,18}", text) is None or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not {what} from {least} to {most}")
        return int(text)

    return check


def _give_up(stream: int) -> None:
    """What is still buffered must not fail a second time, as Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def write(lines: Sequence[str]) -> None:
    write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def write_bytes(data: bytes) -> None:
    """Writes all at once, and only once there is nothing left that could fail."""
    try:
        if sys.stdout is None:
            raise ReportError("standard output is closed")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _give_up(1)
        if not isinstance(error, BrokenPipeError):  # a pager that was left is no failure
            raise ReportError(f"standard output: {error.strerror}") from None


_SOME = 1 << 16


def read_all(stream: BinaryIO) -> bytes:
    """The whole file; but of a device or a pipe that has no text, such as /dev/zero, the begin: it
    may have no end."""
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream.read()
    begin = stream.read(_SOME)
    return begin if b"\0" in begin else begin + stream.read()


def read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return read_all(stream)
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path or "''") from None


_COMPRESSED = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"\xfd7zXZ\x00": ("xz", "unxz"),
    b"(\xb5/\xfd": ("zstd", "unzstd"),
    b"BZh": ("bzip2", "bunzip2"),
}


def refuse_twice(paths: Sequence[str], why: str) -> None:
    """No file may be named twice, by whatever names."""
    names: dict[tuple[int, int], str] = {}
    for path in paths:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue  # reading it says what is wrong
        if not stat.S_ISREG(found.st_mode):
            continue
        file = found.st_dev, found.st_ino
        if file in names:
            what = "named twice" if names[file] == path else f"the same file as {names[file]}"
            raise ReportError(f"{what}: {why}", path)
        names[file] = path


def plain_text(data: bytes, path: str) -> bytes:
    """What a text file holds, with the ends of its lines as they are written here: a program of
    another system may have put a carriage return before each."""
    for mark, (name, command) in _COMPRESSED.items():
        if data.startswith(mark):
            raise ReportError(f"is compressed by {name}; unpack it first: {command} {path}", path)
    return _unchanged(data.replace(b"\r\n", b"\n"), path)


_CHECKSUM = re.compile(rb"# checksum: ([0-9a-f]{8})\n")


def _unchanged(text: bytes, path: str) -> bytes:
    """The text without its last line, if that is the checksum of all before it."""
    at = text.rfind(b"\n", 0, -1) + 1
    found = _CHECKSUM.fullmatch(text, at)
    if found is None:
        return text
    if int(found[1], 16) != adler32(text[:at]):
        raise ReportError(
            "the checksum is not that of the lines above: the file was changed, or is damaged; after"
            " a change on purpose, remove this line",
            path,
            text.count(b"\n"),
        )
    return text[:at]


def read_text(path: str) -> str:
    return plain_text(read_bytes(path), path).decode("utf-8", "surrogateescape")


class Answer(list[str]):
    """Lines to print, an exit status that says how a question was answered, and why, for stderr."""

    status = 0
    data: bytes | None = None  # in place of lines

    def __init__(self, lines: Iterable[str] = (), reasons: Iterable[str] = ()) -> None:
        super().__init__(lines)
        self.reasons = list(reasons)


def _take_what_there_is() -> None:
    """No more memory than is free, beside what it has: a file that needs more is refused, where the
    machine would swap or the kernel end some process. What is not known here limits nothing."""
    try:
        import resource

        with open("/proc/meminfo", encoding="ascii") as stream:
            facts = dict(line.split(":", 1) for line in stream)
        with open("/proc/self/statm", encoding="ascii") as stream:
            most = int(stream.read().split()[0]) * resource.getpagesize()
        most += sum(int(facts[name].split()[0]) for name in ("MemAvailable", "SwapFree")) * 1024
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY or most < soft:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (ImportError, OSError, ValueError, KeyError, IndexError):
        pass


def run(
    name: str,
    help_text: str,
    arguments: Sequence[str] | None,
    report: Callable[[Sequence[str], list[str]], list[str]],
    runs_programs: bool = False,
) -> int:
    """The life of one call: `report` takes the arguments, returns the lines to print and adds to
    the warnings. Returns the exit status. `runs_programs`: those of the user, which would inherit a
    limit of memory; without `arguments` there is none, as in tests."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None and not runs_programs:
        _take_what_there_is()
    named = given[: given.index("--")] if "--" in given else given
    warnings: list[str] = []

    def complain(kind: str, what: str) -> None:
        if sys.stderr is None:
            return
        try:
            print(printable(f"{name}: {kind}: {what}"), file=sys.stderr, flush=True)
        except OSError:  # the warning is lost, but the report can still be written
            _give_up(2)

    # A call makes millions of objects, no circles among them.
    gc.disable()
    try:
        if "--help" in named or "-h" in named:
            write(help_text.splitlines())
        elif "--version" in named:
            write([f"{name} {VERSION}"])
        else:
            lines = report(given, warnings)
            for warning in warnings:
                complain("warning", warning)
            if isinstance(lines, Answer) and lines.data is not None:
                if sys.stdout is not None and sys.stdout.isatty():
                    raise ReportError("this is no text for a terminal; put >FILE behind the command")
                write_bytes(lines.data)
            else:
                write(lines)
            if isinstance(lines, Answer):
                for reason in lines.reasons:
                    complain("failed", reason)
                return lines.status
    except ListedOptions as listed:
        write(listed.lines)
    except ReportError as error:
        complain("error", str(error))
        return 1
    except MemoryError:
        files = " ".join(argument for argument in given if not argument.startswith("-"))
        complain("error", f"{files}: not enough memory to read so much")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        gc.enable()
    return 0
