"""The examples of docs/guide/variants.md."""

import importlib
import itertools
import re
from pathlib import Path

import pytest
import torch
from by_hand import chances
from command_line import answer, complaint
from problems import strings_up_to

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "variants.md"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the channel's module; that of the attach model, tagging, is in the same folder."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for name, block in zip(("dropping", "tagging"), blocks, strict=True):
        (tmp_path / f"{name}.py").write_text(block, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "dropping"


@pytest.mark.parametrize("variant", [("--channel", "dropping:Dropping"), ("--attach", "tagging:Tagging")])
def test_the_examples_are_fitted(small: Path, tmp_path: Path, module: str, variant: tuple[str, str]) -> None:
    out, dev = tmp_path / "m", small / "dev.conllu"
    options = (*variant, "--direction", "left", "--epochs", 1, "--threads", 1)
    value = answer("fit", small / "train.conllu", "--dev", dev, "--out", out, *options)
    last = value["epochs"][-1]["perplexity"]
    trusting = "--trust-variants"
    assert answer("evaluate", out, dev, trusting)["perplexity"] == pytest.approx(last, rel=1e-3)
    assert last < 4  # an attach model has 9.9 with the settings of the log-linear one
    assert len(answer("sample", out, dev, trusting)["sentences"]) == 30
    assert "if you trust that, load it with --trust-variants" in complaint(2, "evaluate", out, dev)


@pytest.mark.parametrize("direction", ["left", "right"])
def test_the_example_has_the_probabilities_that_the_page_states(module: str, direction: str) -> None:
    """All choices of tokens to drop, one after the other."""
    channel = importlib.import_module(module).Dropping(3, direction)
    channel.logits = torch.randn(3)
    underlying, delta = (0, 2, 1, 1), channel.logits.sigmoid().tolist()
    surfaces = strings_up_to(4, range(3))
    expected = dict.fromkeys(surfaces, 0.0)
    for kept in itertools.product([False, True], repeat=4):
        left = tuple(t for t, stays in zip(underlying, kept, strict=True) if stays)
        chance = 1.0
        for t, stays in zip(underlying, kept, strict=True):
            chance *= 1 - delta[t] if stays else delta[t]
        expected[left] += chance
    found = chances(channel, surfaces, underlying).tolist()
    assert found == pytest.approx(list(expected.values()), rel=1e-12, abs=1e-300)
