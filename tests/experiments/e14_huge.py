# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E14: transparent huge pages, programs and allocators: as many as this machine's kernel gives them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from exp_frame import Check, Experiment, Missing, Result, Table, near
from exp_lab import HERE, Lab, Shipped

sys.path.insert(0, str(HERE.parent))

import tg_thp
from tg_thp import MODES, Native, Unavailable

MACHINE = Shipped("skylake")
MEGABYTES = 300
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")


class Program(NamedTuple):
    name: str
    command: list[object]
    environment: Mapping[str, str] = {}
    # What it does depends on the kernel's mode, which it looks at, also under tlbgrind.
    looks: bool = False


class Allocator(NamedTuple):
    name: str
    environment: Mapping[str, str]
    looks: bool = False


def preloaded(library: str, package: str) -> dict[str, str]:
    path = LIBRARIES / library
    if not path.exists():
        raise Missing(f"{library} is not installed (Debian package: {package})")
    return {"LD_PRELOAD": str(path)}


def allocators() -> list[Allocator]:
    """Those that give memory back after a time are told not to: no run would be like another."""
    jemalloc = preloaded("libjemalloc.so.2", "libjemalloc2")
    keeps = "dirty_decay_ms:-1,muzzy_decay_ms:-1"
    mimalloc = preloaded("libmimalloc.so.2", "libmimalloc2.0")
    return [
        Allocator("glibc", {}),
        Allocator("glibc, hugetlb=1", {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, True),
        Allocator("jemalloc", {**jemalloc, "MALLOC_CONF": keeps}),
        Allocator("jemalloc, thp:always", {**jemalloc, "MALLOC_CONF": f"{keeps},thp:always"}, True),
        Allocator("tcmalloc", preloaded("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4")),
        Allocator("mimalloc", {**mimalloc, "MIMALLOC_ALLOW_DECOMMIT": "0", "MIMALLOC_PAGE_RESET": "0"}),
    ]


# ---------------------------------------------------------------- inputs


def graph(lab: Lab, side: int) -> Path:
    """A square of points, each joined with those beside it, as METIS reads it."""
    rows = [f"{side * side} {2 * side * (side - 1)}"]
    for i in range(side):
        for j in range(side):
            beside = ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j))
            rows.append(" ".join(str(a * side + b + 1) for a, b in beside if 0 <= a < side and 0 <= b < side))
    return lab.write("square.graph", "\n".join(rows) + "\n")


def redis(lab: Lab) -> Program:
    """The server reads its log of commands, whose last one is to stop; it needs no client."""

    def command(*words: str) -> str:
        return f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)

    log = [command("SELECT", "0")]
    log += [command("SET", f"key:{i:08d}", "v" * (100 + i % 300)) for i in range(60_000)]
    log += [command("HSET", f"h:{i % 500}", f"field{i}", str(i) * 5) for i in range(20_000)]
    log.append(command("SHUTDOWN", "NOSAVE", "NOW"))
    lab.write("redis/appendonlydir/log.manifest", "file log.1.incr.aof seq 1 type i\n")
    path = lab.write("redis/appendonlydir/log.1.incr.aof", "")
    path.write_bytes("".join(log).encode("ascii"))
    server = lab.need("redis-server", "redis-server")
    options = ["--port", "0", "--unixsocket", "s", "--dir", "redis", "--appendonly", "yes", "--appendfilename", "log"]
    return Program("redis-server", [server, *options, "--save", "", "--disable-thp", "no"], {}, True)


SQL = """pragma cache_size=-100000; create table t(a integer primary key, b text);
with recursive c(x) as (values(1) union all select x+1 from c where x<200000) insert into t select x, hex(zeroblob(100)) from c;
create index i on t(b, a); select count(*) from t;"""

PYTHON = """d = {str(i): [i] * 10 for i in range(60000)}
x = bytearray(30000000)
del d
print(len(x))"""


def programs(lab: Lab) -> list[Program]:
    regions = lab.program("hugeregions.c")
    threads = lab.program("hugethreads.c", "-pthread")
    store = lab.program("store.cc")
    text = lab.write("text", "".join(f"{i * 7919 % 5003} " for i in range(250_000)))
    found = [Program("regions (ours)", [regions])]
    for allocator in allocators():
        more = (allocator.environment, allocator.looks)
        found.append(Program(f"store of {MEGABYTES} MB (ours), {allocator.name}", [store, MEGABYTES], *more))
        found.append(Program(f"4 threads (ours), {allocator.name}", [threads, 4, 16], *more))
    return [
        *found,
        Program("gpmetis", [lab.need("gpmetis", "metis"), graph(lab, 500), 8]),
        Program("python3", [lab.need("python3", "python3"), "-c", PYTHON]),
        redis(lab),
        Program("sqlite3", [lab.need("sqlite3", "sqlite3"), ":memory:", SQL]),
        Program("xz", [lab.need("xz", "xz-utils"), "-3", "-k", "-c", "-T1", text]),
    ]


# ---------------------------------------------------------------- both runs


def native(lab: Lab, watch: Path, program: Program) -> Native:
    out = lab.folder / "watched"
    lab.call([watch, out, *program.command], env=program.environment)
    return tg_thp.read_watch(out)


def simulated(lab: Lab, mode: str, program: Program) -> int:
    profile = lab.simulate([MACHINE], program.command, tg_thp.options(mode), env=program.environment)[MACHINE.name]
    return profile.pages("2M")


@contextlib.contextmanager
def kernel_in(mode: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(tg_thp.kernel_in(mode))
        except Unavailable as error:
            raise Missing(str(error)) from None
        yield


def both(lab: Lab, watch: Path, mode: str, program: Program) -> tuple[Native, int]:
    with kernel_in(mode):
        try:
            theirs = tg_thp.undisturbed(lambda: native(lab, watch, program))
        except Unavailable as error:
            raise Missing(str(error)) from None
        if program.looks:
            return theirs, simulated(lab, mode, program)
    # Others may want the host as it was.
    return theirs, simulated(lab, mode, program)


def run(lab: Lab) -> Result:
    watch = tg_thp.compile_watch(lab.folder)
    checks: list[Check] = []
    rows: list[list[str]] = []
    for program in programs(lab):
        cells: list[str] = []
        for mode in MODES:
            theirs, ours = both(lab, watch, mode, program)
            checks.append(near(f"{program.name}, {mode}: pages of 2M", theirs.huge, 1, ours))
            cells += [f"{theirs.anonymous >> 10:,}", f"{theirs.huge}", f"{ours}"]
        rows.append([program.name, *cells])
    head = [word for mode in MODES for word in (f"{mode}: MiB", "kernel", "tlbgrind")]
    return Result([Table("Pages of 2M when most anonymous memory was there", ["program", *head], rows)], checks)


EXPERIMENT = Experiment("E14", "transparent huge pages", "this machine's kernel", run, long=True)
