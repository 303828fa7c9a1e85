"""The command ``pyropunct rules``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.examples import Examples, Report, TableFormat, examples_of
from pyropunct.cli.loading import SVG, check_output, read_file, write_output
from pyropunct.cli.options import Json, ModelUse
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Count, Placeholder
from pyropunct.tasks.explain.settings import RuleSettings

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.rules import LearnedRules
    from pyropunct.treebank.sentence import Sentence


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
    use: ModelUse,
    json: Json = False,
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
    :param plot: SVG file to write a plot to, with a bar for each outcome of each pair.
    """
    from pyropunct.cli.rules_output import report
    from pyropunct.tasks.explain.examples import rule_examples

    names, file = _models_and_file(models)
    form = "json" if json else format
    _check(names, file, examples, plot, form)
    check_output(plot, SVG, (*names, file))
    loaded = {name: use.load(name) for name in names}
    treebank = None if file is None else read_file(file, tell=True)
    sentences = None if treebank is None else list(treebank)
    about = {"file": file, **({} if treebank is None else console.plain_omissions(treebank.omitted))}
    [(name, one), *others] = loaded.items()
    if others:
        _side_by_side(loaded, sentences, settings, pairs, about).show(form, None)
        return
    about = {"model": name, **about}
    if one.edit_probabilities() is None:
        _weights(one, sentences, pairs, about).show(form, None)
        return
    learned = _learned(name, one, sentences, settings, nunberg)
    found = examples_of(rule_examples, one, sentences or (), examples)
    shown = learned.prominent(pairs)
    if plot is not None:
        from pyropunct.figures.plots import rules_svg

        write_output(plot, rules_svg(shown))
    report(learned, shown, about).show(form, found)


def _learned(
    name: str,
    model: "Punctuator",
    sentences: "Sequence[Sentence] | None",
    settings: RuleSettings,
    nunberg: bool | None,
) -> "LearnedRules":
    """The rules of a model.

    :param name: the model's, for errors.
    :raises UserError: if its channel has no edits.
    """
    from pyropunct.tasks.explain.languages import is_english
    from pyropunct.tasks.explain.rules import NoEditsError, learned_rules

    nunberg = is_english(model.vocabulary.forms) if nunberg is None else nunberg
    with console.sentence_bar("counting", len(sentences or ())) as advance:
        try:
            return learned_rules(model, sentences, advance=advance, nunberg=nunberg, **vars(settings))
        except NoEditsError as error:
            raise UserError(f"{name}: {error}") from error


def _side_by_side(
    models: "Mapping[str, Punctuator]",
    sentences: "Sequence[Sentence] | None",
    settings: RuleSettings,
    pairs: int,
    about: dict[str, Any],
) -> Report:
    """The rules of several models."""
    from pyropunct.cli.rules_output import report_side_by_side

    several = {name: _learned(name, model, sentences, settings, False) for name, model in models.items()}
    return report_side_by_side(several, pairs, about)


def _weights(
    model: "Punctuator", sentences: "Sequence[Sentence] | None", most: int, about: dict[str, Any]
) -> Report:
    """The weights of a channel that has no edits."""
    from pyropunct.cli.rules_output import report_weights
    from pyropunct.tasks.explain.weights import learned_weights

    with console.sentence_bar("counting", len(sentences or ())) as advance:
        return report_weights(learned_weights(model, sentences, advance), most, about)


def _models_and_file(given: tuple[str, ...]) -> tuple[list[str], str | None]:
    """The models, and the last of several arguments if it is none."""
    from pyropunct.shipped import place_of

    *models, last = given
    if models and place_of(last).suffix != MODEL_SUFFIX:
        return models, last
    return list(given), None


def _check(models: Sequence[str], file: str | None, examples: int, plot: str | None, form: str) -> None:
    """:raises UsageError: if options exclude each other, or a model is named twice."""
    if examples and file is None:
        raise click.UsageError("--examples are places in FILE, which is missing")
    if examples and form in ("markdown", "latex"):
        raise click.UsageError(f"--format {form} has tables alone: leave out --examples")
    if len(models) > 1 and (examples or plot is not None):
        raise click.UsageError("--examples and --plot are for one MODEL")
    if len(set(models)) < len(models):
        raise click.UsageError("a MODEL is named twice")
