"""Reading: the predictions of a network that reads the words without a tree, as features of punctemes.

With o_left(m) and o_right(m) the network's log-odds of the mark m in the slots at the edges of w, the score
of a pair, equation (3) of Li, Wang & Eisner (2019), becomes ::

    score(l, r, w)  =  a theta . f(l, r, w)  +  sum over marks m of l of  u_left(m) o_left(m) + v_left(m)
                                             +  sum over marks m of r of  u_right(m) o_right(m) + v_right(m)

The weights learn how far to trust the network (u), what it has in common with the tree model (v), and how
much is left to the tree model (a).
"""

from collections.abc import Sequence
from typing import Any

import torch
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.models.priors import NormalPrior
from pyropunct.models.trees import READING, LatentTrees, TreeBatch

OWN, TRUST = 0.8, 0.5
"""The prior means of a and u.  The prior mean of v is 0."""

SCALE = 0.5
"""The prior standard deviation of all weights."""


class Trust(PyroModule):
    """The weights a, u and v, and the scores that they give."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory, tokens = inventory, inventory.num_tokens
        # A pair has the sum of what its two punctemes have, and there are far fewer of these than pairs.
        self._sides = [_counted(side, tokens) for side in zip(*inventory.rows, strict=True)]
        sides = torch.ones(2, tokens)
        # tensors when read
        self.own: Any = PyroSample(NormalPrior(torch.tensor([OWN]), SCALE))
        self.trust: Any = PyroSample(NormalPrior(TRUST * sides, SCALE))
        self.offset: Any = PyroSample(NormalPrior(0 * sides, SCALE))

    def scores(self, trees: TreeBatch | LatentTrees) -> Tensor:
        """(..., C) scores of pairs to add to the attach model's. Raises ValueError without log-odds of a
        network.
        """
        if READING not in trees.more:
            raise ValueError(f"the story reads what a network says of words: the trees have no {READING!r}")
        trust, relation = self.trust, trees.relation.cpu()
        believed = trust.unsqueeze(-3) * trees.more[READING].to(trust) + self.offset.unsqueeze(-3)
        sizes = torch.from_numpy(choice_start(self.inventory, relation)).diff()
        node, row = torch.repeat_interleave(sizes), choice_rows(self.inventory, relation)
        tables = (believed[..., side, :] @ count.to(trust) for side, (count, _) in enumerate(self._sides))
        return sum(
            table.flatten(-2)[..., (node * table.shape[-1] + place[row]).to(table.device)]
            for table, (_, place) in zip(tables, self._sides, strict=True)
        )


def _counted(punctemes: Sequence[tuple[int, ...]], tokens: int) -> tuple[Tensor, Tensor]:
    """(tokens, distinct punctemes) how often each has each token; (rows,) the place of each among them."""
    number = {puncteme: place for place, puncteme in enumerate(dict.fromkeys(punctemes))}
    count = torch.zeros(tokens, len(number))
    for puncteme, place in number.items():
        for token in puncteme:
            count[token, place] += 1
    return count, torch.tensor([number[puncteme] for puncteme in punctemes])
