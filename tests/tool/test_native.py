# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Programs start, and their memory lies, as without Valgrind: in every run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tg_environment import CC, client
from tool_support import CLIENT_FLAGS, ENVIRONMENT, OutFile, Run, run

SOURCE = Path(__file__).parent.parent / "clients" / "native_layout.c"
# Valgrind has no room for the highest bits of an address.
MASK = (1 << 36) - 1
GIB = 1 << 30


def words(text: str) -> dict[str, str]:
    return dict(row.split() for row in text.splitlines() if len(row.split()) == 2)


def addresses(text: str) -> dict[str, int]:
    others = ("grown", "vector", "low")
    return {name: int(value, 16) for name, value in words(text).items() if name not in others}


def natively(program: Path, *arguments: str) -> str:
    return subprocess.run(
        ["setarch", "-R", program, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
        encoding="ascii",
    ).stdout


def under_the_tool(folder: Path, program: Path, *arguments: str, options: tuple[str, ...] = ()) -> Run:
    r = run(folder, program, *arguments, options=options, prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    return r


def pie(folder: Path) -> Path:
    flags = [flag for flag in CLIENT_FLAGS if "pie" not in flag]
    program = folder / "native_layout"
    subprocess.run([*CC, *flags, "-fPIE", "-pie", "-o", program, SOURCE], check=True)
    return program


@pytest.mark.parametrize("is_pie", [True, False])
def test_mappings_lie_where_the_kernel_puts_them(tmp_path: Path, is_pie: bool) -> None:
    program = pie(tmp_path) if is_pie else client("native_layout")
    native = addresses(natively(program))
    ours = addresses(under_the_tool(tmp_path / "run", program).out)
    assert len(ours) > 8
    assert native.keys() == ours.keys()
    differs = {name: (hex(native[name]), hex(ours[name])) for name in ours if native[name] & MASK != ours[name]}
    # A program that lies low has its break higher, by whole gigabytes.
    if not is_pie:
        assert (ours["break"] - native["break"]) % GIB == 0
        differs.pop("break")
    assert differs == {}


def test_the_vector_in_proc_is_that_on_the_stack(tmp_path: Path) -> None:
    assert words(under_the_tool(tmp_path, client("native_layout")).out)["vector"] == "same"


def test_the_heap_takes_nothing_from_low_memory(tmp_path: Path) -> None:
    """What MAP_32BIT gives is what it gives with Valgrind's own layout, and more."""
    native = under_the_tool(tmp_path / "native", client("native_layout"))
    stock = under_the_tool(tmp_path / "stock", client("native_layout"), options=("--native-start=no",))
    assert int(words(native.out)["low"]) >= int(words(stock.out)["low"]) > 1000


@pytest.mark.parametrize("faults", [(), ("--faults=yes", "--faults-out-file=/dev/null")])
def test_a_large_heap_is_one_and_can_be_huge(tmp_path: Path, faults: tuple[str, ...]) -> None:
    heap = 80
    r = under_the_tool(tmp_path, client("native_layout"), str(heap), options=("--pages=heap:2M", *faults))
    assert words(r.out)["grown"] == "yes"
    (backed,) = [line for line in r.only().descriptions("Memory") if " of 2M" in line]
    # All but what lies before the first boundary of 2M, and with the block that it ends in.
    assert int(backed.split()[4]) in (heap // 2, heap // 2 + 1)
    assert "brk segment overflow" not in r.err
    assert "no room to grow" not in r.err


def test_a_heap_without_room_says_what_it_means(tmp_path: Path) -> None:
    """Natively the kernel may refuse as much: then the tool has no reason to say anything."""
    r = under_the_tool(tmp_path, client("native_layout"), str(10 << 10))
    assert words(r.out)["grown"] == "no"
    assert "The heap found no room to grow beyond 0K, which natively it would have" in r.err


PROGRAMS = [
    ["/bin/ls", "/"],
    ["sed", "s/o/0/g", "/etc/services"],
    ["sort", "/etc/passwd"],
    [str(client("fault_heap"))],
    [str(client("native_layout")), "30"],
]


@pytest.mark.parametrize("machine", ["skylake", "power8", "zen4@heap:2M"])
@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: Path(command[0]).name)
def test_recording_faults_changes_no_count(tmp_path: Path, command: list[str], machine: str) -> None:
    """Only the events of page faults come: also where the base page is not the host's."""

    def profile(folder: str, *options: str) -> OutFile:
        # Where the program runs lies on its stack, and is the same for both.
        prefix = ["env", "-C", "/", "setarch", "-R"]
        out = str(tmp_path / folder / "out.%p")
        given = (f"--machine={machine}", *options)
        return run(tmp_path / folder, *command, options=given, geometry=(), prefix=prefix, out_file=out).only()

    without = profile("without")
    with_faults = profile("with", "--faults=yes", "--faults-out-file=/dev/null")
    events = without.field("events").split()
    assert with_faults.field("events").split()[: len(events)] == events
    costs = {line[:5]: line.costs for line in without.lines}
    recorded_costs = {line[:5]: line.costs[: len(events)] for line in with_faults.lines}
    assert {at: cost for at, cost in recorded_costs.items() if any(cost)} == costs
