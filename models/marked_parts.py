"""Which constituents put a part of themselves between brackets or quotation marks: p(part | w).

It is a departure from Li, Wang & Eisner (2019), whose marks enclose whole constituents; see
`pyropunct.inference.parts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyro.nn import PyroModule, PyroSample
from torch import Tensor
from torch.nn.functional import logsigmoid, pad

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.parts import Shapes
from pyropunct.models.priors import NormalPrior
from pyropunct.models.symmetry import CLOSERS, as_marks
from pyropunct.models.trees import TreeBatch

Array = NDArray[Any]

RARE = -5.0
"""The prior mean of the logit of having a part."""


def part_marks(inventory: Inventory, marks: Sequence[str]) -> Tensor:
    """(kinds, 2) the pairs of one opener and its closer that some relation may sprout."""
    kinds = {
        pair
        for pair, (left, right) in zip(inventory.rows, as_marks(inventory, marks), strict=True)
        if len(left) == len(right) == 1 and right[0] in CLOSERS.get(left[0], ())
    }
    return torch.tensor(sorted((left[0], right[0]) for left, right in kinds), dtype=torch.long).reshape(-1, 2)


class PartMarks(PyroModule):
    """p(part | w): the constituent w has a part between marks, of some kind, and some dependents outside.

    - w has a part with probability sigmoid(some[d]) for its relation d, if it has dependents.
    - The kind of its marks is drawn by softmax(kind).
    - From the outermost dependent inward, each stays outside with probability sigmoid(outside[d', side]) for
      its relation d', until one does not. At least one stays outside, on either side.

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

    def scores(self, trees: TreeBatch) -> "PartScores":
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


@dataclass(frozen=True)
class PartScores:
    """Log-probabilities of the parts of N nodes.

    :ivar some: (N,) the logit of having a part; ``kind``, (kinds,), the scores of their kinds.
    :ivar left: the logits of staying outside, of the left children of the forest; ``right``, of the right.
    """

    marks: Tensor
    forest: Forest
    some: Tensor
    kind: Tensor
    left: Tensor
    right: Tensor

    @property
    def _may(self) -> Tensor:
        """(N,) whether each node has dependents."""
        shapes = Shapes(self.forest)
        return ((shapes.left + shapes.right) > 0).to(self.some.device)

    def log_none(self) -> Tensor:
        """(N,) the log-probability of having no part."""
        return logsigmoid(-self.some).where(self._may, 0.0)

    def log_prob(self, node: Tensor, kind: Tensor, left_out: Tensor, right_out: Tensor) -> Tensor:
        """(K,) log-probabilities of parts of nodes."""
        device = self.some.device
        of_kind = logsigmoid(self.some[node.to(device)]) + self.kind.log_softmax(-1)[kind.to(device)]
        whole = self._log_outs(node, torch.zeros_like(left_out), torch.zeros_like(right_out))
        return of_kind + self._log_outs(node, left_out, right_out) - torch.log1p(-whole.exp())

    def log_prob_of(self, number: Tensor) -> Tensor:
        """(..., N) log-probabilities of the numbers of parts, 0 for none, of all nodes."""
        has = number > 0
        place = has.nonzero().unbind(1)
        result = self.log_none().expand(number.shape)
        if not len(place[0]):
            return result
        columns = (column[has] for column in Shapes(self.forest).columns(number))
        own = self.log_prob(place[-1], *columns)
        return result.masked_scatter(has.to(result.device), own)

    def _log_outs(self, node: Tensor, left_out: Tensor, right_out: Tensor) -> Tensor:
        """How likely so many of the outermost dependents stay outside, and the next one does not."""
        forest = self.forest
        first, end = (forest.left_child_start[node + more] for more in (0, 1))
        left = self._run(self.left, first, first + left_out, first + left_out, left_out < end - first)
        first, end = (forest.right_child_start[node + more] for more in (0, 1))
        inner = end - right_out
        return left + self._run(self.right, inner, end, inner - 1, right_out < end - first)

    def _run(self, logits: Tensor, begin: Tensor, stop: Tensor, inside: Tensor, is_inside: Tensor) -> Tensor:
        """Children from ``begin`` to ``stop`` are outside; the child ``inside``, if there is one, is not."""
        outs, stays = pad(logsigmoid(logits).cumsum(0), (1, 0)), pad(logsigmoid(-logits), (0, 1))
        begin, stop, inside, is_inside = (
            column.to(logits.device) for column in (begin, stop, inside.clamp(min=0), is_inside)
        )
        return outs[stop] - outs[begin] + stays[inside].where(is_inside, 0.0)

    @torch.no_grad()
    def draw(self) -> Tensor:
        """(N,) the numbers of drawn parts, 0 for none."""
        draws, parts = PartDraws(self), np.full((3, len(self.some), 1), -1)
        seed = int(torch.randint(2**63 - 1, ()))
        draws.draw(range(len(self.some)), np.random.default_rng(seed), parts)
        kind, left_out, right_out = torch.from_numpy(parts[:, :, 0])
        node = torch.arange(len(kind))
        return Shapes(self.forest).number(node, kind, left_out, right_out).where(kind >= 0, 0)


class PartDraws:
    """Draws parts of constituents.

    :param scores: on any device.
    """

    @torch.no_grad()
    def __init__(self, scores: PartScores) -> None:
        self._scores = scores
        self._some = scores.log_none().double().expm1().neg().cpu().numpy()
        self._known: dict[int, tuple[Array, Array]] = {}

    @torch.no_grad()
    def _options(self, node: int) -> tuple[Array, Array]:
        """The parts of a node, (options, 3), and their running sums of probability."""
        if node not in self._known:
            shapes, kinds = Shapes(self._scores.forest), torch.arange(len(self._scores.marks))
            outs = [torch.arange(int(side[node]) + 1) for side in (shapes.left, shapes.right)]
            options = torch.cartesian_prod(kinds, *outs)
            options = options[(options[:, 1:] > 0).any(-1)]
            chances = self._scores.log_prob(torch.full((len(options),), node), *options.T).double().exp()
            self._known[node] = options.numpy(), np.cumsum(chances.cpu().numpy())
        return self._known[node]

    def draw(self, nodes: range, generator: np.random.Generator, parts: Array) -> None:
        """Write parts of some nodes to (3, N, draws), -1 before: kind, left and right dependents outside."""
        chances = generator.random((len(nodes), parts.shape[2]))
        has = chances < self._some[nodes.start : nodes.stop, None]
        for place in np.flatnonzero(has.any(1)).tolist():
            options, sums = self._options(nodes.start + place)
            chosen = np.searchsorted(sums, generator.random(has[place].sum()) * sums[-1], "right")
            parts[:, nodes.start + place, has[place]] = options[np.minimum(chosen, len(sums) - 1)].T
