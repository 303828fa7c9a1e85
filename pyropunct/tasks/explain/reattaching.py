"""Heads for the marks of a treebank: each mark depends on the constituent that sprouted it.

In the underlying tree T', some constituent sprouted each surface mark (Li, Wang & Eisner 2019, section 2).
The head of the mark is the head word of that constituent, unless arcs would cross.  The best T' gives one
head (`mark_attachments`).  Posterior draws give the probability of each head, and so the likely errors of a
treebank (`doubts`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.fitted.story import FittedStory
from pyropunct.inference.inside import posterior_draws
from pyropunct.inference.machines.evidence import String, exactly
from pyropunct.inference.machines.paths import Ways
from pyropunct.inference.problem import Problem
from pyropunct.models.channel.slip import SLIP
from pyropunct.tasks.explain.derivations import SlotDerivation, sprouted_marks, ways_of
from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD
from pyropunct.treebank.sentence import PUNCTUATION, Sentence
from pyropunct.treebank.tree import Tree, mark_heads

DRAWS = 200
"""Draws from the posterior of a sentence, from which the probabilities of heads are estimated."""

Advance = Callable[[int], None]


def mark_attachments(sentence: Sentence, derivations: Sequence[SlotDerivation]) -> dict[int, int]:
    """The head of each mark that the underlying tree explains, both as token ids of the original sentence.

    The head is the head word of the constituent that sprouted the mark.  If the arc would cross, as for a
    period that moved inside a quotation mark, it is the head of the constituent into which the mark moved.
    So arcs of marks do not cross each other or the arcs of a projective tree.

    :param derivations: of the slots 0..n, see `pyropunct.tasks.explain.derivations.Derivations.of`.
    """
    attachments = {}
    for slot, derivation in enumerate(derivations):
        explained = sprouted_marks(sentence, slot, derivation)
        heads = uncrossed([sprouted.word for _, sprouted in explained], slot)
        for (mark, _), word in zip(explained, heads, strict=True):
            attachments[mark] = sentence.layout.words[word - 1]
    return attachments


def uncrossed(words: Sequence[int], slot: int) -> list[int]:
    """Heads for the marks of a slot whose arcs do not cross.

    Arcs do not cross if and only if the marks that depend on words before the slot come first, and heads do
    not increase from left to right among these marks and among the others.

    :param words: the preferred head of each mark, from left to right; words up to ``slot`` precede the slot.
    :returns: the same, except that marks between those of another constituent get its head.
    """
    heads = list(words)
    before = [place for place, word in enumerate(words) if word <= slot]
    border = before[-1] + 1 if before else 0
    innermost = 0
    for place in reversed(range(border)):
        innermost = max(innermost, words[place]) if words[place] <= slot else innermost
        heads[place] = innermost
    for place in range(border + 1, len(words)):
        heads[place] = min(heads[place - 1], words[place])
    return heads


def hung(tree: Tree, wanted: Sequence[Sequence[int]]) -> list[list[int]]:
    """Heads for the marks of the slots of a projective tree, such that no arcs cross.

    :param wanted: for each slot the preferred heads of its marks, 0 for a mark without one.
    :returns: the preferred head where no arcs cross, otherwise the lowest ancestor that can be a head.
    """
    top = mark_heads(tree)
    of_slots = []
    for slot, heads in enumerate(wanted):
        possible = {top[slot], *_beside(tree, slot)}
        of_slots.append(uncrossed([_raised(tree, head, possible) or top[slot] for head in heads], slot))
    return of_slots


def _beside(tree: Tree, slot: int) -> Iterator[int]:
    """The words on which a mark in a slot can depend without crossing an arc."""
    for word, side in ((slot, 1), (slot + 1, 0)):
        border = word
        while 1 <= word <= len(tree):
            yield word
            word = tree.heads[word - 1] if tree.spans[word - 1][side] == border else 0


def _raised(tree: Tree, word: int, possible: set[int]) -> int:
    """The first of the possible words on the way from a word to the root, or 0."""
    while word and word not in possible:
        word = tree.heads[word - 1]
    return word


def reattached(sentence: Sentence, attachments: Mapping[int, int]) -> Sentence:
    """The sentence with new heads of some marks, with relation ``punct``, also in the enhanced graph.

    :param attachments: the new heads by marks, both as token ids of the original sentence.
    :raises ValueError: if a word would get a new head, or a mark would become a head.
    """
    block = sentence.layout.block
    words, marks = set(sentence.layout.words), {mark for slot in sentence.layout.marks for mark in slot}
    if not (marks.issuperset(attachments) and words.issuperset(attachments.values())):
        raise ValueError("marks hang on words, and words are not reattached")
    changed = {}
    for mark, head in attachments.items():
        columns = block.tokens[mark - 1].columns
        old, new = f"{columns[HEAD]}:{columns[DEPREL]}", f"{head}:{PUNCTUATION}"
        arcs = {new if arc == old else arc for arc in columns[DEPS].split("|")}
        changed[mark] = {HEAD: str(head), DEPREL: PUNCTUATION, DEPS: "|".join(sorted(arcs, key=_by_head))}
    return replace(sentence, layout=replace(sentence.layout, block=block.changed(changed)))


def _by_head(arc: str) -> tuple[list[int], str]:
    """The order of arcs in DEPS: by head, where 5.1 comes after 5."""
    head, _, relation = arc.partition(":")
    return [int(part) for part in head.split(".") if part.isdigit()], relation


class Doubt(NamedTuple):
    """A mark that has a less probable head than another; see `head_posteriors`.

    :ivar mark: the mark; it and the heads are token ids of the original.
    :ivar head: its head in the treebank.
    :ivar probability: the posterior probability of this head.
    :ivar proposed: the most probable head.
    :ivar proposed_probability: its posterior probability.
    """

    sentence: Sentence
    mark: int
    head: int
    probability: float
    proposed: int
    proposed_probability: float

    @property
    def certainty(self) -> float:
        """The difference of the two probabilities."""
        return self.proposed_probability - self.probability

    @property
    def line(self) -> int:
        """The line of the mark in the file, counted from 1."""
        block = self.sentence.layout.block
        return block.first_line + block.tokens[self.mark - 1].row


def doubts(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Doubt]:
    """The marks that have a less probable head than another, most certain first; see `head_posteriors`."""
    doubts = []
    for sentence, heads in head_posteriors(model, sentences, advance, draws=draws, seed=seed):
        tokens = sentence.layout.block.tokens
        for mark, posterior in heads.items():
            if not posterior:
                continue
            head = tokens[mark - 1].head
            proposed = max(posterior, key=posterior.__getitem__)
            of_head = posterior.get(head, 0.0)
            if posterior[proposed] > of_head:
                doubts.append(Doubt(sentence, mark, head, of_head, proposed, posterior[proposed]))
    return sorted(doubts, key=lambda doubt: -doubt.certainty)


def head_posteriors(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Iterator[tuple[Sentence, dict[int, dict[int, float]]]]:
    """For each mark of each sentence the posterior probabilities of its heads, given the trees and all marks.

    The probability p of a head is the share of draws of T' and of the channel's moves that give the mark this
    head, as in `mark_attachments`.  Its standard error is sqrt(p (1 - p) / draws), at most 0.036 with 200
    draws.  The probabilities of a mark add up to 1 minus the probability that no constituent sprouted it.

    :param draws: how many draws for each sentence.
    :param seed: the draws of a sentence depend on the sentence and the seed alone.
    :returns: each sentence with the probabilities by marks and heads, as token ids of the original.
    """
    ways, encode = ways_of(model), model.vocabulary.encode_string
    for sentence in sentences:
        [(_, problem)] = model.problems([sentence])
        choices = posterior_draws(problem, draws, torch.Generator().manual_seed(seed))
        generator, layout = np.random.default_rng(seed), sentence.layout
        counts: dict[int, Counter[int]] = {mark: Counter() for slot in layout.marks for mark in slot}
        for slot, marks in enumerate(layout.marks):
            if not marks:
                continue
            x = tuple(encode(sentence.surface[slot]))
            for words in drawn_origins(problem, choices, ways, (0, slot), x, generator):
                # The sentence start or an abbreviation dot comes before the marks.
                known = [(m, word) for m, word in zip(marks, words[-len(marks) :], strict=True) if word]
                heads = uncrossed([word for _, word in known], slot)
                for (mark, _), head in zip(known, heads, strict=True):
                    counts[mark][layout.words[head - 1]] += 1
        yield (
            sentence,
            {mark: {head: count / draws for head, count in some.items()} for mark, some in counts.items()},
        )
        advance(1)


def drawn_origins(
    problem: Problem,
    choices: Tensor,
    ways: Ways,
    place: tuple[int, int],
    surface: String,
    generator: np.random.Generator,
) -> Iterator[tuple[int | None, ...]]:
    """Draws of the constituents that sprouted the tokens of a slot's surface string.

    For each draw of T' the moves of the channel are drawn from their posterior.

    :param choices: (draws, nodes) draws of T', see `pyropunct.inference.inside.posterior_draws`.
    :param place: the number of the tree, and the slot within the tree.
    :returns: for each draw, in no order, the head word of each token's constituent, from 1; 0 for the
        sentence start, None for a token without one, as in a slip.  Nothing if the tree is impossible.
    """
    forest, (tree, slot) = problem.forest, place
    first = int(forest.node_start[tree])
    start, nodes, on_left = forest.sprouting
    number = int(forest.slot_start[tree]) + slot
    own = slice(start[number], start[number + 1])
    sides = list(zip(nodes[own].tolist(), on_left[own].tolist(), strict=True))
    relation, pairs = problem.relation.tolist(), problem.inventory.pairs
    opening = problem.inventory.start_token
    for row, count in Counter(map(tuple, choices[:, nodes[own]].tolist())).items():
        if -1 in row:
            continue
        underlying = [(opening, 0)] if slot == 0 and opening is not None else []
        for choice, (node, is_left) in zip(row, sides, strict=True):
            side = pairs[relation[node]][choice][0 if is_left else 1]
            underlying += [(token, node - first + 1) for token in side]
        tokens, words = [token for token, _ in underlying], [word for _, word in underlying]
        for _ in range(count):
            path = ways.draw(tokens, exactly(surface), generator)
            if path is None or path.branch == SLIP:
                yield (None,) * len(surface)
            else:
                yield tuple(None if origin is None else words[origin] for origin in path.origins)
