"""Edits of neighbouring tokens, as a fitted channel has learned them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.inference.machines import products
from pyropunct.inference.machines.products import EDITS
from pyropunct.treebank.marks import display


class Edit(NamedTuple):
    """A learned edit of two neighbouring tokens.

    :ivar before: the two underlying tokens, as on the page.
    :ivar name: one of `pyropunct.inference.machines.products.EDITS`.
    :ivar after: what they become.
    :ivar probability: the learned probability of this edit of the two tokens.
    :ivar count: the expected number of such edits in some sentences.
    """

    before: tuple[str, str]
    name: str
    after: tuple[str, ...]
    probability: float
    count: float  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


def named_edits(
    counts: Tensor, probabilities: Tensor, tokens: Sequence[str], merged: bool = False
) -> list[Edit]:
    """The edits that happen, the most frequent first.

    :param counts: (tokens, tokens, 4) the expected number of times that each edit happens.
    :param probabilities: (tokens, tokens, 4) the learned probability of each edit.
    :param tokens: the marks, in the order of the tables.
    :param merged: whether both tables are those of `merged_edits`.
    """
    edits = []
    for a, b, edit in (counts > 0).nonzero().tolist():
        first, second = display(tokens[a]), display(tokens[b])
        name = "absorption" if merged and a == b and edit else EDITS[edit]
        after = products.Edit(a, b, edit).after_of(first, second)
        probability, count = float(probabilities[a, b, edit]), float(counts[a, b, edit])
        edits.append(Edit((first, second), name, after, probability, count))
    return sorted(edits, key=lambda edit: -edit.count)


def merged_edits(edits: Tensor) -> Tensor:
    """(tokens, tokens, 4) numbers of edits: of identical tokens, all of the same outcome with the first."""
    merged, same = edits.clone(), torch.arange(len(edits))
    keep, left, right, transposed = edits[same, same].unbind(-1)
    nothing = torch.zeros_like(keep)
    merged[same, same] = torch.stack((keep + transposed, left + right, nothing, nothing), -1)
    return merged
