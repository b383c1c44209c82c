# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The programs whose time is held against predictions, their inputs, and how each gets huge pages."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

from exp_frame import Missing
from exp_lab import Lab
from exp_programs import bench_text, from_bench


class Timed(NamedTuple):
    name: str
    what: str
    command: list[str]
    client: bool = False  # of ours: it times measured() by itself. Others are timed by clients/timed_main.c
    simulated: list[str] | None = None  # in the place of the command: the same data, fewer steps
    scale: int = 1  # so many times fewer
    stdin: Path | None = None
    environment: Mapping[str, str] = {}  # with both kinds of pages
    huge: Mapping[str, str] = {"TIMED_HUGE": "1"}  # with huge ones, beside it


# One heap, there from the beginning, of which nothing is given back; its size has room for each of the programs.
HEAP = "glibc.malloc.top_pad=600000000:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4000000000"
# glibc's malloc asks for huge pages, in modes madvise and always.
HUGE_HEAP = f"{HEAP}:glibc.malloc.hugetlb=1"
# No memory is given back after a time: no run would be like another.
JEMALLOC = "dirty_decay_ms:-1,muzzy_decay_ms:-1"

# Our own clients: what they do, the source's name, its arguments. The second one is a number of steps that are all
# alike: simulated are a tenth of them.
TENTH = 10
CLIENTS: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
    ("STREAM", "three arrays of 16 MB, 60 times", "stream", (2_000_000, 60)),
    ("reads", "random reads in 256 MB", "reads", (256, 20_000_000, 0)),
    ("reads-work", "the same, 30 steps of arithmetic after each", "reads", (256, 4_000_000, 30)),
    ("reads-8M", "random reads in 8 MB", "reads", (8, 80_000_000, 0)),
    ("join", "2 million rows, 15 million probes", "join", (2_000_000, 15_000_000)),
    ("tree", "a B-tree of 17 million keys, a million look-ups", "tree", (4_000_000, 1_000_000)),
    ("chain", "one chain of pointers in 256 MB", "chains", (256, 2_000_000, 1)),
    ("chain-8M", "one chain of pointers in 8 MB", "chains", (8, 12_000_000, 1)),
    ("8 chains", "eight chains of pointers in 256 MB", "chains", (256, 12_000_000, 8)),
    ("sparse", "CSR matrix of 24 million numbers times vector", "sparse", (3_000_000, 2)),
    ("transpose", "3000 by 3000 numbers, 12 times", "transpose", (3000, 12)),
)

PYTHON = """import random
rng = random.Random(1)
keys = list(range(250000))
rng.shuffle(keys)
rows = {key: [key, str(key)] for key in keys}
rng.shuffle(keys)
total = sum(rows[key][0] + len(rows[key][1]) for key in keys)
print(total, sorted(rows.values(), key=lambda row: row[1])[5])
"""

SQL = """pragma cache_size=-200000;
create table people(id integer primary key, town integer, name text);
create table towns(id integer primary key, name text);
with recursive c(x) as (values(1) union all select x+1 from c where x<200000)
 insert into people select x, x*7919%200003, hex(zeroblob(20)) from c;
with recursive c(x) as (values(1) union all select x+1 from c where x<200000)
 insert into towns select x, hex(zeroblob(50)) from c;
select count(*), sum(length(t.name)) from people p join towns t on t.id=p.town;
create index i on people(town);
select count(*), sum(p.id) from towns t join people p on p.town=t.id;
"""


def clients(lab: Lab) -> list[Timed]:
    sources = sorted({source for _, _, source, _ in CLIENTS})
    paths = {source: str(lab.client(f"timed_{source}")) for source in sources}
    found: list[Timed] = []
    for name, what, source, (size, steps, *more) in CLIENTS:
        path = paths[source]
        native, simulated = ([path, *map(str, (size, count, *more))] for count in (steps, steps // TENTH))
        scale = TENTH
        # These count in whole sweeps.
        if source in ("sparse", "stream", "transpose"):
            simulated, scale = [path, str(size), "1"], steps
        found.append(Timed(name, what, native, True, simulated, scale))
    return found


def graph(lab: Lab, side: int) -> Path:
    """A square of points, each joined with those beside it, numbered at random."""
    numbers = list(range(1, side * side + 1))
    random.Random(1).shuffle(numbers)
    rows = [""] * (side * side)
    for i in range(side):
        for j in range(side):
            beside = ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j))
            rows[numbers[i * side + j] - 1] = " ".join(
                str(numbers[a * side + b]) for a, b in beside if 0 <= a < side and 0 <= b < side
            )
    return lab.write("shuffled.graph", f"{side * side} {2 * side * (side - 1)}\n" + "\n".join(rows) + "\n")


