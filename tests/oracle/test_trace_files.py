# test_trace_files.py -- tg_simulate --input=drmemtrace: files of threads, and where pages lie.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The files of threads must give what one file with their records in the order of their times gives;
and pages of a v2p.textproto what a naive simulation gives that looks at every page of every block."""

from __future__ import annotations

import gzip
import os
import random
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")

MACHINE = """tlbgrind-machine 1
name naive
title naive
isa x86-64
year 2000
confidence A
source none
base-page 4K
array ITLB
   level 1
   users fetches
   entries 4
   ways full
   pages 4K+2M
   policy lru
   source none
array DTLB
   level 1
   users loads+stores
   entries 6
   ways full
   pages 4K+2M
   coalesces 64K
   policy lru
   source none
array STLB
   level 2
   users all
   entries 12
   ways full
   pages 4K+2M
   coalesces 16K
   policy lru
   source none
end
"""


def simulate(folder: Path, name: str, *options: str, machine: str = "skylake,k8") -> subprocess.CompletedProcess[str]:
    arguments = [TG_SIMULATE, "--input=drmemtrace", f"--machine={machine}", *options, name]
    return subprocess.run(arguments, cwd=folder, capture_output=True, check=False, encoding="utf-8")


def refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {message}\n")


def record(kind: int, size: int, value: int) -> bytes:
    return struct.pack("<HHQ", kind, size, value)


def head(thread: int, process: int = 76, page_size: int = 4096) -> bytes:
    return b"".join(
        record(*r) for r in [(25, 0, 5), (28, 12, 5), (28, 9, 0x240), (22, 0, thread), (24, 0, process), (28, 18, page_size)]
    )


def foot(thread: int) -> bytes:
    return record(23, 0, thread) + record(26, 0, 0)


def counts(out: Path) -> str:
    """An out-file but for its names."""
    return re.sub(r"(?m)^(cmd|desc: Trace|# checksum): .*\n", "", out.read_text())


# ---------------------------------------------------------------- threads


def slices(dice: random.Random, thread: int) -> list[tuple[int, bytes]]:
    """What a thread does from each of its timestamps on; two can be equal."""
    time = dice.randrange(1, 50)
    found = []
    for _ in range(dice.randrange(1, 30)):
        body = b"".join(
            record(10, 4, 0x400000 * thread + dice.randrange(40) * 4096)
            + record(dice.randrange(2), 8, 0x7F0000000000 + dice.randrange(200) * 4096)
            for _ in range(dice.randrange(40))
        )
        found.append((time, record(28, 2, time) + record(28, 3, 1) + body))
        time += dice.choice([0, 1, 7, 40])
    return found


def merged(threads: list[list[tuple[int, bytes]]]) -> bytes:
    """Of all threads the slice with the lowest time is next, of several with that time the first thread's."""
    ahead = [list(t) for t in threads]
    body = b""
    while any(ahead):
        nth = min((t[0][0], i) for i, t in enumerate(ahead) if t)[1]
        time = ahead[nth][0][0]
        while ahead[nth] and ahead[nth][0][0] == time:
            body += ahead[nth].pop(0)[1]
    return head(1) + body + foot(1)


@pytest.mark.parametrize("seed", range(4))
def test_the_files_of_threads_are_read_by_their_times(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    threads = [slices(dice, i + 1) for i in range(dice.randrange(2, 6))]
    folder = tmp_path / "drmemtrace.app.dir" / "trace"
    folder.mkdir(parents=True)
    for i, thread in enumerate(threads):
        whole = head(i + 1) + b"".join(body for _, body in thread) + foot(i + 1)
        packed = i % 2 == 1
        (folder / f"drmemtrace.app.{i:04}.trace{'.gz' if packed else ''}").write_bytes(gzip.compress(whole) if packed else whole)
    (folder / "cpu_schedule.bin.zip").write_bytes(b"PK")
    (tmp_path / "one").write_bytes(merged(threads))
    one = simulate(tmp_path, "one", "-o", "one.out")
    assert (one.returncode, one.stderr) == (0, "")
    for name, options in (("drmemtrace.app.dir", ["--jobs=2"]), ("drmemtrace.app.dir/trace", [])):
        many = simulate(tmp_path, name, "-o", "many.out", *options)
        assert (many.returncode, many.stderr) == (0, "")
        assert many.stdout == one.stdout.replace("drmemtrace, ", f"drmemtrace, {len(threads)} files, ")
        for label in ("skylake", "k8"):
            assert counts(tmp_path / f"many.out_{label}") == counts(tmp_path / f"one.out_{label}")


def write_threads(tmp_path: Path, *files: bytes) -> None:
    (tmp_path / "t").mkdir()
    for i, file in enumerate(files):
        (tmp_path / "t" / f"{i}.trace").write_bytes(file)


def test_files_that_are_not_of_one_process_are_refused(tmp_path: Path) -> None:
    body = record(28, 2, 5) + record(10, 4, 0x400000)
    write_threads(tmp_path, head(1) + body + foot(1), head(2, process=9) + body + foot(2))
    refused(
        simulate(tmp_path, "t"),
        "t: 1.trace: record 7: it is of process 9, and another file of 76; a trace of one process is read",
    )
    (tmp_path / "t" / "1.trace").write_bytes(head(2, page_size=65536) + body + foot(2))
    refused(simulate(tmp_path, "t"), "t: 1.trace: record 7: pages have another size than in another file")
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_file_that_is_cut_ends_the_trace(tmp_path: Path) -> None:
    body = record(28, 2, 5) + record(10, 4, 0x400000) + record(28, 2, 9) + record(10, 4, 0x401000)
    write_threads(tmp_path, head(1) + body + foot(1), head(2) + body)
    done = simulate(tmp_path, "t", machine="skylake")
    assert done.returncode == 1 and "skylake               2 " in done.stdout
    assert "t: the trace ends after 4 instructions: 1.trace: the file is not complete; " in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_folder_without_traces_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "x.traces").write_bytes(b"")
    refused(simulate(tmp_path, "t"), "t: the folder has no trace; their names have .trace in them, as drraw2trace writes them")
    refused(simulate(tmp_path, "u"), "u: the file cannot be opened: No such file or directory")


