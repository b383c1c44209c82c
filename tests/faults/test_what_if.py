# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults --what-if: what it says of a recorded run, held against runs of programs that are really
changed so: linked otherwise, in another locale, with calls of madvise()."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tg_companions
from faults_support import good, refused
from native_support import ENVIRONMENT, read
from tg_environment import CC, TLBGRIND
from tg_lacking import skip_what_lacks
from tg_tables import document

FUNCTIONS = 1000
CALLED = 5  # each fifth
# What a changed program may differ by from what was said.
MINOR, MAJOR = 3, 2
UTF8 = "C.UTF-8"
ORDER, DATA_ORDER = "functions in order", "variables in order"
LIBRARIES = 6
NO_POPULATE = 3  # the exit status of a program whose madvise() is not known
# (Not gawk: it reads /proc/self/maps, so its faults depend on where the tool lies.)
PROGRAMS = {"bash": ("-c", ":"), "ls": ("/",), "perl": ("-e", "1")}

Row = dict[str, Any]


def source() -> str:
    """A program of half a megabyte that starts: locale, functions far apart, pointers, large arrays."""
    text = ["#include <locale.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <sys/mman.h>"]
    text += ["#include <stdint.h>", "#include <unistd.h>", "extern char __executable_start, etext, end;"]
    text += ["extern char __data_start;", "volatile int sink;"]
    for f in range(FUNCTIONS):
        # Not executed: room, which takes no time to compile.
        room = f'asm volatile("jmp 1f; .skip {200 + f % 17 * 40}; 1:");'
        text.append(f"__attribute__((noinline)) int f{f}(int x) {{ {room} return sink += x; }}")
    names = ", ".join(f"f{f}" for f in range(FUNCTIONS))
    text.append(f"int (*table[{FUNCTIONS}])(int) = {{ {names} }};")
    text.append(f"int (*const fixed[{FUNCTIONS}])(int) = {{ {names} }};")
    text.append("static const char words[1 << 18] = { 1, 2, 3 };")
    text.append("static int counts[1 << 17] = { 1 }; static char buffer[1 << 19];")
    text.append(
        """
static void populate(char* from, char* to, int how)
{
   const uintptr_t page = 4096, start = (uintptr_t)from & -page;
   if (madvise((void*)start, (((uintptr_t)to + page - 1) & -page) - start, how) != 0)
      _exit(NO_POPULATE);
}
int main(int argc, char** argv)
{
   if (POPULATE & 1)
      populate(&__executable_start + CODE, &etext, 22 /* MADV_POPULATE_READ */);
   if (POPULATE & 2)
      populate(&__data_start, &end, 23 /* MADV_POPULATE_WRITE */);
   setlocale(LC_ALL, "");
   for (int i = 0; i < FUNCTIONS; i += CALLED)
      table[i](i) + fixed[(i * 31) % FUNCTIONS](i);
   for (int i = 0; i < 1 << 19; i += 40000)
      buffer[i] = buffer[i / 2] + words[i / 2];
   for (int i = 0; i < 1 << 17; i += 3000)
      counts[i]++;
   for (int i = 1; i < 300; i++)
      sink += *(char*)malloc((size_t)i * 7) == 3;
   printf("%d\\n", sink);
   return 0;
}
"""
    )
    return "\n".join(text)


class Built(NamedTuple):
    folder: Path

    def program(self, name: str, *flags: str) -> Path:
        """Its name is as long as that of each other, so that stacks are alike."""
        path = self.folder / name
        if not path.exists():
            flags_of_all = ["-O1", "-Wl,-z,separate-code", "-Wl,-z,lazy", f"-DFUNCTIONS={FUNCTIONS}", f"-DNO_POPULATE={NO_POPULATE}"]
            if not any(flag.startswith("-DPOPULATE") for flag in flags):
                flags = (*flags, "-DPOPULATE=0", "-DCODE=0")
            command = [*CC, *flags_of_all, f"-DCALLED={CALLED}", *flags, "-o", path, self.folder / "start.c"]
            subprocess.run(list(map(str, command)), check=True)
        return path

    def run(self, program: Path, locale: str = UTF8, *options: str) -> Path:
        log = self.folder / f"{program.name}-{locale}.log"
        if not log.exists() and record(log, locale, options, program) == NO_POPULATE:
            pytest.skip("the kernel has no MADV_POPULATE_READ (Linux 5.14)")
        return log


