"""What is kept in the folder of an experiment, and which folders are refused."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import pytest
import torch
from torch import Tensor

from pyropunct.errors import SettingError
from pyropunct.files import held
from pyropunct.fitted.model_file import write_model_file
from pyropunct.limits import Range
from pyropunct.papers.experiment import Experiment, Results, Trained, checksum, loader
from pyropunct.papers.options import ExperimentSettings
from pyropunct.tables import Column, Table

DATA = {"train": "aaa", "dev": "bbb"}


@dataclass(frozen=True, kw_only=True)
class Settings(ExperimentSettings):
    epochs: Annotated[int, Range(1, 9)] = 3
    samples: int = 10
    TRAINING: ClassVar[tuple[str, ...]] = ("epochs",)


class Text(NamedTuple):
    """A part that is a text."""

    text: str

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {"vocabulary": [], "recipe": {}, "report": {}, "text": self.text}, {}

    @classmethod
    def from_parts(cls, plain: dict[str, Any], tensors: dict[str, Tensor]) -> "Text":
        if plain["text"] != "some text":
            raise ValueError("not some text")
        return cls(f"read: {plain['text']}")


class Training:
    """Trains a text; counts how often it was trained."""

    def __init__(self) -> None:
        self.trained = 0

    def train(self) -> Text:
        self.trained += 1
        return Text("some text")


TABLE: Table[int] = Table("Numbers", [Column("number", "number", lambda row: row)], [1, 2])
RESULTS = Results({"numbers": TABLE}, {"numbers": [1, 2]})


class Numbers(Experiment):
    def results(self) -> Results:
        return RESULTS


def trained(path: Path | None, name: str, text: Training) -> Trained[Text]:
    """Open the folder, and ask for a part."""
    return opened(path).trained(name, text.train, loader(Text.from_parts))


def opened(path: Path | None, settings: ExperimentSettings | None = None, **data: str) -> Numbers:
    """An experiment that has looked at its folder."""
    every = DATA | data
    numbers = Numbers(every["train"], every["dev"], settings or Settings(), path)
    with numbers.opened():
        return numbers


def test_a_part_is_trained_once(tmp_path: Path) -> None:
    text = Training()
    both = [trained(tmp_path / "deep" / "down", "one", text) for _ in range(2)]
    assert text.trained == 1
    assert both[0] == both[1]
    assert both[0].model.text == "read: some text"


def test_without_a_folder_a_part_is_saved_and_loaded_too() -> None:
    text, numbers = Training(), opened(None)
    for _ in range(2):
        assert (
            numbers.trained("deep/one", text.train, loader(Text.from_parts)).model.text == "read: some text"
        )
    assert text.trained == 1
    assert not numbers.has("deep/one")
    numbers.write(RESULTS)


def test_a_part_that_was_deleted_or_not_finished_is_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Training()
    trained(tmp_path, "one", text)
    (tmp_path / "parts" / "one.safetensors").unlink()
    trained(tmp_path, "one", text)
    assert text.trained == 2

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pyropunct.papers.experiment.write_model_file", killed)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path, "two", text)
    trained(tmp_path, "two", text)
    assert text.trained == 4


def test_a_damaged_part(tmp_path: Path) -> None:
    text, part = Training(), tmp_path / "parts" / "one.safetensors"
    trained(tmp_path, "one", text)
    write_model_file(part, *Text("some other text").to_parts())
    with pytest.raises(SettingError) as caught:
        trained(tmp_path, "one", text)
    assert str(caught.value) == f"{part}: not some text; delete {part}, and the same command trains it again"


def test_other_data_or_settings(tmp_path: Path) -> None:
    opened(tmp_path)
    before = (tmp_path / "comparison.json").read_bytes()
    for change, named in (
        (lambda: opened(tmp_path, dev="ccc"), "dev"),
        (lambda: opened(tmp_path, train="ccc", dev="ccc"), "train, dev"),
        (lambda: opened(tmp_path, Settings(epochs=4), train="ccc"), "train, epochs"),
        (lambda: opened(tmp_path, ExperimentSettings(seed=1)), "seed"),
    ):
        with pytest.raises(SettingError) as caught:
            change()
        assert str(caught.value) == (
            f"{tmp_path}: its parts were trained on other data or with other settings ({named}); "
            "repeat the command that began it, or choose another folder"
        )
    assert (tmp_path / "comparison.json").read_bytes() == before
    opened(tmp_path, Settings(samples=3, seed=2))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text(""),
        lambda path: path.write_text("{}"),
        lambda path: path.write_text("[1]"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_bytes(b"\xff"),
        lambda path: os.truncate(path, 100),
        lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), "format": "other"})),
        lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), "parts": 1})),
        lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), "settings": 1})),
    ],
)
def test_damaged_descriptions(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    opened(tmp_path)
    path = tmp_path / "comparison.json"
    damage(path)
    with pytest.raises(SettingError) as caught:
        opened(tmp_path)
    assert str(caught.value).startswith(f"{path}: is damaged, or not of a pyropunct comparison: ")
    assert "\n" not in str(caught.value)


def test_places_for_no_comparison(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_text("mine")
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    for path, problem in (
        (file, "cannot write there"),
        (file / "below", "cannot write there"),
        (Path("/proc/comparison"), "cannot write there"),
        (other, "holds other things than a comparison; choose another folder"),
    ):
        with pytest.raises(SettingError, match=f"^{path}: {problem}"):
            opened(path)
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]


def test_a_folder_that_another_process_uses(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(SettingError, match="another process is comparing there"):
        opened(tmp_path)
    opened(tmp_path)


def test_results(tmp_path: Path) -> None:
    seconds = trained(tmp_path, "one", Training()).seconds
    found = Numbers("aaa", "bbb", Settings(), tmp_path).run()
    assert found.tables is RESULTS.tables
    assert (tmp_path / "comparison.md").read_text(encoding="utf-8") == (
        "## Numbers\n\n| number |\n| --- |\n| 1 |\n| 2 |\n"
    )
    written = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert written == {**found.to_json(), "parts": {"one": seconds}}
    assert written.pop("environment")["torch"] == torch.__version__
    assert written == {
        "format": "pyropunct comparison",
        "checksums": {name: checksum(map(repr, data)) for name, data in DATA.items()},
        "settings": {"permutations": 10_000, "seed": 0, "epochs": 3, "samples": 10},
        "numbers": [1, 2],
        "parts": {"one": seconds},
    }
    assert {path.name for path in tmp_path.iterdir()} == {"comparison.json", "comparison.md", "parts"}


def test_results_that_cannot_be_written(tmp_path: Path) -> None:
    numbers = opened(tmp_path)
    (tmp_path / "comparison.md").mkdir()
    with pytest.raises(SettingError, match=r"comparison\.md: cannot be written: Is a directory"):
        numbers.write(RESULTS)
