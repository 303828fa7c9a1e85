"""The dynamic oracle against all ways to go on; training with it."""

from functools import cache

import numpy as np
import pytest
from arc_standard_sentences import SENTENCES
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import head_lists

from pyropunct.rivals.ma_2014.exploring import BEST, BEST_RIGHT, FOLLOWED, RIGHT_KINDS, explore
from pyropunct.rivals.ma_2014.parser import ArcStandardRecipe, Oracle, encoded, templates_of
from pyropunct.rivals.ma_2014.training import train_arc_standard
from pyropunct.rivals.ma_2014.treatments import MarkedSentence, Treatment, treated, tree_of
from pyropunct.rivals.transitions.arc_standard import LEFT, RIGHT, SHIFT
from pyropunct.rivals.transitions.parser import moves_of
from pyropunct.rivals.transitions.perceptron import no_weights
from pyropunct.treebank.tree import projectivise

Stack = tuple[int, ...]


def after(stack: Stack, kind: int, following: int) -> Stack:
    if kind == SHIFT:
        return (*stack, following)
    return (*stack[:-2], stack[-1 if kind == LEFT else -2])


def arc(stack: Stack, kind: int) -> tuple[int, int]:
    """The head and the dependent."""
    return (stack[-1], stack[-2]) if kind == LEFT else (stack[-2], stack[-1])


def right_kinds(heads: tuple[int, ...], stack: Stack, following: int) -> int:
    """The transitions after which the fewest heads are wrong, by trying everything."""

    @cache
    def costs(stack: Stack, following: int) -> dict[int, int]:
        found = {}
        if following <= len(heads):
            found[SHIFT] = loss((*stack, following), following + 1)
        for kind in (LEFT, RIGHT) if len(stack) > 1 else ():
            head, dependent = arc(stack, kind)
            found[kind] = (heads[dependent - 1] != head) + loss(after(stack, kind, 0), following)
        return found

    @cache
    def loss(stack: Stack, following: int) -> int:
        if len(stack) == 1 and following > len(heads):
            return int(heads[stack[0] - 1] != 0)
        return min(costs(stack, following).values())

    found = costs(stack, following)
    return sum(1 << kind for kind, cost in found.items() if cost == min(found.values()))


def right_relation(
    heads: tuple[int, ...], relations: list[str], head: int, dependent: int, other: str
) -> str:
    """The relation of an arc, or another if the arc is wrong."""
    return relations[dependent - 1] if heads[dependent - 1] == head else other


@given(st.integers(1, 7).flatmap(head_lists), st.permutations(range(5)), st.data())
def test_right_transitions_are_those_that_cost_least(
    some: list[int], order: list[int], data: st.DataObject
) -> None:
    """Without weights the best action is the first, so orders of actions lead to many states."""
    heads, size = projectivise(some), len(some)
    relations = ["xy"[place % 2] for place in range(size)]
    words = MarkedSentence(("w",) * size, ("X",) * size, (False,) * size, heads, tuple(relations))
    actions = [(SHIFT, ""), (LEFT, "x"), (LEFT, "y"), (RIGHT, "x"), (RIGHT, "y")]
    actions = [actions[place] for place in order]
    steps = 2 * size - 1
    follows = np.array(data.draw(st.lists(st.booleans(), min_size=steps, max_size=steps)))
    numbers = np.array([0, *(1 + "xy".index(one) for one in relations)])
    sentence = encoded(treated(words, Treatment.AWAY))
    found = explore(
        *(sentence, moves_of(tuple(actions)), templates_of(Treatment.AWAY), no_weights()),
        *(np.array([0, *heads]), numbers, follows),
    )
    stack: Stack = ()
    following = 1
    for step in range(steps):
        followed, best_right, best, kinds = found[:, step]
        assert kinds == right_kinds(heads, stack, following)
        possible = [SHIFT] * (following <= size) + [LEFT, RIGHT] * (len(stack) > 1)
        allowed = [place for place, (kind, _) in enumerate(actions) if kind in possible]
        fitting = [place for place in allowed if kinds >> actions[place][0] & 1]
        for place in list(fitting):
            kind, relation = actions[place]
            if kind != SHIFT and relation != right_relation(heads, relations, *arc(stack, kind), relation):
                fitting.remove(place)
        assert (best, best_right) == (allowed[0], fitting[0])
        assert followed == (best if follows[step] else best_right)
        kind = actions[followed][0]
        stack, following = after(stack, kind, following), following + (kind == SHIFT)
    assert (FOLLOWED, BEST_RIGHT, BEST, RIGHT_KINDS) == (0, 1, 2, 3)


@pytest.mark.parametrize("treatment", [Treatment.TOKENS, Treatment.ALL])
def test_training_learns_from_wherever_errors_lead(treatment: Treatment) -> None:
    recipe = ArcStandardRecipe(treatment, 1, 20, oracle=Oracle.DYNAMIC)
    parser = train_arc_standard(SENTENCES, recipe)
    assert parser.report["updates"][0] == len(SENTENCES)
    assert parser.report["updates"][-1] == 0
    for sentence, parsed in zip(SENTENCES, parser.parse(SENTENCES), strict=True):
        tokens = treated(sentence, treatment).tokens
        tree = tree_of(sentence, tokens)
        assert [parsed.heads[token - 1] for token in tokens] == [(0, *tokens)[head] for head in tree.heads]


def test_a_dynamic_oracle_trains_a_beam_of_one() -> None:
    with pytest.raises(ValueError, match="a beam of 1, not of 2"):
        ArcStandardRecipe(beam=2, oracle=Oracle.DYNAMIC)
