"""The trained reader of running text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyropunct.models.learned import filled
from pyropunct.running.case import CASES, OTHER, in_case
from pyropunct.running.encoding import ReaderVocabulary
from pyropunct.running.network import RunningNetwork
from pyropunct.running.recipes import ReaderRecipe

CORE, MARGIN = 128, 32
"""The words in the core of a window, of which it decides, and those that it sees on either side of them."""

WINDOWS_AT_ONCE = 32
"""Windows that the network reads together."""


class Reading(NamedTuple):
    """What a reader makes of n running words.

    :ivar ends: (n,) the probability that a sentence ends behind each word.
    :ivar cases: (n, 4) the logits of the cases of the words inside of sentences: see `RunningNetwork`.
    """

    ends: Tensor
    cases: Tensor


@dataclass(frozen=True)
class RunningReader:
    """Finds sentences and cases in running words, trained by `pyropunct.running.train_reader`.

    :ivar vocabulary: the types that it knows.
    :ivar recipe: how it was trained.
    :ivar network: gives the scores.
    :ivar report: what happened in training, in plain JSON types.
    """

    vocabulary: ReaderVocabulary
    recipe: ReaderRecipe
    network: RunningNetwork
    report: Mapping[str, Any]

    def read(self, words: Sequence[str]) -> Reading:
        """Read running words, in windows: time and memory are linear in their number.

        What is said of a word depends on nothing outside of its window.
        """
        if not words:
            return Reading(torch.zeros(0), torch.zeros(0, CASES))
        parts = [self._read(some) for some in _grouped(_windows(len(words)), words)]
        return Reading(torch.cat([part.ends for part in parts]), torch.cat([part.cases for part in parts]))

    @torch.inference_mode()
    def _read(self, windows: Sequence[tuple[range, Sequence[str]]]) -> Reading:
        """The cores of some windows, each with its place in its words."""
        ends, cases = self.network.eval()(self.vocabulary.encode([words for _, words in windows]))
        rows = [(row, slice(core.start, core.stop)) for row, (core, _) in enumerate(windows)]
        return Reading(
            torch.cat([ends[row, core] for row, core in rows]).sigmoid(),
            torch.cat([cases[row, core] for row, core in rows]),
        )

    def sentences(self, words: Sequence[str]) -> list[list[str]]:
        """Running words as sentences."""
        found: list[list[str]] = [[]]
        for word, end in zip(words, self.read(words).ends.tolist(), strict=True):
            found[-1].append(word)
            if end > 0.5:
                found.append([])
        return [sentence for sentence in found if sentence]

    def in_cases(self, words: Sequence[str], cases: Tensor, starts: Sequence[bool]) -> list[str]:
        """Words without capital letters as they are probably written.

        :param cases: of `Reading.cases`.
        :param starts: whether a sentence starts with each.
        """
        with torch.inference_mode():
            logits = cases + torch.tensor(starts, dtype=cases.dtype)[:, None] * self.network.at_start
            best, second = logits.argmax(-1).tolist(), logits[:, :OTHER].argmax(-1).tolist()
        others = self.vocabulary.other_by_lower
        return [
            others[word.lower()] if case == OTHER and word.lower() in others else in_case(word, simple)
            for word, case, simple in zip(words, best, second, strict=True)
        ]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The reader as plain JSON types and tensors, as `pyropunct.training.model_folder` writes them."""
        plain = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
        }
        return plain, dict(self.network.state_dict())

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "RunningReader":
        """The reader that `to_parts` took apart.

        :raises ValueError: if these are not the parts of a reader.
        """
        try:
            vocabulary = ReaderVocabulary.from_json(plain["vocabulary"])
            recipe = ReaderRecipe.from_json(plain["recipe"])
            network = filled(lambda: RunningNetwork(vocabulary, recipe), tensors)
            return cls(vocabulary, recipe, network, plain["report"])
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of a reader of running text: {reason}") from error


def _windows(size: int) -> Iterator[tuple[range, range]]:
    """The windows of running words: which words each has in its core, and which it sees."""
    for start in range(0, size, CORE):
        stop = min(size, start + CORE)
        yield range(start, stop), range(max(0, start - MARGIN), min(size, stop + MARGIN))


def _grouped(
    windows: Iterator[tuple[range, range]], words: Sequence[str]
) -> Iterator[list[tuple[range, Sequence[str]]]]:
    group: list[tuple[range, Sequence[str]]] = []
    for core, seen in windows:
        group.append((range(core.start - seen.start, core.stop - seen.start), words[seen.start : seen.stop]))
        if len(group) == WINDOWS_AT_ONCE:
            yield group
            group = []
    if group:
        yield group
