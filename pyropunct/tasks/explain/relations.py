"""The punctemes that each dependency relation sprouts (Li, Wang & Eisner 2019, section 5.2).

Queries in the language of Grew (https://grew.fr) find them in what ``underlying --format conllu`` writes.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.inside import posterior_pairs
from pyropunct.models.symmetry import symmetry_class
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.mark_functions import OF_PAIRS
from pyropunct.tasks.explain.tree_text import puncteme_entries
from pyropunct.text.marks import display, displayed_string
from pyropunct.treebank.sentence import Puncteme, Sentence

SYMMETRIC = {"the same on both sides", "matched", "matched and more"}
"""The classes of `pyropunct.models.symmetry.CLASSES` whose pairs are symmetric: ``, ,`` and ``“ ”``."""


class PairShare(NamedTuple):
    """A puncteme pair of a relation, and the expected share of constituents that sprout it."""

    left: Puncteme
    right: Puncteme
    share: float

    @property
    def text(self) -> str:
        """Both punctemes for a person to read, on either side of a bar; ε is the empty one."""
        left, right = (displayed_string(side) or "ε" for side in (self.left, self.right))
        return f"{left} | {right}"

    @property
    def is_symmetric(self) -> bool:
        """Whether both punctemes are equal, or hold brackets or quotation marks that face each other."""
        return symmetry_class(self.left, self.right) in SYMMETRIC


@dataclass(frozen=True)
class RelationPunctemes:
    """The punctemes that the constituents of a relation sprout.

    :ivar relation: "" stands for all not seen in training; unseen subtypes count without the subtype.
    :ivar pairs: the puncteme pairs, the most frequent first; their shares add up to 1.
    """

    relation: str
    count: int
    pairs: tuple[PairShare, ...]

    @property
    def name(self) -> str:
        """The relation for a person to read."""
        return self.relation or "(other)"

    @property
    def entropy(self) -> float:
        """The entropy of the puncteme pair, - sum p log2 p, in bits."""
        return math.fsum(-pair.share * math.log2(pair.share) for pair in self.pairs if pair.share > 0)

    @property
    def nonempty(self) -> float:
        """The expected share of its constituents that sprout anything."""
        return math.fsum(pair.share for pair in self.pairs if pair.left or pair.right)

    @property
    def symmetric(self) -> float:
        """The expected share of its constituents that sprout symmetric punctemes."""
        return math.fsum(pair.share for pair in self.pairs if pair.is_symmetric)

    @property
    def symmetric_of_nonempty(self) -> float | None:
        """The share of symmetric pairs among those that are not empty; None if all are empty."""
        return self.symmetric / self.nonempty if self.nonempty > 0 else None

    def to_json(self, pairs: int) -> dict[str, Any]:
        """A dictionary of plain JSON types, with at most so many puncteme pairs."""
        columns = ("relation", "count", "entropy", "nonempty", "symmetric", "symmetric_of_nonempty")
        return {
            **{name: getattr(self, name) for name in columns},
            "pairs": [
                {
                    "left": list(map(display, pair.left)),
                    "right": list(map(display, pair.right)),
                    "share": pair.share,
                    "symmetric": pair.is_symmetric,
                }
                for pair in self.pairs[:pairs]
            ],
        }


def relation_punctemes(
    model: FittedStory, sentences: Sequence[Sentence], *, least: int = 1, advance: Advance = lambda done: None
) -> list[RelationPunctemes]:
    """The expected puncteme pairs of relations under q(T'), those with the most symmetric pairs
    first::

        share of (l, r) for d = mean over the constituents w with relation d of p(l_w = l, r_w = r | T, x)

    The paper's Table 4 has the five most symmetric relations.  It does not say whether its shares are
    expectations or counts in the best T'.
    """
    inventory, decode = model.vocabulary.inventory, model.vocabulary.decode_string
    [expected], [counts] = pairs_by_class(
        model, sentences, lambda sentence: [0] * len(sentence.tree), 1, advance
    )
    punctemes = []
    for name, count, (first, last) in zip(
        model.vocabulary.relations, counts, pairwise(inventory.pair_start), strict=True
    ):
        if count >= max(1, least):
            shares = expected[first:last] / expected[first:last].sum()
            order = np.argsort(-shares, kind="stable").tolist()
            own = [(inventory.rows[first + place], float(shares[place])) for place in order]
            pairs = tuple(PairShare(decode(row[0]), decode(row[1]), share) for row, share in own)
            punctemes.append(RelationPunctemes(name, int(count), pairs))
    return by_symmetry(punctemes)


def by_symmetry(punctemes: Iterable[RelationPunctemes]) -> list[RelationPunctemes]:
    """Relations with the most symmetric pairs first."""
    return sorted(punctemes, key=lambda row: (-row.symmetric, row.relation))


def pairs_by_class(
    model: FittedStory,
    sentences: Sequence[Sentence],
    class_of: Callable[[Sentence], Sequence[int]],
    classes: int,
    advance: Advance = lambda done: None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(classes, rows) expected counts of puncteme pairs under q(T'), and (classes, relations) constituents.

    :param class_of: gives the number of the class of each constituent of a sentence.
    """
    inventory = model.vocabulary.inventory
    expected = np.zeros((classes, len(inventory.rows)))
    counts = np.zeros((classes, inventory.num_relations), dtype=np.int64)
    for part, problem in model.problems(sentences):
        of_node = np.concatenate([class_of(sentence) for sentence in part])
        of_choice = np.repeat(of_node, np.diff(problem.choice_start))
        np.add.at(expected, (of_choice, problem.rows.numpy()), posterior_pairs(problem).double().numpy())
        np.add.at(counts, (of_node, problem.relation.numpy()), 1)
        advance(len(part))
    return expected, counts


def relation_names(model: FittedStory, sentences: Iterable[Sentence]) -> Mapping[str, list[str]]:
    """The names that treebank sentences have for each relation that a model knows."""
    known = model.vocabulary
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted({name for sentence in sentences for name in sentence.tree.relations}):
        found[known.relations[known.relation_number(name)]].append(name)
    return found


def grew_query(relations: Iterable[str], left: Puncteme, right: Puncteme) -> str | None:
    """The query for constituents with one of some relations and a pair of punctemes.

    It does not find those with marks around a part, whose entries have these marks too.  None for marks that
    CoNLL-U escapes.
    """
    if any(character in mark for mark in (*left, *right) for character in "|\\"):
        return None
    [entries] = puncteme_entries([(left, right)])
    features = [f"{name}={_quoted(entries[name])}" if name in entries else f"!{name}" for name in SIDES]
    if not OF_PAIRS.isdisjoint((*left, *right)):
        features.append("!PunctPart")
    return f"pattern {{ X [{', '.join(features)}]; * -[{'|'.join(relations)}]-> X }}"


SIDES = ("PunctLeft", "PunctRight")


def _quoted(text: str) -> str:
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'
