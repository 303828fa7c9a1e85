"""Encoders of words in context that are open: the features of words, read in windows of word pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyropunct.errors import MissingPartError, first_line, is_panic
from pyropunct.nets.word_batches import by_length

MOST_PIECES = 16
"""The most pieces of a word that are read."""

PIECES_AT_ONCE = 4096
"""Pieces, padding included, that the encoder reads in one call."""


class PieceWindow(NamedTuple):
    """Neighbouring words of a sentence, as pieces.

    :ivar pieces: of all its words; ``lengths`` says how many each word has.
    :ivar core: the words whose features are kept.
    """

    sentence: int
    pieces: list[int]
    lengths: list[int]
    first: int
    core: range


@dataclass(frozen=True)
class Opened:
    """An encoder in memory.

    :ivar layers: the layers whose states are averaged; 0 are the embeddings.
    :ivar longest: the most pieces in one window.
    :ivar weights: the checksum of its weights; ``config``, of its settings, empty if these are in one file.
    """

    model: Any
    tokenizer: Any
    layers: tuple[int, ...]
    size: int
    longest: int
    weights: str
    config: str

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) features with gradients; long sentences are read in windows."""
        shape = len(sentences), max(map(len, sentences), default=0), self.size
        features = torch.zeros(shape, device=self.model.device)
        windows = list(self._windows(sentences))
        for numbers in by_length([len(window.pieces) for window in windows], PIECES_AT_ONCE):
            group = [windows[number] for number in numbers]
            for window, states in zip(group, self._read(group), strict=True):
                core = slice(window.core.start - window.first, window.core.stop - window.first)
                features[window.sentence, window.core.start : window.core.stop] = states[core]
        return features

    def _windows(self, sentences: Sequence[Sequence[str]]) -> Iterator[PieceWindow]:
        """The sentences as pieces; long ones are cut into windows."""
        pieces = pieces_of(self.tokenizer, {word for sentence in sentences for word in sentence})
        before, after = _specials(self.tokenizer)
        room = self.longest - len(before) - len(after)
        for number, sentence in enumerate(sentences):
            words = [pieces[word] for word in sentence]
            for seen, core in _cuts([len(word) for word in words], room):
                of_seen = words[seen.start : seen.stop]
                yield PieceWindow(
                    number, list(chain.from_iterable(of_seen)), list(map(len, of_seen)), seen.start, core
                )

    def _read(self, windows: Sequence[PieceWindow]) -> Iterator[Tensor]:
        """For each window (words, size) the mean states of the pieces of its words."""
        before, after = _specials(self.tokenizer)
        rows = [[*before, *window.pieces, *after] for window in windows]
        padding, device = self.tokenizer.pad_token_id or 0, self.model.device
        longest = max(map(len, rows))
        numbers = torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(longest) < lengths[:, None]).long()
        states = states_of(self.model, numbers.to(device), mask.to(device))
        mean = torch.stack([states[layer] for layer in self.layers]).mean(0).float()
        if not mean.isfinite().all():
            raise MissingPartError("the encoder computes numbers that are not finite")
        for row, window in zip(mean, windows, strict=True):
            of_words = row[len(before) : len(before) + len(window.pieces)]
            sizes = torch.tensor(window.lengths, device=device)
            yield torch.segment_reduce(of_words, "mean", lengths=sizes)


def states_of(model: Any, numbers: Tensor, mask: Tensor) -> Sequence[Tensor]:
    """(windows, pieces, size) the states of each layer, the embeddings first."""
    output = model(input_ids=numbers, attention_mask=mask, output_hidden_states=True)
    states: Sequence[Tensor] = output.hidden_states
    return states


def pieces_of(tokenizer: Any, words: set[str]) -> dict[str, list[int]]:
    """The pieces of each word after a space; a word without pieces gets the unknown piece."""
    if not words:
        return {}
    each = sorted(words)
    texts = [f" {word}" for word in each]
    try:
        rows = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    except BaseException as error:
        if is_panic(error):
            raise MissingPartError(f"the tokenizer of an encoder fails: {first_line(error)}") from error
        raise
    unknown = [tokenizer.unk_token_id or 0]
    return {word: pieces[:MOST_PIECES] or unknown for word, pieces in zip(each, rows, strict=True)}


def _specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The special pieces before and after a text."""
    first = tokenizer.bos_token_id if tokenizer.cls_token_id is None else tokenizer.cls_token_id
    last = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
    return [] if first is None else [first], [] if last is None else [last]


def _cuts(lengths: Sequence[int], room: int) -> Iterator[tuple[range, range]]:
    """Overlapping ranges of words of at most ``room`` pieces, each with the range whose features are kept."""
    ends = [0, *accumulate(lengths)]
    words = len(lengths)
    start = 0
    if words and ends[-1] <= room:
        yield range(words), range(words)
        start = words
    while start < words:
        stop = start + 1
        while stop < words and ends[stop + 1] - ends[start] <= room // 2:
            stop += 1
        first, last = start, stop
        while first > 0 and ends[stop] - ends[first - 1] <= room // 2 + room // 4:
            first -= 1
        while last < words and ends[last + 1] - ends[first] <= room:
            last += 1
        yield range(first, last), range(start, stop)
        start = stop
