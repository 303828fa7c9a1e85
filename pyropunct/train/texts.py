"""Text without trees, as training sentences: see `pyropunct.train.adapting`.

Text is read as restoration reads it: a line is a sentence, unless marks inside it end sentences.  Tables,
code, other languages and repeated sentences are skipped, and the reasons counted.
"""

import os
import reprlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pyropunct.errors import InputError
from pyropunct.nets.parser import Parser
from pyropunct.nets.running_text import Document, document_of
from pyropunct.restore.casing import loses_case
from pyropunct.restore.items import Item
from pyropunct.restore.restoring import words_of
from pyropunct.text.inputs import files_of_several, parts_of
from pyropunct.text.lines import TextPart
from pyropunct.text.marks import START, real_marks
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.conllu_block import Block
from pyropunct.treebank.layout import Layout
from pyropunct.treebank.sentence import Sentence

LONGEST = 100
"""The most words of a sentence to learn from."""

TITLE = 15
"""A line of more words without any mark is not a heading: it has lost its punctuation."""

SHORT = 5
"""A sentence of fewer words may occur twice; longer sentences that are repeated are boilerplate."""

FOREIGN = 0.5
"""A sentence that is not `SHORT` is foreign if more than this share of its words are new to the parser."""

BLOCK = 50
"""The sentences of a block: neighbours that are learned from, held out, or passed over together."""

HELD_OUT, MOST_HELD_OUT = 10, 1000
"""Every tenth block is held out, until this many sentences are."""

LEAST = 100
"""The fewest sentences to learn from."""

AT_ONCE = 500
"""Sentences that are parsed together."""

NOWHERE = Layout(Block("", "", 0, (), (), (), ()), (), (), ())
"""The layout of a sentence that stands in no CoNLL-U."""

REASONS = {
    "long": f"of more than {LONGEST} words",
    "words": "mostly of numbers, symbols or marks",
    "unmarked": f"of more than {TITLE} words without any mark",
    "foreign": "of which the parser knows less than half of the words",
    "repeated": "repeated",
}
"""Why sentences are left out."""


class TextSentence(NamedTuple):
    """A sentence of a numbered text.

    :ivar cased: whether its capital letters are the text's own, not restored by a reader.
    """

    words: tuple[str, ...]
    surface: tuple[tuple[str, ...], ...]
    text: int
    cased: bool = True


@dataclass
class Texts:
    """The sentences of texts, for training: blocks of neighbours, some held out, and the number read.

    :ivar left_out: the number skipped for each reason, a key of `REASONS`.
    :ivar every: only one block in this many is used, to limit the number of sentences.
    """

    train: list[list[TextSentence]] = field(default_factory=list)
    dev: list[list[TextSentence]] = field(default_factory=list)
    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    every: int = 1

    def report(self) -> dict[str, object]:
        """The numbers, in plain JSON types."""
        sizes = {name: sum(map(len, getattr(self, name))) for name in ("train", "dev")}
        return {"read": self.read, "left_out": dict(self.left_out), **sizes, "every": self.every}


def parts_of_texts(texts: Iterable[TextPart | Path | str]) -> Iterator[TextPart]:
    """Texts, and the files of each path (a file, folder or pattern), opened one at a time.

    :raises TypeError: if the texts are not a list, or one of them is neither a string nor a `Path`, or is the
        name of a file.
    :raises InputError: if a file is missing or cannot be read.
    """
    if isinstance(texts, str | bytes | Path):
        raise TypeError(f"the texts are a list, such as [text], not one text or file: {reprlib.repr(texts)}")
    for number, text in enumerate(texts, 1):
        if isinstance(text, TextPart):
            yield text
        elif isinstance(text, Path):
            yield from parts_of(files_of_several([str(text)]))
        elif not isinstance(text, str):
            raise TypeError(f"text {number} is {reprlib.repr(text)}: give a string, or the Path of a file")
        elif "\n" not in text and os.path.isfile(text):
            raise TypeError(f"{text!r} is the name of a file, not a text: give Path({text!r})")
        else:
            yield TextPart(BytesIO(text.encode(errors="surrogateescape")), f"text {number}", "text")


def collected(
    texts: Iterable[Iterable[Item]],
    known: Collection[str],
    most: int,
    advance: Callable[[int], None] | None = None,
) -> Texts:
    """The sentences of texts, in blocks, without bad lines, and no more in memory than are wanted.

    :param known: the lower-cased words that the parser knows, to detect the language.
    :param most: the maximum number of sentences, spread over the texts.
    :raises InputError: if there are fewer than `LEAST` sentences to learn from; the message says why.
    """
    found, seen, blocks_read, blocks = Texts(), set[int](), 0, list[list[TextSentence]]()
    for number, text in enumerate(texts):
        sentences = _used(text, number, known, seen, found, advance)
        while block := list(islice(sentences, BLOCK)):
            if blocks_read % found.every == 0:
                blocks.append(block)
            blocks_read += 1
            if sum(map(len, blocks)) > most:
                blocks, found.every = blocks[::2], 2 * found.every
    for number, block in enumerate(blocks, 1):
        held_out = number % HELD_OUT == 0 or (number == len(blocks) and not found.dev)
        enough = sum(map(len, found.dev)) >= MOST_HELD_OUT
        (found.dev if held_out and not enough else found.train).append(block)
    _check(found)
    return found


