"""One channel for many languages: their edits are drawn around shared ones."""

from collections.abc import Sequence
from typing import Any

import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.machines.products import EDITS, KEEP
from pyropunct.models.channel.window import Window
from pyropunct.models.learned import learned_scales, other_values
from pyropunct.models.priors import NormalPrior
from pyropunct.models.trees import TREEBANK, AnyTrees, TreeBatch

COMMON = 0
"""The number of the level that all languages share: it stands for languages that are not known."""


class Languages(Window):
    """A `Window` for several languages, which borrow from each other the edits that they seldom show.

    The logits of the edits e of a pair a b in a language are drawn around shared ones::

        phi[language, a, b] = softmax over e of
            classes[class a, class b, e] + pair[a, b, e] + own[language, a, b, e]

    Marks with the same function are of one class.  So a pair that this language does not show behaves as it
    does elsewhere, and a pair that no language shows behaves as its classes do.  All three levels are normal
    a priori.  Trees name their language by `TREEBANK`; without a name, they get the shared edits.

    :param functions: the class of each token; by default all are of one.
    :param treebanks: the languages; the first is `COMMON`, without a level of its own.
    :param prior_scale: the standard deviation of the prior of ``classes``.
    :param prior_keep: the mean of that prior for keep; all other means are zero.
    :param pair_scale: the standard deviation of the prior of ``pair``.
    :param language_scale: the standard deviation of the prior of ``own``.  If it is small, a language borrows
        much.
    """

    def __init__(
        self,
        num_tokens: int,
        direction: str = "left",
        functions: Sequence[str] = (),
        treebanks: Sequence[str] = ("",),
        prior_scale: float = 2.0,
        prior_keep: float = 0.0,
        pair_scale: float = 1.0,
        language_scale: float = 1.0,
    ) -> None:
        super().__init__(num_tokens, direction)
        functions = functions or ("",) * num_tokens
        known = sorted(set(functions))
        of_tokens = torch.tensor([known.index(one) for one in functions])
        self.register_buffer("_class", of_tokens, persistent=False)
        classes, pairs = (torch.zeros(size, size, len(EDITS)) for size in (len(known), num_tokens))
        classes[..., KEEP] = prior_keep
        own = torch.zeros(len(treebanks) - 1, *pairs.shape)
        self.class_logits = self.normal_site("_prior_class", classes, prior_scale)
        self.pair_logits = self.normal_site("_prior_pair", pairs, pair_scale)
        self.register_buffer("_prior_own", own, persistent=False)  # zeros, which no file need have
        self.own_logits: Any = PyroSample(NormalPrior("_prior_own", language_scale))  # a tensor when read

    def logits_of(self, language: int) -> Tensor:
        """(..., tokens, tokens, 4) the logits of the edits of a language, by its number, or of all."""
        rows = self.class_logits[..., self._class, :, :]
        shared = rows[..., self._class, :] + self.pair_logits
        return shared if language == COMMON else shared + self.own_logits[..., language - 1, :, :, :]

    def scales_of(self, language: int) -> Tensor:
        """(tokens, tokens, 4) the posterior standard deviations of `logits_of`, with independent levels."""
        variances = {name: scale.square() for name, scale in learned_scales(self).items()}
        with other_values(self, variances):  # which add up, as logits do
            return self.logits_of(language).sqrt()

    def edit_table(self) -> Tensor:
        """(..., tokens, tokens, 4) the shared edits."""
        return self.logits_of(COMMON).double().softmax(-1)

    def weights_of(self, trees: AnyTrees) -> dict[str, Tensor]:
        """The edits of the language of each tree; one table, if all trees are of one language."""
        words = trees if isinstance(trees, TreeBatch) else trees.words
        if TREEBANK not in words.more:
            return {"edit": self.edit_table()}
        languages = words.more[TREEBANK][words.forest.node_start[:-1]].tolist()
        known = self._prior_own.shape[0] + 1
        if not all(0 <= one < known for one in languages):
            raise ValueError(
                f"trees are of the languages {sorted(set(languages))}: the channel knows 0 to {known - 1}"
            )
        tables = {one: self.logits_of(one).double().softmax(-1) for one in dict.fromkeys(languages)}
        if len(tables) == 1:
            return {"edit": tables[languages[0]]}
        return {"edit": torch.stack([tables[one] for one in languages], -4)}
