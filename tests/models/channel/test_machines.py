"""What follows from the moves of channels, against taking one move after the other."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from brute_force import String, chi_square_is_plausible
from by_hand import Way, chances, ways
from channels import CHANNELS, NUM_TOKENS, Variant
from problems import settled

from pyropunct.inference.machines.evidence import Evidence, Step, any_over, exactly, one_of, with_hidden
from pyropunct.inference.machines.moves import END, START, Branch, MachineError, Move, Pass
from pyropunct.inference.machines.paths import Ways
from pyropunct.inference.machines.products import LEFT_ABSORPTION, RIGHT_ABSORPTION
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.slip import SLIP
from pyropunct.models.channel.window import SlidingWindow

VARIANTS = pytest.mark.parametrize("variant", CHANNELS.values(), ids=CHANNELS)
DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
UNDERLYING: list[String] = [(), (1,), (2, 1), (0, 1, 2), (1, 2, 1)]

HIDDEN, ANY, NOISY, TWICE = "hidden tokens", "any tokens", "several strings", "a state twice"
KNOWN: dict[str, Evidence] = {
    HIDDEN: with_hidden((1,), [0, 2]),
    ANY: any_over([1, 2]),
    NOISY: one_of([((1,), 0.5), ((2, 1), 2.0), ((), 0.25), ((1, 2, 1), 1.0)]),
    TWICE: Evidence(1, ((0, 0.5), (0, 0.25)), ((0, 1.0), (0, 1.0)), any_over([1, 2]).steps),
}


def weight_of(kind: str, string: String) -> float:
    """The weight that a piece of evidence gives a string, without any acceptor."""
    if kind == HIDDEN:
        return float(
            [token for token in string if token == 1] == [1] == [t for t in string if t not in (0, 2)]
        )
    if kind == ANY:
        return float(0 not in string)
    if kind == TWICE:
        return 1.5 * (0 not in string)
    return {(1,): 0.5, (2, 1): 2.0, (): 0.25, (1, 2, 1): 1.0}.get(string, 0.0)


def surfaces(channel: Channel, underlying: String, longest: int) -> dict[String, float]:
    found: Counter[String] = Counter()
    for way in ways(channel, underlying, longest):
        found[way.surface] += way.chance  # type: ignore[assignment]
    return dict(found)


def test_weights_of_strings() -> None:
    assert not KNOWN[TWICE]._replace(initial=((0, 1.0),)).is_set  # for paths may end in its state twice
    for kind, evidence in KNOWN.items():
        assert evidence.is_set == (kind in (HIDDEN, ANY))
        for string in product(range(NUM_TOKENS), repeat=3):
            for size in range(4):
                assert evidence.weight(string[:size]) == weight_of(kind, string[:size])
    two_ways = Evidence(2, ((0, 1.0),), ((1, 1.0),), (Step(1, 0, 1, 0.5), Step(1, 0, 1, 0.25)))
    assert two_ways.weight((1,)) == 0.75


@VARIANTS
@DIRECTIONS
def test_evidence_is_the_sum_over_the_strings_that_it_allows(variant: Variant, direction: str) -> None:
    """A slip may write for ever; what is longer than seven tokens is as improbable as the margin says."""
    channel = settled(variant.make(direction))
    for underlying in UNDERLYING:
        found = chances(channel, list(KNOWN.values()), underlying).tolist()
        shown = surfaces(channel, underlying, 7)
        longer = 1 - sum(shown.values())
        for kind, value in zip(KNOWN, found, strict=True):
            expected = sum(chance * weight_of(kind, string) for string, chance in shown.items())
            assert expected - 1e-12 <= value <= expected + 1.5 * longer + 1e-12
            assert longer < 1e-12 or direction == "right" or value > 0 or expected == 0


def test_evidence_may_leave_open_how_much_a_slip_has_written() -> None:
    """Strings of 1 and 2 alone of any length: a sum without end, by the matrix of the bigram model."""
    channel = settled(CHANNELS["identity that slips"].make("left"))
    table = channel.bigrams.probabilities
    inner, stop = torch.tensor([1, 2]), NUM_TOKENS
    further = torch.linalg.solve(torch.eye(2).double() - table[inner][:, inner], table[inner, stop])
    slip = float(channel.slip_logit.sigmoid())
    expected = 1 - slip + slip * float(table[stop, inner] @ further)
    assert float(chances(channel, [any_over([1, 2])], (1, 1, 2))) == pytest.approx(expected, rel=1e-9)


@VARIANTS
@DIRECTIONS
def test_the_best_way(variant: Variant, direction: str) -> None:
    channel = settled(variant.make(direction))
    paths = Ways(channel.transducer, channel.probabilities())
    for underlying in [(2, 1), (0, 1, 2)]:
        every = ways(channel, underlying, 3)
        for surface in dict.fromkeys(way.surface for way in every):
            fitting = [way for way in every if way.surface == surface]
            found = paths.path(underlying, exactly(surface))
            assert found is not None
            assert found.surface == surface
            best = max(fitting, key=lambda way: way.chance)
            assert found.probability == pytest.approx(best.chance, rel=1e-9)
            if found.branch != SLIP:
                assert tuple(made.edit for made in found.edits) in edits_of_the_best(fitting, best)
                assert_origins(underlying, surface, found.origins)
    assert paths.path((1,), exactly((1, 2, 1, 2, 1, 1, 1))) is None or "slip" in {
        branch.name for branch in channel.branches()
    }


def edits_of_the_best(fitting: Sequence[Way], best: Way) -> list[tuple[object, ...]]:
    return [way.edits for way in fitting if way.chance == pytest.approx(best.chance, rel=1e-9)]


def assert_origins(underlying: String, surface: String, origins: Sequence[int | None]) -> None:
    known = [origin for origin in origins if origin is not None]
    assert len(set(known)) == len(known)
    for token, origin in zip(surface, origins, strict=True):
        assert origin is None or underlying[origin] == token


@DIRECTIONS
def test_origins_of_equal_tokens(direction: str) -> None:
    """Of three equal marks the one that no edit has absorbed."""
    channel = SlidingWindow(NUM_TOKENS, direction)
    for edit, left in ((LEFT_ABSORPTION, 2), (RIGHT_ABSORPTION, 0)):
        channel.edit_logits = torch.full((3, 3, 4), -torch.inf).index_fill(-1, torch.tensor(edit), 0.0)
        found = Ways(channel.transducer, channel.probabilities()).path((1, 1, 1), exactly((1,)))
        assert found is not None
        assert found.origins == (left,)
        assert sorted(made.places for made in found.edits) in (
            [(0, 1), (1, 2)],
            [(0, 1), (0, 2)],
            [(0, 2), (1, 2)],
        )


@VARIANTS
@pytest.mark.parametrize(("direction", "kind"), [("left", HIDDEN), ("right", NOISY)])
def test_draws_given_evidence(variant: Variant, direction: str, kind: str) -> None:
    channel, underlying = settled(variant.make(direction)), (2, 1)
    shown = surfaces(channel, underlying, 5)
    expected = {string: chance * weight_of(kind, string) for string, chance in shown.items()}
    total, generator = sum(expected.values()), np.random.default_rng(0)
    paths = Ways(channel.transducer, channel.probabilities())
    if not total:
        assert paths.path(underlying, KNOWN[kind], generator) is None
        return
    found: Counter[String] = Counter()
    for _ in range(400):
        path = paths.path(underlying, KNOWN[kind], generator)
        assert path is not None
        found[path.surface] += 1
    assert all(weight_of(kind, string) > 0 for string in found)
    short = {string: chance / total for string, chance in expected.items() if chance > 0}
    counts = [found[string] for string in short]
    assert sum(counts) > 390  # a longer slip hardly ever
    assert chi_square_is_plausible(counts, list(short.values()), sum(counts))


@VARIANTS
@DIRECTIONS
def test_all_outcomes(variant: Variant, direction: str) -> None:
    channel = settled(variant.make(direction))
    for underlying in UNDERLYING:
        found = Ways(channel.transducer, channel.probabilities()).outcomes(underlying, leaving_out=[SLIP])
        shown: Counter[String] = Counter()
        inner = getattr(channel, "channel", channel)
        for way in ways(inner, underlying, 7):
            shown[way.surface] += way.chance  # type: ignore[assignment]
        assert found == pytest.approx(dict(shown), rel=1e-9)


@VARIANTS
@DIRECTIONS
def test_the_table_of_edits_is_what_the_moves_do(variant: Variant, direction: str) -> None:
    channel = settled(variant.make(direction))
    table = channel.transducer.edit_table(channel.probabilities())
    passes = [one for branch in channel.branches() for one in branch.passes]
    assert (table is not None) == (sum(any(move.edit for move in one.moves) for one in passes) == 1)
    if table is None:
        return
    for a, b in product(range(NUM_TOKENS), repeat=2):
        expected = [0.0] * 4
        for way in ways(channel, (a, b), 5):
            for edit in way.edits:
                assert edit[:2] == (a, b)
                expected[edit.kind] += way.chance
        scale = sum(expected)  # less than 1 by the chance of a slip
        assert table[a, b].tolist() == pytest.approx([each / scale for each in expected], rel=1e-6)
    torch.testing.assert_close(channel.edit_table(), table)


class FixedMoves(Channel):
    """A channel with these moves and weights."""

    def __init__(self, moves: Sequence[Move], **weights: torch.Tensor) -> None:
        super().__init__(2)
        self._given, self._weights = moves, weights

    def weights(self) -> dict[str, torch.Tensor]:
        return self._weights

    def moves(self) -> Sequence[Move]:
        return self._given


HALT = Move("s", END)
ZERO, ONE = (Move("s", token, written=(token,), target="s") for token in (0, 1))
HALF = torch.tensor([0.5, 0.5])
W0, W1 = (("w", 0),), (("w", 1),)


def test_probabilities_in_half_precision() -> None:
    """They miss a sum of 1 by more than those in single precision."""
    thirds = torch.full((3,), 1 / 3, dtype=torch.half)
    assert abs(float(thirds.double().sum()) - 1) > 1e-4
    FixedMoves([*(ZERO._replace(weight=(("w", place),)) for place in range(3)), ONE, HALT], w=thirds).check()


@pytest.mark.parametrize(
    ("moves", "weights", "complaint"),
    [
        ([ZERO, ONE, HALT._replace(target="s")], {}, "no move halts the machine"),
        ([], {}, "a machine without moves can read nothing"),
        ([ZERO, HALT], {}, "state 's' has no move for token 1"),
        ([ZERO, ONE], {}, "state 's' has no move for the end"),
        (
            [ZERO, ONE._replace(target="t"), HALT],
            {},
            "for token 1 leads to state 't', which has no moves",
        ),
        (
            [ZERO, ONE._replace(written=(5,)), HALT],
            {},
            "for token 1 has token 5, but tokens are 0 to 1",
        ),
        ([ZERO, ONE._replace(target=None), HALT], {}, "halts the machine, but only a move at END may"),
        (
            [ZERO, ONE, HALT._replace(factor=-1.0)],
            {},
            "the move from state 's' for the end has the factor -1.0",
        ),
        ([ZERO, ONE, HALT, HALT], {}, "in state 's' for the end add up to 2, not 1"),
        (
            [ZERO, ONE._replace(weight=(("w", 0),)), HALT],
            {"w": HALF},
            "in state 's' for token 1 add up to 0.5, not 1",
        ),
        (
            [Move(None, START, (("w", 1),), (), "s"), ZERO, ONE, HALT],
            {"w": HALF},
            "at its start add up to 0.5, not 1",
        ),
        ([ZERO, ONE._replace(weight=(("v", 0),)), HALT], {}, "no weight is called 'v': there are none"),
        (
            [ZERO, ONE._replace(weight=(("w", 2),)), HALT],
            {"w": HALF},
            "have the shape \\(2,\\): there is no \\(2,\\)",
        ),
        (
            [ZERO, ONE._replace(weight=(("w", (0,)),)), HALT],
            {"w": HALF},
            r"\('w', \(0,\)\) names no weight: a name and whole numbers do",
        ),
        (
            [ZERO._replace(weight=W0), ONE._replace(weight=(("w", 0, 1),)), HALT],
            {"w": torch.ones(2, 2)},
            r"have the shape \(2, 2\): there is no \(0,\)",
        ),
        ([ZERO, ONE, HALT], {"w": HALF}, "no move has the weight 'w': the moves name none"),
        (
            [ZERO._replace(weight=(("kept", 0),)), ONE._replace(weight=(("v", 1),)), HALT],
            {"w": HALF, "v": HALF},
            "no move has the weight 'w': the moves name 'kept', 'v'",
        ),
        ([ZERO, ONE._replace(weight=(("w", 0, 0),)), HALT], {"w": HALF}, "have 1 dimensions, moves name 2"),
        (
            [ZERO, ONE._replace(weight=W0), ONE._replace(weight=W1), HALT],
            {"w": torch.tensor([1.5, -0.5])},
            "weight \\('w', 1\\) is -0.5",
        ),
        (
            [ZERO, ONE._replace(weight=W0), ONE._replace(weight=W1), HALT],
            {"w": torch.tensor([math.nan, 1.0])},
            "weight \\('w', 0\\) is nan",
        ),
        (
            [ZERO, ONE, HALT._replace(weight=W0), Move("s", END, W1, (1,), "s")],
            {"w": HALF},
            "goes on with a weight of its own: moves at END halt, or have fixed chances",
        ),
    ],
)
def test_a_machine_that_is_none(moves: list[Move], weights: dict[str, torch.Tensor], complaint: str) -> None:
    with pytest.raises(MachineError, match=complaint):
        FixedMoves(moves, **weights).probabilities()


def test_what_is_written_at_the_start_before_weighted_evidence() -> None:
    starts = [Move(None, START, (), (0,), "s", factor=0.25), Move(None, START, target="s", factor=0.75)]
    channel = FixedMoves([*starts, ZERO, ONE, HALT])
    assert channel.probabilities().shape == (0,)
    found = chances(channel, [(0, 1), (1,), one_of([((0, 1), 2.0), ((1,), 0.5)])], (1,))
    assert found.tolist() == pytest.approx([0.25, 0.75, 2 * 0.25 + 0.5 * 0.75], rel=1e-12)


def test_branches_that_do_not_add_up() -> None:
    class Half(FixedMoves):
        def branches(self) -> list[Branch]:
            return [Branch((Pass(self._given),), (("w", 0),))]

    with pytest.raises(MachineError, match=r"branches add up to 0.5, not 1"):
        Half([ZERO, ONE, HALT], w=HALF).probabilities()


def test_a_machine_that_may_never_halt() -> None:
    """Behind the last token it halts with 0.5, writes and goes on with 0.25, or else never halts."""
    endless = [Move("t", token, target="t") for token in (0, 1, END)]
    onward = [Move("s", END, written=(1,), target="s", factor=0.25), Move("s", END, target="t", factor=0.25)]
    channel = FixedMoves([ZERO, ONE, HALT._replace(factor=0.5), *onward, *endless])
    found = chances(channel, [(), (1, 1), any_over([1])], ())
    assert found.tolist() == pytest.approx([0.5, 0.5 / 16, 0.5 / 0.75])


@pytest.mark.parametrize(
    ("moves", "weights", "complaint"),
    [
        (None, {}, r"the channel FixedMoves: moves\(\) gave None, not moves"),
        (["s"], {}, r"the channel FixedMoves: moves\(\) gave 's', not a Move"),
        ([ZERO._replace(written=0), ONE, HALT], {}, "for token 0 writes 0, which is no tuple of tokens"),
        ([ZERO, ONE, HALT], {"w": 0.5}, r"weights\(\) gave {'w': 0.5}, not tensors by their names"),
        ([ZERO, ONE, HALT], None, r"weights\(\) gave None, not tensors by their names"),
    ],
)
def test_what_a_variant_must_not_give(moves: Any, weights: Any, complaint: str) -> None:
    channel = FixedMoves(moves)
    channel._weights = weights
    with pytest.raises(MachineError, match=complaint):
        channel.probabilities()
