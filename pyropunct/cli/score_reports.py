"""What commands print of scores: of restored punctuation, and of trees."""

from collections.abc import Iterator, Sequence
from typing import Any

from pyropunct.cli import console
from pyropunct.cli.report import Report, SentenceReport
from pyropunct.fitted.evaluation import MarkScore, RestorationScores
from pyropunct.nets.parser import attachment_scores
from pyropunct.restore.restoring import Restored, Source
from pyropunct.tables import Table, cells_table
from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, display
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

SHOWN_FROM, RARE = 5, "rare"
"""Marks rarer than this in the file that were never restored share a line of the table, with this name."""


class ScoreReport(SentenceReport):
    """Scores of all sentences, shown at the end; ``form`` is "json", or any other for people."""

    keeps_omitted = False  # for no sentence is written

    def __init__(self, name: str, form: str) -> None:
        super().__init__(form)
        self.name = name

    def leave(self, item: Any) -> None:
        """There is nothing to compare."""

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the scores."""
        self.report(omitted).show("json" if self.form == "json" else "text")

    def report(self, omitted: Sequence[Omission]) -> Report:
        """The scores. Raises TreebankError if there was nothing to compare with."""
        raise NotImplementedError


class RestorationScoreReport(ScoreReport):
    """Scores of restored punctuation against the punctuation of the file."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name, form)
        self._scores = RestorationScores()

    def add(self, source: Source, *results: Restored) -> None:
        """Compare a sentence with its original punctuation; a line without words is ignored."""
        (restored,) = results
        if restored.tree is not None:
            self._scores.add(restored.surface, source.surface)

    def report(self, omitted: Sequence[Omission]) -> Report:
        """The scores of all marks and of each."""
        scores = self._scores
        if not scores.gold:
            raise TreebankError(self.name, "there is no punctuation to compare with")
        marks = [{"mark": display(mark), **score.to_json()} for mark, score in scores.of_marks().items()]
        plain = {
            "sentences": scores.sentences,
            "right_sentences": scores.right_sentences,
            **console.plain_omissions(omitted),
            "slots": scores.slots,
            "edits": scores.edits,
            "average_edit_distance": scores.average_edit_distance,
            **scores.overall().to_json(),
            "marks": marks,
        }
        return Report(plain, self._told())

    def _told(self) -> Iterator[Table[Any] | str]:
        """A table with a line for each mark, and the scores of all."""
        scores = self._scores
        rows = {display(mark): score for mark, score in scores.of_marks().items()}
        rare = {mark for mark, score in rows.items() if score.gold < SHOWN_FROM and not score.restored}
        named = [(mark, score) for mark, score in rows.items() if mark not in rare]
        if rare:
            named.append((RARE, MarkScore(sum(rows[mark].gold for mark in rare), 0, 0)))
        counts = dict.fromkeys(("mark", "in file", "restored", "right"))
        cells = [(name, *score.to_json().values()) for name, score in (*named, ("all", scores.overall()))]
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


class TreeScoreReport(ScoreReport):
    """Scores of trees against those of the file."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name, form)
        self._parsed: list[Tree] = []
        self._right: list[Tree] = []

    def add(self, source: Source, *results: Restored) -> None:
        """Remember the tree of a sentence of a treebank."""
        (restored,) = results
        if isinstance(source, Sentence) and restored.tree is not None:
            self._parsed.append(restored.tree)
            self._right.append(source.tree)

    def report(self, omitted: Sequence[Omission]) -> Report:
        """The scores of heads, relations and tags."""
        if not self._right:
            raise TreebankError(self.name, "there is no tree to compare with: --score takes CoNLL-U")
        scores = {"sentences": len(self._right), **attachment_scores(self._parsed, self._right)._asdict()}
        told = "UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f} ({words:,} words of {sentences:,} sentences)"
        return Report({**scores, **console.plain_omissions(omitted)}, [told.format(**scores)])
