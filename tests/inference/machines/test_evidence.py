"""Evidence that somebody wrote by hand."""

import math

import pytest

from pyropunct.inference.machines.evidence import Evidence, SlotEvidence, Step, any_over, exactly

LINE = exactly((1,))


@pytest.mark.parametrize("weight", [-0.5, math.nan, math.inf])
@pytest.mark.parametrize("field", ["initial", "final", "steps"])
def test_weights_must_be_finite_and_not_negative(field: str, weight: float) -> None:
    column = (Step(1, 0, 1, weight),) if field == "steps" else ((0, 1.0), (1, weight))
    with pytest.raises(ValueError, match=rf"evidence has the weights \[{weight}\]: they must be finite"):
        SlotEvidence([any_over([1]), LINE._replace(string=None, **{field: column})])


def test_weights_may_be_zero_or_great() -> None:
    assert len(SlotEvidence([Evidence(2, ((0, 0.0),), ((1, 1e300),), LINE.steps)])) == 1
