"""The fate of each underlying token, for the search of the page."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from pyropunct.inference.machines.products import (
    EDITS,
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
)
from pyropunct.tasks.explain.derivations import SlotDerivation, SlotEdit

SLIP, OTHER = "slip", "other change"
"""The fate where the channel ignored the underlying string, and the fate of a channel without named edits."""


class Fate(NamedTuple):
    """The fate of an underlying token, or the origin of a surface token that was not an underlying one.

    :ivar word: the head word, counted from 1, of the constituent that sprouted it; 0 if no constituent did.
    :ivar token: the underlying token; None if there was none.
    :ivar slot: the slot, counted from 0.
    :ivar edit: the edit: one of `pyropunct.inference.machines.products.EDITS`, `SLIP`, or `OTHER`.
    """

    word: int
    token: str | None
    slot: int
    edit: str


def token_fates(derivations: Sequence[SlotDerivation]) -> list[Fate]:
    """The fates of all tokens but the sentence start, slot by slot.

    A token that is not in the surface string was absorbed.  A token that is in it was transposed if it has
    changed places with another token, which may have been absorbed afterwards.  Every edit of a slot is the
    fate of some token.

    If equal tokens of a slot were absorbed by different edits, it is not known which edit absorbed which
    token: the edits are assigned in their order, from left to right.  If several tokens may have changed
    places with an absorbed one, the nearest is taken.

    :param derivations: of the slots 0..n, see `pyropunct.tasks.explain.derivations.Derivations.of`.
    """
    return [fate for slot, derivation in enumerate(derivations) for fate in _slot_fates(slot, derivation)]


def _slot_fates(slot: int, derivation: SlotDerivation) -> Iterator[Fate]:
    absorptions = _absorptions(derivation.edits)
    transposed = _transposed(derivation)
    for place, (token, word, _) in enumerate(derivation.underlying):
        if derivation.slipped:
            edit = SLIP
        elif place not in derivation.origins:
            edit = absorptions[token].pop(0) if absorptions[token] else OTHER
        else:
            edit = EDITS[TRANSPOSITION if place in transposed else KEEP]
        if word:
            yield Fate(word, token, slot, edit)
    if None in derivation.origins:
        yield Fate(0, None, slot, SLIP if derivation.slipped else OTHER)


def _absorptions(edits: Sequence[SlotEdit]) -> defaultdict[str, list[str]]:
    """For each token the names of the edits that absorbed it."""
    absorbed = {EDITS[LEFT_ABSORPTION]: 0, EDITS[RIGHT_ABSORPTION]: 1}
    names: defaultdict[str, list[str]] = defaultdict(list)
    for edit in edits:
        if edit.name in absorbed:
            names[edit.before[absorbed[edit.name]]].append(edit.name)
    return names


def _transposed(derivation: SlotDerivation) -> set[int]:
    """The places of the transposed tokens that are in the surface string."""
    stay = [place for place in derivation.origins if place is not None]
    moved = {place for pair in combinations(stay, 2) if pair[0] > pair[1] for place in pair}
    tokens = [sprouted.token for sprouted in derivation.underlying]
    gone = set(range(len(tokens))) - set(stay)
    for edit in derivation.edits:
        if edit.name == EDITS[TRANSPOSITION]:
            partners = [
                (abs(place - other), place)
                for place, other in product(stay, gone)
                if edit.before == (tokens[min(place, other)], tokens[max(place, other)])
            ]
            moved |= {place for _, place in sorted(partners)[:1]}
    return moved
