"""Output of the command ``pyropunct correct``, sentence by sentence."""

from collections.abc import Sequence
from typing import Any

from pyropunct.cli.restore_output import JsonOutput, Printer, TextOutput
from pyropunct.punctuator import Punctuator
from pyropunct.restore.reading import Item
from pyropunct.restore.restoring import Restored, words_of
from pyropunct.tasks.correct.system import Change, changes
from pyropunct.tasks.correct.underlying import Explainer, Sprout
from pyropunct.text.marks import display, displayed
from pyropunct.text.raw_sentence import RawSentence

NOTHING = "∅"
"""Stands for a slot without marks."""

WORDS_SHOWN = 6
"""Of a longer constituent only the first and the last words are shown."""


Explained = tuple[Change, float, list[Sprout]]
"""A change, the probability of the marks that its slot has now, and what sprouts the new ones."""


class CorrectionPrinter(Printer):
    """Prints sentences by the conventions of the model's treebank; right lines of raw text are unchanged.

    :param model: the model.
    :param parse: whether the words of treebanks were parsed anew.
    """

    def __init__(self, model: Punctuator, parse: bool) -> None:
        super().__init__(model, capital=False)
        self._given, self._parsed, self._parse = Explainer(model), Explainer(model.for_parsed), parse

    def text(self, restored: Restored) -> str:
        """A sentence as text."""
        source = restored.source
        if isinstance(source, RawSentence) and not changes(source.surface, restored.surface):
            return source.text
        return super().text(restored)

    def changes(self, restored: Restored) -> list[Explained]:
        """The changes of a sentence, explained."""
        found = changes(restored.source.surface, restored.surface)
        if restored.tree is None or not found:
            return []
        explainer = self._parsed if self._parse or isinstance(restored.source, RawSentence) else self._given
        sprouts = explainer.explain(restored.tree, restored.surface, found)
        pairs = zip(found, sprouts, strict=True)
        return [(one, restored.probability(one.slot), why) for one, why in pairs]


class EditsOutput(TextOutput):
    """Prints a line for each slot that changes, with the words beside the slot, in columns with tabs between.

    The first column is the line number in raw text, or the identifier of a treebank's sentence; then come the
    change, its probability, and the constituents that sprout the new marks.
    """

    _printer: CorrectionPrinter

    def add(self, restored: Restored) -> None:
        """Print the lines of a sentence."""
        source, words = restored.source, words_of(restored.source)
        place = source.line if isinstance(source, RawSentence) else source.identifier
        for change, probability, sprouts in self._printer.changes(restored):
            before = words[change.slot - 1] if change.slot else "^"
            after = words[change.slot] if change.slot < len(words) else "$"
            marks = f"{_shown(change.before)} → {_shown(change.after)}"
            reasons = "; ".join(map(_reason, sprouts))
            self._write(f"{place}\t{before} [{marks}] {after}\t{probability:.2f}\t{reasons}\n")

    def leave(self, item: Item) -> None:
        """There is nothing to print."""


class JsonCorrections(JsonOutput):
    """Prints the object of `JsonOutput`, in which each sentence has its ``edits`` too.

    An edit has its ``slot``, the marks of the slot ``before`` and ``after`` the edit, the ``probability`` of
    the latter, and ``sprouted``: for new marks the ``relation`` and the ``words`` of the constituent that
    sprouts each ``mark``.
    """

    _printer: CorrectionPrinter

    def _more(self, restored: Restored) -> dict[str, Any]:
        return {"edits": [_plain(*one) for one in self._printer.changes(restored)]}


def _shown(marks: tuple[str, ...]) -> str:
    return " ".join(displayed(marks)) or NOTHING


def _reason(sprout: Sprout) -> str:
    words = sprout.words
    if len(words) > WORDS_SHOWN:
        half = WORDS_SHOWN // 2
        words = (*words[:half], "…", *words[-half:])
    return f"{display(sprout.mark)} of {sprout.relation}: {' '.join(words)}"


def _plain(change: Change, probability: float, sprouts: Sequence[Sprout]) -> dict[str, Any]:
    return {
        "slot": change.slot,
        "before": displayed(change.before),
        "after": displayed(change.after),
        "probability": probability,
        "sprouted": [
            {"mark": display(mark), "relation": relation, "words": list(words)}
            for mark, relation, words in sprouts
        ],
    }
