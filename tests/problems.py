"""Small random problems, and the same problems for the package and for brute force."""

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from brute_force import (
    Explanation,
    Pair,
    Rewritings,
    String,
    expectation,
    explanations,
    slides,
    sliding_window,
    underlying_strings,
)
from pyro import poutine
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.views import Views, join_views, views_of
from pyropunct.models.attach.attach_model import Attach, PairFrequencies
from pyropunct.models.attach.features import Attributes, ViewAttributes
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

NOTHING: Pair = ((), ())
PAIRS: list[list[Pair]] = [
    [NOTHING, ((1,), ())],
    [NOTHING, ((), (2,)), ((1,), (1,))],
    [NOTHING, ((), (2, 2)), ((1, 2), (2, 1)), ((2,), (2,))],
]
"""The sorted pairs of three relations over the tokens 0, 1, 2; some share a beginning, some an end."""


class Case(NamedTuple):
    """One tree with its surface, as plain numbers."""

    heads: list[int]
    relations: list[int]
    chances: list[list[float]]
    surface: list[String]
    cost: list[list[float]]

    @property
    def pairs(self) -> list[list[Pair]]:
        return [PAIRS[relation] for relation in self.relations]


def inventory(start_token: int | None = 0, end_token: int | None = None) -> Inventory:
    return Inventory(3, PAIRS, start_token, end_token)


def walls(some: Inventory) -> tuple[String, String]:
    """What the inventory puts around a sentence."""
    start, end = some.start_token, some.end_token
    return (() if start is None else (start,)), (() if end is None else (end,))


def window(direction: str, seed: int = 0) -> SlidingWindow:
    """A sliding window over three tokens with random edit probabilities."""
    channel = SlidingWindow(3, direction)
    channel.edit_logits = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(seed))
    return channel


def settled(channel: Channel) -> Channel:
    """The channel with its latent parameters drawn from their prior, once and for all."""
    for module in channel.modules():
        for name in list(getattr(module, "_pyro_samples", ())):
            setattr(module, name, getattr(module, name))
    return channel


def edits_of(channel: SlidingWindow) -> list[list[list[float]]]:
    return channel.edit_logits.softmax(-1).tolist()


def random_case(heads: list[int], channel: SlidingWindow, some: Inventory, seed: int) -> Case:
    """A tree with random relations, weights and costs, and a surface that the channel may show."""
    rng = random.Random(seed)
    relations = [rng.randrange(len(PAIRS)) for _ in heads]
    chances = []
    for relation in relations:
        weights = [rng.expovariate(1) for _ in PAIRS[relation]]
        chances.append([weight / sum(weights) for weight in weights])
    chosen = [rng.choice(PAIRS[relation]) for relation in relations]
    phi = edits_of(channel)
    surface = []
    for underlying in underlying_strings(heads, chosen, *walls(some)):
        strings, weights = zip(*slides(underlying, phi, channel.direction), strict=True)
        surface.append(rng.choices(strings, weights)[0])
    cost = [[rng.uniform(-1, 2) for _ in PAIRS[relation]] for relation in relations]
    return Case(heads, relations, chances, surface, cost)


def log_pairs_of(cases: Sequence[Case]) -> Tensor:
    return torch.tensor([math.log(p) for case in cases for some in case.chances for p in some])


def cost_of(cases: Sequence[Case]) -> Tensor:
    return torch.tensor([value for case in cases for some in case.cost for value in some])


def problem_of(cases: Sequence[Case], channel: Channel, some: Inventory) -> Problem:
    """The problem as the package wants it."""
    strings = [string for case in cases for string in case.surface]
    distinct = list(dict.fromkeys(strings))
    return Problem(
        forest_of([case.heads for case in cases]),
        some,
        torch.tensor([relation for case in cases for relation in case.relations]),
        log_pairs_of(cases),
        channel.transducer.automata(list(map(exactly, distinct)), channel.probabilities()),
        torch.tensor([distinct.index(string) for string in strings]),
    )


def explanations_of(case: Case, rewritings: Rewritings, some: Inventory) -> list[Explanation]:
    return explanations(case.heads, case.pairs, case.chances, case.surface, rewritings, *walls(some))


