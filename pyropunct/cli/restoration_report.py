"""How restored sentences are shown."""

from typing import Any, TextIO

from pyropunct.cli.report import SentenceReport
from pyropunct.punctuator import Punctuator
from pyropunct.restore.reading import BadLine, Item
from pyropunct.restore.restoring import Restored, Source, details, length, raw_text, words_of
from pyropunct.text.conventions import at_the_beginning
from pyropunct.text.marks import displayed
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.reading import Omission
from pyropunct.treebank.sentence import Sentence


class RestorationReport(SentenceReport):
    """Restored sentences, by the conventions of the model's treebank.

    In JSON each of the ``sentences`` has ``line`` (in raw text) or ``id`` (in CoNLL-U), ``text``, ``words``,
    the ``marks`` of the slots 0..n, and ``expected_edits``, the expected edit distance from the truth; if
    some marks were given, also ``effective_draws``.  In raw text they have ``details``: the written words,
    their place in the file, and the marks around each with their probabilities; see
    `pyropunct.restore.restoring.Word`.  ``omitted`` counts the sentences that could not be used, and
    ``omissions`` has the reason for each.

    :param capital: whether the text of raw words begins with a capital letter.
    """

    expected = "expected_edits"
    _start = 0

    def __init__(self, form: str, out: TextIO, model: Punctuator, capital: bool) -> None:
        super().__init__(form, out)
        self.conventions, self._capital = model.conventions, capital

    def text(self, source: Source, restored: Restored) -> str:
        """A sentence as text; a line without words is unchanged."""
        if isinstance(source, Sentence):
            return source.text(restored.surface, self.conventions)
        return raw_text(restored, self.conventions, capital=self._capital)

    def conllu(self, source: Source, restored: Restored) -> str:
        """A sentence as CoNLL-U; empty for a line without words."""
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

    def entry(self, source: Source, *results: Restored) -> dict[str, Any]:
        """What JSON says of a sentence."""
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

    def more(self, source: Source, restored: Restored) -> dict[str, Any]:
        """Further entries of a sentence; subclasses have their own."""
        if isinstance(source, Sentence):
            return {}
        return {"details": [word.to_json() for word in details(restored, self.conventions, self._start)]}

    def leave(self, item: Item) -> None:
        """Print a line, or a sentence of a treebank with an error, unchanged; JSON counts its characters."""
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
