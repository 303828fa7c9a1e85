"""The command ``pyropunct rules``."""

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.examples import Examples, TableFormat, examples_of
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.outputs import SVG, check_output, write_output
from pyropunct.errors import UserError
from pyropunct.limits import Count
from pyropunct.tasks.explain.settings import RuleSettings


@command
def rules(
    model: str,
    file: str | None = None,
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
    many of the confident edits are Nunberg's, and how highly his rules rank.

    :param pairs: pairs in the table and the plot.
    :param nunberg: compare with Nunberg's rules, or not; by default if the commonest words of the model are
        English.
    :param plot: SVG file to write a plot to, with a bar for each outcome of each pair.
    """
    from pyropunct.cli.rules_output import report
    from pyropunct.tasks.explain.examples import rule_examples
    from pyropunct.tasks.explain.languages import is_english
    from pyropunct.tasks.explain.rules import NoEditsError, learned_rules, require_edits

    if examples and file is None:
        raise click.UsageError("--examples are places in FILE, which is missing")
    check_output(plot, SVG, (model, file))
    punctuator = use.load(model)
    try:
        require_edits(punctuator)
    except NoEditsError as error:
        raise UserError(f"{model}: {error}") from error
    nunberg = is_english(punctuator.vocabulary.forms) if nunberg is None else nunberg
    treebank = None if file is None else read_file(file, tell=True)
    sentences = None if treebank is None else list(treebank)
    with console.sentence_bar("counting", len(sentences or ())) as advance:
        learned = learned_rules(punctuator, sentences, advance=advance, nunberg=nunberg, **vars(settings))
    found = examples_of(rule_examples, punctuator, sentences or (), examples)
    shown = learned.prominent(pairs)
    if plot is not None:
        from pyropunct.figures.plots import rules_svg

        write_output(plot, rules_svg(shown))
    omissions = {} if treebank is None else console.plain_omissions(treebank.omitted)
    about = {"model": model, "file": file, **omissions}
    report(learned, shown, about).show("json" if json else format, found)
