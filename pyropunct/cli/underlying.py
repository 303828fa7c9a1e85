"""The command ``pyropunct underlying``, and how it shows underlying punctuation."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import Json, ModelUse, SeededUse, SentenceId, read_file, tell_language
from pyropunct.cli.report import Report, SentenceReport, in_order, show_each, usable
from pyropunct.errors import UserError
from pyropunct.limits import Count, NotNegative, Placeholder
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence, part_of

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.corpus.shards import Work
    from pyropunct.figures.drawing import PunctuatedTree
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.derivations import SlotDerivation
    from pyropunct.tasks.explain.reattaching import Doubt

# Modules that need torch are imported inside the functions, so that --help answers at once.

Format = Literal["brackets", "conllu", "text", "svg", "html", "json", "report", "tsv"]


@command
def underlying(
    model: str,
    file: str,
    *,
    format: Format = "brackets",
    samples: NotNegative = 0,
    sentence: SentenceId = None,
    width: Count | None = None,
    attach_punctuation: bool = False,
    proposals: Literal["write", "apply"] | None = None,
    mark: Annotated[tuple[str, ...], Placeholder("MARK")] = (),
    use: SeededUse,
    json: Json = False,
) -> None:
    """Show the underlying punctuation of FILE: that of the best derivation, or draws from the posterior.

    :param format: trees in some format; or a report on marks whose head in FILE is less probable than
        another, as lines of text by patterns or, with tsv, with tabs between columns.
    :param samples: draw this many trees from the posterior.
    :param width: with --format svg: cut longer sentences into rows of this many pixels; by default 1200.
    :param attach_punctuation: with --format conllu: make each mark a dependent of the constituent that
        sprouted it.
    :param proposals: with --format conllu: "write" these other heads into MISC, where an annotator adds
        PunctAccept=Yes; then "apply" those that have it.
    :param mark: with --format report or tsv: report on this mark alone; repeatable.
    """
    if json and format in ("html", "svg", "report", "tsv"):
        raise UserError(f"--json and --format {format} are two formats: take one of them")
    shape = "json" if json else format
    check_attach(attach_punctuation, shape)
    if proposals and (shape != "conllu" or attach_punctuation or samples):
        raise UserError("--proposals goes with --format conllu, without --attach-punctuation and --samples")
    if width is not None and shape != "svg":
        raise UserError("--width is that of a drawing: use it with --format svg")
    if samples and shape in ("report", "tsv"):
        raise UserError(f"--format {shape} makes draws of its own: leave out --samples")
    if mark and shape not in ("report", "tsv"):
        raise UserError("--mark is that of a report: use it with --format report or tsv")
    from pyropunct.figures.layout import MOST_DRAWINGS

    punctuator, treebank = use.load(model), read_file(file)
    items = in_order(treebank, sentence, shape)
    sentences = usable(items)
    tell_language(model, punctuator, file, sentences)
    if shape in ("report", "tsv"):
        DoubtReport(punctuator, sentences, mark).show("tsv" if shape == "tsv" else "text")
        return
    if proposals:
        written = WrittenReport("conllu", None)
        texts = proposed(punctuator, sentences) if proposals == "write" else accepted(sentences)
        show_each("writing", written, treebank, items, ([text] for text in texts))
        return
    if shape == "svg" and (number := len(sentences) * max(samples, 1)) > MOST_DRAWINGS:
        raise UserError(
            f"--format svg draws at most {MOST_DRAWINGS} trees, not {number}: choose one with --sentence, "
            "or make a page of all with --format html"
        )
    report = UnderlyingReport(shape, None, punctuator, attach_punctuation)
    show_each("underlying", report, treebank, items, punctuator.underlying(sentences, samples))
    report.draw(treebank, model, width)
    if report.num_slips:
        slots = "1 slot has" if report.num_slips == 1 else f"{report.num_slips} slots have"
        console.tell(f"pyropunct: {slots} marks that T' does not give (the channel slips)")
    balance = punctuator.balance(sentences)
    if balance.bearing:
        console.tell(
            f"pyropunct: {balance.bearing} constituents sprout a bracket or quotation mark, "
            f"{balance.unmatched} of them without its partner ({balance.expected:.1f} expected)"
        )


def proposed(model: "Punctuator", sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with more probable heads of marks in MISC."""
    from pyropunct.tasks.explain.reattaching import doubts, with_proposals

    found: dict[int, list[Doubt]] = {}
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        for doubt in doubts(model, sentences, advance):
            found.setdefault(doubt.sentence.layout.block.first_line, []).append(doubt)
    of_sentences = (found.get(sentence.layout.block.first_line, []) for sentence in sentences)
    return [with_proposals(*both).conllu() for both in zip(sentences, of_sentences, strict=True)]


