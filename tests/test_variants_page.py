"""The examples of docs/guide/variants.md."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import answer, complaint

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "variants.md"


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the channel's module; that of the attach model, tagging, is in the same folder."""
    for name, block in zip(("dropping", "tagging"), blocks()[::2], strict=True):
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


def test_the_channel_passes_the_test_that_the_page_gives(module: str, tmp_path: Path) -> None:
    """The page says to append it to a file of the tests: here to a copy."""
    copied = tmp_path / "tests"
    shutil.copytree(Path(__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    with (copied / "models" / "channel" / "channels.py").open("a", encoding="utf-8") as channels:
        channels.write(blocks()[1])
    command = [sys.executable, "-m", "pytest", copied / "models" / "channel", "-k", module, "-q"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert int(re.findall(r"(\d+) passed", ran.stdout)[-1]) > 10
