"""A site for each constituent, for comparisons with `pyro.infer.TraceEnum_ELBO`."""

from collections.abc import Callable
from typing import Any

import pyro
import pyro.distributions as dist
import torch
from torch import Tensor

from pyropunct.inference.pyro.collapse import LeaveOpen
from pyropunct.inference.pyro.posterior import Posterior
from pyropunct.inference.pyro.sites import PunctuatedTrees, rewritten


class _OneByOne(LeaveOpen):
    def _pyro_sample(self, msg: Any) -> None:
        super()._pyro_sample(msg)
        fn = msg["fn"]
        if isinstance(fn, PunctuatedTrees) and fn.state is not None:
            if msg["value"] is None:
                raise NotImplementedError(
                    "one_by_one needs a surface: it compares sums over the punctemes behind it"
                )
            fn.state.show(msg["value"])
            msg["fn"] = rewritten(fn.state, _node_by_node(fn.state.posterior)).expand(fn.batch_shape)
        elif msg["infer"].get("one by one"):  # outside of the plate of trees
            msg["cond_indep_stack"] = tuple(frame for frame in msg["cond_indep_stack"] if frame.dim != -1)


def _node_by_node(posterior: Posterior) -> Tensor:
    inputs, log_pairs = posterior.inputs, posterior.log_pairs
    if inputs.parts is not None:
        raise NotImplementedError(
            "one_by_one has no sites for the parts of constituents: use a story without them"
        )
    if log_pairs.dim() > 1 and inputs.forest.num_trees > 1:
        raise NotImplementedError(
            "one_by_one makes the sites of constituents outside of the plate of trees: where scores depend "
            "on an enumerated site, compare one tree at a time"
        )
    values = []
    for node, scores in enumerate(log_pairs.split(inputs.start.diff().tolist(), -1)):
        logits = scores.unsqueeze(-2) if scores.dim() > 1 else scores
        infer: Any = {"enumerate": "parallel", "one by one": True}
        values.append(pyro.sample(f"pair {node}", dist.Categorical(logits=logits), infer=infer))
    values = list(torch.broadcast_tensors(*values))
    # Values enumerated in parallel have a dimension of 1 for the plate of trees: it becomes the nodes'.
    return torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1)


def one_by_one(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model with a site "pair 0", "pair 1", ... for each node, as `pyro.infer.TraceEnum_ELBO` needs it.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> story.attach.table = torch.zeros(len(story.inventory.rows))
        >>> tree, x = trees.pick([0]), surface[: trees.forest.slot_start[1]]
        >>> trace = poutine.trace(one_by_one(story)).get_trace(tree, x)
        >>> sum(name.startswith("pair ") for name in trace.nodes) == tree.forest.num_nodes
        True

    For comparisons: the sites are marked to be enumerated in parallel, and their number is small.

    :raises NotImplementedError: when called, without a surface, or for several trees whose scores depend on
        an enumerated site.
    """
    return _OneByOne()(model)
