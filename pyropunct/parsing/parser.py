"""The trained parser."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.networks.trained import TrainedNetwork
from pyropunct.parsing.biaffine import BiaffineNetwork, Scores
from pyropunct.parsing.eisner import best_tree, draw_trees
from pyropunct.parsing.encoding import ROOT, ParserVocabulary
from pyropunct.parsing.protocol import WeightedTree
from pyropunct.parsing.recipes import ParserRecipe
from pyropunct.treebank.tree import Tree

BATCH_WORDS = 4000
"""The most words, padding included, that the network reads together."""


@dataclass(frozen=True)
class BiaffineParser(TrainedNetwork[ParserVocabulary, ParserRecipe, BiaffineNetwork]):
    """A tagger and parser of unpunctuated words, trained by `pyropunct.parsing.train_parser`."""

    what = "a parser"
    kinds = (ParserVocabulary, ParserRecipe, BiaffineNetwork)

    def parse(
        self, sentences: Sequence[Sequence[str]], trees: int = 1, *, seed: int = 0
    ) -> list[list[WeightedTree]]:
        """The trees of each sentence, the heaviest first; see `pyropunct.parsing.Parser`.

        The network gives each word a distribution over heads.  The product of these, restricted to the
        projective trees with one root, is a distribution over such trees.  A single tree is its mode, found
        exactly.  If several trees are asked for, this number is drawn independently, and the weight of each
        distinct tree is the share of the draws that gave it.  A word has the same tag in all trees, and an
        arc the same relation.

        :param seed: the seed of the draws, which do not depend on the other sentences.
        :raises ValueError: if a sentence has no word, or ``trees`` is less than 1.
        """
        if trees < 1:
            raise ValueError(f"cannot give {trees} trees of a sentence; ask for 1 or more")
        for number, sentence in enumerate(sentences, start=1):
            if not sentence:
                raise ValueError(f"sentence {number} of {len(sentences)} has no word to parse")
        parsed: list[list[WeightedTree]] = [[] for _ in sentences]
        for numbers in batches([len(sentence) for sentence in sentences]):
            part = [tuple(sentences[number]) for number in numbers]
            for number, found in zip(numbers, self._parse_batch(part, trees, seed), strict=True):
                parsed[number] = found
        return parsed

    @torch.no_grad()
    def states(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, features) what the network makes of the words in their contexts.

        These are the states of its lower and upper LSTMs: features for other networks to learn from.
        Sentences of like length take least memory.

        :param sentences: as of `parse`.
        """
        found = self.network.eval().contexts(self.encode(sentences))
        return torch.cat([found.lower, found.upper], -1)

    @property
    def state_size(self) -> int:
        """How many features `states` gives of a word."""
        return 4 * self.recipe.lstm_size

    @torch.inference_mode()
    def _parse_batch(
        self, sentences: Sequence[tuple[str, ...]], trees: int, seed: int
    ) -> Iterator[list[WeightedTree]]:
        scores = self.network.eval()(self.encode(sentences))
        arcs = scores.arcs.log_softmax(-1).double().numpy()
        for row, forms in enumerate(sentences):
            found = _heads(arcs[row, : len(forms), : len(forms) + 1], trees, seed)
            yield [
                WeightedTree(self._tree(scores, row, forms, heads), count / trees) for heads, count in found
            ]

    def _tree(self, scores: Scores, row: int, forms: tuple[str, ...], heads: tuple[int, ...]) -> Tree:
        """A tree with the best tags and relations."""
        logits = self.network.relations(scores.dependents[row, : len(forms)], scores.heads[row, list(heads)])
        relations = [self.vocabulary.relations[number] for number in logits.argmax(-1).tolist()]
        return Tree(
            heads=heads,
            relations=tuple(
                relation if head else ROOT for head, relation in zip(heads, relations, strict=True)
            ),
            tags=tuple(
                self.vocabulary.tags[number] for number in scores.tags[row, : len(forms)].argmax(-1).tolist()
            ),
            forms=forms,
        )


def _heads(arcs: NDArray[np.float64], trees: int, seed: int) -> list[tuple[tuple[int, ...], int]]:
    """The heads of distinct trees, the most frequent first, and how often each was found."""
    if trees == 1:
        return [(tuple(best_tree(arcs).tolist()), 1)]
    draws = draw_trees(arcs, trees, np.random.default_rng(seed))
    return Counter(map(tuple, draws.tolist())).most_common()


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of sentences of some lengths that the network reads together: those of like length."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batch and (len(batch) + 1) * lengths[number] > BATCH_WORDS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
