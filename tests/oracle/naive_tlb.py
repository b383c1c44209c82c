# naive_tlb.py -- translation arrays, written from the definitions of their policies only.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A second simulator to compare the first with: no shared code, no cleverness, no speed.

Where the simulator keeps times, this keeps what the words say: a list in order of use, a queue, a
tree of bits, used bits.  A key is (context, page); the page alone chooses the set.
"""

from __future__ import annotations

from typing import Protocol

Key = tuple[int, ...]


class Set(Protocol):
    def reference(self, key: Key) -> bool:
        """Returns whether the key is there; if not, it is from now on."""

    def remove(self, key: Key) -> None:
        """A key that is there goes."""

    def held(self) -> list[Key]:
        """All that are there."""


class Lru:
    """A list, the key used last at its end."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        self.order: list[Key] = []

    def reference(self, key: Key) -> bool:
        hit = key in self.order
        if hit:
            self.order.remove(key)
        elif len(self.order) == self.ways:
            del self.order[0]
        self.order.append(key)
        return hit

    def remove(self, key: Key) -> None:
        self.order.remove(key)

    def held(self) -> list[Key]:
        return list(self.order)


class Slots:
    """Ways with numbers: a free one is taken first, the lowest of them."""

    def __init__(self, ways: int) -> None:
        self.slot: list[Key | None] = [None] * ways

    def reference(self, key: Key) -> bool:
        hit = key in self.slot
        if hit:
            way = self.slot.index(key)
        elif None in self.slot:
            way = self.slot.index(None)
        else:
            way = self.victim()
            self.evicted()
        if not hit:
            self.slot[way] = key
            self.filled(way)
        self.touched(way)
        return hit

    def remove(self, key: Key) -> None:
        way = self.slot.index(key)
        self.slot[way] = None
        self.filled(way)

    def held(self) -> list[Key]:
        return [key for key in self.slot if key is not None]

    def victim(self) -> int:
        raise NotImplementedError

    def evicted(self) -> None:
        pass

    def filled(self, way: int) -> None:
        pass

    def touched(self, way: int) -> None:
        pass


class Fifo(Slots):
    """The ways go in turn: as a queue, as long as nothing is removed. A hit leaves it as it is."""

    def __init__(self, ways: int) -> None:
        super().__init__(ways)
        self.next = 0

    def victim(self) -> int:
        return self.next

    def evicted(self) -> None:
        self.next = (self.next + 1) % len(self.slot)


class Plru(Slots):
    """A binary tree of bits: node n has the children 2n and 2n+1, way w is the leaf ways + w.

    A bit is 0 where the left half is to go next, 1 for the right half.
    """

    def __init__(self, ways: int) -> None:
        super().__init__(ways)
        self.ways = ways
        self.bit = [0] * ways

    def touched(self, way: int) -> None:
        node = self.ways + way
        while node > 1:
            came_from_right = node % 2
            node //= 2
            self.bit[node] = 1 - came_from_right

    def victim(self) -> int:
        node = 1
        while node < self.ways:
            node = 2 * node + self.bit[node]
        return node - self.ways


class MruPlru(Slots):
    """(MRU+1)%3-PLRU4: three trees of four ways; the one behind that of the last reference gives a way up."""

    def __init__(self, ways: int) -> None:
        super().__init__(ways)
        self.tree = [Plru(4) for _ in range(3)]
        self.last = 0

    def touched(self, way: int) -> None:
        self.last = way // 4
        self.tree[self.last].touched(way % 4)

    def victim(self) -> int:
        group = (self.last + 1) % 3
        return 4 * group + self.tree[group].victim()


class Nru(Slots):
    """UltraSPARC T1: the lowest way whose used bit is 0; when all are set, all others are cleared."""

    def __init__(self, ways: int) -> None:
        super().__init__(ways)
        self.used = [False] * ways

    def victim(self) -> int:
        return self.used.index(False) if False in self.used else 0

    def filled(self, way: int) -> None:
        self.used[way] = False

    def touched(self, way: int) -> None:
        self.used[way] = True
        if all(self.used):
            self.used = [other == way for other in range(len(self.used))]


class Generator:
    """Knuth's MMIX generator; the upper 31 bits of its state, modulo the ways."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, ways: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state // 2**33 % ways


class Random(Slots):
    def __init__(self, ways: int, generator: Generator) -> None:
        super().__init__(ways)
        self.generator = generator

    def victim(self) -> int:
        return self.generator.below(len(self.slot))


def new_set(ways: int, policy: str, generator: Generator) -> Set:
    if policy == "random":
        return Random(ways, generator)
    kinds: dict[str, type[Lru | Fifo | Plru | Nru | MruPlru]] = {
        "lru": Lru,
        "fifo": Fifo,
        "plru": Plru,
        "nru": Nru,
        "(mru+1)%3-plru4": MruPlru,
    }
    return kinds[policy](ways)


class Array:
    """Sets of one policy; an array has one generator for all its sets."""

    def __init__(self, entries: int, ways: int, policy: str = "lru", seed: int = 0, index_xor: int = 0) -> None:
        self.index_xor = index_xor
        generator = Generator(seed)
        self.sets = [new_set(ways, policy, generator) for _ in range(entries // ways)]

    @classmethod
    def parse(cls, text: str) -> Array:
        """The tool's own notation, for texts that are known to be right."""
        entries, ways, _, policy = (text + ",4K,lru").split(",")[:4]
        name, _, seed = policy.partition(":")
        return cls(int(entries), int(entries if ways == "full" else ways), name, int(seed or 0))

    def set_of(self, page: int) -> Set:
        """By the page's number, whose bits may be XORed with those that stand `index_xor` bits above."""
        number = page ^ page // 2**self.index_xor if self.index_xor else page
        return self.sets[number % len(self.sets)]

    def reference(self, page: int, context: int = 0) -> bool:
        """Returns whether it hits; a miss fills."""
        return self.set_of(page).reference((context, page))


class Hierarchy:
    """levels[l][side]: the array of that level and side, which may be the same for both, or None."""

    def __init__(self, levels: list[dict[str, Array | None]]) -> None:
        self.levels = levels

    def translate(self, side: str, page: int, context: int = 0) -> tuple[list[int], bool]:
        """The levels that missed, from 0, and whether all did: then it walks."""
        missed: list[int] = []
        for number, level in enumerate(self.levels):
            array = level[side]
            if array is None:
                continue
            if array.reference(page, context):
                return missed, False
            missed.append(number)
        return missed, True
