"""Trees as lists of heads, made projective by lifting arcs.

Source: Nivre & Nilsson (2005, "Pseudo-projective dependency parsing").

Heads are given as in `pyropunct.treebank.tree.Tree`: the words are 1..n, ``heads[i - 1]`` is the
head of word i, and 0 is the head of the root.
"""

from collections.abc import Sequence


def dependents_of(heads: Sequence[int]) -> list[list[int]]:
    """For 0 and for each word 1..n its dependents from left to right; the dependent of 0 is the root."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        dependents[head].append(word)
    return dependents


def top_down(heads: Sequence[int]) -> list[int]:
    """The words by depth, every head before its dependents."""
    dependents = dependents_of(heads)
    order = list(dependents[0])
    for word in order:
        order.extend(dependents[word])
    return order


def spans(heads: Sequence[int]) -> list[tuple[int, int, int]]:
    """For each word the first word, the last word and the number of words of its constituent."""
    first = list(range(1, len(heads) + 1))
    last = list(first)
    size = [1] * len(heads)
    for word in reversed(top_down(heads)):
        head = heads[word - 1]
        if head:
            first[head - 1] = min(first[head - 1], first[word - 1])
            last[head - 1] = max(last[head - 1], last[word - 1])
            size[head - 1] += size[word - 1]
    return list(zip(first, last, size, strict=True))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every constituent is a contiguous span of words."""
    return all(last - first + 1 == size for first, last, size in spans(heads))


def projectivise(heads: Sequence[int]) -> tuple[int, ...]:
    """Lift arcs until the tree is projective, and return its heads.

    As long as some arc is not projective, the shortest such arc (the leftmost of equally short
    ones) is replaced by an arc from its head's head.  A projective tree is unchanged.
    """
    lifted = list(heads)
    while not is_projective(lifted):
        word = _shortest_nonprojective(lifted)
        lifted[word - 1] = lifted[lifted[word - 1] - 1]
    return tuple(lifted)


def _shortest_nonprojective(heads: Sequence[int]) -> int:
    """The dependent of the shortest arc over a word that its head does not dominate."""
    words = range(1, len(heads) + 1)
    crossed = [word for word in words if heads[word - 1] and not _is_projective_arc(heads, word)]
    return min(crossed, key=lambda word: (abs(word - heads[word - 1]), min(word, heads[word - 1])))


def _is_projective_arc(heads: Sequence[int], word: int) -> bool:
    head = heads[word - 1]
    between = range(min(word, head) + 1, max(word, head))
    return all(_dominates(heads, head, inside) for inside in between)


def _dominates(heads: Sequence[int], ancestor: int, word: int) -> bool:
    while word not in (ancestor, 0):
        word = heads[word - 1]
    return word == ancestor
