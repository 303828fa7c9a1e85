"""Where surface tokens come from: exact posteriors against enumeration."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from brute_force import String, first_edits, underlying_strings
from problems import Case, inventory, problem_of, random_case, window

from pyropunct.inference.inside import log_evidence
from pyropunct.inference.machines.moves import END, Branch, MachineError, Move, Pass
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.origins import Origins, Question
from pyropunct.models.channel.base import Channel
from pyropunct.models.channel.inserting import Inserting
from pyropunct.models.channel.two_passes import TwoPasses

Labelled = tuple[int, int]
"""A token, and the word whose constituent sprouted it; 0 for what stands before the sentence."""


def origins_of(channel: Channel, **options: Any) -> Origins:
    return Origins(channel.transducer, channel.probabilities().detach(), inventory(), **options)


def slides(
    underlying: Sequence[Labelled], phi: Sequence[Sequence[Sequence[float]]], direction: str
) -> list[tuple[tuple[Labelled, ...], float]]:
    """Each way for a window to slide over tokens that carry labels."""
    if len(underlying) < 2:
        return [(tuple(underlying), 1.0)]
    rows = {a: {b: phi[a[0]][b[0]] for b in underlying} for a in underlying}
    found = []
    for emitted, left, chance in first_edits(tuple(underlying), rows, direction):  # type: ignore[arg-type]
        for surface, further in slides(left, phi, direction):  # type: ignore[arg-type]
            own: Any = emitted
            found.append(((*own, *surface) if direction == "left" else (*surface, *own), chance * further))
    return found


def by_enumeration(case: Case, channel: Any, slot: int, place: int) -> tuple[list[float], float]:
    """The posterior of each word as the origin of a token, and log p(x | T), from the definitions."""
    phi = channel.edit_logits.softmax(-1).tolist()
    shares: defaultdict[int, float] = defaultdict(float)
    total = 0.0
    for choices in itertools.product(*(range(len(some)) for some in case.pairs)):
        pairs = [
            tuple(tuple((token, word) for token in side) for side in some[choice])
            for word, (some, choice) in enumerate(zip(case.pairs, choices, strict=True), 1)
        ]
        strings: Any = underlying_strings(case.heads, pairs, ((0, 0),))  # type: ignore[arg-type]
        prior = math.prod(chances[choice] for chances, choice in zip(case.chances, choices, strict=True))
        ways = [
            [(shown, p) for shown, p in slides(u, phi, channel.direction) if _tokens(shown) == x]
            for u, x in zip(strings, case.surface, strict=True)
        ]
        others = prior * math.prod(
            sum(p for _, p in some) for number, some in enumerate(ways) if number != slot
        )
        for shown, chance in ways[slot]:
            shares[shown[place][1]] += others * chance
            total += others * chance
    return [shares[word] / total for word in range(1, len(case.heads) + 1)], math.log(total)


def _tokens(labelled: Sequence[Labelled]) -> String:
    return tuple(token for token, _ in labelled)


def questions_of(cases: Sequence[Case]) -> list[Question]:
    return [
        Question(tree, slot, string, place)
        for tree, case in enumerate(cases)
        for slot, string in enumerate(case.surface)
        for place, token in enumerate(string)
        if token
    ]


@pytest.mark.parametrize("direction", ["left", "right"])
def test_posteriors_are_those_of_all_explanations(direction: str) -> None:
    """In slots with several marks, and where the same mark may come from several constituents."""
    channel = window(direction, seed=3)
    trees = [[0], [2, 0], [0, 1], [2, 0, 2], [3, 1, 0]]
    cases = [random_case(heads, channel, inventory(), seed) for seed, heads in enumerate(trees * 5)]
    problem, questions = problem_of(cases, channel, inventory()), questions_of(cases)
    whole = log_evidence(problem)
    found = list(origins_of(channel).posterior(problem, questions))
    assert len(found) == len(questions) > 25
    assert max(len(question.surface) for question in questions) >= 3
    unsure = 0
    for question, shares in zip(questions, found, strict=True):
        expected, log_p = by_enumeration(cases[question.tree], channel, question.slot, question.place)
        assert float(whole[question.tree]) == pytest.approx(log_p)
        assert shares.tolist() == pytest.approx(expected, abs=1e-9)
        unsure += 0.02 < max(shares) < 0.98
    assert unsure > 6


def test_questions_are_answered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = window("right", seed=3)
    cases = [random_case(heads, channel, inventory(), seed) for seed, heads in enumerate([[2, 0, 2]] * 4)]
    problem, questions = problem_of(cases, channel, inventory()), questions_of(cases)
    at_once = list(origins_of(channel).posterior(problem, questions))
    monkeypatch.setattr("pyropunct.inference.origins.NODES_AT_ONCE", 7)
    in_parts = list(origins_of(channel).posterior(problem, questions))
    assert [some.tolist() for some in in_parts] == [pytest.approx(some.tolist()) for some in at_once]
    assert list(origins_of(channel).posterior(problem, [])) == []


@pytest.mark.parametrize("kind", [Inserting, TwoPasses])
def test_what_is_inserted_comes_from_nowhere(kind: type[Channel]) -> None:
    """The shares and that of nowhere add up to 1; without insertion there is no nowhere."""
    torch.manual_seed(1)
    channel = kind(3)
    for module in channel.modules():
        if "edit_logits" in getattr(module, "_pyro_samples", ()):
            module.edit_logits = torch.randn(3, 3, 4)
    if isinstance(channel, Inserting):
        channel.insertion_logits = torch.tensor([-9.0, -1.0, -1.0])
    cases = [random_case([2, 0, 2], window("left", 5), inventory(), seed) for seed in range(6)]
    problem, questions = problem_of(cases, channel, inventory()), questions_of(cases)
    totals = [float(some.sum()) for some in origins_of(channel).posterior(problem, questions)]
    assert len(totals) > 5
    if kind is TwoPasses:
        assert totals == pytest.approx([1.0] * len(totals))
    else:
        assert all(-1e-9 < total < 1 + 1e-9 for total in totals)
        assert any(0.1 < total < 0.9 for total in totals)


def test_a_channel_that_loses_tokens_silently_has_no_origins() -> None:
    """Its moves do not say which of the tokens that it has read it will write."""
    moves = [
        Move(0, END, written=(1,)),
        *(Move(0, token, target=0) for token in range(3)),
    ]
    with pytest.raises(MachineError, match="does not tell which of its tokens are absorbed"):
        Origins(Transducer([Branch((Pass(tuple(moves)),))], 3, {}), torch.ones(0), inventory())
