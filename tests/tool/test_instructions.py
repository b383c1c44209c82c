# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--dump-instr=yes: costs by instruction, and the names of code without symbols."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from call_graph import read_graph
from tg_environment import CLIENTS, HAVE_X86, TLBGRIND, client
from tg_tables import as_csv, csv_rows, document
from tool_support import PYTHON, TG_ANNOTATE

ONE = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8")
needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
BITS = ["", pytest.param("32", marks=needs_x86)]


def profile(folder: Path, *options: str, program: str) -> Path:
    """Always in the same folder, whose name is on the program's stack, and with the same layout."""
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    out = folder / "out"
    still = ["setarch", "-R", TLBGRIND, "-q", "--log-file=/dev/null", f"--tlbgrind-out-file={out}"]
    subprocess.run(
        [*still, *options, program],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        cwd=run,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return out


def table(out: Path, *options: str) -> str:
    """But for the first line, which names the file and the command."""
    command = [PYTHON, TG_ANNOTATE, "--threshold=0", "--show=all", *options, str(out)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.partition("\n")[2]


def by_address(out: Path) -> dict[tuple[str, int], int]:
    """The instructions executed at each address of the client, of tlbgrind or callgrind."""
    found: Counter[tuple[str, int]] = Counter()
    names: dict[str, str] = {}
    last = 0
    skip = False
    obj = ""
    for line in out.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        key, _, value = line.partition("=")
        if key in ("ob", "cob"):
            number, _, name = value.partition(" ")
            name = names.setdefault(number, name)
            obj = name if key == "ob" else obj
        elif key == "calls":
            skip = True
        elif re.match("[0-9*+-]", line):
            words = line.split()
            if words[0][0] in "+-":
                last += int(words[0], 0)
            elif words[0] != "*":
                last = int(words[0], 16)
            if not skip and obj.startswith(str(CLIENTS)):
                found[obj, last] += int(words[2]) if len(words) > 2 else 0
            skip = False
    return +found


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("more", [(), ("--calls=yes",), ("--machine=skylake,zen4",)])
def test_tables_are_the_same_with_addresses(tmp_path: Path, more: tuple[str, ...], bits: str) -> None:
    machines = () if more and more[0].startswith("--machine") else ONE
    texts = []
    for instr in ("no", "yes"):
        out = profile(tmp_path, *machines, *more, f"--dump-instr={instr}", program=client("run_calls" + bits))
        names = sorted(tmp_path.glob("out*"))
        assert len(names) == (1 if machines else 2)
        # Code without symbols has other names, and so the least cost, which goes by function, is another.
        tables = [re.sub(r"[\d.]+ to (?=[\d.]+%)", "", table(name, "--by=line,object,file")) for name in names]
        texts.append([re.sub(r"(?m)^.*(0x[0-9a-f]+|\?\?\?).*$", "", text) for text in tables])
        if more == ("--calls=yes",):
            g = read_graph(out)
            texts[-1].append(str([g.arc(*ends) for ends in (("main", "middle"), ("middle", "leaf"))]))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("bits", BITS)
def test_each_address_is_executed_as_often_as_callgrind_counts(tmp_path: Path, bits: str) -> None:
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=client("run_calls" + bits))
    callgrind = tmp_path / "callgrind.out"
    subprocess.run(
        [os.environ.get("VALGRIND", "valgrind"), "-q", "--tool=callgrind", "--dump-instr=yes", "--skip-plt=no",
         f"--callgrind-out-file={callgrind}", client("run_calls" + bits)],
        stdout=subprocess.DEVNULL,
        check=True,
    )  # fmt: skip
    # Callgrind books the code before main, which has no symbols, elsewhere.
    listed = subprocess.run(["nm", "-S", client("run_calls" + bits)], capture_output=True, encoding="utf-8", check=True)
    sizes = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] \w+$", listed.stdout, re.MULTILINE)
    code = {a for start, size in sizes for a in range(int(start, 16), int(start, 16) + int(size, 16))}
    ours, theirs = ({a: n for (_, a), n in by_address(file).items() if a in code} for file in (out, callgrind))
    assert len(ours) > 100
    assert ours == theirs


