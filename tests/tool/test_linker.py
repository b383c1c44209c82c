# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate --advice=libraries: what the dynamic linker does, held against what it says itself
(LD_DEBUG), and other ways to link, against programs that are linked that way."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tg_environment import CC
from tg_tables import document
from tool_support import PYTHON, TG_ANNOTATE, run

LIBRARIES = 6
FUNCTIONS = 12
CALLS = 100
# Without the C library's start code, so that all symbols of a library are those written here.
ALONE = ("-shared", "-nostdlib", "-Wl,--hash-style=gnu", "-Wl,-z,lazy", "-Wl,-z,nopack-relative-relocs")
FLAGS = ("-O1", "-fPIC", "-fcf-protection=none", "-fno-stack-protector", "-fno-asynchronous-unwind-tables")

Rows = dict[str, list[dict[str, Any]]]


def cc(*arguments: object) -> None:
    subprocess.run([*CC, *FLAGS, *map(str, arguments)], check=True)


def library(number: int) -> str:
    """Functions; a table of pointers to own ones and others'; a call of an own one and another's."""
    other = (number + 1) % LIBRARIES
    lines = [f"int fn_{number}_{f}(int x) {{ return x + {f}; }}" for f in range(FUNCTIONS)]
    lines += [f"int fn_{other}_{f}(int);" for f in range(FUNCTIONS)]
    table = [f"fn_{number}_{f}" for f in range(4)] + [f"fn_{other}_{f}" for f in range(4, 9)]
    lines.append(f"int (*const volatile fn_table_{number}[])(int) = {{ {', '.join(table)} }};")
    lines.append(f"static int inside_{number}(int x) {{ return x; }}")
    lines.append(f"static int (*volatile const relative_{number}[])(int) = {{ inside_{number}, inside_{number} }};")
    never = f"if (x < 0) fn_{other}_10(x);"
    lines.append(
        f"int go_{number}(int x) {{ {never} x += fn_table_{number}[x % 9](x) + relative_{number}[1](x);"
        f" x += fn_{number}_1(x); return x + fn_{other}_2(x); }}"
    )
    return "\n".join(lines) + "\n"


MAIN = (
    "#include <stdlib.h>\n"
    + "".join(f"int go_{n}(int);\n" for n in range(LIBRARIES))
    + "int main(int argc, char** argv) { int s = 0; for (long i = atol(argv[1]); i > 0; i--) s += "
    + " + ".join(f"go_{n}(7)" for n in range(LIBRARIES))
    + "; return s == 1; }\n"
)


