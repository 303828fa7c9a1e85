"""The arc-standard parser: feature templates, training and parsing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pyropunct.papers.ma_2014.treatments import MarkedSentence, TreatedSentence, treated, tree_of
from pyropunct.papers.options import Treatment
from pyropunct.papers.transitions.arc_standard import ATOMS, KINDS, LEFT, RIGHT, SHIFT
from pyropunct.papers.transitions.cells import CLOSED, FIRST_MARK, MARK, OPENED, matrix_of
from pyropunct.papers.transitions.perceptron import number_of
from pyropunct.papers.transitions.search import ARC_STANDARD, TransitionSystem
from pyropunct.papers.transitions.transition_parser import (
    Action,
    Rest,
    TransitionParser,
    relation_numbers,
    system_of,
)
from pyropunct.tasks import Advance

WORDS = """
s0.w s0.t | s0.w | s0.t | s1.w s1.t | s1.w | s1.t | s2.w s2.t | s2.w | s2.t
b0.w b0.t | b0.w | b0.t | b1.w b1.t | b1.w | b1.t | b2.w b2.t | b2.w | b2.t

s1.w s1.t s0.w s0.t | s1.w s1.t s0.w | s1.w s0.w s0.t | s1.w s1.t s0.t | s1.t s0.w s0.t
s1.w s0.w | s1.t s0.t | s1.w s0.t | s1.t s0.w
s0.w s0.t b0.w b0.t | s0.w s0.t b0.w | s0.w b0.w b0.t | s0.w s0.t b0.t | s0.t b0.w b0.t
s0.w b0.w | s0.t b0.t | s1.t b0.t | s2.t s0.t | b0.t b1.t

b0.t b1.t b2.t | s0.t b0.t b1.t | s1.t s0.t b0.t | s1.t s0.w b0.t | s2.t s1.t s0.t
s1.l.t s1.t s0.t | s1.r.t s1.t s0.t | s0.l.t s1.t s0.t | s0.r.t s1.t s0.t
s0.l.t s0.t b0.t | s0.r.t s0.t b0.t

d10 s1.w | d10 s1.t | d10 s0.w | d10 s0.t | d10 s1.w s0.w | d10 s1.t s0.t

s0.vl s0.w | s0.vl s0.t | s0.vr s0.w | s0.vr s0.t | s1.vl s1.w | s1.vl s1.t | s1.vr s1.w | s1.vr s1.t

s0.l.w | s0.l.t | s0.l.d | s0.r.w | s0.r.t | s0.r.d | s1.l.w | s1.l.t | s1.l.d | s1.r.w | s1.r.t | s1.r.d

s0.l2.w | s0.l2.t | s0.l2.d | s0.r2.w | s0.r2.t | s0.r2.d | s1.l2.w | s1.l2.t | s1.l2.d
s1.r2.w | s1.r2.t | s1.r2.d
s0.l2.t s0.t s0.l.t | s0.r2.t s0.t s0.r.t | s1.l2.t s1.t s1.l.t | s1.r2.t s1.t s1.r.t

s0.sl s0.w | s0.sl s0.t | s0.sr s0.w | s0.sr s0.t | s1.sl s1.w | s1.sl s1.t | s1.sr s1.w | s1.sr s1.t
"""
"""The templates of Zhang & Nivre (2011, Tables 1 and 2), group by group: single words, pairs, three words,
distance, valency, children, second children, and sets of relations.  Arcs of their arc-eager system join s0
and b0, but arcs of the system here join s1 and s0: so s1 and s0 take the places of s0 and b0.  Templates with
the head of s0 are left out, since s0 has no head here."""

PAIRED = """
b0.p | b1.p | b2.p | b3.p | s0.p | s1.p | s2.p
b0.p b0.w | b1.p b1.w | b2.p b2.w | s0.p s0.w | s1.p s1.w
b0.p b0.t | b1.p b1.t | b2.p b2.t | s0.p s0.t | s1.p s1.t
s0.p b0.p | s0.p b1.p | s0.p b2.p | s0.p s1.p | s0.p s2.p
s0.p b0.t | s0.p b1.t | s0.p b2.t | s0.p s1.t | s0.p s2.t
s0.p b0.w | s0.p b1.w | s0.p b2.w | s0.p s1.w | s0.p s2.w
"""
"""The first three lines of Table 3 of Ma, Zhang & Zhu (2014)."""

UNPAIRED = """
s2.p s0.t | s1.p s0.t | s2.p s2.t s0.t | s1.p s1.t s0.t | s0.p s0.t b0.t
s2.p d20 s2.t s0.t | s1.p d10 s1.t s0.t | s0.p d0b s0.t b0.t
s2.p s2.leaf s0.t | s1.p s1.leaf s0.t | s2.p s2.leaf s2.t s0.t | s1.p s1.leaf s1.t s0.t
s2.p s2.leaf d20 s2.t s0.t | s1.p s1.leaf d10 s1.t s0.t | s0.p s0.leaf d0b s0.t b0.t
s0.l.p s0.t | s0.l.p s0.l.t s0.t
"""
"""The other lines of Table 3, whose first line names the pair (s2, s0) twice; and further templates of the
authors' program: whether items are leaves, and the property of the left child."""


Array = NDArray[Any]

