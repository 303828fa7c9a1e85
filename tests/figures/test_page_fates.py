"""What became of underlying tokens."""

from collections.abc import Sequence
from itertools import product

import pytest

from pyropunct.inference.machines.products import EDITS
from pyropunct.tasks.explain.derivations import Fate, SlotDerivation, SlotEdit, SproutedToken, token_fates
from pyropunct.text.marks import START

KEEP, LEFT, RIGHT, TRANSPOSITION = EDITS
MIRRORED = (KEEP, RIGHT, LEFT, TRANSPOSITION)


def slot(
    underlying: str, origins: Sequence[int | None], *edits: SlotEdit, surface: str = ""
) -> SlotDerivation:
    """A slot whose tokens are letters, each sprouted by the word of its place, counted from 1."""
    sprouted = tuple(SproutedToken(token, word, 0) for word, token in enumerate(underlying, 1))
    page = tuple(surface) or tuple(underlying[place] for place in origins if place is not None)
    return SlotDerivation(sprouted, page, tuple(origins), edits, False)


def edit(before: str, name: str) -> SlotEdit:
    first, second = before
    after = {LEFT: (second,), RIGHT: (first,), TRANSPOSITION: (second, first)}[name]
    return SlotEdit((first, second), name, after)


def fates(derivation: SlotDerivation) -> list[str]:
    return [fate.edit for fate in token_fates([derivation])]


def slide(underlying: str, names: Sequence[str]) -> tuple[list[int], list[SlotEdit], dict[int, str]]:
    """The window of section 2.2 from left to right, told its edits: origins, edits with effect, and fates."""
    window, page, edits = 0, [], []
    fate = dict.fromkeys(range(len(underlying)), KEEP)
    for new, name in enumerate(names, 1):
        if name != KEEP:
            edits.append(edit(underlying[window] + underlying[new], name))
        if name == KEEP:
            page.append(window)
            window = new
        elif name == LEFT:
            fate[window] = LEFT
            window = new
        elif name == RIGHT:
            fate[new] = RIGHT
        else:
            page.append(new)
            fate[window] = fate[new] = TRANSPOSITION
    return [*page, window], edits, fate


@pytest.mark.parametrize("underlying", ["a", "ab", "abc", "abcd"])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_all_paths_of_the_window(underlying: str, direction: str) -> None:
    """Different tokens; an absorbed token counts as such even if it was transposed before."""
    last = len(underlying) - 1
    for names in product(EDITS, repeat=last):
        if direction == "left":
            origins, edits, expected = slide(underlying, names)
        else:
            mirrored, edits, mirrored_fates = slide(underlying[::-1], names)
            origins = [last - place for place in reversed(mirrored)]
            unmirror = dict(zip(EDITS, MIRRORED, strict=True))
            edits = [edit("".join(one.before[::-1]), unmirror[one.name]) for one in edits]
            expected = {last - place: unmirror[name] for place, name in mirrored_fates.items()}
        derivation = slot(underlying, origins, *edits)
        assert fates(derivation) == [expected[place] for place in range(len(underlying))]
        assert {one.name for one in edits} <= set(fates(derivation))


def test_equal_tokens() -> None:
    """The one that is gone was absorbed, and the nearest one changed places."""
    absorbed = slot("..”", (2, 1), edit("..", LEFT), edit(".”", TRANSPOSITION))
    assert fates(absorbed) == [LEFT, TRANSPOSITION, TRANSPOSITION]
    both = slot(",.,", (1,), edit(",.", LEFT), edit(".,", RIGHT))
    assert fates(both) == [LEFT, KEEP, RIGHT]
    nearest = slot(".*..", (0, 2, 3), edit("*.", TRANSPOSITION), edit("*.", LEFT))
    assert fates(nearest) == [KEEP, LEFT, TRANSPOSITION, KEEP]


def test_words_and_slots() -> None:
    start = SlotDerivation((SproutedToken(START, 0, -1), SproutedToken(",", 3, 1)), (START,), (0,), (), False)
    start = start._replace(edits=(SlotEdit((START, ","), RIGHT, (START,)),))
    assert token_fates([start, slot("", ()), slot(".", (0,))]) == [
        Fate(3, ",", 0, RIGHT),
        Fate(1, ".", 2, KEEP),
    ]


def test_slips_and_other_channels() -> None:
    slipped = slot(",", (None, 0), surface="!,")._replace(slipped=True)
    assert token_fates([slipped]) == [Fate(1, ",", 0, "slip"), Fate(0, None, 0, "slip")]
    other = slot(",.", (None, 1), surface="!.")
    assert token_fates([other]) == [
        Fate(1, ",", 0, "other change"),
        Fate(2, ".", 0, KEEP),
        Fate(0, None, 0, "other change"),
    ]
