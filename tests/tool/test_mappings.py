# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--mappings=yes: each mapping has its own references and misses, parted at aligned large pages."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_companions import package
from tg_environment import client
from tg_written import written
from tool_support import PYTHON, TG_ANNOTATE, compile_program, messages, run

outfile, mappings = package("formats.outfile"), package("formats.mappings")

MACHINE = "--machine=default"


def observe(folder: Path, *options: str, machines: Sequence[str] = (MACHINE,)) -> tuple[list[str], dict[int, list[Path]]]:
    """What the client says, and the out-files of the program and of its child, by pid."""
    folder.mkdir()
    (folder / "file").write_bytes(bytes(65536))
    done = run(
        folder,
        client("run_mappings"),
        "file",
        options=["--mappings=yes", *options],
        geometry=machines,
        prefix=["setarch", "-R"],
        collect=False,
    )
    assert done.status == 0, done.err
    files: dict[int, list[Path]] = {}
    for path in parent_first(folder):
        files.setdefault(int(outfile.read(str(path)).pid), []).append(path)
    return done.out.splitlines(), files


def parent_first(folder: Path) -> list[Path]:
    """Process numbers begin again at some time, so that a child's can be smaller."""
    return sorted(folder.glob("out.*"), key=lambda path: (is_of_child(path), path))


def is_of_child(path: Path) -> bool:
    return "\ndesc: Forked" in path.read_text(encoding="utf-8").partition("\nevents:")[0]


def counted(path: Path) -> set[str]:
    """The rows as the client prints them."""
    out = outfile.read(str(path))
    reads, writes = out.events.index("Dr"), out.events.index("Dw")
    rows = set()
    for row in mappings.mappings_of(out).rows:
        mode = row.mode[:3] + ("s" if row.mode[3] == "s" else "-")
        sums = [sum(counts[place] for counts in row.costs.values()) for place in (reads, writes)]
        rows.add(f"{row.start:x} {row.end:x} {mode} {sums[0]} {sums[1]}")
    return rows


def check(lines: list[str], files: dict[int, list[Path]]) -> None:
    parent, child = files
    of_child = {line[6:] for line in lines if line.startswith("child ")}
    of_parent = {line for line in lines if not line.startswith("child ")}
    assert len(of_parent) == 10 and len(of_child) == 1
    for path in files[parent]:
        assert of_parent <= counted(path)  # the reader has compared the sums with the totals
    for path in files[child]:
        assert of_child <= counted(path)


@pytest.mark.parametrize("options", [(), ("--fast-path=no",), ("--faults=yes",)])
def test_each_mapping_has_what_the_program_did_with_it(tmp_path: Path, options: tuple[str, ...]) -> None:
    check(*observe(tmp_path / "run", *options))


def test_many_machines_count_as_each_alone_and_the_slow_path_as_the_fast(tmp_path: Path) -> None:
    names = ("default", "zen4", "core2", "apple-m1", "power9@anon:2M")
    fast = observe(tmp_path / "fast", machines=[f"--machine={','.join(names)}"])
    slow = observe(tmp_path / "slow", "--fast-path=no", machines=[f"--machine={','.join(names)}"])
    alone = observe(tmp_path / "only", machines=["--machine=zen4"])
    check(*fast)
    check(*slow)
    for ours, (theirs,) in zip(fast[1].values(), alone[1].values()):
        (one,) = (path for path in ours if path.name.endswith("_zen4"))
        assert described(one) == described(theirs)
    for ours, theirs in zip(fast[1].values(), slow[1].values()):
        assert len(ours) == len(theirs) == len(names)
        for one, other in zip(ours, theirs):
            assert described(one) == described(other)


