"""The command ``pyropunct rules``."""

from math import isnan
from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.examples import EXAMPLE_COLUMNS, example_rows, say_examples
from pyropunct.cli.frame import BAD_INPUT, OneLineError, polite
from pyropunct.cli.loading import load_model, read_file, use_threads
from pyropunct.cli.options import (
    encoder_option,
    examples_option,
    json_option,
    seed_option,
    tables_option,
    threads_option,
    trust_option,
)
from pyropunct.cli.outputs import SVG, check_output, write_output
from pyropunct.treebank.marks import displayed_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.examples import Example, Rule
    from pyropunct.tasks.explain.rules import LearnedPair, LearnedRules, Outcome
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.

NONE = "–"

LEGEND = """\
underlying   two neighbouring underlying marks, a and b; ^ is the beginning of
             the sentence, abbr. the dot of an abbreviation, UNK a rare mark
count        how often the pair is expected in FILE
a b          the probability that both are kept
b            that a is absorbed;  a  that b is absorbed;  b a  that they change
             places; of two equal marks the first two columns are all"""

NUNBERG_LEGEND = """\
Nunberg      what his rules of English make of the pair
rank         of his outcome among the probabilities; 1 is the greatest"""

NOT_ENGLISH = "Nunberg's rules are of English: --nunberg shows them."

NOT_COUNTED = """\
Without FILE it is not known which pairs occur.  A pair that never does has the
probabilities of its prior: give the training treebank to tell them apart."""