def functions_of(out: Path, path: str) -> dict[str, tuple[int, ...]]:
    return {name: costs for (obj, name), costs in read_graph(out).own.items() if obj == path}


def symbols(path: str) -> dict[str, int]:
    listed = subprocess.run(["nm", path], capture_output=True, encoding="utf-8", check=True).stdout
    found = re.findall(r"^([0-9a-f]+) [tT] (.+)$", listed, re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


@pytest.mark.parametrize("bits", BITS)
def test_stripped_functions_are_named_by_their_addresses(tmp_path: Path, bits: str) -> None:
    # Of one length: the program's name is on its stack.
    named, bare = (str(tmp_path / name) for name in ("named", "barer"))
    shutil.copy(client("run_calls" + bits), named)
    subprocess.run(["strip", "-o", bare, named], check=True)
    before = functions_of(profile(tmp_path, *ONE, "--dump-instr=yes", program=named), named)
    after = functions_of(profile(tmp_path, *ONE, "--dump-instr=yes", program=bare), bare)
    where = symbols(named)
    ours = {"main", "leaf", "middle", "recursive", "even", "odd", "jumps", "caught"}
    assert ours <= set(before)
    for name in ours:
        assert after[f"0x{where[name]:x}"] == before[name], name


def test_without_a_table_of_functions_code_has_no_names(tmp_path: Path) -> None:
    source = tmp_path / "c.c"
    source.write_text("int main(void) { return 0; }\n")
    program = str(tmp_path / "bare")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-s", "-Wl,--no-eh-frame-hdr", "-o", program, str(source)], check=True)
    names = functions_of(profile(tmp_path, *ONE, "--dump-instr=yes", program=program), program)
    assert "???" in names
    assert not [name for name in names if name.startswith("0x")]


def asm(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, TG_ANNOTATE, "--show=Ir", "--show-percs=no", *options, str(out)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_a_functions_instructions_stand_beside_their_counts(tmp_path: Path) -> None:
    program = str(client("run_calls"))
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=program)
    done = asm(out, "--asm=midd?e")
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"^ *([\d,.]+) +([0-9a-f]+)  (.+)$", done.stdout, re.MULTILINE)
    assert int(rows[0][1], 16) == symbols(program)["middle"]
    assert re.search(f"^-- Instructions of .*:middle \\[{re.escape(program)}\\]", done.stdout, re.MULTILINE)
    # It is called seven times, and has no loop: each instruction as often.
    assert {count for count, _, _ in rows} == {"7"}
    assert len([text for _, _, text in rows if text.startswith("call") and "leaf" in text]) == 2
    counts = by_address(out)
    assert all(counts[program, int(address, 16)] == 7 for _, address, _ in rows)


def test_instructions_for_other_programs_are_those_of_the_text(tmp_path: Path) -> None:
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=str(client("run_calls")))
    text = re.findall(r"^ *([\d,.]+) +([0-9a-f]+)  (.+)$", asm(out, "--asm=main").stdout, re.MULTILINE)
    found = document(asm(out, "--asm=main", "--format=json").stdout)
    (table,) = (table for table in found["tables"] if table["name"] == "instruction")
    assert [(row["address"], row["instruction"]) for row in table["rows"]] == [(at, code) for _, at, code in text]
    counts = [int(count.replace(",", "")) if count != "." else None for count, _, _ in text]
    assert [row["Ir"] for row in table["rows"]] == counts
    assert None in counts
    cells = csv_rows(asm(out, "--asm=main", "--format=csv").stdout)
    assert [{key: cell for key, cell in row.items() if cell} for row in cells] == as_csv(found)


