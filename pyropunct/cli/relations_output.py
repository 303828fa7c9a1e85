"""Output of the command ``pyropunct relations``."""

from collections.abc import Sequence
from typing import Any

from pyropunct.cli.examples import Learned, Report
from pyropunct.compare.table import cells_table
from pyropunct.tasks.explain.relations import RelationPunctemes
from pyropunct.text.marks import displayed_string

EMPTY = "ε"

LEGEND = """\
constituents   how many have the relation
bits           entropy of the pair of punctemes
nonempty       share that sprouts anything, in percent
symmetric      share that sprouts the same on both sides, or facing marks
of nonempty    share of symmetric pairs among those that are not empty
left, right    what a constituent sprouts on either side; ε is nothing
share          of the constituents of the relation, in percent
All shares are expectations, given the text.  Rare relations are left out
(--least), and pairs that are not expected once (--pairs lists more of others)."""

SHARES = ("entropy", "nonempty", "symmetric", "symmetric_of_nonempty")
COLUMNS = ("relation", "constituents", *SHARES, "rank", "left", "right", "share", "pair_is_symmetric")
"""Of the table for programs, which has a row for each pair; shares are from 0 to 1."""


def report(learned: Sequence[RelationPunctemes], most: int, about: dict[str, Any]) -> Report:
    """The punctemes that relations sprout.

    :param most: the pairs of each relation that are shown.
    :param about: what JSON says first.
    """
    relations, pairs, frequent = [], [], []
    for one in learned:
        shares = [getattr(one, share) for share in SHARES]
        percent = [None if share is None else 100 * share for share in shares[1:]]
        relations.append((one.name, one.count, one.entropy, *percent))
        for rank, pair in enumerate(one.pairs[:most], 1):
            left, right = map(displayed_string, (pair.left, pair.right))
            cells = (one.name, one.count, *shares, rank, left, right, pair.share, pair.is_symmetric)
            title = f"{one.name}  {pair.text}  {pair.share:.1%} of {one.count:,}"
            pairs.append(Learned((one.relation, pair.left, pair.right), title, pair.share * one.count, cells))
            if pairs[-1].occurs:
                symmetric = "yes" if pair.is_symmetric else ""
                frequent.append((one.name, left or EMPTY, right or EMPTY, 100 * pair.share, symmetric))
    shown = {
        "relation": None,
        "constituents": None,
        "bits": 2,
        "nonempty": 1,
        "symmetric": 1,
        "of nonempty": 1,
    }
    of_pairs = {"relation": None, "left": None, "right": None, "share": 1, "symmetric": None}
    tables = [
        cells_table("What constituents of each relation sprout", shown, relations),
        cells_table("Their most frequent pairs of punctemes", of_pairs, frequent, [LEGEND]),
    ]
    plain = [one.to_json(most) for one in learned]
    parts = [pair for one in plain for pair in one["pairs"]]
    return Report(COLUMNS, pairs, {**about, "relations": plain}, parts, tables, pairs)
