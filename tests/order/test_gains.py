# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Orders of several runs and of all objects: --gains, --held-out, --object=all."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from order_support import compiled, good, linked, recorded, refused, run
from tg_environment import CC

FIRST, SECOND, BOTH = [33, 7, 21, 2], [15, 29, 11, 38], [4]


def program_of(folder: Path) -> Path:
    """40 functions with 3 pages between them: without an argument four are called, with one four
    others, and one always. So nearly each of them is a fault of its own."""
    lines = ["volatile int sink;"]
    for n in range(40):
        lines.append(f'void f{n}(void) {{ __asm__ volatile(".skip 200, 0x90"); sink += {n}; }}')
        lines.append(f'void g{n}(void) {{ __asm__ volatile(".skip 70000, 0x90"); sink -= {n}; }}')
    lines.append("int main(int argc, char **argv) {")
    for n in BOTH:
        lines.append(f"f{n}();")
    for call, functions in ((1, FIRST), (2, SECOND)):
        lines.append(f"if (argc & {call}) {{ {' '.join(f'f{n}();' for n in functions)} }}")
    lines.append("if (argc > 99) {" + "".join(f"g{n}();" for n in range(40)) + "} return argv == 0; }")
    made = compiled(folder, "modes", "\n".join(lines) + "\n", "-ffunction-sections")
    return linked(folder, "modes", [made], "-no-pie")


class Runs:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = program_of(folder)
        for name, arguments in (("first", []), ("second", ["x"]), ("all", ["x", "y"])):
            recorded(folder, program, *arguments).rename(folder / name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("modes"))


def rows(text: str) -> list[list[str]]:
    """functions, as it ran, own order, the order, gain, run"""
    lines = text.split("-- What the order brings each run")[1].split("\n\n")[0].splitlines()[2:]
    return [re.split(r"  +", line.strip()) for line in lines]


def test_each_run_has_its_part_of_the_order(runs: Runs) -> None:
    """as linked nearly each function faults; in an order of both runs they share a window"""
    found = rows(good(runs.folder, "--gains", "first", "second"))
    assert [row[-1] for row in found] == ["first", "second"]
    for functions, ran, own, ordered, gain, _ in found:
        assert int(functions) >= 6
        assert float(ran) >= float(own) + 3
        assert float(ordered) == float(own)
        # Without the run its four functions stay where they are.
        assert 1 <= float(gain) <= 2.5


def test_a_run_that_adds_nothing_gains_nothing(runs: Runs) -> None:
    shutil.copyfile(runs.folder / "first", runs.folder / "again")
    found = rows(good(runs.folder, "--gains", "first", "second", "again"))
    assert float(found[0][4]) == float(found[2][4]) == 0
    assert float(found[1][4]) > 0


def test_the_weight_of_a_run_is_that_of_its_gain(runs: Runs) -> None:
    found = rows(good(runs.folder, "--gains", "--weights=9,1", "first", "second"))
    assert float(found[0][4]) > 4 * float(found[1][4]) > 0


def test_a_run_that_is_held_out_is_measured_in_the_order_of_the_others(runs: Runs) -> None:
    """its functions are all in the order of the two, half of them in that of one"""
    (_, _, held) = rows(good(runs.folder, "--held-out=all", "first", "second"))
    assert held[4] == "held out" and held[5] == "all"
    assert float(held[3]) == float(held[2])
    (_, half) = rows(good(runs.folder, "--held-out=all", "first"))
    assert float(half[1]) - 1 > float(half[3]) > float(half[2]) + 1


def test_a_run_that_is_held_out_changes_no_order(runs: Runs) -> None:
    good(runs.folder, "--names=alone", "first")
    good(runs.folder, "--names=beside", "--held-out=second", "first")
    assert (runs.folder / "alone").read_bytes() == (runs.folder / "beside").read_bytes()


def test_no_run_counts_twice(runs: Runs) -> None:
    (runs.folder / "link").symlink_to("first")
    why = "its run would count twice"
    refused(runs.folder, f"first: named twice: {why}", "first", "second", "first")
    refused(runs.folder, f"link: the same file as first: {why}", "--weights=1,2", "first", "link")
    refused(runs.folder, f"link: the same file as first: {why}", "--held-out=link", "first", "second")


def test_runs_of_another_build_cannot_be_compared(runs: Runs, tmp_path: Path) -> None:
    other = linked(tmp_path, "modes", [compiled(tmp_path, "m", "int main(void) { return 0; }\n")])
    held = recorded(tmp_path, other)
    complaint = f"{held}: this is a run of another build than first; --gains and --held-out compare runs of one"
    refused(runs.folder, complaint, f"--held-out={held}", "first")


# --- All objects ---


def test_all_objects_of_a_process_are_ordered_in_one_call(tmp_path: Path) -> None:
    """each as --object has it alone; what has no symbols is left out, and told"""
    body = "volatile int sink;\n" + "".join(f"void l{n}(void) {{ sink += {n}; }}\n" for n in range(6))
    library = tmp_path / "libsix.so"
    made = compiled(tmp_path, "six", body, "-fPIC", "-ffunction-sections")
    subprocess.run([*CC, "-shared", "-o", str(library), str(made)], check=True)
    calls = "".join(f"l{n}();" for n in (4, 1, 5))
    source = "".join(f"void l{n}(void);\n" for n in range(6)) + f"int main(void) {{ {calls} return 0; }}\n"
    program = linked(tmp_path, "prog", [compiled(tmp_path, "p", source)], str(library), f"-Wl,-rpath,{tmp_path}")
    entries = recorded(tmp_path, program)
    result = run(tmp_path, "--object=all", "--names=order", "--lld=lld", entries)
    assert result.status == 0
    assert (tmp_path / "order.libsix.so").read_text().split() == ["l4", "l1", "l5"]
    assert (tmp_path / "order.prog").read_text().split() == ["main"]
    assert "Order for names: order.libsix.so, 3 lines\n" in result.out
    assert re.search(rf"^ +3 .*{re.escape(str(library))}$", result.out, re.MULTILINE)
    good(tmp_path, "--object=libsix.so", "--lld=alone", entries)
    assert (tmp_path / "alone").read_bytes() == (tmp_path / "lld.libsix.so").read_bytes()
    # The C library's are there, too, as far as it has symbols.
    assert re.search(r"(libc\.so|ld-linux)", result.out)


def test_an_object_counts_in_the_runs_that_have_it(runs: Runs, tmp_path: Path) -> None:
    """of two programs each has its own order"""
    other = linked(tmp_path, "other", [compiled(tmp_path, "o", "int main(void) { return 0; }\n")])
    entries = recorded(tmp_path, other)
    good_run = run(tmp_path, "--object=all", "--names=order", "--weights=1,2", entries, runs.folder / "first")
    assert good_run.status == 0
    assert (tmp_path / "order.other").read_text().split() == ["main"]
    assert "f33" in (tmp_path / "order.modes").read_text().split()
