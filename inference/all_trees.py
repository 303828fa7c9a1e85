"""Sums over all trees of a packed forest, over their punctemes and edits: equation 1 with T summed out.

The automata of the observed x say what each puncteme does in each slot: the matrix M_i(v).  These are made by
tensor operations, once for each distinct string of x, and the kernels of
`pyropunct.inference.kernels.packed` do the rest.  Gradients are posteriors, as for single trees
(`pyropunct.inference.inside`).

Sources: Li, Wang & Eisner (2019, equation 1 and section 3); Eisner & Satta (1999, "Efficient parsing for
bilexical context-free grammars and head automaton grammars") for halves of heads.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inventory import Inventory, Puncteme
from pyropunct.inference.kernels.inside import MAX, SUM
from pyropunct.inference.kernels.packed import decode_packed, inside_packed, outside_packed
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import Ints, starts_of

Array = NDArray[Any]


class Work(NamedTuple):
    """What the kernels read and write.

    :ivar pair: (C,) the weights of the pairs of all items.
    :ivar matrix: (M, Q, Q) the matrices of the punctemes that are possible in each automaton.
    :ivar end: (B, Q) the weights at the right end of each sentence.
    :ivar value: (H, Q) the halves: columns on the left of a word, rows on the right.
    :ivar grown: (G, Q) the halves behind each possible puncteme.
    :ivar is_grown: (H,) whether that has been computed.
    :ivar states: (K,) how many states each automaton has.
    :ivar possible_start: (K + 1,) where the matrices of each automaton start.
    :ivar place: (K, V) the place of each puncteme among those of an automaton, -1 if it is impossible.
    :ivar grown_start: (H + 1,) where the grown vectors of each half start.
    :ivar row_left: (R,) the number of the left puncteme of each row of the inventory.
    :ivar row_right: (R,) that of the right one.
    :ivar row_start: (D + 1,) the first row of each relation.
    :ivar choice_start: (I + 1,) where the pairs of each item start.
    :ivar most: the most possible punctemes of an automaton.

    The others are as in `PackedForest`; ``half_automaton`` belongs to ``half_slot``.
    """

    pair: Array
    matrix: Array
    end: Array
    value: Array
    grown: Array
    is_grown: Array
    states: Array
    possible_start: Array
    place: Array
    grown_start: Array
    half_automaton: Array
    on_left: Array
    node_start: Array
    item_start: Array
    half_start: Array
    word: Array
    near: Array
    far: Array
    source: Array
    target: Array
    relation: Array
    row_left: Array
    row_right: Array
    row_start: Array
    choice_start: Array
    most: int


class Adjoint(NamedTuple):
    """Derivatives by the arrays of `Work` with these names."""

    pair: Array
    value: Array
    grown: Array
    matrix: Array
    end: Array


class _Punctemes(NamedTuple):
    """The distinct punctemes of an inventory, and those of each row."""

    strings: list[Puncteme]
    left: Ints
    right: Ints


def _punctemes(inventory: Inventory) -> _Punctemes:
    number = {string: at for at, string in enumerate(dict.fromkeys(s for row in inventory.rows for s in row))}
    left, right = (np.array([number[row[side]] for row in inventory.rows]) for side in (0, 1))
    return _Punctemes(list(number), left, right)


def matrices_of(automata: Automata, strings: Sequence[Puncteme], best: bool = False) -> Tensor:
    """(K, V, Q, Q) the matrix of each string of tokens in each automaton.

    :param best: multiply in the semiring of greatest products.
    """
    of_tokens = automata.matrices()
    states = of_tokens.shape[-1]
    nothing = torch.eye(states, dtype=of_tokens.dtype, device=of_tokens.device).expand(len(of_tokens), -1, -1)
    known: dict[Puncteme, Tensor] = {(): nothing}

    def matrix(string: Puncteme) -> Tensor:
        if string not in known:
            before, last = matrix(string[:-1]), of_tokens[:, string[-1]]
            known[string] = (
                (before[..., None] * last[:, None]).amax(-2) if best else before @ last
            )
        return known[string]

    return torch.stack([matrix(string) for string in strings], 1)


class PackedProblem:
    """What the kernels need of a problem whose trees are latent, and its numbers.

    :param problem: whose forest is packed; its numbers have no dimensions on the left.
    :param best: for the best derivation, in place of sums.
    """

    def __init__(self, problem: Problem, best: bool = False) -> None:
        assert isinstance(problem.forest, PackedForest)
        self._problem, self._best = problem, best
        forest, inventory = problem.forest, problem.inventory
        numbers = {name: getattr(problem.automata, name).double() for name in ("weight", "initial", "final")}
        automata = problem.automata._replace(**numbers)
        self.punctemes = _punctemes(inventory)
        matrices = matrices_of(automata, self.punctemes.strings, best)
        possible = (matrices.detach() != 0).flatten(2).any(-1)
        self.matrix = matrices[possible]
        initial, final = automata.end_vectors()
        of_slot = problem.slot_automaton
        begin, end = initial[of_slot[forest.slot_start[:-1]]], final[of_slot[forest.slot_start[1:] - 1]]
        tokens = automata.matrices()
        if inventory.start_token is not None:
            begin = _times(begin, tokens[of_slot[forest.slot_start[:-1]], inventory.start_token], best)
        if inventory.end_token is not None:
            past = tokens[of_slot[forest.slot_start[1:] - 1], inventory.end_token]
            end = _times(end, past.transpose(1, 2), best)
        self.end = end
        # the halves without dependents: final weights on the left of a word, initial ones on its right
        self.half_automaton = of_slot[forest.half_slot]
        sizes = forest.node_start.diff()
        self.tops = forest.half_start[:-1] + 2 * sizes
        is_leaf = torch.arange(len(forest.half_slot)) - torch.repeat_interleave(
            forest.half_start[:-1], forest.half_start.diff()
        ) < torch.repeat_interleave(2 * sizes, forest.half_start.diff())
        self.leaves = is_leaf.nonzero()[:, 0]
        at_leaves = self.half_automaton[self.leaves]
        on_left = forest.on_left[self.leaves].bool()[:, None]
        value = torch.where(on_left, final[at_leaves], initial[at_leaves])
        self.first = torch.cat([value, begin])  # the values of halves that have no items
        self.possible = possible

    def work(self, pair: Tensor, matrix: Tensor, end: Tensor, first: Tensor) -> Work:
        """The arrays of the kernels for given numbers."""
        problem, forest = self._problem, self._problem.forest
        assert isinstance(forest, PackedForest)
        states = np.diff(problem.automata.state_start)
        possible = self.possible.cpu().numpy()
        counts = possible.sum(1)
        place = np.where(possible, np.cumsum(possible, 1) - 1, -1)
        automaton = self.half_automaton.numpy()
        grown_start = starts_of(counts[automaton])
        value = np.zeros((len(automaton), matrix.shape[-1]))
        value[torch.cat([self.leaves, self.tops]).numpy()] = first.detach().numpy()
        names = "node_start", "item_start", "half_start", "word", "near", "far", "source", "target", "on_left"
        return Work(
            pair=pair.detach().double().numpy(),
            matrix=np.ascontiguousarray(matrix.detach().numpy()),
            end=np.ascontiguousarray(end.detach().numpy()),
            value=value,
            grown=np.zeros((int(grown_start[-1]), matrix.shape[-1])),
            is_grown=np.zeros(len(automaton), np.bool_),
            states=states,
            possible_start=starts_of(counts),
            place=place,
            grown_start=grown_start,
            half_automaton=automaton,
            relation=problem.relation.numpy(),
            row_left=self.punctemes.left,
            row_right=self.punctemes.right,
            row_start=problem.inventory.pair_start,
            choice_start=problem.choice_start,
            most=int(counts.max()),
            **{name: getattr(forest, name).numpy() for name in names},
        )


def _times(vector: Tensor, matrix: Tensor, best: bool) -> Tensor:
    product = vector[:, :, None] * matrix
    return product.amax(1) if best else product.sum(1)


class _Inside(torch.autograd.Function):
    """The total weights of sentences, and their derivatives."""

    @staticmethod
    def forward(ctx: Any, packed: PackedProblem, *numbers: Tensor) -> Tensor:
        ctx.work = work = packed.work(*numbers)
        ctx.ends = torch.cat([packed.leaves, packed.tops])
        totals = np.empty(len(work.end))
        inside_packed(work, totals, SUM)
        return torch.from_numpy(totals)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, seeds: Tensor) -> tuple[Tensor | None, ...]:
        work = ctx.work
        adjoint = Adjoint(*(np.zeros_like(getattr(work, name)) for name in Adjoint._fields))
        outside_packed(work, adjoint, np.ascontiguousarray(seeds.numpy()))
        first = torch.from_numpy(adjoint.value)[ctx.ends]
        return None, *map(torch.from_numpy, (adjoint.pair, adjoint.matrix, adjoint.end)), first


def log_total(problem: Problem) -> Tensor:
    """(B,) the logarithm of the total weight of all trees of each sentence with all their T' that explain x.

    Differentiable once.  The derivative in ``log_pairs`` is the posterior of each pair of each item.

    :param problem: whose ``log_pairs`` have the logarithms of the weights of arcs besides.
    """
    packed, forest = PackedProblem(problem), problem.forest
    assert isinstance(forest, PackedForest)
    log_pairs = problem.log_pairs.double()
    best = _best_of_words(problem)  # so that long sentences stay above the least numbers
    pair = (log_pairs - best[_word_of_pair(problem)]).exp()
    totals = _Inside.apply(packed, pair, packed.matrix, packed.end, packed.first)
    log_totals = totals.log() + torch.stack([some.sum() for some in best.split(forest.node_start.diff().tolist())])
    return problem.unscaled(log_totals)


def _word_of_pair(problem: Problem) -> Tensor:
    """(C,) the word of each pair's item."""
    assert isinstance(problem.forest, PackedForest)
    return torch.repeat_interleave(problem.forest.word, torch.from_numpy(np.diff(problem.choice_start)))


