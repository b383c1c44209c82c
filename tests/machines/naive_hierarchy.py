# naive_hierarchy.py -- what a machine does to a reference, written from docs/machines.md alone.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Takes the lines that naive_reader.describe() makes of a machine file. Slow and simple."""

from __future__ import annotations

from dataclasses import dataclass, field

from machines.naive_reader import shift
from oracle.naive_tlb import Array, Key

USERS = {"f": "fetches", "l": "loads", "s": "stores"}


@dataclass
class NaiveArray:
    name: str
    level: int
    users: str
    sizes: list[int]
    splits: bool
    entries: int
    ways: int
    policy: str
    coalesces: int
    other: Array = field(init=False)  # of a policy that is not LRU
    times: list[dict[Key, int]] = field(init=False)

    def __post_init__(self) -> None:
        name, _, seed = self.policy.partition(":")
        self.other = Array(self.entries, self.ways, name, int(seed or 0))
        self.times = [{} for _ in range(self.entries // self.ways)]

    @classmethod
    def parse(cls, line: str) -> NaiveArray:
        words = [word.lstrip("?") for word in line.split()]
        _, name, level, users, entries, ways, pages, policy, _, larger, coalesces = words[:11]
        users = "fetches+loads+stores" if users == "all" else users
        sizes = sorted(shift(page) for page in pages.split("+"))
        number = int(entries) if ways == "full" else int(ways)
        return cls(name, int(level), users, sizes, larger == "split", int(entries), number, policy, int(coalesces))

    def entry_size(self, base: int, page: int, split: bool) -> int | None:
        """As an entry of which size a page of 2**page bytes may enter; nothing is smaller than a base page."""
        fitting = [size for size in self.sizes if base <= size <= page]
        return fitting[-1] if fitting and (split or fitting[-1] == page) else None

    def key(self, address: int, size: int) -> tuple[Key, dict[Key, int]]:
        page = address >> size
        return (size, page), self.times[page % len(self.times)]

    def hits(self, address: int, size: int, now: int) -> bool:
        """LRU only."""
        key, line = self.key(address, size)
        if key in line:
            line[key] = now
        return key in line

    def age(self, address: int, size: int) -> int:
        """When what would go was used last; 0 if there is room."""
        _, line = self.key(address, size)
        return min(line.values()) if len(line) == self.ways else 0

    def fill(self, address: int, size: int, now: int) -> None:
        key, line = self.key(address, size)
        if len(line) == self.ways:
            del line[min(line, key=lambda other: line[other])]
        line[key] = now


class Machine:
    def __init__(self, lines: list[str]) -> None:
        self.base = int(lines[0].split()[5])
        self.arrays = [NaiveArray.parse(line) for line in lines if line.startswith("array ")]
        self.now = 0

    def serving(self, user: str, level: int) -> list[NaiveArray]:
        return [each for each in self.arrays if each.level == level and USERS[user] in each.users.split("+")]

    def levels(self, user: str) -> list[int]:
        return [level for level in (1, 2, 3) if self.serving(user, level)]

    def entry(self, array: NaiveArray, size: int, page: int, block: int) -> int:
        """The base pages of a block may be one entry together."""
        return array.coalesces if page == self.base and page < array.coalesces <= block else size

    def candidates(self, user: str, level: int, page: int, block: int) -> list[tuple[NaiveArray, int]]:
        """Arrays that take the page whole; else those that split it; on the first level else any.

        Of those that split, the ones with the largest pieces.
        """
        serving = self.serving(user, level)
        first = level == self.levels(user)[0]
        for split, asked in ((False, serving), (True, [a for a in serving if a.splits]), (True, serving if first else [])):
            found = [(a, size) for a in asked if (size := a.entry_size(self.base, page, split)) is not None]
            if found:
                largest = max(size for _, size in found)
                return [(a, self.entry(a, size, page, block)) for a, size in found if size == largest]
        return []

    def reference(self, user: str, address: int, page: int, block: int) -> str:
        """A digit: bit l for a miss on level l + 1, bit 3 for a walk."""
        self.now += 1
        missed = 0
        for level in self.levels(user):
            arrays = self.candidates(user, level, page, block)
            if not arrays:
                continue
            if self.at_level(arrays, address):
                return f"{missed:x}"
            missed |= 1 << (level - 1)
        return f"{missed | 8:x}"

    def at_level(self, arrays: list[tuple[NaiveArray, int]], address: int) -> bool:
        if arrays[0][0].policy != "lru":
            ((array, size),) = arrays
            return array.other.reference(address >> size, size)
        if any(array.hits(address, size, self.now) for array, size in arrays):
            return True
        array, size = min(arrays, key=lambda each: each[0].age(address, each[1]))
        array.fill(address, size, self.now)
        return False
