"""The command ``pyropunct relations``."""

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.examples import Examples, TableFormat, examples_of
from pyropunct.cli.loading import SVG, check_output, read_file, write_output
from pyropunct.cli.options import Json, ModelUse
from pyropunct.limits import Count


@command
def relations(
    model: str,
    file: str,
    *,
    least: Count = 10,
    pairs: Count = 5,
    examples: Examples = 0,
    plot: str | None = None,
    format: TableFormat = "table",
    use: ModelUse,
    json: Json = False,
) -> None:
    """List the punctemes that each relation sprouts in FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under p(T' | T, x).

    :param least: leave out relations with fewer constituents.
    :param pairs: puncteme pairs to list for each relation.
    :param plot: SVG file to write a plot to, with a bar for each relation.
    """
    from pyropunct.cli.relations_output import report
    from pyropunct.tasks.explain.examples import sprouting_examples
    from pyropunct.tasks.explain.relations import relation_punctemes

    check_output(plot, SVG, (model, file))
    punctuator, treebank = use.load(model), read_file(file, tell=True)
    sentences = list(treebank)
    with console.sentence_bar("relations", len(sentences)) as advance:
        learned = relation_punctemes(punctuator, sentences, least=least, advance=advance)
    found = examples_of(sprouting_examples, punctuator, sentences, examples)
    if plot is not None:
        from pyropunct.figures.plots import relations_svg

        write_output(plot, relations_svg(learned))
    about = {"model": model, "file": file, "sentences": len(sentences)}
    about |= console.plain_omissions(treebank.omitted)
    report(learned, pairs, about).show("json" if json else format, found)