def accepted(sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with those of the heads in MISC that an annotator has accepted."""
    from pyropunct.tasks.explain.reattaching import with_accepted

    return [with_accepted(sentence).conllu() for sentence in sentences]


def work(model: str, *, format: str = "brackets", attach_punctuation: bool = False, use: ModelUse) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.sources import text_work

    check_attach(attach_punctuation, format)
    punctuator = use.load(model)
    report = UnderlyingReport(format, None, punctuator, attach_punctuation, counts_slips=False)
    shown = report.conllu if format == "conllu" else report.text

    def texts(sentences: Sequence[Sentence]) -> Iterator[str | None]:
        """The trees as text; an error in one of them is an error of its sentence alone."""
        for sentence, [tree] in zip(sentences, punctuator.underlying(sentences), strict=True):
            yield shown(sentence, tree)

    return text_work(punctuator, lambda: texts, lambda out, _: WrittenReport(format, out))


def check_attach(attach: bool, shape: str) -> None:
    """:raises UserError: if marks are attached in trees that are not written."""
    if attach and shape != "conllu":
        raise UserError("--attach-punctuation writes trees: use it with --format conllu")


class UnderlyingReport(SentenceReport):
    """Underlying trees, in brackets, as text drawings, or collected for one SVG file or page.

    :param attach: whether marks depend on the constituents that sprouted them.
    :param counts_slips: whether to count slips in CoNLL-U, too, where nothing else needs them.
    """

    def __init__(
        self, form: str, out: TextIO | None, model: "Punctuator", attach: bool, counts_slips: bool = True
    ) -> None:
        from pyropunct.tasks.explain.derivations import Derivations

        super().__init__(form, out)
        self._counts_slips = counts_slips
        self._model, self._attach, self._derivations = model, attach, Derivations(model)
        self._drawings: list[PunctuatedTree] = []
        self.num_slips = 0

    def text(self, source: Sentence, tree: Any) -> str | None:
        """The tree in brackets or as a drawing; None if it is drawn later."""
        from pyropunct.figures.drawing import PunctuatedTree, drawn_text, slip_notes
        from pyropunct.tasks.explain.brackets import bracketed

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
        from pyropunct.tasks.explain.brackets import misc_entries
        from pyropunct.tasks.explain.reattaching import mark_attachments, reattached

        if self._attach or self._counts_slips:
            derivations = self._slot_derivations(source, tree)
        if self._attach:
            source = reattached(source, mark_attachments(source, derivations))
        return source.conllu(misc_entries(tree))

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

    def _slot_derivations(self, source: Sentence, tree: Any) -> "list[SlotDerivation]":
        """The derivations of a sentence's slots; counts those where the channel slipped."""
        derivations = self._derivations.of(source, tree)
        self.num_slips += sum(slot.slipped for slot in derivations)
        return derivations

    def draw(self, treebank: Treebank, model: str, width: float | None) -> None:
        """Print the SVG file, of a width in pixels, or the page, if this is the format."""
        from pyropunct.figures.layout import WIDTH, drawn_svg
        from pyropunct.figures.page import page_html

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


class DoubtReport(Report):
    """The marks, or some, whose head is less probable than another, by patterns, most certain first."""

    def __init__(
        self, model: "Punctuator", sentences: Sequence[Sentence], marks: Collection[str] = ()
    ) -> None:
        from pyropunct.tasks.explain.reattaching import by_pattern, doubts

        with console.sentence_bar("heads of marks", len(sentences)) as advance:
            found = doubts(model, sentences, advance)
        self._groups = by_pattern(
            doubt for doubt in found if not marks or doubt.sentence.layout.form(doubt.mark) in marks
        )

    def told(self) -> Iterator[str]:
        """For each pattern a title and its lines."""
        for number, (pattern, doubts) in enumerate(self._groups.items()):
            if number:
                yield ""
            yield f"{len(doubts)} {'mark' if len(doubts) == 1 else 'marks'}: {pattern}"
            for doubt in doubts:
                file, line, sentence, token, _, *heads, before, mark, after, _ = _doubt_cells(doubt)
                yield (
                    f"{file}:{line}: {sentence}: token {token}: {before}⟦{mark}⟧{after}: "
                    "hangs on {} {}, {} ({:.3f}), better on {} {}, {} ({:.3f})".format(*heads)
                )

    def rows(self) -> "Table[Any]":
        """A row for each."""
        from pyropunct.compare.table import cells_table

        parts = ("", "_form", "_relation", "_probability")
        heads = (place + part for place in ("head", "proposed") for part in parts)
        about = ("file", "line", "sentence", "token", "mark", *heads, "before", "text", "after", "pattern")
        rows = [_doubt_cells(doubt) for doubts in self._groups.values() for doubt in doubts]
        return cells_table("", dict.fromkeys(about), rows)


def _doubt_cells(doubt: "Doubt") -> tuple[Any, ...]:
    """The row of a doubt."""
    layout = doubt.sentence.layout
    place = layout.block.path, doubt.line, doubt.sentence.identifier, doubt.mark, layout.form(doubt.mark)
    now = doubt.head, layout.form(doubt.head), doubt.relation(doubt.head), doubt.probability
    other = doubt.proposed
    better = other, layout.form(other), doubt.relation(other), doubt.proposed_probability
    return *place, *now, *better, *doubt.context, doubt.pattern
