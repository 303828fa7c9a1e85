"""A tagger, conditioned on what is known of slots: against sums over all short strings."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from pyropunct.inference.machines.evidence import Evidence, any_over, exactly, one_of, with_hidden
from pyropunct.nets.given_slots import GivenSlots, TaggerConditioner
from pyropunct.nets.labels import Labels, SlotString, SlotVocabulary
from pyropunct.nets.tagger import SlotTagger
from pyropunct.text.marks import (
    ABBREVIATION_DOT,
    START,
    UNKNOWN,
    marks_of,
)
from pyropunct.vocabulary import Vocabulary

MARKS = (ABBREVIATION_DOT, UNKNOWN, ",", ".")
LABELS = Labels(MARKS, ((), (",",), (".",)))
TAGGER = SlotTagger(SlotVocabulary(LABELS, ((",", "."), (".", "."))), None, None, {}, None)  # type: ignore[arg-type]
ROWS = np.array([[0.6, 0.2, 0.1, 0.1], [0.3, 0.3, 0.2, 0.2]])
LONGEST = 6


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary((START, *MARKS), (), (), (), (), ())


def chance(row: np.ndarray, string: SlotString) -> float:
    """q(string | words) in a slot."""
    [label] = LABELS.encode([string])
    spelt = math.exp(TAGGER.vocabulary.spelling.log_prob(string)) if label == LABELS.unknown else 1.0
    return float(row[label]) * spelt


def strings() -> list[SlotString]:
    every = (itertools.product(MARKS, repeat=length) for length in range(LONGEST + 1))
    return [string for some in every for string in some]


def given(vocabulary: Vocabulary, first: Evidence, last: Evidence) -> GivenSlots:
    return TaggerConditioner(TAGGER, vocabulary).given(("go",), ROWS, [first, last])


def evidence_of(vocabulary: Vocabulary, name: str) -> Evidence:
    """Evidence about the last slot."""
    comma, period, unknown = (vocabulary.token_number[mark] for mark in (",", ".", UNKNOWN))
    made = {
        "hidden commas": with_hidden([period], [comma]),
        "commas alone": any_over([comma]),
        "anything": any_over(vocabulary.token_number[mark] for mark in MARKS),
        "some strings": one_of([((comma,), 0.5), ((comma, period), 3.0), ((unknown, unknown), 2.0)]),
        "one with a label": exactly([period]),
        "one without": exactly([comma, period, comma]),
    }
    return made[name]


NAMES = ("hidden commas", "commas alone", "anything", "some strings", "one with a label", "one without")


@pytest.mark.parametrize("name", NAMES)
def test_the_evidence_is_that_of_enumeration(vocabulary: Vocabulary, name: str) -> None:
    known = evidence_of(vocabulary, name)
    joint = {one: chance(ROWS[1], one) * known.weight(vocabulary.encode_string(one)) for one in strings()}
    start = [vocabulary.token_number[START]]
    found = given(vocabulary, exactly(start), known)
    expected = math.log(chance(ROWS[0], ())) + math.log(sum(joint.values()))
    assert found.log_evidence == pytest.approx(expected, abs=5e-3)
    drawn = found.draw(3000, seed=0)
    share = Counter(marks_of(drawn.surface(number)[1]) for number in range(3000))
    total = sum(joint.values())
    assert set(share) <= {one for one, weight in joint.items() if weight} | {
        one for one in share if len(one) > LONGEST
    }
    for string, weight in joint.items():
        if weight > 0.01 * total:
            assert share[string] / 3000 == pytest.approx(weight / total, abs=0.03)


def test_the_first_slot_has_the_sentence_start(vocabulary: Vocabulary) -> None:
    start, comma = vocabulary.encode_string([START, ","])
    found = given(vocabulary, with_hidden([start], [comma]), exactly([]))
    commas = [(",",) * length for length in range(30)]
    expected = math.log(sum(chance(ROWS[0], one) for one in commas)) + math.log(ROWS[1, 0])
    assert found.log_evidence == pytest.approx(expected, rel=1e-9)
    surfaces = [found.draw(50, seed=1).surface(number) for number in range(50)]
    assert all(one[0][0] == START and set(one[0][1:]) <= {","} and one[1] == () for one in surfaces)


def test_what_the_tagger_cannot_say(vocabulary: Vocabulary) -> None:
    start = vocabulary.token_number[START]
    assert given(vocabulary, exactly([]), exactly([])).log_evidence == -math.inf
    assert given(vocabulary, exactly([start]), exactly([start])).log_evidence == -math.inf
    long = exactly([vocabulary.token_number["."]] * 3000)
    assert -math.inf < given(vocabulary, exactly([start]), long).log_evidence < -1000


def test_weights_that_cannot_be(vocabulary: Vocabulary) -> None:
    """The tagger would otherwise add up strings for ever."""
    anything = any_over([vocabulary.token_number[","]])
    with pytest.raises(ValueError, match=r"evidence has the weights \[nan\]"):
        given(vocabulary, exactly([]), anything._replace(final=((0, math.nan),)))
