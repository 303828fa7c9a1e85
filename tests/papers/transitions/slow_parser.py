"""The perceptron parser again, in plain Python: slowly, with trees as objects and every average summed up."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from slow_features import distance, features_of

from pyropunct.papers.transitions.arc_standard_parser import transitions_to
from pyropunct.papers.transitions.machine import JOIN_LEFT, PUSH
from pyropunct.papers.transitions.marked_sentences import MarkedSentence, TreatedSentence, treated, tree_of
from pyropunct.papers.transitions.parser import Action, Recipe
from pyropunct.papers.transitions.perceptron import number_of
from pyropunct.papers.transitions.templates import TEMPLATES, templates_in

PAIRED = "paired"
Weights = Mapping[tuple[int, int], int]
"""The weights of features, by their keys, for actions, by their numbers."""


@dataclass(frozen=True)
class Node:
    """A tree of the stack, or a word of the buffer; children go outward, ``mark`` is a tag or `PAIRED`."""

    word: int
    form: str
    tag: str
    opened: frozenset[int]
    closed: frozenset[int]
    mark: str
    left: tuple[tuple["Node", int], ...] = ()
    right: tuple[tuple["Node", int], ...] = ()

    @property
    def property(self) -> int:
        if self.opened or self.closed:
            return (1 if self.opened else 0) + (2 if self.closed else 0)
        return {"": 0, PAIRED: 4}[self.mark] if self.mark in ("", PAIRED) else 5 + number_of(self.mark)

    def met(self) -> "Node":
        both = self.opened & self.closed
        if not both:
            return self
        opened, closed = self.opened - both, self.closed - both
        return replace(self, opened=opened, closed=closed, mark=self.mark if opened or closed else PAIRED)

    def with_left(self, child: "Node", relation: int) -> "Node":
        opened = self.opened | child.opened
        return replace(self, left=(*self.left, (child, relation)), opened=opened).met()

    def with_right(self, child: "Node", relation: int) -> "Node":
        node = replace(self, right=(*self.right, (child, relation)), closed=self.closed | child.closed)
        if child.property > 4 and not node.opened and not node.closed:
            node = replace(node, mark=child.mark)
        return node.met()


@dataclass(frozen=True)
class State:
    stack: tuple[Node, ...]
    buffer: tuple[Node, ...]
    score: int = 0
    actions: tuple[int, ...] = ()


def start(tokens: TreatedSentence) -> State:
    def bits(number: int) -> frozenset[int]:
        return frozenset(place for place in range(64) if number >> place & 1)

    columns = zip(tokens.forms, tokens.tags, tokens.opened, tokens.closed, tokens.beside, strict=True)
    words = [
        Node(word, form, tag, bits(opened), bits(closed), beside).met()
        for word, (form, tag, opened, closed, beside) in enumerate(columns, start=1)
    ]
    return State((), tuple(words))


def possible(state: State, kind: int) -> bool:
    return bool(state.buffer) if kind == PUSH else len(state.stack) > 1


def after(state: State, kind: int, relation: int) -> State:
    if kind == PUSH:
        return replace(state, stack=(*state.stack, state.buffer[0]), buffer=state.buffer[1:])
    *rest, second, first = state.stack
    joined = first.with_left(second, relation) if kind == JOIN_LEFT else second.with_right(first, relation)
    return replace(state, stack=(*rest, joined))


def atoms_of(state: State) -> dict[str, int]:
    """All atoms that are not absent."""
    atoms: dict[str, int] = {}

    def write_word(name: str, node: Node) -> None:
        atoms.update({f"{name}.w": number_of(node.form), f"{name}.t": number_of(node.tag)})

    items = {f"s{place}": node for place, node in enumerate(state.stack[:-4:-1])}
    for name, node in items.items():
        write_word(name, node)
        atoms[f"{name}.p"], atoms[f"{name}.leaf"] = node.property, 2 if node.left or node.right else 1
    for name, node in list(items.items())[:2]:
        for side, children in (("l", node.left), ("r", node.right)):
            atoms[f"{name}.v{side}"] = 1 + len(children)
            atoms[f"{name}.s{side}"] = sum({1 << relation % 63 for _, relation in children})
            for place, (child, relation) in zip((side, f"{side}2"), children[::-1], strict=False):
                write_word(f"{name}.{place}", child)
                atoms[f"{name}.{place}.d"] = relation
        if node.left:
            atoms[f"{name}.l.p"] = node.left[-1][0].property
    for place, node in enumerate(state.buffer[:4]):
        write_word(f"b{place}", node)
        atoms[f"b{place}.p"] = node.property
    following = state.buffer[0].word if state.buffer else last_word(state) + 1
    for name, (one, other) in {"d10": ("s1", "s0"), "d20": ("s2", "s0")}.items():
        if one in items:
            atoms[name] = distance(items[other].word - items[one].word)
    if "s0" in items:
        atoms["d0b"] = distance(following - items["s0"].word)
    return atoms


def last_word(state: State) -> int:
    """The last word in the trees of the stack."""

    def last(node: Node) -> int:
        return last(node.right[-1][0]) if node.right else node.word

    return last(state.stack[-1])


@dataclass
class SlowParser:
    """A parser that can be trained; ``total`` sums the weights after each example."""

    recipe: Recipe
    actions: Sequence[Action]
    weights: defaultdict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    total: Counter[tuple[int, int]] = field(default_factory=Counter)
    updates: int = 0

    def __post_init__(self) -> None:
        relations = sorted({relation for kind, relation in self.actions if kind != PUSH})
        self.moves = [
            (kind, 0 if kind == PUSH else 1 + relations.index(relation)) for kind, relation in self.actions
        ]
        self.templates = templates_in(TEMPLATES[self.recipe.features])

    def beams(self, tokens: TreatedSentence, weights: Weights) -> Iterator[list[State]]:
        """The beam after each transition, the best state first."""
        beam = [start(tokens)]
        for _ in range(2 * len(tokens.forms) - 1):
            found = [one for state in beam for one in self.following(state, weights)]
            beam = sorted(found, key=lambda state: -state.score)[: self.recipe.beam]
            yield beam

    def following(self, state: State, weights: Weights) -> Iterator[State]:
        features = features_of(atoms_of(state), self.templates)
        for action, (kind, relation) in enumerate(self.moves):
            if possible(state, kind):
                score = state.score + sum(weights.get((feature, action), 0) for feature in features)
                yield replace(after(state, kind, relation), score=score, actions=(*state.actions, action))

    def best(self, tokens: TreatedSentence, weights: Weights) -> State:
        *_, beam = self.beams(tokens, weights)
        return beam[0]

    def train(self, sentences: Sequence[MarkedSentence]) -> None:
        order = np.random.default_rng(self.recipe.seed)
        for _ in range(self.recipe.iterations):
            for place in order.permutation(len(sentences)):
                self.learn(sentences[place])
                self.total.update(self.weights)

    def learn(self, sentence: MarkedSentence) -> None:
        tokens = treated(sentence, self.recipe.features)
        heads, relations, _ = tree_of(sentence, tokens.tokens)
        steps = transitions_to(heads, relations)
        gold = tuple(self.actions.index(step) for step in steps)
        for length, beam in enumerate(self.beams(tokens, self.weights), start=1):
            right = gold[:length]
            if right not in [state.actions for state in beam] or (right == gold and beam[0].actions != gold):
                self.updates += 1
                self.follow(tokens, right, 1)
                self.follow(tokens, beam[0].actions, -1)
                return

    def follow(self, tokens: TreatedSentence, actions: Sequence[int], by: int) -> None:
        state = start(tokens)
        for action in actions:
            for feature in features_of(atoms_of(state), self.templates):
                self.weights[feature, action] += by
            state = after(state, *self.moves[action])
