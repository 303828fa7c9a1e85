"""How underlying and drawn punctuation is shown."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.report import Report, SentenceReport, usable
from pyropunct.figures.drawing import PunctuatedTree, drawn_text, slip_notes
from pyropunct.figures.layout import WIDTH, drawn_svg
from pyropunct.figures.page import page_html
from pyropunct.punctuator import Punctuator
from pyropunct.tables import cells_table
from pyropunct.tasks.explain.annotation import Finding, by_kind, findings
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.tasks.explain.proposals import Proposal, by_pattern, proposals
from pyropunct.tasks.explain.reattaching import by_guidelines, with_accepted, with_proposals
from pyropunct.tasks.explain.tree_text import ENTRIES, bracketed, puncteme_entries
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.conllu_block import DEPREL, FORM, HEAD
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence, part_of


class UnderlyingReport(SentenceReport):
    """Underlying trees, in brackets, as text drawings, or collected for one SVG file or page.

    :param attach: whether marks depend on the constituents that sprouted them.
    :param counts_slips: whether to count slips in CoNLL-U, too, where nothing else needs them.
    """

    def __init__(
        self, form: str, out: TextIO | None, model: Punctuator, attach: bool, counts_slips: bool = True
    ) -> None:
        super().__init__(form, out)
        self._counts_slips = counts_slips
        self._model, self._attach, self._derivations = model, attach, Derivations(model)
        self._drawings: list[PunctuatedTree] = []
        self.num_slips = 0

    def text(self, source: Sentence, tree: Any) -> str | None:
        """The tree in brackets or as a drawing; None if it is drawn later."""
        derivations = self._slot_derivations(source, tree)
        if self.form == "brackets":
            return "  ".join([bracketed(source, tree), *slip_notes(derivations)])
        drawing = PunctuatedTree(source, tree, derivations)
        if self.form == "text":
            return drawn_text(drawing)
        self._drawings.append(drawing)
        return None

    def conllu(self, source: Sentence, tree: Any) -> str:
        """The tree, with the underlying marks in the column MISC."""
        if self._counts_slips:
            self._slot_derivations(source, tree)
        if self._attach:
            source = by_guidelines(source, tree)
        return source.conllu([ENTRIES | entries for entries in puncteme_entries(tree)])

    def entry(self, source: Sentence, *trees: Any) -> dict[str, Any]:
        """The words; for each tree the punctemes of each word, marks around parts, and the slots that T' does
        not give.
        """
        plain = [[[[display(token) for token in side] for side in pair] for pair in tree] for tree in trees]
        parts = [
            [
                {"word": word, **part._asdict()}
                for word, part in enumerate(map(part_of, tree), start=1)
                if part is not None
            ]
            for tree in trees
        ]
        slips = [
            [
                {"slot": number, "surface": displayed(slot.surface)}
                for number, slot in enumerate(self._slot_derivations(source, tree))
                if slot.slipped
            ]
            for tree in trees
        ]
        return {"forms": list(source.tree.forms), "trees": plain, "parts": parts, "slips": slips}

    def _slot_derivations(self, source: Sentence, tree: Any) -> list[SlotDerivation]:
        """The derivations of a sentence's slots; counts those where the channel slipped."""
        derivations = self._derivations.of(source, tree)
        self.num_slips += sum(slot.slipped for slot in derivations)
        return derivations

    def draw(self, treebank: Treebank, model: str, width: float | None) -> None:
        """Print the SVG file, of a width in pixels, or the page, if this is the format."""
        if self.form == "svg":
            print(drawn_svg(self._drawings, width or WIDTH), end="")
        elif self.form == "html":
            # As bytes, because the page declares UTF-8, whatever the encoding of standard output is.
            page = page_html(treebank, self._drawings, model, self._model.recipe)
            click.echo(page.encode(), nl=False)


class WrittenReport(SentenceReport):
    """Results that are text or CoNLL-U already."""

    def text(self, source: Sentence, result: str) -> str:
        """The result."""
        return result

    conllu = text


class SampleReport(SentenceReport):
    """Sentences with drawn punctuation."""

    def __init__(self, form: str, conventions: Conventions) -> None:
        super().__init__(form)
        self._conventions = conventions

    def text(self, source: Sentence, draw: Any) -> str:
        """A draw."""
        return source.text(draw, self._conventions)

    def conllu(self, source: Sentence, draw: Any) -> str:
        """A draw."""
        return source.conllu_with_surface(draw, self._conventions)

    def entry(self, source: Sentence, *draws: Any) -> dict[str, Any]:
        """All draws of a tree."""
        return {"texts": [self.text(source, draw) for draw in draws]}


