# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A check says whether a binary follows an order."""

from __future__ import annotations

from pathlib import Path

from order_support import (
    Spread,
    compiled,
    good,
    linked,
    recorded,
    refused,
    row,
    run,
)


def test_a_program_in_another_order_does_not_pass(program: Spread) -> None:
    for arguments in ([program.entries], [f"--order={program.folder / 'names'}"]):
        good(program.folder, f"--names={program.folder / 'names'}", program.entries)
        result = run(program.folder, f"--check={program.program}", *arguments)
        assert (result.status, result.err) == (2, "")
        assert "The binary does NOT follow the order" in result.out
        assert "-ffunction-sections" in result.out


def test_the_names_of_one_function_are_checked_as_one(tmp_path: Path) -> None:
    """Aliases lie at one address; a name without its suffix is not there."""
    lines = ["volatile int sink;"]
    for n in range(12):
        name = f"f{n}" + (".isra.0.constprop.0" if n % 2 else "")
        lines.append(f'void f{n}(void) __asm__("{name}"); void f{n}(void) {{ sink += {n}; }}')
        lines.append(f'void g{n}(void) __attribute__((alias("{name}")));')
    calls = [5, 3, 9, 1, 7, 0, 2, 4, 8, 6]
    lines.append("int main(void) {" + "".join(f"f{n}();" for n in calls) + "return 0; }")
    source = compiled(tmp_path, "s", "\n".join(lines) + "\n", "-ffunction-sections")
    program = linked(tmp_path, "prog", [source])
    entries = recorded(tmp_path, program)
    good(tmp_path, "--bfd-script=order.ld", "--lld=names", "--gold=sections", "--bolt=bolt", entries)
    names = (tmp_path / "names").read_text().split()
    assert {"f0", "g0", "f5.isra.0.constprop.0", "f5.isra.0", "f5", "g5"} <= set(names)
    again = linked(tmp_path, "again", [source], "-Wl,-T,order.ld")
    for order in ("order.ld", "names", "sections", "bolt"):
        text = good(tmp_path, f"--check={again}", f"--order={order}")
        assert "The binary follows the order: 100.0% of neighbours" in text
        assert row(text, "checked")["functions"] == "11"
        assert "Not in this binary" not in text
        result = run(tmp_path, f"--check={program}", f"--order={order}")
        assert result.status == 2 and "does NOT follow" in result.out
    # What is not there at all is missed once, not with each of its names.
    (tmp_path / "more").write_text("\n".join([*names, "h.isra.0.constprop.0", "h.isra.0", "h"]) + "\n")
    text = good(tmp_path, f"--check={again}", "--order=more")
    assert "Not in this binary: 1 of 12 functions (8.3%): h.isra.0.constprop.0\n" in text


def test_a_check_of_a_binary_with_other_functions_is_refused(tmp_path: Path, program: Spread) -> None:
    source = "int main(void) { return 0; }\n"
    other = linked(tmp_path, "other", [compiled(tmp_path, "o", source)])
    refused(
        tmp_path,
        f"{other}: 8 of the 9 functions of the order are not in it: the order is for another binary",
        f"--check={other}",
        program.entries,
    )


def test_broken_ordering_files_are_refused(tmp_path: Path, program: Spread) -> None:
    for text, complaint in (
        (b"f1\nf2 f3\n", "order:2: more than one name: 'f2 f3'"),
        (b"# nothing\n", "order: it names no function"),
        (b"f1\0f2\n", "order: not an ordering file: it holds bytes of 0"),
    ):
        (tmp_path / "order").write_bytes(text)
        refused(tmp_path, complaint, f"--check={program.program}", "--order=order")
