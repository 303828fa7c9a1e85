"""How restored, parsed and corrected sentences are shown."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from rapidfuzz.distance import Levenshtein

from pyropunct.cli.report import SentenceReport
from pyropunct.errors import UserError
from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import BadLine, Item
from pyropunct.restore.restoring import Restored, Source, details, length, raw_text, words_of
from pyropunct.tasks.correct.correcting import corrected_text
from pyropunct.tasks.correct.explaining import Explainer, SlotChange, Sprout, changes
from pyropunct.tasks.explain.punctuated_trees import least_risk_trees
from pyropunct.tasks.explain.reattaching import PROBABILITY, by_guidelines, with_entries
from pyropunct.text.conventions import at_the_beginning
from pyropunct.text.marks import display, displayed
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.text.typography import typing_errors
from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.reading import read_again
from pyropunct.treebank.sentence import Sentence, with_tree


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
            self.write(item.conllu()) if isinstance(item, Sentence) else super().leave(item)
        elif isinstance(item, BadLine):
            self.write(item.text)
        elif isinstance(item, RawSentence):
            self.write(item.before * item.from_running_text + item.text + item.end)
        elif isinstance(item, Sentence):
            self.write(item.text() + item.end)


# Trees and corrections, with the constituents that sprout the marks


def parsed(model: Punctuator, draws: int, strength: float, sources: Sequence[Source]) -> Iterator[Restored]:
    """Sentences with their trees, none for a line without words; see `trees_given_marks`."""
    given = [(words_of(source), source.surface) for source in sources if words_of(source)]
    found = least_risk_trees(model, given, draws, strength)
    for source in sources:
        tree, risk = next(found) if words_of(source) else (None, 0.0)
        yield Restored(source, source.surface, risk, tree)


class TreeReport(RestorationReport):
    """The trees, with the marks where the underlying tree has them.

    In JSON a sentence has ``heads``, ``relations``, ``tags``, and ``expected_wrong_heads`` for
    ``expected_edits``.
    """

    expected = "expected_wrong_heads"

    def __init__(self, form: str, out: TextIO, model: Punctuator) -> None:
        super().__init__(form, out, model, capital=False)
        self._model = model.for_parsed

    def conllu(self, source: Source, restored: Restored) -> str:
        """A sentence as CoNLL-U; empty for a line without words."""
        if restored.tree is None:
            return ""
        if isinstance(source, Sentence):
            return self._reattached(with_tree(source, restored.tree)).conllu()
        written = super().conllu(source, restored)
        sentence = read_again(written, restored.tree)
        return written if sentence is None else self._reattached(sentence).conllu()

    def _reattached(self, sentence: Sentence) -> Sentence:
        """The sentence whose marks depend on the constituents that sprout them, if these are known."""
        if self._model.log_prob_of_marks([sentence.tree], [sentence.surface]).isneginf().any():
            return sentence
        [[punctemes]] = self._model.underlying([sentence])
        return by_guidelines(sentence, punctemes)

    def more(self, source: Source, restored: Restored) -> dict[str, Any]:
        """The tree."""
        tree = restored.tree
        if tree is None:
            return {}
        return {"heads": tree.heads, "relations": tree.relations, "tags": tree.tags}


MISSING, SUPERFLUOUS = "PunctMissing", "PunctSuperfluous"
"""Entries in MISC: the marks that a constituent lacks, with their sides; and that a mark is superfluous."""

NOTHING = "∅"
"""Stands for a slot without marks."""

WORDS_SHOWN = 6
"""How many words of a constituent are shown: the first and the last."""


class CorrectionReport(RestorationReport):
    """Corrected sentences, where right lines of raw text are unchanged; or only their edits.

    "misc" is the treebank as it was, with the edits as entries in MISC: ``PunctMissing=Left:,`` at the head
    of a constituent that lacks a comma on its left, ``PunctSuperfluous=Yes`` at a mark, and ``PunctProb``.

    "edits" has a line for each changed slot, with tabs between columns: the line number in raw text, or the
    identifier in a treebank; the words beside the slot; the change; its probability; and the constituents
    that sprout the new marks.

    In JSON each sentence has its ``edits``: the ``slot``, its marks ``before`` and ``after`` the edit, the
    ``probability`` of the latter, and ``sprouted``, for new marks the ``relation`` and the ``words`` of the
    constituent that sprouts each ``mark``; and its ``slips`` of typing, as typed and as mended.

    :param parse: whether the words of treebanks were parsed anew.
    """

    def __init__(self, form: str, out: TextIO, model: Punctuator, parse: bool) -> None:
        super().__init__(form, out, model, capital=False)
        self._given, self._parsed, self._parse = Explainer(model), Explainer(model.for_parsed), parse
        self._slips: list[tuple[str, str]] = []

    def text(self, source: Source, restored: Restored) -> str:
        """A sentence as text."""
        if isinstance(source, Sentence):
            return super().text(source, restored)
        return corrected_text(restored, self.conventions)

    def _changes(
        self, source: Source, restored: Restored
    ) -> Iterator[tuple[SlotChange, float, list[Sprout]]]:
        """The changes of a sentence: the new marks of the slot, their probability, and what sprouts them."""
        found = changes(source.surface, restored.surface)
        if restored.tree is None or not found:
            return
        explainer = self._given if isinstance(source, Sentence) and not self._parse else self._parsed
        sprouts = explainer.explain(restored.tree, restored.surface, found)
        for one, why in zip(found, sprouts, strict=True):
            yield one, restored.probability(one.slot), why

    def add(self, source: Source, *results: Restored) -> None:
        """Print a sentence, or the lines of its edits; those of slips of typing say so."""
        (restored,) = results
        self._slips = []
        if isinstance(source, RawSentence) and isinstance(restored.source, RawSentence):
            self._slips = typing_errors(source.text, restored.source.text)
            source = restored.source
        if self.form == "misc":
            self.write(self._annotated(source, *results).conllu())
            return
        if self.form != "edits":
            super().add(source, *results)
            return
        words = words_of(source)
        place = source.identifier if isinstance(source, Sentence) else source.line
        for typed, mended in self._slips:
            self.write(f"{place}\t[{typed} → {mended}]\t1.00\ttyping\n")
        for change, probability, sprouts in self._changes(source, *results):
            before = words[change.slot - 1] if change.slot else "^"
            after = words[change.slot] if change.slot < len(words) else "$"
            old, new = (" ".join(displayed(marks)) or NOTHING for marks in (change.before, change.after))
            reasons = "; ".join(map(_reason, sprouts))
            self.write(f"{place}\t{before} [{old} → {new}] {after}\t{probability:.2f}\t{reasons}\n")

    def _annotated(self, source: Source, restored: Restored) -> Sentence:
        """A sentence of a treebank, with entries in MISC about marks that are missing or superfluous."""
        if not isinstance(source, Sentence):
            raise UserError("--format misc is for CoNLL-U: raw text has no MISC")
        entries = defaultdict[int, dict[str, str | None]](dict)
        for change, probability, sprouts in self._changes(source, restored):
            share = {PROBABILITY: f"{probability:.2f}"}
            for sprout in sprouts:
                of_word = entries[source.layout.words[sprout.head - 1]]
                place = f"{sprout.side}:{display(sprout.mark)}"
                of_word |= share | {MISSING: "+".join(filter(None, [of_word.get(MISSING), place]))}
            marks = source.layout.marks[change.slot]
            for step in Levenshtein.opcodes(change.before, change.after):
                for mark in () if step.tag == "equal" else marks[step.src_start : step.src_end]:
                    entries[mark] |= share | {SUPERFLUOUS: "Yes"}
        return with_entries(source, entries)

    def leave(self, item: Item) -> None:
        """Print what cannot be used unchanged; it has no edits."""
        if self.form == "misc" and isinstance(item, Sentence):
            self.write(item.conllu())
        elif self.form != "edits":
            super().leave(item)

    def more(self, source: Source, restored: Restored) -> dict[str, Any]:
        """The edits."""
        edits = [
            {
                "slot": change.slot,
                "before": displayed(change.before),
                "after": displayed(change.after),
                "probability": probability,
                "sprouted": [
                    {"mark": display(mark), "relation": relation, "words": list(words)}
                    for mark, relation, words, *_ in sprouts
                ],
            }
            for change, probability, sprouts in self._changes(source, restored)
        ]
        return {"edits": edits, "slips": [list(slip) for slip in self._slips]}


def _reason(sprout: Sprout) -> str:
    words = sprout.words
    if len(words) > WORDS_SHOWN:
        half = WORDS_SHOWN // 2
        words = (*words[:half], "…", *words[-half:])
    return f"{display(sprout.mark)} of {sprout.relation}: {' '.join(words)}"
