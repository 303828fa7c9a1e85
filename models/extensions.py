"""What a story may have besides the model of Li, Wang & Eisner (2019), with weights of its own.

`Trust` reads what a network predicts from the words without a tree.  `PartMarks` puts a part of a constituent
between brackets or quotation marks; the paper's marks enclose whole constituents, see
`pyropunct.inference.parts`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.parts import PartScores
from pyropunct.models.priors import NormalPrior
from pyropunct.models.symmetry import PARTNERS, as_marks
from pyropunct.models.trees import READING, LatentTrees, TreeBatch

OWN, TRUST = 0.8, 0.5
"""The prior means of a and u.  The prior mean of v is 0."""

SCALE = 0.5
"""The prior standard deviation of all weights."""


class Trust(PyroModule):
    """The predictions of a network that reads the words without a tree, as features of punctemes.

    With o_left(m) and o_right(m) the network's log-odds of the mark m in the slots at the edges of w, the
    score of a pair, equation (3) of the paper, becomes ::

        score(l, r, w)  =  a theta . f(l, r, w)
                           +  sum over marks m of l of  u_left(m) o_left(m) + v_left(m)
                           +  sum over marks m of r of  u_right(m) o_right(m) + v_right(m)

    Three weights are learned: u says how far to trust the network, v corrects for what the network and the
    tree model both know, and a says how far to trust the tree model.
    """

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
        sizes = torch.from_numpy(self.inventory.choice_start(relation)).diff()
        node, row = torch.repeat_interleave(sizes), self.inventory.choice_rows(relation)
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


RARE = -5.0
"""The prior mean of the logit of having a part."""


def part_marks(inventory: Inventory, marks: Sequence[str]) -> Tensor:
    """(kinds, 2) the pairs of one opener and its closer that some relation may sprout."""
    kinds = {
        pair
        for pair, (left, right) in zip(inventory.rows, as_marks(inventory, marks), strict=True)
        if len(left) == len(right) == 1 and right[0] in PARTNERS.get(left[0], ())
    }
    return torch.tensor(sorted((left[0], right[0]) for left, right in kinds), dtype=torch.long).reshape(-1, 2)


class PartMarks(PyroModule):
    """p(part | w): the constituent w has a part between marks, of some kind, and some dependents outside.

    - w has a part with probability sigmoid(some[d]) for its relation d, if it has dependents.
    - The kind of its marks is drawn by softmax(kind).
    - From the outermost dependent inward, each stays outside with probability sigmoid(outside[d', side]) for
      its relation d', until one does not. At least one stays outside, on either side.

    p(x | T) sums over the parts whose marks the page shows in place.  Parts whose marks the channel absorbs
    are drawn, but left out of the sum, so it is a lower bound.

    :param marks: (kinds, 2) the left and the right mark of each kind.
    """

    def __init__(self, num_relations: int, marks: Tensor, prior_scale: float = 1.0) -> None:
        super().__init__()
        means = {
            "some": torch.full((num_relations,), RARE),
            "outside": torch.zeros(num_relations, 2),
            "kind": torch.zeros(len(marks)),
        }
        self.register_buffer("marks", marks, persistent=False)
        for name, mean in means.items():
            self.register_buffer(f"_mean_of_{name}", mean, persistent=False)
            setattr(self, name, PyroSample(NormalPrior(f"_mean_of_{name}", prior_scale)))

    def scores(self, trees: TreeBatch) -> PartScores:
        """The probabilities of the parts of all constituents.

        :raises NotImplementedError: if the weights have several values at once.
        """
        relation, forest = trees.relation.to(self.marks.device), trees.forest
        some, kind, outside = (getattr(self, name) for name in ("some", "kind", "outside"))
        if some.dim() > 1 or kind.dim() > 1 or outside.dim() > 2:
            raise NotImplementedError(
                "marks around parts of constituents take one value of their weights at a time: draw "
                "particles one by one, or use a story without parts"
            )
        of_left, of_right = (
            outside[relation][child.to(relation.device), side]
            for side, child in enumerate((forest.left_child, forest.right_child))
        )
        return PartScores(self.marks, forest, some[relation], kind, of_left, of_right)
