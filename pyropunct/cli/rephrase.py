"""The command ``pyropunct rephrase``."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SentenceId, TreebankUse, read_file
from pyropunct.cli.report import SentenceReport, in_order, show_each, usable
from pyropunct.errors import UserError
from pyropunct.limits import Count, NamesIn, Placeholder, Seed
from pyropunct.tasks import FULL, PLACES
from pyropunct.text.marks import displayed, unpaired

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.rephrase.rephrasing import Rephraser
    from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

CHUNK = 100
"""Sentences that are rephrased together."""


class Relocation(NamedTuple):
    """A move that ``--move`` requests: of constituents with a relation to one of `PLACES`."""

    relation: str
    place: str


def move_of(text: str) -> Relocation:
    """The move of a text; a relation may contain a colon. Raises ValueError without relation or place."""
    move = Relocation(*text.rpartition(":")[::2])
    if not move.relation or move.place not in PLACES:
        raise ValueError(" or ".join(f"RELATION:{place}" for place in PLACES) + " is needed")
    return move


@dataclass(frozen=True, kw_only=True)
class Edits:
    """The changes of sentences.

    :ivar delete: delete constituents; repeatable.
    :ivar move: move constituents to the first or last place beside their head, as in advcl:first; repeatable.
    :ivar permute: draw a new order for the dependents of nouns and verbs: of the underlying tree, of all
        tokens with new punctuation, or of all tokens.
    :ivar samples: draw this many rephrasings of each sentence; by default the most probable one.
    """

    delete: Annotated[tuple[str, ...], Placeholder("RELATION")] = ()
    move: Annotated[tuple[Annotated[Relocation, move_of], ...], Placeholder("RELATION:PLACE")] = ()
    permute: Annotated[str | None, NamesIn("pyropunct.tasks:VARIANTS")] = None
    samples: Count | None = None
    seed: Seed = 0

    def check(self) -> None:
        """:raises UsageError: if there is no change, or two exclude each other."""
        edits = bool(self.delete or self.move)
        if not edits and self.permute is None:
            raise click.UsageError("say what to change: --delete, --move or --permute")
        if edits and self.permute is not None:
            raise click.UsageError("--permute goes without --delete and --move")


@command
def rephrase(
    model: str,
    file: str,
    *,
    edits: Edits,
    like: Annotated[str | None, Placeholder("TREEBANK")] = None,
    format: Literal["text", "conllu", "json"] = "text",
    sentence: SentenceId = None,
    use: TreebankUse,
) -> None:
    """Rephrase the sentences of FILE, a CoNLL-U file, with punctuation to match.

    A moved constituent keeps its underlying marks; those of a deleted one are deleted.  The channel of MODEL
    makes new surface punctuation for changed slots.  FILE may be - for standard input.  Deletions come first,
    and include conjunctions with nothing left to join; moves follow.

    :param like: treebank to learn word order from, instead of FILE.
    """
    from pyropunct.tasks.rephrase.rephrasing import Rephraser

    edits.check()
    punctuator, treebank = use.load_for(model, file, need_sentences=format != "conllu")
    _check_relations(treebank, punctuator, "--delete", edits.delete)
    _check_relations(treebank, punctuator, "--move", [relation for relation, _ in edits.move])
    source = treebank if like is None else read_file(like)
    rephraser = Rephraser(punctuator, regenerate=edits.permute is not None)
    change = _edit(rephraser, edits) if edits.permute is None else _permutation(rephraser, edits, source)
    items = in_order(treebank, sentence, format)
    report = RephrasedReport(format)
    results = _results(rephraser, usable(items), change, edits.samples or 1, treebank.path)
    show_each("rephrasing", report, treebank, items, results)
    if report.halved:
        what = f"halves of pairs of marks are left in {console.ids(report.halved)}"
        console.tell(f"pyropunct: {treebank.path}: {what}")


class RephrasedReport(SentenceReport):
    """Rephrased sentences; ``halved`` are those with half a pair of brackets or quotation marks."""

    def __init__(self, form: str) -> None:
        super().__init__(form)
        self.halved: list[str] = []

    def add(self, source: "Sentence", *results: "Sentence") -> None:
        """Show the rephrasings of a sentence."""
        if any(unpaired(one.surface) > unpaired(source.surface) for one in results):
            self.halved.append(source.identifier)
        super().add(source, *results)

    def text(self, source: "Sentence", rephrased: "Sentence") -> str:
        """A rephrasing."""
        return rephrased.text()

    def conllu(self, source: "Sentence", rephrased: "Sentence") -> str:
        """A rephrasing."""
        return rephrased.conllu()

    def entry(self, source: "Sentence", *several: "Sentence") -> dict[str, Any]:
        """The text of the sentence, and all its rephrasings."""
        rephrased = []
        for one in several:
            words, marks = list(one.tree.forms), list(map(displayed, one.surface))
            rephrased.append({"text": one.text(), "words": words, "marks": marks})
        return {"text": source.text(), "rephrased": rephrased}


Change = Callable[[Sequence["UnderlyingTree"]], Iterable["Sentence"]]
"""From underlying trees to one rephrased sentence for each."""


def _check_relations(
    treebank: "Treebank", model: "Punctuator", option: str, relations: Iterable[str]
) -> None:
    """Check that relations are not the root, and occur in the file or the model."""
    from pyropunct.tasks.rephrase.underlying_tree import is_relation

    known = {relation for sentence in treebank for relation in sentence.tree.relations}
    known.update(filter(None, model.vocabulary.relations))
    for relation in relations:
        if relation == "root":
            why = "nothing would be left" if option == "--delete" else "there is nowhere to move it"
            raise UserError(f"{option}: root is the whole sentence, {why}")
        if not any(is_relation(name, relation) for name in known):
            names = " ".join(sorted(known))
            raise UserError(f"{option}: there is no relation {relation} in {treebank.path}, but {names}")


def _edit(rephraser: "Rephraser", edits: Edits) -> Change:
    """A change that deletes and moves constituents."""
    import numpy as np

    generator = np.random.default_rng(edits.seed)

    def edited(tree: "UnderlyingTree") -> "UnderlyingTree":
        gone = {word for relation in edits.delete for word in tree.with_relation(relation)}
        tree = tree.without({*gone, *tree.conjunctions(gone)})
        for relation, place in edits.move:
            tree = tree.moved(tree.with_relation(relation), place)
        return tree

    def change(trees: Sequence["UnderlyingTree"]) -> Iterator["Sentence"]:
        for tree in map(edited, trees):
            yield rephraser.best(tree) if edits.samples is None else rephraser.draw(tree, generator)

    return change


def _permutation(rephraser: "Rephraser", edits: Edits, source: "Treebank") -> Change:
    """A change that draws orders for the dependents of nouns and verbs, learned from a treebank."""
    import numpy as np

    from pyropunct.tasks.rephrase.rephrasing import learn_surface_order, learn_underlying_order, permuted

    variant = edits.permute
    assert variant is not None
    try:
        if variant == FULL:
            order = learn_underlying_order(rephraser.underlying(list(source)))
        else:
            order = learn_surface_order(source)
    except ValueError as error:
        raise UserError(f"{source.path}: {error}") from error
    generator = np.random.default_rng(edits.seed)
    return lambda trees: permuted(variant, order, rephraser, trees, generator, best=edits.samples is None)


def _results(
    rephraser: "Rephraser", sentences: "Sequence[Sentence]", change: Change, times: int, path: str
) -> "Iterator[tuple[Sentence, ...]]":
    from pyropunct.errors import InputError

    trees = rephraser.underlying(sentences)
    while chunk := list(islice(trees, CHUNK)):
        try:
            yield from zip(*(list(change(chunk)) for _ in range(times)), strict=True)
        except InputError as error:
            raise UserError(f"{path}: {error}") from error
