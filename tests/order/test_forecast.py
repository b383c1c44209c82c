# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The forecast is what the kernel and the linkers make of an order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from order_support import (
    CALLED,
    DATA_PROGRAM,
    Spread,
    compiled,
    data_writes,
    good,
    has,
    linked,
    recorded,
    refused,
    row,
    spread,
)
from tg_companions import package


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


def test_the_forecast_says_what_all_faults_gain(program: Spread) -> None:
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
        layout, trace = package("places.layout"), package("places.trace")
        run_ = trace.load(package("formats.entries").read(str(program.entries)), "", "", [])
        faults = layout.measure(run_.touches, layout.own_places(run_), layout.Text(binary)).faults
        assert now == faults[phase]
        # 300,000 instructions with 1,000 to 5,000 cycles for each of 100 faults.
        told = (LOG.format(**values)).replace("views:", "instructions: 300000\nviews:")
        (program.folder / "log").write_text(told)
        text = " ".join(good(program.folder, "--forecast", "--faults=log", program.entries).split())
        saved = now - then
        assert saved == 1
        assert (
            "Nothing to win: the order saves 1 page fault, 0.3 to 0.8% of the time, 1,000 to 5,000 cycles; "
            "in a run of 500,000 cycles or fewer it may be worth it."
        ) in text
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


NOT_IN = "in a run of more than {} cycles it would not be worth it."


@pytest.mark.parametrize(
    ("saved", "instructions", "wanted"),
    [
        # Of 10 faults: of 100,000 cycles, or 90,000, with 10,000 or 50,000 for all faults.
        (5, 90_000, f"It pays: it saves 5 page faults, 5.0 to 26% of the time, 5,000 to 25,000 cycles; {NOT_IN.format('2,500,000')}"),
        (1, 390_000, f"It may pay: it saves 1 page fault, 0.3 to 2.0% of the time, 1,000 to 5,000 cycles; {NOT_IN.format('500,000')}"),
        (-1, 90_000, "Nothing to win: it saves no page fault of this run."),
    ],
)
def test_faults_that_are_saved_are_a_share_of_the_time(saved: int, instructions: int, wanted: str) -> None:
    faultlog = package("formats.faultlog")
    log = faultlog.FaultLog("log", totals={"warm": faultlog.Totals(10, 0, (10,))})
    of = package("order.verdict").verdict_of
    assert of("it", saved, log) == []
    log.header["instructions"] = str(instructions)
    assert " ".join(" ".join(of("it", saved, log)).split()) == wanted


def test_a_page_that_two_segments_map_is_found_by_its_flags(program: Spread) -> None:
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


@pytest.mark.skipif(not has("lld"), reason="no ld.lld (Debian package: lld)")
def test_the_forecast_counts_from_the_base_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [compiled(tmp_path, "spread", spread(40, CALLED, 200, 3830), "-ffunction-sections", "-fpie")]
    binary = linked(tmp_path, "prog", objects, "-pie", "-fuse-ld=lld")
    faults = tmp_path / "faults"
    entries = recorded(tmp_path, binary, options=("--faults=yes", f"--faults-out-file={faults}"))
    first = min(m.native for m in package("formats.faultlog").read(str(faults)).maps.values() if m.name == str(binary))
    bases = []
    monkeypatch.setattr(package("places.layout"), "faults_at", lambda *arguments: bases.append(arguments[3]) or 0)
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
        now, logged = data_writes(text)
        assert now == logged > 0


def test_windows_are_those_of_the_kernel() -> None:
    """As fault-around is described: 16 pages aligned in the address space, clamped."""
    window = package("places.layout").window
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


def test_a_fault_brings_the_window_around_it() -> None:
    layout = package("places.layout")

    class Text:
        ranges = (range(64),)
        of = staticmethod(lambda page: range(64) if page < 64 else None)

    assert layout.code_faults([0, 16, 24, 40], Text, 0) == 3  # 0 to 15, 16 to 31, 32 to 47
    # Eight pages higher: 0 to 15 from the mapping's begin, 8 to 23, 24 to 39, 40 to 55.
    assert layout.code_faults([0, 16, 24, 40], Text, 8) == 4
