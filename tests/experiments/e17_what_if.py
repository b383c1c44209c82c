# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E17: what tg_faults --what-if says of bash, git, CPython and ninja, and what the kernel counts once they are really
changed so: linked otherwise, in another locale, with another heap."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import exp_faults
import exp_order
import exp_relink
from exp_faults import SAME_LIBRARY, TG_FAULTS
from exp_frame import Check, Experiment, Missing, Result, Table, at_most
from exp_lab import HERE, Broken, Lab, setting
from exp_relink import ARCHIVES, IN_ONE, INSIDE, Source
from tgreport.formats.faultlog import FaultLog

MINOR, MAJOR = 3, 2  # what a changed program may differ by from what was said
UTF8 = "C.UTF-8"
ORDER = "functions in order"
DATA_ORDER = "variables in order"
IN_PROGRAM = "libraries in the program"
# How each is really done: flags of the linker, variables. {order} is GNU ld's script. MADV_POPULATE is docs/populate.c
# with the ranges that the row has.
LINKED: Mapping[str, Sequence[str]] = {
    "LC_ALL=C": (),
    "LC_CTYPE only": (),
    "a heap that is never cut": (),
    "no PIE": ("-no-pie",),
    "static": ("-static",),
    "static PIE": ("-static-pie",),
    "RELR": ("-Wl,-z,pack-relative-relocs",),
    "-z now": ("-Wl,-z,now",),
    "-z noseparate-code": ("-Wl,-z,noseparate-code",),
    ORDER: ("-Wl,-T,{order}",),
    DATA_ORDER: ("-Wl,-T,{order}",),
    IN_PROGRAM: (ARCHIVES,),
}
_POPULATE = "MADV_POPULATE: "
VARIABLES: Mapping[str, Mapping[str, str]] = {
    "LC_ALL=C": {"LC_ALL": "C"},
    "LC_CTYPE only": {"LC_ALL": "", "LC_CTYPE": UTF8},
    "a heap that is never cut": {
        "GLIBC_TUNABLES": f"{SAME_LIBRARY['GLIBC_TUNABLES']}:glibc.malloc.trim_threshold=1073741824"
    },
}

Row = dict[str, Any]


class Counts(NamedTuple):
    minor: int  # with all files in the page cache
    major: int  # with none
    kernel: int | None  # None: perf cannot record


class Program:
    """One program: what was said of it, and what came out."""

    def __init__(self, lab: Lab, source: Source) -> None:
        self.lab, self.source = lab, source
        self.number = 0
        self.env = {**SAME_LIBRARY, "LC_ALL": UTF8, **source.env}
        self.plain = self._link([])
        entries = lab.folder / f"{source.name}.entries"
        self.before = self._counts(self.plain, {}, "--faults-touches=yes", "--entries=data", f"--entries-out-file={entries}")
        self.order = exp_order.Run(lab, entries)
        log = lab.folder / f"{source.name}.faults"
        tool = f"--tlbgrind={setting('TLBGRIND')[-1]}"
        asked = [*setting("PYTHON"), TG_FAULTS, "--what-if", "--format=json", f"--entries={entries}", tool, log]
        # An empty program that is linked for it runs with the variables of the recorded one.
        variables = {name: value for name, value in self.env.items() if not name.startswith("PYTHON")}
        self.rows: list[Row] = json.loads(lab.call(asked, env=variables))["tables"][0]["rows"]

    def _link(self, flags: Sequence[object]) -> Path:
        """All paths are as long as each other: they are on the stack."""
        self.number += 1
        path = self.source.to(self.lab.folder / f"{self.source.name}.{self.number:02}" / self.source.name, flags)
        exp_order.in_small_folios(path)
        return path

    def _counts(self, program: Path, env: Mapping[str, str], *options: str) -> Counts:
        command = [program, *self.source.arguments]
        variables = {**self.env, **env}
        log, _ = exp_faults.record(self.lab, self.source.name, command, *options, env=variables)
        try:
            found, _ = exp_faults.kernel_order(self.lab, command, variables)
        except Missing:
            return Counts(log.totals["warm"].faults, _major(log), None)
        return Counts(log.totals["warm"].faults, _major(log), len(found))

    def changes(self) -> Iterator[tuple[Row, Counts]]:
        """What was said, and what was saved."""
        for row in self.rows:
            parts = row["remedy"].split(" + ")
            if row["minor_least"] is None or not all(self._is_made(part) for part in parts):
                continue
            env: dict[str, str] = {}
            for part in parts:
                env.update(VARIABLES.get(part, {}))
            try:
                program = self._link(self._flags(parts))
                after = self._counts(program, env)
            except Broken as error:
                print(f"{self.source.name}: {row['remedy']}: {error}", flush=True)
                continue
            kernel = self.before.kernel - after.kernel if self.before.kernel is not None and after.kernel is not None else None
            yield row, Counts(self.before.minor - after.minor, self.before.major - after.major, kernel)

    def _is_made(self, part: str) -> bool:
        if self.source.is_apart and merge_of(part):
            return True
        return part.startswith(_POPULATE) or (part in LINKED and (part != IN_PROGRAM or self.source.has_archives))

    def _flags(self, parts: Sequence[str]) -> list[str]:
        merges = [merge_of(part) for part in parts if self.source.is_apart]
        flags = list(dict.fromkeys(flag for part in parts for flag in LINKED.get(part, ())))
        flags += [merge for merge in merges if merge]
        ranges = " ".join(self._ranges(part) for part in parts if part.startswith(_POPULATE))
        if ranges:
            source = HERE.parents[1] / "docs" / "populate.c"
            flags.append(str(self.lab.cc("populate.o", "-O2", "-fPIE", f'-DRANGES="{ranges}"', "-c", source)))
        return [flag.replace("{order}", str(self._order(parts))) if "{order}" in flag else flag for flag in flags]

    def _ranges(self, part: str) -> str:
        how = next(row["how"] for row in self.rows if row["remedy"] == part)
        found = re.search(r"docs/populate\.c with the ranges? (.*);", how)
        if found is None:
            raise Broken(f"{part}: no ranges in '{how}'")
        return found[1]

    def _order(self, parts: Sequence[str]) -> Path:
        """A linker's script is for one kind of program."""
        kind = "-static" if "static" in parts else "-no-pie" if "no PIE" in parts else "-pie"
        words = [self.lab.need("ld", "binutils"), kind, "-z", "separate-code", "--verbose"]
        script = self.lab.write(f"default{kind}.ld", self.lab.call(words))
        if DATA_ORDER not in parts:
            return self.order.file("bfd-script", f"--ld-script={script}")
        path = self.order.file("bfd-script", f"--ld-script={script}", "--with-data")
        if ORDER not in parts:
            path.write_text(_without_functions(path.read_text(encoding="utf-8")), encoding="utf-8")
        return path