# ---------------------------------------------------------------- pages


def mappings(dice: random.Random) -> dict[int, tuple[int, int]]:
    """By their address pages of 4K and 2M: physical address and size. Many lie side by side, some not where a block begins."""
    found = {}
    ahead = 0x10000000
    for start in range(0x400000, 0x400000 + 192 * 4096, 4096):
        if dice.random() < 0.03:
            ahead = (ahead & -0x100000) + 0x100000 + dice.choice([0, 0, 0, 16384, 4096])
        if dice.random() < 0.99:
            found[start] = (start + ahead, 4096)
    for n in range(4):
        found[0x40000000 + (n << 21)] = ((9 + 2 * n) << 21, 1 << 21)
    return found


def textproto(pages: dict[int, tuple[int, int]], dice: random.Random) -> str:
    text = "# VirtualToPhysical\n"
    for size in (4096, 1 << 21):
        text += f"address_mapping_group {{\n  page_size: {size:#x}\n"
        of_size = [item for item in pages.items() if item[1][1] == size]
        dice.shuffle(of_size)
        for at, (physical, _) in of_size:
            text += f"  address_mapping {{\n    virtual_address: {at}\n    physical_address: {physical:#x}\n  }}\n"
        text += f"  information {{ page_count: {len(of_size)} }}\n}}\n"
    return text + "information {\n  page_count: 9\n}\n"


def entry(pages: dict[int, tuple[int, int]], address: int, block: int) -> tuple[int, int]:
    """Size and address of what an array holds that coalesces blocks of this size; 0: none."""
    if address & -(1 << 21) in pages and pages[address & -(1 << 21)][1] > 4096:
        return 1 << 21, address & -(1 << 21)
    first = address & -block if block else 0
    lies = [pages.get(first + at, (-1, 0))[0] - at for at in range(0, block, 4096)]
    if block and lies[0] >= 0 and lies[0] % block == 0 and all(at == lies[0] for at in lies):
        return block, first
    return 4096, address & -4096


class Lru:
    def __init__(self, entries: int) -> None:
        self.entries = entries
        self.held: list[tuple[int, int]] = []

    def misses(self, what: tuple[int, int]) -> bool:
        missed = what not in self.held
        self.held = [what, *(other for other in self.held if other != what)][: self.entries]
        return missed


def naive(references: list[tuple[int, int]], pages: dict[int, tuple[int, int]]) -> list[int]:
    itlb, dtlb, stlb = Lru(4), Lru(6), Lru(12)
    found = [0, 0, 0, 0]
    for kind, address in references:
        data = kind != 10
        if (dtlb if data else itlb).misses(entry(pages, address, 65536 if data else 0)):
            found[2 * data] += 1
            found[2 * data + 1] += stlb.misses(entry(pages, address, 16384))
    return found


def references(dice: random.Random) -> Iterator[tuple[int, int]]:
    near = 0x400000
    for _ in range(4000):
        if dice.random() < 0.1:
            near = dice.choice([0x400000 + dice.randrange(200) * 4096, 0x40000000 + dice.randrange(1200) * 8192])
        yield dice.choice([0, 1, 10]), near + dice.randrange(12) * 4096


def numbers(done: subprocess.CompletedProcess[str]) -> list[int]:
    assert (done.returncode, done.stderr) == (0, "")
    return [int(n.replace(",", "")) for n in done.stdout.splitlines()[1].split()[1:]]


