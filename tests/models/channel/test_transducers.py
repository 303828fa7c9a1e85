"""The machines of channels draw what their automata say."""

from functools import cache

import numpy as np
import pytest
import torch
from brute_force import String
from channels import CHANNELS, NUM_TOKENS, SEEN, Variant, settled
from problems import strings_up_to

from pyropunct.inference.transducers import (
    END,
    HALT,
    NOTHING,
    Move,
    Start,
    Transducer,
    mixed,
    pack_transducer,
)
from pyropunct.models.channel.window import Channel, Slip, TokenBigrams

UNDERLYING: list[String] = [(), (1,), (0,), (2, 1), (0, 1), (1, 1), (1, 2, 1), (0, 2, 1, 1), (2, 2, 1, 2)]


def chance(machine: Transducer, underlying: String, surface: String) -> float:
    """The probability of all ways from an underlying to a surface string, by trying them all."""
    moves: dict[tuple[int, int], list[Move]] = {}
    for move in machine.moves:
        moves.setdefault((move.source, move.token), []).append(move)

    def total(start: Start) -> float:
        read, shown = (underlying[::-1], surface[::-1]) if start.from_right else (underlying, surface)

        @cache
        def onward(state: int, done: int, written: int) -> float:
            """From a state, with some tokens read and some written."""
            if state == HALT:
                return float(written == len(shown))
            at_end, result = done == len(read), 0.0
            for move in moves[state, END if at_end else read[done]]:
                now = written + (move.written != NOTHING)
                if move.written == NOTHING or shown[written:now] == (move.written,):
                    result += move.chance * onward(move.target, done + (not at_end), now)
            return result

        return start.chance * onward(start.state, 0, 0)

    return sum(total(start) for start in machine.starts)


def chances(channel: Channel, surfaces: list[String], underlying: String) -> list[float]:
    """The same as the automata have it."""
    automata = channel.automata(surfaces, channel.weights())
    state, final = automata.end_vectors()
    matrices = automata.matrices()
    for token in underlying:
        state = (state.unsqueeze(-2) @ matrices[:, token]).squeeze(-2)
    return (state * final).sum(-1).tolist()


@pytest.mark.parametrize("variant", CHANNELS.values(), ids=CHANNELS)
@pytest.mark.parametrize("direction", ["left", "right"])
def test_a_machine_is_its_channel(variant: Variant, direction: str) -> None:
    channel = settled(variant.make(direction))
    machine = channel.transducer(channel.weights())
    assert (machine is not None) == variant.has_machine
    if machine is None:
        return
    surfaces = strings_up_to(4, range(NUM_TOKENS))
    for underlying in UNDERLYING:
        found = [chance(machine, underlying, surface) for surface in surfaces]
        assert found == pytest.approx(chances(channel, surfaces, underlying), rel=1e-12, abs=1e-300)


def test_a_channel_need_not_have_a_machine() -> None:
    assert Channel(NUM_TOKENS).transducer(torch.ones(1)) is None
    slip = settled(Slip(Channel(NUM_TOKENS), TokenBigrams(SEEN, NUM_TOKENS, 0)))
    assert slip.transducer(torch.tensor([1.0, 0.9, 0.1, 1.0])) is None


@pytest.mark.parametrize("direction", ["left", "right"])
def test_moves_are_packed_by_state_and_token(direction: str) -> None:
    channel = settled(CHANNELS["slip"].make(direction))
    machine = channel.transducer(channel.weights())
    packed = pack_transducer(machine, NUM_TOKENS)
    kinds = NUM_TOKENS + 1
    assert len(packed.move_start) == machine.num_states * kinds + 1
    for kind in range(machine.num_states * kinds):
        state, token = divmod(kind, kinds)
        wanted = [move for move in machine.moves if (move.source, move.token % kinds) == (state, token)]
        here = slice(packed.move_start[kind], packed.move_start[kind + 1])
        assert packed.written[here].tolist() == [move.written for move in wanted]
        assert packed.target[here].tolist() == [move.target for move in wanted]
        found = np.diff(packed.move_total[here], prepend=0).tolist()
        assert found == pytest.approx([move.chance for move in wanted], abs=1e-15)
        assert packed.move_total[here][-1] == 1
    assert packed.start_from_right.tolist() == [direction == "right", False]
    assert packed.start_total[-1] == 1


def test_a_machine_that_cannot_go_on() -> None:
    halt = Move(0, END, 1.0, NOTHING, HALT)
    one = Transducer(1, [Start(0, 1.0, False)], [Move(0, 0, 1.0, 0, 0), Move(0, 1, 0.0, 1, 0), halt])
    with pytest.raises(ValueError, match=r"no possible move in state 0 for token 1$"):
        pack_transducer(one, 2)
    other = Transducer(1, [Start(0, 1.0, False)], [Move(0, 0, 1.0, 0, 0)])
    with pytest.raises(ValueError, match=r"no possible move in state 1 for the end$"):
        pack_transducer(mixed([(0.5, one._replace(moves=[Move(0, 0, 1.0, 0, 0), halt])), (0.5, other)]), 1)
