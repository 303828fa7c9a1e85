"""Texts without trees as running text to learn from."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pyropunct import Punctuator
from pyropunct.nets.running_text import Document
from pyropunct.restore.running import ends_sentence
from pyropunct.text.marks import ABBREVIATION_DOT, parted
from pyropunct.text.raw_reader import RawReader

LEAST_STRINGS = 40
"""A string of marks that is rarer in a text counts as its first mark."""

DOCUMENT_WORDS = 1500
"""The words of a document of text, exceeded by less than a line."""

PIECE = 60
"""The lines of a piece of a text of which a part is read."""


def running(model: Punctuator, file: Path, every: int = 1) -> list[Document]:
    """A text as running text to learn from: sentences end at marks that end sentences, and at line ends.

    Dots of omission end a sentence in front of a capital letter, and are commas elsewhere.

    :param every: of the pieces of `PIECE` lines, one in so many is read.
    """
    read = RawReader(model.vocabulary, model.conventions).read
    parts: list[list[tuple[str, bool, tuple[str, ...]]]] = [[]]
    for number, text in enumerate(file.read_text("utf-8").splitlines(), 1):
        if number // PIECE % every:
            continue
        line = read(text, number)
        following = [*line.words[1:], ""][: len(line.words)]  # a line may have marks alone
        for word, slot, behind in zip(line.words, line.surface[1:], following, strict=True):
            capital = not behind or (behind[0].isalpha() and not behind[0].islower())  # or of no case
            string = tuple(("." if capital else ",") if set(mark) <= {".", "…"} else mark for mark in slot)
            end = not behind or (
                ends_sentence(string, behind) and not (ABBREVIATION_DOT in string and behind[0].islower())
            )
            parts[-1].append((word, end, tuple(parted(string)[0]) if end else string))
        if len(parts[-1]) >= DOCUMENT_WORDS:
            parts.append([])
    found = [Document(*zip(*part, strict=True)) for part in parts if part]
    counts = Counter(mark for document in found for mark in document.marks)
    frequent = {mark: mark if counts[mark] >= LEAST_STRINGS else mark[:1] for mark in counts}
    return [one._replace(marks=tuple(frequent[mark] for mark in one.marks)) for one in found]


def single_sentences(document: Document) -> Iterator[Document]:
    """The sentences of a document, each as a document."""
    first = 0
    for place, end in enumerate(document.ends, 1):
        if end:
            part = slice(first, place)
            yield Document(document.words[part], document.ends[part], document.marks[part])
            first = place
