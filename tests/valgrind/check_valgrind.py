# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make check-valgrind: the programs of Valgrind's own regression tests behave under the tool as under `none`.

Each runs under none, under the tool with all that it can record, and so with --fast-path=no, one after the
other with the same folder, environment and input. Status and output must be as under none; the files whole;
the counts of both paths the same. What differs from run to run under none itself is not compared.

known-differences.txt has a line for each program that differs, with the reason; a line for a program that
does not differ (any more) is an error, so that the list can only shrink.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from valgrind_programs import Missing, Program, build, fetch, programs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tg_written import without_checksum

KNOWN = Path(__file__).with_name("known-differences.txt")
TOOLS = Path(os.environ["TG_BUILDDIR"]) / ".in_place"
VALGRIND = os.environ["VALGRIND"]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", "VALGRIND_LIB": str(TOOLS)}
# A machine that every host can simulate, and small enough to miss.
EVERYTHING = (
    "--machine=skylake,zen4",
    "--thp=madvise",
    "--faults=yes",
    "--faults-used=yes",
    "--data=yes",
    "--data-offsets=yes",
    "--calls=yes",
    "--mappings=yes",
    "--reach=yes",
    "--timeline=yes",
    "--entries=data",
    "--separate-threads=yes",
    "--dump-instr=yes",
)
# Seconds. What does not end under none in that time waits for something, and is not compared.
MOST_UNDER_NONE = 60
MOST_UNDER_THE_TOOL = 1800
NO_END = "no end"
# How often a program runs under none again before a difference is believed.
AGAIN = 4
DIFFERENT = ("native", "differs", "files", "paths")
OUTPUT = 1 << 20  # bytes that are compared
# Seconds in which processes that a program leaves behind may end by themselves, and write their files.
LEFT_BEHIND = 5


class Outcome(NamedTuple):
    status: int
    out: bytes
    err: bytes


class Verdict(NamedTuple):
    kind: str
    detail: str = ""


class Files(NamedTuple):
    """What a run wrote, by name without the process number, and what is wrong with it."""

    texts: Mapping[str, Sequence[str]]
    broken: Sequence[str]


def is_running(group: int) -> bool:
    """Whether the process group has a process that has not ended, reaped or not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()[:3]
        except (OSError, ValueError):  # it is gone
            continue
        if int(its_group) == group and state not in "ZX":
            return True
    return False


def end_group(group: int, seconds: int) -> None:
    """A signal at once would keep a process that is about to end from writing its files."""
    until = time.monotonic() + seconds
    while is_running(group) and time.monotonic() < until:
        time.sleep(0.02)
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def execute(program: Program, valgrind: Sequence[str], most: int) -> Outcome | None:
    """None: it does not end. A program's own processes end with it."""
    line = f"exec {shlex.join(valgrind)} {program.command}" if valgrind else program.command
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=program.folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(most)
        except subprocess.TimeoutExpired:
            status = None
        end_group(process.pid, LEFT_BEHIND if status is not None else 0)
        process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(OUTPUT))
    if program.cleanup:
        subprocess.run(["sh", "-c", program.cleanup], cwd=program.folder, capture_output=True, check=False)
    return None if status is None else Outcome(status, *texts)


def command(tool: str, options: Sequence[str], log: Path) -> list[str]:
    return [VALGRIND, f"--tool={tool}", "-q", f"--log-file={log}", *options]


def read_files(folder: Path) -> Files:
    texts: dict[str, list[str]] = {}
    broken = []
    told_apart = re.compile(r"(# ?)?(pid|forked|cmd|desc: (Thread file|Forked))\b|# checksum")
    for path in sorted(folder.iterdir()):
        try:
            text = without_checksum(path.read_bytes())
        except AssertionError:
            broken.append(path.name)
            continue
        # Of several processes the order is not known.
        name = re.sub(r"\d{2,}", "N", path.name)
        texts.setdefault(name, []).append("\n".join(line for line in text.split("\n") if not told_apart.match(line)))
    return Files({name: sorted(found) for name, found in texts.items()}, broken)


def run_tool(program: Program, place: Path, path: str) -> tuple[Outcome | None, Files, str]:
    """`path`: yes or no, the fast one. The third: what the tool said."""
    out = place / "files"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    log = place / "log"
    log.write_bytes(b"")
    options = [*EVERYTHING, f"--out-prefix={out}/%p", f"--fast-path={path}", *program.options]
    outcome = execute(program, command("tlbgrind", options, log), MOST_UNDER_THE_TOOL)
    return outcome, read_files(out), log.read_text(encoding="utf-8", errors="replace")


