"""The trained parser."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import filterfalse, islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.encoder import TunedEncoder
from pyropunct.nets.layers import standardised
from pyropunct.nets.parser.biaffine import BiaffineNetwork, Contexts, Scores
from pyropunct.nets.parser.eisner import best_tree, draw_trees
from pyropunct.nets.parser.encoding import ROOT, ParserVocabulary
from pyropunct.nets.parser.protocol import WeightedTree
from pyropunct.nets.pretrained import SentenceCache, bare
from pyropunct.nets.recipes import ParserRecipe
from pyropunct.nets.trained import TrainedWordNetwork
from pyropunct.nets.words import WordBatch, in_batches, is_mark
from pyropunct.treebank.tree import Tree

BATCH_WORDS = 500
"""The most words, padding included, that the network reads together."""

BESIDE = 0.5
"""The power of the probabilities of a parser `beside` another: 1/4, 3/4 and 1 are worse on English dev."""

ARCS_AT_ONCE = 256
"""Arcs whose relations are scored together, in so little memory that it stays in the cache."""

REMEMBERED_WORDS = 8000
"""The most words of sentences that were parsed last whose states are kept."""


@dataclass(frozen=True)
class BiaffineParser(TrainedWordNetwork[ParserVocabulary, ParserRecipe, BiaffineNetwork]):
    """A tagger and parser of words, or of words and marks, trained by `pyropunct.nets.parser.train_parser`.

    :ivar beside: for a parser that reads marks, one of the words alone with the same relations: the
        probabilities of heads and relations are multiplied by a power of those of this parser, see `BESIDE`.
        None for a parser by itself.
    """

    what = "a parser"
    kinds = (ParserVocabulary, ParserRecipe, BiaffineNetwork)

    beside: "BiaffineParser | None" = None

    def parse(
        self, sentences: Sequence[Sequence[str]], trees: int = 1, *, seed: int = 0
    ) -> list[list[WeightedTree]]:
        """The trees of each sentence, the heaviest first; see `pyropunct.nets.parser.Parser`.

        The network gives each word a distribution over heads.  The product of these, restricted to the
        projective trees with one root, is a distribution over such trees.  A single tree is its mode, found
        exactly.  If several trees are asked for, they are drawn independently, and the weight of each
        distinct tree is the share of the draws that gave it.  A word has the same tag in all trees, and an
        arc the same relation.

        :param seed: the seed of the draws, which do not depend on the other sentences.
        :raises ValueError: if a sentence has no word, or ``trees`` is less than 1.
        """
        if trees < 1:
            raise ValueError(f"cannot give {trees} trees of a sentence; ask for 1 or more")
        for number, sentence in enumerate(sentences, start=1):
            if all(map(is_mark, sentence)):
                raise ValueError(f"sentence {number} of {len(sentences)} has no word to parse")
        read = partial(self._parse_batch, trees=trees, seed=seed)
        return in_batches(list(map(tuple, sentences)), BATCH_WORDS, read)

    @torch.no_grad()
    def states(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, features) the states of words in their contexts, for other networks to read.

        These are the states of its lower and upper LSTMs, then the pretrained features that it reads, if
        any.  The features of an encoder that was trained with the parser are not among them: such an encoder
        knows the training sentences too well.  The states of sentences that were parsed just before are
        remembered.  Sentences of like length take least memory.

        :param sentences: as of `parse`.
        """
        known, keys = self._recent.rows, list(map(tuple, sentences))
        if known.keys() >= set(keys):
            return pad_sequence([known[key] for key in keys], batch_first=True)
        batch = self.encode(sentences)
        return self._states(batch, self.network.contexts(batch))

    def _states(self, batch: WordBatch, contexts: Contexts) -> Tensor:
        states = [contexts.lower, contexts.upper]
        if self._passed_on and batch.features is not None:
            states.append(batch.of_words(standardised(batch.features)))
        return torch.cat(states, -1)

    @cached_property
    def _passed_on(self) -> int:
        """The number of pretrained features among the states of a word."""
        tuned = isinstance(bare(self.pretrained), TunedEncoder)
        return 0 if self.pretrained is None or tuned else self.pretrained.size

    @cached_property
    def _recent(self) -> SentenceCache:
        """The states of the sentences that were parsed last."""
        return SentenceCache(REMEMBERED_WORDS)

    @property
    def state_size(self) -> int:
        """The number of features that `states` gives of a word."""
        return 4 * self.recipe.lstm_size + self._passed_on

    @torch.inference_mode()
    def _parse_batch(
        self, sentences: Sequence[tuple[str, ...]], trees: int, seed: int
    ) -> Iterator[list[WeightedTree]]:
        unmarked = [tuple(filterfalse(is_mark, words)) for words in sentences]
        scored = [_Scored(self.network, self._scores(sentences, unmarked), 1.0)]
        if self.beside is not None:
            scored.append(_Scored(self.beside.network, self.beside._scores(unmarked, unmarked), BESIDE))
        log_arcs = [power * scores.arcs.log_softmax(-1) for _, scores, power in scored]
        arcs = torch.stack(log_arcs).sum(0).double().cpu().numpy()
        counts = [
            _heads(arcs[row, : len(forms), : len(forms) + 1], trees, seed)
            for row, forms in enumerate(unmarked)
        ]
        relations = iter(self._relations(scored, [[*drawn] for drawn in counts]))
        tags = scored[0].scores.tags.argmax(-1).tolist()
        for forms, drawn, numbers in zip(unmarked, counts, tags, strict=True):
            named = tuple(self.vocabulary.tags[number] for number in numbers[: len(forms)])
            yield [
                WeightedTree(Tree(heads, next(relations), named, forms), count / trees)
                for heads, count in drawn.items()
            ]

    def _scores(self, sentences: Sequence[tuple[str, ...]], unmarked: Sequence[tuple[str, ...]]) -> Scores:
        """The scores of words, whose states are kept."""
        batch = self.encode(sentences)
        contexts = self.network.contexts(batch)
        rows = zip(self._states(batch, contexts), unmarked, strict=True)
        self._recent.use(sentences, (states[: len(words)] for states, words in rows))
        return self.network.scores(contexts, batch.unmarked.count_nonzero(1))

    def _relations(
        self, scored: "Sequence[_Scored]", heads: Sequence[Sequence[tuple[int, ...]]]
    ) -> Iterator[tuple[str, ...]]:
        """The best relations of trees, sentence after sentence; each arc is scored once.

        :param heads: the heads of the trees of each sentence.
        """
        longest = scored[0].scores.arcs.shape[1]
        sizes = np.array([len(tree) for trees in heads for tree in trees])
        row = np.repeat([number for number, trees in enumerate(heads) for _ in trees], sizes)
        word = np.concatenate([np.arange(size) for size in sizes])
        head = np.array([head for trees in heads for tree in trees for head in tree])
        arcs, place = np.unique((row * longest + word) * (longest + 1) + head, return_inverse=True)
        words, head_of_arc = np.divmod(arcs, longest + 1)
        places = torch.from_numpy(words), torch.from_numpy(words // longest * (longest + 1) + head_of_arc)
        together = zip(*(numbers.split(ARCS_AT_ONCE) for numbers in places), strict=True)
        best = torch.cat([_log_relations(scored, *some).argmax(-1) for some in together]).cpu().numpy()
        names = np.array([*self.vocabulary.relations, ROOT], object)
        named = iter(names[np.where(head, best[place.reshape(-1)], -1)].tolist())
        return (tuple(islice(named, size)) for size in sizes.tolist())


class _Scored(NamedTuple):
    """The scores of words by one network, and the power of its probabilities in a product."""

    network: BiaffineNetwork
    scores: Scores
    power: float


def _log_relations(scored: Sequence[_Scored], words: Tensor, heads: Tensor) -> Tensor:
    """(arcs, relations) the logarithms of products of probabilities, up to a constant for each arc.

    :param words: (arcs,) the rows of the words in a batch.
    :param heads: (arcs,) the rows of their heads.
    """
    logits = (
        power * network.relations(scores.dependents.flatten(0, 1)[words], scores.heads.flatten(0, 1)[heads])
        for network, scores, power in scored
    )
    return torch.stack(list(logits)).sum(0)


def _heads(arcs: NDArray[np.float64], trees: int, seed: int) -> dict[tuple[int, ...], int]:
    """The heads of distinct trees, the most frequent first, each with the number of its draws."""
    if trees == 1:
        return {tuple(best_tree(arcs).tolist()): 1}
    draws = draw_trees(arcs, trees, np.random.default_rng(seed))
    return dict(Counter(map(tuple, draws.tolist())).most_common())
