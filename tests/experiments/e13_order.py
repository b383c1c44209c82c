# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E13: functions in the order of their first entry, in a made program and in two real ones."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import exp_order
from exp_frame import (
    Chart,
    Check,
    Experiment,
    Missing,
    Result,
    Series,
    Table,
    at_most,
    exact,
    near,
)
from exp_lab import Broken, Lab
from exp_order import PAGE, Native, link_flags, native_faults, record
from tgreport.formats import elf
from tgreport.places import layout

FUNCTIONS, CALLED, SIZE = 200, 20, 256


# ---------------------------------------------------------------- 200 functions, one to a page


def source() -> str:
    """Assembler code, so that sizes are exact: each function has 256 bytes, and as much unused code behind it as makes
    a page."""
    called = random.Random(13).sample(range(FUNCTIONS), CALLED)
    lines = []
    for n in range(FUNCTIONS):
        for name, size in ((f"f{n}", SIZE), (f"unused{n}", PAGE - SIZE)):
            lines += [
                f'.section .text.{name},"ax",@progbits',
                ".p2align 8",
                f".globl {name}",
                f".type {name},@function",
                f"{name}: ret",
                f".skip {size - 1}, 0x90",
                f".size {name}, {size}",
            ]
    lines += ['.section .text.main,"ax",@progbits', ".p2align 8", ".globl main", ".type main,@function", "main: sub $8, %rsp"]
    lines += [f"call f{n}" for n in called]
    lines += ["xor %eax, %eax", "add $8, %rsp", "ret", ".size main, .-main", '.section .note.GNU-stack,"",@progbits']
    return "\n".join(lines) + "\n"


def pages_of(binary: elf.Elf, names: Sequence[str]) -> tuple[int, int]:
    """Pages that hold these functions, and how many of the functions cross from one to the next."""
    pages: set[int] = set()
    straddling = 0
    for symbol in binary.symbols:
        if symbol.name in names:
            first, last = symbol.address // PAGE, (symbol.address + symbol.size - 1) // PAGE
            pages.update((first, last))
            straddling += first != last
    return len(pages), straddling


