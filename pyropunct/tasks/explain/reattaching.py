"""Heads for the marks of a treebank: each mark depends on the constituent that sprouted it.

According to the underlying tree T', each surface mark is a token that some constituent sprouted (Li, Wang &
Eisner 2019, section 2).  Its head is the head word of that constituent, unless arcs would cross.  The best T'
gives one head (`mark_attachments`).  Draws from the posterior tell how probable each head is, and so which
heads a treebank may have wrong (`doubts`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.inside import posterior_draws
from pyropunct.inference.machines.evidence import String, exactly
from pyropunct.inference.machines.paths import Ways
from pyropunct.inference.problem import Problem
from pyropunct.models.channel.composed import SLIP
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.derivations import SlotDerivation, sprouted_marks, ways_of
from pyropunct.text.marks import STRAIGHT
from pyropunct.treebank.conllu_block import DEPREL, DEPS, HEAD, MISC, misc_entries, with_misc
from pyropunct.treebank.sentence import PUNCTUATION, Sentence
from pyropunct.treebank.tree import dependents_of, preorder

DRAWS = 200
"""Draws from the posterior of a sentence, from which the probabilities of heads are estimated."""

NEAR, LONGEST = 5, 40
"""The most words of the context of a mark, on either side, and characters, as not all scripts have spaces."""

_WORD = re.compile(r"\s*\S+\s*$|\s*\S+")

QUOTATION_MARKS = frozenset(STRAIGHT).union("“”„‘’‚«»‹›「」『』")
ACCEPTED, PROPOSED, PROBABILITY = "PunctAccept", "PunctHead", "PunctProb"
"""Entries in MISC of a mark: whether an annotator accepts a head, this head, and its probability."""

_NO_PROPOSAL: dict[str, str | None] = dict.fromkeys((ACCEPTED, PROPOSED, PROBABILITY))


FUNCTION_WORDS = frozenset(
    ["aux", "case", "cc", "clf", "cop", "det", "fixed", "goeswith", "mark", "auxpass", "mwe"]
)
"""Relations of words that marks do not depend on if they can depend on another; the last two are of UD 1."""


def mark_attachments(sentence: Sentence, derivations: Sequence[SlotDerivation]) -> dict[int, int]:
    """The heads that the underlying tree gives the marks, both as token ids of the original sentence.

    A mark's head is the head word of the constituent that sprouted the mark, and not a function word.  If
    that is not possible by the rules of `Room`, as for a period that moved inside a quotation mark, it is the
    first possible word on the way to the root.  A mark that the tree does not explain keeps its head if that
    is possible.
    """
    layout = sentence.layout
    explained = {
        mark: sprouted.word
        for slot, derivation in enumerate(derivations)
        for mark, sprouted in sprouted_marks(sentence, slot, derivation)
    }
    number = layout.numbers
    wanted = {
        mark: explained.get(mark) or number[layout.head(mark)] for slot in layout.marks for mark in slot
    }
    found = hung(_heads(sentence), layout.marks, wanted, _barred(sentence))
    heads = {mark: layout.words[word - 1] for mark, word in found.items()}
    return {mark: head for mark, head in heads.items() if mark in explained or head != layout.head(mark)}


def _heads(sentence: Sentence) -> list[int]:
    """The heads of the words before the tree was made projective, counted among the words."""
    layout, number = sentence.layout, sentence.layout.numbers
    return [number[layout.head(token)] for token in layout.words]


def _barred(sentence: Sentence) -> frozenset[int]:
    """The function words."""
    relations = (relation.partition(":")[0] for relation in sentence.tree.relations)
    return frozenset(word for word, relation in enumerate(relations, 1) if relation in FUNCTION_WORDS)


def uncrossed(words: Sequence[int], slot: int) -> list[int]:
    """Heads for the marks of a slot whose arcs do not cross.

    Arcs do not cross if and only if the marks that depend on words before the slot come first, and heads do
    not increase from left to right among these marks and among the others.

    :param words: the head of the constituent that sprouted each mark, from left to right; words up to
        ``slot`` stand before the slot.
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


def hung(
    heads: Sequence[int],
    marks: Sequence[Sequence[int]],
    wanted: Mapping[int, int],
    barred: Collection[int] = (),
) -> dict[int, int]:
    """A head for each mark of the slots of a tree: the wanted one (0: none), or its lowest possible ancestor.

    :param barred: words that are heads only where no other can be; see `Room`.
    """
    room, found = Room(heads), dict[int, int]()
    for slot, some in enumerate(marks):
        words = uncrossed(room.nearest(slot, [wanted[mark] for mark in some], barred), slot)
        room.take(slot, words)
        found |= zip(some, words, strict=True)
    return found


