"""The command ``pyropunct typology``, which shows what constituents sprout, and compares languages."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.explain import named
from pyropunct.cli.loading import SVG, TreebankUse, check_output, for_treebank, write_output
from pyropunct.cli.progress import sentence_bar
from pyropunct.cli.report import Examples, TableFormat
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Count, Placeholder, listed
from pyropunct.shipped import place_of
from pyropunct.tasks import TypologySettings

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.examples import Example
    from pyropunct.tasks.explain.sprouted import Cell
    from pyropunct.tasks.explain.typology import Comparison, LanguageCounts
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.


def pattern(text: str) -> str:
    """:raises ValueError: if it is no regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from error
    return text


@command
def typology(
    models: Annotated[tuple[str, ...], Placeholder("MODEL [FILE...] [MODEL FILE...]...")],
    *,
    settings: TypologySettings,
    rows: Count = 30,
    match: Annotated[str | None, Placeholder("REGEX"), pattern] = None,
    languages: Annotated[tuple[str, ...], Placeholder("NAME,..."), listed] = (),
    by: Annotated[tuple[str, ...], Placeholder("place|length|finite|FEATURE,..."), listed] = (),
    page: bool = False,
    examples: Examples = 0,
    plot: str | None = None,
    panels: bool = False,
    format: TableFormat = "table",
    use: TreebankUse,
) -> None:
    """Show what constituents sprout in FILEs, or in the languages of one MODEL of several, side by side.

    A MODEL of several languages shows its posterior: what all languages have in common (all), and each of
    them.  Else each FILE is a treebank of a language in CoNLL-U, explained by the MODEL before it: then marks
    are aligned by function (they open, close, end the sentence, are commas, dashes, colons or others), and
    all counts are expectations under q(T').  A column is named after its model, or after FILE if several
    follow the model.

    Shows how often each relation sprouts commas, brackets or quotation marks, where clauses and adverbials
    stand and whether commas set them off, final marks, dashes for a copula, and outcomes of neighbouring
    underlying marks, with intervals.  Of FILEs, relations with subtypes have rows for these, too, and further
    rows tell which pairs of punctemes each relation sprouts, and what stands beside constituents on the page.
    Below examples of such a pair stands a query for Grew: it finds such places in what ``underlying MODEL
    FILE --format conllu`` writes.

    :param rows: rows of each table and of the plot; tables for programs have all.
    :param match: only rows whose name, such as "advcl: commas on both sides", has a match of this regular
        expression.
    :param languages: only these columns, and "all".
    :param by: split the rows of relations in FILEs: by the place of a constituent before or behind its head,
        by length, by whether it has a finite verb of its own, or by a feature of its head word such as
        VerbForm.
    :param page: only what stands on the page, without any model: all arguments are FILEs.
    :param plot: SVG file for a plot with a dot and an interval for each row and language.  Rows that fewer
        than half of the languages have are left out, unless --match asks for them.
    :param panels: draw a small panel for each row instead, its languages sorted by share.
    """
    from pyropunct.cli.typology_report import shown_rows, typology_report
    from pyropunct.tasks.explain.typology import chosen
    from pyropunct.tasks.explain.typology_of_model import ALL

    check_output(plot, SVG, models)
    if panels and plot is None:
        raise click.UsageError("--panels are drawn to a file: give --plot too")
    of_model = len(models) == 1 and not page
    if of_model and by:
        raise click.UsageError("--by splits rows of FILEs, which are missing")
    if examples and (of_model or format == "markdown"):
        raise click.UsageError("--examples are places in FILEs; tables in Markdown have none")
    places = {} if of_model else _columns(models, page)
    found: dict[tuple[str, ...], Sequence[Example]] = {}
    if of_model:
        compared, columns = _of_model(models[0], use, settings)
    else:
        compared, columns, found = _of_files(places, use, settings, by, examples)
    if unknown := set(languages) - set(columns):
        known = " ".join(columns)
        raise click.UsageError(f"--languages: there is no {', '.join(sorted(unknown))} (there are {known})")
    kept = [column for column in columns if not languages or column in (*languages, ALL)]
    compared = chosen(compared, [[*columns].index(column) for column in kept], match)
    if not compared:
        raise UserError("no rows are left: change --match, or lower --least")
    shown = shown_rows(compared, rows, rare=match is not None)
    files = {column: file for column, (_, file) in places.items()}
    report = typology_report({column: columns[column] for column in kept}, compared, shown, files)
    if examples:
        report.give(found)
    if plot is not None:
        from pyropunct.figures.typology_plots import panels_svg, typology_svg

        drawn = shown if match is not None else _not_sparse(shown)
        write_output(plot, (panels_svg if panels else typology_svg)(kept, drawn))
    report.show(format)


