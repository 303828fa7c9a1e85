"""How underlying and drawn punctuation is shown."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.report import Report, SentenceReport
from pyropunct.figures.drawing import PunctuatedTree, drawn_text, slip_notes
from pyropunct.figures.layout import WIDTH, drawn_svg
from pyropunct.figures.page import page_html
from pyropunct.punctuator import Punctuator
from pyropunct.tables import cells_table
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.tasks.explain.reattaching import (
    Doubt,
    by_pattern,
    doubts,
    mark_attachments,
    reattached,
    with_accepted,
    with_proposals,
)
from pyropunct.tasks.explain.tree_text import bracketed, puncteme_entries
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import display, displayed
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
        if self._attach or self._counts_slips:
            derivations = self._slot_derivations(source, tree)
        if self._attach:
            source = reattached(source, mark_attachments(source, derivations))
        return source.conllu(puncteme_entries(tree))

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


def proposed(model: Punctuator, sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with more probable heads of marks in MISC."""

    found: dict[int, list[Doubt]] = {}
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        for doubt in doubts(model, sentences, advance):
            found.setdefault(doubt.sentence.layout.block.first_line, []).append(doubt)
    of_sentences = (found.get(sentence.layout.block.first_line, []) for sentence in sentences)
    return [with_proposals(*both).conllu() for both in zip(sentences, of_sentences, strict=True)]


def accepted(sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with those of the heads in MISC that an annotator has accepted."""

    return [with_accepted(sentence).conllu() for sentence in sentences]


def doubt_report(model: Punctuator, sentences: Sequence[Sentence], marks: Collection[str] = ()) -> Report:
    """The marks, or some, whose head is less probable than another, by patterns, most certain first."""
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        found = doubts(model, sentences, advance)
    groups = by_pattern(
        doubt for doubt in found if not marks or doubt.sentence.layout.form(doubt.mark) in marks
    )
    parts = ("", "_form", "_relation", "_probability")
    heads = (place + part for place in ("head", "proposed") for part in parts)
    about = ("file", "line", "sentence", "token", "mark", *heads, "before", "text", "after", "pattern")
    rows = [_doubt_cells(doubt) for of_pattern in groups.values() for doubt in of_pattern]
    return Report({}, _told(groups), cells_table("", dict.fromkeys(about), rows))


def _told(groups: Mapping[str, Sequence[Doubt]]) -> Iterator[str]:
    """For each pattern a title and its lines."""
    for number, (pattern, of_pattern) in enumerate(groups.items()):
        if number:
            yield ""
        yield f"{len(of_pattern)} {'mark' if len(of_pattern) == 1 else 'marks'}: {pattern}"
        for doubt in of_pattern:
            file, line, sentence, token, _, *heads, before, mark, after, _ = _doubt_cells(doubt)
            yield (
                f"{file}:{line}: {sentence}: token {token}: {before}⟦{mark}⟧{after}: "
                "hangs on {} {}, {} ({:.3f}), better on {} {}, {} ({:.3f})".format(*heads)
            )


def _doubt_cells(doubt: Doubt) -> tuple[Any, ...]:
    """The row of a doubt."""
    layout = doubt.sentence.layout
    place = layout.block.path, doubt.line, doubt.sentence.identifier, doubt.mark, layout.form(doubt.mark)
    now = doubt.head, layout.form(doubt.head), doubt.relation(doubt.head), doubt.probability
    other = doubt.proposed
    better = other, layout.form(other), doubt.relation(other), doubt.proposed_probability
    return *place, *now, *better, *doubt.context, doubt.pattern
