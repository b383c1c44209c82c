# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--by=data:offset names the members of records, from the program's debug information."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from data_support import observe, only
from tg_environment import client
from tg_written import without_checksum
from tool_support import PYTHON, TG_ANNOTATE

TYPES = ("--data-type=nodes*=app::Node", "--data-type=whole*=Node")
COMMON = ("--by=data:offset", "--show=Dr,Dw", "--sort=Drw", "--threshold=0")


def annotated(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, TG_ANNOTATE, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8")


@pytest.fixture(scope="module", name="written")
def written_(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("members")
    done = observe(folder, options=("--data-offsets=yes",), program="run_members")
    assert done.status == 0, done.err
    return only(folder).path, done.out.splitlines()


def offsets(path: Path, *options: str) -> dict[str, dict[str, tuple[int, int]]]:
    """By data and what stands at the offset."""
    done = annotated(*COMMON, "--format=json", *options, path)
    assert done.returncode == 0, done.stderr
    (table,) = (t for t in json.loads(done.stdout)["tables"] if t["name"] == "data:offset")
    return {
        row["data"]: {part["offset"]: (part["Dr"], part["Dw"]) for part in row["parts"]["rows"]}
        for row in table["rows"]
    }


def test_each_member_has_what_the_program_did_with_it(written: tuple[Path, list[str]]) -> None:
    path, expected = written
    found = offsets(path, *TYPES)
    assert len(expected) > 15
    for line in expected:
        data, offset, rest = line.split(" ", 2)
        members, reads, writes = rest.rsplit(" ", 2)
        place = f"{offset} ({int(offset):#x}) {members}"
        parts = next(parts for name, parts in found.items() if f" {data} " in f" {name} ")
        assert parts.get(place) == (int(reads), int(writes)), (line, parts)


def test_text_and_csv_have_the_same_names(written: tuple[Path, list[str]]) -> None:
    path, _ = written
    wanted = "64 (0x40) next"
    assert wanted in annotated(*COMMON, *TYPES, path).stdout
    rows = list(csv.reader(annotated(*COMMON, *TYPES, "--format=csv", path).stdout.splitlines()))
    assert any(wanted in row for row in rows)


def test_names_change_no_count(written: tuple[Path, list[str]]) -> None:
    path, _ = written
    plain, named = offsets(path), offsets(path, *TYPES)
    assert plain != named
    for data, parts in plain.items():
        assert sorted(parts.values()) == sorted(named[data].values())


@pytest.mark.parametrize(
    "option, what",
    [
        ("nodes*=nothing", "no type 'nothing'"),
        ("nothing=Node", "no data 'nothing'"),
        ("nodes*=Small", "'Small' has 40 bytes, the records of 'nodes*' 72"),
        ("nodes", "'nodes' is not DATA=TYPE"),
        ("=Node", "'=Node' is not DATA=TYPE"),
    ],
)
def test_a_type_that_cannot_be_is_refused(written: tuple[Path, list[str]], option: str, what: str) -> None:
    done = annotated(*COMMON, f"--data-type={option}", written[0])
    assert (done.returncode, done.stdout) == (1, "") and what in done.stderr


def test_a_type_is_for_offsets(written: tuple[Path, list[str]]) -> None:
    done = annotated("--by=data", "--data-type=nodes=Node", written[0])
    assert done.returncode == 1 and "--data-type goes with --by=data:offset only" in done.stderr


@pytest.mark.parametrize("damage", ["gone", "short", "no debug information", "broken debug information"])
def test_without_debug_information_there_are_no_names(
    tmp_path: Path, written: tuple[Path, list[str]], damage: str
) -> None:
    program = tmp_path / "program"
    content = Path(client("run_members")).read_bytes()
    if damage == "short":
        program.write_bytes(content[: len(content) // 2])
    elif damage == "no debug information":
        program.write_bytes(content.replace(b".debug_info", b".debug_inf_"))
    elif damage == "broken debug information":
        shutil.copy(client("run_members"), program)
        dumped = tmp_path / "info"
        subprocess.run(["objcopy", f"--dump-section=.debug_info={dumped}", program], check=True)
        info = bytearray(dumped.read_bytes())
        info[40:] = bytes((7 * i) % 251 for i in range(len(info) - 40))
        dumped.write_bytes(bytes(info))
        subprocess.run(["objcopy", f"--update-section=.debug_info={dumped}", program], check=True)
    data = tmp_path / "data"
    data.write_text(without_checksum(written[0].read_bytes()).replace(str(client("run_members")), str(program)))
    done = annotated(*COMMON, data)
    assert done.returncode == 0, done.stderr
    assert "64 (0x40)" in done.stdout and "real, whole" not in done.stdout


@pytest.mark.parametrize("options", [("-gdwarf-4",), ("-gdwarf-5", "-gz"), ("-gdwarf-2", "-gstrict-dwarf"), ("-m32",)])
def test_all_versions_of_debug_information_are_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    source = tmp_path / "one.c"
    source.write_text(
        "struct s { long a; struct { short b[2]; char c; } in[2]; unsigned f : 5; };\n"
        "typedef const struct s alias;\nstatic struct s one[3];\nalias two;\nint main(void) { return one[1].in[0].c; }\n"
    )
    program = tmp_path / "one"
    made = subprocess.run(["gcc", "-g", *options, source, "-o", program], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("the compiler does not take these options")
    code = (
        "import sys; from tgreport.formats.dwarf import Debug\n"
        "d = Debug(sys.argv[1]); (s,) = d.types('struct s'); w = int(sys.argv[2])\n"
        "(v,) = d.variables('one', 3 * s.size())\n"
        "print(s.size(), s.members(w, 8), s.members(w + 12, 4), v.members(s.size(), w), d.types('alias')[0].size())\n"
    )
    word = 4 if "-m32" in options else 8
    done = subprocess.run(
        [PYTHON, "-c", code, program, str(word)],
        check=False, capture_output=True, encoding="utf-8", cwd=Path(TG_ANNOTATE).parent,
    )  # fmt: skip
    size = 20 if word == 4 else 24
    names = f"{size} ['.in[0].b[0..1]', '.in[0].c', '.in[1].b[0]'] ['.f'] ['[1].a'] {size}\n"
    assert done.stdout == names, (done.stdout, done.stderr)
