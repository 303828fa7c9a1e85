"""Commas restored by the punctuation model itself, as the posterior given a tree and all other marks."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS
from pyropunct.rivals.shieber_tao_2003.comparison import CommaSystem
from pyropunct.rivals.shieber_tao_2003.scores import CommaScores
from pyropunct.rivals.shieber_tao_2003.sentences import COMMA, CommaSentence
from pyropunct.treebank.constituency.reading import read_brackets
from pyropunct.treebank.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

KNOWN = 0.5
"""A model reads converted trees if it knows the relations of at least this share of their words."""

OF_WORDS = (START, ABBREVIATION_DOT)
"""Tokens of a surface string that are no marks of their own in a tree."""


def story_systems(
    model: Punctuator,
    path: str,
    sentences: Sequence[CommaSentence],
    *,
    samples: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
) -> list[CommaSystem]:
    """How well a model restores the commas of a file of phrase-structure trees.

    It is measured on the converted trees, if it knows their relations, that is, was trained on converted
    trees too; and on those of its parser, if it has one.

    :param path: the file.
    :param sentences: its sentences.
    :param samples: how many draws of the posterior of each sentence.
    :param seed: equal seeds give equal draws.
    :param progress: called after each sentence with 1.
    :raises ValueError: if the model has no comma.
    """
    converted = read_brackets(path)
    relations = [relation for one in converted for relation in one.tree.relations]
    known = sum(relation in model.vocabulary.relations for relation in relations)
    trees = ["gold"] * (known >= KNOWN * len(relations)) + ["parsed"] * (model.parser is not None)
    gold = [sentence.commas for sentence in sentences]
    found = []
    for kind in trees:
        commas = story_commas(
            model, sentences, converted, parse=kind == "parsed", samples=samples, seed=seed, progress=progress
        )
        found.append(CommaSystem(f"story, {kind}", "all other marks", kind, CommaScores.of(commas, gold)))
    return found


def story_commas(
    model: Punctuator,
    sentences: Sequence[CommaSentence],
    converted: Sequence[Sentence],
    *,
    parse: bool,
    samples: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[NDArray[np.bool_]]:
    """For each sentence (n + 1,) where the decision of least expected edit distance puts commas.

    Sentences that were left out of the converted ones, as they have no word, get none; nor do those in which
    the tag of a comma makes it a word, so that it cannot be hidden.

    :param model: the model, which has a comma among its marks.
    :param sentences: sentences of a file of phrase-structure trees.
    :param converted: those of the same file as dependency trees, see
        `pyropunct.treebank.constituency.reading.read_brackets`.
    :param parse: find trees with the model's parser instead of taking the converted ones.
    :param samples: how many draws of the posterior.
    :param seed: equal seeds give equal draws.
    :param progress: called after each sentence with 1.
    :raises ValueError: if the model has no comma.
    """
    by_number = {int(one.identifier.rpartition("-")[2]): one for one in converted}
    for sentence in sentences:
        own = by_number.get(sentence.number)
        if own is None or COMMA in own.tree.forms:
            yield np.zeros(len(sentence.commas), bool)
        else:
            known = [[mark for mark in slot if mark != COMMA] for slot in own.surface]
            given: Sequence[str] | Tree = own.tree.forms if parse else own.tree
            found = model.posterior(given, known, hidden=[COMMA], samples=samples, seed=seed)
            # Not `Posterior.best`, which leaves out marks that the model does not know: they have positions.
            yield commas_of(DECODERS["mbr"](found.draws).surface)
        progress(1)


def commas_of(surface: Surface) -> NDArray[np.bool_]:
    """(n + 1,) whether a comma stands behind each word or other mark, and before the first.

    :param surface: the punctuation tokens of all slots.
    """
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
