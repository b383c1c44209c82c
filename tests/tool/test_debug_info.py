# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the launcher says of debug information that Valgrind does not read, before it starts Valgrind."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND

COMMAND = Path(TLBGRIND).with_name("tlbgrind-debug-info")
COMPRESSED = 0x800
ZLIB, ZSTD = 1, 2

Section = tuple[str, int, bytes]


def unit(version: int, is_64: bool = False, kind: int = 1) -> bytes:
    """A unit of debug information: a header, and nothing of use behind it."""
    rest = struct.pack("<HBB", version, kind, 8) + bytes(12)
    return (b"\xff\xff\xff\xff" + struct.pack("<Q", len(rest)) if is_64 else struct.pack("<I", len(rest))) + rest


def compressed(how: int, is_64: bool) -> bytes:
    return (struct.pack("<IIQQ", how, 0, 99, 1) if is_64 else struct.pack("<III", how, 99, 1)) + b"...."


def elf(sections: list[Section], is_64: bool = True) -> bytes:
    sections = [("", 0, b""), *sections, (".shstrtab", 0, b"")]
    names = b"".join(name.encode() + b"\0" for name, _, _ in sections)
    sections[-1] = (".shstrtab", 0, names)
    head = 64 if is_64 else 52
    headers, body, name_at = b"", b"", 0
    for name, flags, content in sections:
        fields = (name_at, 1, flags, 0, head + len(body), len(content), 0, 0, 1, 0)
        headers += struct.pack("<IIQQQQIIQQ" if is_64 else "<10I", *fields)
        body += content
        name_at += len(name) + 1
    words = (2, 62 if is_64 else 3, 1, 0, 0, head + len(body), 0, head, 0, 0, 64 if is_64 else 40, len(sections), len(sections) - 1)
    ident = b"\x7fELF" + bytes([2 if is_64 else 1, 1, 1]) + bytes(9)
    return ident + struct.pack("<HHIQQQIHHHHHH" if is_64 else "<HHIIIIIHHHHHH", *words) + body + headers


# By name: what is in the file, of 64 or 32 bits, and what is said of it, by Valgrind's version.
OFFSETS: Section = (".debug_str_offsets", 0, b"")
CLANG = [(".debug_info", 0, unit(5) + unit(5)), OFFSETS]
CASES = {
    "clang's DWARF 5": (CLANG, {"3.19.0": "DWARF 5 as clang and rustc write it", "3.20.0": None, "3.27.1": None}),
    "one unit of it": ([(".debug_info", 0, unit(5)), OFFSETS], {"3.19.0": None}),
    "gcc's DWARF 5": ([(".debug_info", 0, unit(5) + unit(5))], {"3.19.0": None}),
    "DWARF 4 beside it": ([(".debug_info", 0, unit(4) + unit(4)), OFFSETS], {"3.19.0": None}),
    "64-bit DWARF": ([(".debug_info", 0, unit(5) + unit(4, True))], dict.fromkeys(("3.19.0", "3.24.0", "3.27.1"), "DWARF in its 64-bit form")),
    "of types": ([(".debug_info", 0, unit(5) + unit(5, kind=2))], {"3.19.0": "units of types or of split files", "3.24.0": None}),
    "of split files": ([(".debug_info", 0, unit(5, kind=4))], {"3.19.0": "units of types or of split files", "3.24.0": None}),
    "of a part": ([(".debug_info", 0, unit(5, kind=3) + unit(5))], {"3.19.0": None}),
    "DWARF 4, whose units have no kind": ([(".debug_info", 0, unit(4, kind=4))], {"3.19.0": None}),
    "zlib": ("ZLIB", {"3.19.0": None}),
    "clang's DWARF 5, by zlib": ("ZLIB, OFFSETS", {"3.19.0": "DWARF 5 as clang and rustc write it", "3.20.0": None}),
    "clang's DWARF 5, by zstd": ("ZSTD, OFFSETS", {"3.19.0": "sections that zstd has compressed", "3.27.1": None}),
    "zstd": ("ZSTD", {"3.19.0": "sections that zstd has compressed", "3.24.0": "sections that zstd has compressed", "3.27.1": None}),
    "zlib-gnu": ([(".zdebug_info", 0, b"ZLIB")], {"3.19.0": "compressed in the old way (-gz=zlib-gnu)"}),
    "none": ([(".text", 0, b"\xc3")], {"3.19.0": None}),
}  # fmt: skip


