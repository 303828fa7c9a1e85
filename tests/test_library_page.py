"""The programs of docs/guide/library.md, what the page shows of them, and the same sums by enumeration."""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyro
import pytest
import torch
from brute_force import String, underlying_strings
from problems import padded
from pyro import poutine
from torch import Tensor

from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.moves import END, Branch, Move, Pass
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.story_state import StoryState
from pyropunct.inference.story_inputs import StoryInputs

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "library.md"
NUMBER = re.compile(r"\d+\.\d+")
VERB, PLACE, OWNER = range(3)
GEN, LOC, IN = range(3)
PAIRS = [
    [((), ())],
    [((), ()), ((), (LOC,)), ((IN,), (LOC,))],
    [((), ()), ((), (GEN,))],
]
"""What the nodes of the page may choose, in the order of the inventory."""

Tree = list[tuple[int, int]]
Surfaces = dict[tuple[String, ...], dict[tuple[int, ...], float]]
"""For each surface its explanations: p(T', x | T) of choices T'."""

TREES: list[Tree] = [
    [(4, PLACE), (1, OWNER), (2, OWNER), (0, VERB)],
    [(2, OWNER), (3, PLACE), (0, VERB)],
    [(0, VERB), (1, PLACE), (2, PLACE)],
    [(2, PLACE), (3, PLACE), (0, VERB)],
    [(2, OWNER), (0, PLACE), (2, OWNER), (3, OWNER)],
    [(0, PLACE)],
]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.usefixtures("single_precision")
def test_the_program_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Last digits may differ from machine to machine."""
    exec("".join(blocks("python")), {})
    printed, shown = capsys.readouterr().out, "".join(blocks("text"))
    assert NUMBER.sub("", printed) == NUMBER.sub("", shown)
    numbers, expected = ([float(number) for number in NUMBER.findall(text)] for text in (printed, shown))
    assert numbers == pytest.approx(expected, abs=0.05)


@pytest.fixture
def page() -> dict[str, Any]:
    """What the first block of the page defines, and values of what is to be learned."""
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    values = {
        "table": torch.tensor([0.3, -0.4, 0.5, 1.1, -0.2, 0.9], requires_grad=True),
        "dropped": torch.tensor(0.3, requires_grad=True),
    }
    names["values"] = values
    names["given"] = poutine.block(poutine.do(names["model"], values), hide=list(values))
    return names


def haplologies(underlying: String, dropped: float) -> Iterator[tuple[String, float]]:
    """Each way to drop markers behind their equals: what is left, and the probability."""
    may = [place > 0 and marker == underlying[place - 1] for place, marker in enumerate(underlying)]
    for drops in itertools.product(*((False, True) if each else (False,) for each in may)):
        left = tuple(marker for marker, drop in zip(underlying, drops, strict=True) if not drop)
        yield left, dropped ** sum(drops) * (1 - dropped) ** (sum(may) - sum(drops))


def enumerated(tree: Tree, table: Sequence[float], dropped: float) -> Surfaces:
    """p(T', x | T) of all choices and all rewritings."""
    heads, kinds = zip(*tree, strict=True)
    first = [sum(map(len, PAIRS[:kind])) for kind in kinds]
    sizes = [len(PAIRS[kind]) for kind in kinds]
    found: Surfaces = defaultdict(lambda: defaultdict(float))
    for choices in itertools.product(*map(range, sizes)):
        chance = 1.0
        for start, size, choice in zip(first, sizes, choices, strict=True):
            chance *= math.exp(table[start + choice]) / sum(map(math.exp, table[start : start + size]))
        chosen = [PAIRS[kind][choice] for kind, choice in zip(kinds, choices, strict=True)]
        slots = underlying_strings(heads, chosen)
        for ways in itertools.product(*(haplologies(slot, dropped) for slot in slots)):
            surface, chances = zip(*ways, strict=True)
            found[surface][choices] += chance * math.prod(chances)
    return found


def test_the_order_of_choices(page: dict[str, Any]) -> None:
    assert page["inventory"].pairs == PAIRS


@pytest.mark.parametrize("tree", TREES)
def test_sums_and_posteriors_are_those_of_enumeration(page: dict[str, Any], tree: Tree) -> None:
    trees, values = page["noun_phrases"](tree), page["values"]
    found = enumerated(tree, values["table"].tolist(), values["dropped"].item())
    assert sum(sum(some.values()) for some in found.values()) == pytest.approx(1)
    for surface, some in found.items():
        total, strings = sum(some.values()), padded(surface)
        story = poutine.trace(collapse_trees(page["given"])).get_trace(trees, strings)
        assert story.log_prob_sum().item() == pytest.approx(math.log(total))
        table = torch.zeros(len(tree), max(len(PAIRS[kind]) for _, kind in tree))
        for choices, weight in some.items():
            table[range(len(tree)), choices] += weight / total
        told = infer_trees(page["given"])(trees, strings)
        torch.testing.assert_close(told.posterior.marginals().probs, table)
        decoded = poutine.trace(infer_trees(page["given"])).get_trace(trees, strings)
        decoded.compute_log_prob()
        drawn = decoded.nodes["pairs"]
        assert drawn["log_prob_sum"].exp().item() == pytest.approx(
            some[tuple(drawn["value"].tolist())] / total
        )


@pytest.mark.parametrize("tree", TREES)
def test_sums_and_gradients_are_those_of_trace_enum_elbo(page: dict[str, Any], tree: Tree) -> None:
    trees, values = page["noun_phrases"](tree), page["values"]
    elbo = pyro.infer.TraceEnum_ELBO(max_plate_nesting=1)
    for surface in enumerated(tree, values["table"].tolist(), values["dropped"].item()):
        strings = padded(surface)
        loss = elbo.differentiable_loss(one_by_one(page["given"]), lambda *_: None, trees, strings)
        total = log_evidence(tree_problem(page["given"], trees, strings)).sum()
        torch.testing.assert_close(total, -loss)
        slopes = [
            torch.autograd.grad(value, list(values.values()), allow_unused=True, materialize_grads=True)
            for value in (total, -loss)
        ]
        torch.testing.assert_close(*slopes)


# The programs that record circuits.

Derivation = tuple[list[int], list[int]]
"""The places of the given numbers and of the weights that a derivation multiplies."""


@pytest.fixture
def programs() -> dict[str, Any]:
    """What the blocks of the page define that record circuits."""
    names: dict[str, Any] = {"torch": torch}
    exec("".join(block for block in blocks("python") if "Recorder(" in block), names)
    return names


def of_grammar(words: int, symbols: int) -> list[Derivation]:
    """All binary trees with all symbols."""
    ends = [(start, start + length) for length in range(2, words + 1) for start in range(words - length + 1)]

    def below(symbol: int, start: int, end: int) -> list[Derivation]:
        if end == start + 1:
            return [([], [start * symbols + symbol])]
        place = words * symbols + ends.index((start, end))
        return [
            (
                [symbols + symbol * symbols**2 + left * symbols + right, *given, *more_given],
                [place, *weights, *more_weights],
            )
            for left, right, middle in itertools.product(
                range(symbols), range(symbols), range(start + 1, end)
            )
            for given, weights in below(left, start, middle)
            for more_given, more_weights in below(right, middle, end)
        ]

    return [([root, *given], weights) for root in range(symbols) for given, weights in below(root, 0, words)]


def of_chain(words: int, labels: int) -> list[Derivation]:
    """All sequences of labels."""
    return [
        (
            [before * labels + after for before, after in itertools.pairwise(sequence)],
            [word * labels + label for word, label in enumerate(sequence)],
        )
        for sequence in itertools.product(range(labels), repeat=words)
    ]


@pytest.mark.parametrize("far", [0.0, -150.0, 200.0, -1000.0])
@pytest.mark.parametrize(
    ("name", "sizes", "derivations"),
    [("chain", (4, 3), of_chain), ("grammar", (4, 2), of_grammar)],
)
def test_recorded_programs_are_those_of_enumeration(
    programs: dict[str, Any],
    name: str,
    sizes: tuple[int, ...],
    derivations: Callable[..., list[Derivation]],
    far: float,
) -> None:
    found, recorded = derivations(*sizes), programs[name](*sizes)
    program = recorded[0] if isinstance(recorded, tuple) else recorded
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(program.num_weights, generator=generator, dtype=torch.double)
    scores[::3] += far
    given = torch.rand(program.num_given, generator=generator, dtype=torch.double)
    leaves = given.requires_grad_(), scores.requires_grad_()
    weights = torch.stack([given[numbers].log().sum() + scores[places].sum() for numbers, places in found])
    totals = program.log_totals(*leaves).sum(), weights.logsumexp(0)
    torch.testing.assert_close(*totals)
    ours, theirs = (torch.autograd.grad(total, leaves) for total in totals)
    torch.testing.assert_close(ours, theirs)
    best = program.best(*leaves)
    assert sorted(best[best >= 0].tolist()) == sorted(found[int(weights.argmax())][1])
    draws = program.draws(*leaves, 3000, generator)
    shares = torch.bincount(draws[draws >= 0], minlength=len(scores)) / 3000
    torch.testing.assert_close(shares.double(), ours[1], rtol=0, atol=0.05)


# A class that passes from parent to child, written with the strings.

MARK, ERROR, CLASS = 0, 1, 2
"""A mark, what is written where two classes differ, and the first of the two tokens of classes."""


def comparing() -> Transducer:
    """Reads tokens of classes two by two, and writes `ERROR` where they differ; marks stay."""
    classes = CLASS, CLASS + 1
    moves = [Move("reading", END)]
    for state in ("reading", *classes):
        moves += [Move(state, token, (), (token,), state) for token in (MARK, ERROR)]
        if state == "reading":
            moves += [Move(state, token, (), (), token) for token in classes]
        else:
            moves += [
                Move(state, token, (), () if token == state else (ERROR,), "reading") for token in classes
            ]
            moves.append(Move(state, END))
    return Transducer([Branch((Pass(moves),))], 4, {})


def sets_of_classes(
    heads: Sequence[int], passed: Sequence[Sequence[float]], marked: Sequence[float]
) -> list[dict[tuple[String, String], float]]:
    """For each word its pairs and weights, p(class, mark | head's class), by the classes at its edges."""
    found = []
    for word, head in enumerate(heads, 1):
        below = [child for child, of in enumerate(heads, 1) if of == word]
        between = range(min(word, head) + 1, max(word, head))
        meets_sibling = head > 0 and any(heads[other - 1] == head for other in between)
        pairs: dict[tuple[String, String], float] = defaultdict(float, {((), ()): 0.0})
        for above, own, mark in itertools.product(range(2 if head else 1), range(2), range(2)):
            of_head, mine = (CLASS + above,), (CLASS + own,)
            left = of_head * (head > word or meets_sibling) + mine * any(child < word for child in below)
            right = mine * any(child > word for child in below) + (MARK,) * mark
            right += of_head * (0 < head < word or meets_sibling)
            pairs[left, right] += passed[above][own] * (marked[own] if mark else 1 - marked[own])
        found.append(dict(sorted(pairs.items())))
    return found


def hidden_classes(
    heads: Sequence[int], passed: Sequence[Sequence[float]], marked: Sequence[float]
) -> dict[tuple[String, ...], float]:
    """p(x | T) of all x, by enumeration of classes and marks; the root is as if below class 0."""
    found: dict[tuple[String, ...], float] = defaultdict(float)
    for chosen in itertools.product(itertools.product(range(2), repeat=2), repeat=len(heads)):
        chance = 1.0
        for head, (own, mark) in zip(heads, chosen, strict=True):
            above = chosen[head - 1][0] if head else 0
            chance *= passed[above][own] * (marked[own] if mark else 1 - marked[own])
        pairs = [((), (MARK,) * mark) for _, mark in chosen]
        found[tuple(underlying_strings(heads, pairs))] += chance
    return found


@pytest.mark.parametrize("heads", [(2, 0, 2), (0, 1, 2, 1), (3, 3, 5, 3, 0, 5), (4, 3, 1, 0)])
def test_a_class_that_passes_from_parent_to_child_can_be_written_with_strings(
    page: dict[str, Any], heads: tuple[int, ...]
) -> None:
    passed, marked = [[0.9, 0.1], [0.3, 0.7]], [0.2, 0.6]
    sets = sets_of_classes(heads, passed, marked)
    trees = page["noun_phrases"]([(head, word) for word, head in enumerate(heads)])
    inventory = Inventory(4, [list(some) for some in sets])
    scores = torch.tensor([weight for some in sets for weight in some.values()]).log()
    scores.requires_grad_()
    transducer, uniform = comparing(), math.log(2) * (len(heads) - 1)
    assert inventory.pairs == [list(some) for some in sets]

    def model(surface: Tensor) -> StoryState:
        return page["tell"](StoryInputs(trees, inventory, scores, transducer, torch.ones(0)), surface)

    found = hidden_classes(heads, passed, marked)
    assert sum(found.values()) == pytest.approx(1)
    for surface, chance in found.items():
        total = log_evidence(tree_problem(model, padded(surface))).sum()
        assert total.item() + uniform == pytest.approx(math.log(chance))
        (slopes,) = torch.autograd.grad(total, scores)
        assert slopes.isfinite().all()
