"""Refusal of inference that takes a prior draw of the punctemes for their posterior.

A site marked ``infer={"enumerate": "tree"}`` is drawn from its prior, as when a model runs forward, if no
handler of this package sums it out.  Pyro's ELBOs and `pyro.infer.infer_discrete` would then score the
observed surface given that draw, most often as minus infinity, and warn at most.  They run the model under a
handler of theirs, and score the surface afterwards.  So draws under such a handler are remembered, and
surfaces that come from them are refused when they are scored.
"""

from typing import Any

from pyro.ops.provenance import detach_provenance
from pyro.poutine.enum_messenger import EnumMessenger
from pyro.poutine.replay_messenger import ReplayMessenger
from torch import Tensor

from pyropunct.inference.pyro.private import handlers_in_force

_UNDER = "_drawn_under"


def drawn(choices: Tensor) -> Tensor:
    """Remember under which handler of Pyro's inference choices have been drawn from their prior, if any."""
    for messenger in handlers_in_force():
        if isinstance(messenger, (EnumMessenger, ReplayMessenger)):
            setattr(choices, _UNDER, messenger)
    return choices


def is_prior_draw(choices: Tensor) -> bool:
    """Whether choices were drawn from their prior, under such a handler, in this very run of the model."""
    under: Any = getattr(detach_provenance(choices), _UNDER, None)
    return under is not None and any(messenger is under for messenger in handlers_in_force())


def refuse_prior_draw() -> None:
    """Complain about an observed surface whose punctemes are a prior draw.

    :raises NotImplementedError: always.
    """
    raise NotImplementedError(
        "a surface is observed, but its punctemes are drawn from their prior, since nothing sums out the "
        "trees: use TreeEnum_ELBO, or collapse_trees(model) with another ELBO, or infer_trees(model)"
    )