class Room:
    """Where marks can hang in a tree, projective or not, by the guidelines of Universal Dependencies.

    A mark is attached projectively: its head dominates all that stands between the two.  It causes no
    nonprojectivity: no arc leads from between the two to the other side of the mark.  An arc may cross that
    of the mark only if it passes over the head, and then it would not be projective without the mark either.
    The word before a slot and the word behind it are always possible.
    """

    def __init__(self, heads: Sequence[int]) -> None:
        self._heads, (_, self._rank, self._below) = heads, preorder(heads)
        dependents = dependents_of(heads)
        self._ends: list[list[float]] = [
            [heads[word - 1], *dependents[word]] for word in range(1, len(heads) + 1)
        ]
        self._taken: dict[int, list[int]] = {}

    def take(self, slot: int, words: Sequence[int]) -> None:
        """Hang marks of a slot on words; marks of further slots are to stand behind it."""
        self._taken[slot] = list(words)
        for word in words:
            self._ends[word - 1].append(slot + 0.5)

    def possible(self, slot: int) -> Iterator[int]:
        """The words on which a mark in a slot can depend."""
        border = slot + 0.5
        for side in (range(slot, 0, -1), range(slot + 1, len(self._heads) + 1)):
            between: list[int] = []
            for word in side:
                first = self._rank[word]
                if not between or first <= min(between) <= max(between) < first + self._below[word]:
                    yield word
                marks = self._taken.get(word - 1, [])
                if any((end > border) != (word > border) for end in (*self._ends[word - 1], *marks)):
                    break
                between += [self._rank[one] for one in (word, *marks)]

    def nearest(self, slot: int, words: Sequence[int], barred: Collection[int] = ()) -> list[int]:
        """For each word itself or its first possible ancestor as head of a mark; else the highest word."""
        if not words:
            return []
        found = set(self.possible(slot))
        found = found.difference(barred) or found
        highest = min(found, key=self._rank.__getitem__)
        return [self._raised(word, found) or highest for word in words]

    def _raised(self, word: int, possible: Collection[int]) -> int:
        """The first of the possible words on the way from a word to the root, or 0."""
        while word and word not in possible:
            word = self._heads[word - 1]
        return word


