"""Scales of mini-batches, and guides, for `pyro.infer.SVI` of stories."""

import operator
from collections.abc import Callable
from typing import Any

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer.autoguide import AutoDelta, AutoGuideList, AutoNormal
from pyro.poutine.messenger import Messenger
from pyro.poutine.util import site_is_factor
from torch import Tensor

Model = Callable[..., Any]


class _ScaleLikelihoodMessenger(Messenger):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def _pyro_sample(self, msg: Any) -> None:
        in_trees = any(frame.dim == -1 for frame in msg["cond_indep_stack"])
        # Outside of the plate, an observed site other than a factor is a conditioned weight.
        is_seen = msg["is_observed"] and (in_trees or site_is_factor(msg))
        if is_seen or msg["infer"].get("enumerate") or "trees" in msg["infer"]:
            msg["scale"] = msg["scale"] * self._scale
        elif self._scale != 1 and in_trees:
            raise NotImplementedError(
                f"site '{msg['name']}' is latent for each tree, and scale_likelihood scales no guide: give "
                "the plate of trees a subsample_size instead"
            )


def scale_likelihood(model: Model, scale: float) -> Model:
    """The model of a treebank, where a call sees a mini-batch: log p(theta) + scale log p(x | T, theta).

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> some, x = trees.pick([0]), surface[: trees.forest.slot_start[1]]
        >>> model = scale_likelihood(collapse_trees(story), len(trees) / len(some))
        >>> poutine.trace(model).get_trace(some, x).nodes["surface"]["scale"] == len(trees)
        True

    Scales factors, enumerated sites, and what is observed in the plate of trees, but not the priors of
    weights, conditioned or not. A plate of trees with subsampling scales only the sites of the story.

    :param scale: trees in the treebank / trees in a call.
    :raises NotImplementedError: when called, if a site that is not enumerated is latent for each tree: the
        guide's factor would have to be scaled, too.
    """
    return _ScaleLikelihoodMessenger(scale)(model)


class Point(dist.Delta):
    """`pyro.distributions.Delta` that does not compare the tensor of its point with itself."""

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        """The point; its very tensor, if there is no sample shape."""
        return super().rsample(sample_shape) if sample_shape else self.v

    def log_prob(self, value: Tensor) -> Tensor:
        """0 for the point, minus infinity for other values."""
        return self.log_density if value is self.v else super().log_prob(value)


class PointEstimate(AutoDelta):
    """`pyro.infer.autoguide.AutoDelta` for sites outside plates, with `Point` for `Delta`.

    `Delta` compares each of millions of weights with itself: with a million weights, a training step takes a
    sixth longer.  Other values (by `condition` or `replay`) are compared as in Pyro.
    """

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Put every site at its current estimate."""
        if self.prototype_trace is None:
            self._setup_prototype(*args, **kwargs)
        return {
            name: pyro.sample(name, Point(operator.attrgetter(name)(self), event_dim=site["fn"].event_dim))
            for name, site in self.prototype_trace.iter_stochastic_nodes()
        }


def normal_in(part: str, model: Model, init_loc_fn: Callable[..., Tensor]) -> AutoGuideList:
    """A guide in which the sites of a part are normal and independent, and all other sites are points.

    In the mean-field approximation of a normal posterior, the variance of an element is the inverse of its
    diagonal entry in the precision matrix (Bishop 2006, section 10.1.2).  Millions of other weights stay
    points, with sparse gradients.

    :param part: the first part of the names of the normal sites.
    """

    def is_in_part(site: Any) -> bool:
        return bool(site["name"].split(".")[0] == part)

    guide = AutoGuideList(model)
    guide.append(PointEstimate(poutine.block(model, hide_fn=is_in_part), init_loc_fn=init_loc_fn))
    of_part = poutine.block(model, expose_fn=is_in_part)
    guide.append(AutoNormal(of_part, init_loc_fn=init_loc_fn))
    return guide
