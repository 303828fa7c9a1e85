"""The command ``pyropunct rules``, which shows what was learned."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SVG, TreebankUse, check_output, write_output
from pyropunct.cli.progress import sentence_bar
from pyropunct.cli.report import Examples, TableFormat
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Count, Placeholder
from pyropunct.tasks import RuleSettings

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
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
        with sentence_bar("examples", len(sentences or ())) as advance:
            report.give(rule_examples(one, sentences or (), examples, advance))
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
