"""The punctemes that each dependency relation sprouts (Li, Wang & Eisner 2019, section 5.2).

Queries in the language of Grew (https://grew.fr) find them in what ``underlying --format conllu`` writes.
"""

import json
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.inside import posterior_pairs
from pyropunct.models.symmetry import symmetry_class
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.kinds import NO_SUBTYPE
from pyropunct.tasks.explain.mark_functions import OF_PAIRS
from pyropunct.text.marks import displayed_string
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import base

SYMMETRIC = {"the same on both sides", "matched", "matched and more"}
"""The classes of `pyropunct.models.symmetry.CLASSES` whose pairs are symmetric: ``, ,`` and ``“ ”``."""

K = TypeVar("K", bound=Hashable)

NONE = "ε"
"""The empty puncteme, for a person to read."""


class PairShare(NamedTuple):
    """A puncteme pair of a relation, and the expected share of constituents that sprout it."""

    left: Puncteme
    right: Puncteme
    share: float

    @property
    def text(self) -> str:
        """Both punctemes for a person to read, on either side of a bar."""
        left, right = (displayed_string(side) or NONE for side in (self.left, self.right))
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


def relation_punctemes(
    model: FittedStory, sentences: Sequence[Sentence], *, least: int = 1, advance: Advance = lambda done: None
) -> list[RelationPunctemes]:
    """The expected puncteme pairs of relations under q(T'), those with the most symmetric pairs
    first::

        share of (l, r) for d = mean over the constituents w with relation d of p(l_w = l, r_w = r | T, x)

    The paper's Table 4 has the five most symmetric relations.  It does not say whether its shares are
    expectations or counts in the best T'.
    """
    known, decode = model.vocabulary, model.vocabulary.decode_string
    kinds = [list(map(known.relation_number, sentence.tree.relations)) for sentence in sentences]
    counts = Counter(chain.from_iterable(kinds))
    punctemes = []
    for number, expected in pairs_by_kind(model, sentences, kinds, advance).items():
        if (count := counts[number]) >= least:
            first, last = known.inventory.pair_start[number : number + 2]
            shares = expected[first:last] / expected[first:last].sum()
            order = np.argsort(-shares, kind="stable").tolist()
            own = [(known.inventory.rows[first + place], float(shares[place])) for place in order]
            pairs = tuple(PairShare(decode(left), decode(right), share) for (left, right), share in own)
            punctemes.append(RelationPunctemes(known.relations[number], count, pairs))
    return sorted(punctemes, key=lambda row: (-row.symmetric, row.relation))


def pairs_by_kind(
    model: FittedStory,
    sentences: Sequence[Sentence],
    kinds: Sequence[Sequence[K]],
    advance: Advance = lambda done: None,
) -> dict[K, NDArray[np.float64]]:
    """(rows,) expected counts of puncteme pairs under q(T') in constituents of each kind.

    :param kinds: those of the constituents of each sentence.
    """
    number = {kind: place for place, kind in enumerate(dict.fromkeys(chain.from_iterable(kinds)))}
    expected, rest = np.zeros((len(number), len(model.vocabulary.inventory.rows))), iter(kinds)
    for part, problem in model.problems(sentences):
        of_node = [number[kind] for kind in chain.from_iterable(islice(rest, len(part)))]
        of_choice = np.repeat(of_node, np.diff(problem.choice_start))
        np.add.at(expected, (of_choice, problem.rows.numpy()), posterior_pairs(problem).double().numpy())
        advance(len(part))
    return dict(zip(number, expected, strict=True))


def grew_query(of: str, pair: str) -> str | None:
    """The query for constituents with a pair of punctemes, given a row of relations and `PairShare.text`.

    It does not find those with marks around a part, whose entries have these marks too.  None for what no
    query can tell: rows of the page or of some constituents of a relation, and marks that CoNLL-U escapes.
    """
    relation, sides = of.removesuffix(NO_SUBTYPE), pair.split(" | ")
    if " " in relation or len(sides) != 2 or not {"|", "\\"}.isdisjoint("".join(sides)):
        return None
    edge = f"1={relation}" if relation == of == base(of) else relation  # also subtypes
    features = [
        f"!{name}" if marks == NONE else f"{name}={json.dumps(marks.replace(' ', '+'), ensure_ascii=False)}"
        for name, marks in zip(("PunctLeft", "PunctRight"), sides, strict=True)
    ]
    if not OF_PAIRS.isdisjoint(pair.split(" ")):
        features.append("!PunctPart")
    return f"pattern {{ X [{', '.join(features)}]; * -[{edge}]-> X }}"
