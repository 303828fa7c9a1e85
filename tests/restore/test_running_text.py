"""Running text: its sentences are found, whatever comes at a time, and its words come out as they went in."""

import io
import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pyropunct.errors import MissingPartError
from pyropunct.nets.labels import Labels, SlotVocabulary
from pyropunct.nets.reader import CORE, Reading, RunningReader, TextWindow
from pyropunct.nets.running_text import CAPITAL, UPPER, ReaderRecipe, ReaderVocabulary, RunningNetwork
from pyropunct.restore.casing import in_their_cases, loses_case, recased
from pyropunct.restore.items import LONGEST_PIECE, BadLine, chunks, cut_between_words, read_items
from pyropunct.restore.running import (
    AHEAD,
    ENDS_IN_SILENCE,
    LEAST_CUT,
    LONGEST_MARKED,
    LONGEST_SENTENCE,
    MARKS_IN_SILENCE,
    SentenceFinder,
    ends_sentence,
)
from pyropunct.restore.sentence_stream import SentenceStream, require_reader
from pyropunct.restore.settings import CaseMode, RestoreSettings
from pyropunct.text.conventions import Conventions
from pyropunct.text.lines import ByteLines, TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, PAUSE, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.vocabulary import Vocabulary

MARKS = (START, ABBREVIATION_DOT, UNKNOWN, ",", ".", "?", "“", "”", "(", ")")
LINES = RawReader(Vocabulary(MARKS, ("",), ("",), ("",), ((),)), Conventions(splits={"du": ("de", "le")}))
SLOTS = SlotVocabulary(Labels(MARKS[1:], ((), (",",))), ())
UNKNOWN_TYPES = ("", "\N{REPLACEMENT CHARACTER}")
VOCABULARY = ReaderVocabulary(UNKNOWN_TYPES, UNKNOWN_TYPES, (), SLOTS)
RECIPE = ReaderRecipe(form_size=2, character_size=2, spelling_size=2, lstm_size=2, layers=1)


class StopReader(RunningReader):
    """A reader that finds ends behind "stop", and that words of five letters are capitalised."""

    def read_windows(self, windows: Sequence[TextWindow]) -> Reading:
        words = [word for window in windows for word in window.words[window.core]]
        ends = torch.tensor([0.9 if word.lower() == "stop" else 0.1 for word in words])
        cases = torch.zeros(len(words), 4)
        cases[:, 0] = 1
        cases[torch.tensor([len(word) == 5 for word in words]), CAPITAL] = 2
        commas = torch.tensor([[0.0, float(word == "ah"), -9.0] for word in words])
        return Reading(ends, cases, commas)


STOP_READER = StopReader(VOCABULARY, RECIPE, RunningNetwork(VOCABULARY, RECIPE), {})
STOP_READER.network.at_start.data[CAPITAL] = 2
STOP_READER.network.at_end.data[1] = 3


def stream(lines: Iterable[RawSentence], reader: RunningReader | None, **settings: Any) -> list[RawSentence]:
    items = list(SentenceStream(lines, reader, RestoreSettings(**settings)))
    assert all(isinstance(item, RawSentence) for item in items)
    return items  # type: ignore[return-value]


def sentences_in(
    text: str, mode: CaseMode = "keep", reader: RunningReader = STOP_READER
) -> list[RawSentence]:
    lines = (
        LINES.read(line.removesuffix("\n"), number, "\n" * line.endswith("\n"))
        for number, line in enumerate(text.splitlines(keepends=True), 1)
    )
    return stream(lines, reader, running=True, case=mode)


def texts(some: Iterable[RawSentence]) -> list[str]:
    return [sentence.text for sentence in some]


def as_they_were(some: Iterable[RawSentence]) -> str:
    return "".join((one.before if one.words else "") + one.text + one.end for one in some)


def test_sentences_cross_lines_and_end_with_paragraphs() -> None:
    some = sentences_in("  a b\nc stop d\n\n ... \ne f")
    assert texts(some) == ["a b\nc stop", "d", "", " ... ", "e f"]
    assert [sentence.line for sentence in some] == [1, 2, 3, 4, 5]
    assert [sentence.identifier for sentence in some] == ["1", "2", "3", "4", "5"]
    assert as_they_were(some) == "  a b\nc stop d\n\n ... \ne f"