def _number(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse NaN, which `click.FloatRange` accepts."""
    if isnan(value):
        raise click.BadParameter("this is not a number", context, parameter)
    return value


@click.command()
@click.argument("model")
@click.argument("file", required=False)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, max_open=True),
    callback=_number,
    default=0.75,
    show_default=True,
    help="An edit is confident if its probability is above this.",
)
@click.option(
    "--least",
    type=click.FloatRange(0),
    callback=_number,
    default=25.0,
    show_default=True,
    help="A pair is frequent if it is expected this often in FILE.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    callback=_number,
    default=0.9,
    show_default=True,
    help="Posterior probability of credible intervals, for a MODEL fitted with --guide channel or normal.",
)
@click.option(
    "--pairs", type=click.IntRange(1), default=24, show_default=True, help="Pairs in the table and the plot."
)
@click.option(
    "--nunberg/--no-nunberg",
    default=None,
    help="Compare with Nunberg's rules, or not; by default if the commonest words of the model are English.",
)
@examples_option
@click.option("--plot", help="SVG file to write a plot to, with a bar for each outcome of each pair.")
@tables_option
@seed_option
@threads_option
@trust_option
@encoder_option
@json_option
@polite
def rules(
    model: str,
    file: str | None,
    pairs: int,
    examples: int,
    plot: str | None,
    shape: str,
    threads: int | None,
    trust_variants: bool,
    encoder: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Show the edits that MODEL has learned, for English beside Nunberg's rules.

    For each pair of neighbouring underlying marks, shows the probability of each outcome, and the expected
    number of times that it happens in FILE, a CoNLL-U file such as the training treebank.  Then shows how
    many of the confident edits are Nunberg's, and how highly his rules rank.
    """
    from pyropunct.tasks.explain.rules import NoEditsError

    if examples and file is None:
        raise click.UsageError("--examples are places in FILE, which is missing")
    check_output(plot, SVG, (model, file))
    use_threads(threads)
    try:
        learned, places, treebank = _learn(
            load_model(model, trust_variants, encoder), file, examples, settings
        )
    except NoEditsError as error:
        raise OneLineError(f"{model}: {error}", BAD_INPUT) from error
    shown = learned.prominent(pairs)
    if plot is not None:
        from pyropunct.figures.plots import rules_svg

        write_output(plot, rules_svg(shown))
    if as_json or shape == "json":
        omissions = {} if treebank is None else console.plain_omissions(treebank.omitted)
        plain = _with_examples(learned, places if examples else None)
        console.print_json({"model": model, "file": file, **omissions, **plain})
    elif shape == "table":
        _tell(learned, shown)
        for pair in shown if examples else ():
            for outcome in pair.outcomes:
                before, after = displayed_string(pair.before), displayed_string(outcome.after)
                expected = outcome.count or 0.0
                title = (
                    f"{before}  becomes  {after}  {outcome.probability:.3f}, expected {expected:,.1f} times"
                )
                say_examples(title, expected, _places(pair, outcome, places))
    else:
        rows = _rows(learned, places if examples else None)
        console.print_separated(shape, [*COLUMNS, *(EXAMPLE_COLUMNS if examples else ())], rows)


def _learn(
    model: "Punctuator", file: str | None, examples: int, settings: dict[str, Any]
) -> "tuple[LearnedRules, Mapping[Rule, Sequence[Example]], Treebank | None]":
    """What was learned, and examples of it in the file, with the treebank of the file."""
    from pyropunct.tasks.explain.examples import rule_examples
    from pyropunct.tasks.explain.languages import is_english
    from pyropunct.tasks.explain.rules import learned_rules, require_edits

    require_edits(model)
    if settings["nunberg"] is None:
        settings["nunberg"] = is_english(model.vocabulary.forms)
    if file is None:
        return learned_rules(model, **settings), {}, None
    treebank = read_file(file)
    console.tell_omitted(treebank.path, treebank.omitted)
    with console.sentence_bar("counting", len(treebank)) as advance:
        learned = learned_rules(model, list(treebank), advance=advance, **settings)
    if not examples:
        return learned, {}, treebank
    with console.sentence_bar("examples", len(treebank)) as advance:
        return learned, rule_examples(model, list(treebank), examples, advance), treebank


def _places(
    pair: "LearnedPair", outcome: "Outcome", places: "Mapping[Rule, Sequence[Example]]"
) -> "Sequence[Example]":
    return places.get((pair.before, outcome.after), ())


def _with_examples(
    learned: "LearnedRules", places: "Mapping[Rule, Sequence[Example]] | None"
) -> dict[str, Any]:
    """What was learned in plain JSON types, with examples if they are wanted."""
    plain = learned.to_json()
    for pair, plain_pair in zip(learned.pairs, plain["pairs"] if places is not None else (), strict=False):
        for outcome, shown in zip(pair.outcomes, plain_pair["outcomes"], strict=True):
            shown["examples"] = [one.to_json() for one in _places(pair, outcome, places or {})]
    return plain


COLUMNS = (
    "a",
    "b",
    "becomes",
    "probability",
    "low",
    "high",
    "count",
    "count_of_pair",
    "pair_occurs",
    "by_nunberg",
    "rank_of_nunberg",
)
"""Of the output for programs: a row for each outcome of each pair."""


def _rows(
    learned: "LearnedRules", places: "Mapping[Rule, Sequence[Example]] | None"
) -> "Iterator[list[Any]]":
    """A row for each outcome, or for each of its examples."""
    for pair in learned.pairs:
        occurs = {True: "yes", False: "no", None: None}[pair.occurs]
        for outcome in pair.outcomes:
            low, high = outcome.interval or (None, None)
            own = [
                displayed_string(outcome.after),
                outcome.probability,
                low,
                high,
                outcome.count,
                pair.count,
                occurs,
            ]
            his = None if pair.by_nunberg is None else "yes" if outcome.after == pair.by_nunberg else "no"
            row = [displayed_string(pair.before[:1]), displayed_string(pair.before[1:]), *own, his, pair.rank]
            yield from example_rows(row, None if places is None else _places(pair, outcome, places))


def _tell(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> None:
    his = [" Nunberg", "rank"] if learned.nunberg else []
    header = [" underlying", "count", *his, "a b", "b", "a", "b a"]
    console.print_table("Learned edits of a b", header, [_row(pair, learned.nunberg) for pair in shown])
    console.say(LEGEND)
    console.say(NUNBERG_LEGEND if learned.nunberg else NOT_ENGLISH)
    if learned.sentences is None:
        console.say(NOT_COUNTED)
    else:
        console.say(_occurring(learned, shown))
    if learned.nunberg:
        _tell_nunberg(learned)


def _occurring(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> str:
    """Which pairs occur."""
    total = f"{learned.occurring:,} of {len(learned.pairs):,} pairs are expected in FILE"
    rare = sum(not pair.occurs for pair in shown)
    what = f"; {rare} of those above are not: (in parentheses)" if rare else ""
    return (
        f"{total}{what}.\nIf FILE is the training treebank, the others have the probabilities of their prior."
    )


def _tell_nunberg(learned: "LearnedRules") -> None:
    console.say()
    rows = [
        [name, f"{one.edits}", f"{one.listed}", _decimals(one.share)]
        for name, one in learned.precision.items()
    ]
    title = f"Edits with a probability above {learned.confidence:g}"
    console.print_table(title, [" pairs", "edits", "Nunberg's", "precision"], rows)
    rows = [
        [name, *(f"{value}" for value in one[:4]), _decimals(one.mean_reciprocal_rank)]
        for name, one in learned.recall.items()
    ]
    header = [" rules", "number", "rank 1", "rank 2", "worse", "mean reciprocal rank"]
    console.print_table("Nunberg's rules", header, rows)
    if learned.unlearned:
        console.say(f"{len(learned.unlearned)} of Nunberg's rules are about marks that the model lacks.")


def _row(pair: "LearnedPair", nunberg: bool) -> list[str]:
    by_nunberg = pair.by_nunberg
    his = [
        NONE if by_nunberg is None else displayed_string(by_nunberg),
        NONE if pair.rank is None else f"{pair.rank:g}",
    ]
    cells = {"a b": "", "b": "", "a": "", "b a": ""}
    names = ("a b", "b") if len(pair.outcomes) == 2 else cells
    around = "({})" if pair.occurs is False else "{}"
    for name, outcome in zip(names, pair.outcomes, strict=True):
        cells[name] = around.format(_probability(outcome))
    count = NONE if pair.count is None else f"{pair.count:,.1f}"
    return [displayed_string(pair.before), count, *(his if nunberg else ()), *cells.values()]


def _probability(outcome: "Outcome") -> str:
    if outcome.interval is None:
        return f"{outcome.probability:.3f}"
    low, high = outcome.interval
    return f"{outcome.probability:.3f} ({low:.2f}–{high:.2f})"


def _decimals(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