@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_coalesced_where_their_pages_lie_side_by_side(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    pages = mappings(dice)
    made = list(references(dice))
    (tmp_path / "naive.machine").write_text(MACHINE)
    (tmp_path / "v2p.textproto").write_text(textproto(pages, dice))
    (tmp_path / "d").write_bytes(head(1) + b"".join(record(kind, 4, address) for kind, address in made) + foot(1))
    expected = naive(made, pages)
    blocks = {entry(pages, address, 65536)[0] for _, address in made}
    assert blocks == {4096, 65536, 1 << 21}
    done = simulate(tmp_path, "d", machine="naive.machine")
    assert numbers(done) == expected
    absent = len({a & -4096 for _, a in made if a & -4096 not in pages and pages.get(a & -(1 << 21), (0, 0))[1] <= 4096})
    assert absent > 0
    assert f"; v2p.textproto has {len(pages)} pages, and {absent} that are referenced are not among them: these are base pages" in done.stdout
    assert "v2p.textproto has" in (tmp_path / "d.out").read_text()
    (tmp_path / "v2p.textproto").rename(tmp_path / "other")
    assert numbers(simulate(tmp_path, "d", "--v2p=other", machine="naive.machine")) == expected


def test_without_it_pages_are_base_pages(tmp_path: Path) -> None:
    body = b"".join(record(10, 4, 0x400000 + 4096 * i) for i in range(9))
    (tmp_path / "d").write_bytes(head(1) + body + foot(1))
    (tmp_path / "v2p.textproto").write_text("address_mapping_group { page_size: 2097152 address_mapping { virtual_address: 4194304 } }")
    with_it = simulate(tmp_path, "d", machine="skylake")
    assert numbers(with_it) == [1, 1, 0, 0] and with_it.stdout.endswith("; v2p.textproto has 1 pages\n")
    for option in ("--v2p=none", "--pages=all:4K"):
        without = simulate(tmp_path, "d", option, machine="skylake")
        assert numbers(without) == [9, 9, 0, 0] and "v2p" not in without.stdout
    (tmp_path / "naive.machine").write_text(MACHINE)
    refused(
        simulate(tmp_path, "d", "--v2p=none", machine="naive.machine"),
        "--machine=naive.machine: its entries cover several pages (coalescing), which depends on where these lie: --v2p=FILE tells",
    )
    refused(
        simulate(tmp_path, "d", "--v2p=v2p.textproto", "--pages=all:2M"),
        "--v2p=v2p.textproto: --pages=all:2M says which pages there are, too; leave out one of them",
    )
    refused(simulate(tmp_path, "d", "--v2p=x"), "x: the file cannot be opened: No such file or directory")
    done = subprocess.run([TG_SIMULATE, "--v2p=x", "d"], cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    refused(done, "--v2p=x: a recording has the run's own mappings; --v2p goes with --input")


GROUP = "address_mapping_group {\n  page_size: 4096\n"
DAMAGED = {
    "": "1: there is no address_mapping in it",
    "information { page_count: 1 }\n": "2: there is no address_mapping in it",
    "{": "1: the name of a field is missing",
    "address_mapping_group\n": "2: '{' is missing",
    GROUP: "3: the '{' of line 1 has no '}'",
    GROUP + "address_mapping {": "3: the '{' of line 3 has no '}'",
    GROUP + "address_mapping { virtual_address: 12x } }": "3: '12x' is no number; allowed are decimal ones and 0x with hexadecimal ones, of 64 bits",
    GROUP + "address_mapping { virtual_address: 18446744073709551616 } }": "3: '18446744073709551616' is no number; allowed are decimal ones and 0x with hexadecimal ones, of 64 bits",
    GROUP + "address_mapping { virtual_address: 5 } }": "3: a page of 4096 bytes does not begin at virtual address 0x5 and physical address 0x0",
    GROUP + "address_mapping { physical_address: 5 } }": "3: a page of 4096 bytes does not begin at virtual address 0x0 and physical address 0x5",
    GROUP + "address_mapping { }\naddress_mapping { physical_address: 4096 } }": "4: the page at 0x0 lies in that of line 3",
    "address_mapping_group { page_size: 8192 address_mapping { } }\n" + GROUP + "address_mapping { virtual_address: 4096 } }": "4: the page at 0x1000 lies in that of line 1",
    "address_mapping_group { address_mapping { } }": "1: pages of 0 bytes can not be; allowed are powers of two from the base page, 4096, to 16G",
    "address_mapping_group { page_size: 2048 address_mapping { } }": "1: pages of 2048 bytes can not be; allowed are powers of two from the base page, 4096, to 16G",
    "name: \"x\ny\"": "1: a text in quotes has no end",
    "name {": "1: a '{' has no '}'",
    "name }": "1: behind a name a value or '{' is missing",
}  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_what_is_no_v2p_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "d").write_bytes(head(1) + record(10, 4, 0x400000) + foot(1))
    (tmp_path / "v").write_text(text)
    refused(simulate(tmp_path, "d", "--v2p=v"), f"v:{DAMAGED[text]}")
