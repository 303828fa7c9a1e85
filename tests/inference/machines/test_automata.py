import itertools

import numpy as np
import pytest
import torch
from by_hand import Arc, End, Topology, read

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.automata import (
    Acceptor,
    join_automata,
    joined_groups,
    pack,
    reverse,
    trimmed,
)

WEIGHTS = torch.tensor([0.3, 0.5, 0.7, 0.11, 1.0], dtype=torch.double)
SMALL = Topology(1, (End(0, 4),), (End(0, 1, 2.0),), ())
LARGE = Topology(
    3,
    (End(0, 4), End(1, 0, 0.5)),
    (End(2, 2), End(2, 3, 3.0)),
    (Arc(1, 0, 1, 0), Arc(1, 0, 1, 1), Arc(0, 1, 2, 2), Arc(0, 0, 0, 3), Arc(1, 2, 0, 3), Arc(0, 1, 1, 1)),
)
STRINGS = [string for size in range(5) for string in itertools.product(range(2), repeat=size)]


def path_sum(topology: Topology, string: tuple[int, ...], weights: list[float]) -> float:
    """The total weight of all paths that read a string, one path at a time."""

    def onward(state: int, rest: tuple[int, ...]) -> float:
        if not rest:
            return sum(weights[end.weight] * end.factor for end in topology.final if end.state == state)
        return sum(
            weights[arc.weight] * onward(arc.target, rest[1:])
            for arc in topology.arcs
            if arc.source == state and arc.token == rest[0]
        )

    return sum(weights[end.weight] * end.factor * onward(end.state, string) for end in topology.initial)


def test_matrices_add_up_paths() -> None:
    automata = join_automata([SMALL.packed(2), LARGE.packed(2), pack(reverse(LARGE.acceptor()), 2)], WEIGHTS)
    weights = WEIGHTS.tolist()
    for string in STRINGS:
        expected = [path_sum(SMALL, string, weights), path_sum(LARGE, string, weights)]
        expected.append(path_sum(LARGE, string[::-1], weights))
        assert read(automata, string).tolist() == pytest.approx(expected, rel=1e-13, abs=1e-16)


def test_paths_of_known_weight() -> None:
    """0 --1 (0.3 or 0.5)--> 1 --0 (0.7)--> 2, which ends with 0.7 or three times 0.11."""
    assert path_sum(LARGE, (1, 0), WEIGHTS.tolist()) == pytest.approx(0.8 * 0.7 * (0.7 + 0.33))
    assert path_sum(LARGE, (0,), WEIGHTS.tolist()) == pytest.approx(0.15 * 0.7 * (0.7 + 0.33))
    assert path_sum(SMALL, (), WEIGHTS.tolist()) == 1.0


def test_arcs_of_a_token_lie_together() -> None:
    packed = LARGE.packed(3)
    assert packed.arc_start.tolist() == [0, 3, 6, 6]
    _, *columns, _ = (column.tolist() for column in packed.acceptor.arcs)
    assert list(zip(*columns, strict=True)) == [
        (1, 2, 2),
        (0, 0, 3),
        (1, 1, 1),
        (0, 1, 0),
        (0, 1, 1),
        (2, 0, 3),
    ]


def test_what_has_no_weight_is_trimmed() -> None:
    """Without the second start and the arc back from state 2; state 3 is then on no path."""
    states, initial, final, arcs = LARGE._replace(
        arcs=(*LARGE.arcs, Arc(0, 2, 3, 0), Arc(0, 3, 2, 0))
    ).acceptor()
    initial.factor[1] = final.factor[1] = arcs.factor[[4, 6]] = 0
    left = trimmed(Acceptor(states + 1, initial, final, arcs))
    assert left.num_states == 3
    assert (left.initial.state.tolist(), left.final.state.tolist()) == ([0], [2])
    assert left.arcs.target.tolist() == [1, 1, 2, 0, 1]


def test_groups_side_by_side_are_the_whole() -> None:
    mirrored = pack(reverse(LARGE.acceptor()), 2)
    packed = [LARGE.packed(2), SMALL.packed(2), mirrored, SMALL.packed(2)]
    together = join_automata(packed, WEIGHTS)
    groups = joined_groups([join_automata(packed[:1], WEIGHTS), join_automata(packed[1:], WEIGHTS)])
    assert together.num_tokens == groups.num_tokens == 2
    for one, other in zip(together[1:], groups[1:], strict=True):
        torch.testing.assert_close(torch.as_tensor(one), torch.as_tensor(other), rtol=0, atol=0)