def test_sentences_are_parted_where_white_space_is() -> None:
    """Also with a mark that sticks to the next word; where there is no white space, no sentence ends."""
    some = sentences_in("a stop. —b c stop (d stop!—e f")
    assert [(one.text, one.end) for one in some] == [
        ("a stop.", " "),
        ("—b c stop", " "),
        ("(d stop!—e f", ""),
    ]
    assert as_they_were(some) == "a stop. —b c stop (d stop!—e f"
    assert texts(sentences_in("a b ...")) == ["a b ..."]


def test_marks_tell_sentence_ends() -> None:
    assert texts(sentences_in("a stop b. c stop d? e stop f")) == ["a stop b.", "c stop d?", "e stop", "f"]
    assert texts(sentences_in("a stop, b stop (c) d ... e")) == ["a stop, b stop", "(c) d ... e"]
    assert texts(sentences_in("a J. Doe stop a")) == ["a J. Doe stop", "a"]
    assert texts(sentences_in("a J. Doe. J. stop a b.")) == ["a J. Doe.", "J. stop a b."]
    assert [one.identifier for one in sentences_in("a. b. c\nd. e")] == ["1", "1-2", "1-3", "2"]
    quoted = ["“Ah?” b.", "“Ah?”", "Bo.", "“Ah?”", "“b.”", "“Ah.”", "b"]
    assert texts(sentences_in(" ".join(quoted))) == quoted
    far = "w " * (LONGEST_MARKED - 2)
    assert len(sentences_in(f"a. stop {far}b.")) == 2
    assert len(sentences_in(f"a. stop {far}b c.")) == 3


def test_what_the_reader_says_of_marks_depends_on_the_ends_of_sentences() -> None:
    for sentence, logits in zip(sentences_in("ah b stop ah"), ([1, 0, 3], [1 + 3]), strict=True):
        rows = torch.tensor([[0.0, comma, -9.0] for comma in logits], dtype=torch.double)
        assert sentence.marks is not None
        torch.testing.assert_close(torch.from_numpy(sentence.marks), rows.softmax(-1))


def test_no_sentence_ends_inside_a_written_word() -> None:
    [first, second] = sentences_in("a du stop b")
    assert first.words == ("a", "de", "le", "stop")
    assert first.inside == [2]
    assert second.words == ("b",)


def test_a_text_without_ends_is_cut() -> None:
    some = sentences_in("w " * 10_000)
    sizes = [len(sentence.words) for sentence in some]
    assert sum(sizes) == 10_000
    assert all(LEAST_CUT <= size <= LONGEST_SENTENCE for size in sizes[:-1])


def test_a_text_whose_words_all_touch_is_cut() -> None:
    """The work for a word would else grow with the words before it."""
    text = "we," * 1000
    sentences = sentences_in(text)
    sizes = [len(sentence.words) for sentence in sentences]
    assert all(LEAST_CUT <= size <= LONGEST_SENTENCE for size in sizes[:-1])
    assert "".join(texts(sentences)) == text


def test_words_are_let_go_of() -> None:
    finder = SentenceFinder(STOP_READER, RestoreSettings())
    for number in range(300):
        list(finder.add(LINES.read("a b c d e " * 3, number)))
        assert len(finder._words) <= AHEAD + 2 * CORE + LONGEST_SENTENCE + 15


@pytest.fixture(scope="module")
def random_reader() -> RunningReader:
    """A reader that finds ends anywhere, which depend on all words of a window."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = RunningNetwork(VOCABULARY, RECIPE)
        torch.nn.init.normal_(network.ends.weight, std=9.0)
        torch.nn.init.normal_(network.cases.weight, std=9.0)
    return RunningReader(VOCABULARY, RECIPE, network.eval(), {})


def test_a_threshold_of_ends(random_reader: RunningReader) -> None:
    """Sentences end where the reader's probability is above it, and at the end."""
    line = LINES.read("it no Ann stop x " * 12)
    read = random_reader.read(line.words).ends.tolist()
    below, above = max(pairwise(sorted(read)), key=lambda two: two[1] - two[0])
    for threshold in (1.0, (below + above) / 2, 0.0):
        finder = SentenceFinder(random_reader, RestoreSettings(case="keep", ends=threshold))
        sizes = [len(one.words) for one in (*finder.add(line), *finder.finish())]
        expected = {place for place, end in enumerate(read, 1) if end > threshold} | {len(read)}
        assert set(accumulate(sizes)) == expected