def _of_model(
    name: str, use: TreebankUse, settings: TypologySettings
) -> "tuple[Sequence[Comparison], dict[str, Mapping[str, str]]]":
    """The rows of a model of several languages, and the functions of marks by column."""
    from pyropunct.tasks.explain.sprouted import IN_CLAUSE
    from pyropunct.tasks.explain.typology_of_model import ALL, of_model

    if use.language is not None:
        raise click.UsageError("--language is of FILE: --languages chooses among those of MODEL")
    model = use.load(name)
    with named(name):
        compared = of_model(model, **vars(settings))
    if not any(one.table == IN_CLAUSE for one in compared):
        console.tell(
            f"pyropunct: {name} has no counts of places in the clause, question marks and dashes: "
            f"typology {name} FILE... counts them in treebanks"
        )
    of_marks = dict(zip(model.vocabulary.tokens, model.vocabulary.functions, strict=True))
    return compared, dict.fromkeys((ALL, *model.languages), of_marks)


def _columns(given: Sequence[str], page: bool) -> dict[str, tuple[str, str]]:
    """The model, "" for ``page``, and the treebank of each column, by its name."""
    groups: list[list[str]] = [[""]] if page else []
    for place in given:
        is_model = place_of(place).suffix == MODEL_SUFFIX
        if page and is_model:
            raise click.UsageError(f"--page needs no model: leave out {place}")
        if is_model or not groups:
            groups.append([place])
        else:
            groups[-1].append(place)
    found: dict[str, tuple[str, str]] = {}
    for model, *files in groups:
        if not files:
            raise click.UsageError(f"each MODEL needs a FILE behind it: {model} has none")
        for file in files:
            treebank = Path(file).stem.partition("-ud-")[0]  # fi_tdt for fi_tdt-ud-train.conllu
            alone = model and len(files) == 1
            name = Path(model).name.removesuffix(MODEL_SUFFIX) if alone else treebank
            if name in found:
                raise click.UsageError(f"two languages have the same name, {name}: rename a file")
            found[name] = model, file
    return found


def _of_files(
    places: Mapping[str, tuple[str, str]],
    use: TreebankUse,
    settings: TypologySettings,
    by: Sequence[str],
    most: int,
) -> "tuple[Sequence[Comparison], dict[str, Mapping[str, str]], dict[tuple[str, ...], Sequence[Example]]]":
    """The rows of treebanks, the functions of marks by column, and at most so many examples of each cell."""
    from pyropunct.tasks.explain.typology import side_by_side

    counts: dict[str, LanguageCounts] = {}
    found: dict[tuple[str, ...], Sequence[Example]] = {}
    loaded: dict[str, Punctuator] = {}
    for column, (name, file) in places.items():
        if name and name not in loaded:
            loaded[name] = use.load(name)
        treebank = use.read(file, tell=True)
        counts[column], shown = _counted(column, name, loaded.get(name), treebank, by, most)
        found |= {(*cell, column): examples for cell, examples in shown.items()}
    compared = side_by_side(list(counts.values()), **vars(settings))
    return compared, {column: one.functions for column, one in counts.items()}, found


def _counted(
    column: str,
    name: str,
    model: "Punctuator | None",
    treebank: "Treebank",
    by: Sequence[str],
    most: int,
) -> "tuple[LanguageCounts, dict[Cell, list[Example]]]":
    """What a model expects in a treebank, or only the page has, and at most so many examples of each cell."""
    from pyropunct.tasks.explain.sprouted import examples_beside, sprouted_examples
    from pyropunct.tasks.explain.typology import language_counts, page_counts

    if model is None:
        sentences = list(treebank)
        return page_counts(sentences, by), examples_beside(sentences, most, by)
    own, treebank = for_treebank(model, treebank)
    sentences = list(treebank)
    console.tell_language(name, own, treebank.path, sentences)
    with sentence_bar(column, (3 if most else 2) * len(sentences)) as advance:
        counts = language_counts(own, sentences, advance, by)
        if not most:
            return counts, {}
        shown = sprouted_examples(own, sentences, most, advance, functions=counts.functions, by=by)
    return counts, shown | examples_beside(sentences, most, by)


def _not_sparse(rows: "Sequence[Comparison]") -> "list[Comparison]":
    """The rows that half of the languages have; says how many others there are."""
    kept = [one for one in rows if not one.is_sparse]
    if len(kept) < len(rows):
        console.tell(
            f"pyropunct: the plot leaves out {len(rows) - len(kept)} of {len(rows)} rows, which fewer than "
            "half of the languages have (--match . draws them)"
        )
    return kept
