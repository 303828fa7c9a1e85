"""How underlying and drawn punctuation is shown."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TextIO, TypeVar

import click

from pyropunct.cli import console
from pyropunct.cli.progress import sentence_bar
from pyropunct.cli.report import Report, Row, SentenceReport, usable
from pyropunct.figures.drawing import PunctuatedTree, drawn_text, slip_notes
from pyropunct.figures.page import drawn_svg, page_html
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.annotation import Finding, findings
from pyropunct.tasks.explain.attachment_conventions import Convention, convention_of, habits
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.tasks.explain.guidelines import is_word, seen
from pyropunct.tasks.explain.proposals import Proposal, proposals
from pyropunct.tasks.explain.reattaching import PROPOSED, by_guidelines, with_accepted, with_proposals
from pyropunct.tasks.explain.tree_text import ENTRIES, bracketed, puncteme_entries
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.conllu_block import DEPREL, FORM, HEAD, MISC
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence, part_of


class UnderlyingReport(SentenceReport):
    """Underlying trees, in brackets, as text drawings, or collected for one SVG file or page.

    :param convention: by which marks get new heads; None if they keep theirs.
    :param counts_slips: whether to count slips in CoNLL-U, too, where nothing else needs them.
    """

    def __init__(
        self,
        form: str,
        out: TextIO | None,
        model: Punctuator,
        convention: Convention | None,
        counts_slips: bool = True,
    ) -> None:
        super().__init__(form, out)
        self._counts_slips = counts_slips
        self._model, self._convention, self._derivations = model, convention, Derivations(model)
        self._drawings: list[PunctuatedTree] = []
        self.num_slips = self.num_words = 0

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
        if self._convention is not None:
            tokens = source.layout.block.tokens
            self.num_words += sum(is_word(tokens[mark - 1]) for mark in source.layout.all_marks)
            source = by_guidelines(source, tree, self._convention)
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

    def draw(self, treebank: Treebank, model: str) -> None:
        """Print the SVG file or the page, if this is the format."""
        if self.form == "svg":
            print(drawn_svg(self._drawings), end="")
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


# For maintainers of treebanks


def proposed(model: Punctuator, treebank: Treebank, sentences: Sequence[Sentence], least: float) -> list[str]:
    """The sentences of a treebank as CoNLL-U, with better heads of marks in MISC."""
    convention = convention_of(seen(model, list(treebank)))
    with sentence_bar("heads of marks", len(sentences)) as advance:
        every = proposals(model, sentences, least, advance, convention)
        return [
            with_proposals(sentence, {one.mark: (one.proposed, one.probability) for one in found}).conllu()
            for sentence, found in zip(sentences, every, strict=True)
        ]


def accepted(sentences: Sequence[Sentence]) -> list[str]:
    """The sentences as CoNLL-U, with those of the heads in MISC that an annotator has accepted."""
    proposed = accepted = 0
    written = []
    for sentence in sentences:
        new = with_accepted(sentence)
        before, after = sentence.layout, new.layout
        proposed += sum(
            f"{PROPOSED}=" in before.block.tokens[mark - 1].columns[MISC] for mark in before.all_marks
        )
        accepted += sum(before.head(mark) != after.head(mark) for mark in before.all_marks)
        written.append(new.conllu())
    if proposed:
        console.tell(f"pyropunct: {accepted} of {proposed} proposals are accepted; the others are removed")
    return written


EXAMPLES = 10
"""The most places of one kind of odd annotation that a report for people shows."""

OF_HABITS = 2
"""The same for what a treebank does as a rule, against the guidelines."""

HEADS = tuple(place + part for place in ("head", "proposed") for part in ("", "_form", "_relation"))
ABOUT = ("file", "line", "sentence", "token", "mark", *HEADS)
ABOUT += ("probability", "rule", "before", "text", "after", "pattern")
"""The columns of a report on heads and annotation."""

PLACE = "{file}:{line}: {sentence}: token {token}: "
ODD = PLACE + "{before} ⟦{text}⟧ {after}"
BETTER = PLACE + (
    "{before}⟦{text}⟧{after}: hangs on {head} {head_form}, {head_relation}, "
    "better on {proposed} {proposed_form}, {proposed_relation} ({probability:.2f})"
)
"""A row for people."""


def maintainer_report(
    model: Punctuator, treebank: Treebank, items: Sequence[Sentence | Omission], least: float
) -> Report:
    """Better heads for marks, by marks and rules, and other odd annotation.

    :param items: sentences of the treebank; what it does as a rule is reported for all.
    """
    sentences, looked = usable(items), seen(model, list(treebank))
    convention = convention_of(looked)
    with sentence_bar("heads of marks", len(sentences)) as advance:
        found = list(chain.from_iterable(proposals(model, sentences, least, advance, convention)))
    found.sort(key=lambda one: -one.probability)
    heads = _grouped(found, lambda one: f"{one.sentence.layout.form(one.mark)} : {one.rule}")
    odd = _grouped(findings(items), lambda one: one.what)
    usual = _grouped(habits(looked, convention), lambda one: one.what)
    every: list[Sequence[Proposal | Finding]] = [*heads.values(), *usual.values(), *odd.values()]
    rows = [Row(_cells(one)) for group in every for one in group]
    told = (
        *(_group("mark", *one, OF_HABITS) for one in usual.items()),
        *(_group("mark", *one) for one in heads.items()),
        *(_group("place", *one) for one in odd.items()),
    )
    if not told:
        console.tell(f"pyropunct: there is no proposal with a probability of {least}, and no odd annotation")
    return Report({}, ["\n\n".join(told)] if told else [], ABOUT, rows)


Suggestion = TypeVar("Suggestion", Proposal, Finding)


def _grouped(found: Iterable[Suggestion], key: Callable[[Suggestion], str]) -> dict[str, list[Suggestion]]:
    """What was found by a key, the most frequent one first."""
    groups: dict[str, list[Suggestion]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def _group(noun: str, title: str, group: Sequence[Proposal | Finding], most: int = EXAMPLES) -> str:
    """The title of a group, and its lines; of findings only the first."""
    lines = [f"{len(group)} {noun}{'s'[: len(group) > 1]}: {title}"]
    for one in group:
        if isinstance(one, Finding) and len(lines) > most:
            return "\n".join([*lines, f"and {len(group) - most} more (--format tsv has all)"])
        shape = ODD if isinstance(one, Finding) else BETTER
        lines.append(shape.format_map(dict(zip(ABOUT, _cells(one), strict=True))))
    return "\n".join(lines)


def _cells(one: Proposal | Finding) -> tuple[Any, ...]:
    """The row of a proposal, or of a finding, which has no other head."""
    last: tuple[Any, ...]
    if isinstance(one, Finding):
        block, token = one.block, one.token
        columns = block.tokens[token - 1].columns
        last = (columns[HEAD], "", columns[DEPREL], *[""] * 4, one.what, *one.context, "")
    else:
        layout, token, both = one.sentence.layout, one.mark, (one.head, one.proposed)
        block = layout.block
        heads = (cell for head in both for cell in (head, layout.form(head), one.relation(head)))
        last = (*heads, one.probability, str(one.rule), *one.context, one.pattern)
    form = block.tokens[token - 1].columns[FORM]
    return block.path, block.line_of(token), block.identifier, token, form, *last
