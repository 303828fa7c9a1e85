"""Comma splices: which commas may be some, which trees are main clauses, and what is put."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from pyropunct.errors import MissingPartError
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import CorrectingSettings
from pyropunct.tasks.correct.correcting import Correcting, changes, load_corrector
from pyropunct.tasks.correct.splices import (
    LEAST,
    LEAST_BEFORE_PRONOUN,
    commas,
    find_splices,
    least_probability,
    subject_of,
)
from pyropunct.text.marks import START
from pyropunct.text.raw_reader import RawReader
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")

LIKES = Tree((2, 0, 2), ("nsubj", "root", "obj"), ("PRON", "VERB", "NOUN"), ("I", "like", "pizza"))
ROUND = Tree((3, 3, 0), ("nsubj", "cop", "root"), ("PRON", "AUX", "ADJ"), ("it", "is", "round"))
TAG = Tree((2, 3, 0), ("det", "nsubj", "root"), ("DET", "NOUN", "VERB"), ("my", "sister", "said"))
QUESTION = Tree((3, 3, 0), ("cop", "nsubj", "root"), ("AUX", "PRON", "ADJ"), ("is", "it", "round"))
IMPERATIVE = Tree((0, 3, 1), ("root", "det", "obj"), ("VERB", "DET", "NOUN"), ("eat", "the", "pizza"))
CONDITION = Tree(
    (4, 4, 4, 0),
    ("mark", "nsubj", "cop", "root"),
    ("SCONJ", "PRON", "AUX", "ADJ"),
    ("as", "it", "is", "round"),
)
SHORT = Tree((2, 0), ("nsubj", "root"), ("PRON", "VERB"), ("I", "came"))
PHRASE = Tree((2, 3, 0), ("det", "nsubj", "root"), ("DET", "NOUN", "NOUN"), ("no", "pain", "gain"))


@pytest.fixture(scope="module")
def corrector() -> Correcting:
    return load_corrector("en")


def slots(text: str) -> list[int]:
    """The commas of a text that may be splices; a comma is a word of its own."""
    words: list[str] = []
    surface: list[list[str]] = [[START]]
    for token in text.split():
        if token.isalpha() or "'" in token:
            words.append(token)
            surface.append([])
        else:
            surface[-1].append(token)
    return [comma.slot for comma in commas(words, surface)]


def test_only_lone_commas_may_be_splices() -> None:
    assert slots("I like it , it is round .") == [3]
    assert slots("I like it , ” it is round .") == []
    assert slots(", I like it ,") == []


@pytest.mark.parametrize("word", ["and", "But", "which", "where", "so", "if"])
def test_a_linked_clause_is_not_spliced(word: str) -> None:
    assert slots(f"I like it , {word} it is round .") == []


def test_a_series_of_clauses_keeps_its_commas() -> None:
    assert slots("I like it , you eat it , and he cooks it .") == []


def test_a_clause_ends_at_other_marks() -> None:
    words = ["Well", "I", "like", "it", "it", "is", "round", "you", "know"]
    surface = [[START], [":"], [], [], [","], [], [], ["."], [], ["."]]
    assert list(commas(words, surface)) == [(4, ("I", "like", "it"), ("it", "is", "round"))]


def test_statements_have_a_subject_before_their_verb() -> None:
    assert subject_of(LIKES) == subject_of(ROUND) == 1
    for other in (QUESTION, IMPERATIVE, CONDITION, SHORT, PHRASE, TAG):
        assert subject_of(other) is None, other.forms


def test_a_pronoun_needs_less_evidence() -> None:
    assert least_probability(LIKES, ROUND) == LEAST_BEFORE_PRONOUN < LEAST
    noun = replace(ROUND, tags=("NOUN", "AUX", "ADJ"), forms=("pizza", "is", "round"))
    assert least_probability(LIKES, noun) == LEAST
    assert least_probability(LIKES, QUESTION) == least_probability(CONDITION, ROUND) == math.inf


def test_a_semicolon_replaces_the_comma_on_request(corrector: Correcting) -> None:
    reader = RawReader(corrector.model.vocabulary, corrector.model.conventions)
    lines = ["I like pizza, it is round.", "I came, I saw, I conquered.", "If you come, I will go.", "", ","]
    sources = [reader.read(line, number) for number, line in enumerate(lines, 1)]
    usual, mended, sure = (
        list(corrector.correct(sources, settings))
        for settings in (
            CorrectingSettings(),
            CorrectingSettings(splices=True),
            CorrectingSettings(splices=True, threshold=1),
        )
    )
    for before, after in zip(usual[1:], mended[1:], strict=True):
        assert not changes(before.surface, after.surface)
    assert not changes(sources[0].surface, usual[0].surface)
    assert changes(sources[0].surface, mended[0].surface) == [(3, (",",), (";",))]
    assert LEAST_BEFORE_PRONOUN <= mended[0].probability(3) <= 1
    assert not changes(sources[0].surface, sure[0].surface)


def test_a_model_without_a_reader_finds_none(small: Path) -> None:
    with pytest.raises(MissingPartError, match="a parser and a reader"):
        find_splices(Punctuator.load(small / "model"), [])
