"""The command ``pyropunct rules``."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyropunct.commands import console
from pyropunct.commands.frame import BAD_INPUT, OneLineError, polite
from pyropunct.commands.loading import load_model, read_file, use_threads
from pyropunct.commands.options import json_option, seed_option, threads_option, trust_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyropunct.explain.rules import LearnedPair, LearnedRules, Outcome
    from pyropunct.punctuator import Punctuator

# Modules that need torch are imported inside the functions, so that --help answers at once.

NONE = "–"


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
    help="Posterior probability of credible intervals, for a MODEL fitted with --guide normal.",
)
@click.option(
    "--pairs", type=click.IntRange(1), default=24, show_default=True, help="Pairs in the table and the plot."
)
@click.option("--plot", help="SVG file to write a plot to, with a bar for each outcome of each pair.")
@seed_option
@trust_option
@threads_option
@json_option
@polite
def rules(
    model: str,
    file: str | None,
    pairs: int,
    plot: str | None,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compare the edits that MODEL has learned with Nunberg's rules for English.

    For each pair of neighbouring underlying marks, shows the probability of each outcome, and the expected
    number of times that it happens in FILE, a CoNLL-U file such as the training treebank.  Then shows how
    many of the confident edits are Nunberg's, and how highly his rules rank.
    """
    from pyropunct.explain.rules import NoEditsError

    use_threads(threads)
    try:
        learned = _learn(load_model(model, trust_variants), file, settings)
    except NoEditsError as error:
        raise OneLineError(f"{model}: {error}", BAD_INPUT) from error
    shown = learned.prominent(pairs)
    if plot is not None:
        from pyropunct.figures.rules import rules_svg

        Path(plot).write_bytes(rules_svg(shown))
    if as_json:
        console.print_json({"model": model, "file": file, **learned.to_json()})
    else:
        _tell(learned, shown)


def _learn(model: "Punctuator", file: str | None, settings: dict[str, Any]) -> "LearnedRules":
    from pyropunct.explain.rules import learned_rules, require_edits

    require_edits(model)
    if file is None:
        return learned_rules(model, **settings)
    treebank = read_file(file)
    with console.sentence_bar("counting", len(treebank)) as advance:
        return learned_rules(model, list(treebank), advance=advance, **settings)


def _tell(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> None:
    header = [" underlying", " Nunberg", "rank", "count", "a b", "b", "a", "b a"]
    console.print_table("Learned edits of a b", header, [_row(pair) for pair in shown])
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


def _row(pair: "LearnedPair") -> list[str]:
    by_nunberg = pair.by_nunberg
    cells = {"a b": "", "b": "", "a": "", "b a": ""}
    names = ("a b", "b") if len(pair.outcomes) == 2 else cells
    cells |= {name: _probability(outcome) for name, outcome in zip(names, pair.outcomes, strict=True)}
    return [
        _text(pair.before),
        NONE if by_nunberg is None else _text(by_nunberg),
        NONE if pair.rank is None else f"{pair.rank:g}",
        NONE if pair.count is None else f"{pair.count:,.1f}",
        *cells.values(),
    ]


def _probability(outcome: "Outcome") -> str:
    if outcome.interval is None:
        return f"{outcome.probability:.3f}"
    low, high = outcome.interval
    return f"{outcome.probability:.3f} ({low:.2f}–{high:.2f})"


def _decimals(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _text(tokens: "Sequence[str]") -> str:
    from pyropunct.treebank.marks import display

    return " ".join(map(display, tokens))