def test_automata_that_have_read_a_token() -> None:
    """They accept the rest of each string with the weight of the whole; the others stay as they are."""
    automata = join_automata([SMALL.packed(2), LARGE.packed(2), pack(reverse(LARGE.acceptor()), 2)], WEIGHTS)
    for token in range(2):
        behind = automata.behind(token, np.array([False, False, True]))
        for string in STRINGS:
            expected = read(automata, string)
            expected[2] = read(automata, (token, *string))[2]
            torch.testing.assert_close(read(behind, string), expected)
    assert automata.behind(0, np.zeros(3, np.bool_)) is automata


def test_gradients_of_automata_that_have_read_a_token() -> None:
    """Finite, also where a later step has an infinite slope at a state that the token does not lead to."""
    weights = torch.tensor([0.5, 0.3], requires_grad=True)
    some = Topology(3, (End(0, 0),), (End(2, 0),), (Arc(0, 0, 1, 0), Arc(0, 1, 2, 1)))
    behind = join_automata([some.packed(1)], weights).behind(0, np.array([True]))
    assert behind.initial.tolist() == [0, 0.25, 0]
    (slopes,) = torch.autograd.grad(behind.initial.sqrt().sum(), weights)
    assert slopes.tolist() == [1, 0]


def test_joint_values_of_the_weights() -> None:
    several = torch.stack([WEIGHTS, WEIGHTS**2, WEIGHTS * 0.1])
    automata = join_automata([LARGE.packed(2), SMALL.packed(2)], several)
    for row in range(3):
        for string in STRINGS[:8]:
            expected = path_sum(LARGE, string, several[row].tolist())
            assert float(read(automata, string)[row, 0]) == pytest.approx(expected, rel=1e-13, abs=1e-16)


def test_an_inventory_needs_the_empty_pair_of_every_relation() -> None:
    with pytest.raises(ValueError, match="relation 1 lacks the pair of empty punctemes"):
        Inventory(3, [[((), ())], [((1,), ())]])


def test_an_inventory_sorts_its_pairs() -> None:
    pairs = [((2,), ()), ((), (1, 2)), ((), ()), ((1,), (2,)), ((2,), ())]
    some = Inventory(3, [[((), ())], pairs])
    assert some.num_relations == 2
    assert some.rows == [((), ()), ((), ()), ((), (1, 2)), ((1,), (2,)), ((2,), ())]
    assert some.pair_start.tolist() == [0, 1, 5]
    assert some.empty_left.tolist() == [1, 2]
    assert some.longest == 2
    left, right = some.padded_rows
    assert left.tolist() == [[-1, -1], [-1, -1], [-1, -1], [1, -1], [2, -1]]
    assert right.tolist() == [[-1, -1], [-1, -1], [1, 2], [2, -1], [-1, -1]]


@pytest.mark.parametrize("side", ["left", "right"])
def test_tries_spell_the_punctemes(side: str) -> None:
    strings = [(), (1, 2, 1), (1, 2), (2, 2), (2,), (2, 1, 2)]
    pairs = [((), string) if side == "right" else (string, ()) for string in strings]
    some = Inventory(3, [[((), ()), ((1,), (1,))], pairs])
    tries = some.right_tries if side == "right" else some.left_tries
    for relation in range(2):
        first, last = tries.start[relation : relation + 2].tolist()
        assert tries.token[first] == -1
        spelled = {0: ()}
        for entry in range(1, last - first):
            parent, token = int(tries.parent[first + entry]), int(tries.token[first + entry])
            spelled[entry] = (*spelled[parent], token) if side == "right" else (token, *spelled[parent])
        assert len(set(spelled.values())) == last - first
        for row in range(*some.pair_start[relation : relation + 2].tolist()):
            puncteme = some.rows[row][1 if side == "right" else 0]
            assert spelled[int(tries.of_pair[row])] == puncteme
    # What strings share is stored once: nothing, 1, 12, 121, 2, 22, 21, 212 for those on the right.
    assert tries.start.tolist()[-1] - tries.start.tolist()[1] == 8
