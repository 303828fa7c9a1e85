"""Words and white space of raw text come out as they went in, marks apart."""

from collections.abc import Callable, Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.conventions import Conventions, SpacingStatistics
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.prose import has_text
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence, print_words
from pyropunct.treebank.orthography import learn_conventions
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import Vocabulary

LANGUAGES = {
    "French": "mais il viendra une enquête de 3,5 % a-t-il l'Europe qu'on aujourd'hui ça",
    "Spanish": "el niño del pueblo dámelo 5 % al señor Pérez qué",
    "English": "we can not do n't gonna dogs' rock 'n' roll $ 5 € 7 I 'm cannot",
    "German": "zum Haus im Garten geht's 20 % der Ärztin U-Bahn",
    "Chinese": "他 说 好 2 a 我们",
}
SPACES = [" ", " ", " ", "  ", "\u00a0", "\u202f", "\t", "\u200b"]
MARKS = (",", ".", ":", "?", "!", "(", ")", "“", "”", "«", "»", "—", "¿", "。", "...")

CLITICS = Conventions(
    SpacingStatistics(
        {},
        frozenset(["n't", "'m", "%", "il", "une", "7"]),
        frozenset(["$", "l'", "mais", "€"]),
        frozenset([("can", "not"), ("U-Bahn", "der")]),
    ),
    {"“": '"', "”": '"'},
)


def reader(words: Sequence[str]) -> RawReader:
    """One that knows the marks, and some words."""
    known = ("", *sorted({word.lower() for word in words}))
    return RawReader(
        Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, *MARKS), ("",), ("",), known, ((),)), CLITICS
    )


Case = tuple[RawReader, list[str], list[str], list[list[str]]]


@st.composite
def cases(draw: Callable[..., object], words: Sequence[str]) -> Case:
    """Words of a language, the white space between them, and the marks that come to the slots."""
    some = draw(
        st.lists(st.sampled_from(words), min_size=1, max_size=8).filter(lambda some: has_text("".join(some)))
    )
    spaces = draw(st.lists(st.sampled_from(SPACES), min_size=len(some) - 1, max_size=len(some) - 1))
    slot = st.one_of(st.just([]), st.lists(st.sampled_from(MARKS), max_size=2))
    marks = draw(st.lists(slot, min_size=len(some) + 1, max_size=len(some) + 1))
    return reader(words), some, spaces, marks


def line(words: Sequence[str], spaces: Sequence[str]) -> str:
    return "".join(chain.from_iterable(zip(words, [*spaces, ""], strict=True)))


def runs(words: Sequence[str], spaces: Sequence[str], marks: Sequence[Sequence[str]]) -> list[str]:
    """The maximal parts of the line in which no mark comes to stand."""
    found = [words[0]]
    for word, space, slot in zip(words[1:], spaces, marks[1:-1], strict=True):
        if slot:
            found.append(word)
        else:
            found[-1] += space + word
    return found


def printed(source: RawSentence, marks: Sequence[Sequence[str]]) -> str:
    """A line with marks in the slots of written words."""
    words, _, slots = source.as_written([[]] * len(source.surface))
    return print_words(words, marks, CLITICS, slots=slots)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
def test_words_and_spaces_stay(language: str, data: st.DataObject) -> None:
    reading, words, spaces, marks = data.draw(cases(LANGUAGES[language].split(" ")))
    source = reading.read(line(words, spaces))
    assert source.as_written([[]] * len(source.surface))[0] == words
    assert printed(source, [[]] * len(marks)) == source.text
    text, end = printed(source, marks), 0
    for run in runs(words, spaces, marks):
        start = text.find(run, end)
        assert start >= 0
        assert not any(map(str.isalnum, text[end:start]))
        end = start + len(run)


@pytest.mark.parametrize(
    ("text", "without_marks"),
    [
        ("mais il viendra", "mais il viendra"),
        ("Une enquête", "Une enquête"),
        ("3,5 % de plus", "3,5 % de plus"),
        ("il viendra , une fois", "il viendra une fois"),
        ("oui\u00a0! mais il", "oui mais il"),
        ("oui—mais il", "oui mais il"),
        ("‘oui’ mais ‘il’", "oui mais il"),
        ("can not (can not)", "can not can not"),
    ],
)
def test_where_marks_were_taken_off(text: str, without_marks: str) -> None:
    words = [word for some in LANGUAGES.values() for word in some.split(" ")] + ["‘", "’"]
    marks = (START, ABBREVIATION_DOT, UNKNOWN, *MARKS, "‘", "’")
    vocabulary = Vocabulary(marks, ("",), ("",), ("", *words[:-2]), ((),))
    source = RawReader(vocabulary, CLITICS).read(text)
    assert printed(source, [[]] * (len(source.surface) - len(source.inside))) == without_marks


def test_sentences_of_a_treebank() -> None:
    conventions = learn_conventions(read_treebank(embedded_treebank_path("train")))
    marks = {
        mark for one in read_treebank(embedded_treebank_path("dev")) for slot in one.surface for mark in slot
    }
    special = (START, ABBREVIATION_DOT, UNKNOWN)
    vocabulary = Vocabulary((*special, *sorted(marks.difference(special))), ("",), ("",), ("",), ((),))
    reading = RawReader(vocabulary, conventions)
    for sentence in read_treebank(embedded_treebank_path("dev")):
        text = " ".join(sentence.tree.forms)
        source = reading.read(text)
        words, marks_left, slots = source.as_written([[]] * len(source.surface))
        assert print_words(words, marks_left, conventions, slots=slots) == text
