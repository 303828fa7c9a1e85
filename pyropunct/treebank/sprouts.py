"""What constituents sprout: punctemes at their edges, and marks around a part."""

from typing import Any, NamedTuple

Puncteme = tuple[str, ...]


class MarkedPart(NamedTuple):
    """Two marks around the head of a constituent, with some of its dependents outside.

    :ivar left: the mark on the left; ``right``, its partner.
    :ivar left_out: how many of the leftmost dependents stand outside; ``right_out``, of the rightmost.
    """

    left: str
    right: str
    left_out: int
    right_out: int


class Pair(NamedTuple):
    """The left and the right puncteme of a constituent."""

    left: Puncteme = ()
    right: Puncteme = ()


class Sprouts(Pair):
    """The `Pair` of a constituent; it may also have a part between marks.

    :ivar part: that part, or None.
    """

    part: MarkedPart | None

    def __new__(cls, left: Puncteme = (), right: Puncteme = (), part: MarkedPart | None = None) -> "Sprouts":
        """A pair with a part."""
        self = super().__new__(cls, left, right)
        self.part = part
        return self

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and self.part == part_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sprouts, (*self, self.part)

    def __repr__(self) -> str:
        return f"Sprouts(left={self.left!r}, right={self.right!r}, part={self.part!r})"


def part_of(pair: object) -> MarkedPart | None:
    """The part of `Sprouts`; a plain pair of punctemes has none."""
    return getattr(pair, "part", None)
