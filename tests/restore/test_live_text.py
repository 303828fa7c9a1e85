"""Live text: it comes in pieces, and each sentence is restored once it is certain."""

import random
from collections.abc import Iterator

import pytest

import pyropunct
from pyropunct.errors import MissingPartError
from pyropunct.restore.settings import AHEAD_OF_STREAM

TALK = (
    "so we went to the station in the morning and then we took the train to london\n\n"
    "do you know what happened there nobody was waiting for us so we called my brother "
    "and he said that he would come at once  thank you very much dr. smith it was great"
)


@pytest.fixture(scope="module")
def punctuator() -> pyropunct.Punctuator:
    return pyropunct.load("en")


def pieces(seed: int) -> Iterator[str]:
    chance, at = random.Random(seed), 0
    while at < len(TALK):
        size = chance.choice([1, 2, 5, 20, 100])
        yield TALK[at : at + size]
        at += size


def test_pieces_make_no_difference(punctuator: pyropunct.Punctuator) -> None:
    whole = list(punctuator.stream([TALK]))
    assert len(whole) > 3
    assert whole[0].endswith("London.\n\n")  # a blank line ends a sentence
    letters = ["".join(filter(str.isalnum, text.lower())) for text in ("".join(whole), TALK)]
    assert letters[0] == letters[1]
    for seed in range(5):
        assert list(punctuator.stream(pieces(seed))) == whole
    assert list(punctuator.stream([TALK], ahead=2)) == list(punctuator.stream(pieces(1), ahead=2))


def test_sentences_come_early(punctuator: pyropunct.Punctuator) -> None:
    """Few more words than those of the sentence, and `AHEAD_OF_STREAM`, are read."""
    read = 0

    def words() -> Iterator[str]:
        nonlocal read
        for word in TALK.replace("\n", " ").split():
            read += 1
            yield word + " "

    first = next(punctuator.stream(words()))
    assert read <= len(first.split()) + AHEAD_OF_STREAM + 5 < len(TALK.split())


def test_a_stream_has_one_language() -> None:
    with pytest.raises(MissingPartError, match="name it, as in load"):
        pyropunct.load("multi").stream(["hallo"])
