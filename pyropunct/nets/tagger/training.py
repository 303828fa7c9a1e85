"""Training: from a treebank to a `SlotTagger`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from pyropunct.nets.labels import SlotVocabulary
from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.pretrained import kept
from pyropunct.nets.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.scores import SlotScores
from pyropunct.nets.tagger.tagger import SlotTagger
from pyropunct.nets.training import AnyCheckpoint, NetworkTraining, Watch, sequences, trained
from pyropunct.treebank.sentence import Sentence


def train_slot_tagger(
    parser: BiaffineParser,
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: SlotTaggerRecipe | None = None,
    *,
    tokens: Sequence[str] | None = None,
    seed: int = 0,
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> SlotTagger:
    """Train a slot tagger on the words and the punctuation of a treebank; its trees are not looked at.

    :param parser: whose states the tagger is to read; it stays as it is, and may have seen the sentences.
    :param train: the sentences to learn from.
    :param dev: sentences whose perplexity chooses the epoch that is kept; without them the last is kept.
    :param recipe: the settings.
    :param tokens: those of the model that the tagger is for: see
        `pyropunct.nets.labels.collect_labels`.
    :param seed: equal seeds give equal taggers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    data = sequences("tagger", train, dev)
    reading = replace(parser, pretrained=kept(parser.pretrained))
    make = partial(SlotTaggerTraining, tokens, *data, recipe or SlotTaggerRecipe(), seed, reading)
    return replace(trained(make, seed, checkpoint, watch), parser=parser)


class SlotTaggerTraining(NetworkTraining[SlotTagger]):
    """The training of one slot tagger, which reads the states of a parser.

    :param tokens: see `train_slot_tagger`.
    """

    kind = SlotTagger
    what = "tagger"

    def __init__(self, tokens: Sequence[str] | None, *arguments: Any) -> None:
        self.tokens = tokens
        super().__init__(*arguments)

    def vocabulary(self) -> SlotVocabulary:
        """The slot strings."""
        return SlotVocabulary.collect([sentence.surface for sentence in self.train], self.tokens)

    def loss(self, batch: list[int]) -> Tensor:
        """See `SlotNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        states = self.source.states([sentence.tree.forms for sentence in sentences])
        labels = self.model.vocabulary.encode([sentence.surface for sentence in sentences])
        return self.model.network.loss(states, self.lengths[batch], labels)

    def scores(self, model: SlotTagger, dev: Sequence[Sentence]) -> SlotScores:
        """The perplexity."""
        forms, surfaces = [sentence.tree.forms for sentence in dev], [sentence.surface for sentence in dev]
        return SlotScores.of(model.log_prob(forms, surfaces), surfaces)

    def data(self) -> Iterable[object]:
        """The marks, the parser, words and punctuation."""
        yield self.model.vocabulary.labels.marks
        for name, weight in self.source.network.state_dict().items():
            yield name.encode() + weight.numpy().tobytes()
        yield from ((sentence.tree.forms, sentence.surface) for sentence in [*self.train, *(self.dev or ())])