def redis(lab: Lab) -> Timed:
    """The server reads its log of commands, whose last one is to stop; it needs no client."""
    rng = random.Random(1)
    keys = 150_000

    def command(*words: str) -> str:
        return f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)

    log = [command("SELECT", "0")]
    log += [command("SET", f"key:{i:08d}", "v" * (100 + i % 200)) for i in range(keys)]
    log += [command("GET", f"key:{rng.randrange(keys):08d}") for _ in range(3 * keys)]
    log.append(command("SHUTDOWN", "NOSAVE", "NOW"))
    lab.write("redis/appendonlydir/log.manifest", "file log.1.incr.aof seq 1 type i\n")
    lab.write("redis/appendonlydir/log.1.incr.aof", "".join(log))
    server = lab.need("redis-server", "redis-server")
    options = ["--port", "0", "--unixsocket", "s", "--dir", "redis", "--appendonly", "yes", "--appendfilename", "log"]
    command_line = [server, *options, "--save", "", "--disable-thp", "no"]
    what = f"{keys:,} SET, {3 * keys:,} GET"
    return Timed("redis-server", what, command_line, environment={"MALLOC_CONF": JEMALLOC, "TIMED_ARENA": "256"})


def lines(lab: Lab) -> Path:
    rng = random.Random(1)
    return lab.write("lines", "".join(f"{rng.getrandbits(64):020d} {i}\n" for i in range(1_000_000)))


def preloaded(lab: Lab, found: Sequence[Timed]) -> list[Timed]:
    """The same with what clients/timed_main.c does before them and around them."""
    source = Path(__file__).parent / "clients" / "timed_main.c"
    preload = lab.cc("timed_main.so", "-g", "-O2", "-shared", "-fPIC", source)
    ours = {"LD_PRELOAD": str(preload), "GLIBC_TUNABLES": HEAP}
    huge = {"TIMED_HUGE": "1", "GLIBC_TUNABLES": HUGE_HEAP}
    return [program._replace(environment={**ours, **program.environment}, huge=huge) for program in found]


def debian(lab: Lab) -> list[Timed]:
    def sqlite() -> Timed:
        script = lab.write("people.sql", SQL)
        return Timed("sqlite3", "two joins of 200,000 rows", [lab.need("sqlite3", "sqlite3"), ":memory:"], stdin=script)

    def python() -> Timed:
        # Its own allocator maps pieces of 1 MB, which no page of 2M backs.
        words = [lab.need("python3", "python3"), "-S", str(lab.write("rows.py", PYTHON))]
        return Timed("python3", "a dict of 250,000 lists, sorted", words, environment={"PYTHONMALLOC": "malloc"})

    def sort() -> Timed:
        words = [lab.need("sort", "coreutils"), "-S", "400M", "--parallel=1", "-o", "sorted", str(lines(lab))]
        return Timed("sort", "a million lines, in memory", words)

    def metis() -> Timed:
        return Timed("gpmetis", "a graph of 810,000 points into 8 parts", [lab.need("gpmetis", "metis"), str(graph(lab, 900)), "8"])

    def bench(name: str, what: str, environment: Mapping[str, str]) -> Timed:
        words, stdin = from_bench(lab, name, quick=False)
        return Timed(name, what, words, stdin=stdin, environment=environment)

    def gzip() -> Timed:
        words = [lab.need("gzip", "gzip"), "-9", "-k", "-f", str(bench_text(lab, 10))]
        return Timed("gzip", "10 MB of text, -9", words)

    found: list[Timed] = []
    missing: list[str] = []
    makers: tuple[Callable[[], Timed], ...] = (
        metis,
        sqlite,
        python,
        lambda: redis(lab),
        sort,
        lambda: bench("lookups", "a C++ map of 300,000 strings", {}),
        lambda: bench("cc1", "60 generated functions, -O2", {"TIMED_ARENA": "256"}),
        gzip,
    )
    for make in makers:
        try:
            found.append(make())
        except Missing as error:
            missing.append(str(error))
    if missing:
        raise Missing("; ".join(missing))
    return preloaded(lab, found)


def programs(lab: Lab) -> list[Timed]:
    return [*clients(lab), *debian(lab)]