class Builds:
    """The same objects, linked in several ways. Their folders' names are equally long."""

    def __init__(self, top: Path) -> None:
        self.top = top
        (top / "main.c").write_text(MAIN)
        self.objects = []
        for number in range(LIBRARIES):
            source = top / f"l{number}.c"
            source.write_text(library(number))
            cc("-c", source, "-o", top / f"l{number}.o")
            self.objects.append(top / f"l{number}.o")

    def libraries(self, name: str, *flags: str) -> Path:
        folder = self.top / name
        if not folder.exists():
            folder.mkdir()
            paths = [folder / f"lib{number}.so" for number in range(LIBRARIES)]
            for path, compiled in zip(paths, self.objects):
                cc(*ALONE, *flags, "-o", path, compiled)
            self._program(folder, paths, *flags)
        return folder / "program"

    def merged(self, name: str, *flags: str) -> Path:
        folder = self.top / name
        if not folder.exists():
            folder.mkdir()
            script = folder / "exported"
            script.write_text("{ global: go_*; local: *; };\n")
            path = folder / "liball.so"
            cc(*ALONE, *flags, f"-Wl,--version-script={script}", "-o", path, *self.objects)
            self._program(folder, [path])
        return folder / "program"

    def _program(self, folder: Path, libraries: list[Path], *flags: str) -> None:
        where = [f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined"]
        cc("-pie", "-Wl,-z,lazy", *flags, "-o", folder / "program", self.top / "main.c", *libraries, *where)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(tmp_path_factory.mktemp("linker"))


def recorded(folder: Path, program: Path, calls: int = CALLS, env: dict[str, str] | None = None, options: tuple[str, ...] = ()) -> None:
    folder.mkdir(exist_ok=True)
    r = run(
        folder, program, str(calls), collect=False, out_file="tlbgrind.out.1", env=env, prefix=["setarch", "-R"],
        options=["--calls=yes", "--dump-instr=yes", *options],
    )  # fmt: skip
    assert r.status == 0, r.err


def advice(folder: Path, *more: str, text: bool = False) -> str:
    form = [] if text else ["--format=json"]
    command = [PYTHON, TG_ANNOTATE, "--advice=libraries", *form, "tlbgrind.out.1", *more]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    return done.stdout


def tables(folder: Path, program: Path, calls: int = CALLS, env: dict[str, str] | None = None) -> Rows:
    recorded(folder, program, calls, env)
    return {table["name"]: table["rows"] for table in document(advice(folder))["tables"]}


def of_linker(program: Path, what: str, **env: str) -> str:
    """What the dynamic linker itself says, natively."""
    done = subprocess.run(
        [program, "1"], env={**os.environ, "LD_DEBUG": what, **env}, capture_output=True, encoding="utf-8", check=True
    )
    return done.stderr


def statistics(program: Path, **env: str) -> dict[str, int]:
    found = re.findall(r"^ *\d+:\s+((?:final )?number of [^:]*): (\d+)$", of_linker(program, "statistics", **env), re.MULTILINE)
    if not found:
        pytest.skip("the dynamic linker has no LD_DEBUG=statistics")
    return {what: int(number) for what, number in found}


def total(rows: Rows, column: str) -> int:
    return sum(int(row[column]) for row in rows["relocations"])


def way(rows: Rows, name: str) -> dict[str, Any]:
    [found] = [row for row in rows["ways"] if row["way"].startswith(name)]
    return found


def work(rows: Rows, name: str) -> dict[str, Any]:
    [found] = [row for row in rows["linker"] if row["work"] == name]
    return found


@pytest.mark.parametrize("now", [False, True])
def test_look_ups_are_those_that_the_dynamic_linker_counts(tmp_path: Path, builds: Builds, now: bool) -> None:
    """Its own number has some of the C library's start, too, as many in each program."""
    env = {"LD_BIND_NOW": "1"} if now else {}
    apart, once = builds.libraries("apart"), builds.merged("together")
    counted, others = [], []
    for name, program in (("a", apart), ("b", once)):
        rows = tables(tmp_path / name, program, env=env)
        theirs = statistics(program, **env)
        assert total(rows, "relative") == theirs["number of relative relocations"]
        assert total(rows, "kept") == theirs["number of relocations from cache"]
        counted.append(theirs["final number of relocations"] - total(rows, "look_ups"))
        others.append(work(rows, "symbols looked up")["times"] - total(rows, "look_ups"))
        assert (total(rows, "lazy") == 0) == now
    assert counted[0] == counted[1] >= 0
    assert others[0] == others[1] >= 0


def test_objects_in_which_symbols_are_looked_for(tmp_path: Path, builds: Builds) -> None:
    program = builds.libraries("apart")
    rows = tables(tmp_path, program, env={"LD_BIND_NOW": "1"})
    said = re.findall(r"symbol=((?:fn|go)_\S+);  lookup in file=", of_linker(program, "symbols", LD_BIND_NOW="1"))
    of_program = [name for name in said if name.startswith("go_")]
    for row in rows["relocations"]:
        if re.fullmatch(r"lib\d\.so", Path(row["object"]).name):
            assert row["JUMP_SLOT"] == 3
            assert row["symbolic"] == 9 + 1  # and the table itself
    libraries = sum(row["tested"] for row in rows["relocations"] if re.fullmatch(r"lib\d\.so", Path(row["object"]).name))
    assert libraries == len(said) - len(of_program)
    assert len(of_program) == sum(2 + n for n in range(LIBRARIES))


def test_calls_through_linkage_tables(tmp_path: Path, builds: Builds) -> None:
    """Two of each library's function, and one for each library of the program, in each round."""
    rows = tables(tmp_path / "a", builds.libraries("apart"))
    by_name = {Path(row["object"]).name: row["linkage_calls"] for row in rows["relocations"]}
    assert {by_name[f"lib{n}.so"] for n in range(LIBRARIES)} == {2 * CALLS}
    more = tables(tmp_path / "b", builds.libraries("apart"), 2 * CALLS)
    [again] = [row["linkage_calls"] for row in more["relocations"] if row["object"].endswith("/program")]
    assert again - by_name["program"] == LIBRARIES * CALLS
    lazy = {Path(row["object"]).name: row["lazy"] for row in rows["relocations"]}
    assert {lazy[f"lib{n}.so"] for n in range(LIBRARIES)} == {2}  # the third is never called


def done(rows: Rows) -> dict[str, int]:
    return {column: total(rows, column) for column in ("relocations", "look_ups", "tested", "lazy")}


def saved(rows: Rows, name: str) -> dict[str, int]:
    return {column: way(rows, name)[column] for column in ("relocations", "look_ups", "tested", "lazy")}


def difference(before: Rows, after: Rows) -> dict[str, int]:
    first, second = done(before), done(after)
    return {column: first[column] - second[column] for column in first}


@pytest.mark.parametrize("flag", ["-Wl,-z,now", "-Wl,-Bsymbolic"])
def test_a_flag_saves_what_was_predicted(tmp_path: Path, builds: Builds, flag: str) -> None:
    before = tables(tmp_path / "a", builds.libraries("apart"))
    after = tables(tmp_path / "b", builds.libraries(f"with{flag[-3:]}", flag))
    assert saved(before, "-z now" if flag.endswith("now") else "-Bsymbolic") == difference(before, after)


def test_one_library_saves_what_was_predicted(tmp_path: Path, builds: Builds) -> None:
    before = tables(tmp_path / "a", builds.libraries("apart"))
    after = tables(tmp_path / "b", builds.merged("together"))
    assert way(before, f"{LIBRARIES} libraries in one")["pays"] == "yes"
    assert saved(before, f"{LIBRARIES} libraries in one") == difference(before, after)


def test_packed_relocations_are_as_many_bytes_as_predicted(tmp_path: Path, builds: Builds) -> None:
    def bytes_of(program: Path) -> int:
        sizes = 0
        for path in program.parent.iterdir():
            text = subprocess.run(["readelf", "-WS", path], capture_output=True, encoding="utf-8", check=False).stdout
            for _, size in re.findall(r" (\.rela?\.dyn|\.relr\.dyn) +\S+ +\S+ +\S+ ([0-9a-f]+) ", text):
                sizes += int(size, 16)
        return sizes

    plain = builds.libraries("apart")
    try:
        packed = builds.libraries("packs", "-Wl,-z,pack-relative-relocs")
    except subprocess.CalledProcessError:
        pytest.skip("the linker has no -z pack-relative-relocs")
    if "RELR" not in subprocess.run(["readelf", "-WS", packed], capture_output=True, encoding="utf-8", check=True).stdout:
        pytest.skip("the linker has no -z pack-relative-relocs")
    before = way(tables(tmp_path, plain), "RELR")["pages"]
    others = sum(row["relative"] for row in tables(tmp_path, plain)["relocations"] if not row["object"].startswith(str(plain.parent)))
    if others:
        pytest.skip("the C library has relocations that could be packed")
    assert int(before.split()[0].replace(",", "")) == bytes_of(plain) - bytes_of(packed)


def test_a_short_run_pays_and_a_long_one_does_not(tmp_path: Path, builds: Builds) -> None:
    program = builds.libraries("apart")
    recorded(tmp_path / "a", program, 1)
    assert "\nLibraries cost the start: the dynamic linker has " in advice(tmp_path / "a", text=True)
    recorded(tmp_path / "b", program, 200_000)
    long = advice(tmp_path / "b", text=True)
    assert "\nNothing to win at the start: the dynamic linker has " in long
    assert re.search(r"it could have\s+1%\s+in\s+a\s+run\s+of\s+[0-9,]+\s+cycles\s+or\s+fewer\.", long)


def test_faults_and_pages_of_data_are_those_of_the_fault_log(tmp_path: Path, builds: Builds) -> None:
    faults = ("--faults=yes", "--faults-out-file=tlbgrind.faults.1")
    recorded(tmp_path, builds.libraries("apart"), options=faults)
    found = json.loads(advice(tmp_path))
    rows = {table["name"]: table["rows"] for table in found["tables"]}
    assert work(rows, "the dynamic linker")["faults"] > LIBRARIES
    assert "of data fewer" in way(rows, f"{LIBRARIES} libraries in one")["pages"]
    assert advice(tmp_path, "tlbgrind.faults.1") == advice(tmp_path)
    (tmp_path / "tlbgrind.faults.1").rename(tmp_path / "other")
    assert "of data fewer" not in advice(tmp_path)
    assert "of data fewer" in advice(tmp_path, "other")


def test_tables_have_ten_rows_and_the_rest(tmp_path: Path, builds: Builds) -> None:
    recorded(tmp_path, builds.libraries("apart"))
    objects = LIBRARIES + 3  # the program, the C library and the dynamic linker
    rows = advice(tmp_path, text=True).partition("-- Relocations")[2].partition(" look-ups were counted")[0].splitlines()
    assert rows[-2].endswith(f"all {objects} objects")
    text = advice(tmp_path, "--threshold=0", text=True)
    pairs = text.partition("-- Calls between objects")[2].partition("\n\n")[0].splitlines()
    short = advice(tmp_path, text=True).partition("-- Calls between objects")[2].partition("\n\n")[0].splitlines()
    assert len(short) == 2 + 10 + 1
    assert len(pairs) > len(short)
    assert short[-1].endswith(f"{len(pairs) - 2 - 10} more")


def test_files_that_are_gone_or_damaged_are_named(tmp_path: Path) -> None:
    builds = Builds(tmp_path)
    program = builds.libraries("apart")
    recorded(tmp_path / "a", program)
    path = program.parent / "lib3.so"
    whole = path.read_bytes()
    said = f"Cannot be read, so not in these counts: {path}."
    for size in range(64, len(whole), len(whole) // 7):
        path.write_bytes(whole[:size])
        assert said in advice(tmp_path / "a", text=True).replace("\n", " ")
    path.unlink()
    assert said in advice(tmp_path / "a", text=True).replace("\n", " ")
    # Without the program nobody knows the order of its libraries.
    program.unlink()
    text = advice(tmp_path / "a", text=True).replace("\n", " ")
    assert f"Cannot be read, so not in these counts: {program}, {path}." in text or f"{path}, {program}." in text


@pytest.mark.parametrize("number", range(40))
def test_a_file_with_wrong_bytes_is_no_crash(tmp_path: Path, damaged: tuple[Path, Path, bytes], number: int) -> None:
    """Bytes of the header, of the program headers, and of the tables behind."""
    folder, path, whole = damaged
    bad = bytearray(whole)
    for step in range(6):
        bad[(16 + number * 97 + step * 1013) % len(bad)] ^= 0x5A + number
    path.write_bytes(bytes(bad))
    assert "What the dynamic linker does" in advice(folder, text=True)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, bytes]:
    """A recorded run, one of its libraries, and that one's bytes."""
    top = tmp_path_factory.mktemp("damaged")
    program = Builds(top).libraries("apart")
    recorded(top / "a", program)
    path = program.parent / "lib2.so"
    return top / "a", path, path.read_bytes()


def test_a_static_program_has_no_dynamic_linker(tmp_path: Path) -> None:
    (tmp_path / "s.c").write_text("int f(void) { return 0; } int main(void) { return f(); }\n")
    try:
        cc("-static", "-o", tmp_path / "s", tmp_path / "s.c")
    except subprocess.CalledProcessError:
        pytest.skip("there is no static C library")
    recorded(tmp_path, tmp_path / "s")
    assert "No dynamic linker is among the objects" in advice(tmp_path, text=True)
