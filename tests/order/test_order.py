# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_order: programs are ordered, relinked and checked with every linker that is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from order_support import (
    DATA,
    compiled,
    good,
    linked,
    package,
    recorded,
    refused,
    run,
    spread,
)

CALLED = [33, 7, 21, 38, 2, 15, 29, 11]


class Spread:
    """40 functions, one to a page, eight of them called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.object = compiled(folder, "spread", spread(40, CALLED, 200, 3830), "-ffunction-sections")
        self.program = linked(folder, "plain", [self.object])
        self.entries = recorded(folder, self.program)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Spread:
    return Spread(tmp_path_factory.mktemp("spread"))


def row(text: str, name: str) -> dict[str, str]:
    """A row of the table of --check or --forecast by its columns."""
    lines = text.splitlines()
    heading = next(line for line in lines if line.lstrip().startswith("functions "))
    columns = re.split(r"  +", heading.strip())
    cells = next(re.split(r"  +", line.strip()) for line in lines if line.startswith(name))
    return dict(zip(columns, cells[1:]))


LINKERS = {
    "bfd-script": ["-Wl,-T,{}"],
    "gold": ["-fuse-ld=gold", "-Wl,--section-ordering-file,{}"],
    "lld": ["-fuse-ld=lld", "-Wl,--symbol-ordering-file,{}"],
}


def has(linker: str) -> bool:
    return linker == "bfd-script" or shutil.which(f"ld.{linker}") is not None


@pytest.mark.parametrize(
    "linker",
    [pytest.param(n, marks=pytest.mark.skipif(not has(n), reason=f"no ld.{n}")) for n in LINKERS],
)
def test_a_program_follows_its_order(linker: str, program: Spread) -> None:
    order = program.folder / f"order.{linker}"
    said = good(program.folder, f"--{linker}={order}", program.entries)
    assert re.search(rf"Order for {linker}: +{re.escape(str(order))}, [0-9]+ lines\n", said)
    flags = [flag.format(order) for flag in LINKERS[linker]]
    again = linked(program.folder, f"with-{linker}", [program.object], *flags)
    assert subprocess.run([str(again)], check=False).returncode == 0
    text = good(program.folder, f"--check={again}", program.entries)
    assert "The binary follows the order: 100.0% of neighbours" in text
    assert int(row(text, "as it ran")["4K pages"]) >= len(CALLED) + 1
    assert int(row(text, "checked")["4K pages"]) <= 2  # 8 functions of some 220 bytes, and main
    assert f"--order={order}" and "follows the order: 100.0%" in good(
        program.folder, f"--check={again}", f"--order={order}"
    )


def llvm_bolt() -> str | None:
    """By its own name or with the version of Debian's package behind it."""
    names = ["llvm-bolt", *(f"llvm-bolt-{n}" for n in range(30, 13, -1))]
    return next((found for found in map(shutil.which, names) if found), None)


