"""Settings of restoration that Python code gives, without the command line's checks."""

from typing import Any

import pytest

from pyropunct.restore.settings import DecisionSettingError, RestoreSettings


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"case": "x"}, "case is 'x': it must be one of auto, restore, keep"),
        ({"case": None}, "case is None: it must be one of auto, restore, keep"),
        ({"decoder": "best"}, "decoder is 'best': it must be one of mbr, slot-mbr, map, f1"),
        ({"samples": 0}, "samples is 0: it must be 1 or more"),
        ({"seed": -1}, "seed is -1: it must be 0 to 4294967295"),
    ],
)
def test_values_that_nobody_knows(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(DecisionSettingError, match=problem):
        RestoreSettings(**settings)


def test_a_decoder_may_be_left_open() -> None:
    assert RestoreSettings(decoder=None, case="keep", samples=1).decoder is None
