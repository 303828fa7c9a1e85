"""Slips of typing: what is mended, and what stays."""

import pytest

import pyropunct
from pyropunct.text.conventions import Conventions
from pyropunct.text.typography import RULES, mended, typing_errors

SLIPS = {
    "I went home , and slept .": "I went home, and slept.",
    "Hello,my name is Bo;yours is": "Hello, my name is Bo; yours is",
    "What!! No.. Yes,, and": "What! No. Yes, and",
    "He left the U.S.. Then": "He left the U.S. Then",
    "really?Yes": "really? Yes",
}

RIGHT = [
    "Wait... what?!",
    "see http://a.de/b,cd,ef or f(x,yz) or me@ab.de,cd",
    "1 , 2 , 3 are 1,000,000 :) , and e.g.,this",
    "std::vector a,,b x == y",
    "He said:yes .5 .net",
]


@pytest.mark.parametrize(("typed", "right"), SLIPS.items())
def test_typing_errors(typed: str, right: str) -> None:
    assert mended(typed, Conventions()) == right
    assert mended(right, Conventions()) == right
    assert mended(typed, Conventions(), ()) == typed
    one_by_one = typed
    for rule in RULES:
        one_by_one = mended(one_by_one, Conventions(), [rule])
    assert one_by_one == right


@pytest.mark.parametrize("text", RIGHT)
def test_what_may_be_meant_stays(text: str) -> None:
    assert mended(text, Conventions()) == text


def test_spaces_of_a_language_stay() -> None:
    french = pyropunct.load("multi", language="fr").conventions
    assert mended("Ça va ? Oui , merci .", french) == "Ça va ? Oui, merci."


def test_typing_errors_are_told() -> None:
    found = typing_errors("Hello,my dear , so it is", "Hello, my dear, so it is")
    assert found == [("Hello,my dear ,", "Hello, my dear,")]