def record(log: Path, locale: str, options: Sequence[str], *command: object) -> int:
    done = subprocess.run(
        [
            TLBGRIND,
            "-q",
            "--faults=yes",
            f"--faults-out-file={log}",
            "--tlbgrind-out-file=/dev/null",
            *options,
            *map(str, command),
        ],
        env={**ENVIRONMENT, "LC_ALL": locale},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode in (0, NO_POPULATE)
    return done.returncode


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("what-if")
    (folder / "start.c").write_text(source(), encoding="ascii")
    return Built(folder)


def recorded(built: Built) -> Path:
    entries = f"--entries-out-file={built.folder / 'normal.entries'}"
    return built.run(built.program("normal", *PIE), UTF8, "--faults-touches=yes", "--entries=data", entries)


PIE = ("-fPIE", "-pie", "-Wl,-z,nopack-relative-relocs")


@cache
def rows(log: Path, *options: str) -> dict[str, Row]:
    """With the variables of the recorded run: an empty program that is linked for it runs with them."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {**ENVIRONMENT, "LC_ALL": UTF8}.items():
            environment.setenv(name, value)
        found = document(good("--what-if", "--format=json", *options, log))
    assert found["about"] == "what if"
    (table,) = found["tables"]
    return {row["remedy"]: row for row in table["rows"]}


class Known(NamedTuple):
    """The recorded run, and what is said of it with its entries file."""

    log: Path
    rows: dict[str, Row]


@pytest.fixture(scope="module")
def known(built: Built) -> Known:
    log = recorded(built)
    return Known(log, rows(log, f"--entries={built.folder / 'normal.entries'}", f"--tlbgrind={TLBGRIND}"))


def holds(row: Row, before: Path, after: Path) -> None:
    """What was said is what a run of the changed program gives."""
    if row["minor_least"] is None and "Debian: " in row["assumption"]:
        skip_what_lacks(row["assumption"])
    logs = [read(log) for log in (before, after)]
    for what, view, column, allowed in (("minor", "warm", 0, MINOR), ("major", "cold", 1, MAJOR)):
        saved = logs[0].summary[view][column] - logs[1].summary[view][column]
        least, most = row[f"{what}_least"], row[f"{what}_most"]
        if what == "major" and least is None:
            continue
        print(f"{row['remedy']}: {what} {least}..{most} said, {saved} found")
        assert least - allowed <= saved <= most + allowed, (row["remedy"], what)


def test_no_locale(built: Built) -> None:
    """LC_ALL=C: files, the C library's code for them and the heap, within 3 minor and 2 major"""
    log = recorded(built)
    holds(rows(log)["LC_ALL=C"], log, built.run(built.program("normal", *PIE), "C"))


def installed(name: str) -> str:
    program = shutil.which(name, path="/usr/bin:/bin")
    if program is None:
        skip_what_lacks(f"{name} is not installed")
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_locale_for(name: str, tmp_path: Path) -> None:
    """LC_ALL=C of programs that are installed"""
    program = installed(name)
    logs = [tmp_path / "utf8.log", tmp_path / "c.log"]
    record(logs[0], UTF8, ("--faults-touches=yes",), program, *PROGRAMS[name])
    record(logs[1], "C", (), program, *PROGRAMS[name])
    holds(rows(logs[0])["LC_ALL=C"], *logs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_locale_of_characters_only(name: str, tmp_path: Path) -> None:
    """LC_CTYPE alone: a range of which is what a run without the other categories has"""
    program = installed(name)
    logs = [tmp_path / "utf8.log", tmp_path / "one_.log"]
    record(logs[0], UTF8, ("--faults-touches=yes",), program, *PROGRAMS[name])
    with pytest.MonkeyPatch.context() as environment:
        environment.setitem(ENVIRONMENT, "LC_CTYPE", UTF8)
        record(logs[1], "", (), program, *PROGRAMS[name])
    row = rows(logs[0])["LC_CTYPE only"]
    holds(row, *logs)
    assert row["minor_least"] > 5


def test_the_unchanged_run(built: Built) -> None:
    """computed in the same way, it has the faults that were recorded"""
    text = good("--what-if", recorded(built))
    differs = re.search(r"differs from the log by (\d+)\s+faults in warm and (\d+)", text)
    assert differs is None or (int(differs[1]) == 0 and int(differs[2]) <= 1), text


def test_no_pie(built: Built) -> None:
    """a program at fixed addresses, without relative relocations"""
    log = recorded(built)
    fixed = built.program("fixed-", "-fno-pie", "-no-pie")
    holds(rows(log)["no PIE"], log, built.run(fixed))


def test_packed_relocations(built: Built) -> None:
    """RELR"""
    log = recorded(built)
    packed = built.program("packed", "-fPIE", "-pie", "-Wl,-z,pack-relative-relocs")
    holds(rows(log)["RELR"], log, built.run(packed))


@pytest.mark.parametrize("name, what, bits", [("codes-", "code", "1"), ("datas-", "data", "2")])
def test_populated(name: str, what: str, bits: str, built: Built) -> None:
    """the program maps its own segments at once"""
    log = recorded(built)
    program = built.program(name, *PIE, f"-DPOPULATE={bits}", "-DCODE=0")
    holds(rows(log)[f"MADV_POPULATE: {what}"], log, built.run(program))


def test_bound_at_the_start(built: Built) -> None:
    """-z now: few functions, nearly all of them called"""
    log = recorded(built)
    now = built.program("bound-", *PIE, "-Wl,-z,now")
    holds(rows(log)["-z now"], log, built.run(now))


def test_many_bound_at_the_start(tmp_path: Path) -> None:
    """-z now: functions that are not called; to find them the tables of a library are read, a window after the
    other, from a disk, too"""
    names = [f"function_of_a_large_library_{number}" for number in range(8000)]
    library = "".join(f".globl {name}\n.type {name}, @function\n{name}: ret\n" for name in names)
    calls = "".join(f"call {name}@PLT\n" for name in names[::40])
    main = f".globl main\nmain: cmp $1, %edi\njle 1f\npush %rax\n{calls}pop %rax\n1: xor %eax, %eax\nret\n"
    for name, text in (("large.s", library), ("main.s", main)):
        (tmp_path / name).write_text(f'{text}.section .note.GNU-stack,"",@progbits\n', encoding="ascii")
    subprocess.run([*CC, "-shared", "-o", tmp_path / "liblarge.so", tmp_path / "large.s"], check=True)
    logs = [tmp_path / "lazy.log", tmp_path / "now-.log"]
    for log in logs:
        program = log.with_suffix("")
        flags = ("-pie", f"-Wl,-z,{log.stem.strip('-')},-z,separate-code", f"-Wl,-rpath,{tmp_path}", f"-L{tmp_path}", "-llarge")
        subprocess.run([*CC, "-o", program, tmp_path / "main.s", *flags], check=True)
        record(log, "C", ("--faults-touches=yes",), program)
    row = rows(logs[0])["-z now"]
    holds(row, *logs)
    assert row["minor_most"] < -4 and row["major_most"] < 0


def test_code_without_pages_of_its_own(built: Built) -> None:
    """-z noseparate-code"""
    log = recorded(built)
    mixed = built.program("mixed-", *PIE, "-Wl,-z,noseparate-code")
    holds(rows(log)["-z noseparate-code"], log, built.run(mixed))


STATIC = [("static", "-static", "static"), ("stpie-", "-static-pie", "static PIE")]


@pytest.mark.parametrize("name, flag, row", STATIC)
def test_static_without_entries(name: str, flag: str, row: str, built: Built) -> None:
    """a range"""
    log = recorded(built)
    holds(rows(log)[row], log, built.run(static(name, flag, built)))


def static(name: str, flag: str, built: Built) -> Path:
    return built.program(name, *(("-fPIE", flag) if flag == "-static-pie" else ("-fno-pie", flag)))


@pytest.mark.parametrize("name, flag, row", STATIC)
def test_static(name: str, flag: str, row: str, built: Built, known: Known) -> None:
    """one number, of an empty program that is linked so"""
    holds(known.rows[row], known.log, built.run(static(name, flag, built)))
    assert known.rows[row]["minor_least"] == known.rows[row]["minor_most"]


def order(built: Built, *options: str) -> None:
    done = tg_companions.run("tg_order", built.folder, *options, built.folder / "normal.entries").text()
    assert done.status == 0, done.err


def test_functions_in_order(built: Built, known: Known) -> None:
    """with an entries file, what an order of it brings"""
    script = built.folder / "order.ld"
    order(built, f"--bfd-script={script}")
    ordered = built.program("order-", *PIE, "-ffunction-sections", "-fuse-ld=bfd", f"-Wl,-T,{script}")
    row = known.rows[ORDER]
    holds(row, known.log, built.run(ordered))
    assert row["minor_least"] > 0


def test_variables_in_order(built: Built, known: Known) -> None:
    """with what the entries file has of data; its faults are those that tg_order forecasts"""
    script = built.folder / "data.ld"
    order(built, "--with-data", f"--bfd-script={script}")
    lines = script.read_text(encoding="ascii").splitlines(True)
    script.write_text("".join(line for line in lines if " .text.startup.f" not in line), encoding="ascii")
    ordered = built.program("ordata", *PIE, "-fdata-sections", "-fuse-ld=bfd", f"-Wl,-T,{script}")
    holds(known.rows[DATA_ORDER], known.log, built.run(ordered))


def test_variables_in_order_need_entries_with_data(built: Built, tmp_path: Path) -> None:
    """without, the row says what to record"""
    row = rows(recorded(built))[DATA_ORDER]
    assert row["minor_least"] is None and "--entries=data" in row["assumption"]


CPP = """
#include <iostream>
#include <map>
#include <sstream>
#include <string>
int main()
{
   std::map<std::string, int> words;
   std::istringstream text("one two three two one");
   for (std::string word; text >> word;)
      words[word]++;
   for (const auto& [word, count] : words)
      std::cout << word << ' ' << count << '\\n';
}
"""


@pytest.mark.parametrize("flag, row", [("-static", "static"), ("-static-pie", "static PIE")])
def test_static_cpp(flag: str, row: str, built: Built) -> None:
    """a C++ program, whose library is a part of it, too"""
    compiler = shutil.which("g++")
    if compiler is None:
        skip_what_lacks("g++ is not installed")
    source = built.folder / "words.cc"
    source.write_text(CPP, encoding="ascii")
    names = ("words0", "words1")
    for name, flags in zip(names, ((), (flag,))):
        subprocess.run([compiler, "-O2", "-fPIE", "-pie" if not flags else flag, "-o", built.folder / name, source], check=True)
    entries = built.folder / "words.entries"
    logs = [built.folder / f"{name}{flag}.log" for name in names]
    record(logs[0], "C", ("--faults-touches=yes", "--entries=data", f"--entries-out-file={entries}"), built.folder / names[0])
    record(logs[1], "C", (), built.folder / names[1])
    found = rows(logs[0], f"--entries={entries}", f"--tlbgrind={TLBGRIND}")[row]
    holds(found, *logs)


BLOCKS = """
#include <stdlib.h>
#include <string.h>
int main(int count, char** arguments)
{
   char* blocks[8];
   for (int i = 0; i < 8; i++) {
      blocks[i] = malloc(1 << 20);
      memset(blocks[i], 1, 300000);
      if (count > 1)
         free(blocks[i]);
   }
   return blocks[7] == arguments[0];
}
"""


@pytest.mark.parametrize("arguments", [(), ("free",)], ids=["kept", "freed"])
def test_blocks_by_brk(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """large blocks in the heap: a range, of which is what a run without mappings for them has"""
    source, program = tmp_path / "blocks.c", tmp_path / "blocks"
    source.write_text(BLOCKS, encoding="ascii")
    subprocess.run([*CC, "-O0", "-o", program, source], check=True)
    before, after = tmp_path / "before", tmp_path / "after"
    # With a threshold that is given, it does not grow.
    fixed = "glibc.malloc.mmap_threshold=131072"
    for log, tunables in ((before, fixed), (after, "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1073741824")):
        with pytest.MonkeyPatch.context() as environment:
            environment.setitem(ENVIRONMENT, "GLIBC_TUNABLES", tunables)
            record(log, "C", ("--faults-touches=yes",), program, *arguments)
    row = rows(before)["blocks by brk"]
    holds(row, before, after)
    assert row["minor_most"] > 500
    saved = read(before).summary["warm"][0] - read(after).summary["warm"][0]
    assert saved > 500 if arguments else abs(saved) <= MINOR


HUGE_CODE = """
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#define HUGE ((uintptr_t)2 << 20)
/* Functions 8K from each other, 5M in all. */
asm(".text; .balign 8192; many: .rept 640; .balign 8192; xor %eax, %eax; ret; .endr");
extern char __executable_start, etext, many;
static void copy(uintptr_t block)
{
   char* room = mmap(0, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   char* page = (char*)(((uintptr_t)room + HUGE - 1) & -HUGE);
   madvise(page, HUGE, MADV_HUGEPAGE);
   memcpy(page, (char*)block, HUGE);
   mprotect(page, HUGE, PROT_READ | PROT_EXEC);
   mremap(page, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)block);
}
int main(void)
{
   const uintptr_t first = ((uintptr_t)&__executable_start + HUGE) & -HUGE;
   for (uintptr_t at = first; COPIES && at + HUGE <= (uintptr_t)&etext; at += HUGE)
      copy(at);
   for (int i = 0; i < 640; i += STEP)
      ((int (*)(void))(&many + i * 8192))();
   return 0;
}
"""


@pytest.mark.parametrize("step", [1, 9])
def test_code_in_huge_pages(step: int, tmp_path: Path) -> None:
    """a range, from a copy that is made to pages that are mapped at once"""
    source, logs = tmp_path / "code.c", [tmp_path / "before", tmp_path / "after"]
    source.write_text(HUGE_CODE, encoding="ascii")
    for log, copies, aligned in zip(logs, (0, 1), ("0x1000", "0x200000")):
        program = tmp_path / f"code{copies}"
        flags = ("-O1", "-fno-pie", "-no-pie", f"-DCOPIES={copies}", f"-DSTEP={step}", f"-Wl,-z,max-page-size={aligned},-z,common-page-size={aligned}")
        subprocess.run([*CC, *flags, "-o", program, source], check=True)
        record(log, "C", ("--faults-touches=yes", "--thp=madvise", "--mthp=none"), program)
    row = rows(logs[0])["code in huge pages"]
    assert row["minor_least"] < row["minor_most"]
    holds(row, *logs)


def library(number: int, libraries: int) -> str:
    """Functions far apart, a table of them, variables, a constructor, and a call of the next library."""
    names = [f"l{number}_f{f}" for f in range(40)]
    text = [f"int l{(number + 1) % libraries}_f3(int); static int sink; static int counts[3000] = {{ 1 }}; static char zero[9000];"]
    for f, name in enumerate(names):
        text.append(f'int {name}(int x) {{ asm volatile("jmp 1f; .skip {300 + f * 13}; 1:"); return sink += x; }}')
    text.append(f"int (*l{number}_table[40])(int) = {{ {', '.join(names)} }};")
    text.append(f"""
__attribute__((constructor)) static void begin(void) {{ counts[1500]++; }}
int l{number}_run(int n)
{{
   for (int f = 0; f < 40; f += 7)
      sink += l{number}_table[f](n);
   zero[n * 5]++;
   return counts[n]++ + l{(number + 1) % libraries}_f3(n);
}}""")
    return "\n".join(text)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a locale and six libraries, the same with all of them in one, and with them in it."""
    folder, count = tmp_path_factory.mktemp("apart"), LIBRARIES
    flags, objects, libraries = ["-O1", "-Wl,-z,separate-code", "-Wl,-z,lazy"], [], []

    def call(*words: object) -> None:
        subprocess.run([*CC, *flags, *map(str, words)], check=True, cwd=folder)

    for number in range(count):
        (folder / f"l{number}.c").write_text(library(number, count), encoding="ascii")
        objects.append(folder / f"l{number}.o")
        libraries.append(folder / f"libl{number}.so")
        call("-fPIC", "-c", f"l{number}.c")
        call("-shared", "-o", libraries[-1], objects[-1])
    runs = " + ".join(f"l{number}_run(1000 + {number})" for number in range(count))
    main = f'int main(void) {{ setlocale(LC_ALL, ""); return ({runs}) == 3; }}\n'
    declared = "".join(f"int l{n}_run(int);\n" for n in range(count))
    (folder / "main.c").write_text(f"#include <locale.h>\n{declared}{main}", encoding="ascii")
    pie = ("-fPIE", "-pie", "main.c", "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined")
    call(*pie, "-o", "apart_", *(f"-l:{path.name}" for path in libraries), f"-L{folder}")
    call("-shared", "-o", "libinone.so", *objects)
    call(*pie, "-o", "inone_", f"-L{folder}", "-l:libinone.so")
    call(*pie, "-o", "inprog", *objects)
    entries = folder / "apart_.entries"
    record(folder / "apart_.log", UTF8, ("--faults-touches=yes", "--entries=data", f"--entries-out-file={entries}"), folder / "apart_")
    return folder


@pytest.mark.parametrize("name, row", [("inone_", "libraries in one"), ("inprog", "libraries in the program")])
def test_merged_libraries(name: str, row: str, apart: Path) -> None:
    """what it saves that they are one, or parts of the program; without the entries there is no number"""
    before, after = apart / "apart_.log", apart / f"{name}.log"
    record(after, UTF8, (), apart / name)
    found = rows(before, f"--entries={apart / 'apart_.entries'}", f"--tlbgrind={TLBGRIND}")[row]
    holds(found, before, after)
    assert found["minor_least"] == found["minor_most"] > 10
    assert "libl0.so" in found["assumption"]
    without = rows(before)[row]
    assert without["minor_least"] is None and "--entries=data" in without["assumption"]


def test_merged_libraries_and_more(apart: Path) -> None:
    """the better of the two begins a combination: in the locale C, too"""
    before, after = apart / "apart_.log", apart / "inprog-c.log"
    record(after, "C", (), apart / "inprog")
    found = rows(before, f"--entries={apart / 'apart_.entries'}", f"--tlbgrind={TLBGRIND}")
    row = found["libraries in the program + LC_ALL=C"]
    holds(row, before, after)
    assert row["minor_least"] > found["libraries in the program"]["minor_least"]


def test_some_libraries(apart: Path) -> None:
    """one library in the program, and the best of all together; what a program that is linked so saves"""
    before = apart / "apart_.log"
    found = rows(before, f"--entries={apart / 'apart_.entries'}", f"--tlbgrind={TLBGRIND}")
    some = [row for name, row in found.items() if name.startswith("libl")]
    alone = [row for row in some if "," not in row["remedy"]]
    assert len(alone) == LIBRARIES - 1
    most = max(some, key=lambda row: (row["remedy"].count(","), row["remedy"].endswith(" program")))
    in_one = found[most["remedy"].replace(" in the program", " in one")]
    least = min(alone, key=lambda row: (row["minor_least"], row["remedy"]))
    for number, row in enumerate((least, most, in_one)):
        numbers = [int(one) for one in re.findall(r"libl(\d)\.so", row["remedy"])]
        program, log = apart / f"some{number}_", apart / f"some{number}.log"
        merged_program(apart, program, numbers, row["remedy"].endswith(" in one"))
        record(log, UTF8, (), program)
        holds(row, before, log)
    assert 0 < least["minor_least"] < most["minor_least"] <= found["libraries in the program"]["minor_least"]


def merged_program(folder: Path, program: Path, numbers: Sequence[int], in_one: bool) -> None:
    """These libraries are one or parts of the program, and the others what they were."""
    flags = ["-O1", "-Wl,-z,separate-code", "-Wl,-z,lazy"]
    parts = [f"l{number}.o" for number in numbers]
    others = [f"-l:libl{number}.so" for number in range(LIBRARIES) if number not in numbers]
    if in_one:
        subprocess.run([*CC, *flags, "-shared", "-o", "libsome1.so", *parts], check=True, cwd=folder)
        parts, others = [], ["-l:libsome1.so", *others]
    link = ["-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined", f"-L{folder}"]
    command = [*CC, *flags, "-fPIE", "-pie", "main.c", "-o", program, *parts, *link, *others]
    subprocess.run(list(map(str, command)), check=True, cwd=folder)


def test_static_without_a_compiler(built: Built, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    """what cannot be linked has no number, and why is said"""
    monkeypatch.setenv("PATH", str(built.folder))
    options = (f"--entries={built.folder / 'normal.entries'}", f"--tlbgrind={TLBGRIND}", "--format=json")
    found = document(good("--what-if", *options, known.log))["tables"][0]["rows"]
    (row,) = [row for row in found if row["remedy"] == "static"]
    assert row["minor_least"] is None and "gcc is not installed" in row["assumption"]


@pytest.mark.parametrize("option, row", [("--mthp=16K", "folios of 16K"), ("--mthp=64K", "folios of 64K"), ("--thp=always", "huge pages")])
def test_folios(option: str, row: str, built: Built) -> None:
    """larger pieces of memory that is of no file: to the fault what a run with them has"""
    usual = ("--thp=madvise", "--mthp=none")
    options = [one for one in usual if not option.startswith(one.split("=")[0])]
    program = built.program("normal", *PIE)
    before, after = built.folder / "folios.log", built.folder / f"{option}.log"
    if not before.exists():
        record(before, UTF8, (*usual, "--faults-touches=yes"), program)
    record(after, UTF8, (*options, option), program)
    said = rows(before)[row]
    found = [read(log).summary["warm"][0] for log in (before, after)]
    assert said["minor_least"] == said["minor_most"] == found[0] - found[1]
    assert row == "huge pages" or said["minor_least"] > 10


def test_entries_of_another_program(built: Built, known: Known) -> None:
    """they are refused"""
    entries = built.folder / "other.entries"
    other = built.program("codes-", *PIE, "-DPOPULATE=1", "-DCODE=0")
    record(built.folder / "other.log", "C", ("--entries=yes", f"--entries-out-file={entries}"), other)
    refused(f"{entries}: is of another run than {known.log}", "--what-if", f"--entries={entries}", known.log)


def test_what_no_combination_has_keeps_its_flags(built: Built) -> None:
    """each remedy says how, and a combination only which it is of"""
    log = recorded(built)
    text = good("--what-if", log)
    for name, row in rows(log).items():
        said = f"\n{name}:\n   how: {row['how'].split(',')[0].split(' ')[0]}" in text
        assert said == (" + " not in name), name


def test_the_best_together(built: Built) -> None:
    """LC_ALL=C and populated code and data: what two save counts once"""
    log = recorded(built)
    program = built.program("union-", *PIE, "-DPOPULATE=3", "-DCODE=0")
    found = rows(log)
    names = ("LC_ALL=C", "MADV_POPULATE: code", "MADV_POPULATE: data")
    together = [row for name, row in found.items() if sorted(name.split(" + ")) == sorted(names)]
    assert together, list(found)
    holds(together[0], log, built.run(program, "C"))


def test_a_log_without_touches_is_refused(built: Built, tmp_path: Path) -> None:
    """it says which option records what is missing"""
    log = built.run(built.program("fixed-", "-fno-pie", "-no-pie"))
    refused(
        f"{log}: does not say who touches which page; tlbgrind records that with --faults-touches=yes",
        "--what-if",
        log,
    )
