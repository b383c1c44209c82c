# naive_reader.py -- another reader of machine files, for comparison with the simulator's.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads good machine files only, and prints what machinedrive.c prints, but for the notes."""

from __future__ import annotations

from collections.abc import Iterator

UNKNOWN = "unknown, assume "
UNITS = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}

Block = dict[str, list[str]]


def blocks(text: str) -> Iterator[Block]:
    """Lines of the file, cut where `array`, `walk`, `step`, `cache` and `memory` begin."""
    block: Block = {"head": [""]}
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        if not key or key.startswith("#") or key in ("tlbgrind-machine", "end"):
            continue
        if key in ("array", "walk", "step", "memory") or (key == "cache" and not ("step" in block and key not in block)):
            yield block
            block = {}
        block.setdefault(key, []).append(value.strip())
    yield block


def shift(size: str) -> int:
    return int(size[:-1]).bit_length() - 1 + UNITS[size[-1]]


def guess(value: str) -> str:
    """unknown, assume X becomes ?X."""
    return "?" + value[len(UNKNOWN) :].strip() if value.startswith(UNKNOWN) else value


def ways(block: Block) -> str:
    value = guess(block["ways"][0])
    return "?" * value.startswith("?") + "full" if value.lstrip("?") == entries(block) else value


def entries(block: Block) -> str:
    return guess(block["entries"][0]).lstrip("?")


def pages(block: Block) -> str:
    """In the order of their sizes, as they are printed."""
    value = guess(block["pages"][0])
    sizes = sorted(set(value.lstrip("?").split("+")), key=shift)
    return "?" * value.startswith("?") + "+".join(sizes)


def cycles(value: str) -> str:
    return "-" if value == "unknown" else guess(value)


def confidence(block: Block, default: str) -> str:
    return block.get("confidence", [default])[0].replace("measured", "M")


def threads(block: Block) -> str:
    number, _, sharing = block.get("threads", ["unknown"])[0].partition(" ")
    return f"{number.replace('unknown', '0')} {sharing.strip() or 'unknown'}"


def blocks_of(coalesces: str) -> str:
    """0, or PAGE:BLOCK joined by +, in the order of page sizes; page 0: base pages."""
    if coalesces == "no":
        return "0"
    pairs = [pair.rpartition(":") for pair in coalesces.split("+")]
    return "+".join(f"{page}:{block}" for page, block in sorted((shift(p) if p else 0, shift(b)) for p, _, b in pairs))


def array_line(block: Block) -> str:
    level = block["level"][0]
    return " ".join(
        [
            "array",
            block["array"][0],
            level,
            block["users"][0],
            guess(block["entries"][0]),
            ways(block),
            pages(block),
            guess(block.get("policy", ["unknown, assume lru"])[0]),
            cycles(block.get("hit-cycles", ["0" if level == "1" else "unknown"])[0]),
            guess(block.get("larger-pages", ["unknown, assume split"])[0]),
            blocks_of(block.get("coalesces", ["no"])[0]),
            threads(block),
            confidence(block, "-"),
            *(block["index"][0].split() if block.get("index", ["modulo"])[0] != "modulo" else []),
            *(["paired"] if block.get("paired") == ["yes"] else []),
            *(["wired", block["wired"][0]] if block.get("wired", ["0"])[0] != "0" else []),
            *inclusion(block),
            *overlap(block),
        ]
    )


def inclusion(block: Block) -> list[str]:
    value = block.get("inclusion", ["neither"])[0]
    return [] if value == "neither" else ["inclusion", value]


def overlap(block: Block) -> list[str]:
    value = block.get("overlap", ["unknown"])[0]
    if value == "unknown":
        return []
    return ["overlap", guess(value) + ".0" * ("." not in value)]


def size(value: str) -> str:
    number = value.lstrip("?")
    unit = {"K": 1 << 10, "M": 1 << 20}.get(number[-1], 1)
    return "?" * value.startswith("?") + str(int(number.rstrip("KM")) * unit)


def cache_line(block: Block, first: bool) -> str:
    return " ".join(
        [
            "cache",
            block["cache"][0],
            size(guess(block["size"][0])),
            block.get("line", ["64"])[0],
            guess(block.get("ways", ["?16"])[0]),
            guess(block.get("share", ["?50%"])[0]),
            *([] if first else [cycles(block["cycles"][0])]),
            confidence(block, "-"),
        ]
    )


def last_lines(blocks: list[Block]) -> list[str]:
    """Caches and the memory, which stand behind the steps wherever they are in the file."""
    lines = []
    for i, block in enumerate(blocks):
        if "memory" in block:
            lines.append(f"memory {cycles(block['cycles'][0])} {confidence(block, '-')}")
        else:
            lines.append(cache_line(block, i == 0))
        lines.append(f"source {'; '.join(block.get('source', []))}")
    return lines


def step_line(block: Block) -> str:
    words = ["step", str(shift(block["step"][0])), guess(block["cache"][0])]
    if words[-1] == "own":
        words += [entries(block), ways(block), guess(block["policy"][0])]
    if block.get("cycles", ["0"])[0] != "0":
        words += ["cycles", block["cycles"][0]]
    return " ".join(words)


def describe(text: str) -> list[str]:
    head, *rest = blocks(text)
    year = head.get("year", ["unknown"])[0].replace("unknown", "0")
    levels = max(int(block["level"][0]) for block in rest if "array" in block)
    base = shift(head["base-page"][0])
    lines = [
        f"machine {head['name'][0]} {head['isa'][0]} {year} {confidence(head, 'C')} {base} {levels}",
        f"title {head['title'][0]}",
        f"source {'; '.join(head.get('source', []))}",
    ]
    last = [block for block in rest if "memory" in block or ("cache" in block and "step" not in block)]
    for block in rest:
        if block in last:
            continue
        if "array" in block:
            lines.append(array_line(block))
        elif "walk" in block:
            lines.append(f"walk {block['walk'][0]} {cycles(block.get('cycles', ['unknown'])[0])}")
        else:
            lines.append(step_line(block))
        lines.append(f"source {'; '.join(block.get('source', []))}")
        if "walk" in block and (overlap(block) or "entry-bytes" in block):
            lines.append(" ".join(["walks", *overlap(block), block.get("entry-bytes", ["8"])[0]]))
        if "walk" in block and "window" in block:
            lines.append(f"window {guess(block['window'][0])}")
        if "walk" in block and "nested" in block:
            lines.append(f"nested {shift(block['nested'][0])}")
    return lines + last_lines(last)
