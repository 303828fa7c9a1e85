"""Whether the best underlying trees have the marks that theory expects behind the page.

    python benchmarks/underlying.py MODEL FILE.conllu [--relation advcl]

Prints, for delimiting marks: the constituents, other than sentences, with such a mark alone on the page at
each edge where the page may show one, and those with such a mark on both sides in T'. "initial" begins the
sentence, and a mark follows; "final" has a mark before it, and ends at the final mark; "mid" has a mark on
either side. Only constituents that sprout such a mark at all are counted. Then: constituents that sprout a
bracket or quotation mark, and those with its partner; constituents that sprout a final mark, and those that
are sentences; clauses of a relation, behind their head and a delimiting mark, that ``rephrase --move
RELATION:first`` moves, and those that get such a mark behind them; marks that T' has more often than the
page.
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
from pyropunct.text.marks import SPECIAL, display
from pyropunct.treebank.orthography import DELIMITING, FINAL
from pyropunct.treebank.sentence import part_of

COLUMNS = ("initial", "final", "mid", "moved", "brackets, quotation marks", "final marks")


class Counts:
    """Counts of what the best T' of sentences have."""

    def __init__(self, model: Punctuator, relation: str) -> None:
        function = dict(zip(model.vocabulary.tokens, model.vocabulary.functions, strict=True))
        self._delimiting = {mark for mark, name in function.items() if name == DELIMITING}
        self._final = {mark for mark, name in function.items() if name == FINAL}
        self.rephraser, self._relation = Rephraser(model, regenerate=True), relation
        self.seen, self.kept, self.erased = Counter[str](), Counter[str](), Counter[str]()

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
        for head, (left, right), kind in zip(heads, tree.punctemes, self._kinds(tree), strict=True):
            if not PAIRED.isdisjoint(left + right):
                self.seen["brackets, quotation marks"] += 1
                self.kept["brackets, quotation marks"] += not unmatched(left, right)
            self.seen["final marks"] += not self._final.isdisjoint(left + right)
            self.kept["final marks"] += not head and not self._final.isdisjoint(left + right)
            sides = [not self._delimiting.isdisjoint(side) for side in (left, right)]
            if head and kind and any(sides):
                self.seen[kind] += 1
                self.kept[kind] += all(sides)
        for moved, size in self._moves(tree):
            self.seen["moved"] += 1
            self.kept["moved"] += self._alone(self.rephraser.best(moved).surface[size])

    def _alone(self, slot: tuple[str, ...]) -> bool:
        return len(slot) == 1 and slot[0] in self._delimiting

    def _kinds(self, tree: UnderlyingTree) -> Iterator[str]:
        """For each constituent, where it stands between delimiting marks; empty if nowhere."""
        surface, size = tree.sentence.surface, len(tree.sentence.tree)
        for first, last in tree.sentence.tree.spans:
            before, behind = self._alone(surface[first - 1]), self._alone(surface[last])
            if first == 1 and len(surface[0]) == 1 and behind and last < size:
                yield "initial"
            elif before and last == size and len(surface[last]) == 1 and surface[last][0] in self._final:
                yield "final"
            else:
                yield "mid" if before and behind and last < size else ""

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
    print(f"| treebank | {' | '.join(COLUMNS)} |\n|---{'|---' * len(COLUMNS)}|")
    cells = (f"{counts.kept[name]:,} of {counts.seen[name]:,}" for name in COLUMNS)
    print(f"| {options.file.stem} | {' | '.join(cells)} |")
    erased = ", ".join(f"{display(mark)} {count:,}" for mark, count in counts.erased.most_common())
    print(f"erased: {erased}")


if __name__ == "__main__":
    main()
