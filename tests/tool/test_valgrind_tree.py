# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make valgrind-tree: the folder is complete, and entered once in each file that lists the tools.

That it builds and passes inside Valgrind is tried by hand: CONTRIBUTING.md.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

BUILD = Path(os.environ["TG_BUILDDIR"])

# Of Valgrind's files, the lines among which ours belong.
TREE = {
    "Makefile.tool.am": "",
    "configure.ac": "AC_CONFIG_FILES([\n   dhat/Makefile\n   lackey/Makefile\n   lackey/tests/Makefile\n   none/Makefile\n])\n",
    "Makefile.am": "TOOLS = \\\n\t\tdhat \\\n\t\tlackey \\\n\t\tnone\n",
    "docs/xml/manual.xml": '<book>\n  <xi:include href="../../lackey/docs/lk-manual.xml" parse="xml"  \n      xmlns:xi="XI" />\n</book>\n',
}


def tree(at: Path) -> Path:
    for name, text in TREE.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text, encoding="ascii")
    return at


def lay_out(at: Path | str) -> tuple[int, str]:
    done = subprocess.run(["make", "-s", "valgrind-tree", f"DIR={at}"], cwd=BUILD, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def everything(at: Path) -> dict[str, bytes]:
    return {str(path.relative_to(at)): path.read_bytes() for path in at.rglob("*") if path.is_file()}


def test_a_folder_of_valgrind(tmp_path: Path) -> None:
    at = tree(tmp_path)
    assert lay_out(at) == (0, "")
    ours = at / "tlbgrind"
    made = (ours / "Makefile.am").read_text(encoding="ascii")
    listed = set(re.findall(r"^\t([\w/.-]+\.[ch])\b", made, re.MULTILINE)) | {"tlbgrind.h", "arch/amd64.c", "arch/x86.c"}
    there = {str(path.relative_to(ours)) for path in ours.rglob("*.[ch]") if path.parent.name != "tests"}
    assert listed == there
    assert "tool/main.c" in listed
    # What is included is there, or Valgrind's.
    for name in there:
        text = (ours / name).read_text(encoding="utf-8")
        for included in re.findall(r'^#include "([^"]+/[^"]+)"', text, re.MULTILINE):
            assert (ours / included).exists(), f"{name} includes {included}"
    assert "tlbgrind" not in (at / "Makefile.tool.am").read_text(encoding="ascii")
    entered = [(at / name).read_text(encoding="ascii") for name in ("configure.ac", "Makefile.am", "docs/xml/manual.xml")]
    assert "   lackey/tests/Makefile\n   tlbgrind/Makefile\n   tlbgrind/tests/Makefile\n   none" in entered[0]
    assert "\t\tlackey \\\n\t\ttlbgrind \\\n\t\tnone" in entered[1]
    assert entered[2].count("<xi:include") == entered[2].count("/>") == 2
    tests = (ours / "tests" / "Makefile.am").read_text(encoding="ascii")
    for test in (ours / "tests").glob("*.vgtest"):
        for kind in ("vgtest", "stderr.exp", "post.exp"):
            assert f"{test.stem}.{kind}" in tests
            assert test.with_suffix(f".{kind}").exists()


def test_once_more_changes_nothing_but_takes_away_what_is_gone(tmp_path: Path) -> None:
    at = tree(tmp_path)
    assert lay_out(at)[0] == 0
    before = everything(at)
    (at / "tlbgrind" / "tool" / "gone.c").write_text("", encoding="ascii")
    assert lay_out(at) == (0, "")
    assert everything(at) == before


def test_no_tree_of_valgrind(tmp_path: Path) -> None:
    status, said = lay_out(tmp_path)
    assert status == 2
    assert said.startswith(f"valgrind-tree: {tmp_path}: no source tree of Valgrind (no configure.ac, no Makefile.tool.am)\n")
    status, said = lay_out("")
    assert said.startswith("valgrind-tree: DIR: no source tree of Valgrind")
    assert everything(tmp_path) == {}
