"""Labels, and the spelling of strings that have none."""

import itertools
import math
from dataclasses import asdict

import pytest
from sentences import sentence

from pyropunct.nets.labels import Labels, SlotVocabulary, Spelling
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN

DOTS = [sentence("a b", "", ",", ".")] * 5
RARE = [sentence("a b", "“", "★", ", ."), sentence("a b", "“", "", ". ,")]


def test_labels_are_the_strings_seen_twice() -> None:
    labels = SlotVocabulary.collect([one.surface for one in [*DOTS, *RARE]]).labels
    assert labels.marks == (ABBREVIATION_DOT, UNKNOWN, ",", ".")
    assert labels.strings == ((), (UNKNOWN,), (",",), (".",))  # the two “ and the star are all rare marks
    assert labels.printable == (0, 2, 3)
    assert labels.encode(labels.strings_of(RARE[0].surface)) == [1, 1, labels.unknown]


def test_start_is_given() -> None:
    labels = SlotVocabulary.collect([one.surface for one in DOTS]).labels
    assert START not in labels.marks
    assert labels.surface([1, 0, 2]) == [(START, ","), (), (".",)]


def test_no_punctuation_at_all() -> None:
    labels = SlotVocabulary.collect([sentence("a", "", "").surface]).labels
    assert labels.strings == ((),)
    assert math.isfinite(Spelling(labels).log_prob((UNKNOWN,)))


def test_json() -> None:
    labels = SlotVocabulary.collect([one.surface for one in [*DOTS, *RARE]]).labels
    assert Labels.from_json(asdict(labels)) == labels


def test_spelling_of_strings_without_a_label_adds_up_to_one() -> None:
    """All such strings of up to 5 marks have what is not left for the longer, which the bigrams give."""
    labels = SlotVocabulary.collect([one.surface for one in [*DOTS, *RARE]]).labels
    strings = [string for one in [*DOTS, *RARE] for string in labels.strings_of(one.surface)]
    spelling = Spelling(labels, strings)
    step = spelling.bigrams
    going_on = step[-1, :-1]
    known = sum(
        float(step[-1, m] * step[m, -1]) for m in (labels.mark_number[mark] for mark in (UNKNOWN, ",", "."))
    )
    total = 0.0
    for length in range(1, 6):
        for string in itertools.product(labels.marks, repeat=length):
            if string not in labels.strings:
                total += math.exp(spelling.log_prob(string))
        if length > 1:
            going_on = going_on @ step[:-1, :-1]
    longer = float((going_on @ (1 - step[:-1, -1])).sum())
    assert total == pytest.approx((1 - known - longer) / (1 - known), rel=1e-9)
    assert longer < 0.1


def test_a_very_long_string() -> None:
    labels = SlotVocabulary.collect([one.surface for one in DOTS]).labels
    spelling = Spelling(labels, labels.strings)
    once, twice = spelling.log_prob((".",) * 3000), spelling.log_prob((".",) * 6000)
    assert math.isfinite(twice)
    assert twice < once < -1000
