"""The command ``pyropunct rephrase``."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import load_model, read_file, use_threads
from pyropunct.cli.options import (
    encoder_option,
    json_option,
    seed_option,
    sentence_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.showing import in_order, numbered, usable
from pyropunct.tasks.rephrase.choices import FULL, PLACES, VARIANTS

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.rephrase.rephrasing import Rephraser
    from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
    from pyropunct.treebank.reading import Omission, Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.

CHUNK = 100
"""Sentences that are rephrased together."""


class Move(NamedTuple):
    """What ``--move`` asks for.

    :ivar relation: constituents with this relation are moved.
    :ivar place: where they are moved, one of `pyropunct.tasks.rephrase.choices.PLACES`.
    """

    relation: str
    place: str


def _moves(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[Move]:
    """Parse values of ``--move`` into relations and places; a relation may contain a colon itself."""
    moves = [Move(*value.rpartition(":")[::2]) for value in values]
    for move in moves:
        if not move.relation or move.place not in PLACES:
            needed = " or ".join(f"RELATION:{place}" for place in PLACES)
            raise click.BadParameter(f"{needed} is needed", context, parameter)
    return moves


@click.command()
@click.argument("model")
@click.argument("file")
@click.option(
    "--delete", "deleted", metavar="RELATION", multiple=True, help="Delete constituents; repeatable."
)
@click.option(
    "--move",
    "moves",
    metavar="RELATION:PLACE",
    multiple=True,
    callback=_moves,
    help="Move constituents to the first or last place beside their head, as in advcl:first; repeatable.",
)
@click.option(
    "--permute",
    type=click.Choice(VARIANTS),
    help="Draw a new order for the dependents of nouns and verbs: of the underlying tree, of all tokens with "
    "new punctuation, or of all tokens.",
)
@click.option("--like", metavar="TREEBANK", help="Treebank to learn word order from, if not FILE.")
@click.option("--samples", type=click.IntRange(1), help="Draw this many rephrasings of each sentence.")
@click.option(
    "--best", is_flag=True, help="Take the most probable punctuation; the default without --samples."
)
@click.option(
    "--format", "shape", type=click.Choice(["text", "conllu", "json"]), default="text", show_default=True
)
@sentence_option
@seed_option
@trust_option
@encoder_option
@threads_option
@json_option
@polite
def rephrase(
    model: str,
    file: str,
    deleted: tuple[str, ...],
    moves: list[Move],
    permute: str | None,
    like: str | None,
    samples: int | None,
    best: bool,
    shape: str,
    identifier: str | None,
    seed: int,
    trust_variants: bool,
    encoder: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Rephrase the sentences of FILE, a CoNLL-U file, with punctuation to match.

    A moved constituent takes its underlying marks with it, and the marks of a deleted one are deleted.  Where
    a slot has changed, the channel of MODEL makes new surface punctuation.  FILE may be - for standard
    input.  Deletions come first, and include conjunctions that are left with nothing to join; moves follow.
    """
    from pyropunct.tasks.rephrase.rephrasing import Rephraser

    _check_options(bool(deleted or moves), permute, samples, best)
    use_threads(threads)
    punctuator, treebank = load_model(model, trust_variants, encoder), read_file(file)
    _check_relations(treebank, punctuator, "--delete", deleted)
    _check_relations(treebank, punctuator, "--move", [move.relation for move in moves])
    source = treebank if like is None else read_file(like)
    rephraser = Rephraser(punctuator, regenerate=permute is not None)
    surest = best or samples is None
    if permute is None:
        change = _edit(rephraser, deleted, moves, surest, seed)
    else:
        change = _permutation(rephraser, permute, source, surest, seed)
    shape = "json" if as_json else shape
    items = in_order(treebank, identifier, shape)
    sentences = usable(items)
    with console.sentence_bar("rephrasing", len(sentences)) as advance:
        results = _results(rephraser, sentences, change, samples or 1, treebank.path, advance)
        _tell(items, results, shape, treebank.omitted)


Change = Callable[[Sequence["UnderlyingTree"]], Iterable["Sentence"]]
"""From underlying trees to one rephrased sentence for each."""


def _check_options(edits: bool, permute: str | None, samples: int | None, best: bool) -> None:
    if not edits and permute is None:
        raise click.UsageError("say what to change: --delete, --move or --permute")
    if edits and permute is not None:
        raise click.UsageError("--permute goes without --delete and --move")
    if best and permute is None and samples is not None:
        raise click.UsageError("--best has one result: leave out --samples")


