"""Comma restoration with hidden Markov models and counts of constituents (Shieber & Tao 2003).

All words and all other marks are given, and a constituency tree over them.  Example::

    from pyropunct.baselines.commas import CommaRestorer, CommaScores, read_comma_sentences

    train, dev = read_comma_sentences("train.mrg"), read_comma_sentences("dev.mrg")
    restorer = CommaRestorer(train, model="10c")
    scores = CommaScores.of(restorer.restore(dev), [sentence.commas for sentence in dev])
    print(scores.f, scores.sentence_accuracy)
"""

from pyropunct.baselines.commas.models import MODELS
from pyropunct.baselines.commas.restorer import CommaRestorer
from pyropunct.baselines.commas.scores import CommaScores
from pyropunct.baselines.commas.sentences import CommaSentence, read_comma_sentences
from pyropunct.baselines.commas.smoothing import SMOOTHINGS

__all__ = ["MODELS", "SMOOTHINGS", "CommaRestorer", "CommaScores", "CommaSentence", "read_comma_sentences"]
