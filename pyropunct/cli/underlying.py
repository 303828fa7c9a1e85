"""The command ``pyropunct underlying``."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.head_report import tell_doubts
from pyropunct.cli.loading import load_model, prepare
from pyropunct.cli.options import (
    encoder_option,
    json_option,
    seed_option,
    sentence_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.showing import in_order, tell_each, usable

if TYPE_CHECKING:
    from pyropunct.cli.sources import Reject
    from pyropunct.corpus.shards import Work
    from pyropunct.figures.drawing import PunctuatedTree
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.lines import Part
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


@click.command()
@click.argument("model")
@click.argument("file")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["brackets", "conllu", "text", "svg", "html", "json", "report", "tsv"]),
    default="brackets",
    show_default=True,
    help="Trees in some format; or a report on marks whose head in FILE is less probable than another, as "
    "lines of text or, with tsv, with tabs between columns.",
)
@click.option("--samples", type=click.IntRange(0), default=0, help="Draw this many trees from the posterior.")
@sentence_option
@click.option(
    "--width",
    type=click.IntRange(1),
    help="With --format svg: cut longer sentences into rows of this many pixels; by default 1200.",
)
@click.option(
    "--attach-punctuation",
    "attach",
    is_flag=True,
    help="With --format conllu: make each mark a dependent of the constituent that sprouted it.",
)
@seed_option
@trust_option
@encoder_option
@threads_option
@json_option
@polite
def underlying(
    model: str,
    file: str,
    shape: str,
    samples: int,
    identifier: str | None,
    width: int | None,
    attach: bool,
    seed: int,
    trust_variants: bool,
    encoder: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Show the underlying punctuation of FILE: that of the best derivation, or draws from the posterior."""
    if as_json and shape in ("html", "svg", "report", "tsv"):
        raise OneLineError(f"--json and --format {shape} are two formats: take one of them", BAD_INPUT)
    shape = "json" if as_json else shape
    _check_attach(attach, shape)
    if width is not None and shape != "svg":
        raise OneLineError("--width is that of a drawing: use it with --format svg", BAD_INPUT)
    if samples and shape in ("report", "tsv"):
        raise OneLineError(f"--format {shape} has exact probabilities: leave out --samples", BAD_INPUT)
    punctuator, treebank = prepare(model, file, seed, threads, trust_variants, encoder)
    items = in_order(treebank, identifier, shape)
    sentences = usable(items)
    if shape in ("report", "tsv"):
        tell_doubts(punctuator, sentences, shape)
        return
    if shape == "svg":
        _check_drawable(len(sentences) * max(samples, 1))
    drawings: list[PunctuatedTree] = []
    tell_each(
        "underlying",
        treebank,
        items,
        punctuator.underlying(sentences, samples),
        shape,
        _underlying_shapes(punctuator, attach, drawings),
    )
    if shape == "svg":
        from pyropunct.figures.layout import WIDTH
        from pyropunct.figures.svg import drawn_svg

        print(drawn_svg(drawings, width or WIDTH), end="")
    elif shape == "html":
        from pyropunct.figures.page import page_html

        # As bytes, because the page declares UTF-8, whatever the encoding of standard output is.
        click.echo(page_html(treebank, drawings, model, punctuator.recipe).encode(), nl=False)


def work(model: str, shape: str, attach: bool, trust_variants: bool, encoder: str | None) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.sources import one_after_the_other, what_went_wrong, why_omitted
    from pyropunct.fitted.story import BATCH_SIZE
    from pyropunct.treebank.lines import ByteLines, lines_or_errors
    from pyropunct.treebank.reading import Omission, TreebankError, sentences_or_errors

    _check_attach(attach, shape)
    punctuator = load_model(model, trust_variants, encoder)
    tell = _underlying_shapes(punctuator, attach, [])[shape]
    end = "" if shape == "conllu" else "\n"

    def texts(sentences: "Sequence[Sentence]") -> Iterator[str]:
        for sentence, [tree] in zip(sentences, punctuator.underlying(sentences), strict=True):
            yield tell(sentence, tree) + end

    def shown(part: "Part", out: TextIO, reject: "Reject") -> None:
        lines = lines_or_errors(ByteLines(part.stream), part.name, part.start)
        items = sentences_or_errors(lines, part.name, part.start)
        while some := list(islice(items, BATCH_SIZE)):
            found = one_after_the_other(usable(some), texts)
            for item in some:
                if isinstance(item, TreebankError):
                    reject(item)
                elif isinstance(item, Omission):
                    reject(why_omitted(part.name, item))
                    out.write(item.conllu() if shape == "conllu" else "")
                else:
                    text = next(found)
                    if isinstance(text, Exception):
                        reject(what_went_wrong(part.name, item, text))
                    else:
                        out.write(text)

    return shown


def _check_attach(attach: bool, shape: str) -> None:
    """:raises OneLineError: if marks are to get heads that are not written."""
    if attach and shape != "conllu":
        raise OneLineError("--attach-punctuation writes trees: use it with --format conllu", BAD_INPUT)


def _check_drawable(drawings: int) -> None:
    from pyropunct.figures.svg import MOST_DRAWINGS

    if drawings > MOST_DRAWINGS:
        raise OneLineError(
            f"--format svg draws at most {MOST_DRAWINGS} trees, not {drawings}: choose one with --sentence, "
            "or make a page of all with --format html",
            BAD_INPUT,
        )


def _underlying_shapes(
    punctuator: "Punctuator", attach: bool, drawings: "list[PunctuatedTree]"
) -> "dict[str, Callable[[Sentence, Any], Any]]":
    """The functions with which `tell_each` shows underlying trees.

    :param drawings: gets the trees that are to be drawn in one SVG file or on one page.
    """
    from pyropunct.figures.drawing import PunctuatedTree, drawn_text
    from pyropunct.tasks.explain.brackets import bracketed, misc_entries
    from pyropunct.tasks.explain.derivations import Derivations
    from pyropunct.tasks.explain.reattaching import mark_attachments, reattached
    from pyropunct.treebank.marks import display

    derivations = Derivations(punctuator)

    def plain(trees: Any) -> Any:
        return [[[[display(token) for token in side] for side in pair] for pair in tree] for tree in trees]

    def drawing(sentence: "Sentence", tree: Any) -> PunctuatedTree:
        return PunctuatedTree(sentence, tree, derivations.of(sentence, tree))

    def conllu(sentence: "Sentence", tree: Any) -> str:
        if attach:
            sentence = reattached(sentence, mark_attachments(sentence, derivations.of(sentence, tree)))
        return sentence.conllu(misc_entries(tree))

    return {
        "brackets": bracketed,
        "conllu": conllu,
        "text": lambda sentence, tree: drawn_text(drawing(sentence, tree)),
        "svg": lambda sentence, tree: drawings.append(drawing(sentence, tree)),
        "html": lambda sentence, tree: drawings.append(drawing(sentence, tree)),
        "json": lambda sentence, trees: {"forms": list(sentence.tree.forms), "trees": plain(trees)},
    }
