"""Which constituent sprouted a mark on the page: exact posterior probabilities.

To ask where the j-th token of a slot's surface string x comes from, underlying tokens get a second form, the
*coloured* one.  A machine treats a coloured token like a plain one, and writes it coloured.  So

    p(x, the j-th token is a token of constituent w's | T)

is the sum over all T' and all moves of the channel in which a single token is coloured, one that w sprouts in
this slot, and in which the surface string is x with its j-th token coloured.  The inside algorithm sums over
all w together, and its derivatives with respect to log p(l, r | w), for the pairs with a coloured token, are
the shares of each w.  `pyropunct.inference.machines.moves.claims` tells which token a machine writes.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory, Puncteme
from pyropunct.inference.machines.automata import (
    Acceptor,
    Arcs,
    Automata,
    Packed,
    join_automata,
    pack,
    side_by_side,
)
from pyropunct.inference.machines.evidence import String, exactly
from pyropunct.inference.machines.machine import Machine
from pyropunct.inference.machines.moves import END, HALT, START, Branch, MachineError, Pass, claims
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.problem import Problem, choice_rows
from pyropunct.inference.ragged import Floats, Ints

MOST_WAITING = 3
"""Tokens that a machine may have read without writing or absorbing them, if origins are asked for."""

NODES_AT_ONCE = 5000
"""Nodes of copies of trees, one copy a question, that are worked on together."""


class Question(NamedTuple):
    """Where a token of a surface string comes from.

    :ivar tree: the number of the tree.
    :ivar slot: the slot, counted within the tree.
    :ivar surface: the surface string of the slot.
    :ivar place: the place of the token in it.
    """

    tree: int
    slot: int
    surface: String
    place: int


class Origins:
    """Exact posterior probabilities of the origins of surface tokens.

    :param transducer: the channel.
    :param weights: (P,) its weights, in one line.
    :param inventory: the sets W_d.
    :param leaving_out: names of branches in which surface tokens come from nowhere.
    :raises MachineError: if a machine may let more than `MOST_WAITING` tokens wait.
    """

    def __init__(
        self,
        transducer: Transducer,
        weights: Tensor,
        inventory: Inventory,
        leaving_out: Collection[str] = (),
    ) -> None:
        coloured = [
            Branch(tuple(map(_coloured_pass, branch.machines)), branch.weight, branch.name)
            for branch in transducer.branches
            if branch.name not in leaving_out
        ]
        shapes = transducer.products.places.shapes
        self._num_tokens, self._weights = transducer.num_tokens, weights
        self._transducer = Transducer(coloured, 2 * transducer.num_tokens, shapes)
        self._inventory, self._base = _coloured_inventory(inventory)
        self._num_relations = inventory.num_relations
        self._known: dict[tuple[String, int], Packed] = {}

    def posterior(self, problem: Problem, questions: Sequence[Question]) -> Iterator[Floats]:
        """For each question the probability that each word's constituent sprouted the token, given x.

        :returns: for a tree of n words (n,) probabilities; what they lack of 1 is the probability that the
            token comes from nowhere.
        """
        sizes = problem.forest.node_start.diff().tolist()
        whole = log_evidence(problem).detach()
        first, nodes = 0, 0
        for last, question in enumerate(questions):
            if last > first and nodes + sizes[question.tree] > NODES_AT_ONCE:
                yield from self._answers(problem, whole, questions[first:last])
                first, nodes = last, 0
            nodes += sizes[question.tree]
        if questions:
            yield from self._answers(problem, whole, questions[first:])

    def _answers(self, problem: Problem, whole: Tensor, questions: Sequence[Question]) -> list[Floats]:
        asked, is_coloured = self._asked(problem, questions)
        with torch.enable_grad():
            leaf = asked.log_pairs.detach().requires_grad_()
            total = log_evidence(replace(asked, log_pairs=leaf))
            (gradient,) = torch.autograd.grad(total.sum(), leaf)
        tree = torch.tensor([question.tree for question in questions])
        explained = (total.detach() - whole[tree]).exp().numpy()
        shares = np.where(is_coloured, np.nan_to_num(gradient.double().numpy()), 0.0)
        of_nodes = np.add.reduceat(shares, asked.choice_start[:-1])
        parts = np.split(of_nodes, asked.forest.node_start[1:-1].numpy())
        return [part * share for part, share in zip(parts, explained, strict=True)]

    def _asked(self, problem: Problem, questions: Sequence[Question]) -> tuple[Problem, Ints]:
        """A copy of its tree for each question, and which choices of its nodes have a coloured token."""
        old, trees = problem.forest, [question.tree for question in questions]
        first = old.node_start.tolist()
        nodes = torch.cat([torch.arange(first[tree], first[tree + 1]) for tree in trees])
        heads = [
            [
                0 if head < 0 else head - first[tree] + 1
                for head in old.head[first[tree] : first[tree + 1]].tolist()
            ]
            for tree in trees
        ]
        forest = forest_of(heads)
        slots = forest.slot_start[:-1] + torch.tensor([question.slot for question in questions])
        own_slot = slots[forest.tree]
        side = (forest.left_slot == own_slot) + 2 * (forest.right_slot == own_slot)
        relation = problem.relation[nodes] + side * self._num_relations
        rows = choice_rows(self._inventory, relation)
        base, is_coloured = self._base[rows.numpy()].T
        starts = np.repeat(
            problem.choice_start[nodes.numpy()], np.diff(self._inventory.pair_start)[relation.numpy()]
        )
        automata, of_slots = self._automata(problem, questions, slots)
        log_pairs = problem.log_pairs[torch.from_numpy(starts + base)]
        return Problem(forest, self._inventory, relation, log_pairs, automata, of_slots), is_coloured

    def _automata(
        self, problem: Problem, questions: Sequence[Question], slots: Tensor
    ) -> tuple[Automata, Tensor]:
        """The problem's automata and one for each question, and which of them belongs to each slot."""
        first = problem.forest.slot_start.tolist()
        number = torch.cat([problem.slot_automaton[first[q.tree] : first[q.tree + 1]] for q in questions])
        keys = list(dict.fromkeys((question.surface, question.place) for question in questions))
        packed = [self._packed(*key) for key in keys]
        values = self._transducer.products.values(self._weights)
        plain = len(problem.automata.state_start) - 1
        number[slots] = torch.tensor([plain + keys.index((q.surface, q.place)) for q in questions])
        return side_by_side([_widened(problem.automata), join_automata(packed, values)]), number

    def _packed(self, surface: String, place: int) -> Packed:
        """The automaton of a surface string whose token at a place is coloured."""
        if (surface, place) not in self._known:
            token = surface[place] + self._num_tokens
            evidence = exactly((*surface[:place], token, *surface[place + 1 :]))
            acceptor = _with_one(self._transducer.acceptor(evidence), self._num_tokens)
            self._known[surface, place] = pack(acceptor, 2 * self._num_tokens)
        return self._known[surface, place]


