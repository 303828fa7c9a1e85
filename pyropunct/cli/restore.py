"""The command ``pyropunct restore``, and how it shows restored sentences and their scores."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.command import text_command
from pyropunct.cli.loading import ModelUse
from pyropunct.cli.report import ScoreReport, SentenceReport
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT
from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, display, displayed
from pyropunct.treebank.reading import Omission
from pyropunct.treebank.sentence import Sentence

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.reading import Item
    from pyropunct.restore.restoring import Restored, Source
    from pyropunct.restore.scores import MarkScore
    from pyropunct.text.raw_sentence import RawSentence

# Modules that need torch are imported inside the functions, so that --help answers at once.

SHOWN_FROM, RARE = 5, "rare"
"""Marks rarer than this in the file that were never restored share a line of the table, and its name."""


@text_command
def restore(
    model: str = DEFAULT,
    *,
    settings: RestoreSettings,
    format: Literal["text", "conllu", "json"] = "text",
    score: bool = False,
    use: ModelUse,
) -> "Work":
    """Punctuate FILE: raw text, one sentence a line with spaces between words, or CoNLL-U.

    A line that is too long for a sentence, or contains marks that end sentences, is running text, as with
    --running, if MODEL supports it.  FILE may be - for standard input.  The default MODEL is the English
    en-encoder where its encoder is installed, else the English en.  CoNLL-U has trees; raw words need a MODEL
    fitted with --parser.  Existing punctuation of raw text stays, unless --anew is given.  Empty lines are
    kept.

    :param score: compare with the punctuation of FILE, and print only the scores.
    """
    from pyropunct.cli.sources import text_work
    from pyropunct.restore.posterior import FEW_DRAWS
    from pyropunct.restore.restorer import Restorer

    if settings.keep and score:
        raise click.UsageError("--keep and --score exclude each other: kept marks need no restoring")
    if settings.running and score:
        raise click.UsageError("--running and --score exclude each other: sentences are compared")
    punctuator = use.load(model)
    decoder = settings.decoder or ("mbr" if score else None)
    settings = replace(settings, decoder=decoder, best_tree=format == "conllu", as_written=not score)
    if score:
        settings = replace(settings, keep=False)
    restorer = Restorer(punctuator, settings)

    def report(out: TextIO, name: str) -> SentenceReport:
        if score:
            return RestorationScoreReport(name, format)
        return RestorationReport(format, out, punctuator, settings.capital)

    return text_work(
        punctuator,
        lambda: restorer.restore,
        report,
        restorer=restorer,
        quiet=bool(settings.keep is not None or score or settings.hidden),
        few_draws=min(FEW_DRAWS, settings.samples / 2) if settings.keep or settings.hidden else 0,
    )


class RestorationReport(SentenceReport):
    """Restored sentences, by the conventions of the model's treebank.

    In JSON each of the ``sentences`` has ``line`` (in raw text) or ``id`` (in CoNLL-U), ``text``, ``words``,
    the ``marks`` of the slots 0..n, and ``expected_edits``, the expected edit distance from the truth; if
    some marks were given, also ``effective_draws``.  In raw text they have ``details``: the written words,
    their place in the file, and the marks around each with their probabilities; see
    `pyropunct.restore.details.Word`.  ``omitted`` counts the sentences that could not be used, and
    ``omissions`` has the reason for each.

    :param capital: whether the text of raw words begins with a capital letter.
    """

    expected = "expected_edits"
    _start = 0

    def __init__(self, form: str, out: TextIO, model: "Punctuator", capital: bool) -> None:
        super().__init__(form, out)
        self.conventions, self._capital = model.conventions, capital

    def text(self, source: "Source", restored: "Restored") -> str:
        """A sentence as text; a line without words is unchanged."""
        from pyropunct.restore.restoring import raw_text

        if isinstance(source, Sentence):
            return source.text(restored.surface, self.conventions)
        return raw_text(restored, self.conventions, capital=self._capital)

    def conllu(self, source: "Source", restored: "Restored") -> str:
        """A sentence as CoNLL-U; empty for a line without words."""
        from pyropunct.treebank.conllu_writer import print_conllu

        if isinstance(source, Sentence):
            return source.conllu_with_surface(restored.surface, self.conventions)
        if restored.tree is None:
            return ""
        return print_conllu(
            restored.tree,
            restored.surface,
            self.conventions,
            source.identifier,
            capital=self._capital and 1 not in source.fixed,
            slots=source.slots,
            text=" ".join(self.text(source, restored).split()) if source.multiwords else None,
            multiword=self._multiword(source),
        )

    def _multiword(self, source: "RawSentence") -> dict[int, tuple[int, str]]:
        """Written words that differ from their words side by side: last word and text, by the first word."""
        from pyropunct.text.conventions import at_the_beginning

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

    def entry(self, source: "Source", *results: "Restored") -> dict[str, Any]:
        """What JSON says of a sentence."""
        from pyropunct.restore.details import length
        from pyropunct.restore.restoring import words_of

        (restored,) = results
        value = {
            "text": self.text(source, restored),
            "words": words_of(source),
            "marks": [displayed(slot) for slot in restored.surface],
            **self.more(source, restored),
            **({} if restored.effective_draws is None else {"effective_draws": restored.effective_draws}),
            self.expected: restored.risk,
        }
        self._start += length(source)
        return value

    def more(self, source: "Source", restored: "Restored") -> dict[str, Any]:
        """Further entries of a sentence; subclasses have their own."""
        from pyropunct.restore.details import details

        if isinstance(source, Sentence):
            return {}
        return {"details": [word.to_json() for word in details(restored, self.conventions, self._start)]}

    def leave(self, item: "Item") -> None:
        """Print a line, or a sentence of a treebank with an error, unchanged; JSON counts its characters."""
        from pyropunct.restore.details import length
        from pyropunct.restore.reading import BadLine
        from pyropunct.text.raw_sentence import RawSentence

        if self.form == "json":
            if isinstance(item, BadLine):
                self._start += len(item.text)
            elif isinstance(item, RawSentence):
                self._start += length(item)
        elif self.form == "conllu":
            if isinstance(item, Sentence | Omission):
                self.write(item.conllu())
        elif isinstance(item, BadLine):
            self.write(item.text)
        elif isinstance(item, RawSentence):
            self.write(item.before * item.found + item.text + item.end)
        elif isinstance(item, Sentence):
            self.write(item.text() + "\n")


class RestorationScoreReport(ScoreReport):
    """Scores of restored punctuation against the punctuation of the file."""

    def __init__(self, name: str, form: str) -> None:
        from pyropunct.restore.scores import RestorationScores

        super().__init__(name, form)
        self._scores = RestorationScores()

    def add(self, source: "Source", *results: "Restored") -> None:
        """Compare a sentence with its original punctuation; a line without words is ignored."""
        (restored,) = results
        if restored.tree is not None:
            self._scores.add(restored.surface, source.surface)

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the scores. Raises TreebankError if there was no punctuation to compare with."""
        if not self._scores.gold:
            raise TreebankError(self.name, "there is no punctuation to compare with")
        super().finish(omitted)

    def plain(self) -> dict[str, Any]:
        """The scores of all marks and of each."""
        scores = self._scores
        marks = [{"mark": display(mark), **_score(score)} for mark, score in scores.of_marks().items()]
        return {
            "sentences": scores.sentences,
            "right_sentences": scores.right_sentences,
            **console.plain_omissions(self.omitted),
            "slots": scores.slots,
            "edits": scores.edits,
            "average_edit_distance": scores.average_edit_distance,
            **_score(scores.overall()),
            "marks": marks,
        }

    def told(self) -> "Iterator[Table[Any] | str]":
        """A table with a line for each mark, and the scores of all."""
        from pyropunct.compare.table import cells_table
        from pyropunct.restore.scores import MarkScore

        scores = self._scores
        rows = {display(mark): score for mark, score in scores.of_marks().items()}
        rare = {mark for mark, score in rows.items() if score.gold < SHOWN_FROM and not score.restored}
        named = [(mark, score) for mark, score in rows.items() if mark not in rare]
        if rare:
            named.append((RARE, MarkScore(sum(rows[mark].gold for mark in rare), 0, 0)))
        counts = dict.fromkeys(("mark", "in file", "restored", "right"))
        cells = [(name, *_score(score).values()) for name, score in (*named, ("all", scores.overall()))]
        yield cells_table(self.name, {**counts, "precision": 3, "recall": 3, "F1": 3}, cells)
        legend = {
            display(ABBREVIATION_DOT): "dots of abbreviations",
            RARE: f"marks that the file has fewer than {SHOWN_FROM} times, none of them restored",
        }
        if shown := [f"{name}: {meaning}" for name, meaning in legend.items() if name in dict(named)]:
            yield "; ".join(shown)
        edits = f"{scores.edits:,} edits in {scores.slots:,} slots of {scores.sentences:,} sentences"
        yield f"average edit distance per slot: {scores.average_edit_distance:.4f} ({edits})"
        share = scores.right_sentences / scores.sentences
        yield f"wholly right: {scores.right_sentences:,} sentences ({share:.1%})"


def _score(score: "MarkScore") -> dict[str, Any]:
    return {**score._asdict(), "precision": score.precision, "recall": score.recall, "f1": score.f1}
