"""The transitions that lead to a tree."""

from collections.abc import Iterable, Sequence

from pyropunct.rivals.transitions.arc_standard import LEFT, RIGHT, SHIFT


def transitions_to(heads: Sequence[int], relations: Sequence[str]) -> list[tuple[int, str]]:
    """The kinds of the transitions that lead to a projective tree, with their relations, empty for a shift.

    An arc is made as soon as its dependent has all dependents; left arcs first.

    :param heads: the head of each word, from 1; 0 for the root.
    """
    waiting = [0] * (len(heads) + 1)
    for head in heads:
        waiting[head] += 1
    stack: list[int] = []
    found: list[tuple[int, str]] = []
    for word in range(1, len(heads) + 1):
        stack.append(word)
        found.append((SHIFT, ""))
        while len(stack) > 1:
            under, top = stack[-2:]
            if heads[under - 1] == top:
                del stack[-2]
                found.append((LEFT, relations[under - 1]))
                waiting[top] -= 1
            elif heads[top - 1] == under and not waiting[top]:
                stack.pop()
                found.append((RIGHT, relations[top - 1]))
                waiting[under] -= 1
            else:
                break
    return found


def tree_after(transitions: Iterable[tuple[int, str]], root: str) -> tuple[list[int], list[str]]:
    """The heads and relations to which transitions lead.

    :param root: the relation of the root.
    """
    heads: list[int] = []
    relations: list[str] = []
    stack: list[int] = []
    for kind, relation in transitions:
        if kind == SHIFT:
            heads.append(0)
            relations.append(root)
            stack.append(len(heads))
            continue
        child = stack.pop(-2 if kind == LEFT else -1)
        heads[child - 1], relations[child - 1] = stack[-1], relation
    return heads, relations
