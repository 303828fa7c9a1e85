"""The error channel: what it can do, its probabilities, and how it is fitted."""

import math
from itertools import product

import numpy as np
import pytest

from pyropunct.errors import InputError
from pyropunct.tasks.correct.channel import Error, ErrorChannel, contexts
from pyropunct.tasks.correct.channel_fitting import RightAndWrong, error_between, fit_channel
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.tree import Tree

CHANNEL = ErrorChannel(
    (
        Error("drop", ","),
        Error("insert", ","),
        Error("insert", "."),
        Error("replace", ";", ","),
        Error("swap", ".", "”"),
    ),
    {
        "drop ,": -1.0,
        "drop , / begins conj": 0.5,
        "drop , / before ”": -0.5,
        "insert ,": -3.0,
        "insert .": -3.0,
        "insert . / behind .": 1.0,
        "replace ; ,": -1.5,
        "swap . ”": 0.2,
    },
)
MARKS = (",", ".", ";", "”")
HERE = frozenset({"begins conj"})
TREE = Tree((2, 0, 2), ("nsubj", "root", "conj"), ("NOUN", "VERB", "VERB"), ("cats", "sleep", "purr"))


def strings(longest: int) -> list[tuple[str, ...]]:
    return [string for length in range(longest + 1) for string in product(MARKS, repeat=length)]


def test_what_becomes_of_a_string_has_probability_one() -> None:
    for right in strings(2):
        total = sum(math.exp(CHANNEL.log_prob(wrong, right, HERE, 0.7)) for wrong in strings(3))
        assert total == pytest.approx(1)


def test_probabilities_are_those_of_odds() -> None:
    odds = CHANNEL.odds((",", "”"), HERE)
    assert odds[("”",)] == pytest.approx(math.exp(-1.0 + 0.5 - 0.5))
    assert CHANNEL.odds((".",), HERE)[".", "."] == pytest.approx(math.exp(-3) + math.exp(-2))
    half = CHANNEL.log_prob(("”",), (",", "”"), HERE, 0.5)
    assert half == pytest.approx(math.log(0.5 * odds[("”",)]) - math.log1p(0.5 * sum(odds.values())))


def test_a_writer_who_makes_no_errors_writes_what_is_right() -> None:
    assert CHANNEL.log_prob((",",), (",",), HERE, 0.0) == 0
    assert CHANNEL.log_prob((), (",",), HERE, 0.0) == -math.inf


def test_sources_are_the_strings_that_may_become_it() -> None:
    for wrong in strings(2):
        may = {right for right in strings(3) if CHANNEL.log_prob(wrong, right, HERE) > -math.inf}
        assert CHANNEL.sources(wrong)[0] == wrong
        assert set(CHANNEL.sources(wrong)) == may


def test_what_belongs_to_words_stays_in_its_place() -> None:
    for own in (START, ABBREVIATION_DOT):
        assert all(string[0] == own for string in CHANNEL.sources((own, ",")))
        assert all(one.string[0] == own for one in CHANNEL.outcomes((own, ",")))


def test_contexts_name_edges_and_words() -> None:
    first, second, third, last = contexts(TREE)
    assert first == {"begins nsubj", "word nsubj", "first"}
    assert second == {"ends nsubj <", "after nsubj", "word root"}
    assert third == {"begins conj", "after root", "word conj"}
    assert last == {"ends conj", "after conj", "last"}


def test_a_clause_with_a_subject_of_its_own_is_told() -> None:
    forms = ("cats", "sleep", "dogs", "bark")
    tree = Tree((2, 0, 4, 2), ("nsubj", "root", "nsubj", "conj"), ("NOUN", "VERB", "NOUN", "VERB"), forms)
    assert "begins conj +" in contexts(tree)[2]


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        ((",",), (), Error("drop", ",")),
        ((), (",",), Error("insert", ",")),
        ((";",), (",",), Error("replace", ";", ",")),
        ((".", "”"), ("”", "."), Error("swap", ".", "”")),
        ((".",), (".", "."), Error("insert", ".")),
        ((",",), (",",), None),
        ((",", "”"), ("(",), None),
        ((), (",", "”"), None),
    ],
)
def test_the_error_between_two_strings(
    right: tuple[str, ...], wrong: tuple[str, ...], error: Error | None
) -> None:
    assert error_between(right, wrong) == error


def pairs(dropped: int, kept: int) -> list[RightAndWrong]:
    right = ((START,), (), (",",), (".",))
    wrong = ((START,), (), (), (".",))
    return [RightAndWrong(TREE, right, wrong)] * dropped + [RightAndWrong(TREE, right, right)] * kept


def test_fitted_rates_are_those_of_the_pairs() -> None:
    channel = fit_channel(pairs(300, 700), MARKS)
    assert channel.errors == (Error("drop", ","),)
    found = math.exp(channel.log_prob((), (",",), contexts(TREE)[2]))
    assert found == pytest.approx(0.3, abs=0.01)


def test_rates_depend_on_the_place() -> None:
    rng = np.random.default_rng(0)
    made = []
    for _ in range(1000):
        wrong = [(START,), () if rng.random() < 0.1 else (",",), () if rng.random() < 0.6 else (",",), ()]
        made.append(RightAndWrong(TREE, ((START,), (",",), (",",), ()), wrong))
    channel = fit_channel(made, MARKS)
    shares = [math.exp(channel.log_prob((), (",",), contexts(TREE)[slot])) for slot in (1, 2)]
    assert shares == pytest.approx([0.1, 0.6], abs=0.05)


def test_marks_that_the_model_does_not_know_teach_nothing() -> None:
    with pytest.raises(InputError, match="no error to learn from"):
        fit_channel(pairs(3, 7), [";"])


def test_slots_with_two_errors_teach_nothing() -> None:
    one = pairs(300, 700)
    two = [
        RightAndWrong(TREE, ((START,), (",",), (",",), (".",)), ((START,), ("”", "."), (",",), (".",)))
    ] * 50
    far = fit_channel(one + two, MARKS)
    assert far.errors == (Error("drop", ","),)
    assert math.exp(far.log_prob((), (",",), contexts(TREE)[2])) == pytest.approx(300 / 1050, abs=0.02)


def test_a_channel_outlives_json() -> None:
    assert ErrorChannel.from_json(CHANNEL.to_json()) == CHANNEL


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"errors": [["forget", ","]]}, "'forget'"),
        ({"weights": {"drop ,": math.inf}}, "'drop ,'"),
        ({"weights": {"drop ,": "much"}}, "'much'"),
    ],
)
def test_what_is_no_channel_is_refused(change: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ErrorChannel.from_json({**CHANNEL.to_json(), **change})
