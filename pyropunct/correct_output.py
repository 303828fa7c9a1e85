"""How the command ``pyropunct correct`` shows corrected sentences, one after the other."""

import json
from typing import Any

from pyropunct.correcting import Change, changes, marks_of
from pyropunct.marks import display
from pyropunct.raw_words import RawSentence
from pyropunct.restore_output import Printer, TextOutput
from pyropunct.restoring import Restored, Source, words_of

NOTHING = "∅"
"""Stands where a slot has no marks."""


class CorrectionPrinter(Printer):
    """Prints sentences as the treebank of a model would; raw text that was right stays as it was."""

    def text(self, restored: Restored) -> str:
        """A sentence as text."""
        source = restored.source
        if isinstance(source, RawSentence) and not changes(source.surface, restored.surface):
            return source.text
        return super().text(restored)


class EditsOutput(TextOutput):
    """A line for each slot that changes, with the words beside it, and none for what was right.

    The line begins with the line number of raw text, or the identifier of a treebank's sentence, and a tab.
    """

    def add(self, restored: Restored) -> None:
        """Print the lines of a sentence."""
        words = words_of(restored.source)
        for change in changes(restored.source.surface, restored.surface):
            before = words[change.slot - 1] if change.slot else "^"
            after = words[change.slot] if change.slot < len(words) else "$"
            marks = f"{_shown(change.before)} → {_shown(change.after)}"
            self._write(f"{_place(restored.source)}\t{before} [{marks}] {after}\n")


class JsonCorrections(TextOutput):
    """One JSON object of all sentences, printed bit by bit: it need not fit into memory.

    Its ``sentences`` have ``line`` in raw text or ``id`` in CoNLL-U, ``text``, ``words``, the ``marks`` of
    the slots 0..n, the ``edits``, each with its ``slot`` and the marks ``before`` and ``after`` it, and
    ``expected_edits``, the expected edit distance from the truth.  ``omitted`` counts sentences that could
    not be used.
    """

    _before = '{"sentences": ['

    def add(self, restored: Restored) -> None:
        """Print an item of the list."""
        source = restored.source
        name = "line" if isinstance(source, RawSentence) else "id"
        value = {
            name: _place(source),
            "text": self._printer.text(restored),
            "words": words_of(source),
            "marks": [_names(marks_of(slot)) for slot in restored.surface],
            "edits": [_plain(change) for change in changes(source.surface, restored.surface)],
            "expected_edits": restored.risk,
        }
        self._write(self._before + json.dumps(value, ensure_ascii=False))
        self._before = ", "

    def finish(self, omitted: int) -> None:
        """Print the end of the object."""
        start = "" if self._before == ", " else self._before
        self._write(f'{start}], "omitted": {omitted}}}\n')


def _place(source: Source) -> int | str:
    return source.line if isinstance(source, RawSentence) else source.identifier


def _names(marks: tuple[str, ...]) -> list[str]:
    return [display(mark) for mark in marks]


def _shown(marks: tuple[str, ...]) -> str:
    return " ".join(_names(marks)) or NOTHING


def _plain(change: Change) -> dict[str, Any]:
    return {"slot": change.slot, "before": _names(change.before), "after": _names(change.after)}
