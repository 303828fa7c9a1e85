"""Vectors of words without their context, from a file in the text format of word2vec."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.files import texts
from pyropunct.nets.pretrained import PretrainedError

KIND = "vectors"
"""How `WordVectors.identity` calls them."""

MOST_FREQUENT = 100_000
"""The number of rows that are kept from the beginning of a file, where the most frequent words stand."""

LARGEST_VECTOR = 10_000


@dataclass(frozen=True)
class WordVectors:
    """A table of word vectors; a word that is not in the table has the vector 0.

    :ivar words: as they are written; a word that is missing has the vector of the lower-cased word.
    :ivar table: (words, size) single precision.
    :ivar place: the file that they are from.
    """

    words: tuple[str, ...]
    table: Tensor
    place: str

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.table.shape[1]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def _row(self, word: str) -> int:
        """The row of a word; without a vector, the row behind the last."""
        row = self._rows.get(word)
        return self._rows.get(word.lower(), len(self.words)) if row is None else row

    @cached_property
    def _with_zero(self) -> Tensor:
        return torch.cat([self.table, self.table.new_zeros(1, self.size)])

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.pretrained.Pretrained.features`."""
        if not sentences:
            return self.table.new_zeros(0, 0, self.size)
        rows = [
            torch.tensor([self._row(word) for word in sentence], dtype=torch.long) for sentence in sentences
        ]
        padded = pad_sequence(rows, batch_first=True, padding_value=len(self.words))
        return self._with_zero[padded].half().float()

    def identity(self) -> dict[str, Any]:
        """Their size and number."""
        return {"kind": KIND, "size": self.size, "rows": len(self.words)}

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All of them: the file is not needed any more."""
        return {**self.identity(), "words": list(self.words), "place": self.place}, {"table": self.table}

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "WordVectors":
        """The vectors that `to_parts` took apart.

        :raises ValueError: if a part is missing or damaged.
        """
        [place] = texts("the file of the vectors", [plain["place"]])
        words, table = texts("the list of words with vectors", plain["words"]), tensors["table"]
        if set(tensors) != {"table"} or table.dtype != torch.float or table.dim() != 2 or not table.numel():
            raise ValueError("the vectors are no matrix of single precision")
        if len(words) != len(table) or len(set(words)) != len(words):
            raise ValueError("there is not one word for each vector")
        return cls(words, table, place)


def read_vectors(
    path: str | os.PathLike[str], wanted: Collection[str], most: int = MOST_FREQUENT
) -> WordVectors:
    """The vectors of the most frequent words of a file, and of the words of a treebank.

    The first line has the numbers of words and of features.  Each other line has a word and its features,
    with spaces between them; frequent words come first (Mikolov et al. 2013, word2vec).

    :param wanted: words that are kept, as they are or lower-cased, wherever they stand.
    :param most: the number of words that are kept from the beginning.
    :raises PretrainedError: if the file has another format; the message names it and the line.
    :raises OSError: if it cannot be read.
    """
    needed = {form.encode() for word in wanted for form in (word, word.lower())}
    with Path(path).open("rb") as stream:
        rows = dict(_rows(path, stream, needed, most))
    if not rows:
        raise PretrainedError(f"{path}: there is no vector in the file")
    return WordVectors(tuple(rows), torch.from_numpy(np.stack(list(rows.values()))), str(path))


def _rows(
    path: str | os.PathLike[str], stream: BinaryIO, needed: Collection[bytes], most: int
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The words that are kept, each once, with their vectors.

    :raises PretrainedError: if the number of lines is not that of the first line, or a line is damaged.
    """
    fields = stream.readline(100).split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        raise PretrainedError(
            f"{path}:1: is no file of vectors in the text format of word2vec, whose first line has two "
            "numbers, of words and of features"
        )
    count, size = map(int, fields)
    if not 0 < size <= LARGEST_VECTOR:
        raise PretrainedError(f"{path}:1: vectors of {size} features cannot be read")
    seen: set[str] = set()
    lines = 0
    for lines, line in enumerate(stream, start=1):
        if lines > most and line.partition(b" ")[0] not in needed:
            continue
        try:
            word, vector = _row(line, size)
        except ValueError as error:
            raise PretrainedError(f"{path}:{lines + 1}: {error}") from error
        if word not in seen:
            seen.add(word)
            yield word, vector
    if lines != count:
        raise PretrainedError(f"{path}: has {lines} vectors, not {count} as its first line says")


def _row(line: bytes, size: int) -> tuple[str, NDArray[np.float32]]:
    """:raises ValueError: if a line is not a word and its vector."""
    word, *fields = line.rstrip(b" \r\n").rsplit(b" ", size)
    if len(fields) != size:
        raise ValueError(f"there are {len(fields)} features, not {size}")
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError:
        raise ValueError("a feature is no number") from None
    if not np.isfinite(vector).all():
        raise ValueError("a feature is no finite number")
    try:
        return word.decode(), vector
    except UnicodeDecodeError:
        raise ValueError("the word is not UTF-8") from None
