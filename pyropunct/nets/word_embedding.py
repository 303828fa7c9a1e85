"""The first layers of networks over words: from words and spellings to vectors, and LSTMs over these."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.trainer import AveragedRecipe
from pyropunct.nets.word_batches import WordBatch, WordTypes, numbers_of

WINDOW = 5
"""Characters that a filter of the spelling sees at a time."""

PRETRAINED_SIZE = 256
"""Features that a network makes of the pretrained features of a word."""


@dataclass(frozen=True)
class NetworkRecipe(AveragedRecipe):
    """How a network over words is trained, and how it sees them.

    :ivar form_count: lower-cased words with fewer occurrences are known only by their spelling.
    :ivar form_size: features of a word as a whole.
    :ivar character_size: features of a character.
    :ivar spelling_size: features of a word from its characters.
    :ivar lstm_size: features of a word in context, in each direction.
    :ivar word_dropout: the share of words in training that are shown only by their spelling.
    """

    form_count: int = 2
    form_size: int = 100
    character_size: int = 32
    spelling_size: int = 128
    lstm_size: int = 200
    word_dropout: float = 0.2


class SentenceDropout(nn.Module):
    """Dropout of the same features at all words of a sentence (Gal & Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, words: Tensor) -> Tensor:
        """Drop features of (sentences, words, features), and scale up the others."""
        if not self.training:
            return words
        kept = torch.full_like(words[:, :1], 1 - self.rate).bernoulli()
        return words * (kept / (1 - self.rate))


class SpellingLayer(nn.Module):
    """A vector for each word from its characters: a convolution with maximum pooling."""

    def __init__(self, characters: int, size: int, filters: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, size, padding_idx=0)
        self.filters = nn.Conv1d(size, filters, WINDOW, padding=WINDOW // 2)
        nn.init.normal_(self.characters.weight[1:], std=0.3)

    def forward(self, spellings: Tensor) -> Tensor:
        """(words, characters) numbers, padded with 0, to (words, filters)."""
        filtered = self.filters(self.characters(spellings).transpose(1, 2))
        return filtered.masked_fill(spellings.eq(0)[:, None], 0.0).amax(-1).relu()


class Bidirectional(nn.Module):
    """Two LSTMs.  That of torch starts in the padding, or takes twice as long on packed sequences."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.rightward = nn.LSTM(size, hidden, batch_first=True)
        self.leftward = nn.LSTM(size, hidden, batch_first=True)
        for name, weight in self.named_parameters():
            if "weight_hh" in name:
                for gate in weight.chunk(4):
                    nn.init.orthogonal_(gate)
            elif "weight_ih" in name:
                nn.init.xavier_uniform_(weight)

    def forward(self, words: Tensor, mirror: Tensor) -> Tensor:
        """(sentences, words, size) to (sentences, words, 2 hidden); ``mirror`` as of `mirror`."""
        row = torch.arange(len(words), device=words.device)[:, None]
        rightward, _ = self.rightward(words)
        leftward, _ = self.leftward(words[row, mirror])
        return torch.cat([rightward, leftward[row, mirror]], -1)


class BidirectionalStack(nn.ModuleList):
    """A stack of bidirectional LSTMs with ``hidden`` states in each direction."""

    def __init__(self, layers: int, size: int, hidden: int) -> None:
        sizes = [size, *[2 * hidden] * (layers - 1)]
        super().__init__([Bidirectional(features, hidden) for features in sizes])

    def forward(self, words: Tensor, mirror: Tensor, dropout: SentenceDropout) -> Tensor:
        """See `Bidirectional.forward`; with dropout in front of each layer."""
        for layer in self:
            words = layer(dropout(words), mirror)
        return words


def mirror(batch: WordBatch) -> Tensor:
    """(sentences, words) the places of the words in the reverse of each sentence; padding stays."""
    place = torch.arange(batch.words.shape[1], device=batch.words.device)
    last = batch.lengths[:, None] - 1
    return torch.where(place <= last, last - place, place)


class WordNetwork(nn.Module):
    """The first layer of a network: a vector of ``word_size`` for each word, from the word and its spelling.

    Pretrained features are `standardised` and enter through a linear map.
    """

    def __init__(self, types: WordTypes, recipe: NetworkRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.word_size, self.word_dropout = recipe.form_size + recipe.spelling_size, recipe.word_dropout
        self.forms = nn.Embedding(len(types.forms), recipe.form_size)
        nn.init.normal_(self.forms.weight, std=0.1)
        self.spelling = SpellingLayer(len(types.characters), recipe.character_size, recipe.spelling_size)
        self.dropout = SentenceDropout(recipe.dropout)
        self.pretrained = nn.Linear(pretrained, PRETRAINED_SIZE) if pretrained else None
        if self.pretrained is not None:
            self.word_size += PRETRAINED_SIZE

    def embed(self, batch: WordBatch) -> Tensor:
        """(sentences, words, features); in training a share of the words is known by spelling only."""
        forms = batch.forms[batch.words]
        if self.training:
            hidden = torch.rand(forms.shape) < self.word_dropout
            forms = forms.masked_fill(hidden.to(forms.device), 1)
        spellings = functional.embedding(batch.words, self.spelling(batch.spellings))
        learned = torch.cat([self.forms(forms), spellings], -1)
        if self.pretrained is None or batch.features is None:
            return learned
        return torch.cat([learned, self.pretrained(standardised(batch.features))], -1)


def begin_with(network: WordNetwork, types: WordTypes, known: WordNetwork, known_types: WordTypes) -> None:
    """Copy the weights of a network of equal sizes; words unknown to it keep their own."""
    tables = {
        "forms.weight": (types.forms, known_types.forms),
        "spelling.characters.weight": (types.characters, known_types.characters),
    }
    before = known.state_dict()
    for name, weight in network.state_dict().items():
        if name not in tables:
            weight.copy_(before[name])
            continue
        new, old = tables[name]
        row_of = numbers_of(old)
        both = [row for row, type_ in enumerate(new) if type_ in row_of]
        weight[both] = before[name][[row_of[new[row]] for row in both]]


def standardised(features: Tensor) -> Tensor:
    """(..., features) shifted and scaled to mean 0 and variance 1 in each row."""
    return functional.layer_norm(features, features.shape[-1:])
