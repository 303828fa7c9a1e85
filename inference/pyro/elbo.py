"""Evidence lower bounds of models whose trees are summed out, and the scale of a treebank's likelihood."""

from collections.abc import Callable
from typing import Any

from pyro import poutine
from pyro.infer import Trace_ELBO, TraceEnum_ELBO
from pyro.poutine.messenger import Messenger

from pyropunct.inference.pyro.collapse import CollapseMessenger, collapse_trees
from pyropunct.inference.pyro.decode import infer_trees, marginals
from pyropunct.inference.pyro.private import OfPreparedModels
from pyropunct.inference.pyro.told import PAIRS

Model = Callable[..., Any]


class TreeEnum_ELBO(OfPreparedModels, TraceEnum_ELBO):  # noqa: N801, named as its parents in Pyro are
    """`pyro.infer.TraceEnum_ELBO` that also sums out the punctemes of trees exactly."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("strict_enumeration_warning", False)
        super().__init__(*args, **kwargs)

    def prepared(self, model: Model) -> Model:
        """The collapsed model."""
        self._collapse = CollapseMessenger()
        return self._collapse(model)

    def compute_marginals(self, model: Model, guide: Model, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The marginals of other enumerated sites, and the posterior of each choice of the story, by "pairs".

        :raises NotImplementedError: if there are sites of both kinds, and the one depends on the other.
        """
        others = super().compute_marginals(model, guide, *args, **kwargs)
        return {**others, PAIRS: marginals(self._collapse.told[-1])}

    def sample_posterior(self, model: Model, guide: Model, *args: Any, **kwargs: Any) -> Any:
        """The model's return value with a joint posterior draw of all enumerated sites, trees included."""
        # Pyro traces the model, which `prepared` collapses, and then runs it again for the draw.
        return super().sample_posterior(infer_trees(model), guide, *args, **kwargs)


class TreeTrace_ELBO(OfPreparedModels, Trace_ELBO):  # noqa: N801, likewise
    """`TreeEnum_ELBO` for models that enumerate nothing else, without the bookkeeping that this takes."""

    def prepared(self, model: Model) -> Model:
        """The collapsed model."""
        return collapse_trees(model)


def tree_elbo(model: Model, guide: Model, *args: Any) -> TraceEnum_ELBO | Trace_ELBO:
    """The faster ELBO that suffices with at most one plate around any site; runs guide and model once."""
    guide_trace = poutine.trace(guide).get_trace(*args)
    model_trace = poutine.trace(poutine.replay(collapse_trees(model), trace=guide_trace)).get_trace(*args)
    sites = [*guide_trace.nodes.values(), *model_trace.nodes.values()]
    enumerates = any(site["type"] == "sample" and (site["infer"] or {}).get("enumerate") for site in sites)
    return TreeEnum_ELBO(max_plate_nesting=1) if enumerates else TreeTrace_ELBO(max_plate_nesting=1)


class _ScaleLikelihoodMessenger(Messenger):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def _pyro_sample(self, msg: Any) -> None:
        if msg["is_observed"] or msg["infer"].get("enumerate"):
            msg["scale"] = msg["scale"] * self._scale
        elif self._scale != 1 and any(frame.dim == -1 for frame in msg["cond_indep_stack"]):
            raise NotImplementedError(
                f"site '{msg['name']}' is latent for each tree, and scale_likelihood scales no guide: give "
                "the plate of trees a subsample_size instead"
            )


def scale_likelihood(model: Model, scale: float) -> Model:
    """The model of a treebank, where a call sees a mini-batch: log p(theta) + scale log p(x | T, theta).

    Scales observed sites, enumerated sites and factors, but not the priors of weights. A plate of trees with
    subsampling scales only the sites of the story.

    :param scale: trees in the treebank / trees in a call.
    :raises NotImplementedError: when called, if a site that is not enumerated is latent for each tree: the
        guide's factor would have to be scaled, too.
    """
    return _ScaleLikelihoodMessenger(scale)(model)