def merge_of(part: str) -> str:
    """What links the libraries that it names so; empty: it merges none."""
    for end, mark in ((" in one", IN_ONE), (" in the program", INSIDE)):
        if part.endswith(end):
            names = part[: -len(end)].replace(" ", "")
            return mark + ("" if names == "libraries" else names)
    return ""


def _without_functions(script: str) -> str:
    """The lines of single functions name all sections in which one may be."""
    return "".join(line for line in script.splitlines(True) if not line.startswith("    *(.text.") or " .text.startup." not in line)


def _major(log: FaultLog) -> int:
    return log.totals["cold"].major


def _said(row: Row, what: str) -> str:
    least, most = row[f"{what}_least"], row[f"{what}_most"]
    return "?" if least is None else f"{least}" if least == most else f"{least} to {most}"


def _off(row: Row, what: str, found: int) -> int:
    """How far it is from what was said."""
    return int(max(row[f"{what}_least"] - found, found - row[f"{what}_most"], 0))


def judged(lab: Lab, source: Source) -> tuple[Table, list[Check], Program]:
    program = Program(lab, source)
    body, checks = [], []
    for row, saved in program.changes():
        name = f"{source.name}: {row['remedy']}"
        kernel = "" if saved.kernel is None else f"{saved.kernel}"
        body.append([row["remedy"], _said(row, "minor"), f"{saved.minor}", kernel, _said(row, "major"), f"{saved.major}"])
        print(*body[-1], sep=" | ", flush=True)
        # Where the tool's own run differs from the kernel, the model of faults is off, not the forecast.
        checks.append(at_most(f"{name}: minor, off", MINOR, _off(row, "minor", saved.minor)))
        if saved.kernel is not None:
            checks.append(at_most(f"{name}: minor, off of the kernel's", MINOR, _off(row, "minor", saved.kernel)))
        if row["major_least"] is not None:
            checks.append(at_most(f"{name}: major, off", MAJOR, _off(row, "major", saved.major)))
    before = program.before
    kernel = "" if before.kernel is None else f", the kernel's {before.kernel}"
    title = f"{' '.join([source.name, *source.arguments])}: saved, of {before.minor} faults{kernel}, and {before.major} major"
    head = ["remedy", "minor: said", "tlbgrind", "kernel", "major: said", "tlbgrind"]
    return Table(title, head, body), checks, program


def run(lab: Lab) -> Result:
    tables: list[Table] = []
    checks: list[Check] = []
    for name, make in exp_relink.ALL.items():
        if lab.only and name not in lab.only:
            continue
        table, more, _ = judged(lab, make(lab))
        tables.append(table)
        checks += more
    changes = sum(len(table.body) for table in tables)
    return Result(tables, checks, [f"changes that were made: {changes}"])


EXPERIMENT = Experiment(
    "E17", "what remedies save, held against the changed programs", "the kernel's own count", run, long=True
)
