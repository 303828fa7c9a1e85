"""What is told of trainings."""

import pytest

from pyropunct.cli.training_reports import training_watch
from pyropunct.nets.trainer import Epoch, Progress


@pytest.mark.parametrize(("folds", "told"), [(0, "12 min"), (2, "18 min"), (4, "30 min")])
def test_the_first_epoch_of_the_parser_tells_how_long_all_parsers_take(
    folds: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 300,000 words: twelve epochs for the parser, six of half or three quarters of them for each fold."""
    with training_watch("parser", folds) as watch:
        for number in (1, 2):
            watch(Progress("parser", number, 300_000, 300_000, Epoch(number, 1.0, None, 60.0 * number), 12))
    first, second = [line for line in capsys.readouterr().err.splitlines() if "epoch" in line]
    assert f"all parsers take some {told}," in first
    assert "all parsers" not in second