def show(a: Outcome, b: Outcome) -> str:
    """What differs first."""
    if a.status != b.status:
        return f"status {a.status} under none, {b.status} under the tool"
    name, one, other = ("output", a.out, b.out) if a.out != b.out else ("error output", a.err, b.err)
    lines = [text.decode(errors="replace").split("\n") for text in (one, other)]
    for first, second in zip(*lines):
        if first != second:
            return f"{name}: {first[:150]!r} under none, {second[:150]!r} under the tool"
    return f"{name}: {len(lines[0])} lines under none, {len(lines[1])} under the tool"


def compare(program: Program, place: Path, most: int) -> Verdict:
    """`most`: seconds under none."""
    if program.needs and subprocess.run(["sh", "-c", program.needs], cwd=program.folder, capture_output=True, check=False).returncode != 0:
        return Verdict("not built")
    word = shlex.split(program.command)[0]
    if not (program.folder / word).exists() and shutil.which(word, path=ENVIRONMENT["PATH"]) is None:
        return Verdict("not built")

    def under_none() -> Outcome | None:
        (place / "log").write_bytes(b"")
        return execute(program, command("none", program.options, place / "log"), most)

    first = under_none()
    if first is None:
        return Verdict(NO_END, f"under none in {most} seconds")
    if b"the 'impossible' happened" in (place / "log").read_bytes():
        return Verdict(NO_END, "none itself fails")
    outcome, fast, said = run_tool(program, place, "yes")
    if outcome is None:
        return Verdict("differs", f"does not end in {MOST_UNDER_THE_TOOL} seconds")
    seen = {first}
    outcomes = {outcome}
    for _ in range(AGAIN):
        if seen & outcomes:
            break
        more = under_none()
        if more is not None:
            seen.add(more)
        again = run_tool(program, place, "yes")
        if again[0] is not None:
            outcome, fast, said = again[0], again[1], again[2]
            outcomes.add(outcome)
    if not seen & outcomes:
        if len(seen) > 1:
            return Verdict("varies", show(*sorted(seen)[:2]))
        # The tool's addresses are not random, either.
        native = execute(program, ["setarch", "-R"], MOST_UNDER_NONE)
        return Verdict("native" if native == outcome else "differs", show(first, outcome) + (f" [{said[:200]}]" if said else ""))
    if "the 'impossible' happened" in said or "INTERNAL ERROR" in said:
        return Verdict("differs", said[:200])
    if fast.broken:
        return Verdict("files", f"not whole: {' '.join(fast.broken)}")
    # 126 and 127: Valgrind refuses the file, or there is none. Signal 9 ends the tool, too.
    if not any(".out" in name for name in fast.texts) and outcome.status not in (126, 127, -signal.SIGKILL):
        return Verdict("files", f"no out-file {said[:200]}")
    slow_outcome, slow, _ = run_tool(program, place, "no")
    for _ in range(AGAIN):
        if slow_outcome in seen | outcomes or len(seen | outcomes) > 1:
            break
        slow_outcome, slow, _ = run_tool(program, place, "no")
    if slow_outcome not in seen | outcomes and len(seen | outcomes) == 1:
        return Verdict("differs", "with --fast-path=no: " + (show(outcome, slow_outcome) if slow_outcome else "no end"))
    for _ in range(AGAIN):
        if slow.texts == fast.texts:
            return Verdict("same")
        # What two runs of the same kind count is not the same, or is it?
        _, repeated, _ = run_tool(program, place, "yes")
        _, slow_again, _ = run_tool(program, place, "no")
        if repeated.texts != fast.texts or slow_again.texts != slow.texts:
            return Verdict("same, counts vary")
    names = [name for name in sorted(fast.texts.keys() | slow.texts.keys()) if fast.texts.get(name) != slow.texts.get(name)]
    return Verdict("paths", f"fast and slow path differ in {' '.join(names)}")


