"""Whether the best underlying trees have the marks that theory expects behind the page.

    python benchmarks/underlying.py MODEL FILE.conllu [--relation advcl]

Prints, of constituents with a comma in T' towards their head, how many have one on the other side too. Of
those "before" their head it is the left one, of those "behind" it the right one. At the edge of a sentence
no page shows it, and T' decides; in the middle the page shows it, unless a clause begins there (an "opener",
such as "and", stands before it). "As in the middle" is what the shares of relations in the middle say about
the edge: an honest T' is near it. Then: clauses of a relation, behind their head and a delimiting mark, that
``rephrase --move RELATION:first`` moves, and those that get such a mark behind them; constituents that sprout
a bracket or quotation mark, and those with its partner; constituents that sprout a final mark, and those that
are sentences; marks that T' has more often than the page.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pyropunct import Punctuator
from pyropunct.cli.loading import TreebankUse
from pyropunct.models.symmetry import PAIRED, unmatched
from pyropunct.tasks import FIRST
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.marks import COMMAS, SPECIAL, display
from pyropunct.train.both_sides import constituents
from pyropunct.treebank.functions import DELIMITING, FINAL
from pyropunct.treebank.sentence import part_of

COMMA_COLUMNS = tuple(
    f"{side}: {place}"
    for side in ("before", "behind")
    for place in ("edge", "middle", "opener", "as in the middle")
    if (side, place) != ("behind", "opener")
)
OTHER_COLUMNS = ("moved", "brackets, quotation marks", "final marks")


class Counts:
    """Counts of what the best T' of sentences have."""

    def __init__(self, model: Punctuator, relation: str) -> None:
        function = dict(zip(model.vocabulary.tokens, model.vocabulary.functions, strict=True))
        self._delimiting = {mark for mark, name in function.items() if name == DELIMITING}
        self._final = {mark for mark, name in function.items() if name == FINAL}
        self.rephraser, self._relation = Rephraser(model, regenerate=True), relation
        self.seen, self.kept, self.erased = Counter[str](), Counter[str](), Counter[str]()
        self.commas = Counter[tuple[str, str, str, bool]]()

    def add(self, tree: UnderlyingTree) -> None:
        """Count a sentence."""
        page = Counter(mark for slot in tree.sentence.surface for mark in slot)
        below = Counter(mark for pair in tree.punctemes for side in pair for mark in side)
        parts = [part for part in map(part_of, tree.punctemes) if part]
        below.update(mark for part in parts for mark in part[:2])
        for counted in (self.seen, self.kept):
            counted["brackets, quotation marks"] += len(parts)
        self.erased.update({mark: n for mark, n in (below - page).items() if mark not in SPECIAL})
        heads = tree.sentence.tree.heads
        self._add_commas(tree)
        for head, (left, right) in zip(heads, tree.punctemes, strict=True):
            if not PAIRED.isdisjoint(left + right):
                self.seen["brackets, quotation marks"] += 1
                self.kept["brackets, quotation marks"] += not unmatched(left, right)
            self.seen["final marks"] += not self._final.isdisjoint(left + right)
            self.kept["final marks"] += not head and not self._final.isdisjoint(left + right)
        for moved, size in self._moves(tree):
            self.seen["moved"] += 1
            self.kept["moved"] += self._alone(self.rephraser.best(moved).surface[size])

    def _alone(self, slot: tuple[str, ...]) -> bool:
        return len(slot) == 1 and slot[0] in self._delimiting

    def _add_commas(self, tree: UnderlyingTree) -> None:
        """Count the constituents with a comma towards their head."""
        for word, before, _, _, place in constituents(tree.sentence):
            left, right = tree.punctemes[word - 1]
            near_marks, far_marks = (right, left) if before else (left, right)
            if COMMAS.isdisjoint(near_marks) or place == "other mark":
                continue
            relation = tree.sentence.tree.relations[word - 1].split(":")[0]
            self.commas[
                "before" if before else "behind", place, relation, not COMMAS.isdisjoint(far_marks)
            ] += 1

    def commas_both(self, side: str, place: str) -> str:
        """How many of the constituents of a side and a place have both commas."""
        if place == "as in the middle":
            return f"{self._expected(side):.2f}"
        both, one = (self._count(side, place, kind) for kind in (True, False))
        return f"{both:,} of {both + one:,}" + (f" ({both / (both + one):.2f})" if both + one else "")

    def _count(self, side: str, place: str, both: bool, relation: str | None = None) -> int:
        return sum(
            count
            for (*where, found, kind), count in self.commas.items()
            if where == [side, place] and kind == both and relation in (None, found)
        )

    def _expected(self, side: str) -> float:
        """The share at the edge, if relations were as in the middle (the mean counts as one more)."""
        both, one = (self._count(side, "middle", kind) for kind in (True, False))
        of_all, edges, total = both / max(1, both + one), 0, 0.0
        for relation in {found for (its, place, found, _) in self.commas if (its, place) == (side, "edge")}:
            edge, middle = (
                [self._count(side, place, kind, relation) for kind in (True, False)]
                for place in ("edge", "middle")
            )
            edges += sum(edge)
            total += sum(edge) * (middle[0] + of_all) / (sum(middle) + 1)
        return total / max(1, edges)

    def _moves(self, tree: UnderlyingTree) -> Iterator[tuple[UnderlyingTree, int]]:
        """Trees with a clause of the root moved to the front, and its number of words."""
        whole = tree.sentence.tree
        for word in tree.with_relation(self._relation):
            head, (first, last) = whole.heads[word - 1], whole.spans[word - 1]
            if head == whole.root < word and self._alone(tree.sentence.surface[first - 1]):
                moved = tree.moved([word], FIRST)
                if moved.words[0] == first:
                    yield moved, last - first + 1


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("model", type=Path)
    made.add_argument("file", type=Path)
    made.add_argument("--relation", default="advcl")
    options = made.parse_args()
    model, treebank = TreebankUse(threads=1).load_for(str(options.model), str(options.file))
    counts = Counts(model, options.relation)
    for tree in counts.rephraser.underlying(list(treebank)):
        counts.add(tree)
    columns = (*COMMA_COLUMNS, *OTHER_COLUMNS)
    print(f"| treebank | {' | '.join(columns)} |\n|---{'|---' * len(columns)}|")
    commas = [counts.commas_both(*column.split(": ")) for column in COMMA_COLUMNS]
    others = [f"{counts.kept[name]:,} of {counts.seen[name]:,}" for name in OTHER_COLUMNS]
    print(f"| {options.file.stem} | {' | '.join([*commas, *others])} |")
    erased = ", ".join(f"{display(mark)} {count:,}" for mark, count in counts.erased.most_common())
    print(f"erased: {erased}")


if __name__ == "__main__":
    main()
