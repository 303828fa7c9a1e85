"""WORDS: p(words | T), so that drawn trees can be read.

Each word is generated from its part of speech and its relation, independently of all others.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import pyro
import torch
from pyro.distributions import TorchDistribution, constraints
from torch import Tensor, nn

from pyropunct.models.trees import TreeBatch

Shape = torch.Size | list[int] | tuple[int, ...]

SHAPES = 6
"""The number of shapes of a form: see `pyropunct.vocabulary.word_shape`."""


class Tokens(NamedTuple):
    """The K types of words seen in each context, sorted by context and then by word.

    :ivar key: (K,) context * number of words + word, ascending.
    :ivar end: (K + 1,) ``int64``, the number of tokens before each type, and of all.
    """

    start: Tensor
    key: Tensor
    end: Tensor


class WrittenWords(TorchDistribution):
    """Words given their contexts, by counts with back-off.

    With c tokens of t types seen in a context, and c(w) of a word w::

        p(w | context) = (c(w) + t p(w | shorter context)) / (c + t)

    The last context backs off to the uniform distribution: the interpolation of Witten and Bell (1991). Batch
    shape (N,), event shape ().

    :param levels: the words seen at each level, the longest contexts first.
    :param contexts: (levels, N) the context of each draw at each level.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support = constraints.nonnegative_integer

    def __init__(self, levels: tuple[Tokens, ...], contexts: Tensor, num_words: int) -> None:
        self.levels, self.contexts, self.num_words = levels, contexts, num_words
        super().__init__(contexts.shape[1:], validate_args=False)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> "WrittenWords":
        """The same draws repeated along new dimensions on the left."""
        contexts = self.contexts.expand(len(self.levels), *batch_shape)
        return WrittenWords(self.levels, contexts, self.num_words)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-probabilities of words 0..W-1."""
        probability = torch.full(value.shape, 1 / self.num_words, dtype=torch.double, device=value.device)
        for seen, context in zip(reversed(self.levels), self.contexts.flip(0), strict=True):
            count = _count(seen, context * self.num_words + value)
            tokens, types = _sizes(seen, context)
            backed_off = (count + types * probability) / (tokens + types)
            probability = torch.where(types > 0, backed_off, probability)
        return probability.log()

    @torch.no_grad()
    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw words, of shape ``sample_shape + batch_shape``: tokens of the context or of a shorter one."""
        shape = torch.Size(sample_shape) + self.contexts.shape[1:]
        word = torch.randint(self.num_words, shape, device=self.contexts.device)
        for seen, context in zip(reversed(self.levels), self.contexts.flip(0), strict=True):
            tokens, types = _sizes(seen, context)
            place = (torch.rand(shape, dtype=torch.double, device=word.device) * (tokens + types)).long()
            token = seen.end[seen.start[context]] + place
            type_number = torch.searchsorted(seen.end, token, right=True) - 1
            known = seen.key[type_number.clamp(max=len(seen.key) - 1)] % self.num_words
            word = torch.where(place < tokens, known, word)
        return word


def _count(seen: Tokens, key: Tensor) -> Tensor:
    """How often words were seen in contexts."""
    place = torch.searchsorted(seen.key, key).clamp(max=len(seen.key) - 1)
    return torch.where(seen.key[place] == key, seen.end[place + 1] - seen.end[place], 0)


def _sizes(seen: Tokens, context: Tensor) -> tuple[Tensor, Tensor]:
    """How many tokens and how many types were seen in contexts."""
    first, last = seen.start[context], seen.start[context + 1]
    return seen.end[last] - seen.end[first], last - first


class Words(nn.Module):
    """Writes each word of a tree: its form and its shape, given its relation and its tag.

    Contexts back off from relation and tag to the tag, then to no context. The site ``word`` in the plate
    ``words`` has values form * `SHAPES` + shape; form 0 is unknown. Before `fit_counts` there is no site.
    This is not a PyroModule, so two stories may share it.

    :ivar seen: (K,) ``int64``, a buffer: (relation * tags + tag) * words + word for each combination in the
        treebank, ascending.
    :ivar counts: (K,) ``int64``, a buffer: how often each combination occurs.
    """

    treebank_sized: ClassVar[frozenset[str]] = frozenset({"seen", "counts"})

    def __init__(self, num_relations: int, num_tags: int, num_forms: int) -> None:
        super().__init__()
        self.num_relations, self.num_tags, self.num_words = num_relations, num_tags, num_forms * SHAPES
        for name in sorted(self.treebank_sized):
            self.register_buffer(name, torch.zeros(0, dtype=torch.long))

    def forward(self, trees: TreeBatch, *, are_written: bool) -> TreeBatch:
        """Draw the words of trees, or score their words if ``are_written``; returns the trees with words."""
        if not len(self.seen):
            return trees
        device = self.seen.device  # trees are drawn on the CPU
        contexts = self._contexts(trees.relation.to(device), trees.tag.to(device))
        words = (trees.form * SHAPES + trees.shape).to(device) if are_written else None
        with pyro.plate("words", len(trees.form)):
            word = pyro.sample("word", WrittenWords(self._levels(), contexts, self.num_words), obs=words)
        word = word.to(trees.form.device)
        return replace(trees, form=word // SHAPES, shape=word % SHAPES)

    @torch.no_grad()
    def fit_counts(self, batches: Iterable[TreeBatch]) -> None:
        """Count the words of a treebank."""
        keys = [
            (trees.relation * self.num_tags + trees.tag) * self.num_words + trees.form * SHAPES + trees.shape
            for trees in batches
        ]
        self.seen, self.counts = torch.cat(keys).unique(return_counts=True)

    def check_buffers(self) -> None:
        """Raises ValueError if the buffers are not counts of words of this vocabulary."""
        seen, counts = self.seen, self.counts
        contexts = self.num_relations * self.num_tags
        if seen.dim() != 1 or seen.shape != counts.shape or not bool((counts > 0).all()):
            raise ValueError("the words of the syntax model are not counted once each")
        if not bool((seen.diff() > 0).all()) or not bool(
            ((seen >= 0) & (seen < contexts * self.num_words)).all()
        ):
            raise ValueError("the syntax model has words that its vocabulary does not have")

    def _contexts(self, relation: Tensor, tag: Tensor) -> Tensor:
        """(3, N): relation and tag, tag alone, nothing."""
        return torch.stack([relation * self.num_tags + tag, tag, torch.zeros_like(tag)])

    def _levels(self) -> tuple[Tokens, ...]:
        """The words seen at each level of `_contexts`."""
        context, word = self.seen // self.num_words, self.seen % self.num_words
        sizes, levels = (self.num_relations * self.num_tags, self.num_tags, 1), []
        contexts = self._contexts(context // self.num_tags, context % self.num_tags)
        for size, of_level in zip(sizes, contexts, strict=True):
            key, place = (of_level * self.num_words + word).unique(return_inverse=True)
            count = torch.zeros_like(key).index_add_(0, place, self.counts)
            start = torch.searchsorted(key, torch.arange(size + 1, device=key.device) * self.num_words)
            levels.append(Tokens(start, key, torch.nn.functional.pad(count.cumsum(0), (1, 0))))
        return tuple(levels)
