"""What ``pyropunct rules`` shows: edits of one model or several, or weights of a channel without edits."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from pyropunct.cli.report import Report, Row
from pyropunct.tables import NO_VALUE, Table, cells_table
from pyropunct.tasks.explain.learned_rules import LearnedWeight, SeveralOutcomes, several_outcomes
from pyropunct.tasks.explain.rule_pairs import COUNTED, GAP, LearnedPair, LearnedRules, PairOutcome
from pyropunct.text.marks import display, displayed_string

# The edits of a model

LEGEND = """\
underlying   two neighbouring underlying marks, a and b; ^ is the beginning of
             the sentence, ⟨ the beginning of a clause behind "and" or "because",
             abbr. the dot of an abbreviation, UNK a rare mark
count        how often the pair is expected in FILE, or in training
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

HARDLY_SHOWN = """\
‡            the page of FILE hardly shows it: most constituents that may have
             this comma have relations seldom seen in the middle of sentences"""

NOT_COUNTED = """\
Without FILE it is not known which pairs occur.  A pair that never does has the
probabilities of its prior: give the training treebank to tell them apart."""

COUNTED_IN_TRAINING = """\
Counts are of training, in at most 1,000 sentences of the language."""

NEAR_PRIOR = """\
If FILE is the training treebank, the channel is still near its prior there: use
the shares, or train on a larger treebank."""

OUTCOMES = ("a b", "b", "a", "b a")

_PROBABILITY = ("probability", "low", "high", "count", "share")
_PAIR = ("count_of_pair", "pair_occurs", "by_nunberg", "rank_of_nunberg")
COLUMNS = ("a", "b", "becomes", *_PROBABILITY, *_PAIR)
"""Of the table for programs, which has a row for each outcome of each pair."""


def rule_report(learned: LearnedRules, shown: Sequence[LearnedPair], about: dict[str, Any]) -> Report:
    """The learned rules of a model, with the pairs that people see, and what JSON says first."""
    plain = learned.to_json()
    outcomes = {
        pair.before: _outcomes(pair, of_pair["outcomes"])
        for pair, of_pair in zip(learned.pairs, plain["pairs"], strict=True)
    }
    tables = [_pairs(learned, shown), *(_beside_nunberg(learned) if learned.nunberg else ())]
    rows = list(chain.from_iterable(outcomes.values()))
    prominent = [row for pair in shown for row in outcomes[pair.before]]
    return Report({**about, **plain}, tables, COLUMNS, rows, prominent)


def _outcomes(pair: LearnedPair, plain: Sequence[dict[str, Any]]) -> list[Row]:
    """Each outcome of a pair, given it in JSON."""
    found = []
    for outcome, of_outcome in zip(pair.outcomes, plain, strict=True):
        a, b, after = map(displayed_string, (pair.before[:1], pair.before[1:], outcome.after))
        expected = outcome.count or 0.0
        change = f"{displayed_string(pair.before)}  becomes  {after}"
        title = f"{change}  {outcome.probability:.3f}, expected {expected:,.1f} times"
        interval = outcome.interval or (None, None)
        probability = (outcome.probability, *interval, outcome.count, pair.share(outcome))
        by_nunberg = None if pair.by_nunberg is None else outcome.after == pair.by_nunberg
        cells = (a, b, after, *probability, pair.count, pair.occurs, by_nunberg, pair.rank)
        found.append(Row(cells, of_outcome, (pair.before, outcome.after), title, expected))
    return found


