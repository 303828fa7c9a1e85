"""What commands print of scores: of restored punctuation, of trees, and of training by ``pyropunct fit``."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from pyropunct.cli import console
from pyropunct.cli.report import Report, SentenceReport
from pyropunct.cli.rule_reports import disagreement
from pyropunct.fitted.evaluation import MarkScore, RestorationScores
from pyropunct.nets.parser import attachment_scores
from pyropunct.punctuator import Punctuator
from pyropunct.restore.restoring import Restored, Source
from pyropunct.tables import Table, cells_table
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, display
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

SHOWN_FROM, RARE = 5, "rare"
"""Marks rarer than this in the file that were never restored share a line of the table, and its name."""


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


EDITS_SHOWN = 20

STILL_NEAR_PRIOR = "the channel is still near its prior there: train on a larger treebank"

TREES = "on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}"
NETWORKS = {
    "parser": ("las", f"parser {TREES}"),
    "mark_parser": ("las", f"parser of words and marks {TREES}"),
    "reader": (
        "lower_f1",
        "reader on dev: F1 of sentence ends {f1:.2f}, in lower case {lower_f1:.2f}; case {case:.2f}",
    ),
}
"""For each network the score by which epochs are compared, and a line about the best epoch."""

OBJECTIVE = """\
objective   what training makes small: minus the log-probability of marks and
            weights, with all penalties, per sentence; compare it within a fit"""


def fit_report(model: Punctuator, treebanks: Sequence[Treebank], path: Path, *, merged: bool) -> Report:
    """How training went, and the edits that the channel has learned.

    :param treebanks: those of training, the main one first, and dev if there is one.
    :param merged: whether edits that differ only in their context are merged.
    """
    sentences = list(treebanks[0])
    edits = model.edits(sentences, merged=merged)[:EDITS_SHOWN]
    disagreeing = learned_rules(model, sentences, nunberg=False).disagreeing if edits else None
    networks = dict[str, Any]()
    for network in NETWORKS:
        networks |= {network: _best_scores(model, network), f"{network}_epochs": _epochs(model, network)}
    plain = {
        "model": str(path),
        **model.report,
        "direction": model.recipe.direction,
        "treebanks": [
            {
                "path": treebank.path,
                "sentences": len(treebank),
                **console.plain_omissions(treebank.omitted),
                "lifted": list(treebank.lifted_sentences),
            }
            for treebank in treebanks
        ],
        "edits": [edit._asdict() for edit in edits],
        "encoder": _encoder_of(model),
        **networks,
        "parsed_trees": None if model.parsed is None else model.parsed.report,
        "tagger": None if model.tagger is None else model.tagger.report,
        "disagreeing": disagreeing,
    }
    told: list[Table[Any] | str] = [*console.treebank_lines(treebanks), *_trainings(model)]
    if edits:
        words = dict.fromkeys(("underlying", "becomes", "edit"))
        rows = [
            (" ".join(edit.before), " ".join(edit.after), edit.name, edit.probability, edit.count)
            for edit in edits
        ]
        columns = {**words, "probability": 3, "expected count": 1}
        told.append(cells_table("Learned edits", columns, rows))
    if disagreeing:
        told.append(f"{disagreement(disagreeing)} (see pyropunct rules): {STILL_NEAR_PRIOR}")
    return Report(plain, [*told, *_scores(model), f"model written to {path}"])


def _trainings(model: Punctuator) -> Iterator[Table[Any]]:
    """Tables of the epochs of the story, and of its weights for trees of the parser."""
    columns = {"epoch": None, "objective": 4, "dev perplexity": 4, "seconds": 0}
    trainings = {"Training": model.report["epochs"]}
    if model.parsed is not None:
        trainings["Training on trees of the parser"] = model.parsed.report["epochs"]
    for title, epochs in trainings.items():
        if epochs:
            names = ("number", "objective", "perplexity", "seconds")
            rows = [[epoch.get(name) for name in names] for epoch in epochs]
            yield cells_table(title, columns, rows, [OBJECTIVE])


def _scores(model: Punctuator) -> Iterator[str]:
    """Lines about the scores of all parts on dev, and about pretrained features."""
    directions = model.report["directions"]
    tried = ", ".join(f"{name} {value:.4f}" for name, value in directions.items())
    kept = f"; {model.recipe.direction} is kept" if len(directions) > 1 else ""
    yield f"dev perplexity per slot by direction: {tried}{kept}"
    chosen, epochs = model.report["chosen"], len(model.report["epochs"])
    if chosen < epochs:
        yield f"dev chose epoch {chosen} of {epochs}"
    if encoder := _encoder_of(model):
        yield f"the model needs the encoder {encoder} to restore raw text"
    for network, (_, line) in NETWORKS.items():
        if scores := _best_scores(model, network):
            yield line.format(**scores)
    if model.parsed is not None:
        yield (
            "dev perplexity per slot over trees of the parser: {perplexity:.4f}, with the weights for "
            "given trees {unparsed_perplexity:.4f}".format(**model.parsed.report)
        )
    if model.tagger is not None:
        yield (
            "dev perplexity per slot given words: trees of the parser {trees_perplexity:.4f}, tagger "
            "{perplexity:.4f}, story that reads the tagger {reading_perplexity:.4f}".format(
                **model.tagger.report
            )
        )


def _encoder_of(model: Punctuator) -> str | None:
    """The place of the encoder that the model was trained with; None without one."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain.get("place")


def _epochs(model: Punctuator, network: str) -> list[dict[str, Any]]:
    """The epochs of the training of a network, if the model has it and has trained it."""
    report = getattr(getattr(model, network), "report", None) or {}
    return list(report.get("epochs", ()))


def _best_scores(model: Punctuator, network: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one."""
    scores = [epoch["scores"] for epoch in _epochs(model, network) if epoch["scores"]]
    return max(scores, key=itemgetter(NETWORKS[network][0]), default=None)