def _best_of_words(problem: Problem) -> Tensor:
    """(N,) the greatest of the weights of each word's pairs: all its items together count once in a tree."""
    word, values = _word_of_pair(problem), problem.log_pairs.detach().double()
    words = int(problem.forest.node_start[-1])
    best = values.new_full((words,), -torch.inf).scatter_reduce(0, word, values, "amax")
    return best.nan_to_num(neginf=0.0)


def log_total_of_items(forest: PackedForest, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the total weight of each sentence's trees, (B,), and the share of each item in it, (I,).

    :param log_weights: (I,) the logarithm of the weight of each item.
    """
    one, states = torch.ones(1, dtype=torch.double), np.array([0, 1])
    nothing = Automata(0, states, states[:1], states[:0], states[:0], one[:0], one, one, np.zeros(1))
    items, slots = (torch.zeros(size, dtype=torch.long) for size in (forest.num_nodes, forest.num_slots))
    with torch.enable_grad():
        leaf = log_weights.detach().requires_grad_()
        total = log_total(Problem(forest, Inventory(0, [[((), ())]]), items, leaf, nothing, slots))
        (shares,) = torch.autograd.grad(total.sum(), leaf)
    return total.detach(), shares


class DrawnTrees(NamedTuple):
    """Trees T with their T'.

    :ivar items: (draws, N) the item of each word, -1 in sentences whose x is impossible.
    :ivar choices: (draws, N) the choice of its constituent from W_d, likewise.
    """

    items: Tensor
    choices: Tensor


def drawn_trees(problem: Problem, draws: int, generator: torch.Generator | None = None) -> DrawnTrees:
    """Independent draws of T and T' from p(T, T' | words, x)."""
    words = int(problem.forest.node_start[-1])
    return _decoded(problem, torch.rand((draws, words, 5), dtype=torch.double, generator=generator), False)


def best_trees(problem: Problem) -> DrawnTrees:
    """T and T' of the most probable derivation of each sentence, as one draw."""
    words = int(problem.forest.node_start[-1])
    return _decoded(problem, torch.zeros((1, words, 5), dtype=torch.double), True)


@torch.no_grad()
def _decoded(problem: Problem, chances: Tensor, best: bool) -> DrawnTrees:
    packed, semiring = PackedProblem(problem, best), MAX if best else SUM
    pair = (problem.log_pairs.double() - _best_of_words(problem)[_word_of_pair(problem)]).exp()
    work = packed.work(pair, packed.matrix, packed.end, packed.first)
    totals = np.empty(len(work.end))
    inside_packed(work, totals, semiring)
    incoming = np.argsort(work.target, kind="stable")
    start = np.searchsorted(work.target[incoming], np.arange(len(work.value) + 1))
    items, choices = (np.full(chances.shape[:2], -1) for _ in range(2))
    decode_packed(work, totals, start, incoming, chances.numpy(), semiring, items, choices)
    return DrawnTrees(torch.from_numpy(items), torch.from_numpy(choices))
