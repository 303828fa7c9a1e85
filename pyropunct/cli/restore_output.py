"""Output of the command ``pyropunct restore``, sentence by sentence."""

from collections.abc import Sequence
from typing import Any, TextIO

from pyropunct.cli import console
from pyropunct.compare.table import cells_table
from pyropunct.files import json_text
from pyropunct.punctuator import Punctuator
from pyropunct.restore.details import details, length
from pyropunct.restore.reading import BadLine, Item
from pyropunct.restore.restoring import Restored, Source, raw_text, words_of
from pyropunct.restore.scores import MarkScore, RestorationScores
from pyropunct.text.conventions import at_the_beginning
from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, display, displayed
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.reading import Omission
from pyropunct.treebank.sentence import Sentence

SHOWN_FROM, RARE = 5, "rare"
"""Marks rarer than this in the file that were never restored share a line of the table, and its name."""


class Output:
    """Shows restored sentences, given in order; a subclass says how.

    :cvar keeps_omitted: whether sentences that could not be used are written as they were.
    """

    keeps_omitted: bool = False

    def add(self, restored: Restored) -> None:
        """Show one sentence, or remember it."""

    def leave(self, item: Item) -> None:
        """Take a line or a sentence that cannot be used, or stays as it was because of an error."""

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Show the rest of the output.

        :param omitted: the sentences that could not be used.
        """


class Printer:
    """Prints sentences by the conventions of the model's treebank.

    :param model: the model.
    :param capital: whether the text of raw words begins with a capital letter.
    """

    def __init__(self, model: Punctuator, capital: bool) -> None:
        self.conventions, self._capital = model.conventions, capital

    def text(self, restored: Restored) -> str:
        """A sentence as text; a line without words is unchanged."""
        source = restored.source
        if not isinstance(source, RawSentence):
            return source.text(restored.surface)
        return raw_text(restored, self.conventions, capital=self._capital)

    def conllu(self, restored: Restored) -> str:
        """A sentence as CoNLL-U; an empty text for a line without words."""
        source = restored.source
        if not isinstance(source, RawSentence):
            return source.conllu_with_surface(restored.surface)
        if restored.tree is None:
            return ""
        return print_conllu(
            restored.tree,
            restored.surface,
            self.conventions,
            source.identifier,
            capital=self._capital and 1 not in source.fixed,
            slots=source.slots,
            text=" ".join(self.text(restored).split()) if source.multiwords else None,
            multiword=self._multiword(source),
        )

    def _multiword(self, source: RawSentence) -> dict[int, tuple[int, str]]:
        """Written words that differ from their words side by side: last word and text, by the first word."""
        return {
            written.first: (
                written.last,
                at_the_beginning(written.text)
                if self._capital and 1 not in source.fixed and written.first == 1
                else written.text,
            )
            for written in source.multiwords
            if written.contracted(source.words)
        }


def _end(source: Source) -> str:
    return source.end if isinstance(source, RawSentence) else "\n"


class TextOutput(Output):
    """Prints a line of text for each sentence.

    :param out: the stream to write to.
    :param printer: turns sentences into text.
    """

    def __init__(self, out: TextIO, printer: Printer) -> None:
        self._out, self._printer = out, printer

    def _write(self, text: str) -> None:
        print(text, end="", file=self._out, flush=True)

    def add(self, restored: Restored) -> None:
        """Print a line, which ends as it did."""
        self._write(self._printer.text(restored) + _end(restored.source))

    def leave(self, item: Item) -> None:
        """Print a line, or a sentence of a treebank with an error, as it was."""
        if isinstance(item, BadLine):
            self._write(item.text)
        elif isinstance(item, RawSentence):
            self._write(item.before * item.found + item.text + item.end)
        elif not isinstance(item, Omission):
            self._write(item.text() + "\n")


class ConlluOutput(TextOutput):
    """Prints CoNLL-U, which leaves out empty lines."""

    keeps_omitted = True

    def add(self, restored: Restored) -> None:
        """Print the lines of a sentence."""
        self._write(self._printer.conllu(restored))

    def leave(self, item: Item) -> None:
        """Print the lines of a sentence of a treebank as they were."""
        if isinstance(item, Sentence | Omission):
            self._write(item.conllu())


class JsonOutput(TextOutput):
    """Prints one JSON object of all sentences, piece by piece, so that it need not fit into memory.

    Each of its ``sentences`` has ``line`` (in raw text) or ``id`` (in CoNLL-U), ``text``, ``words``, the
    ``marks`` of the slots 0..n, and ``expected_edits``, the expected edit distance from the truth; where some
    marks were given to tell the others, also ``effective_draws``.  In raw text they have
    ``details``: the written words, where they are in the file, and the marks around each with their
    probabilities; see `pyropunct.restore.details.Word`.
    ``omitted`` counts the sentences that could not be used, and ``omissions`` has the reason for each.
    """

    expected = "expected_edits"
    _before = '{"sentences": ['
    _start = 0

    def add(self, restored: Restored) -> None:
        """Print an item of the list."""
        source = restored.source
        place = {"line": source.line} if isinstance(source, RawSentence) else {"id": source.identifier}
        value = {
            **place,
            "text": self._printer.text(restored),
            "words": words_of(source),
            "marks": [displayed(slot) for slot in restored.surface],
            **self._more(restored),
            **({} if restored.effective_draws is None else {"effective_draws": restored.effective_draws}),
            self.expected: restored.risk,
        }
        self._write(self._before + json_text(value))
        self._before = ", "
        self._start += length(source)

    def leave(self, item: Item) -> None:
        """There is nothing to print, but its characters count."""
        self._start += len(item.text) if isinstance(item, BadLine) else 0
        self._start += length(item) if isinstance(item, RawSentence) else 0

    def _more(self, restored: Restored) -> dict[str, Any]:
        """Further entries of a sentence; subclasses have their own."""
        if not isinstance(restored.source, RawSentence):
            return {}
        words = details(restored, self._printer.conventions, self._start)
        return {"details": [word.to_json() for word in words]}

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the end of the object."""
        start = "" if self._before == ", " else self._before
        rest = json_text(console.plain_omissions(omitted))
        self._write(f"{start}], {rest[1:]}\n")


