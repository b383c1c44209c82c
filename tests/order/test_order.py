# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs become one order; what cannot be ordered is said in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from order_support import (
    DATA,
    Spread,
    compiled,
    good,
    linked,
    recorded,
    refused,
    run,
    spread,
)


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


def test_a_run_without_its_binary_is_ordered_by_recorded_names(tmp_path: Path) -> None:
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
    assert "Left out by --least: 1 function" in good(DATA, "--least=30", *arguments)


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


def test_an_object_that_is_not_there_is_refused() -> None:
    refused(
        DATA,
        "first.entries: cannot tell the object 'libz.so': 0 objects fit; choose with --object one of "
        "/lib/ld.so, /nowhere/bin/prog",
        "--object=libz.so",
        "first.entries",
    )


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
        (["--faults=x", "a"], "--faults=FILE goes with --forecast, --check or --data"),
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
        (["--max-faults=3", "a"], "--max-faults goes with --check=BINARY"),
        (["--least-ascending=3", "a"], "--least-ascending goes with --check=BINARY"),
        (["--max-missing=3", "--stale=x", "a"], "--max-missing goes with --check=BINARY"),
        (["--max-stale=3", "--check=x", "a"], "--max-stale goes with --stale=FILE"),
        (["--data", "--stale=x", "a"], "--data goes without --stale"),
        (["--data", "--gains", "a"], "--data goes without --gains"),
        (["--order=x", "--check=y", "--held-out=z"], "--order goes without --held-out"),
        (["--lld=-", "--gains", "a"], "--lld=- goes without --gains"),
        (["--object=all", "--check=x", "a"], "--object=all goes without --check"),
        (["--object=all", "--lld=-", "a"], "--object=all goes without --lld"),
        (["--object=all", "--binary=x", "a"], "--object=all goes without --binary"),
        (["--nonsense", "a"], "no option --nonsense"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], complaint: str) -> None:
    refused(DATA, f"{complaint} (tg_order --help lists what is allowed)", *arguments)


def test_files_that_cannot_be_written_or_read_are_errors(tmp_path: Path) -> None:
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


def test_help_and_version_are_printed() -> None:
    assert good(DATA, "--help").startswith("Usage: tg_order ")
    assert re.fullmatch(r"tg_order [0-9.]+\n", good(DATA, "--version"))
