"""Systems that restore commas side by side."""

import numpy as np
import pytest

from pyropunct.compare.experiment import TableResults
from pyropunct.rivals.settings import CommaSettings
from pyropunct.rivals.shieber_tao_2003.experiment import ON_PARSED_TREES, CommaExperiment
from pyropunct.rivals.shieber_tao_2003.models import MODELS
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence


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
def comparison() -> TableResults:
    settings = CommaSettings(models=("1", "3", "4"), permutations=200)
    return CommaExperiment(sentences(80, 0), sentences(60, 1), settings).results()


def test_the_best_and_those_that_are_not_significantly_worse(
    comparison: TableResults,
) -> None:
    assert [result.trees for result in comparison.tables[0].rows] == ["", "gold", "gold"]
    value, [table] = comparison.to_json(), comparison.tables
    assert value["best"] == {"f": "3", "sentence_accuracy": "3"}
    for column in (column for column in table.columns if column.evidence):
        assert table.leaders(column) == [1]
        assert value["systems"][1]["p"][column.key] == 1
        assert value["systems"][0]["p"][column.key] < 0.05


def test_table_and_json_say_the_same(comparison: TableResults) -> None:
    header, rows = comparison.tables[0].cells("*{}".format)
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
