"""Where a clause begins behind a conjunction or a subordinator: "and ⟨ if it rains, we stay"."""

from itertools import pairwise

from pyropunct.treebank.tree import Tree

OPENERS = frozenset({"cc", "mark"})
"""The relations of conjunctions and subordinators."""


def opens_clause(tree: Tree) -> list[bool]:
    """For each word, whether a clause begins behind it: a conjunction or subordinator before its head.

    No clause begins inside of a fixed expression such as *as if*.
    """
    relations = [relation.partition(":")[0] for relation in tree.relations]
    neighbours = zip(tree.heads, pairwise([*relations, ""]), strict=True)
    return [
        relation in OPENERS and head > word and after != "fixed"
        for word, (head, (relation, after)) in enumerate(neighbours, 1)
    ]
