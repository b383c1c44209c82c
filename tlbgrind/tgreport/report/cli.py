# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Parses tg_report's options, and runs one call: read, make the page, write it as a whole."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Callable

from ..base import command
from ..base.command import Parser, file_name, refuse_twice
from ..base.errors import ReportError
from ..base.progress import progress_shown
from ..base.whole_file import write_whole
from .inputs import read_all
from .page import CHART_JS, page
from .run import beside, newest_in

HELP = f"""\
Usage: tg_report [options] FILE -o PAGE.html
       tg_report [options] FOLDER -o PAGE.html
       tg_report [options] FILE FILE... -o PAGE.html

Makes one page for a browser from what tlbgrind wrote. Of one FILE it takes all files of the same
run that lie beside it: out-files (tlbgrind.out.PID, one for each machine), fault logs
(tlbgrind.faults.PID), data files (tlbgrind.data.PID), timelines (tlbgrind.timeline.PID), reach
files (tlbgrind.reach.PID) and entries files (tlbgrind.entries.PID). Of a FOLDER it takes the run
that ended last. Of several files it takes these only. The page holds all that it needs, and loads
nothing.

  -o FILE, --output=FILE    write the page to FILE [the standard output]
  --only                    of one FILE take that file only
  --no-source               leave the text of the source lines out of the page
  --chart-js=FILE           Chart.js 3, which draws the plots, is copied from here
                            [{CHART_JS},
                            of the Debian package libjs-chart.js]

  --help                    print this text
  --version                 print the version

Examples:
  tlbgrind --machine=skylake,zen4 --calls=yes --timeline=yes --faults=yes ./program
  tg_report tlbgrind.out.4711_skylake -o report.html
"""


class Options(argparse.Namespace):
    files: list[str]
    output: str | None
    chart_js: str | None
    only: bool
    no_source: bool


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_report")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("files", metavar="FILE", nargs="*")
    add("-o", "--output", type=file_name)
    add("--chart-js", type=file_name)
    add("--only", action="store_true")
    add("--no-source", action="store_true")
    options = Options()
    parser.parse(arguments, options, "files")
    if not options.files:
        parser.error("no FILE given")
    return options


def _files(options: Options, warnings: list[str]) -> list[str]:
    named = options.files
    if len(named) == 1 and not options.only and not os.path.isdir(named[0]):
        return beside(named[0])
    found = (newest_in(path, warnings) if os.path.isdir(path) else [path] for path in named)
    return [path for paths in found for path in paths]


def report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    options = parse(arguments)
    files = _files(options, warnings)
    refuse_twice(files, "the page would have its counts twice")
    with progress_shown() as progress:
        inputs = read_all(files, progress)
        progress.say("making the page")
        text = page(inputs, options.chart_js, not options.no_source)
    if not options.output:
        return text.splitlines()
    if any(_same_file(path, options.output) for path in files):
        raise ReportError("the page would be written over a file that it is made from", options.output)
    write_whole(options.output, text.encode("utf-8", "replace"))
    return []


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_report", HELP, arguments, report)
