"""Comma restoration with hidden Markov models and counts of constituents (Shieber & Tao 2003).

All words and all other marks are given, and a constituency tree over them.  Example::

    from pyropunct.rivals.shieber_tao_2003 import CommaRestorer, CommaScores, read_comma_sentences

    train, dev = read_comma_sentences("train.mrg"), read_comma_sentences("dev.mrg")
    restorer = CommaRestorer(train, model="10c")
    scores = CommaScores.of(restorer.restore(dev), [sentence.commas for sentence in dev])
    print(scores.f, scores.sentence_accuracy)
"""

from pyropunct.rivals.shieber_tao_2003.models import MODELS
from pyropunct.rivals.shieber_tao_2003.restorer import CommaRestorer
from pyropunct.rivals.shieber_tao_2003.scores import CommaScores
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence, read_comma_sentences
from pyropunct.rivals.shieber_tao_2003.smoothing import SMOOTHINGS

__all__ = ["MODELS", "SMOOTHINGS", "CommaRestorer", "CommaScores", "CommaSentence", "read_comma_sentences"]
