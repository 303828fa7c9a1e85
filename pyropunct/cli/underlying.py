"""The command ``pyropunct underlying``."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from pyropunct.cli.command import command
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Drawing, Json, ModelUse, SentenceId
from pyropunct.cli.showing import in_order, tell_each, usable
from pyropunct.errors import UserError
from pyropunct.limits import Count, NotNegative

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Reject, Work
    from pyropunct.figures.drawing import PunctuatedTree
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.lines import Part
    from pyropunct.treebank.sentence import Sentence

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
    use: Drawing,
    json: Json = False,
) -> None:
    """Show the underlying punctuation of FILE: that of the best derivation, or draws from the posterior.

    :param format: trees in some format; or a report on marks whose head in FILE is less probable than
        another, as lines of text or, with tsv, with tabs between columns.
    :param samples: draw this many trees from the posterior.
    :param width: with --format svg: cut longer sentences into rows of this many pixels; by default 1200.
    :param attach_punctuation: with --format conllu: make each mark a dependent of the constituent that
        sprouted it.
    """
    if json and format in ("html", "svg", "report", "tsv"):
        raise UserError(f"--json and --format {format} are two formats: take one of them")
    shape = "json" if json else format
    _check_attach(attach_punctuation, shape)
    if width is not None and shape != "svg":
        raise UserError("--width is that of a drawing: use it with --format svg")
    if samples and shape in ("report", "tsv"):
        raise UserError(f"--format {shape} has exact probabilities: leave out --samples")
    punctuator, treebank = use.load(model), read_file(file)
    items = in_order(treebank, sentence, shape)
    sentences = usable(items)
    if shape in ("report", "tsv"):
        from pyropunct.cli.head_report import tell_doubts

        tell_doubts(punctuator, sentences, shape)
        return
    if shape == "svg":
        _check_drawable(len(sentences) * max(samples, 1))
    drawings: list[PunctuatedTree] = []
    shapes = _shapes(punctuator, attach_punctuation, drawings)
    tell_each("underlying", treebank, items, punctuator.underlying(sentences, samples), shape, shapes)
    if shape == "svg":
        from pyropunct.figures.layout import WIDTH
        from pyropunct.figures.svg import drawn_svg

        print(drawn_svg(drawings, width or WIDTH), end="")
    elif shape == "html":
        from pyropunct.figures.page import page_html

        # As bytes, because the page declares UTF-8, whatever the encoding of standard output is.
        click.echo(page_html(treebank, drawings, model, punctuator.recipe).encode(), nl=False)


def work(
    model: str, *, format: Format = "brackets", attach_punctuation: bool = False, use: ModelUse
) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.sources import one_after_the_other, what_went_wrong, why_omitted
    from pyropunct.fitted.story import BATCH_SIZE
    from pyropunct.treebank.errors import TreebankError
    from pyropunct.treebank.lines import ByteLines, lines_or_errors
    from pyropunct.treebank.reading import Omission, sentences_or_errors

    _check_attach(attach_punctuation, format)
    punctuator = use.load(model)
    tell = _shapes(punctuator, attach_punctuation, [])[format]
    end = "" if format == "conllu" else "\n"

    def texts(sentences: "Sequence[Sentence]") -> Iterator[str]:
        for sentence, [tree] in zip(sentences, punctuator.underlying(sentences), strict=True):
            yield tell(sentence, tree) + end

    def show(
        part: "Part", out: TextIO, reject: "Reject | None" = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        assert reject is not None  # as for a corpus
        lines = lines_or_errors(ByteLines(part.stream), part.name, part.start)
        items = sentences_or_errors(lines, part.name, part.start)
        while chunk := list(islice(items, BATCH_SIZE)):
            results = one_after_the_other(usable(chunk), texts)
            for item in chunk:
                if isinstance(item, TreebankError):
                    reject(item)
                elif isinstance(item, Omission):
                    reject(why_omitted(part.name, item))
                    out.write(item.conllu() if format == "conllu" else "")
                else:
                    text = next(results)
                    if isinstance(text, Exception):
                        reject(what_went_wrong(part.name, item, text))
                    else:
                        out.write(text)

    return show


def _check_attach(attach: bool, shape: str) -> None:
    """:raises UserError: if marks are to get heads that are not written."""
    if attach and shape != "conllu":
        raise UserError("--attach-punctuation writes trees: use it with --format conllu")


def _check_drawable(drawings: int) -> None:
    from pyropunct.figures.svg import MOST_DRAWINGS

    if drawings > MOST_DRAWINGS:
        raise UserError(
            f"--format svg draws at most {MOST_DRAWINGS} trees, not {drawings}: choose one with --sentence, "
            "or make a page of all with --format html"
        )


def _shapes(
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

    def draw(sentence: "Sentence", tree: Any) -> None:
        drawings.append(drawing(sentence, tree))

    def conllu(sentence: "Sentence", tree: Any) -> str:
        if attach:
            sentence = reattached(sentence, mark_attachments(sentence, derivations.of(sentence, tree)))
        return sentence.conllu(misc_entries(tree))

    return {
        "brackets": bracketed,
        "conllu": conllu,
        "text": lambda sentence, tree: drawn_text(drawing(sentence, tree)),
        "svg": draw,
        "html": draw,
        "json": lambda sentence, trees: {"forms": list(sentence.tree.forms), "trees": plain(trees)},
    }