def test_what_is_missing_for_instructions_is_said(tmp_path: Path) -> None:
    program = str(tmp_path / "copy")
    shutil.copy(client("run_calls"), program)
    without = profile(tmp_path, *ONE, program=program)
    said = f"tg_annotate: error: {without}: argument --asm:"
    assert asm(without, "--asm=main").stderr == (
        f"{said} no costs by instruction; tlbgrind --dump-instr=yes writes them\n"
    )
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=program)
    assert asm(out, "--asm=mian").stderr == f"{said} no function 'mian'; --by=function --threshold=0 lists them; did you mean main?\n"
    Path(program).touch()
    assert f"{program}: newer than {out}, so counts may" in asm(out, "--asm=main").stderr
    Path(program).unlink()
    gone = asm(out, "--asm=main")
    assert (gone.returncode, gone.stderr) == (
        1, f"tg_annotate: error: {program}: argument --asm: the object is not there any more\n"
    )  # fmt: skip
    assert "--asm goes without --diff" in asm(out, "--asm=main", "--diff", str(out)).stderr


def test_code_outside_of_text_has_its_address_in_the_file(tmp_path: Path) -> None:
    """Start code and linkage tables, of a library that is loaded anywhere."""
    compiler = os.environ.get("CC", "cc").split()
    library = tmp_path / "libnear.so"
    near = tmp_path / "near.c"
    near.write_text("int far(void);\nint near(void) { return far() + 1; }\n")
    main = tmp_path / "main.c"
    main.write_text("int near(void);\nint far(void) { return 2; }\nint main(void) { return near() - 3; }\n")
    lazy = ["-fPIC", "-fcf-protection=none", "-Wl,-z,lazy", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([*compiler, *lazy, "-shared", "-o", library, near], check=True)
    program = str(tmp_path / "main")
    subprocess.run([*compiler, *lazy, "-rdynamic", "-o", program, main, library], check=True)
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=program).read_text(encoding="utf-8")
    of_library = out.partition(f"{library}\nfl=")[2].partition("\n\n")[0]
    found = {int(address, 16) for address in re.findall("^(0x[0-9a-f]+) ", of_library, re.MULTILINE)}
    headers = subprocess.run(["readelf", "-SW", library], capture_output=True, encoding="utf-8", check=True)
    for name in (".init", ".plt", ".text"):
        start, size = re.findall(rf" {re.escape(name)} +PROGBITS +(\w+) \w+ (\w+)", headers.stdout)[0]
        within = range(int(start, 16), int(start, 16) + int(size, 16))
        assert found.intersection(within), name
    assert max(found) < library.stat().st_size


NOPS = 5000


@pytest.mark.parametrize(("before", "pages"), [(0, 2), (3191, 3)])
def test_pages_and_bytes_of_code_are_those_executed(tmp_path: Path, before: int, pages: int) -> None:
    """With code before and behind that is not executed. 3191 + 5000 nops end a byte before a page: the next instruction
    lies on both."""
    source = tmp_path / "code.s"
    source.write_text(
        f".globl _start\n.text\n.balign 4096\n.skip {before}, 0x90\n_start:\n.rept {NOPS}\nnop\n.endr\n"
        "xor %ecx, %ecx\njmp 1f\n2: inc %ecx\n1: test %ecx, %ecx\nje 2b\n"
        "mov $60, %eax\nxor %edi, %edi\nsyscall\n.skip 9000, 0x90\n"
    )
    program = tmp_path / "code"
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-nostdlib", "-static", "-o", program, source], check=True)
    out = profile(tmp_path, *ONE, "--dump-instr=yes", program=str(program)).read_text(encoding="utf-8")
    executed = NOPS + 2 + 2 + 2 + 2 + 2 + 5 + 2 + 2
    assert before + executed > (pages - 1) * 4096
    assert re.findall("^desc: Code: (.+)$", out, re.MULTILINE) == [f"{pages} {executed} {program}"]
    without = profile(tmp_path, *ONE, program=str(program)).read_text(encoding="utf-8")
    assert "desc: Code:" not in without
