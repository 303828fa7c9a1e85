"""The commands ``pyropunct rules`` and ``relations``, which show what was learned."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SVG, TreebankUse, check_output, for_treebank, write_output
from pyropunct.cli.progress import sentence_bar
from pyropunct.cli.report import Examples, TableFormat
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Count, Placeholder, Range
from pyropunct.tasks import RuleSettings

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.examples import Example
    from pyropunct.tasks.explain.rule_pairs import LearnedRules
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


@command
def rules(
    models: Annotated[tuple[str, ...], Placeholder("MODEL... [FILE]")],
    *,
    settings: RuleSettings,
    pairs: Count = 24,
    nunberg: bool | None = None,
    examples: Examples = 0,
    plot: str | None = None,
    format: TableFormat = "table",
    use: TreebankUse,
) -> None:
    """Show the edits that MODEL has learned, for English beside Nunberg's rules.

    For each pair of neighbouring underlying marks, shows the probability of each outcome, and the expected
    number of times that it happens in FILE, a CoNLL-U file such as the training treebank.  Then shows how
    many of the confident edits are Nunberg's, and how highly his rules rank.  Several models, of other seeds,
    periods or languages, are shown side by side, with mean and spread.  A MODEL whose channel has other
    weights than edits shows these.

    :param pairs: pairs in the table and the plot.
    :param nunberg: compare with Nunberg's rules, or not; by default if the commonest words of the model are
        English.
    :param plot: SVG file to write a plot to, with a bar for each outcome of each pair that FILE has more than
        once.
    """
    from pyropunct.cli.rule_reports import rule_report, side_by_side_report, weight_report
    from pyropunct.tasks.explain.examples import rule_examples
    from pyropunct.tasks.explain.learned_rules import learned_weights

    names, file = _models_and_file(models)
    _check(names, file, examples, plot, format)
    check_output(plot, SVG, (*names, file))
    if file is None or len(names) > 1:
        loaded = {name: use.load(name) for name in names}
        treebank = None if file is None else use.read(file, tell=True)
    else:
        one, treebank = use.load_for(names[0], file, tell=True)
        loaded = {names[0]: one}
    sentences = None if treebank is None else list(treebank)
    about = {"file": file, **({} if treebank is None else console.plain_omissions(treebank.omitted))}
    for name, model in loaded.items():
        console.tell_language(name, model, file or "", sentences or ())
    [(name, one), *others] = loaded.items()
    if others:
        several = {name: _learned(name, model, sentences, settings, False) for name, model in loaded.items()}
        side_by_side_report(several, pairs, about).show(format)
        return
    about = {"model": name, **about}
    if one.edit_probabilities() is None:
        with sentence_bar("counting", len(sentences or ())) as advance:
            weights = learned_weights(one, sentences, advance)
        weight_report(weights, pairs, about).show(format)
        return
    learned = _learned(name, one, sentences, settings, nunberg)
    shown = learned.prominent(pairs)
    report = rule_report(learned, shown, about)
    if examples:
        report.give(_examples(rule_examples, one, sentences or (), examples))
    if plot is not None:
        from pyropunct.figures.rules_plot import rules_svg

        write_output(plot, rules_svg(shown))
    report.show(format)


def _learned(
    name: str,
    model: "Punctuator",
    sentences: "Sequence[Sentence] | None",
    settings: RuleSettings,
    nunberg: bool | None,
) -> "LearnedRules":
    """The rules of the model of that name."""
    from pyropunct.tasks.explain.learned_rules import learned_rules
    from pyropunct.tasks.explain.nunberg import is_english
    from pyropunct.treebank.tree import MAIN_TREEBANK

    if nunberg is None:
        of_english = not model.languages and model.vocabulary.main in (MAIN_TREEBANK, "en")
        nunberg = of_english and is_english(model.vocabulary.forms)
    with named(name), sentence_bar("counting", len(sentences or ())) as advance:
        return learned_rules(model, sentences, advance=advance, nunberg=nunberg, **vars(settings))


@contextmanager
def named(model: str) -> Iterator[None]:
    """Name a model whose channel has no edits, in a UserError."""
    from pyropunct.errors import MissingPartError

    try:
        yield
    except MissingPartError as error:
        raise UserError(f"{model}: {error}") from error


def _models_and_file(given: tuple[str, ...]) -> tuple[list[str], str | None]:
    """The models, and the last of several arguments if it is none."""
    from pyropunct.shipped import place_of

    *models, last = given
    if models and place_of(last).suffix != MODEL_SUFFIX:
        return models, last
    return list(given), None


def _check(models: Sequence[str], file: str | None, examples: int, plot: str | None, format: str) -> None:
    """:raises UsageError: if options exclude each other, or a model is named twice."""
    if examples and file is None:
        raise click.UsageError("--examples are places in FILE, which is missing")
    if examples and format == "markdown":
        raise click.UsageError(f"--format {format} has tables alone: leave out --examples")
    if len(models) > 1 and (examples or plot is not None):
        raise click.UsageError("--examples and --plot are for one MODEL")
    if len(set(models)) < len(models):
        raise click.UsageError("a MODEL is named twice")


@command
def relations(
    models: Annotated[tuple[str, ...], Placeholder("MODEL FILE...")],
    *,
    least: Count = 10,
    level: Annotated[float, Range(above=0, below=1)] = 0.95,
    pairs: Count = 5,
    page: bool = False,
    examples: Examples = 0,
    plot: str | None = None,
    format: TableFormat = "table",
    use: TreebankUse,
) -> None:
    """List the punctemes that each relation sprouts in each FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under q(T').  Below examples stands a query for Grew: it finds
    such places in what ``underlying MODEL FILE --format conllu`` writes.

    :param least: leave out relations with fewer constituents.
    :param level: the probability that an interval covers its share.
    :param pairs: puncteme pairs to list for each relation.
    :param page: list instead the marks that stand on both sides of constituents on the page, without any
        model: all arguments are FILEs.
    :param plot: SVG file for a plot with a bar for each relation.
    """
    from pyropunct.cli.learned_reports import joined, relation_report
    from pyropunct.tasks.explain.examples import sprouting_examples
    from pyropunct.tasks.explain.relations import relation_names, relation_punctemes
    from pyropunct.tasks.explain.sprouted import pairs_beside

    model, files = (None, models) if page else (models[0], models[1:])
    if not files:
        raise click.UsageError("MODEL needs a FILE behind it")
    if page and examples:
        raise click.UsageError("--page has no --examples here; typology --page has some of the page")
    if plot is not None and len(files) > 1:
        raise click.UsageError("--plot is for one FILE")
    check_output(plot, SVG, models)
    loaded, reports = None if model is None else use.load(model), []
    for file in files:
        treebank, punctuator, names = use.read(file, tell=True), None, None
        if loaded is not None:
            punctuator, treebank = for_treebank(loaded, treebank)
        sentences = list(treebank)
        if punctuator is None:
            learned = pairs_beside(sentences, least=least)
        else:
            console.tell_language(models[0], punctuator, file, sentences)
            names = relation_names(punctuator, sentences)
            with sentence_bar("relations", len(sentences)) as advance:
                learned = relation_punctemes(punctuator, sentences, least=least, advance=advance)
        if plot is not None:
            from pyropunct.figures.relations_plot import relations_svg

            write_output(plot, relations_svg(learned))
        about = {"model": model, "file": file, "sentences": len(sentences)}
        about |= console.plain_omissions(treebank.omitted)
        reports.append(relation_report(learned, pairs, about, names, level))
        if punctuator is not None and examples:
            reports[-1].give(_examples(sprouting_examples, punctuator, sentences, examples))
    joined(reports).show(format)


def _examples(
    find: "Callable[..., Mapping[Any, Sequence[Example]]]",
    model: "Punctuator",
    sentences: "Sequence[Sentence]",
    most: int,
) -> "Mapping[Any, Sequence[Example]]":
    """At most so many examples for each key; see `pyropunct.tasks.explain.derivations`."""
    with sentence_bar("examples", len(sentences)) as advance:
        return find(model, sentences, most, advance)
