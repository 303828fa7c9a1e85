"""A story that reads: what a network reads in the words, as features of the punctemes of constituents.

A network that never saw the tree may say for each slot how probable each mark is.  The story hangs what it
says on constituents: with o_left(m) and o_right(m) for the log-odds of the mark m in the slots at the edges
of w, the score of equation (3) of Li, Wang & Eisner (2019, section 2.1) becomes ::

    score(l, r, w)  =  a theta . f(l, r, w)  +  sum over marks m of l of  u_left(m) o_left(m) + v_left(m)
                                             +  sum over marks m of r of  u_right(m) o_right(m) + v_right(m)

so that both marks of a pair are sprouted together, and draws of the story stay forward draws.  Learning finds
how far to trust the network (u), what both of them know already (v), and how much is left to the tree (a).
"""

from typing import Any

import torch
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.models.priors import normal_prior
from pyropunct.models.trees import READING, TreeBatch

OWN, TRUST = 0.8, 0.5
"""The prior means of a and of u; that of v is 0."""

SCALE = 0.5
"""The prior standard deviation of all weights."""


class Trust(PyroModule):
    """The weights a, u and v, and the scores that they give.

    :param inventory: the sets W_d.
    """

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory = inventory
        rows, tokens = inventory.rows, inventory.num_tokens
        count = torch.zeros(2, tokens, len(rows))
        for row, pair in enumerate(rows):
            for side, puncteme in enumerate(pair):
                for token in puncteme:
                    count[side, token, row] += 1
        self._count = count.flatten(0, 1)  # (2 tokens, rows)
        sides = torch.ones(2, tokens)
        # tensors when read
        self.own: Any = PyroSample(lambda module: normal_prior(torch.tensor([OWN]), SCALE).to_event(1))
        self.trust: Any = PyroSample(lambda module: normal_prior(TRUST * sides, SCALE).to_event(2))
        self.offset: Any = PyroSample(lambda module: normal_prior(0 * sides, SCALE).to_event(2))

    def scores(self, trees: TreeBatch) -> Tensor:
        """(C,) what is added to the scores of the pairs of all nodes, node after node.

        :raises ValueError: if nobody has read the words of the trees.
        """
        if READING not in trees.more:
            raise ValueError(f"the story reads what a network says of words: the trees have no {READING!r}")
        trust, offset = self.trust, self.offset
        odds = trees.more[READING].to(trust)
        count = self._count.to(trust)
        table = (trust * odds + offset).flatten(-2) @ count
        relation = trees.relation.cpu()
        sizes = torch.from_numpy(choice_start(self.inventory, relation)).diff()
        node, row = torch.repeat_interleave(sizes), choice_rows(self.inventory, relation)
        return table[..., node.to(table.device), row.to(table.device)]
