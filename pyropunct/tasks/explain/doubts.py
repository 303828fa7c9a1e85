"""Heads of marks that a treebank may have wrong: the posterior probability of each head."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray

from pyropunct.fitted.story import FittedStory
from pyropunct.inference.inside import best_derivation
from pyropunct.inference.origins import Origins, Question
from pyropunct.models.channel.slip import SLIP
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation, sprouted_marks
from pyropunct.tasks.explain.reattaching import uncrossed
from pyropunct.treebank.sentence import Sentence

Advance = Callable[[int], None]


class Doubt(NamedTuple):
    """A mark for which another head is more probable than the one that it has.

    :ivar sentence: the sentence.
    :ivar mark: the mark; it and the heads are token ids of the original.
    :ivar head: the head that it has.
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
        """By how much the proposed head is more probable."""
        return self.proposed_probability - self.probability

    @property
    def line(self) -> int:
        """The line of the mark in the file, counted from 1."""
        block = self.sentence.layout.block
        return block.first_line + block.tokens[self.mark - 1].row


def doubts(
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> list[Doubt]:
    """The marks whose head is less probable than another, the most certain first.

    :param advance: called with the number of sentences newly done.
    :raises MachineError: if the model's channel does not tell where its marks come from.
    """
    doubts = []
    for sentence, heads in head_posteriors(model, sentences, advance):
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
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> Iterator[tuple[Sentence, dict[int, dict[int, float]]]]:
    """For each mark of each sentence the posterior probabilities of its heads, given the trees and all marks.

    A mark's head is the head word of the constituent that sprouted it, with the exact posterior probability
    of `pyropunct.inference.origins`.  Among several marks of a slot it is, as in
    `pyropunct.tasks.explain.reattaching.mark_attachments`, a word from which no arc crosses those of the
    other marks; these are taken to hang on the constituents of the best T'.  What the probabilities lack of 1
    is that no constituent sprouted the mark.

    :param advance: called with the number of sentences newly done.
    :returns: each sentence with the probabilities of heads by marks and heads, as token ids of the original.
    :raises MachineError: if the model's channel does not tell where its marks come from.
    """
    vocabulary, channel = model.vocabulary, model.story.channel
    with torch.no_grad():
        origins = Origins(channel.transducer, channel.probabilities(), vocabulary.inventory, (SLIP,))
    derivations = Derivations(model)
    for part, problem in model.problems(sentences):
        answers = origins.posterior(problem, list(_questions(model, part)))
        for sentence, best in zip(part, model.sprouted(problem, best_derivation(problem)), strict=True):
            yield sentence, _heads(sentence, derivations.of(sentence, best), answers)
            advance(1)


def _questions(model: FittedStory, sentences: Sequence[Sentence]) -> Iterator[Question]:
    """A question about the origin of each mark of each sentence."""
    for number, sentence in enumerate(sentences):
        for slot, (marks, tokens) in enumerate(zip(sentence.surface, sentence.layout.marks, strict=True)):
            string = tuple(model.vocabulary.encode_string(marks))
            for place in range(len(string) - len(tokens), len(string)):
                yield Question(number, slot, string, place)


def _heads(
    sentence: Sentence, derivations: Sequence[SlotDerivation], answers: Iterator[NDArray[Any]]
) -> dict[int, dict[int, float]]:
    """The probabilities of heads of the marks of a sentence.

    :param derivations: of the slots, in the best T'.
    :param answers: for each mark the probability of each word's constituent.
    """
    heads = {}
    for slot, (marks, derivation) in enumerate(zip(sentence.layout.marks, derivations, strict=True)):
        best = {mark: sprouted.word for mark, sprouted in sprouted_marks(sentence, slot, derivation)}
        for mark in marks:
            posterior, shares = defaultdict[int, float](float), next(answers)
            for word in (shares.nonzero()[0] + 1).tolist():
                words = best | {mark: word}
                known = [other for other in marks if other in words]
                head = uncrossed([words[other] for other in known], slot)[known.index(mark)]
                posterior[sentence.layout.words[head - 1]] += float(shares[word - 1])
            heads[mark] = dict(posterior)
    return heads
