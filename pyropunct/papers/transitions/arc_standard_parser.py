"""The arc-standard parser of sentences with marks: training and parsing."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from pyropunct.papers.transitions.cells import FIRST_MARK, matrix_of
from pyropunct.papers.transitions.machine import JOIN_LEFT, JOIN_RIGHT, PUSH
from pyropunct.papers.transitions.marked_sentences import MarkedSentence, TreatedSentence, treated, tree_of
from pyropunct.papers.transitions.parser import Action, Example, Recipe, TransitionParser
from pyropunct.papers.transitions.perceptron import Array, number_of
from pyropunct.tasks import Advance


class ParsedSentence(NamedTuple):
    """The m tokens of a sentence with a tree from a parser: heads from 1, 0 for the root, and relations.

    Both are None for a mark that is not parsed.
    """

    heads: tuple[int | None, ...]
    relations: tuple[str | None, ...]


class ArcStandardParser(TransitionParser):
    """A shift-reduce parser with a perceptron; see `train_arc_standard`."""

    what = "an arc-standard parser"
    needed: ClassVar = {PUSH: ""}

    @classmethod
    def weight_numbers(cls, place: int, kind: int, relation: int, relations: int) -> tuple[int, int]:
        """Each action has weights of its own."""
        return place, -1

    def parse(self, sentences: Iterable[MarkedSentence]) -> list[ParsedSentence]:
        """The projective tree of each sentence with one root. Raises ValueError if there is no token to
        parse.
        """
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: MarkedSentence) -> ParsedSentence:
        kept = treated(sentence, self.recipe.features)
        if not kept.tokens:
            raise ValueError("there is no word to parse")
        _, heads, relations = self.reading(encoded(kept))
        numbers, tokens = (0, *kept.tokens), range(1, len(sentence.forms) + 1)
        head_of = dict(zip(kept.tokens, (numbers[head] for head in heads), strict=True))
        relation_of = dict(zip(kept.tokens, relations, strict=True))
        return ParsedSentence(tuple(map(head_of.get, tokens)), tuple(map(relation_of.get, tokens)))


def encoded(tokens: TreatedSentence) -> Array:
    """A sentence in the format of compiled code."""
    marks = [FIRST_MARK + number_of(tag) if tag else 0 for tag in tokens.beside]
    return matrix_of(tokens.forms, tokens.tags, marks, tokens.opened, tokens.closed)


def transitions_to(heads: Sequence[int], relations: Sequence[str]) -> list[Action]:
    """The transitions to a projective tree, heads from 1, with their relations, empty for a push.

    An arc is made as soon as its dependent has all dependents; left arcs first.
    """
    waiting = [0] * (len(heads) + 1)
    for head in heads:
        waiting[head] += 1
    stack: list[int] = []
    found: list[Action] = []
    for word in range(1, len(heads) + 1):
        stack.append(word)
        found.append((PUSH, ""))
        while len(stack) > 1:
            under, top = stack[-2:]
            if heads[under - 1] == top:
                del stack[-2]
                found.append((JOIN_LEFT, relations[under - 1]))
                waiting[top] -= 1
            elif heads[top - 1] == under and not waiting[top]:
                stack.pop()
                found.append((JOIN_RIGHT, relations[top - 1]))
                waiting[under] -= 1
            else:
                break
    return found


def train_arc_standard(
    sentences: Iterable[MarkedSentence], recipe: Recipe, *, advance: Advance = lambda done: None
) -> ArcStandardParser:
    """Train a parser on a treebank, whose trees are made projective; sentences without words are ignored.

    :raises ValueError: if there is no sentence of two words or more, or there are thousands of relations.
    """
    examples, roots, lifted = list[Example](), list[str](), list[int]()
    for sentence in sentences:
        kept = treated(sentence, recipe.features)
        if kept.tokens:
            heads, relations, changed = tree_of(sentence, kept.tokens)
            examples.append(Example(encoded(kept), transitions_to(heads, relations), [len(heads)]))
            roots.append(relations[heads.index(0)])
            lifted.append(changed)
    report = {
        "sentences": len(examples),
        "lifted_arcs": sum(lifted),
        "lifted_sentences": sum(map(bool, lifted)),
    }
    return ArcStandardParser.learned(recipe, examples, roots, report, advance)
