# naive_machine.py -- what a machine does to a reference, written from docs/machines.md and reference.md alone.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Which array of which level a page goes to: no tables, no short cuts, no speed.  The sets of an
array are those of oracle/naive_tlb.py.  Machines are made here, and written as machine files
(model/test_properties.py), or are the files that naive_reader.py has read (machines/test_streams.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from machines.naive_reader import shift as shift_of
from oracle.naive_tlb import Array as Sets
from oracle.naive_tlb import Generator, Key, Lru, Random, Set, Slots

# How many lines the tables of one kind begin behind those of the kind before, and how many steps there can be.
KINDS_APART, MOST_STEPS = 37, 6

USERS = {"f": "fetches", "l": "loads", "s": "stores"}


def size(shift: int) -> str:
    """12 is "4K"."""
    unit, letter = max((bits, letter) for bits, letter in ((10, "K"), (20, "M"), (30, "G")) if bits <= shift)
    return f"{1 << (shift - unit)}{letter}"


def upper_end(cycles: str) -> int | None:
    """Of "7", "5..7" or "?5..7": what is counted; "-" is unknown."""
    return None if cycles == "-" else int(cycles.lstrip("?").rpartition("..")[2])


@dataclass
class Array:
    level: int
    users: str  # some of f, l, s
    entries: int
    ways: int
    policy: str = "lru"  # as a machine file has it
    pages: tuple[int, ...] = (12,)
    splits: bool = False
    coalesces: dict[int, int] = field(default_factory=dict)  # block by page size; 0: of base pages
    hit_cycles: int | None = None
    index_xor: int = 0
    paired: bool = False
    wired: int = 0  # beside `entries`
    inclusion: str = "neither"

    @classmethod
    def described(cls, line: str) -> Array:
        """From a line that naive_reader.describe() made; what is assumed is taken."""
        words = [word.lstrip("?") for word in line.split()]
        _, _, level, users, entries, ways, pages, policy, cycles, larger, coalesces = words[:11]
        wired = int(words[words.index("wired") + 1]) if "wired" in words else 0
        return cls(
            int(level),
            "".join(user for user, word in USERS.items() if users == "all" or word in users.split("+")),
            int(entries) - wired,
            int(entries) - wired if ways == "full" else int(ways),
            policy,
            tuple(sorted(shift_of(page) for page in pages.split("+"))),
            larger == "split",
            {} if coalesces == "0" else {int(page): int(block) for page, block in
                                         (pair.split(":") for pair in coalesces.split("+"))},
            upper_end(cycles),
            int(words[words.index("xor") + 1]) if "xor" in words else 0,
            "paired" in words,
            wired,
            words[words.index("inclusion") + 1] if "inclusion" in words else "neither",
        )

    def text(self, name: str) -> str:
        users = "all" if set(self.users) == set("fls") else "+".join(USERS[user] for user in self.users)
        lines = [
            f"array {name}",
            f"level {self.level}",
            f"users {users}",
            f"entries {self.entries + self.wired}",
            f"ways {'full' if self.ways == self.entries else self.ways}",
            f"pages {'+'.join(size(shift) for shift in self.pages)}",
            f"larger-pages {'split' if self.splits else 'bypass'}",
            f"policy {self.policy}",
            "threads 1",
        ]
        if self.index_xor:
            lines.append(f"index xor {self.index_xor}")
        if self.coalesces:
            blocks = [(f"{size(page)}:" if page else "") + size(block) for page, block in self.coalesces.items()]
            lines.append(f"coalesces {'+'.join(blocks)}")
        if self.paired:
            lines.append("paired yes")
        if self.wired:
            lines.append(f"wired {self.wired}")
        if self.inclusion != "neither":
            lines.append(f"inclusion {self.inclusion}")
        if self.level > 1:
            lines.append(f"hit-cycles {'unknown' if self.hit_cycles is None else self.hit_cycles}")
        return "\n".join(lines)


@dataclass
class Step:
    """Of a walk. `cache` is as a machine file has it; those of their own have a geometry."""

    shift: int
    cache: str = "none"
    entries: int = 0
    ways: int = 0
    policy: str = "lru"
    cycles: int = 0  # of the walk's

    @classmethod
    def described(cls, line: str) -> Step:
        words = [word.lstrip("?") for word in line.split()]
        cycles = 0
        if words[-2] == "cycles":
            cycles = int(words.pop())
            words.pop()
        _, shift, cache, *geometry = words
        if not geometry:
            return cls(int(shift), cache, cycles=cycles)
        entries, ways, policy = geometry
        return cls(int(shift), cache, int(entries), int(entries if ways == "full" else ways), policy, cycles)

    def text(self) -> str:
        lines = [f"step {size(self.shift)}", f"cache {self.cache}"]
        if self.cache == "own":
            lines += [f"entries {self.entries}", f"ways {self.ways}", f"policy {self.policy}"]
        if self.cycles:
            lines.append(f"cycles {self.cycles}")
        return "\n".join(lines)


@dataclass
class Cache:
    """Of page tables: those of the program's data in it have the rest."""

    size: int
    ways: int
    cycles: int
    line: int = 64
    share: int = 50  # per cent

    @classmethod
    def described(cls, line: str) -> Cache:
        words = [word.lstrip("?") for word in line.split()]
        cycles = upper_end(words[6]) if len(words) > 7 else 0
        return cls(int(words[2]), int(words[4]), cycles or 0, int(words[3]), int(words[5].rstrip("%")))

    def text(self, number: int) -> str:
        lines = [f"cache C{number}", f"size {self.size}", f"line {self.line}", f"ways {self.ways}", f"share {self.share}%"]
        return "\n".join(lines + [f"cycles {self.cycles}"] * (number > 0))

    def sets(self) -> int:
        return max(1, self.size * self.share // 100 // self.line // self.ways)


@dataclass
class Machine:
    arrays: list[Array]
    base: int = 12
    walk_cycles: int | None = None
    steps: list[Step] = field(default_factory=list)
    software: bool = False
    caches: list[Cache] = field(default_factory=list)
    memory: int = 0
    entry_bytes: int = 8
    host: int | None = None  # it is a guest on pages of that size

    @classmethod
    def described(cls, lines: list[str]) -> Machine:
        """From the lines of naive_reader.describe()."""
        memory = next((line.split()[1] for line in lines if line.startswith("memory ")), "0")
        walks = next((line.split() for line in lines if line.startswith("walks ")), ["8"])
        walk = next((line.split() for line in lines if line.startswith("walk ")), ["walk", "hardware", "-"])
        return cls(
            [Array.described(line) for line in lines if line.startswith("array ")],
            int(lines[0].split()[5]),
            walk_cycles=upper_end(walk[2]),
            steps=[Step.described(line) for line in lines if line.startswith("step ")],
            software=walk[1] == "software",
            caches=[Cache.described(line) for line in lines if line.startswith("cache ")],
            memory=upper_end(memory) or 0,
            entry_bytes=int(walks[-1]),
            host=next((int(line.split()[1]) for line in lines if line.startswith("nested ")), None),
        )

    def text(self) -> str:
        head = ["tlbgrind-machine 1", "name random", "title random", "isa none", "year 2000", "confidence C",
                f"base-page {size(self.base)}"]
        body = [array.text(f"A{number}") for number, array in enumerate(self.arrays)]
        walk: list[str] = []
        if self.walk_cycles is not None or self.steps or self.software:
            walk.append(f"walk {'software' if self.software else 'hardware'}")
            walk.append(f"cycles {'unknown' if self.walk_cycles is None else self.walk_cycles}")
            walk.append(f"entry-bytes {self.entry_bytes}")
            walk += [f"nested {size(self.host)}"] if self.host is not None else []
        walk += [step.text() for step in self.steps]
        walk += [cache.text(number) for number, cache in enumerate(self.caches)]
        if self.caches:
            walk += ["memory", f"cycles {self.memory}"]
        return "\n".join([*head, *body, *walk, "end", ""])

    def levels(self) -> int:
        return max(array.level for array in self.arrays)

    def keeps_steps(self) -> int | None:
        """The array, by number, for entries of steps that are in the last level: of those for loads the one with the
        smallest pages. None: that array is asked first by some references, or has pairs, and so can not."""
        last = [n for n, array in enumerate(self.arrays) if array.level == self.levels() and "l" in array.users]
        if not last:
            return None
        chosen = min(last, key=lambda n: min(self.arrays[n].pages))
        if self.arrays[chosen].paired:
            return None
        for user in self.arrays[chosen].users:
            if min(array.level for array in self.arrays if user in array.users) == self.levels():
                return None
        return chosen


def leaves(s: Set) -> Key | None:
    """The key that the set gives up for a new one; None if it has a free place."""
    if isinstance(s, Lru):
        return s.order[0] if len(s.order) == s.ways else None
    assert isinstance(s, Slots)
    if None in s.slot:
        return None
    if isinstance(s, Random):
        return s.slot[Generator(s.generator.state).below(len(s.slot))]
    return s.slot[s.victim()]


def holds(s: Set, key: Key) -> bool:
    return key in s.held()


@dataclass
class Naive:
    """A machine at work."""

    machine: Machine
    nested: bool = False
    sets: list[Sets] = field(default_factory=list)
    caches: list[Sets | None] = field(default_factory=list)  # of the steps of walks
    last: dict[tuple[int, Key], int] = field(default_factory=dict)
    halves: dict[tuple[int, Key], set[int]] = field(default_factory=dict)  # of pairs that have an entry
    on_their_way: dict[int, tuple[int, Key]] = field(default_factory=dict)  # by level, what it has evicted, and where
    now: int = 0
    cycles: int = 0
    references: int = 0  # of walks
    # Of each cache of tables, by set: the lines in it, the one that was used last at the end.
    lines: dict[tuple[int, int], list[tuple[object, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_guest = self.nested or self.machine.host is not None
        for array in self.machine.arrays:
            self.sets.append(self.new(array))
        nearest: Sets | None = None
        for step in self.machine.steps:
            if step.cache == "own":
                nearest = self.new(step)
            kept_in = self.machine.keeps_steps() if step.cache == "in-last-level" else None
            self.caches.append(
                None if step.cache == "none" else nearest if kept_in is None else self.sets[kept_in]
            )

    @staticmethod
    def new(what: Array | Step) -> Sets:
        name, _, seed = what.policy.partition(":")
        index_xor = what.index_xor if isinstance(what, Array) else 0
        return Sets(what.entries, what.ways, name, int(seed or 0), index_xor)

    def largest(self, array: Array, page_shift: int) -> int:
        """What the array holds of a page: the page, or pieces of it."""
        return max(shift for shift in array.pages if shift <= page_shift)

    def piece(self, array: Array, page_shift: int, block_shift: int) -> int:
        """Of which size the entry is that a page becomes in the array.

        The pages of a block may be one together, and so may the pieces of a page that holds their block.
        """
        whole = self.largest(array, page_shift)
        of_base = array.coalesces.get(0, 0) if whole == self.machine.base else 0
        block = array.coalesces.get(whole, of_base)
        return block if whole < block <= max(page_shift, block_shift) else whole

    def takers(self, level: int, user: str, page_shift: int, is_first: bool) -> list[int]:
        """The arrays of a level that a page goes to, by number.

        Those that take it whole; else those that split it; on the first level else any. Of those that
        split it, the ones with the largest pieces; none smaller than a base page.
        """
        asked = [
            number
            for number, array in enumerate(self.machine.arrays)
            if array.level == level
            and user in array.users
            and any(self.machine.base <= shift <= page_shift for shift in array.pages)
        ]
        whole = [number for number in asked if page_shift in self.machine.arrays[number].pages]
        if whole:
            return whole
        cutting = [number for number in asked if self.machine.arrays[number].splits] or (asked if is_first else [])
        pieces = [self.largest(self.machine.arrays[number], page_shift) for number in cutting]
        return [number for number, piece in zip(cutting, pieces) if piece == max(pieces)]

    def walk(self, page: int, context: int, page_shift: int) -> None:
        """Reads the page table from below the deepest entry that is kept, and keeps what leads on."""
        steps = self.machine.steps
        if self.machine.software:
            self.references += 1
        if self.machine.software or not steps:
            return
        end = next(n for n, step in enumerate(steps) if step.shift <= page_shift or n + 1 == len(steps))
        first = end
        while first > 0 and not self.keeps(first - 1, page, context):
            first -= 1
        for n in range(first, end):
            self.keep(n, page, context)
        self.read_tables(page << self.machine.base, context, first, end)
        guest, host = end - first + 1, len(steps) if self.is_guest else 0
        self.references += guest + (guest + 1) * host
        self.cycles -= sum(step.cycles for step in steps[end + 1 :])  # which it does not take
        if self.nested and self.machine.host is None:
            # The host walks for each entry of the guest's tables, and for the page.
            self.cycles += (guest + 1) * (self.machine.walk_cycles or 0)

    def read_tables(self, address: int, context: int, first: int, end: int) -> None:
        """What the references cost: the guest's, each behind a walk of the host, which walks for the page at last."""
        if self.machine.walk_cycles is None:
            return
        for n in range(first, end + 1):
            entry = address >> self.machine.steps[n].shift
            self.read_host(3 + n, entry * self.machine.entry_bytes, context)
            self.read(n, context, entry, self.machine.entry_bytes)
        self.read_host(1, address, context)
        before = self.cycles
        self.read(3 * MOST_STEPS, context, address >> self.machine.base, None, "program")
        self.cycles = before  # the program waits for its own line, walk or not

    def read_host(self, walk: int, address: int, context: int) -> None:
        """Each entry of the host's tables has a line of its own. walk: 1 for the page, from 3 on for a guest's table."""
        for n, step in enumerate(self.machine.steps if self.is_guest else []):
            self.read(walk * MOST_STEPS + n, context, address >> step.shift, None)

    def read(self, kind: int, context: int, entry: int, entry_bytes: int | None, name: str = "table") -> None:
        """An entry's line, of one kind: each kind begins KINDS_APART lines behind the last."""
        for number, cache in enumerate(self.machine.caches):
            line = entry if entry_bytes is None else entry * entry_bytes // cache.line
            lines = self.lines.setdefault((number, (line + KINDS_APART * kind) % cache.sets()), [])
            whose = (kind, context, name)
            found = (whose, line) in lines
            if found:
                lines.remove((whose, line))
            lines.append((whose, line))
            if found:
                self.cycles += cache.cycles
                return
            if len(lines) > cache.ways:
                del lines[0]
        if self.machine.caches:
            self.cycles += self.machine.memory

    def entry(self, n: int, page: int, context: int) -> tuple[Set, Key] | None:
        """The set for the entry of step n, and what it is there."""
        cache = self.caches[n]
        if cache is None:
            return None
        part = (page << self.machine.base) >> self.machine.steps[n].shift
        return cache.set_of(part), (context, -1 - n, part)

    def keeps(self, n: int, page: int, context: int) -> bool:
        """Whether the entry is there; then it has been used."""
        found = self.entry(n, page, context)
        if found is None or not holds(*found):
            return False
        self.keep(n, page, context)
        return True

    def keep(self, n: int, page: int, context: int) -> None:
        found = self.entry(n, page, context)
        if found is None:
            return
        kept_in = self.machine.keeps_steps()
        in_last = kept_in is not None and self.machine.steps[n].cache == "in-last-level"
        goes = None if holds(*found) else leaves(found[0])
        found[0].reference(found[1])
        if in_last and kept_in is not None:
            self.last[kept_in, found[1]] = self.now - 1
            self.see_off(kept_in, goes)

    # --- Inclusive and exclusive levels ---

    def bytes_of(self, key: Key) -> range:
        """Which base pages an entry covers."""
        _, shift, part = key
        pages = 1 << (shift - self.machine.base) if shift >= self.machine.base else 1
        return range(part * pages, (part + 1) * pages)

    def drop(self, number: int, context: int, gone: range) -> None:
        """All that the array has of these pages; of a pair only what meets them."""
        array = self.machine.arrays[number]
        for where in self.sets[number].sets:
            for key in where.held():
                if key[1] < 0 or key[0] != context:
                    continue
                halves = self.halves[number, key] if array.paired else {0}
                for half in sorted(halves):
                    page = (key[0], key[1], 2 * key[2] + half) if array.paired else key
                    covered = self.bytes_of(page)
                    if covered.start < gone.stop and gone.start < covered.stop:
                        halves = halves - {half}
                if array.paired:
                    self.halves[number, key] = halves
                if not halves:
                    where.remove(key)

    def see_off(self, number: int, key: Key | None) -> None:
        """An array has evicted a translation, if it is one."""
        array = self.machine.arrays[number]
        if key is None or key[1] < 0:
            return
        halves = self.halves[number, key] if array.paired else {0}
        for half in sorted(halves):
            page = (key[0], key[1], 2 * key[2] + half) if array.paired else key
            for other, in_front in enumerate(self.machine.arrays):
                if (
                    array.inclusion == "inclusive"
                    and in_front.level < array.level
                    and set(in_front.users) & set(array.users)
                ):
                    self.drop(other, page[0], self.bytes_of(page))
            self.on_their_way[array.level] = (number, page)

    def move_on(self) -> None:
        """What has left a level goes to an exclusive one behind it, as the entry that it was."""
        for level in range(1, self.machine.levels() + 1):
            number, key = self.on_their_way.pop(level, (0, None))
            takers = [
                other
                for other, array in enumerate(self.machine.arrays)
                if key is not None
                and array.inclusion == "exclusive"
                and array.level == level + 1
                and set(array.users) & set(self.machine.arrays[number].users)
                and (key[1] in array.pages or key[1] in array.coalesces.values())
            ]
            if key is None or not takers:
                continue
            places = [(other, self.sets[other].set_of(key[2])) for other in takers]
            having = [place for place in places if holds(place[1], key)]

            def age(place: tuple[int, Set], key: Key = key) -> int:
                victim = leaves(place[1])
                return 0 if victim is None else self.last[place[0], victim]

            other, where = having[0] if having else min(places, key=age)
            goes = None if having else leaves(where)
            where.reference(key)
            self.last[other, key] = self.now
            self.see_off(other, goes)

    def ask(
        self, numbers: list[int], page: int, context: int, page_shift: int, block_shift: int, walks: bool = False
    ) -> int | None:
        """The array that had it; if none had, one of them has it now, behind a walk if it `walks` for it."""
        places: list[tuple[int, Set, Key]] = []
        for number in numbers:
            array = self.machine.arrays[number]
            shift = self.piece(array, page_shift, block_shift)
            part = page >> (shift - self.machine.base)
            if array.paired:
                part //= 2
            places.append((number, self.sets[number].set_of(part), (context, shift, part)))

        def half(place: tuple[int, Set, Key]) -> int:
            """Which page of a pair; of entries that are single there is one."""
            number, shift = place[0], place[2][1]
            return (page >> (shift - self.machine.base)) % 2 if self.machine.arrays[number].paired else 0

        def has(place: tuple[int, Set, Key]) -> bool:
            number, where, key = place
            paired = self.machine.arrays[number].paired
            return holds(where, key) and (not paired or half(place) in self.halves[number, key])

        found = [place for place in places if has(place)]
        if found:
            place = found[0]
        else:
            if walks:
                self.walk(page, context, page_shift)

            # The array that evicts the entry referenced longest ago; before all one that evicts nothing: it has a free
            # place, or the entry of the pair.
            def age(place: tuple[int, Set, Key]) -> int:
                victim = None if holds(place[1], place[2]) else leaves(place[1])
                return 0 if victim is None else self.last[place[0], victim]

            exclusive = self.machine.arrays[numbers[0]].inclusion == "exclusive"
            if walks:
                self.move_on()
            if exclusive:
                return None
            place = min(places, key=age)
            goes = None if holds(place[1], place[2]) else leaves(place[1])
            if not holds(place[1], place[2]):
                self.halves[place[0], place[2]] = set()
            self.halves[place[0], place[2]].add(half(place))
        number, where, key = place
        where.reference(key)
        self.last[number, key] = self.now
        if not found:
            self.see_off(number, goes)
            return None
        if self.machine.arrays[number].inclusion == "exclusive":
            where.remove(key)
        return number

    def translate(
        self, user: str, page: int, context: int, page_shift: int, block_shift: int
    ) -> tuple[list[int], bool]:
        """The levels that missed, from 0, and whether all did: then it walks."""
        self.now += 2
        self.on_their_way.clear()
        missed: list[int] = []
        walked = False
        mine = sorted({array.level for array in self.machine.arrays if user in array.users})
        for level in mine:
            numbers = self.takers(level, user, page_shift, level == mine[0])
            if not numbers:
                continue
            walks = level == self.machine.levels()
            hit = self.ask(numbers, page, context, page_shift, block_shift, walks)
            if hit is None:
                missed.append(level - 1)
                walked |= walks
                continue
            if missed:
                self.cycles += self.machine.arrays[hit].hit_cycles or 0
            self.move_on()
            return missed, False
        if not walked:
            self.walk(page, context, page_shift)
            self.move_on()
        self.cycles += self.machine.walk_cycles or 0
        return missed, True
