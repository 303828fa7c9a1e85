"""Encoders that a model file has whole: the first layers of a pretrained transformer, tuned with a reader.

The layers are those of BERT (Devlin et al. 2019).  Words are cut into the fewest known pieces, so that a file
keeps no scores of pieces and no code of a tokenizer.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from unicodedata import category, normalize

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.files import types
from pyropunct.models.learned import filled
from pyropunct.nets.opened_encoder import MOST_PIECES, Opened

OWN = "own encoder"
"""How `OwnEncoder.identity` calls it."""

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
"""The first pieces: padding, an unknown character, and what stands before and after a text."""

EPSILON = 1e-12
"""What BERT adds to a variance."""

LONGEST_PIECE = 16
"""The most characters of a piece, the space before a word included."""


class WordPieces:
    """Cuts words into pieces; called as `pyropunct.nets.opened_encoder.Opened` calls a tokenizer.

    :param pieces: `SPECIAL` and pieces of words; those that begin a word begin with a space.
    :param uncased: words lose capital letters and accents first.
    """

    pad_token_id, unk_token_id, cls_token_id, sep_token_id = range(len(SPECIAL))

    def __init__(self, pieces: Sequence[str], uncased: bool) -> None:
        self.pieces, self.uncased = tuple(pieces), uncased
        self._numbers = {piece: number for number, piece in enumerate(pieces)}

    def __call__(self, texts: Iterable[str], **_: object) -> dict[str, list[list[int]]]:
        """The numbers of the pieces of each text, which is a space and a word."""
        return {"input_ids": [self.cut(text) for text in texts]}

    def cut(self, text: str) -> list[int]:
        """The fewest pieces that make a text, the longest first among equally many."""
        text = plain_letters(text) if self.uncased else normalize("NFKC", text)
        text = text[: LONGEST_PIECE * MOST_PIECES]
        best: list[tuple[int, int, int]] = [(0, 0, 0)] * (
            len(text) + 1
        )  # how many pieces, the first, its end
        for start in reversed(range(len(text))):
            best[start] = best[start + 1][0] + 1, self.unk_token_id, start + 1
            for end in range(start + 1, min(len(text), start + LONGEST_PIECE) + 1):
                number = self._numbers.get(text[start:end])
                if number is not None and (end == start + 1 or best[end][0] < best[start][0]):
                    best[start] = best[end][0] + 1, number, end
        found, place = list[int](), 0
        while place < len(text):
            _, number, place = best[place]
            found.append(number)
        return found


def plain_letters(text: str) -> str:
    """A text in small letters without accents."""
    return "".join(letter for letter in normalize("NFD", text.lower()) if category(letter) != "Mn")


class Sizes(NamedTuple):
    """The sizes of a transformer.

    :ivar pieces: the rows of its table of pieces.
    :ivar longest: the most pieces of a text.
    :ivar inner: the features inside of a layer.
    """

    pieces: int
    size: int
    layers: int
    heads: int
    inner: int
    longest: int


class States(NamedTuple):
    """The states of each layer, as transformers calls them."""

    hidden_states: list[Tensor]


class Layer(nn.Module):
    """A layer of a BERT: attention to all pieces, then a network of two maps, each added and normalised.

    The attention of torch takes 1.6 times as long in training on a CPU.
    """

    def __init__(self, size: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.asked, self.given = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.into, self.out = nn.Linear(size, inner), nn.Linear(inner, size)
        self.after_attention, self.after = nn.LayerNorm(size, EPSILON), nn.LayerNorm(size, EPSILON)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """(windows, pieces, size) states, and (windows, 1, 1, pieces) which are padding, to new states."""
        parts = self.asked(states).unflatten(-1, (3, self.heads, -1)).movedim(2, 0).transpose(2, 3)
        query, key, value = parts
        weights = (query @ key.mT * query.shape[-1] ** -0.5).masked_fill(padding, -torch.inf)
        with torch.autocast("cpu", enabled=False):  # else the softmax is in single precision
            shares = weights.softmax(-1)
        seen = (shares @ value).transpose(1, 2).flatten(2)
        states = self.after_attention(states + self.given(seen))
        return self.after(states + self.out(functional.gelu(self.into(states))))


class Transformer(nn.Module):
    """The first layers of a BERT; called as `pyropunct.nets.opened_encoder.states_of` calls a model."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = nn.Embedding(sizes.pieces, sizes.size)
        self.places = nn.Embedding(sizes.longest, sizes.size)
        self.norm = nn.LayerNorm(sizes.size, EPSILON)
        layers = (Layer(sizes.size, sizes.heads, sizes.inner) for _ in range(sizes.layers))
        self.layers = nn.ModuleList(layers)
        self.float()

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return self.norm.weight.device

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: object) -> States:
        """(windows, pieces) numbers of pieces and 1 where there is one, to the states of each layer."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        padding = attention_mask[:, None, None] == 0
        states = [self.norm(self.words(input_ids) + self.places(places))]
        for layer in self.layers:
            states.append(layer(states[-1], padding))
        return States(states)


class OwnEncoder:
    """A source of features of words (see `pyropunct.nets.word_embedding.Pretrained`) with its own weights."""

    def __init__(self, pieces: WordPieces, network: Transformer) -> None:
        self.pieces, self.network = pieces, network

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.network.sizes.size

    @cached_property
    def opened(self) -> Opened:
        """The encoder as `Opened` reads with it; features are the states of the last layer."""
        sizes = self.network.sizes
        return Opened(self.network, self.pieces, (sizes.layers,), sizes.size, sizes.longest, "", "")

    @torch.no_grad()
    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.word_embedding.Pretrained.features`."""
        return self.opened.features(sentences).half().float()

    def identity(self) -> dict[str, Any]:
        """Its kind and size: the weights are in the same file as the network that reads them."""
        return {"kind": OWN, "size": self.size}

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Its sizes, its pieces and its weights."""
        plain = {
            **self.identity(),
            "sizes": self.network.sizes._asdict(),
            "pieces": list(self.pieces.pieces),
            "uncased": self.pieces.uncased,
        }
        return plain, dict(self.network.state_dict())

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "OwnEncoder":
        """The encoder that `to_parts` took apart; raises `ValueError` if a part is missing or damaged."""
        sizes, pieces = Sizes(**plain["sizes"]), types("the list of pieces", plain["pieces"], SPECIAL)
        if not all(type(size) is int and 0 < size < 100_000 for size in sizes) or len(pieces) != sizes.pieces:
            raise ValueError("the sizes of the encoder do not fit its pieces")
        if sizes.layers > 100 or sizes.size % sizes.heads or type(plain["uncased"]) is not bool:
            raise ValueError("the sizes of the encoder do not fit each other")
        network = filled(lambda: Transformer(sizes), tensors)
        return cls(WordPieces(pieces, plain["uncased"]), network.eval())