def _check_relations(
    treebank: "Treebank", model: "Punctuator", option: str, relations: Iterable[str]
) -> None:
    """Check that relations are not the root, and that the file or the model has them.

    :raises OneLineError: if one is the root or unknown.
    """
    from pyropunct.tasks.rephrase.underlying_tree import is_relation

    known = {relation for sentence in treebank for relation in sentence.tree.relations}
    known.update(filter(None, model.vocabulary.relations))
    for relation in relations:
        if relation == "root":
            why = "nothing would be left" if option == "--delete" else "there is nowhere to move it"
            raise OneLineError(f"{option}: root is the whole sentence, {why}", BAD_INPUT)
        if not any(is_relation(one, relation) for one in known):
            names = " ".join(sorted(known))
            why = f"there is no relation {relation} in {treebank.path}, but {names}"
            raise OneLineError(f"{option}: {why}", BAD_INPUT)


def _edit(
    rephraser: "Rephraser", deleted: Sequence[str], moves: Sequence[Move], best: bool, seed: int
) -> Change:
    """A change that deletes and moves constituents."""
    import numpy as np

    generator = np.random.default_rng(seed)

    def edited(tree: "UnderlyingTree") -> "UnderlyingTree":
        gone = {word for relation in deleted for word in tree.with_relation(relation)}
        tree = tree.without({*gone, *tree.conjunctions(gone)})
        for relation, place in moves:
            tree = tree.moved(tree.with_relation(relation), place)
        return tree

    def change(trees: Sequence["UnderlyingTree"]) -> Iterator["Sentence"]:
        for tree in trees:
            yield rephraser.best(edited(tree)) if best else rephraser.draw(edited(tree), generator)

    return change


def _permutation(rephraser: "Rephraser", variant: str, source: "Treebank", best: bool, seed: int) -> Change:
    """A change that draws orders for the dependents of nouns and verbs, as learned from a treebank."""
    import numpy as np

    from pyropunct.tasks.rephrase.permuting import learn_surface_order, learn_underlying_order, permuted

    try:
        if variant == FULL:
            order = learn_underlying_order(rephraser.underlying(list(source)))
        else:
            order = learn_surface_order(source)
    except ValueError as error:
        raise OneLineError(f"{source.path}: {error}", BAD_INPUT) from error
    generator = np.random.default_rng(seed)
    return lambda trees: permuted(variant, order, rephraser, trees, generator, best=best)


def _results(
    rephraser: "Rephraser",
    sentences: "Sequence[Sentence]",
    change: Change,
    times: int,
    path: str,
    advance: Callable[[int], None],
) -> "Iterator[tuple[Sentence, ...]]":
    """The rephrasings of each sentence.

    :param times: how many of each.
    :param path: the file of the sentences.
    """
    from pyropunct.tasks.rephrase.underlying_tree import EditError

    trees = rephraser.underlying(sentences)
    while some := list(islice(trees, CHUNK)):
        try:
            yield from zip(*(list(change(some)) for _ in range(times)), strict=True)
        except EditError as error:
            raise OneLineError(f"{path}: {error}", BAD_INPUT) from error
        advance(len(some))


def _tell(
    items: "Sequence[Sentence | Omission]",
    results: "Iterator[tuple[Sentence, ...]]",
    shape: str,
    omitted: "Sequence[Omission]",
) -> None:
    from pyropunct.treebank.reading import Omission

    found = []
    for item in items:
        if isinstance(item, Omission):
            print(item.conllu() if shape == "conllu" else "", end="")
            continue
        some = next(results)
        if shape == "json":
            rephrased = [_described(one) for one in some]
            found.append({"id": item.identifier, "text": item.text(), "rephrased": rephrased})
        elif shape == "conllu":
            print(numbered([one.conllu() for one in some], item.identifier), end="")
        else:
            print("".join(one.text() + "\n" for one in some), end="")
    if shape == "json":
        console.print_json({"sentences": found, **console.plain_omissions(omitted)})


def _described(sentence: "Sentence") -> dict[str, Any]:
    from pyropunct.treebank.marks import displayed

    marks = [displayed(slot) for slot in sentence.surface]
    return {"text": sentence.text(), "words": list(sentence.tree.forms), "marks": marks}
