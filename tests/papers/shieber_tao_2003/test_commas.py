"""Systems that restore commas side by side."""

from collections.abc import Sequence

import numpy as np
import pytest

from pyropunct.nets.parser import WeightedTree
from pyropunct.papers.experiment import Results
from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.comma_experiment import ON_PARSED_TREES, CommaExperiment
from pyropunct.papers.shieber_tao_2003.models import MODELS
from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence
from pyropunct.treebank.tree import Tree


def sentences(number: int, seed: int) -> list[CommaSentence]:
    """Sentences with a comma wherever three constituents end, of words that tell nothing."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        ends = np.array([0, *generator.integers(1, 4, 6), 1])
        words = tuple(generator.choice(["a", "b"], 7))
        found.append(CommaSentence(words, ("NN",) * 7, ends == 3, np.ones(8, np.int64), ends))
    return found


@pytest.fixture(scope="module")
def comparison() -> Results:
    settings = CommaSettings(models=("1", "3", "4"), permutations=200)
    return CommaExperiment(sentences(80, 0), sentences(60, 1), settings).results()


def test_the_best_and_those_that_are_not_significantly_worse(
    comparison: Results,
) -> None:
    assert [result.trees for result in comparison.tables["systems"].rows] == ["", "gold", "gold"]
    value, [table] = comparison.to_json(), comparison.tables.values()
    for column in (column for column in table.columns if column.evidence):
        assert table.leaders(column) == [1]
        assert value["systems"][1]["p"][column.key] == 1
        assert value["systems"][0]["p"][column.key] < 0.05


def test_table_and_json_say_the_same(comparison: Results) -> None:
    header, rows = comparison.tables["systems"].cells("*{}".format)
    value = comparison.to_json()
    assert value["dev"] == {"sentences": 60, "commas": sum(s.commas.sum() for s in sentences(60, 1))}
    for row, system in zip(rows, value["systems"], strict=True):
        shown = dict(zip(header, (cell.strip("*") for cell in row), strict=True))
        assert shown["model"] == system["model"]
        assert [shown["F"], shown["reduction"]] == [f"{system[key]:.3f}" for key in ("f", "error_reduction")]
    assert [row[5].startswith("*") for row in rows] == [False, True, False]
    assert value["systems"][0]["error_reduction"] == 0


def test_without_model_1_there_is_no_reduction() -> None:
    settings = CommaSettings(models=("3",), permutations=1)
    value = CommaExperiment(sentences(9, 0), sentences(9, 1), settings).run().to_json()
    assert value["systems"][0]["error_reduction"] is None


def test_models_on_parsed_trees_are_models() -> None:
    assert set(ON_PARSED_TREES.values()) <= set(MODELS)


class Parser:
    """Three words are a chain if the third is in ``ends``; all others depend on the first word."""

    def __init__(self, ends: str) -> None:
        self.ends = ends

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        return [[WeightedTree(self._tree(words), 1.0)] for words in sentences]

    def _tree(self, words: Sequence[str]) -> Tree:
        heads = [0, *[1] * (len(words) - 1)]
        for end in (place for place, word in enumerate(words, 1) if word in self.ends):
            heads[end - 2 : end] = [end - 2, end - 1]
        return Tree(tuple(heads), ("dep",) * len(words), ("NOUN",) * len(words), tuple(words))


def test_model_6_has_seen_the_commas_of_training_and_model_7_all() -> None:
    flat, random = np.zeros(12, np.int64), np.random.default_rng(0)
    known = []
    for _ in range(60):
        words = ("a", *(word for end in random.choice(["b", "c"], 3) for word in ("a", "a", end)), "a")
        commas = np.array([False, *(word == "b" for word in words)])
        known.append(CommaSentence(words, ("NN",) * 11, commas, flat, flat))
    settings = CommaSettings(models=("3",), permutations=1, least=1000)  # words themselves tell nothing
    results = CommaExperiment(known, known, settings, parser=Parser(""), seen=Parser("b")).results().to_json()
    assert [(one["model"], one["recall"]) for one in results["systems"][1:]] == [("5", 0), ("6", 0), ("7", 1)]
    assert results["systems"][-1]["precision"] == 1
