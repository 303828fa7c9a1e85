"""Draws that are rewritten: slot by slot, whatever else was drawn."""

import numpy as np
import pytest
from drawn import draws_of, random_draws, surfaces_of

from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import Decision
from pyropunct.restore.rewriting import (
    mixture,
    rewritten,
    with_abbreviation_dots,
    with_given,
    with_inverted_marks,
    with_marks_only,
    with_own_unknown,
    with_probable_changes,
    with_sentence_end,
    without_unknown,
    writes_inverted_marks,
)
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN

DRAWS = draws_of(
    [
        [(START,), (ABBREVIATION_DOT, ","), (";",), (".", "”")],
        [(START, "“"), (), (UNKNOWN, ","), (UNKNOWN,)],
    ],
    [0.7, 0.3],
)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slots", [None, [0, 3]])
def test_every_string_is_rewritten(seed: int, slots: list[int] | None) -> None:
    draws = random_draws(seed)
    new = surfaces_of(rewritten(draws, lambda string: string[::-1], slots))
    for surface, old in zip(new, surfaces_of(draws), strict=True):
        for slot, string in enumerate(old):
            assert surface[slot] == (string[::-1] if slots is None or slot in slots else string)


def test_weights_stay_and_the_old_draws_too() -> None:
    before = surfaces_of(DRAWS)
    assert rewritten(DRAWS, lambda _: ("x",)).weights.tolist() == DRAWS.weights.tolist()
    assert surfaces_of(DRAWS) == before


def test_without_unknown() -> None:
    assert surfaces_of(without_unknown(DRAWS))[1] == [(START, "“"), (), (",",), ()]


@pytest.mark.parametrize(
    ("marks", "first", "second"),
    [
        (",", [(START,), (",",), (), ()], [(START,), (), (",",), ()]),
        (".", [(START,), (ABBREVIATION_DOT,), (), (".",)], [(START,), (), (), ()]),
        ("“”", [(START,), (), (), ("”",)], [(START, "“"), (), (), ()]),
    ],
)
def test_marks_only(marks: str, first: object, second: object) -> None:
    assert surfaces_of(with_marks_only(DRAWS, marks)) == [first, second]


def test_given_marks_take_the_place_of_what_was_drawn() -> None:
    given = [(START,), (), ("‽",), ("!", "!")]
    assert surfaces_of(with_given(DRAWS, given)) == [
        [(START,), (ABBREVIATION_DOT, ","), ("‽",), ("!", "!")],
        [(START, "“"), (), ("‽",), ("!", "!")],
    ]
    assert surfaces_of(with_given(DRAWS, [(START, "("), (), (), ()]))[1][0] == (START, "(")


def test_an_abbreviation_dot_alone_takes_no_place() -> None:
    assert surfaces_of(with_given(DRAWS, [(START,), (ABBREVIATION_DOT,), (), ()])) == surfaces_of(DRAWS)


def test_unknown_marks_of_given_punctuation_come_back() -> None:
    given = [(START,), ("‽", "§"), ("…",), ("!",)]
    draws = draws_of([[(START,), (UNKNOWN, ",", UNKNOWN), (",", UNKNOWN), ("!",)], [(START,), *[()] * 3]])
    assert surfaces_of(with_own_unknown(draws, given, {START, ",", "!"})) == [
        [(START,), ("‽", ",", "§"), (",", "…"), ("!",)],
        [(START,), *[()] * 3],
    ]


def test_improbable_changes_are_undone() -> None:
    given = [(START,), (), (";",), (".",)]
    assert surfaces_of(with_probable_changes(DRAWS, given, 0.5)) == [
        [(START,), (ABBREVIATION_DOT, ","), (";",), (".", "”")],
        [(START,), (), (";",), (".",)],
    ]
    assert surfaces_of(with_probable_changes(DRAWS, given, 0.8)) == [
        [(START,), (), (";",), (".",)],
        [(START,), (), (";",), (".",)],
    ]
    assert surfaces_of(with_probable_changes(DRAWS, given, 0.2)) == surfaces_of(DRAWS)


def test_a_sentence_ends_with_the_likeliest_mark_that_ends_one() -> None:
    """Other slots stay; without such a mark all does."""
    draws = draws_of([[[","], ["?"]], [[], ["."]], [["."], [","]], [[], []]], [0.3, 0.2, 0.1, 0.4])
    assert surfaces_of(with_sentence_end(draws)) == [
        [(",",), ("?",)],
        [(), (".",)],
        [(".",), ("?",)],
        [(), ("?",)],
    ]
    without = draws_of([[[], [","]], [[], []]], [0.5, 0.5])
    assert with_sentence_end(without) is without


def test_abbreviation_dots() -> None:
    given = [(START,), (ABBREVIATION_DOT,), (","), (ABBREVIATION_DOT, "!")]
    assert surfaces_of(with_abbreviation_dots(DRAWS, given)) == [
        [(START,), (ABBREVIATION_DOT, ","), (";",), (ABBREVIATION_DOT, ".", "”")],
        [(START, "“"), (ABBREVIATION_DOT,), (UNKNOWN, ","), (ABBREVIATION_DOT, UNKNOWN)],
    ]
    assert with_abbreviation_dots(DRAWS, [(START,), (), (), ()]) is DRAWS


def test_mixture() -> None:
    one, other = random_draws(1, number=7), random_draws(2, number=5)
    mixed = mixture([one, other], [0.75, 0.25])
    assert surfaces_of(mixed) == surfaces_of(one) + surfaces_of(other)
    assert mixed.weights.tolist() == [*(0.75 * one.weights), *(0.25 * other.weights)]
    assert len(set(mixed.strings)) == len(mixed.strings)
    assert mixed.numbers.dtype == np.int32
    assert mixture([one], [1.0]) is one


def test_spanish_questions_have_two_marks() -> None:
    """One at the beginning, as probable as the other; what has one stays, and so do statements."""
    shares = ({("\t^",): 1.0}, {(): 1.0}, {("?",): 0.8, (".",): 0.2})
    asked = Decision((("\t^",), (), ("?",)), 0.1, 0.0, shares)
    both = with_inverted_marks(asked)
    assert both.surface == (("\t^", "¿"), (), ("?",))
    assert both.shares[0] == pytest.approx({("\t^", "¿"): 0.8, ("\t^",): 0.2})
    assert with_inverted_marks(both) == both
    told = asked._replace(surface=(("\t^",), (), (".",)))
    assert with_inverted_marks(told) == told
    several = Punctuator.load("multi")
    languages = {code: writes_inverted_marks(several.of(code).vocabulary) for code in ("es", "de", "")}
    assert languages == {"es": True, "de": False, "": False}
    assert not writes_inverted_marks(Punctuator.load("en").vocabulary)
