"""Parsers of unpunctuated words (Li, Wang & Eisner 2019, section 6.1): interface, scores and training.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.parser import train_parser

    parser = train_parser(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    [[best]] = parser.parse([["Her", "mother", "prepared", "four", "things"]])
    print(best.tree.heads, best.tree.relations)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, filterfalse, islice
from operator import eq
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.nets.biaffine import (
    ROOT,
    BiaffineNetwork,
    ParserRecipe,
    ParserScores,
    ParserVocabulary,
    WordContexts,
    build_parser_vocabulary,
)
from pyropunct.nets.eisner import best_tree, draw_trees
from pyropunct.nets.network_training import NetworkTraining, sequences, trained
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.pretrained import Pretrained, SentenceCache, with_cache
from pyropunct.nets.trainer import AnyCheckpoint, Watch
from pyropunct.nets.word_batches import WordBatch, in_batches, is_mark_token, with_marks
from pyropunct.nets.word_embedding import standardised
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

BATCH_WORDS = 500
"""The most words, padding included, that the network reads together."""

BESIDE = 0.5
"""The power of the probabilities of a parser `beside` another: 1/4, 3/4 and 1 are worse on English dev."""

ARCS_AT_ONCE = 256
"""Arcs whose relations are scored together, in so little memory that it stays in the cache."""

REMEMBERED_WORDS = 8000
"""The most words of sentences that were parsed last whose states are kept."""


class WeightedTree(NamedTuple):
    """A projective tree of a sentence with its share of the probability; weights of a sentence add up to 1.

    :ivar tree: with one root, universal tags, and relations with their subtypes.
    :ivar given: whether it came with the sentence, not from a parser.
    """

    tree: Tree
    weight: float
    given: bool = False


class Parser(Protocol):
    """Parses unpunctuated words into tagged trees (Li, Wang & Eisner 2019, section 6.1)."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        """The trees of each sentence, the heaviest first; words are as in `pyropunct.treebank.tree.Tree`.

        :param trees: 1 for the best tree; k for at most k, weighted by the parser's confidence (footnote 20
            of the paper).
        :raises ValueError: if a sentence has no word, or ``trees`` is less than 1.
        """
        ...


class AttachmentScores(NamedTuple):
    """Heads, heads with relation and subtype, and universal tags that are right, in percent of all words."""

    words: int
    uas: float
    las: float
    upos: float

    @property
    def merit(self) -> float:
        """The LAS, by which the best epoch is chosen."""
        return self.las


def attachment_scores(parsed: Sequence[Tree], gold: Sequence[Tree]) -> AttachmentScores:
    """Compare trees word by word; raises `ValueError` if there is no word, or the words differ."""
    if [tree.forms for tree in parsed] != [tree.forms for tree in gold]:
        raise ValueError("the trees to compare are not of the same words")
    words = sum(map(len, gold))
    if not words:
        raise ValueError("there is no word to compare")

    def share(of: Callable[[Tree], Sequence[object]]) -> float:
        answers, right = (chain.from_iterable(map(of, trees)) for trees in (parsed, gold))
        return 100 * sum(map(eq, answers, right)) / words

    return AttachmentScores(
        words,
        uas=share(lambda tree: tree.heads),
        las=share(lambda tree: list(zip(tree.heads, tree.relations, strict=True))),
        upos=share(lambda tree: tree.tags),
    )


@dataclass(frozen=True)
class BiaffineParser(TrainedWordNetwork[ParserVocabulary, ParserRecipe, BiaffineNetwork]):
    """A tagger and parser of words, or of words and marks, trained by `pyropunct.nets.parser.train_parser`.

    :ivar beside: for a parser that reads marks, a parser of the words alone with the same relations; the
        probabilities of heads and relations are multiplied by a power of its probabilities, see `BESIDE`.
    """

    what = "a parser"
    kinds = (ParserVocabulary, ParserRecipe, BiaffineNetwork)

    beside: "BiaffineParser | None" = None

    def parse(
        self, sentences: Sequence[Sequence[str]], trees: int = 1, *, seed: int = 0
    ) -> list[list[WeightedTree]]:
        """The trees of each sentence, the heaviest first; see `pyropunct.nets.parser.Parser`.

        The distribution over trees is the product of the network's distributions over heads, restricted to
        projective trees with one root.  A single tree is the exact mode; several are independent draws,
        weighted by their share, which do not depend on the other sentences.  A word has the same tag in all
        trees, and an arc the same relation.

        :raises ValueError: if a sentence has no word, or ``trees`` is less than 1.
        """
        if trees < 1:
            raise ValueError(f"cannot give {trees} trees of a sentence; ask for 1 or more")
        for number, sentence in enumerate(sentences, start=1):
            if all(map(is_mark_token, sentence)):
                raise ValueError(f"sentence {number} of {len(sentences)} has no word to parse")
        read = partial(self._parse_batch, trees=trees, seed=seed)
        return in_batches(list(map(tuple, sentences)), BATCH_WORDS, read)

    @torch.no_grad()
    def states(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, features) LSTM states of words, then their pretrained features, if any.

        States of the last parsed sentences are cached.  Batches of like length save memory.
        """
        known, keys = self._recent.rows, list(map(tuple, sentences))
        if known.keys() >= set(keys):
            return pad_sequence([known[key] for key in keys], batch_first=True)
        batch = self.encode(sentences)
        return self._states(batch, self.network.contexts(batch))

    def _states(self, batch: WordBatch, contexts: WordContexts) -> Tensor:
        states = [contexts.lower, contexts.upper]
        if batch.features is not None:
            states.append(batch.of_words(standardised(batch.features)))
        return torch.cat(states, -1)

    @cached_property
    def _recent(self) -> SentenceCache:
        """The states of the sentences that were parsed last."""
        return SentenceCache(REMEMBERED_WORDS)

    @property
    def state_size(self) -> int:
        """The number of features that `states` gives of a word."""
        return 4 * self.recipe.lstm_size + self.features_of(self.pretrained)

    @torch.inference_mode()
    def _parse_batch(
        self, sentences: Sequence[tuple[str, ...]], trees: int, seed: int
    ) -> Iterator[list[WeightedTree]]:
        unmarked = [tuple(filterfalse(is_mark_token, words)) for words in sentences]
        scored = self.scored(sentences, unmarked)
        arcs = scored.arcs.numpy()
        frequencies = [
            _heads(arcs[row, : len(forms), : len(forms) + 1], trees, seed)
            for row, forms in enumerate(unmarked)
        ]
        found = self.trees_of(scored, unmarked, [[*frequency] for frequency in frequencies])
        for each, frequency in zip(found, frequencies, strict=True):
            counts = zip(each, frequency.values(), strict=True)
            yield [WeightedTree(tree, count / trees) for tree, count in counts]

    def trees_of(
        self, scored: "Scored", words: Sequence[tuple[str, ...]], heads: Sequence[Sequence[tuple[int, ...]]]
    ) -> Iterator[list[Tree]]:
        """The trees of sentences with chosen ``heads``, with their most probable tags and relations."""
        relations = self._relations(scored, heads)
        tags = scored.tags.argmax(-1).tolist()
        for forms, chosen, numbers in zip(words, heads, tags, strict=True):
            tagged = tuple(self.vocabulary.tags[number] for number in numbers[: len(forms)])
            yield [Tree(some, next(relations), tagged, forms) for some in chosen]

    def scored(self, sentences: Sequence[tuple[str, ...]], unmarked: Sequence[tuple[str, ...]]) -> "Scored":
        """The scores of sentences, by this parser and the one beside it, which reads ``unmarked`` words."""
        parts = [_Part(self.network, self._scores(sentences, unmarked), 1.0)]
        if self.beside is not None:
            parts.append(_Part(self.beside.network, self.beside._scores(unmarked, unmarked), BESIDE))
        log_arcs = [part.power * part.scores.arcs.log_softmax(-1) for part in parts]
        return Scored(torch.stack(log_arcs).sum(0).double().cpu(), parts[0].scores.tags, parts)

    def _scores(
        self, sentences: Sequence[tuple[str, ...]], unmarked: Sequence[tuple[str, ...]]
    ) -> ParserScores:
        """The scores of words; their states are cached."""
        batch = self.encode(sentences)
        contexts = self.network.contexts(batch)
        rows = zip(self._states(batch, contexts), unmarked, strict=True)
        self._recent.use(sentences, (states.detach()[: len(words)] for states, words in rows))
        return self.network.scores(contexts, batch.unmarked.count_nonzero(1))

    def _relations(
        self, scored: "Scored", heads: Sequence[Sequence[tuple[int, ...]]]
    ) -> Iterator[tuple[str, ...]]:
        """The best relations of trees, in the order of ``heads``; each arc is scored once."""
        longest = scored.arcs.shape[1]
        sizes = np.array([len(tree) for trees in heads for tree in trees])
        row = np.repeat([number for number, trees in enumerate(heads) for _ in trees], sizes)
        word = np.concatenate([np.arange(size) for size in sizes])
        head = np.array([head for trees in heads for tree in trees for head in tree])
        arcs, place = np.unique((row * longest + word) * (longest + 1) + head, return_inverse=True)
        words, head_of_arc = np.divmod(arcs, longest + 1)
        places = torch.from_numpy(words), torch.from_numpy(words // longest * (longest + 1) + head_of_arc)
        together = zip(*(numbers.split(ARCS_AT_ONCE) for numbers in places), strict=True)
        best = torch.cat([log_relations(scored.parts, *some).argmax(-1) for some in together]).cpu().numpy()
        names = np.array([*self.vocabulary.relations, ROOT], object)
        named = iter(names[np.where(head, best[place.reshape(-1)], -1)].tolist())
        return (tuple(islice(named, size)) for size in sizes.tolist())


class _Part(NamedTuple):
    """The scores of one network, and the power of its probabilities in a product."""

    network: BiaffineNetwork
    scores: ParserScores
    power: float


class Scored(NamedTuple):
    """A parser's scores of B sentences of at most n words.

    :ivar arcs: (B, n, n + 1) the logarithm of the weight of each arc at [sentence, word, head].
    """

    arcs: Tensor
    tags: Tensor
    parts: Sequence[_Part]


def log_relations(parts: Sequence[_Part], words: Tensor, heads: Tensor) -> Tensor:
    """(arcs, relations) log products of probabilities, up to a constant, for rows of words and heads."""
    logits = (
        power * network.relations(scores.dependents.flatten(0, 1)[words], scores.heads.flatten(0, 1)[heads])
        for network, scores, power in parts
    )
    return torch.stack(list(logits)).sum(0)


def _heads(arcs: NDArray[np.float64], trees: int, seed: int) -> dict[tuple[int, ...], int]:
    """The heads of distinct trees, the most frequent first, each with the number of its draws."""
    if trees == 1:
        return {tuple(best_tree(arcs).tolist()): 1}
    draws = draw_trees(arcs, trees, np.random.default_rng(seed))
    return dict(Counter(map(tuple, draws.tolist())).most_common())


def as_read(sentence: Sentence, *, marks: bool) -> tuple[str, ...]:
    """A sentence as a parser reads it: its words, or the words `pyropunct.nets.word_batches.with_marks`."""
    forms = sentence.tree.forms
    return with_marks(forms, sentence.surface) if marks else forms


def train_parser(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ParserRecipe | None = None,
    *,
    pretrained: Pretrained | None = None,
    marks: bool = False,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> BiaffineParser:
    """Train a tagger and parser on the unpunctuated trees of a treebank; equal seeds give equal parsers.

    :param dev: sentences whose LAS chooses the best epoch; without them the last epoch is kept.
    :param pretrained: features of words that the parser reads as well; forgotten afterwards unless
        `pyropunct.nets.pretrained.CachedFeatures`.
    :param marks: let the parser read words `pyropunct.nets.word_batches.with_marks`.  Its trees are of the
        words.
    :param device: for training; the result is on the CPU.
    :raises ValueError: if one of the treebanks has no sentence.
    """
    data = sequences("parser", train, dev)
    arguments = *data, recipe or ParserRecipe(), seed, with_cache(pretrained), device
    make = partial(ParserTraining, *arguments, marks=marks)
    return replace(trained(make, seed, checkpoint, watch), pretrained=pretrained)


class ParserTraining(NetworkTraining[BiaffineParser]):
    """The training of one parser; ``marks`` as for `train_parser`."""

    kind = BiaffineParser
    what = "parser"

    def __init__(self, *arguments: Any, marks: bool = False) -> None:
        self.marks = marks
        super().__init__(*arguments)

    def vocabulary(self) -> ParserVocabulary:
        """The types of words, tags and relations."""
        return build_parser_vocabulary(self.train, map(self.read, self.train), self.recipe.form_count)

    def read(self, sentence: Sentence) -> tuple[str, ...]:
        """A sentence as the parser reads it."""
        return as_read(sentence, marks=self.marks)

    def loss(self, batch: list[int]) -> Tensor:
        """See `BiaffineNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        words = self.model.encode(list(map(self.read, sentences)))
        return self.model.network.loss(words, self.model.vocabulary.answers(sentences).to(self.device))

    def scores(self, model: BiaffineParser, dev: Sequence[Sentence]) -> AttachmentScores:
        """The scores of the best trees."""
        trees = [sentence.tree for sentence in dev]
        parses = model.parse(list(map(self.read, dev)))
        return attachment_scores([best.tree for best, *_ in parses], trees)

    def data(self) -> Iterable[object]:
        """The pretrained features and the trees."""
        if self.source is not None:
            yield self.source.identity()
        for sentence in [*self.train, *(self.dev or ())]:
            yield sentence.tree
            if self.marks:
                yield sentence.surface
