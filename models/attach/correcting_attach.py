"""ATTACH for correction: the punctemes that a constituent should have, given those that it has wrongly."""

from collections.abc import Sequence
from typing import Any

import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.views import Views
from pyropunct.models.attach.feature_weights import PairPart
from pyropunct.models.attach.features import FAMILIES, LEFTS, RIGHTS, Template, templates
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.priors import NormalPrior
from pyropunct.models.trees import TreeBatch, string_number

ERROR_COLUMNS = ("error_left", "error_right", "wrong_before", "wrong_after")
"""Columns of `TreeBatch.more` about each word w of the wrong sentence: the left and the right puncteme of w_e
in T'_e, and the strings in the slots on its left and on its right."""


PUNCTEMES = "error_left + error_right"
EDGES = "first wrong_before + last wrong_after"

CORRECTION: list[Template] = [
    *templates(
        [PairPart.PAIR],
        PUNCTEMES,
        EDGES,
        f"{PUNCTEMES} + {EDGES}",
        f"{PUNCTEMES} + tag",
        f"{PUNCTEMES} + head tag + side",
        f"{PUNCTEMES} + head relation",
        f"{PUNCTEMES} + length",
        f"{PUNCTEMES} + edges",
    ),
    *templates(
        [PairPart.SYMMETRY],
        PUNCTEMES,
        f"relation + {PUNCTEMES}",
        f"relation + {PUNCTEMES} + tag + side",
        f"relation + {PUNCTEMES} + length + edges",
        f"relation + {EDGES}",
    ),
    *templates(
        LEFTS,
        "error_left",
        "first wrong_before",
        "error_left + first wrong_before",
        "error_left + last wrong_after",
        "first wrong_before + first wrong_after",
        "before wrong_before + first wrong_before",
        "error_left + before tag + first tag",
        "error_left + before relation",
        "error_left + before form",
        "error_left + first form",
    ),
    *templates(
        RIGHTS,
        "error_right",
        "last wrong_after",
        "error_right + last wrong_after",
        "error_right + first wrong_before",
        "last wrong_after + last wrong_before",
        "last wrong_after + after wrong_after",
        "error_right + last tag + after tag",
        "error_right + after relation",
        "error_right + last form",
        "error_right + after form",
    ),
]
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
