"""How probable marks and ends must be in each language, learned from dev.

Languages differ in how sure a model can be of their commas, so that one threshold does not serve all: what is
best for one puts so many wrong marks into another that a bare period behind each sentence were better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.nets.reader import LIKELY, RunningReader, count_ends
from pyropunct.nets.running_text import Document, documents
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.settings import RestoreSettings
from pyropunct.treebank.sentence import Sentence

FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""The values of caution that are tried."""

ENDS = (0.1, 0.15, 0.2, 0.25, LIKELY, 0.35, 0.4, 0.5, 0.6, 0.7)
"""The probabilities of ends that are tried."""

Likings = NDArray[np.float64]
"""A score of each value that is tried."""

SHRINKING = 0.5
"""How much all languages together count beside the dev part of one."""


def with_caution(
    model: Punctuator,
    dev: Mapping[str, Sequence[Sentence]],
    texts: Mapping[str, Sequence[Document]] | None = None,
    *,
    samples: int = 200,
    seed: int = 0,
) -> Punctuator:
    """A model of several languages with their `Conventions.caution` and `Conventions.ends`.

    Of the factors that need no more edits than a period behind each sentence and nothing else, a language
    gets the one with the greatest F1 of all marks, restored from words alone; if all need more, the one with
    the fewest edits.  Ends have the greatest F1 in lower-cased running text.  F1 of a language is
    averaged with that of all languages.

    A language that the model has not learned from gets the greatest caution of all languages, and the
    threshold of ends that is best for all together.

    :param dev: sentences of each language, which no part of the model has learned from.
    :param texts: further running text of each language, and of others.
    """
    restored = {
        code: scores_from_words(model.of(code), some, FACTORS, samples=samples, seed=seed)
        for code, some in dev.items()
    }
    of_marks = {code: [one.overall().f1 or 0.0 for one in scores] for code, scores in restored.items()}
    cautions = {}
    for code, likings in _shrunk(of_marks).items():
        edits = np.array([one.edits for one in restored[code]])
        allowed = edits <= max(edits.min(), edits_of_periods(dev[code]))
        cautions[code] = _best(FACTORS, np.where(allowed, likings, -1.0))
    found = dict(model.languages)
    for code, caution in cautions.items():
        found[code] = replace(found[code], caution=caution)
    usual = replace(model.conventions, caution=max(cautions.values()))
    if model.reader is not None:
        further = texts or {}
        read = {code: [*documents(dev.get(code, ())), *further.get(code, ())] for code in {**dev, **further}}
        of_ends = {code: _ends(model.reader, running) for code, running in read.items()}
        for code, likings in _shrunk(of_ends).items():
            if code in found:
                found[code] = replace(found[code], ends=_best(ENDS, likings))
        usual = replace(usual, ends=_best(ENDS, np.mean([*of_ends.values()], 0)))
    return replace(model, languages=found, conventions=usual)


def _best(values: Sequence[float], likings: Likings) -> float:
    return values[int(likings.argmax())]


def _shrunk(scores: Mapping[str, Sequence[float]]) -> dict[str, Likings]:
    """Scores of each language, in part those of all."""
    mean = np.mean([*scores.values()], 0)
    return {code: (1 - SHRINKING) * np.array(row) + SHRINKING * mean for code, row in scores.items()}


def scores_from_words(
    model: Punctuator, sentences: Sequence[Sentence], cautions: Sequence[float], **settings: int
) -> list[RestorationScores]:
    """The scores of marks restored from words alone, for each caution; ``settings`` are those of `decide`."""
    parses = weighted_trees(model, [sentence.tree.forms for sentence in sentences])
    found = []
    for caution in cautions:
        threshold = RestoreSettings().in_language(caution, None).threshold
        found.append(RestorationScores())
        decisions = decide(model, parses, decoder="f1", threshold=threshold, **settings)
        for decision, sentence in zip(decisions, sentences, strict=True):
            found[-1].add(decision.surface, sentence.surface)
    return found


def edits_of_periods(sentences: Sequence[Sentence]) -> int:
    """The edits that sentences need if each has a period at its end, and nothing else."""
    scores = RestorationScores()
    for sentence in sentences:
        scores.add([(), *[()] * (len(sentence.tree) - 1), (".",)], sentence.surface)
    return scores.edits


def _ends(reader: RunningReader, texts: Sequence[Document]) -> list[float]:
    """F1 of sentence ends in lower-cased text, for each of `ENDS`."""
    readings = [reader.read([word.lower() for word in text.words]).ends for text in texts]
    gold = [text.ends for text in texts]
    return [count_ends([(read > least).tolist() for read in readings], gold).f1 for least in ENDS]
