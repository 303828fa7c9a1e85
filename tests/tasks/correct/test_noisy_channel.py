"""Correction by a noisy channel: its posterior, its decisions, its file."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from model_files import changed

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.nets.labels import Labels, SlotVocabulary
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.pooling import LEAST, Voice, Voices
from pyropunct.tasks import CorrectingSettings
from pyropunct.tasks.correct import hearing
from pyropunct.tasks.correct.channel import ErrorChannel, contexts
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel, decisions, load_corrector
from pyropunct.tasks.correct.explaining import Explainer, SlotChange, changes
from pyropunct.tasks.correct.hearing import (
    RATES,
    Heard,
    WritersRate,
    WrongSentence,
    hear,
    log_probs,
    wrong_sentences,
)
from pyropunct.tasks.correct.simulation import wrong_surfaces
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface, unpaired
from pyropunct.text.raw_sentence import RawSentence, Slot, WrittenMark
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")

TREES = (
    Tree((2, 0, 2), ("nsubj", "root", "advcl"), ("NOUN", "VERB", "VERB"), ("cats", "sleep", "purring")),
    Tree((2, 0, 2), ("obj", "root", "conj"), ("NOUN", "VERB", "VERB"), ("cats", "sleep", "purring")),
)
WEIGHTS = (0.75, 0.25)
WRONG = ((START,), (), (",",), (".",))
AT_FIRST = np.full(len(RATES), 1 / len(RATES))


@pytest.fixture(scope="module")
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def tagged(model_with_parser: Path) -> Punctuator:
    """A model with a parser and a tagger."""
    return Punctuator.load(model_with_parser)


@pytest.fixture(scope="module")
def channel(train: list[Sentence], model: Punctuator) -> ErrorChannel:
    return fit_channel(simulated_pairs(train, copies=2), model.vocabulary.tokens)


@pytest.fixture(scope="module")
def short_sentences(train: list[Sentence]) -> list[Sentence]:
    """A few training sentences, which the model knows well."""
    return [one for one in train if len(one.tree) <= 12][:16]


@pytest.fixture(scope="module")
def fewer(short_sentences: list[Sentence]) -> list[Sentence]:
    return short_sentences[:10]


@pytest.fixture(scope="module")
def corrector(model: Punctuator, channel: ErrorChannel) -> Iterator[NoisyChannel]:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)  # as in a process of a user
    yield NoisyChannel(model, channel)
    torch.set_default_dtype(default)


def given(tree: Tree) -> list[WeightedTree]:
    return [WeightedTree(tree, 1.0, given=True)]


def enumerated(channel: ErrorChannel, wrong: Surface) -> list[Surface]:
    """All that one error in each slot, or none, may have turned into the wrong punctuation."""
    return list(product(*(channel.sources(tuple(slot)) for slot in wrong)))


def log_error(channel: ErrorChannel, tree: Tree, right: Surface, rate: float) -> float:
    slots = zip(WRONG, right, contexts(tree), strict=True)
    return sum(channel.log_prob(wrong, tuple(one), context, rate) for wrong, one, context in slots)


def few(channel: ErrorChannel) -> ErrorChannel:
    """A channel of few errors, so that all that can be right can be enumerated."""
    return replace(channel, errors=tuple(one for one in channel.errors if one.mark == ","))


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_the_posterior_is_that_of_enumeration(
    model: Punctuator, channel: ErrorChannel, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """With networks, it is that of their pool with the story."""
    known = SlotVocabulary(Labels((ABBREVIATION_DOT, UNKNOWN, ",", "."), ((), (",",), (".",))), ())
    slots = np.random.default_rng(1).dirichlet(np.ones(4), len(WRONG))
    voices = Voices((Voice(known, slots, np.ones(len(WRONG))),), share)
    monkeypatch.setattr(hearing, "voices_of", lambda model, parses: [voices if share else None])
    monkeypatch.setattr(hearing, "LEAST_ODDS", 1e-300)
    monkeypatch.setattr(hearing, "LONGEST", 10_000)
    some = few(channel)
    parses = [WeightedTree(tree, weight, given=True) for tree, weight in zip(TREES, WEIGHTS, strict=True)]
    [heard] = hear(model, some, [WrongSentence(parses, WRONG)])
    surfaces = enumerated(some, WRONG)
    assert sorted(heard.surfaces) == sorted(surfaces)
    read = [
        sum(max(known.log_probs(slots[[place]], [string])[0, 0], math.log(LEAST)) for place, string in pairs)
        for pairs in map(enumerate, surfaces)
    ]
    log_prob = (1 - share) * log_probs(model, TREES, surfaces) + share * np.array(read)
    for number, rate in enumerate(RATES[1:], 1):
        joint = {
            surface: sum(
                weight * math.exp(log_prob[tree, place] + log_error(some, TREES[tree], surface, rate))
                for tree, weight in enumerate(WEIGHTS)
            )
            for place, surface in enumerate(surfaces)
        }
        found = dict(zip(heard.surfaces, np.exp(heard.log_joint[number]), strict=True))
        assert found == pytest.approx(joint, rel=1e-5)
    assert heard.log_joint[0, 1:].max() == -math.inf  # a writer without errors means what is there


def test_short_lists_have_what_is_probable(
    model: Punctuator, channel: ErrorChannel, dev: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [one.surface for one in wrong_surfaces(dev[:5], seed=1)]
    noisy = [WrongSentence(given(one.tree), surface) for one, surface in zip(dev, wrong, strict=False)]
    short = hear(model, channel, noisy)
    monkeypatch.setattr(hearing, "LEAST_ODDS", 1e-4)
    monkeypatch.setattr(hearing, "LONGEST", 1000)
    long = hear(model, channel, noisy)
    place = RATES.index(1.0)
    assert sum(len(one.surfaces) for one in short) < sum(len(one.surfaces) for one in long) / 2
    for one, other in zip(short, long, strict=True):
        assert one.surfaces[0] == other.surfaces[0]
        assert one.log_evidence[place] == pytest.approx(other.log_evidence[place], abs=0.1)


def test_the_rate_of_a_writer_is_learned(corrector: NoisyChannel, fewer: list[Sentence]) -> None:
    shares = []
    for surfaces in ([one.surface for one in fewer], [one.surface for one in wrong_surfaces(fewer)]):
        rate = WritersRate()
        parses = [given(one.tree) for one in fewer]
        list(corrector.decide(wrong_sentences(parses, surfaces), rate=rate))
        shares.append(float(rate.probabilities @ np.array(RATES)))
    assert shares[0] < 0.3 < shares[1] < 2


def test_a_rate_that_is_told(corrector: NoisyChannel, fewer: list[Sentence]) -> None:
    """Nothing is learned then; between two rates it is shared out to both."""
    wrong = [one.surface for one in wrong_surfaces(fewer, seed=3)]
    parses, number = [given(one.tree) for one in fewer], {}
    for told in (0.0, 1.2, 4.0):
        rate = WritersRate(told)
        found = corrector.decide(wrong_sentences(parses, wrong), rate=rate)
        number[told] = sum(len(changes(one, new.surface)) for one, new in zip(wrong, found, strict=True))
        assert float(rate.probabilities @ np.array(RATES)) == pytest.approx(told)
        assert (rate.probabilities > 0).sum() == (2 if told == 1.2 else 1)
    assert number[0.0] == 0 < number[1.2] <= number[4.0]
    with pytest.raises(ValueError, match="the rate 5 is not from 0 to 4"):
        WritersRate(5)


def test_right_text_is_left_alone_and_wrong_text_gets_better(
    corrector: NoisyChannel, fewer: list[Sentence]
) -> None:
    parses, right = [given(one.tree) for one in fewer], [one.surface for one in fewer]
    wrong = [one.surface for one in wrong_surfaces(fewer, seed=3)]
    of_right = corrector.decide(wrong_sentences(parses, right), rate=WritersRate())
    of_wrong = [one.surface for one in corrector.decide(wrong_sentences(parses, wrong))]
    assert average_edit_distance([one.surface for one in of_right], right) <= 0.003
    assert average_edit_distance(of_wrong, right) < 0.8 * average_edit_distance(wrong, right)


def test_what_is_known_of_a_writer_is_used_in_later_sentences(
    corrector: NoisyChannel, short_sentences: list[Sentence]
) -> None:
    parses, right = [given(one.tree) for one in short_sentences], [one.surface for one in short_sentences]
    wrong = [one.surface for one in wrong_surfaces(short_sentences, seed=3)]

    def number_of_changes(before: list[Surface]) -> int:
        rate = WritersRate()
        list(corrector.decide(wrong_sentences(parses, before), rate=rate))
        found = corrector.decide(wrong_sentences(parses[:12], wrong[:12]), rate=rate)
        return sum(len(changes(one, new.surface)) for one, new in zip(wrong, found, strict=False))

    assert number_of_changes(right) < number_of_changes(wrong)


def test_a_list_without_probability_is_left_alone() -> None:
    heard = Heard((WRONG, WRONG[::-1]), np.full((len(RATES), 2), -math.inf))
    draws = heard.posterior(AT_FIRST)
    assert draws.weights.tolist() == [1.0, 0.0]
    assert draws.surface(0) == list(WRONG)


def test_a_threshold_keeps_improbable_changes_out(corrector: NoisyChannel, fewer: list[Sentence]) -> None:
    parses = [given(one.tree) for one in fewer]
    wrong = [one.surface for one in wrong_surfaces(fewer, seed=3)]
    counts = []
    for threshold in (0.0, 0.9, 1.0):
        decisions = list(
            corrector.decide(wrong_sentences(parses, wrong), CorrectingSettings(threshold=threshold))
        )
        changed = [
            decision.shares[change.slot][tuple(decision.surface[change.slot])]
            for decision, surface in zip(decisions, wrong, strict=True)
            for change in changes(surface, decision.surface)
        ]
        assert all(one >= threshold for one in changed)
        counts.append(len(changed))
    assert counts[0] > counts[1] > counts[2]


def test_pairs_stay_whole(corrector: NoisyChannel, fewer: list[Sentence]) -> None:
    parses = [given(one.tree) for one in fewer]
    for seed in range(2):
        wrong = [one.surface for one in wrong_surfaces(fewer, seed=seed)]
        for decision, surface in zip(corrector.decide(wrong_sentences(parses, wrong)), wrong, strict=True):
            assert unpaired(decision.surface) <= unpaired(surface)


def test_commas_around_a_constituent_stay_or_go_together() -> None:
    right = ((START,), (), (), (), (".",))
    wrong, halves = ((START,), (",",), (), (",",), (".",)), ((START,), (",",), (), (), (".",))
    log_joint = np.tile(np.log([0.4, 0.45, 0.15]), (len(RATES), 1))
    heard = Heard((wrong, halves, right), log_joint)
    for edges, expected in (((), halves), (((1, 3),), wrong), (((1, 2),), halves)):
        [decision] = decisions([replace(heard, edges=edges)], CorrectingSettings(), AT_FIRST)
        assert tuple(decision.surface) == expected


def test_closed_slots_stay_as_they_are(corrector: NoisyChannel, short_sentences: list[Sentence]) -> None:
    parses = [given(one.tree) for one in short_sentences]
    wrong = [one.surface for one in wrong_surfaces(short_sentences, seed=3)]
    closed = [
        sentence._replace(closed=range(len(sentence.wrong))) for sentence in wrong_sentences(parses, wrong)
    ]
    found = corrector.decide(closed)
    assert [tuple(one.surface) for one in found] == wrong


def test_new_marks_come_from_constituents_at_their_slot(
    model: Punctuator, short_sentences: list[Sentence]
) -> None:
    explainer, explained = Explainer(model), 0
    for one in short_sentences:
        tree = one.tree
        wrong = [tuple(mark for mark in slot if mark != ",") for slot in one.surface]
        made = changes(wrong, one.surface)
        for change, sprouts in zip(made, explainer.explain(tree, one.surface, made), strict=True):
            edges = {
                (relation, tree.forms[first - 1 : last])
                for relation, (first, last) in zip(tree.relations, tree.spans, strict=True)
                if change.slot in (first - 1, last)
            }
            assert all(sprout.mark == "," and (sprout.relation, sprout.words) in edges for sprout in sprouts)
            explained += len(sprouts)
    assert explained > 3


def test_what_is_taken_out_has_no_explanation(model: Punctuator) -> None:
    right = ((START,), (), (), (".",))
    made = changes(WRONG, right)
    assert Explainer(model).explain(TREES[0], right, made) == [[]]


def test_changes() -> None:
    wrong = [(START,), (",", "“"), (), (".",)]
    right = [("“",), ("“",), (), (START, ".")]
    assert changes(wrong, right) == [SlotChange(0, (), ("“",)), SlotChange(1, (",", "“"), ("“",))]
    assert changes(wrong, wrong) == []
    with pytest.raises(ValueError, match="zip"):
        changes(wrong, right[:2])


def test_lines_without_words_stay_and_raw_text_needs_a_parser(
    corrector: NoisyChannel, dev: list[Sentence]
) -> None:
    [wrong] = wrong_surfaces(dev[:1], seed=1)
    sentence = replace(dev[0], surface=wrong.surface)
    empty = RawSentence(1, " ?!", (), (Slot((WrittenMark("?", "?"), WrittenMark("!", "!"))),))
    first, second = corrector.correct([sentence, empty])
    assert (first.source, first.tree is None) == (sentence, False)
    assert (second.surface, second.risk, second.tree) == (empty.surface, 0.0, None)
    with pytest.raises(MissingPartError, match="has no parser"):
        list(corrector.correct([RawSentence(1, "go", ("go",), (Slot(), Slot()))]))
    with pytest.raises(MissingPartError, match="has no parser"):
        list(corrector.correct([sentence], CorrectingSettings(parse=True)))


# Folders


@pytest.fixture
def folder(corrector: NoisyChannel, tmp_path: Path) -> Path:
    corrector.save(tmp_path / "corrector")
    return tmp_path / "corrector"


def test_a_saved_corrector_is_read_again_and_is_a_model(corrector: NoisyChannel, folder: Path) -> None:
    loaded = load_corrector(folder)
    assert isinstance(loaded, NoisyChannel)
    assert loaded.errors == corrector.errors
    assert Punctuator.load(folder).vocabulary == corrector.model.vocabulary
    loaded.save(folder)  # in its own place


def test_a_model_without_errors_is_no_corrector(small: Path) -> None:
    with pytest.raises(ModelFileError, match="is a model, not a corrector"):
        load_corrector(small / "model")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tokens": [","]}, "its errors are those of other marks than its model knows"),
        ({"errors": 3}, "its parts do not make an error channel"),
        ({"weights": []}, "its parts do not make an error channel"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    folder: Path, change: dict[str, object], problem: str
) -> None:
    with changed(folder) as (description, _):
        description["errors"] |= change
    with pytest.raises(ModelFileError, match=problem):
        load_corrector(folder)
