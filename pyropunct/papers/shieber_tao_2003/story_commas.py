"""Commas restored by the model of latent punctuation: the posterior given a tree and all other marks."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pyropunct.papers.experiment import Advance, Watch, unwatched
from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.sentences import COMMA, CommaResult, CommaScores, CommaSentence
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.brackets import read_brackets
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

KNOWN = 0.5
"""A model reads converted trees if it knows the relations of at least this share of their words."""

OF_WORDS = (START, ABBREVIATION_DOT)
"""Tokens of a surface string that are not marks in a tree."""


def story_results(
    model: Punctuator,
    path: str,
    sentences: Sequence[CommaSentence],
    settings: CommaSettings,
    watch: Watch = unwatched,
) -> list[CommaResult]:
    """How well a model of latent punctuation restores the commas of a file of phrase-structure trees.

    Measured on converted trees if it was trained on such trees, and on trees of its parser if it has one.

    :raises ValueError: if the model has no comma.
    """
    converted = read_brackets(path)
    relations = [relation for sentence in converted for relation in sentence.tree.relations]
    known = sum(relation in model.vocabulary.relations for relation in relations)
    trees = ["gold"] * (known >= KNOWN * len(relations)) + ["parsed"] * (model.parser is not None)
    gold = [sentence.commas for sentence in sentences]
    results = []
    for kind in trees:
        with watch(f"restoring, model, {kind} trees: sentences", len(sentences)) as advance:
            commas = story_commas(
                model, sentences, converted, parse=kind == "parsed", settings=settings, advance=advance
            )
            scores = CommaScores.of(commas, gold)
        results.append(CommaResult(f"story, {kind}", "all other marks", kind, scores))
    return results


def story_commas(
    model: Punctuator,
    sentences: Sequence[CommaSentence],
    converted: Sequence[Sentence],
    *,
    parse: bool,
    settings: CommaSettings,
    advance: Advance = lambda done: None,
) -> Iterator[NDArray[np.bool_]]:
    """For each sentence (n + 1,) where the decision of least expected edit distance puts commas.

    Sentences without words, and those with a comma tagged as a word, get none.

    :param converted: dependency trees of the sentences, see `pyropunct.treebank.brackets.read_brackets`.
    :param parse: find trees with the model's parser instead of taking the converted ones.
    :raises ValueError: if the model has no comma.
    """
    by_number = {int(one.identifier.rpartition("-")[2]): one for one in converted}
    draws = {"samples": settings.samples, "seed": settings.seed}
    for sentence in sentences:
        dependencies = by_number.get(sentence.number)
        if dependencies is None or COMMA in dependencies.tree.forms:
            yield np.zeros(len(sentence.commas), bool)
        else:
            known = [[mark for mark in slot if mark != COMMA] for slot in dependencies.surface]
            given: Sequence[str] | Tree = dependencies.tree.forms if parse else dependencies.tree
            posterior = model.posterior(given, known, hidden=[COMMA], **draws)
            # Not `Posterior.best`, which leaves out marks that the model does not know: they have positions.
            yield commas_of(DECODERS["mbr"](posterior.draws).surface)
        advance(1)


def commas_of(surface: Surface) -> NDArray[np.bool_]:
    """(n + 1,) whether a comma stands behind each word or other mark, and before the first."""
    commas = [False]
    for slot, tokens in enumerate(surface):
        if slot:
            commas.append(False)  # behind the word before the slot
        for token in tokens:
            if token == COMMA:
                commas[-1] = True
            elif token not in OF_WORDS:
                commas.append(False)
    return np.array(commas)
