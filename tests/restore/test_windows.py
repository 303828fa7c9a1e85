"""Long lines of raw text in windows."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st
from sentences import chain

from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.parses import CORE, LONGEST_WHOLE, MARGIN, joined_tree, weighted_trees, windows
from pyropunct.restore.restoring import Restored, Source, in_windows
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.tree import Tree, is_projective
from pyropunct.vocabulary import Vocabulary

READER = RawReader(
    Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, ",", "."), ("",), ("",), ("",), ((),)),
    Conventions(splits={"du": ("de", "le")}),
)


@given(st.integers(1, 3000), st.sets(st.integers(1, 2999)))
def test_windows(size: int, closed: set[int]) -> None:
    """Each word is in one core, not near a cut, and no window is much longer than others."""
    closed = {slot for slot in closed if slot < size and slot % 7}
    found = windows(size, closed)
    assert [word for window in found for word in window.core] == list(range(1, size + 1))
    for window in found:
        assert window.first == 0 or window.first not in closed
        assert window.last == size or window.last not in closed
        assert window.first == 0 or window.first <= window.core.start - 1 - MARGIN
        assert window.last == size or window.last >= window.core.stop - 1 + MARGIN
        assert window.last - window.first <= max(LONGEST_WHOLE, CORE + 2 * MARGIN + 12)


def test_a_long_line_is_put_together_from_its_windows() -> None:
    """Every slot has what was decided in a window that holds its neighbours."""
    text = " ".join(f"du w{number}," if number % 3 else f"w{number}" for number in range(900))
    source, sizes = READER.read(text), list[int]()

    def keep(sources: Sequence[Source]) -> Iterator[Restored]:
        for one in sources:
            assert isinstance(one, RawSentence)
            sizes.append(len(one.words))
            assert all(one.words[slot - 1 : slot + 1] == ("de", "le") for slot in one.inside)
            yield Restored(one, one.surface, 3.0, chain(one.words))

    short = READER.read("a, b")
    before, found, behind = in_windows([short, source, short], keep)
    assert (before.source, behind.source) == (short, short)
    assert tuple(found.surface) == source.surface
    assert max(sizes) <= CORE + 2 * MARGIN + 2
    assert found.tree is not None
    assert found.tree.forms == source.words
    assert found.tree.heads == tuple(range(len(source.words)))
    assert 3 * (len(sizes) - 2) / 2 < found.risk < 3 * (len(sizes) - 2)


@given(st.lists(st.integers(0, 5), min_size=6, max_size=6))
def test_trees_are_joined_whatever_their_heads(roots: list[int]) -> None:
    """Also where heads of neighbouring windows would run in a circle."""
    size = 5 * CORE + 7
    parts = windows(size, ())
    trees = []
    for window, root in zip(parts, roots, strict=True):
        length = window.last - window.first
        top = max(1, root * length // 5)
        heads = [min(word + 1, top) if word < top else max(word - 1, top) for word in range(1, length + 1)]
        heads[top - 1] = 0
        relations = tuple("dep" if head else "root" for head in heads)
        trees.append(Tree(tuple(heads), relations, ("X",) * length, ("w",) * length))
    tree = joined_tree(parts, trees)
    assert (tree.heads.count(0), tree.relations.count("root"), len(tree)) == (1, 1, size)
    assert tree.relations[tree.root - 1] == "root"
    assert len(tree.top_down) == size
    assert is_projective(tree.heads)


class Chains:
    """A parser, also the model that has it: two chains for each sentence."""

    def __init__(self) -> None:
        self.parser, self.asked = self, list[tuple[int, int]]()

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        self.asked += [(len(words), trees) for words in sentences]
        return [[WeightedTree(chain(words), 1 / trees)] * trees for words in sentences]


def test_long_sentences_are_parsed_in_windows() -> None:
    """Also those that are no raw text; each has a tree of all of its words, in its place."""
    words = [f"w{number}" for number in range(5 * CORE)]
    model = Chains()
    before, found, given, behind = weighted_trees(model, [["a"], words, chain(["b"]), words[:500]], 2)
    assert found == [WeightedTree(chain(words), 1.0)]
    assert before == [WeightedTree(chain(["a"]), 0.5)] * 2
    assert given == [WeightedTree(chain(["b"]), 1.0, given=True)]
    assert behind == [WeightedTree(chain(words[:500]), 0.5)] * 2
    assert max(size for size, _ in model.asked) == 500
