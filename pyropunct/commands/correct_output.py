"""How the command ``pyropunct correct`` shows corrected sentences, one after the other."""

from typing import Any

from pyropunct.commands.restore_output import JsonOutput, Printer, TextOutput
from pyropunct.correct.correcting import Change, changes
from pyropunct.restore.raw_words import RawSentence
from pyropunct.restore.restoring import Restored, Source, words_of
from pyropunct.treebank.marks import displayed

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


class JsonCorrections(JsonOutput):
    """The object of `JsonOutput`, in which sentences have their ``edits`` too.

    Each edit has its ``slot`` and the marks ``before`` and ``after`` it.
    """

    def _more(self, restored: Restored) -> dict[str, Any]:
        return {"edits": [_plain(change) for change in changes(restored.source.surface, restored.surface)]}


def _place(source: Source) -> int | str:
    return source.line if isinstance(source, RawSentence) else source.identifier


def _shown(marks: tuple[str, ...]) -> str:
    return " ".join(displayed(marks)) or NOTHING


def _plain(change: Change) -> dict[str, Any]:
    return {"slot": change.slot, "before": displayed(change.before), "after": displayed(change.after)}
