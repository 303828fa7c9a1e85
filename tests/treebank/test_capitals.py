"""Capital letters that follow the beginning of a sentence."""

import pytest

from pyropunct.text.conventions import Capitals, at_the_beginning
from pyropunct.treebank.conventions import learn_capitals
from pyropunct.treebank.reading import read_text

LINES = """1	{0}	_	DET	_	_	2	det	_	_
2	{1}	_	{2}	_	_	3	nsubj	_	_
3	runs	_	VERB	_	_	0	root	_	_

"""


def capitals(*nouns: tuple[str, str]) -> Capitals:
    return learn_capitals(read_text("".join(LINES.format("The", *noun) for noun in nouns)))


def test_what_is_counted() -> None:
    """Words inside sentences; the first words say nothing."""
    found = capitals(("dog", "NOUN"), ("Dog", "NOUN"), ("I", "PRON"), ("3", "NUM"))
    assert found.words == {"dog": (1, 2), "i": (1, 1), "runs": (0, 4)}
    assert found.tags == {"NOUN": (1, 2), "PRON": (1, 1), "VERB": (0, 4)}


@pytest.mark.parametrize(
    ("form", "tag", "inside"),
    [
        ("The", "DET", "the"),
        ("Anna", "PROPN", "Anna"),
        ("I", "PRON", "I"),
        ("He", "PRON", "he"),
        ("NASA", "NOUN", "NASA"),
        ("McBride", "X", "McBride"),
        ("A", "DET", "a"),
        ("2nd", "ADJ", "2nd"),
        ("狗", "NOUN", "狗"),
    ],
)
def test_rules_without_a_treebank(form: str, tag: str, inside: str) -> None:
    assert Capitals().inside(form, tag) == inside


def test_a_treebank_decides() -> None:
    """A word that was seen is as it was seen; of the others of its tag most decide, as of German nouns."""
    german = capitals(*[("Hund", "NOUN")] * 20, *[("eine", "NOUN")] * 4)
    assert german.inside("Katze", "NOUN") == "Katze"
    assert german.inside("Eine", "NOUN") == "eine"
    assert german.inside("Hund", "X") == "Hund"
    assert german.inside("Der", "DET") == "der"


def test_the_beginning() -> None:
    assert list(map(at_the_beginning, ["the", "iPhone", "NASA", "3", "ǆ"])) == [
        "The",
        "iPhone",
        "NASA",
        "3",
        "ǅ",
    ]
