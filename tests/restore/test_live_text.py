"""Live text: it comes in pieces, and each sentence is restored once it is certain."""

import random
import time
from collections.abc import Iterable, Iterator

import pytest

import pyropunct
from pyropunct.errors import MissingPartError
from pyropunct.restore.items import LONGEST_PIECE, WordsOfPieces
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
        size = chance.choice([0, 1, 2, 5, 20, 100])
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


def test_sentences_do_not_wait_for_the_next_piece(punctuator: pyropunct.Punctuator) -> None:
    """A long piece yields its finished sentences before the next piece is read."""
    asked: list[str] = []

    def two() -> Iterator[str]:
        for piece in (TALK + " ", "and so on"):
            asked.append(piece)
            yield piece

    stream = punctuator.stream(two())
    assert [len(asked) for _, _ in zip(range(3), stream, strict=False)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (b"so we", "a text is a string, not bytes: decode it"),
        (None, "a text is a string, not of the type NoneType: None"),
    ],
)
def test_pieces_are_strings(punctuator: pyropunct.Punctuator, piece: object, problem: str) -> None:
    with pytest.raises(TypeError, match=f"^{problem}$"):
        list(punctuator.stream(["so we ", piece]))  # type: ignore[list-item]


@pytest.mark.parametrize("letter", ["我", "ก", " "])
def test_text_without_words_takes_linear_time(punctuator: pyropunct.Punctuator, letter: str) -> None:
    """Neither more white space nor longer words than `LONGEST_PIECE` wait; pieces make no difference."""
    text = letter * (2 * LONGEST_PIECE) + "so"

    def lengths(pieces: Iterable[str]) -> list[int]:
        return [len(word.text + word.end) for word in WordsOfPieces(pieces, punctuator.raw_reader)]

    start = time.process_time()
    assert lengths(text) == lengths([text[:7], text[7:]]) == [LONGEST_PIECE, LONGEST_PIECE, 2]
    assert time.process_time() - start < 20  # 300 for the first quarter, if each piece copied the word


def test_a_stream_has_one_language() -> None:
    with pytest.raises(MissingPartError, match="name it, as in load"):
        pyropunct.load("multi").stream(["hallo"])
