# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What an experiment is, and what is written of its results: checks, tables, a picture, JSON.

An experiment is one file here, with a function that takes a Lab (exp_lab.py) and returns a Result. experiments.py has
the list of them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Union

if TYPE_CHECKING:
    from exp_lab import Lab

Number = Union[int, float]


class Check(NamedTuple):
    """A number that must come out, and what did."""

    what: str
    wanted: str  # in words: "27,392", "27,392 within 0.5 %", "at most 3"
    got: Number
    ok: bool


class Table(NamedTuple):
    title: str
    head: Sequence[str]
    body: Sequence[Sequence[str]]


class Series(NamedTuple):
    """Points of a line, or heights of bars beside each other. None: nothing at this place."""

    name: str
    values: Sequence[Number | None]
    published: bool = False


class Chart(NamedTuple):
    title: str
    places: Sequence[str]  # what the values of each series belong to
    series: Sequence[Series]
    x_label: str
    y_label: str
    bars: bool = False
    logarithmic: bool = False


class Text(NamedTuple):
    """What another program printed, such as tg_annotate."""

    title: str
    text: str


class Result(NamedTuple):
    tables: Sequence[Table]
    checks: Sequence[Check]
    notes: Sequence[str] = ()  # measured but not checked, or not what was published, and why
    charts: Sequence[Chart] = ()
    texts: Sequence[Text] = ()


class Experiment(NamedTuple):
    name: str  # E2
    title: str
    published: str  # where the numbers that it is compared with are from
    run: Callable[[Lab], Result]
    long: bool = False  # takes minutes: runs only when it is asked for by name or with --long


class Missing(Exception):
    """Something that the experiment needs is not installed; the text says what to install."""


# ---------------------------------------------------------------- checks


def number(value: Number) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def exact(what: str, wanted: Number, got: Number) -> Check:
    return Check(what, number(wanted), got, got == wanted)


def within(what: str, wanted: Number, percent: float, got: Number) -> Check:
    """Not farther off than so many percent of what is wanted."""
    return Check(what, f"{number(wanted)} within {percent:g} %", got, abs(got - wanted) * 100 <= abs(wanted) * percent)


def near(what: str, wanted: Number, distance: float, got: Number) -> Check:
    # Fractions such as .75 and .002 are not what they look like in binary.
    return Check(what, f"{number(wanted)} +- {distance:g}", got, abs(got - wanted) <= distance * (1 + 1e-9))


def at_least(what: str, least: Number, got: Number) -> Check:
    return Check(what, f"at least {number(least)}", got, got >= least)


def at_most(what: str, most: Number, got: Number) -> Check:
    return Check(what, f"at most {number(most)}", got, got <= most)


# ---------------------------------------------------------------- what is written


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Markdown that can also be read as it is. The first column is words, the others are numbers."""
    widths = [max(3, *(len(row[i]) for row in (head, *body))) for i in range(len(head))]
    rule = ["-" * (width - (i > 0)) + ":" * (i > 0) for i, width in enumerate(widths)]
    return [
        "| " + " | ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))) + " |"
        for row in (head, rule, *body)
    ]


def report(experiment: Experiment, result: Result, seconds: float) -> str:
    lines = [f"# {experiment.name}: {experiment.title}", "", f"Published: {experiment.published}", ""]
    for each in result.tables:
        lines += [f"{each.title}:", "", *table(each.head, each.body), ""]
    for text in result.texts:
        lines += [f"{text.title}:", "", "```", *text.text.rstrip().splitlines(), "```", ""]
    checks = [[check.what, check.wanted, number(check.got), "yes" if check.ok else "NO"] for check in result.checks]
    lines += ["Checked:", "", *table(["what", "wanted", "got", "ok"], checks), ""]
    lines += [f"- {note}" for note in result.notes] + [""] * bool(result.notes)
    off = sum(not check.ok for check in result.checks)
    verdict = f"{off} of {len(checks)} numbers are off" if off else f"all {len(checks)} numbers as wanted"
    lines.append(f"{experiment.name}: {verdict} ({seconds:.0f} s)")
    return "\n".join(lines) + "\n"


def as_json(experiment: Experiment, result: Result, about: dict[str, str]) -> str:
    return json.dumps(
        {
            "format": 1,
            "name": experiment.name,
            "title": experiment.title,
            "about": about,
            "ok": all(check.ok for check in result.checks),
            "tables": [each._asdict() for each in result.tables],
            "checks": [check._asdict() for check in result.checks],
            "notes": list(result.notes),
            "texts": [each._asdict() for each in result.texts],
            "charts": [{**chart._asdict(), "series": [each._asdict() for each in chart.series]} for chart in result.charts],
        },
        indent=1,
    )


def draw(result: Result, path: Path) -> str:
    """Draws the charts side by side; returns a line about it. A picture of an earlier run does not stay."""
    path.unlink(missing_ok=True)
    if not result.charts:
        return "no picture: nothing to draw"
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        plt = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no picture: matplotlib is not installed (Debian package: python3-matplotlib)"
    figure, all_axes = plt.subplots(
        1, len(result.charts), figsize=(6.5 * len(result.charts), 4.5), constrained_layout=True, squeeze=False
    )
    for chart, axes in zip(result.charts, all_axes[0]):
        _draw(chart, axes)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return f"picture: {path}"


def _draw(chart: Chart, axes: Any) -> None:
    width = 0.8 / len(chart.series)
    for i, series in enumerate(chart.series):
        known = [(x, value) for x, value in enumerate(series.values) if value is not None]
        heights = [value for _, value in known]
        if chart.bars:
            middle = (i - (len(chart.series) - 1) / 2) * width
            hatch = "//" if series.published else None
            axes.bar([x + middle for x, _ in known], heights, width, label=series.name, hatch=hatch)
        else:
            style = "k+" if series.published else "o-"
            axes.plot([x for x, _ in known], heights, style, label=series.name or None, markersize=10 if series.published else 4)
    axes.set_title(chart.title)
    axes.set_xticks(range(len(chart.places)))
    if chart.logarithmic:
        axes.set_yscale("log")
    turned = 90 if len(chart.places) > 13 else 30 if max(map(len, chart.places)) > 6 else 0
    axes.set_xticklabels(chart.places, rotation=turned, ha="right" if turned == 30 else "center")
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.legend()