def _pairs(learned: LearnedRules, shown: Sequence[LearnedPair]) -> Table[Any]:
    """The outcomes of pairs, for people."""
    without = COUNTED_IN_TRAINING if any(pair.trained for pair in shown) else NOT_COUNTED
    counted = [without] if learned.sentences is None else [_occurring(learned, shown)]
    if learned.disagreeing:
        counted.append(f"! {disagreement(learned.disagreeing)}.\n{NEAR_PRIOR}")
    erased = [ERASED] if any(not learned.erased.isdisjoint(pair.before) for pair in shown) else []
    doubtful = [HARDLY_SHOWN] if any(pair.before in learned.hardly_shown for pair in shown) else []
    notes = [LEGEND, *erased, *doubtful, NUNBERG_LEGEND if learned.nunberg else NOT_ENGLISH, *counted]
    nunberg = {"Nunberg": None, "rank": _rank} if learned.nunberg else {}
    columns = {"underlying": None, "count": 1, **nunberg, **dict.fromkeys(OUTCOMES, _probability)}
    rows = []
    for pair in shown:
        by_nunberg = NO_VALUE if pair.by_nunberg is None else displayed_string(pair.by_nunberg)
        compared = (by_nunberg, pair.rank) if learned.nunberg else ()
        outcomes = [(pair, outcome) for outcome in pair.outcomes]
        none = [None] * (len(OUTCOMES) - len(outcomes))
        note = "" if learned.erased.isdisjoint(pair.before) else " †"
        note += " ‡" if pair.before in learned.hardly_shown else ""
        rows.append((f"{displayed_string(pair.before)}{note}", pair.frequency, *compared, *outcomes, *none))
    return cells_table("Learned edits of a b", columns, rows, notes)


def _rank(rank: float | None) -> str:
    return NO_VALUE if rank is None else f"{rank:g}"


def _probability(cell: tuple[LearnedPair, PairOutcome] | None) -> str:
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
    of = f"of pairs expected {COUNTED:g} times or more"
    if outcomes == 1:
        return f"1 probability differs by over {GAP:g} from its share, {of}"
    return f"{outcomes} probabilities differ by over {GAP:g} from their shares, {of}"


def _occurring(learned: LearnedRules, shown: Sequence[LearnedPair]) -> str:
    """A note on the pairs that occur."""
    total = f"{learned.occurring:,} of {len(learned.pairs):,} pairs are expected in FILE"
    rare = sum(not pair.occurs for pair in shown)
    more = f"; {rare} of those above are not: (in parentheses)" if rare else ""
    return (
        f"{total}{more}.\nIf FILE is the training treebank, the others have the probabilities of their prior."
    )


def _beside_nunberg(learned: LearnedRules) -> list[Table[Any] | str]:
    """How well the learned edits agree with Nunberg's rules, for people."""
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


def side_by_side_report(several: Mapping[str, LearnedRules], most: int, about: dict[str, Any]) -> Report:
    """The learned rules of several models, by their names; people see the ``most`` pairs."""
    names, outcomes, rows = list(several), several_outcomes(list(several.values())), []
    for one in outcomes:
        probabilities = [place and place[1].probability for place in one.places]
        before, after = list(map(display, one.before)), list(map(display, one.after))
        last = {"mean": one.mean, "standard_deviation": one.spread, "disputed": one.disputed}
        plain = {"before": before, "after": after, "count": one.count, "probabilities": probabilities, **last}
        cells = (*before, " ".join(after), one.count, *probabilities, *last.values())
        rows.append(Row(cells, plain))
    columns = ("a", "b", "becomes", "count", *names, "mean", "standard_deviation", "disputed")
    whole = {"models": names, **about, "outcomes": [row.plain for row in rows]}
    return Report(whole, [_several(names, outcomes, most)], columns, rows)


def _several(names: Sequence[str], outcomes: Sequence[SeveralOutcomes], most: int) -> Table[Any]:
    """The outcomes of pairs in several models, for people."""
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


def _in_a_model(place: tuple[LearnedPair, PairOutcome] | None) -> str:
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


def weight_report(weights: Sequence[LearnedWeight], most: int, about: dict[str, Any]) -> Report:
    """The learned weights of a channel that has no edits; people see the ``most`` of them."""
    columns = {"weight": None, "place": " ".join, "probability": 3, "count": 1}
    rows = [Row((one.name, " ".join(one.place), *one[2:]), one._asdict()) for one in weights]
    table = cells_table("Learned weights of the channel", columns, weights[:most], [WEIGHTS_LEGEND])
    return Report({**about, "weights": [row.plain for row in rows]}, [table], tuple(columns), rows)
