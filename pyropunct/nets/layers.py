"""Layers of networks over words."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.recipes import NetworkRecipe
from pyropunct.nets.words import WordBatch, WordTypes, numbers_of

WINDOW = 5
"""Characters that a filter of the spelling sees at a time."""

PRETRAINED_SIZE = 256
"""Features that a network makes of the pretrained features of a word."""


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


class Spelling(nn.Module):
    """A vector for each word from its characters: the maximum of each filter over windows of them."""

    def __init__(self, characters: int, size: int, filters: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, size, padding_idx=0)
        self.filters = nn.Conv1d(size, filters, WINDOW, padding=WINDOW // 2)
        nn.init.normal_(self.characters.weight[1:], std=0.3)

    def forward(self, spellings: Tensor) -> Tensor:
        """(words, characters) numbers, 0 at the end, to (words, filters)."""
        filtered = self.filters(self.characters(spellings).transpose(1, 2))
        return filtered.masked_fill(spellings.eq(0)[:, None], 0.0).amax(-1).relu()


class Bidirectional(nn.Module):
    """Two LSTMs, from left to right and from right to left.

    The bidirectional LSTM of torch would start in the padding, or take twice as long on packed sequences.
    """

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
        """(sentences, words, size) to (sentences, words, 2 hidden).

        :param mirror: (sentences, words), the places of the words in the reverse of each sentence.
        """
        row = torch.arange(len(words), device=words.device)[:, None]
        rightward, _ = self.rightward(words)
        leftward, _ = self.leftward(words[row, mirror])
        return torch.cat([rightward, leftward[row, mirror]], -1)


def stack(layers: int, size: int, hidden: int) -> nn.ModuleList:
    """Bidirectional LSTMs on top of each other.

    :param layers: the number of LSTMs.
    :param size: features of a word that the first LSTM reads.
    :param hidden: states of each LSTM in each direction.
    """
    sizes = [size, *[2 * hidden] * (layers - 1)]
    return nn.ModuleList([Bidirectional(features, hidden) for features in sizes])


def mirror(batch: WordBatch) -> Tensor:
    """(sentences, words) the places of the words in the reverse of each sentence; padding stays."""
    place = torch.arange(batch.words.shape[1], device=batch.words.device)
    last = batch.lengths[:, None] - 1
    return torch.where(place <= last, last - place, place)


class WordNetwork(nn.Module):
    """The beginning of a network: a vector for each word, from the word as a whole and from its spelling.

    If there are pretrained features of the word in its context, a linear function of its `standardised`
    features is a part of the vector.

    :param types: the types of words and characters.
    :param recipe: the sizes.
    :param pretrained: the number of pretrained features of a word, 0 without them.
    :ivar word_size: features of the vectors.
    """

    def __init__(self, types: WordTypes, recipe: NetworkRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.word_size, self.word_dropout = recipe.form_size + recipe.spelling_size, recipe.word_dropout
        self.forms = nn.Embedding(len(types.forms), recipe.form_size)
        nn.init.normal_(self.forms.weight, std=0.1)
        self.spelling = Spelling(len(types.characters), recipe.character_size, recipe.spelling_size)
        self.dropout = SentenceDropout(recipe.dropout)
        self.pretrained = nn.Linear(pretrained, PRETRAINED_SIZE) if pretrained else None
        if self.pretrained is not None:
            self.word_size += PRETRAINED_SIZE

    def embed(self, batch: WordBatch) -> Tensor:
        """(sentences, words, features); in training a share of the words is known by spelling alone."""
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
    """Give a network the weights of another of the same sizes; words that this has not known keep their own.

    :param types: the types of words and characters of the network.
    :param known: the other network.
    :param known_types: its types.
    :raises RuntimeError: if the sizes differ.
    """
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
    """(..., features) moved and scaled to mean 0 and variance 1 in each row."""
    return functional.layer_norm(features, features.shape[-1:])
