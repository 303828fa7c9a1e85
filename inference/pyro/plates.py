"""The place of trees among plates and the dimensions of enumerated sites."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pyro
import torch
from pyro.poutine.indep_messenger import CondIndepStackFrame
from pyro.poutine.messenger import Messenger
from pyro.poutine.runtime import get_plates
from torch import Tensor

TREES = "trees"
"""The name of a model's own plate of trees."""


class OtherSite(NamedTuple):
    """A site beside those of the trees.

    :ivar frames: the plates around it.
    :ivar dim: the dimension of its values, if it is enumerated.
    """

    name: str
    frames: Sequence[CondIndepStackFrame]
    dim: int | None


def refuse_plates_between(msg: Any) -> None:
    """Refuse a site of trees whose plate is not dimension -1, or has others around it, within the handler.

    :raises NotImplementedError: with the names of the site and its plates.
    """
    frames = [frame for frame in msg["cond_indep_stack"] if frame.vectorized]
    if [frame.dim for frame in frames] not in ([], [-1]):
        plates = ", ".join(f"'{frame.name}' (dim={frame.dim})" for frame in frames)
        raise NotImplementedError(
            f"site '{msg['name']}' is in the plates {plates}: tree enumeration needs its own plate alone, "
            "with dim=-1; others go around the collapsed model, with dim=-2 and less"
        )


def in_plates(log_pairs: Tensor) -> Tensor:
    """(..., C) the same numbers for each element of the plates around, whose posteriors are independent.

    :raises NotImplementedError: if a plate around has the dimension of the trees, or if the numbers have
        dimensions on the left that do not fit the plates.
    """
    sizes = {dim: frame.size for dim, frame in _plates_around().items()}
    plates = torch.Size(sizes.get(dim, 1) for dim in range(min(sizes, default=-1), -1))
    try:
        return log_pairs.expand(*torch.broadcast_shapes(plates, log_pairs.shape[:-1]), -1)
    except RuntimeError:
        raise NotImplementedError(
            f"log p(l, r | w) has the dimensions {tuple(log_pairs.shape[:-1])} on the left, the plates "
            f"around the trees have {tuple(plates)}"
        ) from None


def plate_of_trees(evidence: Tensor, others: Sequence[OtherSite]) -> AbstractContextManager[Any]:
    """The plate that the evidence of trees is to be put in.

    :param evidence: (..., B) whose dimensions on the left are of plates around, or of enumerated sites.
    :raises NotImplementedError: if a dimension is of neither, or if an enumerated site that the evidence
        depends on is in another plate within the handler than that of the trees.
    """
    around = _plates_around()
    names = {frame.name for frame in around.values()}
    enumerated = {site.dim: site for site in others if site.dim is not None}
    for dim in range(-evidence.dim(), -1):
        size = evidence.shape[dim]
        if size == 1 or (dim in around and around[dim].size == size):
            continue
        if dim not in enumerated:
            raise NotImplementedError(
                f"log p(x | T) has {size} values in dimension {dim}, which is that of no enumerated site and "
                "of no plate of this size around the collapsed model"
            )
        _refuse_local_plates(enumerated[dim], names, evidence.shape[-1])
    within = [frame for site in others for frame in site.frames if frame.name not in names]
    of_trees = [frame for frame in within if _is_of_trees(frame, evidence.shape[-1])]
    _refuse_other_samples(within, evidence.shape[-1])
    return _Again(of_trees[0]) if of_trees else pyro.plate("_trees", evidence.shape[-1], dim=-1)


def _plates_around() -> dict[int, CondIndepStackFrame]:
    """The plates around the place that runs now, by their dimensions."""
    around = {frame.dim: frame for frame in get_plates() if frame.dim is not None}
    if -1 in around:
        raise NotImplementedError(
            f"the plate '{around[-1].name}' around the collapsed model has the dimension of the trees: give "
            "it dim=-2 or less"
        )
    return around


def _is_of_trees(frame: CondIndepStackFrame, trees: int) -> bool:
    return (frame.name, frame.dim, frame.size) == (TREES, -1, trees)


def _refuse_local_plates(site: OtherSite, around: set[str], trees: int) -> None:
    local = [frame for frame in site.frames if frame.name not in around]
    if all(_is_of_trees(frame, trees) for frame in local):
        return
    plates = ", ".join(f"'{frame.name}'" for frame in local)
    raise NotImplementedError(
        f"log p(x | T) depends on the enumerated site '{site.name}' in the plates {plates}, whose elements "
        f"need not be the trees: a site for each tree belongs in a plate named '{TREES}' of dim=-1 and size "
        f"{trees}"
    )


def _refuse_other_samples(within: Sequence[CondIndepStackFrame], trees: int) -> None:
    for frame in within:
        if frame.name == TREES and frame.full_size and not _is_of_trees(frame, trees):
            raise NotImplementedError(
                f"the plate '{TREES}' is subsampled to {frame.size} elements, but there are {trees} factors "
                "log p(x | T): scale the likelihood instead (scale_likelihood)"
            )


class _Again(Messenger):
    """A plate that has been left, for a site of its full shape."""

    def __init__(self, frame: CondIndepStackFrame) -> None:
        super().__init__()
        self._frame = frame

    def _pyro_sample(self, msg: Any) -> None:
        msg["cond_indep_stack"] = (self._frame, *msg["cond_indep_stack"])
        if self._frame.full_size:
            msg["scale"] = msg["scale"] * self._frame.full_size / self._frame.size
