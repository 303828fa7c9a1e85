"""What the true rules of the embedded treebank look at: a constituent and its surroundings."""

from dataclasses import dataclass

from pyropunct.treebank.tree import Tree

CAN_BE_ASKED = frozenset({"nsubj", "obj", "obl", "advmod"})
AUXILIARIES = frozenset({"aux", "cop"})
WH_WORDS = frozenset({"who", "what", "which", "where", "when", "why", "how"})


@dataclass(frozen=True)
class Constituent:
    """A word of a tree with all its descendants.

    Relations are given without their subtype unless said otherwise.

    :ivar tree: the tree.
    :ivar word: the number of the head word of the constituent.
    """

    tree: Tree
    word: int

    @property
    def relation(self) -> str:
        """The relation to its head, subtype included."""
        return self.tree.relations[self.word - 1]

    @property
    def tag(self) -> str:
        """The tag of its head word."""
        return self.tree.tags[self.word - 1]

    @property
    def form(self) -> str:
        """The form of its head word."""
        return self.tree.forms[self.word - 1]

    @property
    def head(self) -> "Constituent":
        """The constituent around it.  The root has none."""
        return Constituent(self.tree, self.tree.heads[self.word - 1])

    @property
    def on_left(self) -> bool:
        """Whether it stands to the left of its head."""
        return self.word < self.tree.heads[self.word - 1]

    @property
    def children(self) -> list["Constituent"]:
        """The constituents directly inside it, from left to right."""
        return [Constituent(self.tree, word) for word in self.tree.children[self.word]]

    @property
    def siblings(self) -> list["Constituent"]:
        """The other constituents that depend on its head."""
        return [sibling for sibling in self.head.children if sibling.word != self.word]

    @property
    def first(self) -> int:
        """The number of its first word."""
        return self.tree.spans[self.word - 1][0]

    @property
    def last(self) -> int:
        """The number of its last word."""
        return self.tree.spans[self.word - 1][1]

    def has(self, *relations: str) -> bool:
        """Whether one of its children has one of these relations."""
        return any(_plain(child.relation) in relations for child in self.children)

    @property
    def interrogative(self) -> bool:
        """Whether it is a question: an auxiliary before the subject, or a question word before the verb."""
        left = [child for child in self.children if child.on_left]
        relations = [_plain(child.relation) for child in left]
        if "nsubj" in relations and AUXILIARIES & set(relations[: relations.index("nsubj")]):
            return True
        asked = [child for child in left if _plain(child.relation) in CAN_BE_ASKED]
        return any(self.tree.forms[child.first - 1].lower() in WH_WORDS for child in asked)


def _plain(relation: str) -> str:
    return relation.partition(":")[0]
