"""The command ``pyropunct relations``, and its tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SVG, Json, ModelUse, check_output, read_file, tell_language, write_output
from pyropunct.cli.report import Examples, Learned, LearnedReport, TableFormat
from pyropunct.limits import Count, NotNegative
from pyropunct.text.marks import displayed_string

if TYPE_CHECKING:
    from pyropunct.tasks.explain.relations import RelationPunctemes, SymmetryWeight

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


@command
def relations(
    model: str,
    file: str,
    *,
    least: Count = 10,
    pairs: Count = 5,
    examples: Examples = 0,
    weights: NotNegative = 0,
    plot: str | None = None,
    format: TableFormat = "table",
    use: ModelUse,
    json: Json = False,
) -> None:
    """List the punctemes that each relation sprouts in FILE, a CoNLL-U file, according to MODEL.

    Relations are sorted by the share of symmetric punctemes: the same on both sides, or matching brackets or
    quotation marks.  Shares are expectations under q(T').

    :param least: leave out relations with fewer constituents.
    :param pairs: puncteme pairs to list for each relation.
    :param weights: list this many of the largest weights of the attach model for classes of symmetry, such as
        "the same on both sides", and relations; not in tsv tables.
    :param plot: SVG file for a plot with a bar for each relation.
    """
    from pyropunct.tasks.explain.examples import sprouting_examples
    from pyropunct.tasks.explain.relations import relation_punctemes, symmetry_weights

    check_output(plot, SVG, (model, file))
    punctuator, treebank = use.load(model), read_file(file, tell=True)
    sentences = list(treebank)
    tell_language(model, punctuator, file, sentences)
    with console.sentence_bar("relations", len(sentences)) as advance:
        learned = relation_punctemes(punctuator, sentences, least=least, advance=advance)
    if plot is not None:
        from pyropunct.figures.plots import relations_svg

        write_output(plot, relations_svg(learned))
    about = {"model": model, "file": file, "sentences": len(sentences)}
    about |= console.plain_omissions(treebank.omitted)
    report = RelationReport(learned, pairs, about)
    if weights:
        report.add_weights(symmetry_weights(punctuator)[:weights])
    report.find(sprouting_examples, punctuator, sentences, examples)
    report.show("json" if json else format)


class RelationReport(LearnedReport):
    """The punctemes that relations sprout: the ``most`` pairs of each; ``about`` comes first in JSON."""

    def __init__(self, learned: "Sequence[RelationPunctemes]", most: int, about: dict[str, Any]) -> None:
        from pyropunct.compare.table import cells_table

        relations, pairs, frequent = [], [], []
        for one in learned:
            shares = [getattr(one, share) for share in SHARES]
            percent = [None if share is None else 100 * share for share in shares[1:]]
            relations.append((one.name, one.count, one.entropy, *percent))
            for rank, pair in enumerate(one.pairs[:most], 1):
                left, right = map(displayed_string, (pair.left, pair.right))
                cells = (one.name, one.count, *shares, rank, left, right, pair.share, pair.is_symmetric)
                title = f"{one.name}  {pair.text}  {pair.share:.1%} of {one.count:,}"
                pairs.append(
                    Learned((one.relation, pair.left, pair.right), title, pair.share * one.count, cells)
                )
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
        self.tables = [
            cells_table("What constituents of each relation sprout", shown, relations),
            cells_table("Their most frequent pairs of punctemes", of_pairs, frequent, [LEGEND]),
        ]
        self.columns, self.learned, self.prominent = COLUMNS, pairs, pairs
        plain = [one.to_json(most) for one in learned]
        self.whole = {**about, "relations": plain}
        self.parts = [pair for one in plain for pair in one["pairs"]]

    def add_weights(self, weights: "Sequence[SymmetryWeight]") -> None:
        """Show learned weights after the other tables."""
        from pyropunct.compare.table import cells_table

        columns = {"relation": None, "punctemes": None, "weight": 3}
        rows = [(one.relation or "(other)", one.symmetry, one.weight) for one in weights]
        self.tables = [*self.tables, cells_table("The largest weights of symmetry", columns, rows)]
        self.whole["weights"] = [one._asdict() for one in weights]