@pytest.mark.skipif(llvm_bolt() is None, reason="no llvm-bolt (Debian: bolt-19 or another number)")
def test_bolt_follows_the_order(tmp_path: Path) -> None:
    """A program with relocations, ordered after it was linked; f21 is two static functions, which
    BOLT has to be told by their files, for a plain name would place them beside each other."""
    main = spread(40, CALLED, 200, 3830).replace("void f21(", "static void f21(")
    begin = "int main(int argc, char **argv) {"
    main = main.replace(begin, f"void other(void);\n{begin} other();")
    other = """
        volatile int count;
        static void f21(void) { count++; }
        void gap(void) { __asm__ volatile(".skip 9000, 0x90"); count++; }
        void other(void) { f21(); if (count > 5) gap(); }
    """
    objects = [
        compiled(tmp_path, "spread", main, "-ffunction-sections"),
        compiled(tmp_path, "other", other, "-ffunction-sections"),
    ]
    program = linked(tmp_path, "plain", objects, "-Wl,--emit-relocs")
    entries = recorded(tmp_path, program)
    good(tmp_path, "--bolt=order.txt", entries)
    order = (tmp_path / "order.txt").read_text().split()
    called = [f"f{n}" if n != 21 else "f21/spread.c/1" for n in CALLED]
    assert order == ["main", "other", "f21/other.c/1", *called]
    command = [str(llvm_bolt()), program, "-o", tmp_path / "again", "--reorder-functions=user"]
    done = subprocess.run(
        [*command, "--function-order=order.txt", "-v=1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "can't find function" not in said
    assert subprocess.run([tmp_path / "again"], check=False).returncode == 0
    for arguments in ([entries], ["--order=order.txt"]):
        text = good(tmp_path, "--check=again", *arguments)
        assert "The binary follows the order: 100.0% of neighbours" in text
        assert row(text, "checked")["4K pages"] == "1"
        assert "Not in this binary" not in text and "taken in turn" not in text


def test_names_of_sections_come_from_the_objects(program: Spread) -> None:
    guessed = good(program.folder, "--gold=-", program.entries).split()
    known = good(program.folder, "--gold=-", f"--objects={program.folder}", program.entries).split()
    assert known == [".text.main", *(f".text.f{n}" for n in CALLED)]
    assert set(known) < set(guessed)
    assert ".text.startup.main" in guessed  # where gcc puts main with -O2


def test_every_language_has_the_order(program: Spread) -> None:
    names = ["main", *(f"f{n}" for n in CALLED)]
    for language in ("lld", "bolt", "names"):
        assert good(program.folder, f"--{language}=-", program.entries).split() == names
    fragment = good(
        program.folder, "--bfd=-", "--page-align", f"--objects={program.object}", program.entries
    )
    assert fragment.splitlines() == [
        ".text :",
        "{",
        "  . = ALIGN(CONSTANT(MAXPAGESIZE));",
        *(f"  *(.text.{name})" for name in names),
        "}",
    ]


def test_a_script_keeps_all_of_the_default_one(program: Spread) -> None:
    flags = ["ld", "-pie", "-z", "separate-code", "--verbose"]
    shown = subprocess.run(flags, check=True, capture_output=True, text=True).stdout
    default = re.split(r"^={20,}\n", shown, flags=re.MULTILINE)[1].splitlines()
    (program.folder / "default.ld").write_text(shown)
    script = good(
        program.folder, "--bfd-script=-", f"--objects={program.object}", "--ld-script=default.ld", program.entries
    ).splitlines()
    added = [line for line in script if re.fullmatch(r"    \*\(\.text\.(main|f\d+)\)", line)]
    assert len(added) == len(CALLED) + 1
    assert [line for line in script if line not in added] == default
    assert script[script.index(added[0]) - 1].strip() == "{"


KINDS = {
    # How it is linked, and what ld is told of it.
    "static": (["-static", "-no-pie"], []),
    "static-pie": (["-static-pie"], ["-pie"]),
    "32-bit": (["-m32", "-no-pie"], ["-m", "elf_i386"]),
    "32-bit-pie": (["-m32", "-pie"], ["-m", "elf_i386", "-pie"]),
    "library": (["-shared", "-Wl,-soname,lib.so"], ["-shared"]),
    # As the C library is: it says its version if it is run.
    "library-that-runs": (["-shared", "-Wl,-soname,lib.so", "-Wl,--dynamic-linker=/lib/ld.so"], ["-shared"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_is_for_programs_of_a_kind(kind: str, tmp_path: Path) -> None:
    link, wanted = KINDS[kind]
    is_32 = "-m32" in link
    if is_32 and os.environ.get("TG_HAVE_X86") != "yes":
        pytest.skip("the tool was built without x86")
    flags = ["-m32"] * is_32 + ["-fPIC"] * ("-no-pie" not in link)
    source = spread(10, [3, 1, 7], 200, 100)
    if kind == "library-that-runs":
        source += 'const char interpreter[] __attribute__((section(".interp"))) = "/lib/ld.so";\n'
    objects = [compiled(tmp_path, "s", source, "-ffunction-sections", *flags)]
    program = linked(tmp_path, "prog", objects, *link, "-Wl,-z,separate-code")
    assert package("order.ld_script").linker_flags(package("formats.elf").read(str(program))) == [*wanted, "-z", "separate-code"]
    if "-shared" in link:
        return
    entries = recorded(tmp_path, program)
    good(tmp_path, "--bfd-script=order.ld", entries)
    again = linked(tmp_path, "again", objects, *link, "-Wl,-T,order.ld")
    assert subprocess.run([str(again)], check=False).returncode == 0
    # Those of a static C library share sections and stay.
    places = {s.name: s.address for s in package("formats.elf").read(str(again)).symbols}
    assert places["main"] < places["f3"] < places["f1"] < places["f7"] < places["f0"]


def test_a_program_in_another_order_does_not_pass(program: Spread) -> None:
    for arguments in ([program.entries], [f"--order={program.folder / 'names'}"]):
        good(program.folder, f"--names={program.folder / 'names'}", program.entries)
        result = run(program.folder, f"--check={program.program}", *arguments)
        assert (result.status, result.err) == (2, "")
        assert "The binary does NOT follow the order" in result.out
        assert "-ffunction-sections" in result.out


def test_the_forecast_is_what_comes(program: Spread) -> None:
    text = good(program.folder, "--forecast", program.entries)
    order = program.folder / "order.forecast"
    good(program.folder, f"--bfd-script={order}", program.entries)
    again = linked(program.folder, "forecast", [program.object], f"-Wl,-T,{order}")
    entries = recorded(program.folder, again)
    came = row(good(program.folder, "--forecast", entries), "as it ran")
    expected = row(text, "block at the begin")
    assert (came["4K pages"], came["64K windows"]) == (expected["4K pages"], expected["64K windows"])


LOG = """# tlbgrind fault log
version: 1
pid: 1
cmd: ./plain
page size: 4096
views: 4k warm cold
columns: number kinds page map instructions thread by code warm-brought cold-brought cold-read
map	1	{start:#x}	{end:#x}	{native:#x}	r-x	file	{offset:#x}	{name}
map	2	0x7000000	0x7070000	0x7ffff7000000	rw-	anon	-	-
1	xxX	{start:#x}	1	0	1	-	0	-	-	-
2	www	0x7000000	2	9	1	-	0	-	-	-
*	98	0x1000	1
summary	4k	100	0	1	0	0	99	0	0
summary	warm	100	0	1	0	0	99	0	0
summary	cold	100	1	1	0	0	99	0	0
hidden	4k	0	0
hidden	warm	0	0
hidden	cold	0	0
phase	program	1	1	1	1	1	1	1	1	1	1	1	1	1	1	1	1
phase	libraries	0	0	0	0	0	0	0	0	0	0	0	0	0	0	0	0
phase	other	99	99	99	99	99	99	99	99	99	99	99	99	99	99	99	99
end	100
"""


def test_the_forecast_in_proportion_to_all_faults(program: Spread) -> None:
    binary = package("formats.elf").read(str(program.program))
    (code,) = (s for s in binary.loads if s.flags & 1)
    # 16 pages at once would be as many windows as there are below; a phase of 5 pages cuts them otherwise.
    for phase in (0, 5):
        values = {
            "start": 0x109000,
            "end": 0x109000 + (code.file_size + 4095) // 4096 * 4096,
            "native": 0x555555550000 + code.address + phase * 4096,
            "offset": code.offset,
            "name": program.program,
        }
        (program.folder / "log").write_text(LOG.format(**values))
        text = good(program.folder, "--forecast", "--faults=log", program.entries)
        assert "All faults of the run: 100, of which code of this object: 1 (1.0%)." in text
        match = re.search(r"it had: (\d+) by this count, (\d+) with the order:\n(-?[\d.]+)% fewer", text)
        assert match
        now, then = int(match[1]), int(match[2])
        assert then < now
        assert float(match[3]) == now - then  # of 100
        layout, trace = package("order.layout"), package("order.trace")
        run_ = trace.load(package("formats.entries").read(str(program.entries)), "", "", [])
        faults = layout.measure(run_.touches, layout.own_places(run_), layout.Text(binary)).faults
        assert now == faults[phase]
    # A log without faults has nothing to win.
    lines = LOG.format(**values).splitlines()
    zeros = {line: re.sub(r"\t\d+\b", "\t0", line) for line in lines if line.startswith(("summary", "phase", "end"))}
    kept = [zeros.get(line, line) for line in lines if not line.startswith(("1\t", "2\t", "*"))]
    (program.folder / "log").write_text("\n".join(kept) + "\n")
    text = good(program.folder, "--forecast", "--faults=log", program.entries)
    assert "All faults of the run: 0, of which code of this object: 0 (0.0%)." in text
    assert "\n0.0% fewer faults in all." in text
    (program.folder / "log").write_text(LOG.format(**{**values, "name": "/bin/other"}))
    refused(
        program.folder,
        f"log: no code of {program.program} is mapped in it: this is the log of another program",
        "--forecast",
        "--faults=log",
        program.entries,
    )


def test_the_forecast_of_a_page_that_two_segments_map(program: Spread) -> None:
    """lld has code begin in the page of the file in which the read-only data ends, and both map it."""
    elf = package("formats.elf")
    binary = elf.read(str(program.program))
    binary.segments = [
        elf.Segment(elf.PT_LOAD, 4, 0, 0, 0x37D4, 0x37D4),
        elf.Segment(elf.PT_LOAD, 5, 0x37E0, 0x47E0, 0x41E20, 0x41E20),
    ]
    assert binary.address_of(0x3000) == 0x3000
    assert binary.address_of(0x3000, elf.PF_X) == 0x4000
    assert binary.address_of(0x2000, elf.PF_X) is None


@pytest.mark.skipif(not has("lld"), reason="no ld.lld")
def test_the_forecast_counts_from_the_base_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [compiled(tmp_path, "spread", spread(40, CALLED, 200, 3830), "-ffunction-sections", "-fpie")]
    binary = linked(tmp_path, "prog", objects, "-pie", "-fuse-ld=lld")
    faults = tmp_path / "faults"
    entries = recorded(tmp_path, binary, options=("--faults=yes", f"--faults-out-file={faults}"))
    first = min(m.native for m in package("formats.faultlog").read(str(faults)).maps.values() if m.name == str(binary))
    bases = []
    monkeypatch.setattr(package("order.layout"), "faults_at", lambda *arguments: bases.append(arguments[3]) or 0)
    package("order.cli").report(["--forecast", f"--faults={faults}", str(entries)], [])
    assert bases == [first // 4096] * 2


def test_the_two_records_of_one_run_agree(tmp_path: Path, program: Spread) -> None:
    """Code faults that follow from the blocks that ran are those of the fault log, and the pages of data that stores
    went to are those that it has writes on."""
    pie = linked(tmp_path, "pie", [compiled(tmp_path, "d", DATA_PROGRAM, "-fpie")], "-pie")
    for binary in (program.program, pie):
        folder = tmp_path / f"run-{binary.name}"
        folder.mkdir()
        options = ("--faults=yes", f"--faults-out-file={folder / 'faults'}")
        entries = recorded(folder, binary, what="data", options=options)
        text = good(folder, "--forecast", "--faults=faults", entries)
        match = re.search(r"of which code of this object: (\d+) .*\n.* it had: (\d+) by this count", text)
        assert match
        assert int(match[1]) == int(match[2]) > 0
        text = good(folder, "--data", "--faults=faults", entries)
        match = re.search(r"save up to \d+ of (\d+) faults\.\n\nOf all [\d,]+ faults of the run, (\d+) ", text)
        assert match
        # What the kernel itself writes on loading the program is no store.
        assert 0 <= int(match[2]) - int(match[1]) <= 1


def test_sections_of_several_functions_are_refused(tmp_path: Path) -> None:
    crowd = compiled(tmp_path, "crowd", spread(4, [3, 1], 20, 20))
    program = linked(tmp_path, "prog", [crowd])
    entries = recorded(tmp_path, program)
    refused(
        tmp_path,
        "crowd.o: 3 of 3 functions share their section with others, so that no linker can move them:"
        " compile with -ffunction-sections",
        "--lld=order",
        "--objects=crowd.o",
        entries,
    )
    assert not (tmp_path / "order").exists()


def test_objects_of_another_program_are_refused(program: Spread, tmp_path: Path) -> None:
    """Their sections would be an empty order."""
    other = compiled(tmp_path, "other", "void other(void) {}\n", "-ffunction-sections")
    for option in ("--gold=-", "--bfd=-", "--bfd-script=-", "--gold=order"):
        refused(
            tmp_path,
            f"{other}: no section there holds a function of the order: are these the object files of "
            f"{program.program}, compiled with -ffunction-sections?",
            option,
            "--lld=names",
            f"--objects={other}",
            program.entries,
        )
    assert not (tmp_path / "order").exists() and not (tmp_path / "names").exists()
    # lld is told functions, not sections.
    assert "main" in good(tmp_path, "--lld=-", f"--objects={other}", program.entries).split()


def test_thin_archives_are_followed(tmp_path: Path) -> None:
    """Their members are apart, with names from the archive's folder on or from the root."""
    source = "volatile int sink; void f(void), g(void), h(void); int main(void) { h(); g(); f(); return sink; }\n"
    main = compiled(tmp_path, "main", source, "-ffunction-sections")
    objects = tmp_path / "build" / "objects"
    objects.mkdir(parents=True)
    names = {"f": "f", "g": "g_of_a_name_that_is_longer_than_a_header_has_room_for", "h": "h"}
    for function, name in names.items():
        text = f"extern volatile int sink; void {function}(void) {{ sink = 0; }}\n"
        compiled(objects, name, text, "-ffunction-sections")
    program = linked(tmp_path, "prog", [main, *(objects / f"{name}.o" for name in names.values())])
    entries = recorded(tmp_path, program)

    def ar(*words: object) -> None:
        subprocess.run(["ar", *map(str, words)], cwd=tmp_path, check=True)

    ar("rc", "build/whole.a", "build/objects/h.o", "main.o")
    ar("rcT", "build/thin.a", "build/objects/f.o", objects / f"{names['g']}.o", "build/whole.a")
    wanted = [".text.main", ".text.h", ".text.g", ".text.f"]
    for folder, path in ((tmp_path, "build/thin.a"), (tmp_path / "build", "thin.a"), (Path("/"), tmp_path / "build/thin.a")):
        assert good(folder, "--gold=-", f"--objects={path}", entries).split() == wanted
    (objects / "f.o").unlink()
    refused(
        tmp_path,
        "build/objects/f.o: No such file or directory",
        "--gold=-",
        "--objects=build/thin.a",
        entries,
    )
    ar("rcT", "thin.a", "main.o")
    (tmp_path / "nameless.a").write_bytes((tmp_path / "thin.a").read_bytes().replace(b"main.o/", b"/" + b"\n" * 6))
    refused(tmp_path, "nameless.a: a broken archive: a member without a name", "--gold=-", "--objects=nameless.a", entries)


def test_what_is_no_object_in_a_folder_is_passed_over(program: Spread, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "empty.o").touch()
    (folder / "bitcode.o").write_bytes(b"BC\xc0\xde" + bytes(100))
    (folder / "script.a").write_text("INPUT(spread.o)\n")
    refused(tmp_path, "build: no object file", "--gold=-", "--objects=build", program.entries)
    shutil.copy(program.object, folder)
    known = good(tmp_path, "--gold=-", "--objects=build", program.entries).split()
    assert known == [".text.main", *(f".text.f{n}" for n in CALLED)]
    # Not what is asked for by its name, nor what is broken.
    refused(tmp_path, "build/empty.o: not an ELF file", "--gold=-", "--objects=build/empty.o", program.entries)
    (folder / "half.o").write_bytes(program.object.read_bytes()[:1000])
    result = run(tmp_path, "--gold=-", "--objects=build", program.entries)
    assert result.status == 1 and result.err.startswith("tg_order: error: build/half.o: a broken ELF file: ")


SUFFIXED = """
volatile int sink;
void moved(void) __asm__("moved.llvm.987");
void unique(void) __asm__("unique.__uniq.55.llvm.66");
void part(void) __asm__("part.part.0");
void whole(void) __asm__("part");
void never(void) __asm__("moved2");
void moved2(void) __asm__("moved2.isra.0");
void moved(void) { sink++; }
void unique(void) { sink++; }
void part(void) { sink++; }
void whole(void) { sink++; }
void never(void) { sink++; }
void moved2(void) { sink++; }
int main(int argc, char **argv) { part(); moved(); unique(); moved2(); if (argc > 9) { whole(); never(); } return 0; }
"""


def test_names_with_and_without_suffixes_are_written(tmp_path: Path) -> None:
    """Not where the shorter name is that of another function, which was not entered."""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "s", SUFFIXED, "-ffunction-sections")])
    entries = recorded(tmp_path, program)
    assert good(tmp_path, "--lld=-", entries).split() == [
        "main",
        "part.part.0",
        "moved.llvm.987",
        "moved",
        "unique.__uniq.55.llvm.66",
        "unique.__uniq.55",
        "unique",
        "moved2.isra.0",
    ]
    assert good(tmp_path, "--names=-", entries).split() == [
        "main",
        "part.part.0",
        "moved.llvm.987",
        "unique.__uniq.55.llvm.66",
        "moved2.isra.0",
    ]


def test_the_names_of_one_function_are_checked_as_one(tmp_path: Path) -> None:
    """Aliases lie at one address; a name without its suffix is not there."""
    lines = ["volatile int sink;"]
    for n in range(12):
        name = f"f{n}" + (".isra.0.constprop.0" if n % 2 else "")
        lines.append(f'void f{n}(void) __asm__("{name}"); void f{n}(void) {{ sink += {n}; }}')
        lines.append(f'void g{n}(void) __attribute__((alias("{name}")));')
    calls = [5, 3, 9, 1, 7, 0, 2, 4, 8, 6]
    lines.append("int main(void) {" + "".join(f"f{n}();" for n in calls) + "return 0; }")
    source = compiled(tmp_path, "s", "\n".join(lines) + "\n", "-ffunction-sections")
    program = linked(tmp_path, "prog", [source])
    entries = recorded(tmp_path, program)
    good(tmp_path, "--bfd-script=order.ld", "--lld=names", "--gold=sections", "--bolt=bolt", entries)
    names = (tmp_path / "names").read_text().split()
    assert {"f0", "g0", "f5.isra.0.constprop.0", "f5.isra.0", "f5", "g5"} <= set(names)
    again = linked(tmp_path, "again", [source], "-Wl,-T,order.ld")
    for order in ("order.ld", "names", "sections", "bolt"):
        text = good(tmp_path, f"--check={again}", f"--order={order}")
        assert "The binary follows the order: 100.0% of neighbours" in text
        assert row(text, "checked")["functions"] == "11"
        assert "Not in this binary" not in text
        result = run(tmp_path, f"--check={program}", f"--order={order}")
        assert result.status == 2 and "does NOT follow" in result.out
    # What is not there at all is missed once, not with each of its names.
    (tmp_path / "more").write_text("\n".join([*names, "h.isra.0.constprop.0", "h.isra.0", "h"]) + "\n")
    text = good(tmp_path, f"--check={again}", "--order=more")
    assert "Not in this binary: 1 of 12 functions: h.isra.0.constprop.0\n" in text


def test_the_cold_part_is_looked_for_where_compilers_put_it() -> None:
    order, dialects = package("order.order"), package("order.dialects")
    function = package("order.trace").Function("f.cold", "", 0, 10, 0, ("f.cold",))
    names = dialects.section_names(order.Placed(function, 1.0, 0.0), None)
    assert names == [".text.unlikely.f", ".text.unlikely.f.cold"]


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("f", []),
        ("f.llvm.1234567890", ["f"]),
        ("f.part.0", ["f"]),
        ("f.isra.0.constprop.1", ["f.isra.0", "f"]),
        ("f.constprop.0.cold", ["f.constprop.0", "f"]),
        ("f.__uniq.1.llvm.2", ["f.__uniq.1", "f"]),
        ("f.lto_priv.3", ["f"]),
        ("f.cold.7", ["f"]),
        ("f.5", ["f"]),
        ("a.b", []),
        (".cold", []),
        ("_ZN1a1bEv.cold", ["_ZN1a1bEv"]),
    ],
)
def test_suffixes_of_compilers(name: str, shorter: list[str]) -> None:
    assert package("order.order").stripped(name) == shorter


def test_static_functions_of_one_name_are_pointed_out(tmp_path: Path) -> None:
    objects = [
        compiled(
            tmp_path,
            name,
            "extern volatile int sink; static void same(void) { sink++; } "
            f"void {name}(void) {{ same(); }}\n",
            "-ffunction-sections",
        )
        for name in ("one", "two")
    ]
    main = "volatile int sink; void one(void), two(void); int main(void) { two(); one(); return 0; }\n"
    objects.append(compiled(tmp_path, "main", main, "-ffunction-sections"))
    program = linked(tmp_path, "prog", objects)
    result = run(tmp_path, "--list", recorded(tmp_path, program))
    assert result.err == (
        "tg_order: warning: 2 of the functions share their name with others of the binary, which "
        "linkers that go by name cannot tell apart: same (two.c), same (one.c)\n"
    )
    listed = [line.split(maxsplit=4)[4] for line in result.out.splitlines() if re.match(r" *\d+ ", line)]
    assert listed == ["main", "two", "same (two.c)", "one", "same (one.c)"]


def test_a_stripped_binary_is_ordered_by_what_was_recorded_only_if_there_is_something(
    tmp_path: Path,
) -> None:
    program = linked(tmp_path, "prog", [compiled(tmp_path, "s", spread(2, [1], 20, 20))], "-s")
    entries = recorded(tmp_path, program)
    result = run(tmp_path, "--lld=order", entries)
    assert (result.status, result.out) == (1, "")
    assert "has no symbols (it is stripped)" in result.err


def test_another_binary_is_refused(tmp_path: Path, program: Spread) -> None:
    other = linked(tmp_path, "other", [compiled(tmp_path, "o", spread(3, [2], 30, 30))])
    result = run(tmp_path, f"--binary={other}", "--lld=-", program.entries)
    assert (result.status, result.out) == (1, "")
    assert re.fullmatch(
        rf"tg_order: error: {re.escape(str(other))}: build ID [0-9a-f]+, but .*: this is another "
        r"binary than the one that was run\n",
        result.err,
    )


def test_a_check_of_a_binary_with_other_functions_is_refused(tmp_path: Path, program: Spread) -> None:
    source = "int main(void) { return 0; }\n"
    other = linked(tmp_path, "other", [compiled(tmp_path, "o", source)])
    refused(
        tmp_path,
        f"{other}: 8 of the 9 functions of the order are not in it: the order is for another binary",
        f"--check={other}",
        program.entries,
    )


# --- Data ---

DATA_PROGRAM = """
#define PAGED(name) char name[4096 - 64] __attribute__((aligned(64))) = { 1 }
PAGED(gap0); int one[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap1); int two[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap2); int three[16] __attribute__((aligned(64))) = { 1 };
PAGED(gap3);
char zeros[3 * 4096] __attribute__((aligned(4096)));
const void *const pointers[] = { one, two, three, gap0, gap1, gap2, gap3 };
int main(int argc, char **argv)
{
   three[argc] = 3;
   one[argc] = 1;
   zeros[4096] = 1;
   return pointers[argc + 1] == argv;
}
"""


def test_code_without_a_symbol_counts_once(tmp_path: Path) -> None:
    """However many runs there are of it."""
    source = "volatile int sink; void one(void) { sink++; } int main(void) { one(); return 0; }\n"
    program = linked(tmp_path, "prog", [compiled(tmp_path, "p", source)])
    runs = []
    for n in range(5):
        runs.append(tmp_path / f"run{n}")
        recorded(tmp_path, program).rename(runs[-1])
    facts = []
    for files in (runs[:1], runs):
        result = run(tmp_path, *files)
        assert result.status == 0
        wanted = ("Functions entered", "Without a symbol", "C start code")
        facts.append([line for line in result.out.splitlines() if line.startswith(wanted)])
        facts[-1] += [line for line in result.err.splitlines() if "has no symbol" in line]
    assert facts[0] == facts[1]
    assert any(line.startswith("Without a symbol") for line in facts[0])


def test_data_that_is_written_can_be_packed(tmp_path: Path) -> None:
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", DATA_PROGRAM, "-fpie")], "-pie")
    text = good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data"))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    wanted = ("one", "two", "three", "zeros", "gap0", "gap1", "gap2", "gap3")
    variables = {row[-1]: row for row in rows if row[-1] in wanted and len(row) > 6}
    assert list(variables) == ["three", "one", "zeros"]  # in order of the first write
    assert [row[1] for row in variables.values()] == ["data", "data", "bss"]
    assert [row[4] for row in variables.values()] == ["8", "8", "8"]
    assert any(row[-1] == "pointers" and row[1] == "relro" and row[3] == "56" for row in rows)
    (packing,) = (row for row in rows if row[0].startswith("bss:"))
    # Of .bss: three pages and more, two written (one of them by the C start code), two variables.
    assert packing[2] == "2"
    (packing,) = (row for row in rows if row[0].startswith("data:"))
    # A third one has nothing but a relocation of the C start code.
    assert (packing[2], packing[3], packing[-1]) == ("3", "1", "1")
    assert re.search(r"would save up to [12] of [0-9]+ faults", text)


def test_relocations_stay_when_the_rest_is_packed(tmp_path: Path) -> None:
    """Each page has a variable that is written and a table of pointers that nobody writes: without relocations they
    can be packed into one, in a position-independent program the dynamic linker writes to all of them."""
    lines = ['#define DATA __attribute__((section(".data")))']
    for n in range(8):
        lines.append(f"DATA volatile long one{n} = 1; DATA char rest{n}[3000] = {{ 1 }};")
        lines.append(f"DATA void *table{n}[200] = {{ rest{n} }};")
    lines.append("int main(void) {")
    lines += [f"   one{n}++;" for n in range(8)]
    lines.append("   return 0; }")
    source = "\n".join(lines) + "\n"
    saved = {}
    for kind in ("-pie", "-no-pie"):
        folder = tmp_path / kind
        folder.mkdir()
        flag = "-fpie" if kind == "-pie" else "-fno-pie"
        program = linked(folder, "prog", [compiled(folder, "d", source, flag)], kind)
        text = good(folder, "--data", recorded(folder, program, what="data"))
        match = re.search(r"would save up to (\d+) of", text)
        assert match
        saved[kind] = int(match[1])
        warning = re.search(r"The dynamic linker writes to (\d+) of these pages whatever is packed", text)
        relocated = int(warning[1]) if warning else 0
        assert relocated >= 5 if kind == "-pie" else relocated <= 2
        assert ("the program is position-independent" in text) == (kind == "-pie")
    assert saved["-pie"] == 0
    assert saved["-no-pie"] >= 4


def test_data_apart_that_is_written(tmp_path: Path) -> None:
    """The linker gives it a segment of its own, of which the file has nothing."""
    source = """
static volatile char apart[5 * 8192] __attribute__((aligned(8192)));
int main(void) { apart[4] = 1; apart[3 * 8192] = 1; return 0; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fpie")], "-pie")
    text = good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data"))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    assert {row[1] for row in rows if row[-1].startswith("apart")} == {"bss"}
    (packing,) = (row for row in rows if row[0].startswith("bss:"))
    assert packing[2] == "3"  # one of them by the C start code


@pytest.mark.skipif(not has("lld"), reason="no ld.lld")
def test_data_in_two_segments(tmp_path: Path) -> None:
    """lld gives what is read-only after relocation a segment of its own. The file's bytes of both are side by side, often
    in one page; what the file has nothing of is the second's."""
    source = """
long early = 5;
long bss_a[1024] __attribute__((aligned(4096)));
long bss_b[1024] __attribute__((aligned(4096)));
long bss_c[1024] __attribute__((aligned(4096)));
int main(int argc, char **argv) { early++; bss_b[2 + argc] = 1; bss_c[699 + argc] = 1; return argv == (void *)bss_a; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fpie")], "-pie", "-fuse-ld=lld")
    symbols = {s.name: s.address for s in package("formats.elf").read(str(program)).symbols}
    options = ("--faults=yes", f"--faults-out-file={tmp_path / 'faults'}")
    text = good(tmp_path, "--data", "--faults=faults", recorded(tmp_path, program, what="data", options=options))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    listed = {row[-1]: row[-2] for row in rows if row[-1] in ("early", "bss_a", "bss_b", "bss_c") and len(row) > 6}
    places = {"early": symbols["early"], "bss_b": symbols["bss_b"] + 24, "bss_c": symbols["bss_c"] + 5600}
    assert listed == {name: f"{address & ~0xFFF:#x}" for name, address in places.items()}
    match = re.search(r"save up to \d+ of (\d+) faults\.\n\nOf all [\d,]+ faults of the run, (\d+) ", text)
    assert match
    assert match[1] == match[2]


def test_data_needs_its_own_record(tmp_path: Path) -> None:
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", "int main(void) { return 0; }\n")])
    entries = recorded(tmp_path, program)
    refused(
        tmp_path,
        f"no data of {program} was recorded: run the program with --entries=data",
        "--data",
        entries,
    )


# --- Recorded files, without a binary ---


def test_a_run_without_its_binary(tmp_path: Path) -> None:
    result = run(DATA, "--names=-", "first.entries")
    assert result.out.split() == ["main", "read_config", "help", "parse.constprop.0", "emit.llvm.123456"]
    assert result.err == (
        "tg_order: warning: /nowhere/bin/prog: No such file or directory; the names recorded are "
        "used, without sizes and aliases\n"
    )


@pytest.mark.parametrize(
    ("weights", "names"),
    [
        # What both runs enter comes first, in the mean order of the two.
        ("1,1", ["main", "emit.llvm.123456", "read_config", "help", "parse.constprop.0", "run"]),
        ("9,1", ["main", "read_config", "emit.llvm.123456", "help", "parse.constprop.0", "run"]),
        ("1,9", ["main", "emit.llvm.123456", "read_config", "run", "help", "parse.constprop.0"]),
    ],
)
def test_runs_are_merged_by_weight(weights: str, names: list[str]) -> None:
    out = good(DATA, "--names=-", f"--weights={weights}", "first.entries", "second.entries")
    if weights == "1,1":  # ties are broken by the mean rank: (1/5 + 2/4) / 2 against (4/5 + 1/4) / 2
        names = ["main", "read_config", "emit.llvm.123456", "help", "parse.constprop.0", "run"]
    assert out.split() == names


def test_what_few_runs_enter_can_be_left_out() -> None:
    arguments = ("--weights=3,1", "first.entries", "second.entries")
    assert "run" in good(DATA, "--names=-", *arguments).split()
    assert "run" not in good(DATA, "--names=-", "--least=30", *arguments).split()
    assert "Left out by --least: 1 functions" in good(DATA, "--least=30", *arguments)


def test_one_order_is_for_one_object(tmp_path: Path) -> None:
    other = (DATA / "second.entries").read_text().replace("/bin/prog", "/bin/another")
    (tmp_path / "other.entries").write_text(other.replace("./prog", "./another"))
    refused(
        tmp_path,
        "other.entries: the order is of /nowhere/bin/another, but of /nowhere/bin/prog in "
        f"{DATA / 'first.entries'}: one order can only be made for one object; choose it with --object",
        "--names=-",
        DATA / "first.entries",
        "other.entries",
    )


@pytest.mark.parametrize(
    ("wanted", "first"),
    [("ld.so", "_dl_start"), ("/lib/ld.so", "_dl_start"), ("bin/prog", "main"), ("prog", "main")],
)
def test_objects_are_chosen_by_their_names(wanted: str, first: str) -> None:
    assert good(DATA, f"--object={wanted}", "--names=-", "first.entries").split()[0] == first


def test_an_object_that_is_not_there() -> None:
    refused(
        DATA,
        "first.entries: cannot tell the object 'libz.so': 0 objects fit; choose with --object one of "
        "/lib/ld.so, /nowhere/bin/prog",
        "--object=libz.so",
        "first.entries",
    )


# --- Layout ---


def test_windows_are_those_of_the_kernel() -> None:
    """As fault-around is described: 16 pages aligned in the address space, clamped."""
    window = package("order.layout").window
    mapping = range(3, 1000)
    for base in (0, 5, 511):
        for page in mapping:
            got = window(page, mapping, base)
            assert page in got
            assert mapping.start <= got.start and got.stop <= mapping.stop
            assert (got.start + base) // 512 == (got.stop - 1 + base) // 512  # one page table
            assert len(got) <= 16
            # Whole, unless the mapping's begin or end or the page table cuts it.
            aligned = (got.start + base) % 16 == 0
            assert aligned or got.start == mapping.start
            assert len(got) == 16 or got.stop == mapping.stop or (got.stop + base) % 512 == 0
    # From the mapping's begin it is 16 pages, which may go beyond the aligned block.
    assert window(4, range(3, 1000), 0) == range(3, 19)
    assert window(18, range(3, 1000), 0) == range(16, 32)
    assert window(16, range(3, 20), 0) == range(16, 20)


def test_faults_of_a_sequence() -> None:
    layout = package("order.layout")

    class Text:
        ranges = (range(64),)
        of = staticmethod(lambda page: range(64) if page < 64 else None)

    assert layout.code_faults([0, 16, 24, 40], Text, 0) == 3  # 0 to 15, 16 to 31, 32 to 47
    # Eight pages higher: 0 to 15 from the mapping's begin, 8 to 23, 24 to 39, 40 to 55.
    assert layout.code_faults([0, 16, 24, 40], Text, 8) == 4


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "no ENTRIES given"),
        (["--order=x"], "--order=FILE goes with --check=BINARY"),
        (["--order=x", "--check=y", "z"], "--order=FILE takes the place of ENTRIES; give one of the two"),
        (["--weights=1", "a", "b"], "--weights has 1 numbers for 2 ENTRIES"),
        (["--weights=0", "a"], "argument --weights: '0' is not a number above 0"),
        (["--least=200", "a"], "argument --least: '200' is not a percentage from 0 to 100"),
        (["--lld=-", "--gold=-", "a"], "only one order can go to the standard output"),
        (["--faults=x", "a"], "--faults=FILE goes with --forecast or --data"),
        (["--top=3", "a"], "--top=N goes with --data"),
        (["--page-align", "--lld=x", "a"], "--page-align goes with --bfd or --bfd-script"),
        (["--ld=gld", "--bfd=x", "a"], "--ld goes with --bfd-script"),
        (["--ld-script=x", "--lld=x", "a"], "--ld-script goes with --bfd-script"),
        (["--data", "--lld=x", "a"], "--data goes without --lld"),
        (["--data", "--forecast", "a"], "--data goes without --forecast"),
        (["--data", "--check=x", "a"], "--data goes without --check"),
        (["--order=x", "--check=y", "--bfd-script=z"], "--order goes without --bfd-script"),
        (["--order=x", "--check=y", "--forecast"], "--order goes without --forecast"),
        (["--lld=-", "--check=x", "a"], "--lld=- goes without --check"),
        (["--bfd-script=-", "--list", "a"], "--bfd-script=- goes without --list"),
        (["--bfd=x", "--bfd-script=./x", "a"], "--bfd and --bfd-script would go to the same file; give each its own"),
        (["--lld=", "a"], "argument --lld: the name of the file is missing"),
        (["--names=", "a"], "argument --names: the name of the file is missing"),
        (["--object=", "a"], "argument --object: the name of the object is missing"),
        (["--bfd-script=x", "--ld-script=", "a"], "argument --ld-script: the name of the file is missing"),
        (["--nonsense", "a"], "unrecognized arguments: --nonsense"),
    ],
)
def test_bad_options(arguments: list[str], complaint: str) -> None:
    refused(DATA, f"{complaint} (tg_order --help lists what is allowed)", *arguments)


def test_files_that_cannot_be_written_or_read(tmp_path: Path) -> None:
    refused(DATA, "/nowhere/order: No such file or directory", "--lld=/nowhere/order", "first.entries")
    refused(DATA, "/nowhere/x: No such file or directory", "/nowhere/x")
    refused(
        DATA,
        "argument --ld: '/bin/true' prints no linker script (is it GNU ld?)",
        "--bfd-script=-",
        "--ld=/bin/true",
        "first.entries",
    )
    refused(
        DATA,
        "argument --ld: '/nowhere/ld': No such file or directory",
        "--bfd-script=-",
        "--ld=/nowhere/ld",
        "first.entries",
    )
    refused(
        DATA,
        "argument --ld-script: first.entries has no linker script",
        "--bfd-script=-",
        "--ld-script=first.entries",
        "first.entries",
    )


def test_broken_ordering_files(tmp_path: Path, program: Spread) -> None:
    for text, complaint in (
        (b"f1\nf2 f3\n", "order:2: more than one name: 'f2 f3'"),
        (b"# nothing\n", "order: it names no function"),
        (b"f1\0f2\n", "order: not an ordering file: it holds bytes of 0"),
    ):
        (tmp_path / "order").write_bytes(text)
        refused(tmp_path, complaint, f"--check={program.program}", "--order=order")


def test_help_and_version() -> None:
    assert good(DATA, "--help").startswith("Usage: tg_order ")
    assert re.fullmatch(r"tg_order [0-9.]+\n", good(DATA, "--version"))