def expected(case: Case, channel: SlidingWindow, some: Inventory) -> tuple[list[Explanation], float]:
    """All explanations of a case, and the expectation of its cost."""
    found = explanations_of(case, sliding_window(edits_of(channel), channel.direction), some)
    return found, expectation(found, case.cost)


def tree_batch(heads: Sequence[Sequence[int]], relations: Sequence[int], **columns: list[int]) -> TreeBatch:
    """Trees whose words have the given relations, and tags, forms and shapes of 0 unless given."""
    zeros = torch.zeros(len(relations), dtype=torch.long)
    others = {
        name: torch.tensor(columns[name]) if name in columns else zeros for name in ("tag", "form", "shape")
    }
    return TreeBatch(forest_of(heads), torch.tensor(relations), **others)


def padded(strings: Sequence[String]) -> Tensor:
    """Surface strings as the package wants them."""
    longest = max(1, *(len(string) for string in strings))
    return torch.tensor([[*string, *[-1] * (longest - len(string))] for string in strings])


def strings_up_to(length: int, tokens: Sequence[int]) -> list[String]:
    """All strings over some tokens, the empty one included."""
    return [string for size in range(length + 1) for string in itertools.product(tokens, repeat=size)]


def slope(function, tensor: Tensor, index: tuple[int, ...], step: float = 1e-4) -> float:  # type: ignore[no-untyped-def]
    """The derivative of a number with respect to one entry of a tensor, by differences of fourth order."""

    def at(shift: float) -> float:
        moved = tensor.detach().clone()
        moved[index] += shift
        return float(function(moved))

    near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
    return (8 * near - far) / (12 * step)


def seen(trees: TreeBatch, surface: Tensor) -> tuple[TreeBatch, Views]:
    """Trees, and what is inside their constituents, as attach models want them."""
    return trees, views_of(trees.forest, surface)


def scores_of(attach: Attach, trees: TreeBatch, surface: Tensor) -> Tensor:
    """The scores of the pairs of all nodes, node after node."""
    return attach.scores(*seen(trees, surface))


def attributes_of(trees: TreeBatch, surface: Tensor) -> ViewAttributes:
    """The attributes of all nodes, with the marks inside them."""
    return ViewAttributes(Attributes(trees), views_of(trees.forest, surface))


def seen_several_times(some: TreeBatch, surfaces: Sequence[Tensor]) -> Views:
    """The views of all nodes in several surface strings, node after node."""
    nodes = torch.arange(some.forest.num_nodes)[:, None]
    return join_views([views_of(some.forest, surface, node) for node in nodes for surface in surfaces])


class Table(PairFrequencies):
    """An attach model that knows only relations: a number for each pair of each of them."""

    def chances(self, scores: Tensor) -> list[list[float]]:
        """The probabilities of the pairs of each relation."""
        sizes = [len(some) for some in self.inventory.pairs]
        return [some.softmax(-1).tolist() for some in scores.detach().split(sizes)]


def tiny_story(channel: Channel, **weights: float) -> Story:
    """A story of three marks, the sentence start and brackets; ``weights`` are of its regularisers."""
    some = inventory()
    return Story(some, Table(some), channel, marks=("^", "(", ")"), **weights)


def story_case(story: Story, heads: list[int], seed: int) -> Case:
    """A random case whose probabilities are those of the story; its weights are no longer latent."""
    torch.manual_seed(seed)
    story.attach.table = torch.randn(len(story.inventory.rows))
    story.channel.edit_logits = torch.randn(3, 3, 4)
    case = random_case(heads, story.channel, story.inventory, seed)
    chances = story.attach.chances(story.attach.table)
    return case._replace(chances=[chances[relation] for relation in case.relations])


def batch_of(cases: Sequence[Case]) -> tuple[TreeBatch, Tensor]:
    """The trees and the surface strings of some cases."""
    relations = [relation for case in cases for relation in case.relations]
    surface = padded([string for case in cases for string in case.surface])
    return tree_batch([case.heads for case in cases], relations), surface


def evidence_of_trees(model: Callable[..., object], *args: object, **kwargs: object) -> Tensor:
    """log p(x | T) of each tree, or each sentence, as the site "surface" of the collapsed model has it."""
    trace = poutine.trace(collapse_trees(model)).get_trace(*args, **kwargs)
    trace.compute_log_prob()
    return trace.nodes["surface"]["unscaled_log_prob"]
