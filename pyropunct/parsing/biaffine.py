"""The network of the parser: words in, scores of tags, arcs and relations out.

The parser is that of Dozat & Manning (2017, "Deep biaffine attention for neural dependency parsing"), with a
tagger inside.  The lower LSTMs predict the tags, and the upper ones read the predicted distributions of tags
together with the states of the lower ones.  So they see predicted tags both in training and in use.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.parsing.encoding import Answers, ParserVocabulary, WordBatch
from pyropunct.parsing.recipes import ParserRecipe

WINDOW = 5
"""Characters that a filter of the spelling sees at a time."""

IMPOSSIBLE = -1e4
"""The score of an arc from padding."""


class Scores(NamedTuple):
    """The network's output for a batch of B sentences of at most n words.

    :ivar tags: (B, n, tags), logits.
    :ivar fine_tags: (B, n, fine tags), logits.
    :ivar arcs: (B, n, n + 1), the score of each arc at [sentence, word, head]; head 0 is the artificial root.
    :ivar dependents: (B, n, r), features of each word as a dependent, for `BiaffineNetwork.relations`.
    :ivar heads: (B, n + 1, r), features of each word, and of the artificial root, as a head.
    """

    tags: Tensor
    fine_tags: Tensor
    arcs: Tensor
    dependents: Tensor
    heads: Tensor


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
        found = self.filters(self.characters(spellings).transpose(1, 2))
        return found.masked_fill(spellings.eq(0)[:, None], 0.0).amax(-1).relu()


class Bidirectional(nn.Module):
    """Two LSTMs, from left to right and from right to left.

    torch's own bidirectional LSTM would start in the padding, or take twice as long on packed sequences.
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
        row = torch.arange(len(words))[:, None]
        rightward, _ = self.rightward(words)
        leftward, _ = self.leftward(words[row, mirror])
        return torch.cat([rightward, leftward[row, mirror]], -1)


class BiaffineNetwork(nn.Module):
    """Scores of the tags, arcs and relations of sentences.

    Perceptrons turn a word into features d as a dependent and h as a head, and

        arc score = d' U h + u' h        relation scores = d' V_r h + v_r' [d; h] + b_r

    with smaller d and h for the relations, which are scored only for the arcs of chosen trees.

    :param vocabulary: the types of words, tags and relations.
    :param recipe: the sizes of everything.
    """

    def __init__(self, vocabulary: ParserVocabulary, recipe: ParserRecipe) -> None:
        super().__init__()
        self.recipe = recipe
        tags, fine_tags = len(vocabulary.tags), len(vocabulary.fine_tags)
        self.forms = nn.Embedding(len(vocabulary.forms), recipe.form_size)
        nn.init.normal_(self.forms.weight, std=0.1)
        self.spelling = Spelling(len(vocabulary.characters), recipe.character_size, recipe.spelling_size)
        self.dropout = SentenceDropout(recipe.dropout)
        context = 2 * recipe.lstm_size
        self.lower = _stack(recipe.lower_layers, recipe.form_size + recipe.spelling_size, recipe.lstm_size)
        self.tags = nn.Linear(context, tags)
        self.fine_tags = nn.Linear(context, fine_tags)
        self.tag_vectors = nn.Linear(tags + fine_tags, recipe.tag_size, bias=False)
        nn.init.normal_(self.tag_vectors.weight, std=0.3)
        self.upper = _stack(recipe.upper_layers, context + recipe.tag_size, recipe.lstm_size)
        self.root = nn.Parameter(torch.empty(context))
        nn.init.normal_(self.root, std=0.1)
        self.roles = nn.Linear(context, 2 * (recipe.arc_size + recipe.relation_size))
        self.arcs = nn.Linear(recipe.arc_size, recipe.arc_size)
        self.relation_pairs = nn.Linear(
            recipe.relation_size, len(vocabulary.relations) * recipe.relation_size
        )
        self.relation_sides = nn.Linear(2 * recipe.relation_size, len(vocabulary.relations))
        self.float()

    def forward(self, batch: WordBatch) -> Scores:
        """The scores of some sentences."""
        number, longest = batch.words.shape
        place, last = torch.arange(longest), batch.lengths[:, None] - 1
        mirror = torch.where(place <= last, last - place, place)
        words = self._embed(batch)
        for layer in self.lower:
            words = layer(self.dropout(words), mirror)
        tags, fine_tags = self.tags(self.dropout(words)), self.fine_tags(self.dropout(words))
        guesses = torch.cat([tags.softmax(-1), fine_tags.softmax(-1)], -1)
        words = torch.cat([words, self.tag_vectors(guesses)], -1)
        for layer in self.upper:
            words = layer(self.dropout(words), mirror)
        words = torch.cat([self.root.expand(number, 1, -1), words], 1)
        roles = self.dropout(functional.leaky_relu(self.roles(self.dropout(words)), 0.1))
        arc, relation = self.recipe.arc_size, self.recipe.relation_size
        dependents, heads, relation_dependents, relation_heads = roles.split(
            [arc, arc, relation, relation], -1
        )
        arcs = self.arcs(dependents[:, 1:]) @ heads.transpose(1, 2)
        padding = torch.arange(longest + 1) > batch.lengths[:, None]
        arcs = arcs.masked_fill(padding[:, None], IMPOSSIBLE)
        return Scores(tags, fine_tags, arcs, relation_dependents[:, 1:], relation_heads)

    def _embed(self, batch: WordBatch) -> Tensor:
        """(sentences, words, features); in training some words are known by their spelling alone."""
        forms = batch.forms[batch.words]
        if self.training:
            forms = forms.masked_fill(torch.rand(forms.shape) < self.recipe.word_dropout, 1)
        spellings = functional.embedding(batch.words, self.spelling(batch.spellings))
        return torch.cat([self.forms(forms), spellings], -1)

    def relations(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """The logits (arcs, relations) of some arcs.

        :param dependents: (arcs, r), of `Scores.dependents`.
        :param heads: (arcs, r), of `Scores.heads`.
        """
        sides = self.relation_sides(torch.cat([dependents, heads], -1))
        pairs = self.relation_pairs(dependents).view(*sides.shape, self.recipe.relation_size)
        return (pairs @ heads[..., None]).squeeze(-1) + sides

    def loss(self, batch: WordBatch, answers: Answers) -> Tensor:
        """The negative log-probability of the right heads, relations and, with a weight, tags, per word."""
        scores = self(batch)
        word = batch.words.nonzero(as_tuple=True)
        sentence, place = answers.heads.nonzero(as_tuple=True)  # all words but the roots
        head = answers.heads[sentence, place]
        relations = self.relations(scores.dependents[sentence, place], scores.heads[sentence, head])
        entropy = functional.cross_entropy
        tag_loss = entropy(scores.tags[word], answers.tags[word])
        tag_loss = tag_loss + entropy(scores.fine_tags[word], answers.fine_tags[word])
        head_loss = entropy(scores.arcs[word], answers.heads[word])
        relation_loss = entropy(relations, answers.relations[sentence, place], reduction="sum") / len(word[0])
        return head_loss + relation_loss + self.recipe.tag_weight * tag_loss


def _stack(layers: int, size: int, hidden: int) -> nn.ModuleList:
    sizes = [size, *[2 * hidden] * (layers - 1)]
    return nn.ModuleList([Bidirectional(one, hidden) for one in sizes])