# Heads of marks


def proposed(model: Punctuator, sentences: Sequence[Sentence], least: float) -> list[str]:
    """The sentences as CoNLL-U, with better heads of marks in MISC."""
    found: dict[int, dict[int, tuple[int, float]]] = {}
    for one in _found(model, sentences, least):
        of_sentence = found.setdefault(one.sentence.layout.block.first_line, {})
        of_sentence[one.mark] = one.proposed, one.probability
    of_sentences = (found.get(sentence.layout.block.first_line, {}) for sentence in sentences)
    return [with_proposals(*both).conllu() for both in zip(sentences, of_sentences, strict=True)]


def accepted(sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with those of the heads in MISC that an annotator has accepted."""
    return [with_accepted(sentence).conllu() for sentence in sentences]


EXAMPLES = 10
"""The most places of one kind of odd annotation that a report for people shows."""

PLACE = ("file", "line", "sentence", "token", "mark")
HEADS = tuple(place + part for place in ("head", "proposed") for part in ("", "_form", "_relation"))
ABOUT = (*PLACE, *HEADS, "probability", "rule", "before", "text", "after", "pattern")
"""The columns of a report on heads and annotation."""


def maintainer_report(
    model: Punctuator,
    treebank: Treebank,
    items: Sequence[Sentence | Omission],
    least: float,
    marks: Collection[str],
) -> Report:
    """Better heads for marks by patterns; then other odd annotation, unless some marks are asked for."""
    groups = by_pattern(
        one
        for one in _found(model, usable(items), least)
        if not marks or one.sentence.layout.form(one.mark) in marks
    )
    kinds = {} if marks else by_kind(findings(items, treebank.path))
    rows = [_cells(one) for of_pattern in groups.values() for one in of_pattern]
    rows += [_annotated(one) for of_kind in kinds.values() for one in of_kind]
    told = chain(_told(groups), _told_of_annotation(kinds, after=bool(groups)))
    return Report({}, told, cells_table("", dict.fromkeys(ABOUT), rows))


def _found(model: Punctuator, sentences: Sequence[Sentence], least: float) -> list[Proposal]:
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        return proposals(model, sentences, least, advance)


def _told(groups: Mapping[str, Sequence[Proposal]]) -> Iterator[str]:
    """For each pattern a title and its lines."""
    for number, (pattern, of_pattern) in enumerate(groups.items()):
        if number:
            yield ""
        yield f"{len(of_pattern)} {'mark' if len(of_pattern) == 1 else 'marks'}: {pattern}"
        for one in of_pattern:
            file, line, sentence, token, _, *heads, rule, before, mark, after, _ = _cells(one)
            yield (
                f"{file}:{line}: {sentence}: token {token}: {before}⟦{mark}⟧{after}: "
                "hangs on {} {}, {}, better on {} {}, {} ({:.2f}): ".format(*heads)
                + rule
            )


def _told_of_annotation(kinds: Mapping[str, Sequence[Finding]], *, after: bool) -> Iterator[str]:
    """For each kind a title and the first of its places."""
    for number, (kind, of_kind) in enumerate(kinds.items()):
        if number or after:
            yield ""
        yield f"{len(of_kind)} {'place' if len(of_kind) == 1 else 'places'}: {kind}"
        for one in of_kind[:EXAMPLES]:
            file, line, sentence, token, *_, before, text, after_it, _ = _annotated(one)
            yield f"{file}:{line}: {sentence}: token {token}: {before} ⟦{text}⟧ {after_it}"
        if len(of_kind) > EXAMPLES:
            yield f"and {len(of_kind) - EXAMPLES} more (--format tsv has all)"


def _annotated(one: Finding) -> tuple[Any, ...]:
    """The row of a finding, which has no other head."""
    block, columns = one.block, one.block.tokens[one.token - 1].columns
    place = block.path, one.line, block.identifier, one.token, columns[FORM]
    head = columns[HEAD], "", columns[DEPREL], *[""] * 5
    return *place, *head, *one.context, one.what


def _cells(one: Proposal) -> tuple[Any, ...]:
    """The row of a proposal."""
    layout = one.sentence.layout
    place = layout.block.path, one.line, one.sentence.identifier, one.mark, layout.form(one.mark)
    heads = (
        cell for head in (one.head, one.proposed) for cell in (head, layout.form(head), one.relation(head))
    )
    return *place, *heads, one.probability, str(one.rule), *one.context, one.pattern
