"""Sentences under construction: words with their dependents, from which a tree is read off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from generator import lexicon as lex
from pyropunct.treebank.tree import Tree

FUNCTION_TAGS = frozenset({"ADP", "DET", "PART", "CCONJ"})


@dataclass
class Node:
    """A word with its dependents on either side, in reading order; direct speech ``opens`` in capitals."""

    form: str
    tag: str
    relation: str = "root"
    left: list["Node"] = field(default_factory=list)
    right: list["Node"] = field(default_factory=list)
    opens: bool = False

    def before(self, relation: str, *dependents: "Node") -> "Node":
        """Put dependents, in reading order, to the left of all that the node has."""
        for dependent in dependents:
            dependent.relation = relation
        self.left[:0] = dependents
        return self

    def after(self, relation: str, *dependents: "Node") -> "Node":
        """Put dependents, in reading order, to the right of all that the node has."""
        for dependent in dependents:
            dependent.relation = relation
        self.right += dependents
        return self

    def in_order(self) -> Iterator["Node"]:
        """The words of the constituent from left to right."""
        for dependent in self.left:
            yield from dependent.in_order()
        yield self
        for dependent in self.right:
            yield from dependent.in_order()

    @property
    def plural(self) -> bool:
        """Whether a verb with this subject is plural."""
        coordinated = any(dependent.relation == "conj" for dependent in self.right)
        return coordinated or self.form in lex.PLURAL_NOUNS or self.form in {"we", "you", "they"}


def to_tree(root: Node) -> Tree:
    """Number the words of a finished sentence and give the forms their written shape."""
    nodes = list(root.in_order())
    number = {id(node): position for position, node in enumerate(nodes, start=1)}
    heads = {id(root): 0}
    for node in nodes:
        heads |= {id(dependent): number[id(node)] for dependent in node.left + node.right}
    return Tree(
        heads=tuple(heads[id(node)] for node in nodes),
        relations=tuple(node.relation for node in nodes),
        tags=tuple(node.tag for node in nodes),
        forms=_written_forms(root, nodes),
    )


def _written_forms(root: Node, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Choose "a" or "an", and begin the sentence and direct speech with a capital letter."""
    openers = {id(next(node.in_order())) for node in nodes if node.opens or node is root}
    forms = []
    for node, following in zip(nodes, [*nodes[1:], None], strict=True):
        form = node.form
        if form in {"a", "A"} and following is not None and following.form[0] in "aeiouAEIOU":
            form += "n"
        forms.append(_capitalised(form) if id(node) in openers else form)
    return tuple(forms)


def _capitalised(form: str) -> str:
    return form[0].upper() + form[1:]


def in_title_case(root: Node) -> Node:
    """The same constituent with its content words capitalised, as headings are."""
    for node in root.in_order():
        if node.tag not in FUNCTION_TAGS:
            node.form = _capitalised(node.form)
    return root
