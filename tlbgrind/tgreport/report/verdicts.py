# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says in a page's first lines whether there is anything to win, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from ..formats.share import Told, told_by
from ..formats.verdicts import NOTHING_TO_WIN, is_much, look
from .advised import Advised
from .costs import Machine


def verdicts(
    machines: Sequence[Machine], advised: Advised, has_data: bool
) -> list[list[dict[str, object]]]:
    """For each machine: what is so, and commands or words of what to do."""
    return [_of(machine, advised, has_data) for machine in machines]


def _said(what: str, *how: str, commands: Sequence[str] = ()) -> dict[str, object]:
    return {"what": what, "how": list(how), "commands": list(commands)}


def _of(machine: Machine, advised: Advised, has_data: bool) -> list[dict[str, object]]:
    share = told_by(machine.out)
    found = [_of_share(share)]
    is_worth_a_look = share is None or look(share.least, share.most) != NOTHING_TO_WIN
    known = next((each for each in advised.page if each["machine"] == machine.name), None)
    if known is not None:
        found += _of_advice(known["verdicts"])
    elif is_worth_a_look and not advised.page:
        found.append(_next("Would huge pages pay?", machine, "--advice=2M"))
    if is_worth_a_look and not has_data:
        found.append(_next("Which data is it?", machine, "--data=yes"))
    return found


def _of_share(share: Told | None) -> dict[str, object]:
    if share is None:
        return _said(
            "What misses cost on this machine is unknown",
            "Judge by page walks per 1000 instructions: below 0.1 there is nothing to win.",
        )
    word = look(share.least, share.most)
    how = []
    if word == NOTHING_TO_WIN:
        how.append("Look for the time elsewhere.")
    elif is_much(share.most) and not share.basis.startswith("of "):
        how.append("The native run's cycles (--cycles=) make the range smaller.")
    return _said(word[0].upper() + word[1:], *how)


def _of_advice(lines: object) -> list[dict[str, object]]:
    """tg_annotate's verdicts, a paragraph each: the lines that are set in belong to the one before."""
    found: list[list[str]] = []
    for line in lines if isinstance(lines, list) else []:
        if line.startswith(" ") and found:
            found[-1].append(line.strip())
        else:
            found.append([line])
    return [_said(first.rstrip(":"), " ".join(rest)) for first, *rest in found]


def _next(question: str, machine: Machine, option: str) -> dict[str, object]:
    return _said(question, commands=[f"tlbgrind --machine={machine.name} {option} {machine.out.command}"])
