"""The command ``pyropunct rules``."""

from typing import TYPE_CHECKING, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.examples import Examples, TableFormat, example_columns, say_examples, with_examples
from pyropunct.cli.loading import read_file
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.outputs import SVG, check_output, write_output
from pyropunct.errors import UserError
from pyropunct.limits import Count
from pyropunct.tasks.explain.settings import RuleSettings
from pyropunct.treebank.marks import displayed_string

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyropunct.compare.table import Column, Table
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.examples import Example, Rule
    from pyropunct.tasks.explain.rules import LearnedPair, LearnedRules, Outcome
    from pyropunct.treebank.reading import Treebank

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
    from pyropunct.tasks.explain.rules import NoEditsError

    if examples and file is None:
        raise click.UsageError("--examples are places in FILE, which is missing")
    check_output(plot, SVG, (model, file))
    punctuator = use.load(model)
    try:
        learned, places, treebank = _learn(punctuator, file, examples, nunberg, settings)
    except NoEditsError as error:
        raise UserError(f"{model}: {error}") from error
    shown = learned.prominent(pairs)
    if plot is not None:
        from pyropunct.figures.plots import rules_svg

        write_output(plot, rules_svg(shown))
    if json or format == "json":
        omissions = {} if treebank is None else console.plain_omissions(treebank.omitted)
        plain = _with_examples(learned, places if examples else None)
        console.print_json({"model": model, "file": file, **omissions, **plain})
    elif format == "table":
        _tell(learned, shown)
        for pair in shown if examples else ():
            for outcome in pair.outcomes:
                expected = outcome.count or 0.0
                change = f"{displayed_string(pair.before)}  becomes  {displayed_string(outcome.after)}"
                title = f"{change}  {outcome.probability:.3f}, expected {expected:,.1f} times"
                say_examples(title, expected, _places(pair, outcome, places))
    else:
        print(_all(learned, places if examples else None).written(format), end="")


def _learn(
    model: "Punctuator", file: str | None, examples: int, nunberg: bool | None, settings: RuleSettings
) -> "tuple[LearnedRules, Mapping[Rule, Sequence[Example]], Treebank | None]":
    """The learned rules, and examples of them in the file, with the treebank of the file."""
    from pyropunct.tasks.explain.examples import rule_examples
    from pyropunct.tasks.explain.languages import is_english
    from pyropunct.tasks.explain.rules import learned_rules, require_edits

    require_edits(model)
    chosen = {
        **vars(settings),
        "nunberg": is_english(model.vocabulary.forms) if nunberg is None else nunberg,
    }
    if file is None:
        return learned_rules(model, **chosen), {}, None
    treebank = read_file(file)
    console.tell_omitted(treebank.path, treebank.omitted)
    with console.sentence_bar("counting", len(treebank)) as advance:
        learned = learned_rules(model, list(treebank), advance=advance, **chosen)
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
    """The learned rules in plain JSON types, with examples if they are wanted."""
    plain = learned.to_json()
    for pair, plain_pair in zip(learned.pairs, plain["pairs"] if places is not None else (), strict=False):
        for outcome, shown in zip(pair.outcomes, plain_pair["outcomes"], strict=True):
            shown["examples"] = [example.to_json() for example in _places(pair, outcome, places or {})]
    return plain


def _all(learned: "LearnedRules", places: "Mapping[Rule, Sequence[Example]] | None") -> "Table[Any]":
    """A row for each outcome of each pair, or for each of its examples."""
    from pyropunct.compare.table import Column, Table

    def by_nunberg(pair: "LearnedPair", outcome: "Outcome", *_: Any) -> bool | None:
        return None if pair.by_nunberg is None else outcome.after == pair.by_nunberg

    values: dict[str, Any] = {
        "a": lambda pair, *_: displayed_string(pair.before[:1]),
        "b": lambda pair, *_: displayed_string(pair.before[1:]),
        "becomes": lambda pair, outcome, *_: displayed_string(outcome.after),
        "probability": lambda pair, outcome, *_: outcome.probability,
        "low": lambda pair, outcome, *_: outcome.interval and outcome.interval[0],
        "high": lambda pair, outcome, *_: outcome.interval and outcome.interval[1],
        "count": lambda pair, outcome, *_: outcome.count,
        "count_of_pair": lambda pair, *_: pair.count,
        "pair_occurs": lambda pair, *_: pair.occurs,
        "by_nunberg": by_nunberg,
        "rank_of_nunberg": lambda pair, *_: pair.rank,
    }

    def column(key: str) -> "Column[Any]":
        return Column(key, key, lambda row: values[key](*row))

    columns = list(map(column, values))
    rows = [
        (pair, outcome, example)
        for pair in learned.pairs
        for outcome in pair.outcomes
        for example in with_examples(None if places is None else _places(pair, outcome, places))
    ]
    return Table("", [*columns, *(() if places is None else example_columns())], rows)


