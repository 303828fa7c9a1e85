"""The parser's network, from encoded words to tags, arcs and relations (Dozat & Manning 2017, "Deep biaffine
attention for neural dependency parsing"), with a tagger inside.

The lower LSTMs predict the tags; the upper LSTMs read the predicted tag distributions and the lower states.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.trainer import Layers
from pyropunct.nets.word_batches import (
    UNKNOWN,
    WordBatch,
    WordTypes,
    frequent,
    known_characters,
    known_forms,
    numbers_of,
    padded,
)
from pyropunct.nets.word_embedding import BidirectionalStack, NetworkRecipe, WordNetwork, mirror
from pyropunct.treebank.conllu_block import FEATS, XPOS
from pyropunct.treebank.sentence import Sentence

ROOT = "root"
"""The relation of the root of every tree (Universal Dependencies)."""

UNSPECIFIED = "dep"
"""The relation of unknown type in Universal Dependencies, used if training has shown only roots."""

FINE_TAG_COUNT = 5

IMPOSSIBLE = -1e4
"""The score of an arc from padding."""


@dataclass(frozen=True)
class ParserRecipe(NetworkRecipe):
    """All settings of a parser, apart from the data and the seed.

    :ivar tag_size: features of the distribution of a word's tags.
    :ivar lower_layers: layers of LSTMs below the tags.
    :ivar upper_layers: layers between tags and tree.
    :ivar arc_size: features of a word as a head or a dependent, for arcs.
    :ivar relation_size: the same, for relations.
    :ivar tag_weight: the weight of the tags in the training loss.
    """

    tag_size: int = 64
    lower_layers: Layers = 1
    upper_layers: Layers = 1
    arc_size: int = 256
    relation_size: int = 64
    tag_weight: float = 0.5


class ParserAnswers(NamedTuple):
    """The gold analysis of a batch, each (sentences, longest), padded with 0; the root's head is 0."""

    tags: Tensor
    fine_tags: Tensor
    heads: Tensor
    relations: Tensor

    def to(self, device: torch.device | str) -> "ParserAnswers":
        """The same on a device."""
        return ParserAnswers(*(numbers.to(device) for numbers in self))


