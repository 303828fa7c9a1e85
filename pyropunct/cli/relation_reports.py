"""How the commands show what constituents of each relation sprout, or have beside them on the page."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyropunct.cli.learned_reports import TITLES, Learned, LearnedReport
from pyropunct.tables import cells_table
from pyropunct.tasks import TypologySettings
from pyropunct.tasks.explain.beside import PAGE
from pyropunct.tasks.explain.grew import grew_query
from pyropunct.tasks.explain.relations import RelationPunctemes, SymmetryWeight
from pyropunct.tasks.explain.shares import share_of
from pyropunct.tasks.explain.sprouted import RELATIONS
from pyropunct.text.marks import displayed_string

EMPTY = "ε"

RELATION_LEGEND = """\
constituents   how many have the relation
bits           entropy of the pair of punctemes
nonempty       share that sprouts anything, in percent
symmetric      share that sprouts the same on both sides, or facing marks
of nonempty    share of symmetric pairs among those that are not empty
left, right    what a constituent sprouts on either side; ε is nothing
share          of the constituents of the relation, in percent; interval
               (Wilson's), as if constituents were independent
All shares are expectations, given the text.  Rare relations are left out
(--least), and pairs that are not expected once (--pairs lists more of others)."""

SHARES = ("entropy", "nonempty", "symmetric", "symmetric_of_nonempty")
_PAIR = ("rank", "left", "right", "share", "pair_is_symmetric")
RELATION_COLUMNS = ("relation", "constituents", *SHARES, *_PAIR, "low", "high", "file")
"""Of the table for programs, which has a row for each pair; shares are from 0 to 1."""


def relation_report(
    learned: Sequence[RelationPunctemes],
    most: int,
    weights: Sequence[SymmetryWeight] | None,
    about: dict[str, Any],
    names: Mapping[str, Sequence[str]] | None,
    *,
    level: float = TypologySettings.level,
) -> LearnedReport:
    """The punctemes that relations sprout: the ``most`` pairs of each; ``about`` comes first in JSON.

    :param names: of each relation in the treebank; None for pairs on the page.
    :param level: of Wilson's intervals.
    :param weights: learned weights, shown after the other tables; None if they were not requested.
    """
    relations, pairs, frequent = list[tuple[Any, ...]](), list[Learned](), list[tuple[Any, ...]]()
    plain = [one.to_json(most) for one in learned]
    for one, of_one in zip(learned, plain, strict=True):
        shares = [getattr(one, share) for share in SHARES]
        percent = [None if share is None else 100 * share for share in shares[1:]]
        relations.append((one.name, one.count, one.entropy, *percent))
        for rank, (pair, of_pair) in enumerate(zip(one.pairs, of_one["pairs"], strict=False), 1):
            left, right = map(displayed_string, (pair.left, pair.right))
            interval = share_of(pair.share * one.count, one.count, level)[2:]
            of_pair |= dict(zip(("low", "high"), interval, strict=True))
            cells = one.name, one.count, *shares, rank, left, right, pair.share, pair.is_symmetric
            cells = *cells, *interval, about["file"]
            title = f"{one.name}  {pair.text}  {pair.share:.1%} of {one.count:,}"
            key = one.relation, pair.left, pair.right
            query = None if names is None else grew_query(names[one.relation], pair.left, pair.right)
            pairs.append(Learned(key, cells, of_pair, title, pair.share * one.count, query))
            if pairs[-1].occurs:
                symmetric = "yes" if pair.is_symmetric else ""
                ends = "–".join(f"{100 * end:.1f}" for end in interval)
                frequent.append((one.name, left or EMPTY, right or EMPTY, 100 * pair.share, symmetric, ends))
    of_relations = {"relation": None, "constituents": None, "bits": 2}
    of_relations |= dict.fromkeys(("nonempty", "symmetric", "of nonempty"), 1)
    of_pairs = {
        "relation": None,
        "left": None,
        "right": None,
        "share": 1,
        "symmetric": None,
        "interval": None,
    }
    report = LearnedReport(
        RELATION_COLUMNS,
        pairs,
        {**about, "relations": plain},
        [
            cells_table(f"{about['file']}: {TITLES[RELATIONS if names else PAGE]}", of_relations, relations),
            cells_table("Their most frequent pairs of punctemes", of_pairs, frequent, [RELATION_LEGEND]),
        ],
        prominent=pairs,
    )
    if weights is not None:
        columns = {"relation": None, "punctemes": None, "weight": 3}
        rows = [(one.relation or "(other)", one.symmetry, one.weight) for one in weights]
        report.tables.append(cells_table("The largest weights of symmetry", columns, rows))
        report.whole["weights"] = [one._asdict() for one in weights]
    return report
