# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Parses tg_report's options, and runs one call: read, make the page, write it as a whole."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from typing import Callable

from ..base import command
from ..base.command import Parser, file_name
from ..base.errors import ReportError
from ..base.progress import progress_shown
from .inputs import read_all
from .page import CHART_JS, page

HELP = f"""\
Usage: tg_report [options] FILE... -o PAGE.html

Makes one page for a browser from what tlbgrind wrote: out-files (tlbgrind.out.PID, one for each
machine), fault logs (tlbgrind.faults.PID), data files (tlbgrind.data.PID), timelines
(tlbgrind.timeline.PID), reach files (tlbgrind.reach.PID) and entries files
(tlbgrind.entries.PID), in any number and order. The page holds all that it needs, and loads
nothing.

  -o FILE, --output=FILE    write the page to FILE [the standard output]
  --chart-js=FILE           Chart.js 3, which draws the plots, is copied from here
                            [{CHART_JS},
                            of the Debian package libjs-chart.js]

  --help                    print this text
  --version                 print the version

Examples:
  tlbgrind --machine=skylake,zen4 --calls=yes --timeline=yes --faults=yes ./program
  tg_report tlbgrind.*.4711* -o report.html
"""


class Options(argparse.Namespace):
    files: list[str]
    output: str | None
    chart_js: str | None


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_report")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("files", metavar="FILE", nargs="*")
    add("-o", "--output", type=file_name)
    add("--chart-js", type=file_name)
    options = Options()
    parser.parse(arguments, options, "files")
    if not options.files:
        parser.error("no FILE given")
    return options


def _write_whole(path: str, text: str) -> None:
    """Under another name first, so that what has the final name is a whole page. What is no
    regular file, such as a device or a pipe, is written as it is."""
    data = text.encode("utf-8", "replace")
    try:
        if os.path.lexists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(data)
            return
        target = os.path.realpath(path)
        number, name = tempfile.mkstemp(prefix=".tg_report.", dir=os.path.dirname(target))
        try:
            with open(number, "wb") as stream:
                stream.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path) from None


def report(arguments: Sequence[str], _warnings: list[str]) -> list[str]:
    options = parse(arguments)
    with progress_shown() as progress:
        inputs = read_all(options.files, progress)
        progress.say("making the page")
        text = page(inputs, options.chart_js)
    if not options.output:
        return text.splitlines()
    if any(_same_file(path, options.output) for path in options.files):
        raise ReportError("the page would be written over a file that it is made from", options.output)
    _write_whole(options.output, text)
    return []


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_report", HELP, arguments, report)
