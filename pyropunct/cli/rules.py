"""The command ``pyropunct rules``, and its tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import (
    SVG,
    Json,
    ModelUse,
    check_output,
    read_file,
    tell_language,
    write_output,
)
from pyropunct.cli.report import Examples, Learned, LearnedReport, TableFormat
from pyropunct.errors import UserError
from pyropunct.files import MODEL_SUFFIX
from pyropunct.limits import Count, Placeholder
from pyropunct.tasks.settings import RuleSettings
from pyropunct.text.marks import display, displayed_string

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.punctuator import Punctuator
    from pyropunct.tasks.explain.learned import LearnedWeight, SeveralOutcomes
    from pyropunct.tasks.explain.rules import LearnedPair, LearnedRules, PairOutcome
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
    :param plot: SVG file to write a plot to, with a bar for each outcome of each pair that FILE has more than
        once.
    """
    from pyropunct.tasks.explain.examples import rule_examples
    from pyropunct.tasks.explain.learned import learned_weights

    names, file = _models_and_file(models)
    form = "json" if json else format
    _check(names, file, examples, plot, form)
    check_output(plot, SVG, (*names, file))
    loaded = {name: use.load(name) for name in names}
    treebank = None if file is None else read_file(file, tell=True)
    sentences = None if treebank is None else list(treebank)
    about = {"file": file, **({} if treebank is None else console.plain_omissions(treebank.omitted))}
    for name, model in loaded.items():
        tell_language(name, model, file or "", sentences or ())
    [(name, one), *others] = loaded.items()
    if others:
        several = {name: _learned(name, model, sentences, settings, False) for name, model in loaded.items()}
        SideBySideReport(several, pairs, about).show(form)
        return
    about = {"model": name, **about}
    if one.edit_probabilities() is None:
        with console.sentence_bar("counting", len(sentences or ())) as advance:
            weights = learned_weights(one, sentences, advance)
        WeightReport(weights, pairs, about).show(form)
        return
    learned = _learned(name, one, sentences, settings, nunberg)
    shown = learned.prominent(pairs)
    report = RuleReport(learned, shown, about)
    report.find(rule_examples, one, sentences or (), examples)
    if plot is not None:
        from pyropunct.figures.plots import rules_svg

        write_output(plot, rules_svg(shown))
    report.show(form)


def _learned(
    name: str,
    model: "Punctuator",
    sentences: "Sequence[Sentence] | None",
    settings: RuleSettings,
    nunberg: bool | None,
) -> "LearnedRules":
    """The rules of the model of that name. Raises UserError if its channel has no edits."""
    from pyropunct.errors import MissingPartError
    from pyropunct.tasks.explain.learned import learned_rules
    from pyropunct.tasks.explain.nunberg import is_english

    nunberg = is_english(model.vocabulary.forms) if nunberg is None else nunberg
    with console.sentence_bar("counting", len(sentences or ())) as advance:
        try:
            return learned_rules(model, sentences, advance=advance, nunberg=nunberg, **vars(settings))
        except MissingPartError as error:
            raise UserError(f"{name}: {error}") from error


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


# The edits of a model

LEGEND = """\
underlying   two neighbouring underlying marks, a and b; ^ is the beginning of
             the sentence, abbr. the dot of an abbreviation, UNK a rare mark
count        how often the pair is expected in FILE
a b          the probability that both are kept
b            that a is absorbed;  a  that b is absorbed;  b a  that they change
             places; of two equal marks the first two columns are all
             behind a stroke: its expected share of the count"""

NUNBERG_LEGEND = """\
Nunberg      what his rules of English make of the pair
rank         of his outcome among the probabilities; 1 is the greatest"""

NOT_ENGLISH = "Nunberg's rules are of English: --nunberg shows them."

ERASED = """\
†            a or b is absorbed more often than it stands in FILE: the model
             invents it, believe nothing of this row"""

NOT_COUNTED = """\
Without FILE it is not known which pairs occur.  A pair that never does has the
probabilities of its prior: give the training treebank to tell them apart."""

NEAR_PRIOR = """\
If FILE is the training treebank, the channel is still near its prior there: use
the shares, or train on a larger treebank."""

OUTCOMES = ("a b", "b", "a", "b a")

_PROBABILITY = ("probability", "low", "high", "count", "share")
COLUMNS = (
    "a",
    "b",
    "becomes",
    *_PROBABILITY,
    "count_of_pair",
    "pair_occurs",
    "by_nunberg",
    "rank_of_nunberg",
)
"""Of the table for programs, which has a row for each outcome of each pair."""


