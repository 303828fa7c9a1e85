"""The channel that pools: what it says about pairs that are often, seldom or never seen."""

from pathlib import Path

import pyro
import pytest
import torch
from command_line import answer
from pyro import poutine
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from pyro.infer.autoguide.initialization import init_to_mean
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.inference.machines.products import KEEP, LEFT_ABSORPTION, RIGHT_ABSORPTION
from pyropunct.models.channel.window import Pooled
from pyropunct.punctuator import Punctuator

WEAK, STRONG, OPENER, OTHER = range(4)


class Seen(PyroModule):
    """The edits of pairs that were seen, some number of times each."""

    def __init__(self, channel: Pooled, counts: Tensor) -> None:
        super().__init__()
        self.channel, self.counts = channel, counts

    def forward(self) -> Tensor:
        table = self.channel.edit_table()
        pyro.factor("seen", (self.counts * table.log()).sum())
        return table


def estimated(counts: Tensor, **options: float) -> Tensor:
    """phi with the logits that are most probable in view of the counts."""
    model = Seen(Pooled(4, **options), counts)
    guide = AutoDelta(model, init_loc_fn=lambda site: init_to_mean(site).clone())
    steps = SVI(model, guide, pyro.optim.Adam({"lr": 0.2}), Trace_ELBO())
    for _ in range(200):
        steps.step()
    with torch.no_grad():
        return poutine.condition(model, data=guide.median())()


@pytest.fixture(scope="module")
def counts() -> Tensor:
    """The weak mark goes before all and after all but the other one, where it was never seen.

    The opener absorbs on its right alone; the strong mark, which elsewhere remains with what it is beside,
    absorbs the opener.
    """
    counts = torch.zeros(4, 4, 4)
    counts[WEAK, [STRONG, OPENER], LEFT_ABSORPTION] = 50
    counts[[STRONG, OPENER], WEAK, RIGHT_ABSORPTION] = 50
    counts[OPENER, OTHER, RIGHT_ABSORPTION] = 50
    counts[OTHER, OPENER, KEEP] = counts[STRONG, OTHER, KEEP] = counts[OTHER, STRONG, KEEP] = 50
    counts[STRONG, OPENER, LEFT_ABSORPTION] = 1
    counts[OPENER, STRONG, LEFT_ABSORPTION] = 200
    return counts


@pytest.fixture(scope="module")
def phi(counts: Tensor) -> Tensor:
    return estimated(counts)


def test_a_pair_never_seen_does_what_its_marks_do_elsewhere(phi: Tensor) -> None:
    assert int(phi[WEAK, OTHER].argmax()) == LEFT_ABSORPTION
    assert int(phi[OTHER, WEAK].argmax()) == RIGHT_ABSORPTION
    assert int(phi[OTHER, OTHER].argmax()) == KEEP


def test_a_pair_often_seen_does_what_it_was_seen_to_do(phi: Tensor) -> None:
    """The opener absorbs what is on its right, but for the strong mark."""
    assert float(phi[OPENER, STRONG, LEFT_ABSORPTION]) > 0.9
    assert float(phi[OPENER, OTHER, RIGHT_ABSORPTION]) > 0.9


def test_a_wide_prior_pools_less(counts: Tensor) -> None:
    """What was seen once weighs more then."""
    narrow, wide = (
        float(estimated(counts, prior_scale=s)[STRONG, OPENER, LEFT_ABSORPTION]) for s in (0.5, 3.0)
    )
    assert wide > narrow + 0.2


@pytest.mark.usefixtures("single_precision")
@pytest.mark.parametrize("guide", ["map", "normal"])
def test_fit_and_rules(small: Path, tmp_path: Path, guide: str) -> None:
    out, dev = tmp_path / "m", small / "dev.conllu"
    options = ("--channel", "pooled", "--set", "edit_prior_scale=1", "--guide", guide, "--direction", "right")
    value = answer("fit", small / "train.conllu", "--dev", dev, "--out", out, "--epochs", 2, *options)
    last = value["epochs"][-1]["perplexity"]
    assert answer("evaluate", out, dev)["perplexity"] == pytest.approx(last, rel=1e-3)
    assert last < 20
    assert len(answer("sample", out, dev)["sentences"]) == 30
    assert (Punctuator.load(out).recipe.channel, bool(value["edits"])) == ("pooled", True)
    shown = answer("rules", out)["pairs"][0]["outcomes"][0]
    assert (shown["interval"] is None) == (guide == "map")
