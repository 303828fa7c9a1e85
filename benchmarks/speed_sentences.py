"""Sentences of any length for `speed.py`, drawn from what a treebank shows, and puncteme sets of any size."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random

from pyropunct import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Pair, Vocabulary

NOTHING: Pair = ((), ())


def random_heads(words: int, random: Random) -> list[int]:
    """Heads of a random projective tree: an arc-standard parser that tosses a coin for every action."""
    heads, read = [0] * words, 0
    stack: list[int] = []
    while read < words or len(stack) > 1:
        if len(stack) < 2 or (read < words and random.random() < 0.5):
            read += 1
            stack.append(read)
            continue
        pair = [stack.pop(), stack.pop()]
        random.shuffle(pair)
        head, child = pair
        heads[child - 1] = head
        stack.append(head)
    return heads


def chain_heads(words: int) -> list[int]:
    """Heads of the deepest tree: every word hangs on the one before it."""
    return list(range(words))


def flat_heads(words: int) -> list[int]:
    """Heads of the flattest tree: all words hang on the one in the middle."""
    middle = (words + 1) // 2
    return [0 if word == middle else middle for word in range(1, words + 1)]


class Mimic:
    """Makes sentences whose words and slots are drawn one by one from those of a treebank."""

    def __init__(self, sentences: Sequence[Sentence], seed: int) -> None:
        self._sentences, self.random = sentences, Random(seed)

    @cached_property
    def _words(self) -> list[tuple[str, str, str]]:
        trees = [sentence.tree for sentence in self._sentences]
        return [word for tree in trees for word in zip(tree.relations, tree.tags, tree.forms, strict=True)]

    @cached_property
    def _slots(self) -> list[tuple[str, ...]]:
        return [slot for sentence in self._sentences for slot in sentence.surface[1:-1]]

    def sentence(self, heads: Sequence[int]) -> Sentence:
        """A sentence with a tree of this shape; the text to print is that of another one."""
        words = [self.random.choice(self._words) for _ in heads]
        relations, tags, forms = zip(*words, strict=True)
        ends = self.random.choice(self._sentences).surface
        inner = [self.random.choice(self._slots) for _ in heads[1:]]
        tree = Tree(tuple(heads), relations, tags, forms)
        return replace(self._sentences[0], tree=tree, surface=(ends[0], *inner, ends[-1]), lifted=0)

    def sentences(self, words: int, number: int) -> list[Sentence]:
        """Some sentences with random trees."""
        return [self.sentence(random_heads(words, self.random)) for _ in range(number)]


def sized(vocabulary: Vocabulary, sizes: Iterable[int], seed: int) -> Vocabulary:
    """The vocabulary with sets W_d of other sizes, for each relation.

    A smaller set is a random part with the empty pair; a larger one adds pairs of other relations, then
    random ones.
    """
    random = Random(seed)
    everywhere = sorted({pair for some in vocabulary.pairs for pair in some})
    lefts, rights = (sorted({pair[side] for pair in everywhere}) for side in (0, 1))

    def one(some: Sequence[Pair], size: int) -> tuple[Pair, ...]:
        own = [pair for pair in some if pair != NOTHING]
        if size <= len(own):
            return tuple(sorted([NOTHING, *random.sample(own, size - 1)]))
        others = sorted(set(everywhere) - set(some))
        larger = {NOTHING, *own, *random.sample(others, min(len(others), size - len(some)))}
        while len(larger) < min(size, len(lefts) * len(rights)):
            larger.add((random.choice(lefts), random.choice(rights)))
        return tuple(sorted(larger))

    pairs = tuple(one(some, max(1, size)) for some, size in zip(vocabulary.pairs, sizes, strict=True))
    return replace(vocabulary, pairs=pairs)