def said(version: str, path: Path, *libraries: Path) -> str:
    names = "".join(f"{library}\n" for library in libraries)
    done = subprocess.run([COMMAND, version, path], input=names, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("is_64", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_what_valgrind_does_not_read_is_named(name: str, is_64: bool, tmp_path: Path) -> None:
    content, expected = CASES[name]
    if isinstance(content, str):
        how = ZSTD if content.startswith("ZSTD") else ZLIB
        others = [OFFSETS] if content.endswith("OFFSETS") else []
        content = [(".debug_info", COMPRESSED, compressed(how, is_64)), *others]
    path = tmp_path / "program"
    path.write_bytes(elf(content, is_64))
    for version, what in expected.items():
        text = said(version, path)
        if what is None:
            assert text == ""
            continue
        assert text.startswith(f"tlbgrind: warning: {path}: ") and what in text and text.count("\n") == 1
        assert f"Valgrind {version} " in text and text.endswith("objcopy --strip-debug PROGRAM COPY\n")
        of_library = said(version, tmp_path / "nowhere", tmp_path / "gone", path, path)
        told = [text.replace("run a copy without it", "use a copy without it by LD_LIBRARY_PATH").replace("PROGRAM", "LIBRARY")] * 2
        assert of_library == "".join(told)


def test_damaged_programs_are_looked_at_in_silence_or_with_a_line(tmp_path: Path) -> None:
    """Whatever the file is, the program is run: status 0, and a line at most."""
    whole = elf(CLANG)
    path = tmp_path / "program"
    dice = random.Random(1)
    for n in range(400):
        damaged = bytearray(whole[: dice.randrange(len(whole) + 1)] if n % 2 else whole)
        for _ in range(dice.randrange(4)):
            if damaged:
                damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        assert said("3.19.0", path).count("\n") <= 1
    assert said("3.19.0", tmp_path) == said("3.19.0", tmp_path / "nowhere") == ""


@pytest.mark.parametrize("options", ["", "-fdebug-types-section", "-gsplit-dwarf", "-gz=zlib", "-gz=zlib -gsplit-dwarf -gdwarf-4"])
def test_no_program_is_given_up_in_silence(options: str, tmp_path: Path) -> None:
    """Whatever Valgrind it is: there is an out-file, or a warning before it gives up."""
    (tmp_path / "a.c").write_text("struct a { int x; }; int f(struct a *a) { return 2 * a->x; }\n", encoding="ascii")
    (tmp_path / "b.c").write_text(
        "struct a { int x; }; int f(struct a *); int main(void) { struct a a = { 0 }; return f(&a); }\n", encoding="ascii"
    )
    compile_it = ["gcc", "-g", "-gdwarf-5", *options.split(), "a.c", "b.c", "-o", "program"]
    subprocess.run(compile_it, cwd=tmp_path, check=True)
    tool = [TLBGRIND, "-q", "--tlbgrind-out-file=out"]
    done = subprocess.run([*tool, "./program"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (tmp_path / "out").exists() or "tlbgrind: warning: ./program: the debug information has units" in done.stderr


def test_the_launcher_says_it_before_valgrind_gives_up(tmp_path: Path) -> None:
    """and a copy without debug information is profiled"""
    (tmp_path / "a.c").write_text("int f(int x) { return 2 * x; }\n", encoding="ascii")
    (tmp_path / "b.c").write_text("int f(int); int main(void) { return f(0); }\n", encoding="ascii")
    subprocess.run(["gcc", "-g", "-gdwarf64", "a.c", "b.c", "-o", "program"], cwd=tmp_path, check=True)
    subprocess.run(["objcopy", "--strip-debug", "program", "copy"], cwd=tmp_path, check=True)
    tool = [TLBGRIND, "-q", "--tlbgrind-out-file=out"]
    done = subprocess.run([*tool, "./program"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("tlbgrind: warning: ./program: the debug information has DWARF in its 64-bit form")
    done = subprocess.run([*tool, "./copy"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "warning" not in done.stderr and done.returncode == 0
    assert (tmp_path / "out").exists()


def test_the_launcher_looks_at_libraries(tmp_path: Path) -> None:
    """and one without debug information takes the place of another"""
    (tmp_path / "a.c").write_text("int f(int x) { return 2 * x; }\n", encoding="ascii")
    (tmp_path / "b.c").write_text("int f(int); int main(void) { return f(0); }\n", encoding="ascii")
    (tmp_path / "in the way").mkdir()
    library = tmp_path / "in the way" / "liba.so"
    subprocess.run(["gcc", "-g", "-gdwarf64", "-shared", "-fPIC", "a.c", "-o", library], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "b.c", library, "-o", "program"], cwd=tmp_path, check=True)
    tool = [TLBGRIND, "-q", "--tlbgrind-out-file=out", "./program"]
    done = subprocess.run(tool, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.startswith(f"tlbgrind: warning: {library}: the debug information has DWARF in its 64-bit form")
    (tmp_path / "copies").mkdir()
    subprocess.run(["objcopy", "--strip-debug", library, tmp_path / "copies" / "liba.so"], check=True)
    subprocess.run(["gcc", "b.c", "-L", tmp_path / "copies", "-la", "-o", "program"], cwd=tmp_path, check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "copies")}
    done = subprocess.run(tool, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert "warning" not in done.stderr and done.returncode == 0
    assert (tmp_path / "out").exists()
