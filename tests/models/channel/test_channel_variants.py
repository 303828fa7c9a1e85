"""The channels of the package beside the paper's, by name and on the command line."""

from pathlib import Path

import pytest
import torch
from brute_force import String
from by_hand import chances, draws, edit_counts
from command_line import answer

from pyropunct.embedded import embedded_treebank_path
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.punctuator import Punctuator


@pytest.fixture
def slices(tmp_path: Path) -> tuple[Path, Path]:
    """30 and 10 sentences of the embedded treebank, with few marks: two passes take their time."""
    sentences = embedded_treebank_path("train").read_text(encoding="utf-8").split("\n\n")
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    train.write_text("\n\n".join(sentences[:30]) + "\n\n", encoding="utf-8")
    dev.write_text("\n\n".join(sentences[30:40]) + "\n\n", encoding="utf-8")
    return train, dev


def test_fit_with_two_passes(slices: tuple[Path, Path], tmp_path: Path) -> None:
    """They have two tables of edits, so none is the channel's."""
    train, dev = slices
    out = tmp_path / "m"
    options = ("--channel", "two-passes", "--direction", "right", "--epochs", 1, "--threads", 1)
    value = answer("fit", train, "--dev", dev, "--out", out, *options)
    last = value["epochs"][-1]["perplexity"]
    assert answer("evaluate", out, dev)["perplexity"] == pytest.approx(last, rel=1e-3)
    assert last < 20
    assert len(answer("sample", out, dev)["sentences"]) == 10
    assert Punctuator.load(out).recipe.channel == "two-passes"
    assert not value["edits"]


def chance(channel: Channel, underlying: String, surface: String) -> float:
    return float(chances(channel, [surface], underlying))


def test_two_passes_do_what_one_from_the_left_cannot() -> None:
    """The paper's example (section 2.2): the period of '”. moves to the left of both quotation marks."""
    single, double, period = range(3)
    channel = TwoPasses(3)
    kept = torch.tensor([0.0, -torch.inf, -torch.inf, -torch.inf])
    moved = torch.tensor([-torch.inf, -torch.inf, -torch.inf, 0.0])
    channel.first.edit_logits = kept.expand(3, 3, 4)
    back = kept.repeat(3, 3, 1)
    back[period, double] = back[period, single] = (
        moved  # the window has the period and reads a quotation mark
    )
    channel.second.edit_logits = back
    assert chance(channel, (single, double, period), (period, single, double)) == 1
    assert draws(channel, (single, double, period), 1) == {(period, single, double): 1}


def test_two_passes_over_a_long_string() -> None:
    """Longer than there is room for at first."""
    channel, long = TwoPasses(3), (1, 2) * 800
    kept = torch.tensor([0.0, -torch.inf, -torch.inf, -torch.inf]).expand(3, 3, 4)
    channel.first.edit_logits = channel.second.edit_logits = kept
    assert draws(channel, long, 1) == {long: 1}


@pytest.mark.parametrize("direction", ["left", "right"])
def test_edits_are_counted_with_and_without_insertions(direction: str) -> None:
    """The counts are derivatives by logarithms of weights; there are two edits on every way."""
    channel = Inserting(3, direction, prior_insertion=-1.0)
    channel.edit_logits, channel.insertion_logits = torch.randn(3, 3, 4), torch.randn(3)
    counts = edit_counts(channel, (1, 2, 1), (2, 1, 2, 1))
    assert float(counts.sum()) == pytest.approx(2, abs=1e-13)
    assert counts[0].abs().sum() == counts[:, 0].abs().sum() == 0