def described(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8").replace(str(path.parent), "")
    return [line for line in text.splitlines() if line.startswith(("desc: Mapping", "desc: Large", "totals"))]


def test_all_else_in_the_out_file_is_as_without(tmp_path: Path) -> None:
    observe(tmp_path / "with")
    run(tmp_path / "none", "true")
    (tmp_path / "none" / "file").write_bytes(bytes(65536))
    for path in (tmp_path / "none").glob("out.*"):
        path.unlink()
    run(tmp_path / "none", client("run_mappings"), "file", geometry=[MACHINE], prefix=["setarch", "-R"], collect=False)
    with_them, without = (parent_first(tmp_path / name) for name in ("with", "none"))
    assert len(with_them) == len(without) == 2
    for one, other in zip(with_them, without):
        assert plain(one) == plain(other)


def plain(path: Path) -> list[str]:
    lines = written(path).splitlines()
    return [line for line in lines if not line.startswith(("desc: Mapping", "desc: Large", "pid:", "desc: Forked"))]


def parts_of(path: Path, start: int) -> dict[str, tuple[int, int]]:
    """Kilobytes and walks by writes and reads, by part."""
    out = outfile.read(str(path))
    places = [out.events.index(event) for event in ("D1tmr", "D1tmw")]
    (row,) = (row for row in mappings.mappings_of(out).rows if row.start == start)
    return {
        part: (row.bytes_of(part) >> 10, sum(row.costs[part][place] for place in places) if part in row.costs else 0)
        for part in mappings.PARTS
    }


def test_misses_fall_before_in_and_behind_large_pages(tmp_path: Path) -> None:
    geometry = ("--itlb=64,full", "--dtlb=16,full")
    _, files = observe(tmp_path / "run", machines=geometry)
    (path,) = files[min(files)]
    # 16 entries hold none of the 478 and 1,024 pages until they come again; 17 pages, with an LRU of 16, neither.
    assert parts_of(path, 0x350022000) == {
        "begin": (0x1DE << 2, 3 * 0x1DE),
        "inside": (4096, 2 * 1024),
        "end": (0x11 << 2, 9 * 0x11),
    }
    _, files = observe(tmp_path / "64K", "--mappings=64K", machines=geometry)
    (path,) = files[min(files)]
    assert parts_of(path, 0x350022000)["begin"] == (56, 3 * 14)


def annotate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PYTHON, TG_ANNOTATE, *map(str, arguments)], check=False, capture_output=True, encoding="utf-8")


def test_the_report_says_what_lies_outside_and_what_to_do(tmp_path: Path) -> None:
    _, files = observe(tmp_path / "run")
    (path,) = files[min(files)]
    text = annotate("--mappings", path)
    assert text.returncode == 0, text.stderr
    assert "\n0000000350022000   6,076  rw---       3,635 " in text.stdout
    after = text.stdout.partition("\n0x350022000 [anon]:\n")[2]
    assert after.startswith("  1,912K of it lie below the 2M boundary 0x350200000; ")
    assert "To win: begin it on a boundary of 2M, such as 0x350200000 " in after
    assert "Nothing to win." not in after.partition("[heap]")[0]
    # What may not be touched is in the first table, and no more is said of it than that.
    assert text.stdout.count("0000000360000000") == 1 and "0x360000000" not in text.stdout
    assert "\n1 mapping is addresses without rights of access (8,192K), " in text.stdout
    document = json.loads(annotate("--mappings", "--format=json", path).stdout)
    (table,) = document["tables"]
    assert document["about"] == "mappings" and document["large_page"] == 2 << 20
    (row,) = (row for row in table["rows"] if row["address"] == "350022000")
    assert (row["KiB"], row["begin_KiB"], row["inside_KiB"], row["end_KiB"]) == (6076, 1912, 4096, 68)
    assert row["references"] == 3635 and row["how"].startswith("begin it on a boundary of 2M")
    # What lies in no mapping is a row, but no small mapping.
    below = [row for row in table["rows"] if row["KiB"] < 2048]
    small = [row for row in below if row["kind"] != "unknown"]
    assert len(small) == len(below) - 1 and not any(row["mode"].startswith("---") for row in small)
    misses, walks = (sum(row[name] for row in small) for name in ("L1tm", "walks"))
    said = f"{len(small)} mappings are smaller than a page of 2M; {misses:,} L1 misses, {walks:,} walks fall there."
    assert said in " ".join(text.stdout.split())
    assert annotate("--mappings", "--format=csv", path).stdout.startswith("table,address,end,mode,kind,file,")


def test_where_the_machine_has_costs_a_mapping_has_its_share_of_the_time(tmp_path: Path) -> None:
    """At most, as in the tables of code: miss cycles of a program that runs two instructions a cycle else."""
    _, files = observe(tmp_path / "run", machines=["--machine=skylake"])
    (path,) = files[min(files)]
    out = outfile.read(str(path))
    counts = dict(zip(out.events, out.totals))
    whole = counts["Ir"] / 2 + counts["Wcyc"]
    (table,) = json.loads(annotate("--mappings", "--format=json", path).stdout)["tables"]
    assert sum(row["Wcyc"] for row in table["rows"]) == counts["Wcyc"] > 0
    for row in table["rows"]:
        assert row["Wcyc"] == sum(row[f"{part}_Wcyc"] for part in ("begin", "inside", "end"))
        assert row["time"] == pytest.approx(row["Wcyc"] / whole)
    text = annotate("--mappings", path).stdout
    (total,) = (line.split() for line in text.splitlines() if line.startswith("total "))
    assert total[2:4] == [f"{100 * counts['Wcyc'] / whole:.1f}%", f"{counts['Wcyc']:,}"]


