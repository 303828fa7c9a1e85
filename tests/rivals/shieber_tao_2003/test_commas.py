"""Systems that restore commas side by side."""

import numpy as np
import pytest

from pyropunct.cli.compare_commas import compare_commas as command
from pyropunct.compare.significance import PERMUTATIONS
from pyropunct.rivals.shieber_tao_2003 import MODELS, CommaSentence
from pyropunct.rivals.shieber_tao_2003.comparison import (
    ON_PARSED_TREES,
    CommaComparison,
    CommaSettings,
    compare_commas,
)
from pyropunct.rivals.shieber_tao_2003.restorer import LEAST_SEEN


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
def comparison() -> CommaComparison:
    settings = CommaSettings(models=("1", "3", "4"), permutations=200)
    return compare_commas(sentences(80, 0), sentences(60, 1), settings)


def test_the_best_and_those_that_are_not_significantly_worse(comparison: CommaComparison) -> None:
    assert [system.trees for system in comparison.systems] == ["", "gold", "gold"]
    for column in ("f", "sentence_accuracy"):
        assert comparison.best(column).name == "3"
        assert comparison.leaders(column) == ["3"]
        assert comparison.p_values[column]["3"] == 1
        assert comparison.p_values[column]["1"] < 0.05


def test_table_and_json_say_the_same(comparison: CommaComparison) -> None:
    header, rows = comparison.table()
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
    value = compare_commas(sentences(9, 0), sentences(9, 1), settings).to_json()
    assert value["systems"][0]["error_reduction"] is None


def test_defaults_of_the_command_are_those_of_the_package() -> None:
    default = {parameter.name: parameter.default for parameter in command.params}
    assert (default["least"], default["permutations"]) == (LEAST_SEEN, PERMUTATIONS)
    assert set(ON_PARSED_TREES.values()) <= set(MODELS)
