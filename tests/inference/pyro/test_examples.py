"""The examples in docstrings of the Pyro layer, with the story of the first program."""

import doctest
from types import ModuleType

import pyro
import pytest
import torch
from pyro import poutine

from pyropunct import read_treebank
from pyropunct.embedded import embedded_treebank_path
from pyropunct.inference.pyro import collapse, decode, one_by_one, sites, story_state, svi
from pyropunct.pyro import PairFrequencies, SlidingWindow, Story, build_vocabulary


@pytest.mark.usefixtures("single_precision", "fresh_pyro")
@pytest.mark.parametrize(
    "module", [collapse, decode, one_by_one, sites, svi, story_state], ids=lambda one: one.__name__
)
def test_examples_of_docstrings(module: ModuleType) -> None:
    sentences = read_treebank(embedded_treebank_path("train")).sentences[:20]
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])
    names = {
        "story": Story(
            vocabulary.inventory,
            PairFrequencies(vocabulary.inventory),
            SlidingWindow(len(vocabulary.tokens)),
        ),
        "trees": vocabulary.encode_trees([sentence.tree for sentence in sentences]),
        "surface": vocabulary.encode_surfaces([sentence.surface for sentence in sentences]),
        "collapse_trees": collapse.collapse_trees,
    }
    found = doctest.testmod(module, extraglobs={**names, "pyro": pyro, "poutine": poutine, "torch": torch})
    assert found.attempted > 0
    assert not found.failed
