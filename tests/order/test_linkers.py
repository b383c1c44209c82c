# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Programs are ordered and relinked with every linker that is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from order_support import (
    CALLED,
    Spread,
    compiled,
    good,
    has,
    linked,
    recorded,
    refused,
    row,
    run,
    spread,
)
from tg_companions import package
from tg_environment import HAVE_X86

LINKERS = {
    "bfd-script": ["-Wl,-T,{}"],
    "gold": ["-fuse-ld=gold", "-Wl,--section-ordering-file,{}"],
    "lld": ["-fuse-ld=lld", "-Wl,--symbol-ordering-file,{}"],
}


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
    text = good(program.folder, f"--check={again}", f"--order={order}")
    assert "The binary follows the order: 100.0% of neighbours" in text


def llvm_bolt() -> str | None:
    """By its own name or with the version of Debian's package behind it."""
    names = ["llvm-bolt", *(f"llvm-bolt-{n}" for n in range(30, 13, -1))]
    return next((found for found in map(shutil.which, names) if found), None)


@pytest.mark.skipif(llvm_bolt() is None, reason="no llvm-bolt (Debian: bolt-19 or another number)")
def test_bolt_follows_the_order(tmp_path: Path) -> None:
    """A program with relocations, ordered after it was linked; f21 is two static functions, which
    the order names by their files, for a plain name would place them beside each other."""
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


@pytest.mark.parametrize("what", ["lld", "names", "bolt", "gold", "bfd", "bfd_script"])
def test_what_is_written_for_a_linker_is_read_back(what: str, tmp_path: Path) -> None:
    """Names with and without suffixes, of cold parts, of sections, with characters that are quoted."""
    order, dialects, trace = package("places.order"), package("order.dialects"), package("places.trace")
    names = ["main", "f.cold", "g.isra.0.cold.3", "startup", "_ZN1aIiE1bEv"]
    names += ["operator@x"] * (what != "gold")  # gold would take it for a pattern
    functions = [trace.Function(name, "", n, 1, n, (name,)) for n, name in enumerate(names)]
    placed = [order.Placed(function, 1.0, 0.0) for function in functions]
    twins = [order.Placed(trace.Function("twin", file, 99, 1, 9, ("twin",)), 1.0, 0.0, duplicates=1) for file in ("a/b.c", "c.c")]
    writer = dialects.Writer(order.Order([*placed, *twins], [], [], 0), None, True)
    default = ["SECTIONS {", "  .text :", "  {", "    *(.text.unlikely .text.*_unlikely)", "    *(.text .text.*)", "  }", "}"]
    lines = writer.bfd_script(default) if what == "bfd_script" else getattr(writer, what)()
    (tmp_path / "order").write_text("\n".join(lines) + "\n")
    back = list(dict.fromkeys(dialects.read(str(tmp_path / "order"))))
    if what == "bolt":
        assert back == [*((name, "") for name in names), ("twin", "a/b.c"), ("twin", "c.c")]
    elif what in ("lld", "names"):
        assert back == [(name, "") for name in [*names, "twin"]]
    else:
        # Of a cold part there are two sections, that of its function and its own.
        assert [name for name, _ in back if name in [*names, "twin"]] == [*names, "twin"]
        assert {name for name, _ in back} - {*names, "twin"} == {"f", "g.isra.0"}


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
    # How it is linked, and the flags of ld that follow from it.
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
    if is_32 and not HAVE_X86:
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
    # An order for lld has functions, not sections.
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


def test_the_cold_part_is_looked_for_where_compilers_put_it() -> None:
    order, dialects = package("places.order"), package("order.dialects")
    function = package("places.trace").Function("f.cold", "", 0, 10, 0, ("f.cold",))
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
def test_suffixes_of_compilers_are_cut_one_by_one(name: str, shorter: list[str]) -> None:
    assert package("places.order").stripped(name) == shorter
