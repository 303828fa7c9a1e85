"""Fitted stories: p(x | T) with learned weights, and all queries of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyropunct.draws import Draws, draw_surfaces
from pyropunct.fitted.evaluation import Balance, Evaluation, EvaluationSums, SlotStrings
from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.inside import (
    best_derivation,
    expected_cost,
    impossible_slot,
    log_evidence,
    opened,
    posterior_draws,
)
from pyropunct.inference.machines import products
from pyropunct.inference.machines.products import EDITS
from pyropunct.inference.parts import Shapes
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import expected_uses, tree_problem
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.models.learned import learned_scales, learned_values
from pyropunct.models.story import Story
from pyropunct.models.symmetry import PAIRED, unmatched_rows
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trees import TreeBatch
from pyropunct.nets.tagger import SlotTagger
from pyropunct.text.lines import TreebankError, shortened
from pyropunct.text.marks import Surface, display, displayed, unpaired
from pyropunct.treebank.sentence import MarkedPart, Sentence, Sprouts
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

BATCH_SIZE, FEW_MARKS = 100, 4
"""The most sentences of a batch, and the most marks of a slot in a batch of this size.  With more marks,
batches are smaller, because the memory that a slot takes is quadratic in its marks."""

REJECTED, LEAST_REDRAWN = 20, 100
"""How often unbalanced draws are replaced by new draws, and the least number of new draws each time."""


LONGEST_SHOWN = 60
"""The most characters of marks in an error."""

REMEDY = "nothing that it has learned leads there: fit it to text that has this, or leave the sentence out"
"""What to do about a sentence of probability zero."""


class Edit(NamedTuple):
    """A learned edit, one of `EDITS`, of two neighbouring underlying tokens, in page order.

    :ivar count: the expected number of such edits in some sentences.
    """

    before: tuple[str, str]
    name: str
    after: tuple[str, ...]
    probability: float
    count: float  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


def merged_edits(edits: Tensor) -> Tensor:
    """(..., tokens, tokens, 4) edits; for equal tokens, transposition is "keep", and both absorptions one."""
    merged, same = edits.clone(), torch.arange(edits.shape[-2])
    keep, left, right, transposed = edits[..., same, same, :].unbind(-1)
    nothing = torch.zeros_like(keep)
    merged[..., same, same, :] = torch.stack((keep + transposed, left + right, nothing, nothing), -1)
    return merged


class ImpossibleSentenceError(TreebankError, ImpossibleSurfaceError):
    """A treebank sentence whose punctuation the model cannot produce."""


@dataclass(frozen=True, repr=False)
class FittedStory:
    """The story with learned weights: p(x | T), for given trees.

    :ivar story: the generative story, a Pyro model with learned weights: see `pyropunct.models.learned`.
    :ivar slot_strings: counts of slot strings in training, as a baseline; None without a treebank.
    """

    vocabulary: Vocabulary
    recipe: Recipe
    story: Story
    report: Mapping[str, Any]
    slot_strings: SlotStrings | None = None
    tagger: SlotTagger | None = None

    def __repr__(self) -> str:
        words, marks = len(self.vocabulary.forms), len(self.vocabulary.tokens)
        of = f"{self.recipe.attach!r}, {self.recipe.channel!r}"
        return f"<{type(self).__name__}({of}) of {words:,} words and {marks} marks>"

    def encode_trees(self, trees: Sequence[Tree], read: Sequence[Tensor] | None = None) -> TreeBatch:
        """A batch of trees, with what the story reads."""
        if self.story.reading is None:
            read = None
        elif read is None and self.tagger is not None:
            read = self.tagger.log_odds([tree.forms for tree in trees], self.vocabulary.tokens)
        return self.vocabulary.encode_trees(trees, read)

    @property
    def values(self) -> Mapping[str, Tensor]:
        """The learned weights: a value for each site of the story that had a prior in training."""
        values = learned_values(self.story).items()
        return MappingProxyType({name: value.to_dense() for name, value in values})

    @property
    def scales(self) -> Mapping[str, Tensor]:
        """The posterior standard deviation of each of `values`; empty unless training had a normal guide."""
        return MappingProxyType(learned_scales(self.story))

    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | T), scaled in long slots; raises `ImpossibleSurfaceError` for zero."""
        return torch.cat([self._possible(part, problem) for part, _, problem in self._encoded(sentences)])

    def log_prob_of_marks(self, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> Tensor:
        """(trees,) log p(x | T), minus infinity if impossible; a tree that is repeated is encoded once."""
        found = []
        size = _batch_size(max(map(_most_marks, surfaces), default=0))
        for first in range(0, len(trees), size):
            some = slice(first, first + size)
            distinct = {id(tree): tree for tree in trees[some]}
            place = {key: number for number, key in enumerate(distinct)}
            with torch.no_grad():
                batch = self.encode_trees([*distinct.values()])
                batch = batch.pick([place[id(tree)] for tree in trees[some]])
                encoded = self.vocabulary.encode_surfaces(surfaces[some], trees[some])
                problem = tree_problem(self.story, batch, encoded)
            found.append(log_evidence(problem).detach().cpu())
        return torch.cat(found)

    def evaluate(self, sentences: Iterable[Sentence]) -> Evaluation:
        """Evaluate on one or more sentences, a batch in memory at a time; raises the errors of `log_prob`."""
        slots, parts = 0, []
        for part, _, problem in self._encoded(sentences):
            slots += sum(len(sentence.surface) for sentence in part)
            parts.append(self._possible(part, problem))
        found = torch.cat(parts)
        return Evaluation(len(found), slots, float(found.sum()))

    def evaluation_sums(
        self, sentences: Iterable[Sentence], impossible: list[ImpossibleSentenceError]
    ) -> EvaluationSums:
        """Sums to evaluate last slots, other slots and whole trees, also for the baseline `slot_strings`.

        In a sentence of n words the last slot counts with log p(x_n | x_0 .. x_n-1, T), the others with log
        p(x_0 .. x_n-1 | T), which is the sum of p(x | T) over all strings of the last slot.  Sums of parts of
        a treebank can be added.

        :param impossible: collects an error for each sentence of probability zero, which is skipped.
        """
        sums = EvaluationSums()
        syntax = self.story.syntax if isinstance(self.story.syntax, HeadOutward) else None
        for part, trees, problem in self._encoded(sentences):
            others = log_evidence(opened(problem, problem.forest.slot_start[1:] - 1)).detach()
            whole = self._possible(part, problem, impossible)
            is_kept = whole > -torch.inf
            kept = [sentence for sentence, keeps in zip(part, is_kept.tolist(), strict=True) if keeps]
            logs = {"whole": whole[is_kept].tolist(), "others": others[is_kept].tolist()}
            if syntax is not None:
                logs["trees"] = syntax.log_prob(trees)[is_kept.cpu()].tolist()
            if self.slot_strings is not None:
                known = (self.vocabulary.known_surface(sentence.surface) for sentence in kept)
                unigram = [self.slot_strings.log_probs(surface) for surface in known]
                logs["unigram_last"] = [last for last, _ in unigram]
                logs["unigram_others"] = [before for _, before in unigram]
            sums.add({"sentences": len(kept), "slots": sum(len(sentence.surface) for sentence in kept)})
            sums.add(self.balance(kept)._asdict())
            sums.add({name: math.fsum(numbers) for name, numbers in logs.items()})
        return sums

    def underlying(self, sentences: Sequence[Sentence], samples: int = 0) -> Iterator[list[list[Sprouts]]]:
        """The underlying trees T' of each sentence.

        :param samples: the number of draws from the posterior q(T'); 0 for the best T'.
        :returns: for each sentence its underlying trees, each with what every word's constituent sprouts.
        :raises ImpossibleSurfaceError: if a sentence has probability zero.
        """
        for some, problem in self.problems(sentences):
            draws = posterior_draws(problem, samples) if samples else best_derivation(problem)[None]
            self._require_explained(some, problem, draws)
            yield from map(list, zip(*(self.sprouted(problem, draw) for draw in draws), strict=True))

    def sprouted(self, problem: Problem, choices: Tensor) -> Iterator[list[Sprouts]]:
        """What every word's constituent sprouts, for each tree, given the (nodes,) choices."""
        vocabulary, shapes = self.vocabulary, Shapes(problem.forest)
        rows, parts = problem.inventory.sprouted(problem.relation, choices.cpu())

        def sprout(node: int) -> Sprouts:
            part, sides = shapes.part(node, int(parts[node])), problem.inventory.rows[int(rows[node])]
            left, right = map(vocabulary.decode_string, sides)
            if part is None or self.story.parts is None:
                return Sprouts(left, right)
            opener, closer = vocabulary.decode_string(self.story.parts.marks[part.kind].tolist())
            return Sprouts(left, right, MarkedPart(opener, closer, part.left_out, part.right_out))

        for tree in range(len(problem.forest.node_start) - 1):
            yield [sprout(node) for node in problem.forest.nodes(tree)]

    def draws(
        self,
        trees: Sequence[Tree],
        samples: int | Sequence[int] = 1000,
        seed: int | None = None,
        *,
        alike: bool = False,
        read: Sequence[Tensor] | None = None,
    ) -> Iterator[Draws]:
        """Draws of surface punctuation from p(x | T) for each tree.

        They depend on the tree, the seed, the number of samples, and how many equal trees come before, but
        not on other trees or the number of threads.

        :param alike: give equal trees equal draws.
        :raises ValueError: if ``samples`` or ``seed`` are out of bounds, or the heads do not form a tree.
        """
        numbers = [samples] * len(trees) if isinstance(samples, int) else samples
        if len(numbers) != len(trees):
            raise ValueError(f"there are {len(trees)} trees, and numbers of draws for {len(numbers)}")
        if min(numbers, default=1) < 1:
            raise ValueError(f"samples is {samples}: at least one draw is needed")
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        if seed < 0:
            raise ValueError(f"seed is {seed}: it must not be negative")
        if not trees:
            return iter(())  # without preparing a channel that is not used

        def encode(some: slice) -> TreeBatch:
            return self.encode_trees(trees[some], None if read is None else read[some])

        return draw_surfaces(self.story, encode, self.vocabulary, trees, numbers, seed, alike)

    def sample(
        self, sentences: Sequence[Sentence], samples: int = 1, *, balanced: bool = False
    ) -> Iterator[list[Surface]]:
        """Surface punctuation drawn from p(x | T) for the tree of each sentence: see `draws`.

        :param balanced: draw by exact rejection: brackets and quotation marks come in pairs.
        :raises ImpossibleSurfaceError: if balanced draws are too rare.
        """
        drawn = self.draws([sentence.tree for sentence in sentences], samples)
        for sentence, found in zip(sentences, drawn, strict=True):
            surfaces: list[Surface] = [found.surface(draw) for draw in range(len(found))]
            yield self._balanced(sentence, surfaces) if balanced else surfaces

    def _balanced(self, sentence: Sentence, surfaces: Sequence[Surface]) -> list[Surface]:
        """As many balanced draws as there are surfaces."""
        balanced = [surface for surface in surfaces if not unpaired(surface)]
        for _ in range(REJECTED):
            if len(balanced) >= len(surfaces):
                return balanced[: len(surfaces)]
            [found] = self.draws([sentence.tree], max(len(surfaces), LEAST_REDRAWN))
            redrawn = (found.surface(draw) for draw in range(len(found)))
            balanced += [surface for surface in redrawn if not unpaired(surface)]
        raise _error(
            sentence, "too few draws have brackets and quotation marks in pairs (draw unbalanced ones)"
        )

    def balance(self, sentences: Sequence[Sentence]) -> Balance:
        """Count constituents that sprout a bracket or quotation mark, in sentences that show one."""
        inventory, tokens, costs = self.vocabulary.inventory, self.vocabulary.tokens, self._unmatched
        numbers = {number for number, token in enumerate(tokens) if token in PAIRED}
        bears = torch.tensor([not numbers.isdisjoint(left + right) for left, right in inventory.rows])
        shown = [one for one in sentences if any(map(PAIRED.intersection, one.surface))]
        bearing = unmatched = 0
        expected = list[float]()
        for _, problem in self.problems(shown):
            rows, parts = inventory.sprouted(problem.relation, best_derivation(problem).cpu())
            bearing += int((bears[rows] | (parts > 0)).sum())  # a part has both of its marks
            unmatched += int(costs[rows].sum())
            expected += self._expected_unmatched(problem).tolist()
        return Balance(bearing, unmatched, math.fsum(expected))

    def unmatched(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) E[c(T') | T, x]; c counts nodes with unmatched symmetric tokens (section 2.3)."""
        return torch.cat([self._expected_unmatched(problem) for _, problem in self.problems(sentences)])

    @cached_property
    def _unmatched(self) -> Tensor:
        """c of each row of the inventory."""
        return unmatched_rows(self.vocabulary.inventory, self.vocabulary.tokens)

    def _expected_unmatched(self, problem: Problem) -> Tensor:
        """E[c(T') | T, x] of each tree."""
        costs = self._unmatched[problem.rows]
        return expected_cost(problem, costs)[1].detach()

    def edits(self, sentences: Sequence[Sentence], *, merged: bool = False) -> list[Edit]:
        """The learned edits with expected counts, most frequent first; optionally equal outcomes merged."""
        counts, probabilities = self.edit_counts(sentences), self.edit_probabilities()
        if counts is None or probabilities is None:
            return []
        if merged:
            counts, probabilities = merged_edits(counts), merged_edits(probabilities)
        edits, tokens = [], self.vocabulary.tokens
        for a, b, edit in (counts > 0).nonzero().tolist():
            pair = display(tokens[a]), display(tokens[b])
            name = "absorption" if merged and a == b and edit else EDITS[edit]
            after = products.TokenEdit(a, b, edit).after_of(*pair)
            probability, count = float(probabilities[a, b, edit]), float(counts[a, b, edit])
            edits.append(Edit(pair, name, after, probability, count))
        return sorted(edits, key=lambda edit: -edit.count)

    def edit_counts(self, sentences: Sequence[Sentence]) -> Tensor | None:
        """(tokens, tokens, 4) expected counts of edits under q(T'), if there are any."""
        return self._counts(sentences, self.story.channel.transducer.edit_counts)

    def weight_counts(self, sentences: Sequence[Sentence]) -> Tensor | None:
        """(P,) expected uses of each channel weight under q(T'); None without sentences."""
        return self._counts(sentences, self.story.channel.transducer.products.by_weight)

    def _counts(
        self, sentences: Sequence[Sentence], counted: Callable[[Tensor], Tensor | None]
    ) -> Tensor | None:
        """The sum over sentences of what ``counted`` makes of the uses of products."""
        total: Tensor | None = None
        for part in _parts(sentences):
            counts = counted(expected_uses(self.story, *self._encode(part), regularised=True))
            if counts is None:
                return None
            total = counts if total is None else total + counts
        return total

    def edit_probabilities(self) -> Tensor | None:
        """(tokens, tokens, 4) the probabilities of `EDITS` of tokens a b; None without edits."""
        with torch.no_grad():
            return self.story.channel.edit_table()

    def problems(self, sentences: Iterable[Sentence]) -> Iterator[tuple[Sequence[Sentence], Problem]]:
        """Sentences in batches, one in memory at a time, each as input of `pyropunct.inference.inside`.

        T' follows the posterior q that training prefers, see `pyropunct.models.economy.Economy`.
        """
        return ((part, problem) for part, _, problem in self._encoded(sentences, regularised=True))

    def _encoded(
        self, sentences: Iterable[Sentence], regularised: bool = False
    ) -> Iterator[tuple[Sequence[Sentence], TreeBatch, Problem]]:
        for part in _parts(sentences):
            trees, surfaces = self._encode(part)
            with torch.no_grad():
                problem = tree_problem(self.story, trees, surfaces, regularised=regularised)
            yield part, trees, problem

    def _possible(
        self,
        sentences: Sequence[Sentence],
        problem: Problem,
        impossible: list[ImpossibleSentenceError] | None = None,
    ) -> Tensor:
        """log p(x | T) of each sentence; ``impossible`` collects errors, without it the first is raised."""
        found = log_evidence(problem).detach()
        for place in (found == -torch.inf).nonzero()[:, 0].tolist():
            error = self._impossible(sentences[place])
            if impossible is None:
                raise error
            impossible.append(error)
        return found

    def _require_explained(self, sentences: Sequence[Sentence], problem: Problem, choices: Tensor) -> None:
        """Raise `ImpossibleSurfaceError` for the first sentence without an underlying tree (choices -1)."""
        lost = (choices < 0).any(0).nonzero()[:, 0].to(problem.forest.node_start.device)
        if len(lost):
            tree = int(torch.searchsorted(problem.forest.node_start, lost[0], right=True)) - 1
            raise self._impossible(sentences[tree])

    def _impossible(self, sentence: Sentence) -> ImpossibleSentenceError:
        """The error about a sentence of probability zero: which marks are impossible, and where."""
        [(_, _, problem)] = self._encoded([sentence])
        slot = impossible_slot(problem, 0)
        what = "its marks, in several places"
        if slot >= 0:
            marks = shortened(" ".join(displayed(sentence.surface[slot])), LONGEST_SHOWN) or "no mark"
            word = sentence.tree.forms[max(slot, 1) - 1]
            what = f"{marks} {'behind' if slot else 'before'} the word {word!r}"
        return _error(sentence, f"the model cannot produce {what} ({REMEDY})")

    def _encode(self, sentences: Sequence[Sentence]) -> tuple[TreeBatch, Tensor]:
        trees, surfaces = zip(*((sentence.tree, sentence.surface) for sentence in sentences), strict=True)
        return self.encode_trees(trees), self.vocabulary.encode_surfaces(surfaces, trees)


def _error(sentence: Sentence, problem: str) -> ImpossibleSentenceError:
    block = sentence.layout.block
    return ImpossibleSentenceError(block.path, problem, block.first_line, block.identifier)


def _most_marks(surface: Surface) -> int:
    return max(map(len, surface))


def _batch_size(longest: int) -> int:
    """The sentences of a batch, given the length of the longest slot."""
    return max(1, BATCH_SIZE * FEW_MARKS**2 // max(longest, FEW_MARKS) ** 2)


def _parts(sentences: Iterable[Sentence]) -> Iterator[Sequence[Sentence]]:
    part, longest = list[Sentence](), FEW_MARKS
    for sentence in sentences:
        longest = max(longest, _most_marks(sentence.surface))
        if len(part) >= _batch_size(longest):
            yield part
            part, longest = [], _most_marks(sentence.surface)
        part.append(sentence)
    if part:
        yield part