def _used(
    text: Iterable[Item],
    number: int,
    known: Collection[str],
    seen: set[int],
    found: Texts,
    advance: Callable[[int], None] | None,
) -> Iterator[TextSentence]:
    """The usable sentences of a text; the others are counted."""
    for item in text:
        if not isinstance(item, RawSentence | Sentence) or not words_of(item):
            continue
        found.read += 1
        if advance is not None:
            advance(1)
        cased = isinstance(item, Sentence) or not loses_case(item.text.split(), "auto")
        sentence = TextSentence(words_of(item), item.surface, number, cased)
        reason = why_left_out(sentence, known) or ("repeated" if _again(sentence, seen) else None)
        if reason is None:
            yield sentence
        else:
            found.left_out[reason] += 1


def why_left_out(sentence: TextSentence, known: Collection[str]) -> str | None:
    """Why a sentence is skipped, a key of `REASONS`; None if it is used."""
    words = sentence.words
    marks = sum(len(real_marks(slot)) for slot in sentence.surface)
    letters = [word for word in words if any(map(str.isalpha, word))]
    if len(words) > LONGEST:
        return "long"
    if 4 * len(letters) < len(words) + marks or marks > max(2, len(words)):
        return "words"
    if not marks and len(words) > TITLE:
        return "unmarked"
    strange = sum(word.lower() not in known for word in letters)
    if len(words) >= SHORT and strange > FOREIGN * len(letters):
        return "foreign"
    return None


def _again(sentence: TextSentence, seen: set[int]) -> bool:
    """Whether a sentence that is not short was seen before; adds it to those seen."""
    if len(sentence.words) < SHORT:
        return False
    key = hash(sentence[:2])
    known = key in seen
    seen.add(key)
    return known


def _check(found: Texts) -> None:
    sentences = [sentence for block in found.train for sentence in block]
    marked = sum(len(slot) > slot.count(START) for one in sentences for slot in one.surface)
    if len(sentences) >= LEAST and marked * 20 >= len(sentences):
        return
    if not found.read:
        raise InputError("there is no sentence in these texts")
    if found.left_out["foreign"] > found.read / 2:
        raise InputError("these texts are in another language than the model: it knows few of their words")
    if len(sentences) > marked * 20 or found.left_out["unmarked"] > found.read / 2:
        raise InputError("these texts have no punctuation to learn from")
    left_out = ", ".join(f"{count:,} {REASONS[reason]}" for reason, count in found.left_out.most_common())
    rest = f", left out: {left_out}" if left_out else ""
    raise InputError(f"{LEAST} sentences are the fewest to learn from: {found.read:,} were read{rest}")


def documents_of(blocks: Iterable[Sequence[TextSentence]]) -> list[Document]:
    """Neighbouring sentences of each text, as running text."""
    parts: list[list[TextSentence]] = []
    for block in blocks:
        for place, sentence in enumerate(block):
            if not place or sentence.text != block[place - 1].text:
                parts.append([])
            parts[-1].append(sentence)
    return [document_of([(sentence.words, sentence.surface) for sentence in part]) for part in parts]


def with_parses(
    blocks: Iterable[Sequence[TextSentence]],
    parser: Parser,
    trees: int,
    advance: Callable[[int], None] | None = None,
) -> list[list[Sentence]]:
    """Each sentence with ``trees`` parsed trees, with repetitions: the best tree, then draws."""
    sentences = [sentence for block in blocks for sentence in block]
    found = []
    for first in range(0, len(sentences), AT_ONCE):
        part = sentences[first : first + AT_ONCE]
        words = [sentence.words for sentence in part]
        best = parser.parse(words)
        number_drawn = max(2, trees - 1)  # a parser never draws a single tree: one is the best one
        drawn = parser.parse(words, number_drawn) if trees > 1 else [[]] * len(part)
        for number, (sentence, [only], others) in enumerate(zip(part, best, drawn, strict=True), first + 1):
            counts = [round(other.weight * number_drawn) for other in others]
            more = [other.tree for other, count in zip(others, counts, strict=True) for _ in range(count)]
            several = [only.tree, *more[: trees - 1]]
            name = f"sentence {number} of the texts"
            found.append([Sentence(name, tree, sentence.surface, 0, NOWHERE) for tree in several])
        if advance is not None:
            advance(len(part))
    return found
