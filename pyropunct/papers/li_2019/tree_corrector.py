"""The corrector of Li, Wang & Eisner (2019, section 6.2)::

    p(x_c | x_e) = sum over T, T'_c of p(T | words) p(T'_c | T'_e) p(x_c | u(T'_c))

T'_e, the underlying tree of the wrong sentence, is the most probable one under the model of right text (in
the paper, of wrong text).  Each constituent draws new punctemes, given those that it sprouts in T'_e.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from pyro.infer.autoguide import AutoGuide
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.errors import VariantError
from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.views import Views
from pyropunct.models.attach.feature_weights import PairPart
from pyropunct.models.attach.features import FAMILIES, LEFTS, RIGHTS, templates
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.slip import Slip
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.priors import NormalPrior
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch, string_number
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.decoders import Decision
from pyropunct.restore.rewriting import (
    Rewriting,
    with_abbreviation_dots,
    with_own_unknown,
    with_whole_pairs,
    without_abbreviation_dots,
    without_unknown,
)
from pyropunct.tasks.correct.explaining import best_punctemes
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.tasks.correct.simulation import WrongSurface, wrong_copies
from pyropunct.text.marks import Surface
from pyropunct.train.story_training import Training
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import Tree

ERROR_COLUMNS = ("error_left", "error_right", "wrong_before", "wrong_after")
"""Columns of `TreeBatch.more` about each word w of the wrong sentence: the left and the right puncteme of w_e
in T'_e, and the strings in the slots on its left and on its right."""

_P, _X = "error_left + error_right", "first wrong_before + last wrong_after"
_CONTEXTS: Sequence[tuple[Sequence[PairPart], str]] = (
    (
        [PairPart.PAIR],
        f"{_P}; {_X}; {_P} + {_X}; {_P} + tag; {_P} + head tag + side; {_P} + head relation; {_P} + length; "
        f"{_P} + edges",
    ),
    (
        [PairPart.SYMMETRY],
        f"{_P}; relation + {_P}; relation + {_P} + tag + side; relation + {_P} + length + edges; "
        f"relation + {_X}",
    ),
    (
        LEFTS,
        "error_left; first wrong_before; error_left + first wrong_before; error_left + last wrong_after; "
        "first wrong_before + first wrong_after; before wrong_before + first wrong_before; "
        "error_left + before tag + first tag; error_left + before relation; error_left + before form; "
        "error_left + first form",
    ),
    (
        RIGHTS,
        "error_right; last wrong_after; error_right + last wrong_after; error_right + first wrong_before; "
        "last wrong_after + last wrong_before; last wrong_after + after wrong_after; "
        "error_right + last tag + after tag; error_right + after relation; error_right + last form; "
        "error_right + after form",
    ),
)
CORRECTION = [one for parts, contexts in _CONTEXTS for one in templates(parts, *contexts.split("; "))]
"""The features that look at w_e, and at the wrong sentence around its constituent."""

STAYING = 4.0
"""By how much, before training, an unchanged pair scores more than a pair that changes on both sides."""


class CorrectingAttach(LogLinearAttach):
    """p(l, r | w_e) of Li, Wang & Eisner (2019, equation 11): `LogLinearAttach` with features of w_e::

        p(l, r | w_e) = exp(theta . f(l, r, w_e) + kappa[d, m, s]) / sum over (l', r') in W_d

    The trees must have `ERROR_COLUMNS`. Features are the punctemes (l_e, r_e) of w_e and the wrong strings at
    its edges, alone and with tags, relations, words and lengths. They are our own: the paper lists its
    features in an appendix that was not available. kappa weighs unchanged punctemes: d is the relation, m
    says on which sides w_e has marks, s on which sides l = l_e and r = r_e.
    """

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        families: Sequence[str] = tuple(FAMILIES),
        prior_scale: float = 1.0,
        least: int = 2,
    ) -> None:
        super().__init__(inventory, marks, families, prior_scale, least, completes=False)
        self.templates += CORRECTION
        numbers = [[string_number(puncteme) for puncteme in pair] for pair in inventory.rows]
        self._row_numbers = torch.tensor(numbers)
        usual = torch.tensor([0.0, STAYING / 2, STAYING / 2, STAYING]).expand(inventory.num_relations, 4, 4)
        self.register_buffer("_usual", usual, persistent=False)
        self.staying: Any = PyroSample(NormalPrior("_usual", 1.0))  # a tensor when read

    def starting_point(self, empty: float = 0.0) -> dict[str, Tensor]:
        """Weights from which training starts: all zero, as kappa already prefers unchanged pairs."""
        return super().starting_point(empty)

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        """(C,) theta . f(l, r, w_e) + kappa[d, m, s] of the pairs of views."""
        staying = trees.once(self._staying)
        return super().scores(trees, views) + self.of_views(staying, trees, views)

    def _staying(self, trees: TreeBatch) -> Tensor:
        """kappa[d, m, s] of the pairs of all nodes."""
        relation = trees.relation.cpu()
        had = torch.stack([trees.more[name].cpu() for name in ERROR_COLUMNS[:2]], -1)
        node, row = self.pairs_of(trees)
        stays = self._row_numbers[row] == had[node]
        place = (relation * 4 + _sides(had != 0))[node] * 4 + _sides(stays)
        return self.staying.flatten()[place]


def _sides(of_pair: Tensor) -> Tensor:
    """The sides on which truth values (..., 2) hold: 0 none, 1 left, 2 right, 3 both."""
    return of_pair[..., 0] + 2 * of_pair[..., 1].long()


