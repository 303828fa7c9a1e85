"""Weighted draws of surface punctuation, in batches of trees: `pyropunct.inference.walk` makes them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.numbering import Strings, renumber
from pyropunct.inference.walk import Numbers, Walk
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

DRAWS_AT_ONCE = 1000
"""The most draws of a tree in a batch."""

WORDS_AT_ONCE = 4000
"""The most words of a batch of trees; a longer tree is a batch of its own."""

PLACES_AT_ONCE = 250_000
"""The most words times draws of a batch, which bounds the memory."""


@dataclass(frozen=True)
class Draws:
    """Weighted draws of the surface punctuation of one sentence of n words.

    :ivar strings: the distinct slot strings, in order of first occurrence.
    :ivar numbers: (draws, n + 1) ``int32``, the number of the string in each slot.  Slot 0 starts with
        `pyropunct.text.marks.START`, unless the channel absorbed or moved it.
    :ivar weights: (draws,) they add up to 1.
    :ivar edges: the slots left and right of each constituent of the most probable tree, if known.
    :ivar shares: (n + 1, strings) better estimates of the probability of each string in each slot, if there
        are any: see `pyropunct.restore.pooling`.
    :ivar spread: (n + 1, strings) for error bars; defaults to the shares.  The variance of a mean over the
        strings of a slot is the sum of spread times squared deviation, over the number of draws.
    :ivar is_read: whether the shares are those of a reader that is `TRUSTED`, too.
    """

    strings: tuple[tuple[str, ...], ...]
    numbers: Numbers
    weights: NDArray[np.float64]
    edges: tuple[tuple[int, int], ...] = ()
    shares: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None
    is_read: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def surface(self, draw: int) -> list[tuple[str, ...]]:
        """The punctuation tokens of the slots 0..n in one draw."""
        return [self.strings[number] for number in self.numbers[draw].tolist()]


def draw_surfaces(
    story: Story,
    encode: Callable[[slice], TreeBatch],
    vocabulary: Vocabulary,
    trees: Sequence[Tree],
    samples: Sequence[int],
    seed: int,
    alike: bool = False,
) -> Iterator[Draws]:
    """``samples`` draws from p(x | T) for each tree, encoded in batches; see `pyropunct.Punctuator.draws`."""
    random = generators(trees, seed, alike)
    for some in _parts([len(tree) for tree in trees], min(DRAWS_AT_ONCE, max(samples, default=1))):
        batch = encode(some)
        walk = Walk(story.inputs(batch), list(islice(random, len(batch))))
        wanted = np.array(samples[some])
        blocks = [
            (walk.draw(size).numbers, size)
            for done in range(0, wanted.max(), DRAWS_AT_ONCE)
            for size in [np.clip(wanted - done, 0, DRAWS_AT_ONCE)]
        ]
        for tree, (first, last) in enumerate(pairwise(batch.forest.slot_start.tolist())):
            numbers = np.concatenate([drawn[first:last, : size[tree]] for drawn, size in blocks], 1)
            strings, own = decoded(vocabulary, walk.strings, numbers)
            yield Draws(strings, own, np.full(len(own), 1 / len(own)))


def decoded(
    vocabulary: Vocabulary, strings: Strings, numbers: Numbers
) -> tuple[tuple[tuple[str, ...], ...], Numbers]:
    """The distinct decoded strings of (S, draws) numbers, and (draws, S) their new numbers.

    Strings that are equal once the token `pyropunct.text.marks.CLAUSE` is left out have one number.
    """
    own, distinct = renumber(numbers, len(strings))
    shown = [vocabulary.decode_string(strings.tokens(number)) for number in distinct.tolist()]
    place = {string: number for number, string in enumerate(dict.fromkeys(shown))}
    return tuple(place), np.array([place[string] for string in shown], np.int32)[own]


def _parts(sizes: Sequence[int], draws: int) -> Iterator[slice]:
    """Split trees into batches; ``draws`` is the greatest number of draws of a tree."""
    most, first, words = min(WORDS_AT_ONCE, PLACES_AT_ONCE // draws), 0, 0
    for tree, size in enumerate(sizes):
        if tree > first and words + size > most:
            yield slice(first, tree)
            first, words = tree, 0
        words += size
    if sizes:
        yield slice(first, len(sizes))


def generators(trees: Sequence[Tree], seed: int, alike: bool) -> Iterator[np.random.Generator]:
    """A random generator for each tree, seeded by the tree; if ``alike``, equal trees get equal numbers."""
    seen: Counter[Tree] = Counter()
    for tree in trees:
        # The draws of a tree should not depend on its treebank.
        shown = (f"{one.name}={getattr(tree, one.name)!r}" for one in fields(tree) if one.name != "treebank")
        digest = hashlib.sha256(f"{type(tree).__qualname__}({', '.join(shown)})".encode()).digest()
        yield np.random.default_rng([seed, seen[tree], int.from_bytes(digest)])
        seen[tree] += not alike