def _coloured_pass(machine: Machine) -> Pass:
    """The pass of a machine over plain and coloured tokens; a token t is coloured as t + V.

    States: those of the machine, with the tokens that wait and their colours.
    """
    size = machine.num_tokens

    def shown(token: int, colour: int | None) -> int:
        return token + size * (colour or 0)

    known: set[tuple[int, Waiting]] = {(0, ())}
    agenda, moves = list(known), []
    for state, waiting in agenda:  # which grows meanwhile
        tokens = [(token, colour) for token in range(size) for colour in (0, 1)] if state else []
        for token, colour in [*tokens, (END if state else START, 0)]:
            read = ((token, colour),) if token >= 0 else ()
            for number in machine.at(state, token):
                move = machine.moves[number]
                colours, still = claims((*waiting, *read), move)
                if len(still) > MOST_WAITING:
                    raise MachineError("the channel does not tell which of its tokens are absorbed")
                target = int(machine.target[number]), tuple(still)
                if target[0] >= 0 and target not in known:
                    known.add(target)
                    agenda.append(target)
                moves.append(
                    move._replace(
                        source=(state, waiting),
                        token=shown(token, colour),
                        written=tuple(map(shown, move.written, colours)),
                        target=HALT if target[0] < 0 else target,
                        edit=None,
                    )
                )
    return Pass(tuple(moves), machine.from_right)


Waiting = tuple[tuple[int, int], ...]
"""Tokens that wait to be written or absorbed, each with 1 if it is coloured, else 0."""


def _coloured_inventory(inventory: Inventory) -> tuple[Inventory, Ints]:
    """Each relation three times: plain, with a coloured token on the left, with one on the right.

    :returns: the inventory, and for each of its rows the choice of which it is a form, and whether a token
        is coloured.  Plain forms are in all three.
    """
    size = inventory.num_tokens
    pairs: list[list[tuple[Puncteme, Puncteme]]] = []
    base: list[dict[tuple[Puncteme, Puncteme], tuple[int, bool]]] = []
    for side in (None, 0, 1):
        for some in inventory.pairs:
            forms = {pair: (choice, False) for choice, pair in enumerate(some)}
            for choice, (left, right) in enumerate(some if side is not None else ()):
                for form in _coloured((left, right)[side or 0], size):
                    forms[(form, right) if side == 0 else (left, form)] = choice, True
            pairs.append(list(forms))
            base.append(forms)
    coloured = Inventory(2 * size, pairs, inventory.start_token, inventory.end_token)
    rows = [forms[pair] for forms, some in zip(base, coloured.pairs, strict=True) for pair in some]
    return coloured, np.array(rows, np.int64)


def _coloured(puncteme: Puncteme, num_tokens: int) -> list[Puncteme]:
    """The puncteme with one of its tokens coloured, in all ways."""
    return [
        (*puncteme[:place], token + num_tokens, *puncteme[place + 1 :])
        for place, token in enumerate(puncteme)
    ]


def _with_one(acceptor: Acceptor, num_tokens: int) -> Acceptor:
    """The acceptor of those of its strings that have one coloured token.

    Its states are there twice: before that token, and behind it.
    """
    shift, arcs = acceptor.num_states, acceptor.arcs
    plain = arcs.token < num_tokens

    def moved(which: NDArray[np.bool_], source: int, target: int) -> Arcs:
        some = Arcs._make(column[which] for column in arcs)
        return some._replace(source=some.source + source, target=some.target + target)

    before, at, behind = moved(plain, 0, 0), moved(~plain, 0, shift), moved(plain, shift, shift)
    final = acceptor.final._replace(state=acceptor.final.state + shift)
    columns = zip(before, at, behind, strict=True)
    return Acceptor(2 * shift, acceptor.initial, final, Arcs._make(map(np.concatenate, columns)))


def _widened(automata: Automata) -> Automata:
    """The automata over plain and coloured tokens, which read no coloured one."""
    size = automata.num_tokens
    starts = automata.arc_start[:-1].reshape(-1, size)
    ends = automata.arc_start[size::size]
    wide = np.concatenate([starts, np.repeat(ends[:, None], size, 1)], 1)
    return automata._replace(num_tokens=2 * size, arc_start=np.concatenate([wide.ravel(), ends[-1:]]))
