"""Texts that are given to a model in Python."""

import re
from pathlib import Path
from typing import Any

import pytest

from pyropunct.nets.parser import BiaffineParser
from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import CHUNK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import details
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import ABBREVIATION_DOT
from pyropunct.text.raw_sentence import print_words

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def model(model_with_parser: Path) -> Path:
    """A model with a parser, neither of them good."""
    return model_with_parser


def test_parser_comes_back(model: Path, tmp_path: Path) -> None:
    words = [["Ann", "sings", "loudly"], ["Go"]]
    one = Punctuator.load(model)
    assert isinstance(one.parser, BiaffineParser)
    one.save(tmp_path / "again")
    again = Punctuator.load(tmp_path / "again")
    assert again.parser is not None
    assert again.parser.parse(words) == one.parser.parse(words)
    assert again.conventions == one.conventions
    assert one.conventions.spacing.enclitics == again.conventions.spacing.enclitics


def test_many_texts_from_python(model: Path) -> None:
    """A list of a list; an iterator of an iterator, which reads some texts at a time, few at first."""
    loaded = Punctuator.load(model)
    texts = ["my sister sings", "go\nAnn went to the hospital", "", *["go"] * (3 * CHUNK)]
    expected = [loaded(text, samples=5) for text in texts[:3]]
    together = loaded(texts, samples=5)
    assert together[:3] == expected
    read: list[str] = []
    given = (read.append(text) or text for text in texts)
    found = loaded(given, samples=5)
    assert (len(read), next(found), len(read)) == (0, expected[0], 1)
    rest = []
    for one in found:
        assert len(read) <= 2 * CHUNK + len(rest)
        rest.append(one)
    assert [expected[0], *rest] == together


TYPED = '  (don\'t go), Mr.\u00a0Hayes  said "so" \n\n\u0130STANBUL is far\ngo on. sing now'


@pytest.mark.parametrize("settings", [{}, {"running": True, "case": "restore"}, {"keep": True}])
def test_details_say_where_words_are(model: Path, settings: dict[str, Any]) -> None:
    """As they were typed, whatever their case or the number of their tokens, with marks that are printed."""
    loaded = Punctuator.load(model)
    words = loaded.details(TYPED, samples=20, **settings)
    assert [word.text for word in words][:6] == ["don't", "go", "Mr.", "Hayes", "said", "so"]
    assert [word.text for word in words][6:] == ["İSTANBUL", "is", "far", "go", "on", "sing", "now"]
    assert all(TYPED[word.start : word.end] == word.text for word in words)
    printed = loaded(TYPED, samples=20, **settings)  # quotation marks that are kept are as they were typed
    place = 0
    for word in words:
        for form in (*word.before.marks, word.text.removesuffix(".").lower(), *word.behind.marks):
            place = printed.lower().index('"' if form in "“”" else form, place) + len(form)
    sides = [side for word in words for side in (word.before, word.behind)]
    assert all(0 <= one.others_probability <= 1 - one.probability + 1e-9 for one in sides)
    assert all(one.others != one.marks or not one.others_probability for one in sides)
    assert loaded.details([TYPED, ""], samples=20, **settings) == [words, []]
    assert list(loaded.details(iter([TYPED]), samples=20, **settings)) == [words]


def test_details_are_shares_of_draws(model: Path) -> None:
    loaded = Punctuator.load(model)
    settings = RestoreSettings(decoder="mbr", samples=50, as_written=False)
    source = loaded.raw_reader.read("go now")
    [restored] = Restorer(loaded, settings).restore([source])
    [_, last] = details(restored, loaded.conventions, 7)
    share = restored.shares[2]
    assert (last.start, sum(share.values())) == (10, pytest.approx(1))
    of_marks = {
        marks: sum(share[one] for one in share if without_dot(one) == marks)
        for marks in map(without_dot, share)
    }
    assert last.behind.probability == pytest.approx(of_marks.pop(last.behind.marks))
    assert last.behind.others_probability == pytest.approx(max(of_marks.values(), default=0))


def without_dot(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(mark for mark in marks if mark != ABBREVIATION_DOT)


def test_a_text_is_a_string(model: Path) -> None:
    loaded = Punctuator.load(model)
    numbers, bytes_ = r"not of the type int: 1$", r"not bytes: decode it$"
    for texts, problem in (([1, 2], numbers), ([b"go"], bytes_), (b"go", bytes_)):
        with pytest.raises(TypeError, match=rf"^a text is a string, {problem}"):
            loaded(texts)


def test_a_model_is_shown_in_a_line(model: Path) -> None:
    loaded = Punctuator.load(model)
    assert re.fullmatch(
        r"<Punctuator\('log-linear', 'sliding-window'\) of [\d,]+ words and \d+ marks>", repr(loaded)
    )
    assert len(repr(loaded.for_parsed)) < 100


@pytest.mark.parametrize("sentences", [["my sister sings"], "my sister sings", [["go"], "x" * 100]])
def test_a_string_is_no_sequence_of_words(model: Path, sentences: list[str] | str) -> None:
    loaded = Punctuator.load(model)
    with pytest.raises(TypeError, match=r"^'.{1,43}' is a string: a sequence of words is needed"):
        loaded.restore(sentences, samples=20)
    with pytest.raises(TypeError, match="'my sister' is a string"):
        print_words("my sister", [[], [], []], loaded.conventions)