def _tell(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> None:
    from pyropunct.compare.table import Table

    counted = NOT_COUNTED if learned.sentences is None else _occurring(learned, shown)
    notes = [LEGEND, NUNBERG_LEGEND if learned.nunberg else NOT_ENGLISH, counted]
    console.show_table(Table("Learned edits of a b", _columns(learned.nunberg), shown, notes))
    if learned.nunberg:
        _tell_nunberg(learned)


def _occurring(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> str:
    """A note on the pairs that occur."""
    total = f"{learned.occurring:,} of {len(learned.pairs):,} pairs are expected in FILE"
    rare = sum(not pair.occurs for pair in shown)
    more = f"; {rare} of those above are not: (in parentheses)" if rare else ""
    return (
        f"{total}{more}.\nIf FILE is the training treebank, the others have the probabilities of their prior."
    )


def _columns(nunberg: bool) -> "list[Column[LearnedPair]]":
    from pyropunct.compare.table import Column

    columns: list[Column[LearnedPair]] = [
        Column("pair", "underlying", lambda pair: displayed_string(pair.before)),
        Column("count", "count", lambda pair: pair.count, 1),
    ]
    if nunberg:
        columns += [
            Column(
                "nunberg",
                "Nunberg",
                lambda pair: NONE if pair.by_nunberg is None else displayed_string(pair.by_nunberg),
            ),
            Column(
                "rank",
                "rank",
                lambda pair: None,
                shown=lambda pair: NONE if pair.rank is None else f"{pair.rank:g}",
            ),
        ]

    def column(place: int, name: str) -> "Column[LearnedPair]":
        def cell(pair: "LearnedPair") -> str:
            if place >= len(pair.outcomes):
                return ""
            return ("({})" if pair.occurs is False else "{}").format(_probability(pair.outcomes[place]))

        return Column(name, name, lambda pair: None, shown=cell)

    return [*columns, *(column(place, name) for place, name in enumerate(("a b", "b", "a", "b a")))]


def _tell_nunberg(learned: "LearnedRules") -> None:
    from pyropunct.compare.table import Column, Table

    found: list[Column[Any]] = [
        Column("pairs", "pairs", lambda row: row[0]),
        Column("edits", "edits", lambda row: row[1].edits),
        Column("listed", "Nunberg's", lambda row: row[1].listed),
        Column("share", "precision", lambda row: row[1].share, 3),
    ]
    ranked: list[Column[Any]] = [
        Column("rules", "rules", lambda row: row[0]),
        Column("number", "number", lambda row: row[1].rules),
        Column("first", "rank 1", lambda row: row[1].first),
        Column("second", "rank 2", lambda row: row[1].second),
        Column("worse", "worse", lambda row: row[1].worse),
        Column("mrr", "mean reciprocal rank", lambda row: row[1].mean_reciprocal_rank, 3),
    ]
    title = f"Edits with a probability above {learned.confidence:g}"
    console.say()
    console.show_table(Table(title, found, list(learned.precision.items())))
    console.show_table(Table("Nunberg's rules", ranked, list(learned.recall.items())))
    if learned.unlearned:
        console.say(f"{len(learned.unlearned)} of Nunberg's rules are about marks that the model lacks.")


def _probability(outcome: "Outcome") -> str:
    if outcome.interval is None:
        return f"{outcome.probability:.3f}"
    low, high = outcome.interval
    return f"{outcome.probability:.3f} ({low:.2f}–{high:.2f})"