@dataclass(frozen=True)
class ParserVocabulary(WordTypes):
    """Numbers for the types of a treebank; forms and characters begin with `PADDING` and `UNKNOWN`."""

    tags: tuple[str, ...]
    fine_tags: tuple[str, ...]
    relations: tuple[str, ...]

    first: ClassVar[Mapping[str, tuple[str, ...]]] = {**WordTypes.first, "fine_tags": (UNKNOWN,)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """:raises ValueError: if a list of types is missing, damaged, or empty."""
        vocabulary = super().from_json(plain)
        if not vocabulary.tags or not vocabulary.relations:
            raise ValueError("there is no tag or no relation")
        return vocabulary

    def answers(self, sentences: Sequence[Sentence]) -> ParserAnswers:
        """The gold analysis of training sentences."""
        tag_number, fine_number, relation_number = self._numbers
        trees = [sentence.tree for sentence in sentences]
        fine = map(fine_tags, sentences)
        return ParserAnswers(
            tags=padded([[tag_number[tag] for tag in tree.tags] for tree in trees]),
            fine_tags=padded([[fine_number.get(tag, 0) for tag in tags] for tags in fine]),
            heads=padded([tree.heads for tree in trees]),
            relations=padded([[relation_number.get(name, 0) for name in tree.relations] for tree in trees]),
        )

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        return numbers_of(self.tags), numbers_of(self.fine_tags), numbers_of(self.relations)


def fine_tags(sentence: Sentence) -> list[str]:
    """The language-specific tag and the morphological features of each word, as one tag."""
    tokens = [sentence.layout.block.tokens[token - 1].columns for token in sentence.layout.words]
    return [f"{columns[XPOS]} {columns[FEATS]}" for columns in tokens]


def build_parser_vocabulary(
    sentences: Sequence[Sentence], texts: Iterable[Sequence[str]], form_count: int
) -> ParserVocabulary:
    """The types of a treebank; lower-cased words seen less than ``form_count`` times are `UNKNOWN`."""
    trees = [sentence.tree for sentence in sentences]
    forms = [form for text in texts for form in text]
    arcs = [arc for tree in trees for arc in zip(tree.heads, tree.relations, strict=True)]
    fine = [tag for sentence in sentences for tag in fine_tags(sentence)]
    return ParserVocabulary(
        forms=known_forms(forms, form_count),
        characters=known_characters(forms),
        tags=frequent((tag for tree in trees for tag in tree.tags), 1),
        fine_tags=(UNKNOWN, *frequent(fine, FINE_TAG_COUNT)),
        relations=frequent((relation for head, relation in arcs if head), 1) or (UNSPECIFIED,),
    )


class ParserScores(NamedTuple):
    """The network's output for B sentences of at most n words; tags are (B, n, tags) logits.

    :ivar arcs: (B, n, n + 1) scores at [sentence, word, head]; head 0 is the artificial root.
    :ivar dependents: (B, n, r) features of words as dependents, for `BiaffineNetwork.relations`.
    :ivar heads: (B, n + 1, r) features of the artificial root and of words as heads.
    """

    tags: Tensor
    fine_tags: Tensor
    arcs: Tensor
    dependents: Tensor
    heads: Tensor


class WordContexts(NamedTuple):
    """States and tag logits of the words of B sentences; each (B, longest, features)."""

    lower: Tensor
    tags: Tensor
    fine_tags: Tensor
    upper: Tensor


class BiaffineNetwork(WordNetwork):
    """Scores of tags, arcs and relations.

    Perceptrons turn a word into features d as a dependent and h as a head, and

        arc score = d' U h + u' h        relation scores = d' V_r h + v_r' [d; h] + b_r

    with smaller d and h for the relations, which are scored only for the arcs of chosen trees.
    """

    def __init__(self, vocabulary: ParserVocabulary, recipe: ParserRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        self.recipe = recipe
        tags, fine_tags = len(vocabulary.tags), len(vocabulary.fine_tags)
        context = 2 * recipe.lstm_size
        self.lower = BidirectionalStack(recipe.lower_layers, self.word_size, recipe.lstm_size)
        self.tags = nn.Linear(context, tags)
        self.fine_tags = nn.Linear(context, fine_tags)
        self.tag_vectors = nn.Linear(tags + fine_tags, recipe.tag_size, bias=False)
        nn.init.normal_(self.tag_vectors.weight, std=0.3)
        self.upper = BidirectionalStack(recipe.upper_layers, context + recipe.tag_size, recipe.lstm_size)
        self.root = nn.Parameter(torch.empty(context))
        nn.init.normal_(self.root, std=0.1)
        self.roles = nn.Linear(context, 2 * (recipe.arc_size + recipe.relation_size))
        self.arcs = nn.Linear(recipe.arc_size, recipe.arc_size)
        self.relation_pairs = nn.Linear(
            recipe.relation_size, len(vocabulary.relations) * recipe.relation_size
        )
        self.relation_sides = nn.Linear(2 * recipe.relation_size, len(vocabulary.relations))
        self.float()

    def contexts(self, batch: WordBatch) -> WordContexts:
        """The words of sentences in context; marks are read as context only."""
        reverse = mirror(batch)
        lower = self.lower(self.embed(batch), reverse, self.dropout)
        tags, fine_tags = self.tags(self.dropout(lower)), self.fine_tags(self.dropout(lower))
        guesses = torch.cat([tags.softmax(-1), fine_tags.softmax(-1)], -1)
        upper = self.upper(torch.cat([lower, self.tag_vectors(guesses)], -1), reverse, self.dropout)
        return WordContexts(*map(batch.of_words, (lower, tags, fine_tags, upper)))

    def forward(self, batch: WordBatch) -> ParserScores:
        """The scores of sentences."""
        return self.scores(self.contexts(batch), batch.unmarked.count_nonzero(1))

    def scores(self, contexts: WordContexts, lengths: Tensor) -> ParserScores:
        """The scores of sentences from their states; ``lengths`` (B,) counts their words."""
        _, tags, fine_tags, upper = contexts
        sentences, longest, _ = upper.shape
        words = torch.cat([self.root.expand(sentences, 1, -1), upper], 1)
        roles = self.dropout(functional.leaky_relu(self.roles(self.dropout(words)), 0.1))
        arc, relation = self.recipe.arc_size, self.recipe.relation_size
        dependents, heads, relation_dependents, relation_heads = roles.split(
            [arc, arc, relation, relation], -1
        )
        arcs = self.arcs(dependents[:, 1:]) @ heads.transpose(1, 2)
        padding = torch.arange(longest + 1, device=lengths.device) > lengths[:, None]
        arcs = arcs.masked_fill(padding[:, None], IMPOSSIBLE)
        return ParserScores(tags, fine_tags, arcs, relation_dependents[:, 1:], relation_heads)

    def relations(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """(arcs, relations) logits, from ``dependents`` and ``heads`` (arcs, r) of `ParserScores`."""
        sides = self.relation_sides(torch.cat([dependents, heads], -1))
        pairs = self.relation_pairs(dependents).view(*sides.shape, self.recipe.relation_size)
        return (pairs @ heads[..., None]).squeeze(-1) + sides

    def loss(self, batch: WordBatch, answers: ParserAnswers) -> Tensor:
        """The negative log-probability per word of the gold heads, relations and (weighted) tags."""
        scores = self(batch)
        word = batch.unmarked.nonzero(as_tuple=True)
        sentence, place = answers.heads.nonzero(as_tuple=True)  # all words but the roots
        head = answers.heads[sentence, place]
        relations = self.relations(scores.dependents[sentence, place], scores.heads[sentence, head])
        entropy = functional.cross_entropy
        tag_loss = entropy(scores.tags[word], answers.tags[word])
        tag_loss = tag_loss + entropy(scores.fine_tags[word], answers.fine_tags[word])
        head_loss = entropy(scores.arcs[word], answers.heads[word])
        relation_loss = entropy(relations, answers.relations[sentence, place], reduction="sum") / len(word[0])
        return head_loss + relation_loss + self.recipe.tag_weight * tag_loss