def known(version: str, text: str) -> dict[str, str]:
    """The kind of difference by program, for this version."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        versions, name, kind, reason = (line.split(None, 3) + ["", "", ""])[:4]
        if not reason or kind not in DIFFERENT or name in found:
            raise SystemExit(f"{KNOWN.name}:{number}: VERSIONS FOLDER/TEST native|differs|files|paths REASON, each test once")
        if version in versions.split(","):
            found[name] = kind
    return found


def judge(verdicts: Mapping[str, Verdict], listed: Mapping[str, str], is_all: bool) -> list[str]:
    """What the list does not have, and what it should not have any more."""
    wrong = []
    for name, verdict in sorted(verdicts.items()):
        if verdict.kind in DIFFERENT and listed.get(name) != verdict.kind:
            wrong.append(f"NEW: {name}: {verdict.kind}: {verdict.detail}")
    for name in sorted(listed):
        kind = verdicts[name].kind if name in verdicts else "no such test" if is_all else "not run"
        if kind in ("same", "same, counts vary", "no such test"):
            wrong.append(f"STALE: {name}: {kind}: take its line out of {KNOWN.name}")
    return wrong


def part_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text}: K/N with K from 1 to N, such as 1/4")
    return int(found[1]), int(found[2])


def recorded(file: Path) -> dict[str, Verdict]:
    """What earlier runs found. Of a line that was cut off, the program runs again."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            name, kind, detail = json.loads(line)
        except ValueError:
            continue
        found[name] = Verdict(kind, detail)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="check_valgrind.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path(os.environ["TG_BUILDDIR"]) / "valgrind-programs", help="where sources and programs lie")
    parser.add_argument("--mirror", default=os.environ.get("TG_MIRROR", "http://deb.debian.org/debian"), help="of Debian's packages")
    parser.add_argument("--source", type=Path, help="Valgrind's sources, of the same version; they are built in")
    parser.add_argument("--only", metavar="REGEX", help="the programs with such names; what else the list has is not judged then")
    parser.add_argument("--part", type=part_of, metavar="K/N", help="each N-th program from the K-th on; what else the list has is not judged then")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep what is found there, and do not run again what it has")
    parser.add_argument("--most", type=int, default=MOST_UNDER_NONE, metavar="SECONDS", help="what takes longer under none is not compared (60)")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at once (2)")
    parser.add_argument("--verbose", action="store_true", help="a line for each program, not only for those that differ")
    given = parser.parse_args()
    version = subprocess.run([VALGRIND, "--version"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.strip().removeprefix("valgrind-")
    listed = known(version, KNOWN.read_text(encoding="utf-8"))
    given.cache.mkdir(parents=True, exist_ok=True)
    try:
        tree = (given.source or fetch(version, given.cache.resolve(), given.mirror)).resolve()
        build(tree, given.jobs)
    except Missing as why:
        raise SystemExit(f"check-valgrind: {why}") from None
    chosen = [program for program in programs(tree) if not given.only or re.search(given.only, program.name)]
    is_all = not given.only and not given.part
    if given.part:
        chosen = chosen[given.part[0] - 1 :: given.part[1]]
    names = {program.name for program in chosen}
    verdicts = {name: verdict for name, verdict in (recorded(given.record) if given.record else {}).items() if name in names}
    # Programs of one folder write into it: never two of them at once.
    folders: dict[str, list[Program]] = {}
    for program in (program for program in chosen if program.name not in verdicts):
        folders.setdefault(program.name.split("/")[0], []).append(program)
    printing = threading.Lock()

    def work(part: Sequence[Program]) -> None:
        with tempfile.TemporaryDirectory(prefix="tlbgrind-valgrind-") as place:
            for program in part:
                verdict = compare(program, Path(place), given.most)
                with printing:
                    verdicts[program.name] = verdict
                    # With more time it may end.
                    if given.record and verdict.kind != NO_END:
                        with open(given.record, "a", encoding="utf-8") as record:
                            print(json.dumps([program.name, *verdict]), file=record)
                    if given.verbose or not verdict.kind.startswith("same"):
                        print(f"{verdict.kind}: {program.name}: {verdict.detail}".removesuffix(": "), flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(work, sorted(folders.values(), key=len, reverse=True)))
    wrong = judge(verdicts, listed, is_all)
    print("".join(f"{line}\n" for line in wrong), end="")
    counts = Counter(verdict.kind for verdict in verdicts.values())
    same = counts["same"] + counts["same, counts vary"]
    other = sum(counts[kind] for kind in DIFFERENT)
    print(
        f"Valgrind {version}: {same + other} programs compared: {same} as under none ({counts['same, counts vary']} of them"
        f" count otherwise in each run), {other} not ({counts['native']} of them as without Valgrind); not compared:"
        f" {counts['varies']} that vary under none, {counts[NO_END]} that do not end there, {counts['not built']} not built;"
        f" {len(wrong)} not as listed"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
