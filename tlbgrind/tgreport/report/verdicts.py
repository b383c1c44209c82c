# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says in a page's first lines whether there is anything to win, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from .advised import Advised
from .costs import Machine
from .share import Share, share_of

# Shares of time in per cent, as docs/is-it-a-lot.md has them.
NOTHING = 1.0
FREE = 5.0
MUCH = 20.0


def verdicts(
    machines: Sequence[Machine], advised: Advised, has_data: bool
) -> list[list[dict[str, object]]]:
    """For each machine: what is so, and commands or words of what to do."""
    return [_of(machine, advised, has_data) for machine in machines]


def _said(what: str, *how: str, commands: Sequence[str] = ()) -> dict[str, object]:
    return {"what": what, "how": list(how), "commands": list(commands)}


def _of(machine: Machine, advised: Advised, has_data: bool) -> list[dict[str, object]]:
    share = share_of(machine.out)
    found = [_of_share(share)]
    is_worth_a_look = share.high is None or share.high >= NOTHING
    known = next((each for each in advised.page if each["machine"] == machine.name), None)
    if known is not None:
        found += _of_advice(known["verdicts"])
    elif is_worth_a_look and not advised.page:
        found.append(_next("Would huge pages pay?", machine, "--advice=2M"))
    if is_worth_a_look and not has_data:
        found.append(_next("Which data is it?", machine, "--data=yes"))
    return found


def _of_share(share: Share) -> dict[str, object]:
    """By the upper end where there is little: the least that can be said for sure is that there is
    no more. By the lower end where there is much."""
    if share.low is None or share.high is None:
        return _said(
            "What misses cost on this machine is unknown",
            "Judge by page walks per 1000 instructions: below 0.1 there is nothing to win.",
        )
    if share.high < NOTHING:
        return _said("Nothing to win (below 1%)", "Look for the time elsewhere.")
    if share.high < FREE:
        return _said("Worth what is free, such as transparent huge pages (below 5%)")
    how = []
    if share.high >= MUCH and not share.basis.startswith("of "):
        how.append("The native run's cycles (--cycles=) make the range smaller.")
    return _said(f"{'Worth' if share.low >= FREE else 'May be worth'} a look (5% or more)", *how)


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