def test_where_the_machine_has_no_costs_mappings_have_none(tmp_path: Path) -> None:
    _, files = observe(tmp_path / "run", machines=["--dtlb=64,4", "--itlb=64,4"])
    (path,) = files[min(files)]
    (table,) = json.loads(annotate("--mappings", "--format=json", path).stdout)["tables"]
    assert {(row["Wcyc"], row["time"]) for row in table["rows"]} == {(None, None)}
    assert "Wcyc" not in annotate("--mappings", path).stdout


def test_a_file_without_mappings_is_refused(tmp_path: Path) -> None:
    path = run(tmp_path, "true", geometry=[MACHINE]).only().path
    done = annotate("--mappings", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tg_annotate: error: {path}: has no mappings: a run with --mappings=yes writes them\n"


def test_damaged_mappings_are_an_error(tmp_path: Path) -> None:
    _, files = observe(tmp_path / "run")
    (path,) = files[min(files)]
    text = written(path)
    for good, bad in (
        ("desc: Mapping begin: ", "desc: Mapping begin: 1"),
        ("desc: Mapping: 0x", "desc: Mapping: 0y"),
        ("desc: Large pages: 2097152", "desc: Large pages: 3"),
        ("desc: Large pages: 2097152", "desc: Large pages: many"),
    ):
        path.write_text(text.replace(good, bad, 1), encoding="utf-8")
        done = annotate("--mappings", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"tg_annotate: error: {path}: ") and done.stderr.count("\n") == 1


# Four mappings that are rows of their own, one of which each turn of the loop refers to, in no order.
IN_NO_ORDER = """
#include <sys/mman.h>
enum { BYTES = 64 << 20, TURNS = 100000 };
static volatile char *at[4];
int main(void)
{
   unsigned x = 1;
   for (int i = 0; i < 4; i++)
      at[i] = mmap(0, BYTES, PROT_READ | PROT_WRITE,
                   MAP_ANONYMOUS | (i % 2 ? MAP_SHARED : MAP_PRIVATE), -1, 0);
   for (int i = 0; i < TURNS; i++) {
      x = x * 1664525u + 1013904223u;
      at[x >> 30][x * 2654435761u % BYTES];
   }
   return 0;
}
"""


def test_a_mapping_has_the_misses_of_its_own_references_where_walks_are_frequent(tmp_path: Path) -> None:
    """Segments that walk often are looked up together elsewhere, after they have been attributed."""
    (tmp_path / "order.c").write_text(IN_NO_ORDER, encoding="utf-8")
    program = compile_program(tmp_path, "order", str(tmp_path / "order.c"))
    rows = {}
    for fast in ("yes", "no"):
        folder = tmp_path / f"run-{fast:3}"
        folder.mkdir()
        options = ["--mappings=yes", "--thp=never", f"--fast-path={fast}"]
        done = run(folder, program, options=options, geometry=[MACHINE], prefix=["setarch", "-R"], collect=False)
        assert done.status == 0, done.err
        (path,) = folder.glob("out.*")
        out = outfile.read(str(path))
        places = [out.events.index(event) for event in ("Dr", "D1tmr", "DLtmr")]
        sums = [[sum(c[at] for c in row.costs.values()) for at in places] for row in mappings.mappings_of(out).rows]
        rows[fast] = [row for row in sums if row[1] > 20000]
    assert len(rows["yes"]) == 4 and rows["yes"] == rows["no"]
    for reads, first, last in rows["yes"]:
        assert last <= first <= reads


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--mappings=3M"], "'3M' is neither no nor yes nor a page size"),
        (["--mappings=4K"], "the base page of default is as large"),
        (["--mappings=yes", "--toggle-collect=main"], "--mappings=yes goes without --toggle-collect=main"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, options: list[str], reason: str) -> None:
    done = run(tmp_path, "true", options=options, geometry=[MACHINE], collect=False)
    assert done.status == 1
    assert reason in "\n".join(messages(done.err)) + done.err