class ScoreOutput(Output):
    """Scores the restored punctuation of all sentences against their original punctuation.

    :param name: the name of the restored file.
    :param as_json: whether to print one JSON object.
    """

    def __init__(self, name: str, as_json: bool) -> None:
        self._name, self._as_json, self._scores = name, as_json, RestorationScores()

    def add(self, restored: Restored) -> None:
        """Compare a sentence with its original punctuation; a line without words does not count."""
        if restored.tree is not None:
            self._scores.add(restored.surface, restored.source.surface)

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the scores.

        :raises TreebankError: if there was no punctuation to compare with.
        """
        if not self._scores.gold:
            raise TreebankError(self._name, "there is no punctuation to compare with")
        if self._as_json:
            console.print_json(self._values(omitted))
        else:
            self._print_table()

    def _values(self, omitted: Sequence[Omission]) -> dict[str, Any]:
        scores = self._scores
        marks = [{"mark": display(mark), **_score(score)} for mark, score in scores.of_marks().items()]
        return {
            "sentences": scores.sentences,
            "right_sentences": scores.right_sentences,
            **console.plain_omissions(omitted),
            "slots": scores.slots,
            "edits": scores.edits,
            "average_edit_distance": scores.average_edit_distance,
            **_score(scores.overall()),
            "marks": marks,
        }

    def _print_table(self) -> None:
        scores = self._scores
        rows = {display(mark): score for mark, score in scores.of_marks().items()}
        rare = {mark for mark, score in rows.items() if score.gold < SHOWN_FROM and not score.restored}
        named = [(mark, score) for mark, score in rows.items() if mark not in rare]
        if rare:
            named.append((RARE, MarkScore(sum(rows[mark].gold for mark in rare), 0, 0)))
        columns = {
            **dict.fromkeys(("mark", "in file", "restored", "right")),
            "precision": 3,
            "recall": 3,
            "F1": 3,
        }
        cells = [(name, *_score(score).values()) for name, score in (*named, ("all", scores.overall()))]
        console.show_table(cells_table(self._name, columns, cells))
        legend = {
            display(ABBREVIATION_DOT): "dots of abbreviations",
            RARE: f"marks that the file has fewer than {SHOWN_FROM} times, none of them restored",
        }
        shown = [f"{name}: {meaning}" for name, meaning in legend.items() if name in dict(named)]
        if shown:
            console.say("; ".join(shown))
        edits = f"{scores.edits:,} edits in {scores.slots:,} slots of {scores.sentences:,} sentences"
        console.say(f"average edit distance per slot: {scores.average_edit_distance:.4f} ({edits})")
        share = scores.right_sentences / scores.sentences
        console.say(f"wholly right: {scores.right_sentences:,} sentences ({share:.1%})")


def _score(score: MarkScore) -> dict[str, Any]:
    return {**score._asdict(), "precision": score.precision, "recall": score.recall, "f1": score.f1}