class RuleReport(LearnedReport):
    """The learned rules of a model, with the pairs that people see, and what JSON says first."""

    def __init__(
        self, learned: "LearnedRules", shown: "Sequence[LearnedPair]", about: dict[str, Any]
    ) -> None:
        plain = learned.to_json()
        self.columns, self.learned, self.whole = COLUMNS, _outcomes(learned.pairs), {**about, **plain}
        self.parts = [outcome for pair in plain["pairs"] for outcome in pair["outcomes"]]
        self.tables = [_pairs(learned, shown), *(_beside_nunberg(learned) if learned.nunberg else ())]
        self.prominent = _outcomes(shown)


def _outcomes(pairs: "Iterable[LearnedPair]") -> list[Learned]:
    """Each outcome of each pair."""
    found = []
    for pair in pairs:
        for outcome in pair.outcomes:
            a, b, after = map(displayed_string, (pair.before[:1], pair.before[1:], outcome.after))
            expected = outcome.count or 0.0
            change = f"{displayed_string(pair.before)}  becomes  {after}"
            title = f"{change}  {outcome.probability:.3f}, expected {expected:,.1f} times"
            interval = outcome.interval or (None, None)
            probability = (outcome.probability, *interval, outcome.count, pair.share(outcome))
            by_nunberg = None if pair.by_nunberg is None else outcome.after == pair.by_nunberg
            cells = (a, b, after, *probability, pair.count, pair.occurs, by_nunberg, pair.rank)
            found.append(Learned((pair.before, outcome.after), title, expected, cells))
    return found


