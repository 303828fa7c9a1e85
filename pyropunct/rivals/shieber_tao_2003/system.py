"""Training the models on sentences and restoring commas with them."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pyropunct.rivals.shieber_tao_2003.automaton import (
    STEPS,
    Alphabet,
    Steps,
    best_path,
    steps,
    steps_of_path,
)
from pyropunct.rivals.shieber_tao_2003.models import MODELS, TrainedModel
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence
from pyropunct.rivals.shieber_tao_2003.settings import CommaSettings
from pyropunct.rivals.shieber_tao_2003.smoothing import SMOOTHINGS


class CommaSystem:
    """A model that was trained on sentences, and restores commas.

    :param sentences: the training sentences.
    :param model: the name of a model in :data:`MODELS`.
    :param smoothing: ``witten-bell`` or ``katz``.
    :param least: words that training has fewer times count as one word, the unknown word.
    :raises KeyError: if there is no such model or smoothing.
    :raises ValueError: if there is no training sentence.
    """

    def __init__(
        self,
        sentences: Sequence[CommaSentence],
        model: str = "10",
        smoothing: str = CommaSettings.smoothing,
        least: int = CommaSettings.least,
    ) -> None:
        if not sentences:
            raise ValueError("there are no sentences to train on")
        words = Counter(word for sentence in sentences for word in sentence.words)
        tags = Counter(tag for sentence in sentences for tag in sentence.tags)
        self._words, self._tags = Alphabet(words, least), Alphabet(tags)
        paths = np.concatenate([steps_of_path(sentence.commas) for sentence in sentences])
        true = self._steps(sentences).chosen(paths)
        self._model = TrainedModel(
            MODELS[model], SMOOTHINGS[smoothing], true, len(self._words), len(self._tags)
        )

    def restore(self, sentences: Sequence[CommaSentence]) -> Iterator[NDArray[np.bool_]]:
        """For each sentence (n + 1,) where the best path puts commas; its own commas are not read."""
        if not sentences:
            return
        scores = self._model.scores(self._steps(sentences))
        ends = np.cumsum([STEPS * len(sentence.words) for sentence in sentences])
        yield from map(best_path, np.split(scores, ends[:-1]))

    def _steps(self, sentences: Sequence[CommaSentence]) -> Steps:
        """The steps of all sentences, one after the other."""
        each = [steps(sentence, self._words, self._tags) for sentence in sentences]
        return Steps(*map(np.concatenate, zip(*each, strict=True)))
