"""Output of the command ``pyropunct correct``, sentence by sentence."""

from typing import Any

from pyropunct.commands.restore_output import JsonOutput, Printer, TextOutput
from pyropunct.correct.correcting import Change, changes
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.reading import BadLine
from pyropunct.restore.restoring import Restored, Source, words_of
from pyropunct.treebank.marks import displayed

NOTHING = "∅"
"""Stands for a slot without marks."""


class CorrectionPrinter(Printer):
    """Prints sentences by the conventions of the model's treebank; right lines of raw text are unchanged."""

    def text(self, restored: Restored) -> str:
        """A sentence as text."""
        source = restored.source
        if isinstance(source, RawSentence) and not changes(source.surface, restored.surface):
            return source.text
        return super().text(restored)


class EditsOutput(TextOutput):
    """Prints a line for each slot that changes, with the words beside the slot.

    The line begins with the line number in raw text or the identifier of a treebank's sentence, and a tab.
    """

    def add(self, restored: Restored) -> None:
        """Print the lines of a sentence."""
        words = words_of(restored.source)
        for change in changes(restored.source.surface, restored.surface):
            before = words[change.slot - 1] if change.slot else "^"
            after = words[change.slot] if change.slot < len(words) else "$"
            marks = f"{_shown(change.before)} → {_shown(change.after)}"
            self._write(f"{_place(restored.source)}\t{before} [{marks}] {after}\n")

    def leave(self, item: Source | BadLine) -> None:
        """There is nothing to print."""


class JsonCorrections(JsonOutput):
    """Prints the object of `JsonOutput`, in which each sentence has its ``edits`` too.

    An edit has its ``slot``, and the marks of the slot ``before`` and ``after`` the edit.
    """

    def _more(self, restored: Restored) -> dict[str, Any]:
        return {"edits": [_plain(change) for change in changes(restored.source.surface, restored.surface)]}


def _place(source: Source) -> int | str:
    return source.line if isinstance(source, RawSentence) else source.identifier


def _shown(marks: tuple[str, ...]) -> str:
    return " ".join(displayed(marks)) or NOTHING


def _plain(change: Change) -> dict[str, Any]:
    return {"slot": change.slot, "before": displayed(change.before), "after": displayed(change.after)}