def spread(lab: Lab) -> Result:
    text = lab.write("spread.s", source())
    lab.cc("spread.o", "-c", text)
    flags = ["-no-pie", lab.folder / "spread.o"]
    plain = lab.cc("spread", *flags)
    run = record(lab, plain)
    names = [name for name in run.order.names if name.startswith("f")]
    least = -(-CALLED * SIZE // PAGE)
    checks = [
        exact("functions entered", CALLED, len(names)),
        exact("pages of the 20 functions, as linked by default", CALLED, pages_of(run.binary, names)[0]),
    ]
    notes = exp_order.not_there(exp_order.linkers())
    programs = {"default": plain}
    measures = {"default": run.now()}
    for linker in exp_order.linkers():
        # Only a script can say where on a page the block begins.
        aligns = linker.startswith("bfd")
        order = run.file(linker, *["--page-align"] * aligns)
        again = lab.cc(f"spread.{linker}", *flags, *link_flags(linker, order))
        lab.call([again])
        pages, straddling = pages_of(elf.read(str(again)), names)
        if aligns:
            checks.append(exact(f"{linker}: pages of the 20 functions", least, pages))
        else:
            checks.append(at_most(f"{linker}: pages of the 20 functions", least + 1, pages))
        checks.append(exact(f"{linker}: functions on two pages", 0, straddling))
        programs[linker] = again
        measures[linker] = record(lab, again).now()
    natives = _natives(lab, programs, [], {}, notes)
    rows = []
    for link, measure in measures.items():
        native = natives.get(link)
        pages, _ = pages_of(elf.read(str(programs[link])), names)
        rows.append([link, f"{pages}", f"{measure.windows}", f"{_fixed(measure)}", f"{native.code}" if native else ""])
        # gold puts code and read-only data into one mapping, so that reads bring code along.
        if native and link != "gold":
            checks.append(exact(f"{link}: code faults of the model, in the kernel", _fixed(measure), native.code))
    head = ["link", "pages of the 20", "64K windows", "code faults, model", "code faults, kernel"]
    links = list(measures)
    series = [
        Series("pages of the 20", [pages_of(elf.read(str(programs[link])), names)[0] for link in links]),
        Series("code faults, model", [_fixed(measures[link]) for link in links]),
    ]
    if natives:
        series.append(Series("code faults, kernel", [natives[link].code for link in links]))
    chart = Chart("E13: 20 of 200 functions called", links, series, "link", "pages, faults", bars=True)
    return Result([Table("20 of 200 functions called", head, rows)], checks, notes, [chart])


def _natives(
    lab: Lab, programs: dict[str, Path], arguments: Sequence[object], env: Mapping[str, str], notes: list[str]
) -> dict[str, Native]:
    """What the kernel counts for each, or a note why it cannot be asked."""
    try:
        return {link: native_faults(lab, program, *arguments, env=env) for link, program in programs.items()}
    except Missing as error:
        notes.append(f"code faults are those of the model only: {error}")
        return {}


# ---------------------------------------------------------------- real programs


def fetch(lab: Lab, package: str, suite: str) -> Path:
    """The upstream source of a Debian source package, unpacked. Nothing of the system's apt is changed."""
    lab.need("apt-get", "apt")
    root = lab.folder / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (root / name).mkdir(parents=True, exist_ok=True)
    sources = lab.write("apt/source.list", f"deb-src http://deb.debian.org/debian {suite} main\n")
    options = [
        f"-oDir::Etc::sourcelist={sources}",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::lists={root / 'lists'}",
        f"-oDir::Cache={root / 'cache'}",
        "-oAPT::Sandbox::User=root",
        "-qq",
    ]
    try:
        lab.call(["apt-get", *options, "update"])
        lab.call(["apt-get", *options, "source", "--download-only", package])
    except Broken as error:
        raise Missing(f"the source package {package} cannot be fetched: {error}") from None
    archives = sorted(lab.folder.glob(f"{package}_*.orig.tar.*"))
    if not archives:
        raise Missing(f"the source package {package} has no upstream archive")
    lab.call(["tar", "xf", archives[0]])
    archives[0].unlink()
    return next(path for path in sorted(lab.folder.iterdir()) if path.is_dir() and package[:3] in path.name.lower())


def relinked(
    lab: Lab, name: str, flags: Sequence[object], arguments: Sequence[object], env: Mapping[str, str], published: Sequence[str]
) -> Result:
    """Links the program by default and in the order of its own run, and lets the kernel count."""
    plain = lab.cc(name, *flags)
    run = record(lab, plain, *arguments, env=env)
    notes = [*exp_order.not_there(exp_order.linkers())]
    before = run.now()
    rows = []
    checks: list[Check] = []
    measures = {"default": before}
    programs = {"default": plain}
    for linker in exp_order.linkers():
        again = lab.cc(f"{name}.{linker}", *flags, *link_flags(linker, run.file(linker)))
        programs[linker] = again
        measures[linker] = record(lab, again, *arguments, env=env).now()
    natives = _natives(lab, programs, arguments, env, notes)
    for link, measure in measures.items():
        native = natives.get(link)
        forecast = None if link == "default" else run.forecast(link == "gold")
        rows.append(
            [
                link,
                f"{measure.pages}",
                f"{measure.windows}",
                f"{_fixed(measure)}",
                f"{_fixed(forecast)}" if forecast else "",
                f"{native.code}" if native else "",
                f"{native.total}" if native else "",
            ]
        )
        if link == "default":
            continue
        assert forecast is not None
        checks.append(at_most(f"{link}: pages of code, of {before.pages} by default", before.pages - 1, measure.pages))
        checks.append(near(f"{link}: code faults that were forecast, in the model", _fixed(measure), 2, _fixed(forecast)))
        # gold's code and read-only data are one mapping, see above.
        if native and link != "gold":
            checks.append(near(f"{link}: code faults that were forecast, in the kernel", native.code, 2, _fixed(forecast)))
        if native:
            most = natives["default"].code
            checks.append(at_most(f"{link}: code faults in the kernel, {most} by default", most, native.code))
    head = ["link", "4K code pages", "64K windows", "faults, model", "forecast", "code faults, kernel", "all faults, kernel"]
    links = list(measures)
    pages = [Series("4K code pages", [measures[link].pages for link in links])]
    faults = [Series("code faults, model", [_fixed(measures[link]) for link in links])]
    if natives:
        faults.append(Series("code faults, kernel", [natives[link].code for link in links]))
    return Result(
        [Table(f"{name} {' '.join(map(str, arguments))}: {len(run.functions)} functions entered", head, rows)],
        checks,
        [*notes, *published],
        [
            Chart(f"{name}: pages of code", links, pages, "link", "pages", bars=True),
            Chart(f"{name}: code faults", links, faults, "link", "faults", bars=True),
        ],
    )


def _fixed(measure: layout.Measure) -> int:
    """Without address randomisation; a program that is linked for a fixed place has one figure."""
    phase: int = layout.PIE_BASE // PAGE % layout.PHASES
    return int(measure.faults[phase if len(measure.faults) > 1 else 0])


def lua(lab: Lab) -> Result:
    source_folder = fetch(lab, "lua5.4", "bookworm") / "src"
    objects = []
    for path in sorted(source_folder.glob("*.c")):
        if path.stem in ("luac", "onelua", "ltests"):
            continue
        flags = ["-O2", "-ffunction-sections", "-fno-pie", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX"]
        objects.append(lab.cc(f"{path.stem}.o", *flags, "-c", path))
    return relinked(lab, "lua", ["-no-pie", "-Wl,-E", *objects, "-lm", "-ldl"], ["-e", "print(1)"], {}, [])


def cpython(lab: Lab) -> Result:
    source_folder = fetch(lab, "python3.11", "bookworm")
    flags = ["CFLAGS=-O2 -ffunction-sections -fno-pie", "LDFLAGS=-no-pie", "--without-ensurepip", "-q"]
    build = lab.folder / "build"
    build.mkdir()
    command = f'cd {build} && {source_folder}/configure "$@" >configure.log 2>&1 && make -s -j2 python >make.log 2>&1'
    lab.call(["sh", "-c", command, "sh", *flags])
    objects = [build / "Programs" / "python.o", build / "libpython3.11.a"]
    libraries = ["-Wl,-E", "-ldl", "-lm", "-lutil", *_extra_libraries(build)]
    # Its modules, and the compiled form of those that it imports at start.
    (lab.folder / "lib").mkdir()
    (lab.folder / "lib" / "python3.11").symlink_to(source_folder / "Lib")
    env = {"PYTHONHOME": str(lab.folder)}
    lab.call([build / "python", "-c", "pass"], env=env)
    published = [
        "compared with: 32 code faults by default and 14 in order, 339 to 345 pages and 173 to 179, of CPython 3.11 in other builds"
    ]
    result = relinked(lab, "python", ["-no-pie", *objects, *libraries], ["-c", "pass"], env, published)
    (table,) = result.tables
    column = table.head.index("code faults, kernel")
    checks = [
        at_most(f"{row[0]}: code faults in the kernel, at least as good as published", 14, int(row[column]))
        for row in table.body[1:]
        if row[column]
    ]
    return result._replace(checks=[*result.checks, *checks])


def _extra_libraries(build: Path) -> list[str]:
    """What the Makefile links the interpreter with besides libc's own libraries."""
    for line in (build / "Makefile").read_text(encoding="utf-8").splitlines():
        if line.startswith("MODLIBS="):
            return [word for word in line.split("=", 1)[1].split() if word.startswith("-l")]
    return []


SPREAD = Experiment("E13", "20 of 200 functions called at start", "bounds by construction", spread)
LUA = Experiment("E13-lua", "lua, linked in the order of first entry", "none: the kernel's own count", lua, long=True)
CPYTHON = Experiment(
    "E13-python", "CPython, linked in the order of first entry", "CPython 3.11, -c pass, measured on another machine", cpython, long=True
)