def _pairs(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> "Table[Any]":
    """The outcomes of pairs, for people."""
    from pyropunct.compare.table import NO_VALUE, cells_table

    counted = [NOT_COUNTED] if learned.sentences is None else [_occurring(learned, shown)]
    if learned.disagreeing:
        counted.append(f"! {disagreement(learned.disagreeing)}.\n{NEAR_PRIOR}")
    erased = [ERASED] if any(not learned.erased.isdisjoint(pair.before) for pair in shown) else []
    notes = [LEGEND, *erased, NUNBERG_LEGEND if learned.nunberg else NOT_ENGLISH, *counted]
    nunberg = {"Nunberg": None, "rank": _rank} if learned.nunberg else {}
    columns = {"underlying": None, "count": 1, **nunberg, **dict.fromkeys(OUTCOMES, _probability)}
    rows = []
    for pair in shown:
        by_nunberg = NO_VALUE if pair.by_nunberg is None else displayed_string(pair.by_nunberg)
        compared = (by_nunberg, pair.rank) if learned.nunberg else ()
        outcomes = [(pair, outcome) for outcome in pair.outcomes]
        none = [None] * (len(OUTCOMES) - len(outcomes))
        note = "" if learned.erased.isdisjoint(pair.before) else " †"
        rows.append((f"{displayed_string(pair.before)}{note}", pair.count, *compared, *outcomes, *none))
    return cells_table("Learned edits of a b", columns, rows, notes)


def _rank(rank: float | None) -> str:
    from pyropunct.compare.table import NO_VALUE

    return NO_VALUE if rank is None else f"{rank:g}"


def _probability(cell: "tuple[LearnedPair, PairOutcome] | None") -> str:
    """An outcome of a pair, in parentheses if the pair does not occur; its share if it does."""
    if cell is None:
        return ""
    pair, outcome = cell
    interval = "" if outcome.interval is None else " ({:.2f}–{:.2f})".format(*outcome.interval)
    probability = f"{outcome.probability:.3f}{interval}"
    if pair.occurs is None:
        return probability
    if not pair.occurs:
        return f"({probability})"
    return f"{probability} / {pair.share(outcome):.2f}{' !' if pair.disagrees(outcome) else ''}"


def disagreement(outcomes: int) -> str:
    """A note on the number of probabilities that disagree with their shares."""
    from pyropunct.tasks.explain.rules import COUNTED, GAP

    of = f"of pairs expected {COUNTED:g} times or more"
    if outcomes == 1:
        return f"1 probability differs by over {GAP:g} from its share, {of}"
    return f"{outcomes} probabilities differ by over {GAP:g} from their shares, {of}"


def _occurring(learned: "LearnedRules", shown: "Sequence[LearnedPair]") -> str:
    """A note on the pairs that occur."""
    total = f"{learned.occurring:,} of {len(learned.pairs):,} pairs are expected in FILE"
    rare = sum(not pair.occurs for pair in shown)
    more = f"; {rare} of those above are not: (in parentheses)" if rare else ""
    return (
        f"{total}{more}.\nIf FILE is the training treebank, the others have the probabilities of their prior."
    )


def _beside_nunberg(learned: "LearnedRules") -> "list[Table[Any] | str]":
    """How well the learned edits agree with Nunberg's rules, for people."""
    from pyropunct.compare.table import cells_table

    edits = [(name, *value, value.share) for name, value in learned.precision.items()]
    ranks = [(name, *value) for name, value in learned.recall.items()]
    of_edits = {"pairs": None, "edits": None, "Nunberg's": None, "precision": 3}
    of_ranks = dict.fromkeys(("rules", "number", "rank 1", "rank 2", "worse")) | {"mean reciprocal rank": 3}
    unlearned = f"{len(learned.unlearned)} of Nunberg's rules are about marks that the model lacks."
    return [
        "",
        cells_table(f"Edits with a probability above {learned.confidence:g}", of_edits, edits),
        cells_table("Nunberg's rules", of_ranks, ranks),
        *([unlearned] if learned.unlearned else ()),
    ]


# Several models

LEAST_SHOWN = 0.1
"""People see the outcomes with this probability or more in one of several models."""

SEVERAL_LEGEND = f"""\
count     how often the pair is expected in FILE, on average over the models
mean, ±   of the probabilities that a and b become this, and their standard
          deviation; in parentheses where the model does not expect the pair,
          ! where the probability differs from the expected share
?         the models disagree on the most probable outcome: believe none
Outcomes with less than {LEAST_SHOWN:g} in all models are left out."""


class SideBySideReport(LearnedReport):
    """The learned rules of several models, by their names; people see the ``most`` pairs."""

    def __init__(self, several: "Mapping[str, LearnedRules]", most: int, about: dict[str, Any]) -> None:
        from pyropunct.tasks.explain.learned import side_by_side

        names, outcomes = list(several), side_by_side(list(several.values()))
        self.columns = ("a", "b", "becomes", "count", *names, "mean", "standard_deviation", "disputed")
        self.learned, self.parts = [], []
        for one in outcomes:
            probabilities = [place and place[1].probability for place in one.places]
            before, after = list(map(display, one.before)), list(map(display, one.after))
            cells = (*before, " ".join(after), one.count, *probabilities, one.mean, one.spread, one.disputed)
            self.learned.append(Learned((one.before, one.after), "", 0.0, cells))
            part = {"before": before, "after": after, "count": one.count, "probabilities": probabilities}
            self.parts.append({**part, "mean": one.mean, "standard_deviation": one.spread})
            self.parts[-1]["disputed"] = one.disputed
        self.whole = {"models": names, **about, "outcomes": self.parts}
        self.tables = [_several(names, outcomes, most)]


def _several(names: Sequence[str], outcomes: "Sequence[SeveralOutcomes]", most: int) -> "Table[Any]":
    """The outcomes of pairs in several models, for people."""
    from pyropunct.compare.table import cells_table

    shown = set(list(dict.fromkeys(one.before for one in outcomes))[:most])
    rows = [
        (
            *map(displayed_string, (one.before, one.after)),
            one.count,
            *one.places,
            one.mean,
            one.spread,
            "?" if one.disputed else "",
        )
        for one in outcomes
        if one.before in shown and max(one.probabilities) >= LEAST_SHOWN
    ]
    models = dict.fromkeys(names, _in_a_model)
    columns = {"underlying": None, "becomes": None, "count": 1, **models, "mean": 3, "±": 3, " ": None}
    return cells_table("Learned edits of a b in several models", columns, rows, [SEVERAL_LEGEND])


def _in_a_model(place: "tuple[LearnedPair, PairOutcome] | None") -> str:
    from pyropunct.compare.table import NO_VALUE

    if place is None:
        return NO_VALUE
    pair, outcome = place
    shown = ("({:.3f})" if pair.occurs is False else "{:.3f}").format(outcome.probability)
    return f"{shown} !" if pair.disagrees(outcome) else shown


# Channels that are no windows

WEIGHTS_LEGEND = """\
weight   the tensor of weights that the channel's moves name
place    a place in it: tokens, or numbers from 0
count    how often the weight is used in FILE, in expectation"""


class WeightReport(LearnedReport):
    """The learned weights of a channel that has no edits; people see the ``most`` of them."""

    def __init__(self, weights: "Sequence[LearnedWeight]", most: int, about: dict[str, Any]) -> None:
        from pyropunct.compare.table import cells_table

        columns = {"weight": None, "place": " ".join, "probability": 3, "count": 1}
        self.columns = tuple(columns)
        self.learned = [
            Learned(one[:2], "", 0.0, (one.name, " ".join(one.place), *one[2:])) for one in weights
        ]
        self.parts = [one._asdict() for one in weights]
        self.whole = {**about, "weights": self.parts}
        self.tables = [
            cells_table("Learned weights of the channel", columns, weights[:most], [WEIGHTS_LEGEND])
        ]