TEMPLATES: Mapping[Treatment, str] = {
    Treatment.TOKENS: WORDS,
    Treatment.AWAY: WORDS,
    Treatment.PAIRED: WORDS + PAIRED,
    Treatment.ALL: WORDS + PAIRED + UNPAIRED,
}
"""The templates for each treatment of marks."""


@dataclass(frozen=True)
class ArcStandardRecipe:
    """How a parser is trained.

    :ivar treatment: of marks.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: passes over the sentences.
    :ivar seed: of the order of sentences, which changes in each iteration.
    """

    treatment: Treatment = Treatment.ALL
    beam: int = 16
    iterations: int = 25
    seed: int = 0


class ParsedSentence(NamedTuple):
    """The m tokens of a sentence with a tree from a parser: heads from 1, 0 for the root, and relations.

    Both are None for a mark that is not parsed.
    """

    heads: tuple[int | None, ...]
    relations: tuple[str | None, ...]


class ArcStandardParser(TransitionParser):
    """A shift-reduce parser with a perceptron; see `train_arc_standard`."""

    recipe: ArcStandardRecipe
    what = "an arc-standard parser"
    recipe_kind = ArcStandardRecipe
    kinds, needed = KINDS, {SHIFT: ""}

    @classmethod
    def system(cls, recipe: ArcStandardRecipe, actions: Sequence[Action]) -> TransitionSystem:
        """Each action has weights of its own."""
        numbers = relation_numbers(actions)
        moves = [
            (kind, numbers.get(relation, 0), place, -1) for place, (kind, relation) in enumerate(actions)
        ]
        return system_of(ARC_STANDARD, moves, TEMPLATES[recipe.treatment], ATOMS)

    def parse(self, sentences: Iterable[MarkedSentence]) -> list[ParsedSentence]:
        """The projective tree of each sentence with one root. Raises ValueError if there is no token to
        parse.
        """
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: MarkedSentence) -> ParsedSentence:
        kept = treated(sentence, self.recipe.treatment)
        if not kept.tokens:
            raise ValueError("there is no word to parse")
        heads, relations = tree_after(self.best_actions(encoded(kept)), self.root)
        numbers, tokens = (0, *kept.tokens), range(1, len(sentence.forms) + 1)
        head_of = dict(zip(kept.tokens, (numbers[head] for head in heads), strict=True))
        relation_of = dict(zip(kept.tokens, relations, strict=True))
        return ParsedSentence(tuple(map(head_of.get, tokens)), tuple(map(relation_of.get, tokens)))


def encoded(tokens: TreatedSentence) -> Array:
    """A sentence in the format of compiled code."""
    marks = [FIRST_MARK + number_of(tag) if tag else 0 for tag in tokens.beside]
    properties = {OPENED: tokens.opened, CLOSED: tokens.closed, MARK: marks}
    return matrix_of(tokens.forms, tokens.tags, properties)


def transitions_to(heads: Sequence[int], relations: Sequence[str]) -> list[Action]:
    """The transitions to a projective tree, heads from 1, with their relations, empty for a shift.

    An arc is made as soon as its dependent has all dependents; left arcs first.
    """
    waiting = [0] * (len(heads) + 1)
    for head in heads:
        waiting[head] += 1
    stack: list[int] = []
    found: list[Action] = []
    for word in range(1, len(heads) + 1):
        stack.append(word)
        found.append((SHIFT, ""))
        while len(stack) > 1:
            under, top = stack[-2:]
            if heads[under - 1] == top:
                del stack[-2]
                found.append((LEFT, relations[under - 1]))
                waiting[top] -= 1
            elif heads[top - 1] == under and not waiting[top]:
                stack.pop()
                found.append((RIGHT, relations[top - 1]))
                waiting[under] -= 1
            else:
                break
    return found


def tree_after(transitions: Iterable[Action], root: str) -> tuple[list[int], list[str]]:
    """The heads and relations to which transitions lead; ``root`` is the relation of the root."""
    heads: list[int] = []
    relations: list[str] = []
    stack: list[int] = []
    for kind, relation in transitions:
        if kind == SHIFT:
            heads.append(0)
            relations.append(root)
            stack.append(len(heads))
            continue
        child = stack.pop(-2 if kind == LEFT else -1)
        heads[child - 1], relations[child - 1] = stack[-1], relation
    return heads, relations


def train_arc_standard(
    sentences: Iterable[MarkedSentence],
    recipe: ArcStandardRecipe | None = None,
    *,
    advance: Advance = lambda done: None,
) -> ArcStandardParser:
    """Train a parser on a treebank, whose trees are made projective; sentences without words are ignored.

    :raises ValueError: if there is no sentence of two words or more, or there are thousands of relations.
    """
    recipe = recipe or ArcStandardRecipe()
    kept = [(one, treated(one, recipe.treatment)) for one in sentences]
    kept = [(one, tokens) for one, tokens in kept if tokens.tokens]
    trees = [tree_of(one, tokens.tokens) for one, tokens in kept]
    examples = [
        [Rest(encoded(tokens), transitions_to(tree.heads, tree.relations), 2 * len(tree.heads) - 1)]
        for (_, tokens), tree in zip(kept, trees, strict=True)
    ]
    roots = (tree.relations[tree.heads.index(0)] for tree in trees)
    report = {
        "sentences": len(trees),
        "lifted_arcs": sum(tree.lifted for tree in trees),
        "lifted_sentences": sum(tree.lifted > 0 for tree in trees),
    }
    return ArcStandardParser.learned(recipe, examples, roots, report, advance)
