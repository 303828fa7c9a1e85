"""The command ``pyropunct underlying``."""

from typing import Annotated, Literal

import click

from pyropunct.cli.command import command
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Drawing, Json, SentenceId
from pyropunct.cli.showing import check_attach, in_order, tell_each, usable
from pyropunct.errors import UserError
from pyropunct.limits import Count, NotNegative, Placeholder

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
    mark: Annotated[tuple[str, ...], Placeholder("MARK")] = (),
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
    :param mark: with --format report or tsv: report on this mark alone; repeatable.
    """
    if json and format in ("html", "svg", "report", "tsv"):
        raise UserError(f"--json and --format {format} are two formats: take one of them")
    shape = "json" if json else format
    check_attach(attach_punctuation, shape)
    if width is not None and shape != "svg":
        raise UserError("--width is that of a drawing: use it with --format svg")
    if samples and shape in ("report", "tsv"):
        raise UserError(f"--format {shape} makes draws of its own: leave out --samples")
    if mark and shape not in ("report", "tsv"):
        raise UserError("--mark is that of a report: use it with --format report or tsv")
    from pyropunct.cli.underlying_output import shapes, tell_doubts
    from pyropunct.figures.drawing import PunctuatedTree
    from pyropunct.figures.layout import WIDTH
    from pyropunct.figures.page.writing import page_html
    from pyropunct.figures.svg import MOST_DRAWINGS, drawn_svg

    punctuator, treebank = use.load(model), read_file(file)
    items = in_order(treebank, sentence, shape)
    sentences = usable(items)
    if shape in ("report", "tsv"):
        tell_doubts(punctuator, sentences, shape, mark)
        return
    if shape == "svg" and (number := len(sentences) * max(samples, 1)) > MOST_DRAWINGS:
        raise UserError(
            f"--format svg draws at most {MOST_DRAWINGS} trees, not {number}: choose one with --sentence, "
            "or make a page of all with --format html"
        )
    drawings: list[PunctuatedTree] = []
    tell = shapes(punctuator, attach_punctuation, drawings)
    tell_each("underlying", treebank, items, punctuator.underlying(sentences, samples), shape, tell)
    if shape == "svg":
        print(drawn_svg(drawings, width or WIDTH), end="")
    elif shape == "html":
        # As bytes, because the page declares UTF-8, whatever the encoding of standard output is.
        click.echo(page_html(treebank, drawings, model, punctuator.recipe).encode(), nl=False)
