"""The channels of the package beside the paper's, by name and on the command line."""

import math
from pathlib import Path

import pytest
import torch
from brute_force import String
from by_hand import chances, draws, edit_counts
from command_line import answer
from problems import strings_up_to

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.variants import find
from pyropunct.inference.machines.products import LEFT_ABSORPTION, RIGHT_ABSORPTION
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.window import SlidingWindow, Strength
from pyropunct.punctuator import Punctuator


def test_names() -> None:
    named = {"strength": Strength, "two-passes": TwoPasses, "inserting": Inserting}
    assert {name: find("channel", name) for name in named} == named


@pytest.fixture
def slices(tmp_path: Path) -> tuple[Path, Path]:
    """30 and 10 sentences of the embedded treebank, with few marks: two passes take their time."""
    sentences = embedded_treebank_path("train").read_text(encoding="utf-8").split("\n\n")
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    train.write_text("\n\n".join(sentences[:30]) + "\n\n", encoding="utf-8")
    dev.write_text("\n\n".join(sentences[30:40]) + "\n\n", encoding="utf-8")
    return train, dev


@pytest.mark.parametrize("name", ["strength", "two-passes", "inserting"])
def test_fit(slices: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    train, dev = slices
    out = tmp_path / "m"
    options = ("--channel", name, "--direction", "right", "--epochs", 1, "--threads", 1)
    value = answer("fit", train, "--dev", dev, "--out", out, *options)
    last = value["epochs"][-1]["perplexity"]
    assert answer("evaluate", out, dev)["perplexity"] == pytest.approx(last, rel=1e-3)
    assert last < 20
    assert len(answer("sample", out, dev)["sentences"]) == 10
    assert Punctuator.load(out).recipe.channel == name
    # Two passes have two tables of edits, so none is the channel's.
    assert bool(value["edits"]) == (name != "two-passes")


def chance(channel: Channel, underlying: String, surface: String) -> float:
    return float(chances(channel, [surface], underlying))


def test_the_stronger_mark_absorbs() -> None:
    """The log-odds are twice the difference of strengths, whichever stands first."""
    channel = Strength(3)
    channel.strength, channel.pair_logits = torch.tensor([0.0, 1.0, 2.5]), torch.randn(3, 3, 2)
    log_odds = (
        channel.edit_table().log()[..., LEFT_ABSORPTION] - channel.edit_table().log()[..., RIGHT_ABSORPTION]
    )
    assert float(log_odds[1, 2]) == pytest.approx(3.0, abs=1e-12)
    assert float(log_odds[2, 1]) == pytest.approx(-3.0, abs=1e-12)
    assert log_odds.diagonal().abs().max() < 1e-12


@pytest.mark.parametrize("direction", ["left", "right"])
def test_a_second_pass_that_keeps_everything_changes_nothing(direction: str) -> None:
    channel, window = TwoPasses(3, direction), SlidingWindow(3, "left")
    keep = torch.tensor([0.0, -torch.inf, -torch.inf, -torch.inf]).expand(3, 3, 4)
    channel.first.edit_logits = window.edit_logits = torch.randn(3, 3, 4)
    channel.second.edit_logits = keep
    for surface in strings_up_to(3, range(3)):
        in_order = surface if direction == "left" else surface[::-1]
        there = chance(window, (1, 2, 0), in_order)
        underlying = (1, 2, 0) if direction == "left" else (0, 2, 1)
        assert chance(channel, underlying, surface) == pytest.approx(there, rel=1e-12, abs=1e-300)


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


def test_a_mark_out_of_nothing() -> None:
    channel = Inserting(3, prior_insertion=-1.0)
    channel.edit_logits, channel.insertion_logits = torch.randn(3, 3, 4), torch.tensor([0.5, -1.0, -2.0])
    total = 1 + math.exp(0.5) + math.exp(-1.0) + math.exp(-2.0)
    assert chance(channel, (), (1,)) == pytest.approx(math.exp(-1.0) / total, rel=1e-12)
    assert chance(channel, (), ()) == pytest.approx(1 / total, rel=1e-12)
    assert chance(channel, (), (1, 1)) == 0


@pytest.mark.parametrize("direction", ["left", "right"])
def test_edits_are_counted_with_and_without_insertions(direction: str) -> None:
    """The counts are derivatives by logarithms of weights; there are two edits on every way."""
    channel = Inserting(3, direction, prior_insertion=-1.0)
    channel.edit_logits, channel.insertion_logits = torch.randn(3, 3, 4), torch.randn(3)
    counts = edit_counts(channel, (1, 2, 1), (2, 1, 2, 1))
    assert float(counts.sum()) == pytest.approx(2, abs=1e-13)
    assert counts[0].abs().sum() == counts[:, 0].abs().sum() == 0
