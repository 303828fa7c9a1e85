"""Output of the command ``pyropunct rules``."""

from collections.abc import Iterable, Sequence
from typing import Any

from pyropunct.cli.examples import Learned, Report
from pyropunct.compare.table import NO_VALUE, Table, cells_table
from pyropunct.tasks.explain.rules import LearnedPair, LearnedRules, Outcome
from pyropunct.treebank.marks import displayed_string

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

OUTCOMES = ("a b", "b", "a", "b a")

_PROBABILITY = ("probability", "low", "high", "count")
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


def report(learned: LearnedRules, shown: Sequence[LearnedPair], about: dict[str, Any]) -> Report:
    """The learned rules.

    :param shown: the pairs that people see.
    :param about: what JSON says first.
    """
    plain = learned.to_json()
    outcomes = [outcome for pair in plain["pairs"] for outcome in pair["outcomes"]]
    tables = [_pairs(learned, shown), *(_beside_nunberg(learned) if learned.nunberg else ())]
    return Report(COLUMNS, _outcomes(learned.pairs), {**about, **plain}, outcomes, tables, _outcomes(shown))


def _outcomes(pairs: Iterable[LearnedPair]) -> list[Learned]:
    """Each outcome of each pair."""
    found = []
    for pair in pairs:
        for outcome in pair.outcomes:
            a, b, after = map(displayed_string, (pair.before[:1], pair.before[1:], outcome.after))
            expected = outcome.count or 0.0
            change = f"{displayed_string(pair.before)}  becomes  {after}"
            title = f"{change}  {outcome.probability:.3f}, expected {expected:,.1f} times"
            probability = (outcome.probability, *(outcome.interval or (None, None)), outcome.count)
            by_nunberg = None if pair.by_nunberg is None else outcome.after == pair.by_nunberg
            cells = (a, b, after, *probability, pair.count, pair.occurs, by_nunberg, pair.rank)
            found.append(Learned((pair.before, outcome.after), title, expected, cells))
    return found


def _pairs(learned: LearnedRules, shown: Sequence[LearnedPair]) -> Table[Any]:
    """The outcomes of pairs, for people."""
    counted = NOT_COUNTED if learned.sentences is None else _occurring(learned, shown)
    notes = [LEGEND, NUNBERG_LEGEND if learned.nunberg else NOT_ENGLISH, counted]
    nunberg = {"Nunberg": None, "rank": _rank} if learned.nunberg else {}
    columns = {"underlying": None, "count": 1, **nunberg, **dict.fromkeys(OUTCOMES, _probability)}
    rows = []
    for pair in shown:
        by_nunberg = NO_VALUE if pair.by_nunberg is None else displayed_string(pair.by_nunberg)
        compared = (by_nunberg, pair.rank) if learned.nunberg else ()
        outcomes = [(outcome, pair.occurs) for outcome in pair.outcomes]
        none = [None] * (len(OUTCOMES) - len(outcomes))
        rows.append((displayed_string(pair.before), pair.count, *compared, *outcomes, *none))
    return cells_table("Learned edits of a b", columns, rows, notes)


def _rank(rank: float | None) -> str:
    return NO_VALUE if rank is None else f"{rank:g}"


def _probability(cell: tuple[Outcome, bool | None] | None) -> str:
    """An outcome of a pair, in parentheses if the pair does not occur."""
    if cell is None:
        return ""
    outcome, occurs = cell
    interval = "" if outcome.interval is None else " ({:.2f}–{:.2f})".format(*outcome.interval)
    return ("({}{})" if occurs is False else "{}{}").format(f"{outcome.probability:.3f}", interval)


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