@dataclass(frozen=True)
class ErrorTree(Tree):
    """A `Tree` with perhaps wrong punctuation x_e, and T'_e, the punctemes of each word's constituent."""

    punctemes: tuple[tuple[Puncteme, Puncteme], ...]
    wrong: tuple[String, ...]

    def strings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """The columns `ERROR_COLUMNS`."""
        left, right = zip(*self.punctemes, strict=True)
        return dict(zip(ERROR_COLUMNS, (left, right, self.wrong[:-1], self.wrong[1:]), strict=True))


def error_trees(
    model: Punctuator, parses: Sequence[WeightedTree], surfaces: Sequence[Surface]
) -> list[ErrorTree]:
    """T'_e of sentences; `Punctuator.for_parsed` reads the trees of a parser."""
    by_place: dict[int, ErrorTree] = {}
    for given in (True, False):
        places = [place for place, parse in enumerate(parses) if parse.given == given]
        trees, wrong = [parses[place].tree for place in places], [surfaces[place] for place in places]
        best = best_punctemes(model.fitted_story(given), trees, wrong)
        for place, tree, surface, punctemes in zip(places, trees, wrong, best, strict=True):
            of_tree = {field.name: getattr(tree, field.name) for field in fields(Tree)}
            by_place[place] = ErrorTree(
                **of_tree, punctemes=tuple(punctemes), wrong=tuple(map(tuple, surface))
            )
    return [by_place[place] for place in range(len(parses))]


CLOSENESS = 0.5
"""The standard deviation of the prior of the edits' logits around those of the model of right text."""


@dataclass
class CorrectionTraining(Training):
    """The training of p(T'_c | T'_e) and its channel, which stays close to that of ``clean``."""

    clean: Punctuator = field(kw_only=True)

    def _make_guide(self) -> AutoGuide:
        window_of(self.story).get_buffer("_prior_mean").copy_(window_of(self.clean.story).edit_logits)
        return super()._make_guide()


def window_of(story: Story) -> SlidingWindow:
    """The sliding window in the channel of a story; raises `VariantError` if there is none."""
    inner = story.channel.channel if isinstance(story.channel, Slip) else story.channel
    if not isinstance(inner, SlidingWindow):
        fit = "`pyropunct fit TRAIN --channel sliding-window`"
        raise VariantError(f"the paper's corrector needs a model with a sliding window: fit one with {fit}")
    return inner


def correction_recipe(clean: Recipe, **changes: Any) -> Recipe:
    """The settings of a corrector: those of the model of right text, with changes."""
    settings = {
        "attach": f"{__name__}:{CorrectingAttach.__name__}",
        "channel": "sliding-window",
        "channel_options": (),
        "edit_prior_scale": CLOSENESS,
        "parts": False,
    }
    return clean.changed(**{**settings, **changes})


def error_examples(
    reader: Punctuator, pairs: Sequence[tuple[Sentence, WrongSurface]], period: int = 0
) -> list[Sentence]:
    """Right sentences whose trees carry T'_e; every second ``period`` pairs have trees of a parser."""
    parses = [
        WeightedTree(right.tree, 1.0, given=not period or not number // period % 2)
        for number, (right, _) in enumerate(pairs)
    ]
    trees = error_trees(reader, parses, [wrong.surface for _, wrong in pairs])
    return [replace(sentence, tree=tree) for (sentence, _), tree in zip(pairs, trees, strict=True)]


def train_writer(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    clean: Punctuator,
    recipe: Recipe,
    copies: int,
    seed: int,
) -> Punctuator:
    """The model of p(T'_c | T'_e) and its channel, trained on right sentences with simulated errors.

    :param clean: the model of right text, fitted to the same sentences; see `wrong_copies` for its parser.
    :raises VariantError: if the channel of the clean model has no sliding window.
    """
    window_of(clean.story)
    pairs = wrong_copies(train, None, copies, seed, clean.parser)
    seen = error_examples(clean, pairs, len(train) if clean.parser is not None else 0)
    unseen = error_examples(clean, wrong_copies(dev, None, 1, seed + 1))
    training = CorrectionTraining(clean.vocabulary, seen, unseen, recipe, seed, "cpu", clean=clean)
    training.run()
    return training.punctuator()


def corrected(
    clean: Punctuator,
    writer: Punctuator,
    parses: Sequence[Sequence[WeightedTree]],
    wrong: Sequence[Surface],
    samples: int,
    seed: int,
) -> Iterator[Decision]:
    """The decisions on x_c, of least risk over draws; unknown marks and abbreviation dots stay."""
    of_trees = [surface for trees, surface in zip(parses, wrong, strict=True) for _ in trees]
    found = iter(error_trees(clean, [parse for trees in parses for parse in trees], of_trees))
    read = [[parse._replace(tree=next(found)) for parse in trees] for trees in parses]
    rewritings = [_staying_close(surface, writer) for surface in wrong]
    return decide(writer, read, samples=samples, seed=seed, rewritings=rewritings)


def _staying_close(wrong: Surface, writer: Punctuator) -> Rewriting:
    """A rewriting that leaves out draws with more halves of pairs than x_e."""

    def rewriting(draws: Draws) -> Draws:
        draws = with_own_unknown(draws, wrong, writer.vocabulary.token_number)
        draws = without_abbreviation_dots(without_unknown(draws))
        return with_whole_pairs(with_abbreviation_dots(draws, wrong), wrong)

    return rewriting