@pytest.mark.parametrize(("pauses", "tenths"), [(1, 0), (3, 2), (8, 7), (31, 10)])
def test_silence_multiplies_odds(random_reader: RunningReader, pauses: int, tenths: int) -> None:
    """Of ends, and of other marks; more than a second tells no more."""
    line = LINES.read(f"it no Ann{PAUSE * pauses} stop x it")
    read = random_reader.read(line.words)
    odds = float(read.ends[2] / (1 - read.ends[2])) * math.exp(ENDS_IN_SILENCE[tenths])
    ends = odds / (1 + odds)
    for threshold, found in ((ends - 1e-4, True), (ends + 1e-4, False)):
        finder = SentenceFinder(random_reader, RestoreSettings(case="keep", ends=threshold))
        sizes = [len(one.words) for one in (*finder.add(line), *finder.finish())]
        assert (3 in accumulate(sizes)) == found
    finder = SentenceFinder(random_reader, RestoreSettings(case="keep", ends=1))
    [whole] = [*finder.add(line), *finder.finish()]
    assert whole.marks is not None
    of_marks = random_reader.mark_probabilities(read.marks, [*[False] * 5, True])[2]
    ratio = whole.marks[2] / of_marks
    strings = [*random_reader.vocabulary.slots.labels.strings, (",",)]  # the last label is of all others
    for number, string in enumerate(strings):
        table = ENDS_IN_SILENCE if ends_sentence(string, "") else MARKS_IN_SILENCE
        expected = math.exp(table[tenths]) if string else 1.0
        assert ratio[number] / ratio[0] == pytest.approx(expected, rel=1e-4)


FORMS = ("it", "du", "Ann", "x", "犬", "stop", "ok.", "J.", "“no", "yes”", "(a", "b),", "...", "?")
WORDS = st.sampled_from(FORMS)
GAPS = st.sampled_from([" ", "\n", " \n", "\n\n"])


@settings(max_examples=15)
@given(st.lists(st.tuples(WORDS, GAPS), max_size=100), st.integers(1, 5))
def test_words_come_out_as_they_went_in(
    random_reader: RunningReader, words: list[tuple[str, str]], times: int
) -> None:
    """Also in their lines and paragraphs, and whatever line breaks there are."""
    text = "".join(word + gap for word, gap in words * times)
    lines = [LINES.read(line, 1) for line in text.split("\n")]
    some = sentences_in(text, "keep", random_reader)
    assert [w for one in some for w in one.words] == [w for line in lines for w in line.words]
    assert [m for one in some for m in marks(one)] == [m for line in lines for m in marks(line)]
    assert all(len(one.surface) == len(one.slots) == len(one.words) + 1 for one in some)
    again = as_they_were(some)
    assert ("".join(again.split()), again.count("\n")) == ("".join(text.split()), text.count("\n"))
    recased = sentences_in(text, "restore", random_reader)
    assert [w.lower() for one in recased for w in one.words] == [w.lower() for one in some for w in one.words]


def marks(sentence: RawSentence) -> list[str]:
    return [mark for slot in sentence.surface for mark in slot if mark != START]


class Waiting(io.BytesIO):
    """Bytes that come a few at a time."""

    size = 7

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self.size)


def test_a_stream_gives_what_the_whole_gives(random_reader: RunningReader) -> None:
    text = ("Ann said it and x du stop ok. (a b), it is\n" * 60 + "\n") * 3 + "it is"
    expected = sentences_in(text + "\n", "auto", random_reader)
    for stream in (io.BytesIO(text.encode()), Waiting(text.encode())):
        lines = ByteLines(stream, 100)
        read = read_items(lines, "x", "text", LINES, running=True)
        items = SentenceStream(read, random_reader, RestoreSettings(running=True), lines=lines, last_end="\n")
        some = [item for chunk in chunks(items, items) for item in chunk]
        assert some == expected


def test_sentences_are_there_before_the_input_ends() -> None:
    seen: list[int] = []

    def endless() -> Iterable[RawSentence]:
        for number in range(1, 1000):
            seen.append(number)
            yield LINES.read("a b stop", number)

    first = next(SentenceStream(endless(), STOP_READER, RestoreSettings(running=True)))
    assert isinstance(first, RawSentence)
    assert first.words == ("A", "b", "stop")
    assert 3 * len(seen) < CORE + AHEAD + 6


def test_lines_that_cannot_be_read_stay_in_their_places() -> None:
    data = b"a b\n\xff c\nd stop e\n"
    lines = ByteLines(io.BytesIO(data))
    read = read_items(lines, "x", "text", LINES, running=True)
    items = list(SentenceStream(read, STOP_READER, RestoreSettings(running=True, case="keep"), lines=lines))
    told = [item.text if isinstance(item, BadLine | RawSentence) else "" for item in items]
    assert told == ["a b", "\udcff c\n", "d stop", "e"]


