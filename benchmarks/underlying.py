"""Whether the best underlying trees have the marks that theory expects behind the page.

    python benchmarks/underlying.py MODEL FILE.conllu [--relation advcl]

A constituent before its head with a comma on its right may have one on its left; behind its head, the sides
are swapped. In the middle of a sentence the page shows this other comma. At its edge, or behind a word that
opens a clause, T' decides. Prints, of constituents with a comma in T' towards their head:

- pairs: at the edge, of relations that the page shows with both commas (.8 or more of 4 or more in the
  middle), how many have both in T'
- distance: the mean distance between the shares with both at the edge and on the page, over relations
- conjuncts: at the edge, how many have both (few should: their commas separate)
- openers: behind a word that opens a clause, how many have both

Then: clauses of a relation, behind their head and a delimiting mark, that ``rephrase --move RELATION:first``
moves, and those that get such a mark behind them; constituents that sprout a bracket or quotation mark, and
those with its partner; constituents that sprout a final mark, and those that are sentences; marks that T' has
more often than the page.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from pyropunct import Punctuator
from pyropunct.cli.loading import TreebankUse
from pyropunct.fitted.stories import SEPARATED
from pyropunct.models.symmetry import PAIRED, unmatched
from pyropunct.tasks import FIRST
from pyropunct.tasks.explain.edges import BEGINNING, END, MIDDLE, OPENER, SEEN, constituents
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.marks import COMMAS, SPECIAL, display
from pyropunct.treebank.functions import DELIMITING, FINAL
from pyropunct.treebank.sentence import part_of
from pyropunct.treebank.tree import base

EDGES, EDGE, PAGE = (BEGINNING, END), "edge", "page"
COMMA_COLUMNS = ("pairs", "distance", "conjuncts", "openers")
OTHER_COLUMNS = ("moved", "brackets, quotation marks", "final marks")

MOSTLY = 0.8
"""The page shows a relation with pairs if this share of its constituents in the middle has both commas."""


class Counts:
    """Counts of what the best T' of sentences have."""

    def __init__(self, model: Punctuator, relation: str) -> None:
        function = dict(zip(model.vocabulary.tokens, model.vocabulary.functions, strict=True))
        self._delimiting = {mark for mark, name in function.items() if name == DELIMITING}
        self._final = {mark for mark, name in function.items() if name == FINAL}
        self.rephraser, self._relation = Rephraser(model, regenerate=True), relation
        self.seen, self.kept, self.erased = Counter[str](), Counter[str](), Counter[str]()
        self.commas = Counter[tuple[str, str, bool, bool]]()

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
        """Count the constituents with a comma towards their head, on the page and in T'."""
        sentence = tree.sentence
        for word, before, near, far, place in constituents(sentence):
            left, right = tree.punctemes[word - 1]
            inner, outer = (right, left) if before else (left, right)
            relation, page = sentence.tree.relations[word - 1], sentence.surface
            if place in (*EDGES, OPENER) and not COMMAS.isdisjoint(inner):
                self.commas[
                    EDGE if place in EDGES else place, relation, before, not COMMAS.isdisjoint(outer)
                ] += 1
            if place == MIDDLE and len(page[near]) == 1 and COMMAS.issuperset(page[near]):
                self.commas[PAGE, relation, before, bool(page[far])] += 1

    def both(self, place: str, of: Callable[[str, bool], bool] = lambda relation, before: True) -> str:
        """How many of the constituents at a place have both commas."""
        found = Counter[bool]()
        for (where, relation, before, kind), count in self.commas.items():
            if where == place and of(relation, before):
                found[kind] += count
        return f"{found[True]:,} of {found.total():,} ({found[True] / max(1, found.total()):.2f})"

    def share(self, place: str, relation: str, before: bool) -> tuple[float, int]:
        """The share of a relation and side with both commas at a place, and their number."""
        both, one = (self.commas[place, relation, before, kind] for kind in (True, False))
        return both / max(1, both + one), both + one

    def has_pairs(self, relation: str, before: bool) -> bool:
        """Whether the page shows a relation, not of conjuncts, with both commas."""
        share, seen = self.share(PAGE, relation, before)
        return base(relation) not in SEPARATED and seen >= SEEN and share >= MOSTLY

    def distance(self) -> str:
        """The mean distance between T' at edges and the page."""
        total, weight = 0.0, 0
        for relation, before in {what[1:3] for what in self.commas if what[0] == EDGE}:
            of_page, seen = self.share(PAGE, relation, before)
            of_edge, edges = self.share(EDGE, relation, before)
            if base(relation) not in SEPARATED and seen >= SEEN:
                total, weight = total + edges * abs(of_edge - of_page), weight + edges
        return f"{total / max(1, weight):.2f} of {weight:,}"

    def comma_cells(self) -> list[str]:
        """The cells of `COMMA_COLUMNS`."""
        conjuncts = self.both(EDGE, lambda relation, before: base(relation) in SEPARATED)
        return [self.both(EDGE, self.has_pairs), self.distance(), conjuncts, self.both(OPENER)]

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
    others = [f"{counts.kept[name]:,} of {counts.seen[name]:,}" for name in OTHER_COLUMNS]
    print(f"| {options.file.stem} | {' | '.join([*counts.comma_cells(), *others])} |")
    erased = ", ".join(f"{display(mark)} {count:,}" for mark, count in counts.erased.most_common())
    print(f"erased: {erased}")


if __name__ == "__main__":
    main()