def reattached(sentence: Sentence, attachments: Mapping[int, int]) -> Sentence:
    """The sentence with other heads of some of its marks, and relation ``punct`` for these.

    If the enhanced graph has the same arc, it is changed too.

    :raises ValueError: if a word would get a new head, or if a mark would become a head.
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
    return _rewritten(sentence, changed)


def _by_head(arc: str) -> tuple[list[int], str]:
    """The order of arcs in DEPS: by head, where 5.1 comes after 5."""
    head, _, relation = arc.partition(":")
    return [int(part) for part in head.split(".") if part.isdigit()], relation


class Doubt(NamedTuple):
    """A mark whose most probable head is not the one it has; ids are those of the original.

    The probabilities of both heads are estimates, see `head_posteriors`.
    """

    sentence: Sentence
    mark: int
    head: int
    probability: float
    proposed: int
    proposed_probability: float

    @property
    def certainty(self) -> float:
        """By how much the proposed head is more probable."""
        return self.proposed_probability - self.probability

    @property
    def context(self) -> tuple[str, str, str]:
        """The text of a few words before the mark, of the mark, and of a few words behind it."""
        before, mark, after = self.sentence.passage({self.mark}, 0)
        left, right = _WORD.findall(before)[::-1], _WORD.findall(after)
        left, right = left[: _near(left)][::-1], right[: _near(right)]
        return "".join(left)[-LONGEST:].lstrip(), mark, "".join(right)[:LONGEST].rstrip()

    @property
    def pattern(self) -> str:
        """The mark, and for both heads their relation and where they stand; many doubts have the same."""
        form = self.sentence.layout.form(self.mark)
        return f"{form} hangs on {self._seen(self.head)}, better on {self._seen(self.proposed)}"

    def _seen(self, head: int) -> str:
        return f"{self.relation(head)} ({'left' if head < self.mark else 'right'})"

    def relation(self, token: int) -> str:
        """The relation of a token to its head."""
        return self.sentence.layout.block.tokens[token - 1].columns[DEPREL]

    @property
    def line(self) -> int:
        """The line of the mark in the file, counted from 1."""
        block = self.sentence.layout.block
        return block.first_line + block.tokens[self.mark - 1].row


def _near(words: Sequence[str]) -> int:
    """How many words of a context, counted from the mark, are shown: at least one, even if it is cut."""
    ends = accumulate(map(len, words[:NEAR]))
    return max(1, sum(end <= LONGEST for end in ends))


def doubts(
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> list[Doubt]:
    """The marks whose head is less probable than another, the most certain first; see `head_posteriors`."""
    doubts = []
    for sentence, heads in head_posteriors(model, sentences, advance):
        for mark, posterior in heads.items():
            if not posterior:
                continue
            head = sentence.layout.head(mark)
            proposed = max(posterior, key=posterior.__getitem__)
            of_head = posterior.get(head, 0.0)
            if posterior[proposed] > of_head:
                doubts.append(Doubt(sentence, mark, head, of_head, proposed, posterior[proposed]))
    return sorted(doubts, key=lambda doubt: -doubt.certainty)


def by_pattern(doubts: Iterable[Doubt]) -> dict[str, list[Doubt]]:
    """The doubts by their patterns, the most frequent pattern first; those of quotation marks come last."""
    groups: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        groups.setdefault(doubt.pattern, []).append(doubt)

    def rank(group: tuple[str, list[Doubt]]) -> tuple[bool, int]:
        first = group[1][0]
        return first.sentence.layout.form(first.mark) in QUOTATION_MARKS, -len(group[1])

    return dict(sorted(groups.items(), key=rank))


def with_proposals(sentence: Sentence, doubts: Iterable[Doubt]) -> Sentence:
    """The sentence with proposed heads and their probabilities in the MISC of marks."""
    changed = _without_proposals(sentence)
    for doubt in doubts:
        new = {PROPOSED: str(doubt.proposed), PROBABILITY: f"{doubt.proposed_probability:.2f}"}
        misc = with_misc(_misc(sentence, doubt.mark), _NO_PROPOSAL | new)
        changed[doubt.mark] = {MISC: "|".join(sorted(misc_entries(misc)))}
    return _rewritten(sentence, changed)


def with_accepted(sentence: Sentence) -> Sentence:
    """The sentence with the proposed heads where MISC says ``PunctAccept=Yes``, and no proposals in MISC."""
    block, heads = sentence.layout.block, {}
    for mark in (mark for slot in sentence.layout.marks for mark in slot):
        entries = dict(one.partition("=")[::2] for one in misc_entries(_misc(sentence, mark)))
        if entries.get(ACCEPTED) == "Yes":
            head = entries.get(PROPOSED, "")
            if head not in map(str, sentence.layout.words):
                raise block.error(f"{PROPOSED}={head} is not the id of a word", block.tokens[mark - 1].row)
            heads[mark] = int(head)
    return _rewritten(reattached(sentence, heads), _without_proposals(sentence))


def _without_proposals(sentence: Sentence) -> dict[int, dict[int, str]]:
    """The columns of the marks in whose MISC there is a proposal, without it."""
    marks = (mark for slot in sentence.layout.marks for mark in slot)
    columns = {mark: with_misc(_misc(sentence, mark), _NO_PROPOSAL) for mark in marks}
    return {mark: {MISC: misc} for mark, misc in columns.items() if misc != _misc(sentence, mark)}


def _misc(sentence: Sentence, mark: int) -> str:
    return sentence.layout.block.tokens[mark - 1].columns[MISC]


def _rewritten(sentence: Sentence, columns: Mapping[int, Mapping[int, str]]) -> Sentence:
    """The sentence with other columns of some tokens."""
    return replace(sentence, layout=sentence.layout.changed(columns))


def head_posteriors(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Iterator[tuple[Sentence, dict[int, dict[int, float]]]]:
    """For each mark of each sentence the posterior probabilities of its heads, given the trees and all marks.

    A probability p is estimated by the share of draws of T' and of the channel's moves in which the mark has
    this head, as in `mark_attachments`.  Its standard error is sqrt(p (1 - p) / draws): with 200 draws at
    most 0.036, and 0.007 at p = 0.01 or 0.99.  What the probabilities lack of 1 is that no constituent
    sprouted the mark.

    :param seed: together with the sentence it determines the draws.
    :returns: each sentence with the probabilities of heads by marks and heads, as token ids of the original.
    """
    ways, encode = ways_of(model), model.vocabulary.encode_string
    for sentence in sentences:
        [(_, problem)] = model.problems([sentence])
        choices = posterior_draws(problem, draws, torch.Generator().manual_seed(seed))
        generator, layout = np.random.default_rng(seed), sentence.layout
        room, barred = Room(_heads(sentence)), _barred(sentence)
        counts: dict[int, Counter[int]] = {mark: Counter() for slot in layout.marks for mark in slot}
        for slot, marks in enumerate(layout.marks):
            if not marks:
                continue
            x = tuple(encode(sentence.surface[slot]))
            every = range(1, len(layout.words) + 1)
            possible = dict(zip(every, room.nearest(slot, every, barred), strict=True))
            for words in drawn_origins(problem, choices, ways, (0, slot), x, generator):
                # The sentence start or an abbreviation dot comes before the marks.
                known = [(m, word) for m, word in zip(marks, words[-len(marks) :], strict=True) if word]
                heads = uncrossed([possible[word] for _, word in known], slot)
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
    """For (draws, nodes) draws of T', the constituents that sprouted a surface string, by posterior moves.

    :param place: the number of the tree, and the slot, counted within the tree.
    :returns: for each draw, in no order, the head word of each token's constituent, counted from 1; 0 for the
        sentence start, None for a token from nowhere, as in a slip.  Nothing if the tree is impossible.
    """
    forest, (tree, slot) = problem.forest, place
    first = int(forest.node_start[tree])
    start, nodes, on_left, _ = forest.sprouting
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
            path = ways.path(tokens, exactly(surface), generator)
            if path is None or path.branch == SLIP:
                yield (None,) * len(surface)
            else:
                yield tuple(None if origin is None else words[origin] for origin in path.origins)
