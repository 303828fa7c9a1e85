"""NOISYCHANNEL: from the underlying to the surface string of a slot (Li, Wang & Eisner 2019, section 2.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pyro.nn import PyroModule, PyroSample
from pyro.nn.module import pyro_method
from torch import Tensor

from pyropunct.inference.machines.moves import END, Branch, MachineError, Move, Pass
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.models.priors import NormalPrior


class Channel(PyroModule):
    """Base class of noisy channels: p(x_i | u_i) for each slot i, independently.

    A subclass has `PyroSample` sites and two methods, `weights` and `moves`: the moves of a machine that
    reads the underlying string u and writes the surface string x. Everything else follows from the moves. See
    docs/guide/variants.md.

    :param direction: "left" to read and write from left to right, "right" from right to left.
    :raises ValueError: if the direction is neither.
    """

    def __init__(self, num_tokens: int, direction: str = "left") -> None:
        super().__init__()
        if direction not in ("left", "right"):
            raise ValueError(f'a channel\'s direction is "left" or "right", not {direction!r}')
        self.num_tokens, self.direction = num_tokens, direction
        self._transducer: Transducer | None = None
        self._made_with: tuple[object, ...] = ()

    def _fixed(self) -> tuple[object, ...]:
        """What the moves and their fixed factors come from: directions and buffers, as they are now."""
        directions = (part.direction for part in self.modules() if isinstance(part, Channel))
        return (*directions, *((buffer.data_ptr(), buffer._version) for buffer in self.buffers()))

    def weights(self) -> Mapping[str, Tensor]:
        """The weights that the moves name, from `PyroSample` sites; joint values of other sites are on the
        left.
        """
        raise NotImplementedError

    def weights_of(self, trees: Any) -> Mapping[str, Tensor]:
        """The weights for given trees: by default `weights`, the same for all trees.

        A channel that looks at trees gives each of B trees its own: B is the last dimension on the left.
        """
        return self.weights()

    def moves(self) -> Iterable[Move]:
        """The moves of the machine; those of each state and token have probabilities that add up to 1."""
        raise NotImplementedError

    def branches(self) -> Sequence[Branch]:
        """The ways in which the channel may work: by default one pass of `moves`."""
        moves = self.moves()
        if not isinstance(moves, Iterable):
            raise MachineError(f"moves() gave {moves!r}, not moves")
        return [Branch((Pass(tuple(moves), self.direction == "right"),))]

    def normal_site(self, name: str, mean: Tensor, scale: float) -> Any:
        """A site with a normal prior, a tensor when read as an attribute.

        :param name: of the buffer with the mean; raises MachineError if another site has it.
        """
        if name in self._buffers:
            raise MachineError(f"two sites have the prior mean {name!r}: give each a name of its own")
        self.register_buffer(name, mean)
        return PyroSample(NormalPrior(name, scale))

    @property
    def kind(self) -> str:
        """The name of its class, for messages."""
        return type(self).__name__

    def probabilities(self, trees: Any = None) -> Tensor:
        """(..., P) the weights in one line, of trees or of all; makes the machine if there is none yet.

        The machine is kept, and made anew when a direction or a buffer has changed.

        :raises MachineError: if a new machine is not probabilistic, or the weights have other shapes than
            those of the machine, or than its moves name.
        """
        weights = self.weights() if trees is None else self.weights_of(trees)
        if self._transducer is None or self._made_with != self._fixed():
            return self._make_machine(weights)
        shapes = self._transducer.products.places.shapes
        for name, shape in shapes.items():
            found = tuple(weights[name].shape) if name in weights else None
            if found is None or found[len(found) - len(shape) :] != tuple(shape):
                raise MachineError(
                    f"the channel {self.kind}: the weights {name!r} had the shape {tuple(shape)}, now "
                    f"they have {found}"
                )
        return _in_line(weights, shapes)

    def _make_machine(self, weights: Mapping[str, Tensor]) -> Tensor:
        """Keep the machine of the moves and check it with these weights, which are returned in one line."""
        try:
            branches = self.branches()
            shapes = _shapes(weights, branches)
            transducer, line = Transducer(branches, self.num_tokens, shapes), _in_line(weights, shapes)
            transducer.check(line)
            for name, used in transducer.products.used().items():
                if used != shapes[name]:
                    raise MachineError(
                        f"the weights {name!r} have the shape {shapes[name]}, but moves name {used}"
                    )
        except MachineError as error:
            raise MachineError(f"the channel {self.kind}: {error}") from None
        self._transducer, self._made_with = transducer, self._fixed()
        return line

    @pyro_method  # so that a site that is read twice is drawn once
    def check(self) -> None:
        """Check, with weights from the prior, that the moves make a probabilistic machine.

        :raises MachineError: with the state and the token.
        """
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            self.probabilities()

    @property
    def transducer(self) -> Transducer:
        """The machine, ready to be used, for all values of the weights."""
        if self._transducer is None or self._made_with != self._fixed():
            self.check()
        assert self._transducer is not None
        return self._transducer

    def edit_table(self) -> Tensor | None:
        """(..., tokens, tokens, 4) how a is edited before b (`EDITS`); None unless one machine has edits."""
        weights = self.probabilities()
        return self.transducer.edit_table(weights)


def _shapes(weights: Mapping[str, Tensor], branches: Sequence[Branch]) -> dict[str, tuple[int, ...]]:
    """The shape of each named weight: as many dimensions on the right as its names have places."""
    if not isinstance(weights, Mapping) or not all(isinstance(each, Tensor) for each in weights.values()):
        raise MachineError(f"weights() gave {weights!r}, not tensors by their names")
    moves = [move for branch in branches for one in branch.passes for move in one.moves]
    for move in moves:
        if not isinstance(move, Move):
            raise MachineError(f"moves() gave {move!r}, not a Move")
        if not all(isinstance(name, tuple) for name in move.weight):
            raise MachineError(f"the weight of {move!r} is not a tuple of tuples, such as (('w', 3),)")
    named = [name for branch in branches for name in branch.weight]
    named += [name for move in moves for name in move.weight]
    dims = {str(name): len(index) for name, *index in named}
    for name, values in weights.items():
        if name not in dims:
            known = ", ".join(map(repr, dims)) or "none"
            raise MachineError(f"no move has the weight {name!r}: the moves name {known}")
        if values.dim() < dims[name]:
            raise MachineError(
                f"the weights {name!r} have {values.dim()} dimensions, moves name {dims[name]}"
            )
    return {name: tuple(values.shape[values.dim() - dims[name] :]) for name, values in weights.items()}


def _in_line(weights: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> Tensor:
    """Named weights one after the other."""
    parts = [
        weights[name].flatten(-len(shape)) if shape else weights[name].unsqueeze(-1)
        for name, shape in shapes.items()
    ]
    if not parts:
        return torch.ones(0)
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return torch.cat([part.expand(*batch, -1) for part in parts], -1)


class Identity(Channel):
    """The channel that changes nothing: the attach-only ablation (Li, Wang & Eisner 2019, section 4)."""

    def weights(self) -> Mapping[str, Tensor]:
        """None: it leaves nothing to chance."""
        return {}

    def moves(self) -> Iterator[Move]:
        """There is one state; each move writes the token that it reads."""
        for token in range(self.num_tokens):
            yield Move("copying", token, written=(token,), target="copying")
        yield Move("copying", END)
