"""The compiled parser against `slow_parser`: atoms, features, weights, averages, beams, early updates."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arc_standard_sentences import SENTENCES
from hypothesis import given
from slow_parser import SlowParser, start
from treebank_strategies import head_lists

from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.papers.options import ALL, AWAY, TREATMENTS
from pyropunct.papers.transitions.arc_standard_parser import (
    ArcStandardParser,
    encoded,
    train_arc_standard,
    transitions_to,
)
from pyropunct.papers.transitions.marked_sentences import MarkedSentence, treated
from pyropunct.papers.transitions.parser import Recipe, reading_after
from pyropunct.papers.transitions.perceptron import no_weights
from pyropunct.papers.transitions.search import search
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.tree import is_projective


def trained(treatment: str, beam: int) -> tuple[ArcStandardParser, SlowParser]:
    recipe = Recipe(treatment, beam, iterations=4)
    parser = train_arc_standard(SENTENCES, recipe)
    slow = SlowParser(recipe, parser.actions)
    slow.train(SENTENCES)
    return parser, slow


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("treatment", TREATMENTS)
def test_weights_are_the_averages_of_all_weights_and_parses_the_best_of_the_beam(
    treatment: str, beam: int
) -> None:
    parser, slow = trained(treatment, beam)
    found = {(key, action): value for key, action, value in np.stack(parser.rows).T.tolist()}
    assert found == {place: value for place, value in slow.total.items() if value}
    assert sum(parser.report["updates"]) == slow.updates > 2
    for sentence, parsed in zip(SENTENCES, parser.parse(SENTENCES), strict=True):
        tokens = treated(sentence, treatment)
        best = slow.best(tokens, slow.total)
        _, heads, relations = reading_after([parser.actions[action] for action in best.actions], parser.root)
        own = [place for place, head in enumerate(parsed.heads) if head is not None]
        numbers = [0, *tokens.tokens]
        assert [place + 1 for place in own] == list(tokens.tokens)
        assert [parsed.heads[place] for place in own] == [numbers[head] for head in heads]
        assert tuple(parsed.relations[place] for place in own) == relations


def test_a_beam_of_one_takes_the_best_transition_each_time() -> None:
    parser, slow = trained(ALL, 1)
    sentence = SENTENCES[1]
    state = start(treated(sentence, ALL))
    while state.buffer or len(state.stack) > 1:
        state = max(slow.following(state, slow.total), key=lambda one: one.score)
    _, heads, _ = reading_after([parser.actions[action] for action in state.actions], parser.root)
    tokens = treated(sentence, ALL).tokens
    [parsed] = parser.parse([sentence])
    assert [parsed.heads[token - 1] for token in tokens] == [([0, *tokens])[head] for head in heads]


def test_the_search_stops_where_the_right_transitions_have_left_the_beam() -> None:
    """Without weights all scores are equal, so a beam of one shifts as long as it can."""
    words = MarkedSentence(tuple("abcd"), tuple("XXXX"), (False,) * 4, (2, 0, 4, 2), tuple("drdd"))
    gold = transitions_to(words.heads, words.relations)
    actions = tuple(sorted(set(gold)))
    right = np.array([actions.index(step) for step in gold])
    sentence = encoded(treated(words, AWAY))
    system = ArcStandardParser.system(Recipe(AWAY, beam=1, iterations=1), actions)
    arguments = system, sentence, no_weights()
    assert right[:3].tolist() == [0, 0, 1]
    assert search(*arguments, 1, right).tolist() == [0, 0, 0]
    assert len(search(*arguments, 1000, right)) == len(right) == 7


def all_trees(size: int) -> list[tuple[int, ...]]:
    """The heads of all projective trees of some words with one root."""
    reach = [
        heads for heads in product(range(size + 1), repeat=size) if heads.count(0) == 1 and rooted(heads)
    ]
    return [heads for heads in reach if is_projective(heads)]


def rooted(heads: Sequence[int]) -> bool:
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return True


@pytest.mark.parametrize(("size", "number"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_transitions_lead_to_every_projective_tree(size: int, number: int) -> None:
    trees = all_trees(size)
    assert len(trees) == number
    found = [transitions_to(heads, list("abcde")[:size]) for heads in trees]
    assert len(set(map(tuple, found))) == number
    for heads, steps in zip(trees, found, strict=True):
        assert len(steps) == 2 * size - 1
        relations = ["r" if head == 0 else "abcde"[place] for place, head in enumerate(heads)]
        assert reading_after(steps, "r")[1:] == (heads, tuple(relations))


@given(head_lists())
def test_transitions_lead_to_trees_that_were_made_projective(heads: list[int]) -> None:
    projective = projectivise(heads)
    steps = transitions_to(projective, ["d"] * len(heads))
    assert reading_after(steps, "d")[1] == projective


def test_seeds_order_the_sentences() -> None:
    one, same, other = (
        train_arc_standard(SENTENCES, Recipe(ALL, beam=1, iterations=1, seed=seed)) for seed in (0, 0, 3)
    )
    assert all(map(np.array_equal, one.rows, same.rows))
    assert not np.array_equal(one.rows.values, other.rows.values)


def test_there_must_be_an_arc_to_learn_from() -> None:
    lonely = MarkedSentence(("Go", "!"), ("VB", "."), (False, True), (0, 1), ("root", "punct"))
    marks = MarkedSentence(("!",), (".",), (True,), (0,), ("root",))
    for some in ([], [lonely], [marks]):
        with pytest.raises(ValueError, match="nothing to learn for an arc-standard parser"):
            train_arc_standard(some, Recipe(ALL, beam=1, iterations=1))
    parser = train_arc_standard([*SENTENCES, lonely, marks], Recipe(ALL, beam=1, iterations=1))
    assert parser.report["sentences"] == 4
    assert parser.parse([lonely])[0] == ((0, None), ("root", None))
    with pytest.raises(ValueError, match="no word to parse"):
        parser.parse([marks])


def test_trees_that_are_not_projective_are_lifted_and_counted() -> None:
    crossing = MarkedSentence(tuple("abcd"), tuple("XXXX"), (False,) * 4, (3, 4, 0, 3), tuple("ddrd"))
    parser = train_arc_standard([crossing], Recipe(ALL, beam=1, iterations=1))
    assert (parser.report["lifted_arcs"], parser.report["lifted_sentences"]) == (1, 1)


def test_a_saved_parser_is_the_same(tmp_path: Path) -> None:
    parser = train_arc_standard(SENTENCES, Recipe(ALL, beam=3, iterations=3))
    write_model_file(tmp_path / "parser", *parser.to_parts())
    loaded = ArcStandardParser.from_parts(*read_model_file(tmp_path / "parser"))
    assert (loaded.recipe, loaded.actions, loaded.root) == (parser.recipe, parser.actions, parser.root)
    assert all(map(np.array_equal, loaded.rows, parser.rows))
    assert loaded.parse(SENTENCES) == parser.parse(SENTENCES)


@pytest.mark.parametrize(
    "damage",
    [
        lambda plain, tensors: plain.pop("actions"),
        lambda plain, tensors: plain.update(what="an arc-eager parser"),
        lambda plain, tensors: plain["recipe"].update(features="none"),
        lambda plain, tensors: tensors.pop("keys"),
        lambda plain, tensors: tensors.update(keys=tensors["keys"].double()),
        lambda plain, tensors: tensors.update(actions=tensors["actions"] + 100),
        lambda plain, tensors: tensors.update(actions=tensors["actions"] - 1),
        lambda plain, tensors: tensors.update(values=tensors["values"][1:]),
    ],
)
def test_damaged_parts_are_refused(damage: Callable[[Any, Any], object]) -> None:
    plain, tensors = train_arc_standard(SENTENCES, Recipe(ALL, beam=1, iterations=1)).to_parts()
    damage(plain, tensors)
    with pytest.raises(ValueError, match="not the parts of an arc-standard parser"):
        ArcStandardParser.from_parts(plain, tensors)