def test_long_lines_are_cut_between_words() -> None:
    data = b"abc def ghi jkl\nx y"
    pieces = [b"abc ", b"def ghi ", b"jkl\n", b"x ", b"y"]
    assert list(cut_between_words(ByteLines(io.BytesIO(data), 6))) == pieces
    words = ("我" * LONGEST_PIECE + " ").encode() * 2
    cut = [len(word) for word in cut_between_words(ByteLines(io.BytesIO(words), LONGEST_PIECE))]
    assert cut == 2 * [*[LONGEST_PIECE - 1] * 3, 4]
    for longest in (1, 1000):
        assert [len(word) for word in cut_between_words(ByteLines(io.BytesIO(words), longest))] == cut


@pytest.mark.parametrize("size", [1, 4, 5, 100])
def test_only_the_first_byte_order_mark_of_a_text_is_dropped(size: int) -> None:
    stream = Waiting("\ufeff\ufeffa \ufeffb\n\ufeffc".encode())
    stream.size = size
    read = read_items(ByteLines(stream, eager=True), "x", "text", LINES, running=True)
    assert "".join(f"{line.text}{line.end}" for line in read if isinstance(line, RawSentence)) == (
        "\ufeffa \ufeffb\n\ufeffc"
    )


def test_which_lines_are_running_text_by_default() -> None:
    """Long ones, and those in which marks end sentences."""
    told: list[int] = []
    texts = ("a stop b", "a stop " * 101, "c stop d.", "e. f", "“G?” h J. Doe", "I. J")
    lines = [LINES.read(text, number) for number, text in enumerate(texts, start=1)]
    some = SentenceStream(
        lines, STOP_READER, RestoreSettings(case="keep"), tell_long=lambda line: told.append(line.line)
    )
    places = [item.line for item in some if isinstance(item, RawSentence)]
    assert told == [2]
    assert places == [1, *[2] * 101, 3, 4, 4, 5, 6]
    assert stream(lines, None) == lines


def test_running_text_and_cases_need_a_reader() -> None:
    for asked in (RestoreSettings(running=True, case="keep"), RestoreSettings(case="restore")):
        with pytest.raises(MissingPartError, match="the model has no reader of running text"):
            require_reader(None, asked)


def test_running_text_is_no_treebank() -> None:
    with pytest.raises(TreebankError, match="x: is CoNLL-U, whose sentences are known"):
        read_items(io.BytesIO(b"1\ta\n"), "x", "conllu", LINES, running=True)


@pytest.mark.parametrize(
    ("words", "loses"),
    [
        ("it is", True),
        ("IT IS", True),
        ("It is", False),
        ("NASA", False),
        ("NASA is", False),
        ("1999", False),
        ("犬", False),
        ("", False),
    ],
)
def test_case_is_restored_where_there_is_none(words: str, loses: bool) -> None:
    assert loses_case(words.split(), "auto") == loses
    assert loses_case(words.split(), "restore")
    assert not loses_case(words.split(), "keep")


def test_cases_of_lines() -> None:
    """Of words that are written together too."""
    lines = [LINES.read(line) for line in ("clara saw du paris", "Clara saw paris", "CLARA DU")]
    assert [one.words for one in in_their_cases(lines, STOP_READER, "auto", True)] == [
        ("Clara", "saw", "de", "le", "Paris"),
        ("Clara", "saw", "paris"),
        ("Clara", "de", "le"),
    ]
    [upper] = in_their_cases([LINES.read("A DU")], STOP_READER, "auto", False)
    assert [one.text for one in upper.multiwords] == ["du"]


@pytest.mark.parametrize("word", ["ßabcd", "ŉabcd", "ﬁabcd", "ıabcd", "İABCD", "2ABCD", "2abcd"])
def test_no_case_changes_letters(word: str) -> None:
    """Not at the beginning of a sentence either."""
    for text in (word, f"it {word}"):
        [found] = in_their_cases([LINES.read(text)], STOP_READER, "restore", True)
        assert found.words[-1] == word


def test_abbreviations_of_small_letters_stay_small() -> None:
    upper = torch.eye(4)[[UPPER] * 2]
    assert recased(LINES.read("a.m u.s"), STOP_READER, upper, False).words == ("a.m", "U.S")


def test_cases_of_running_text() -> None:
    assert [one.words for one in sentences_in("clara stop she saw paris", "auto")] == [
        ("Clara", "stop"),
        ("She", "saw", "Paris"),
    ]
