"""What is kept in the folder of a comparison, and which folders are refused."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up import four_systems

from pyropunct.fitted.model_file import ModelFileError
from pyropunct.rivals.restoration import ComparisonFolderError, Settings
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.rivals.restoration.folder import ComparisonFolder, Trained
from pyropunct.rivals.restoration.parts import Part

CHECKSUMS = {"train": "aaa", "dev": "bbb"}


class Text(Part[str]):
    """A part that is a text; counts how often it was trained."""

    def __init__(self) -> None:
        self.trained = 0

    def train(self, treebanks: object, settings: object, watch: object) -> str:
        self.trained += 1
        return "some text"

    def save(self, model: str, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "text").write_text(model)

    def load(self, folder: Path, conditions: Conditions) -> str:
        if (folder / "text").read_text() != "some text":
            raise ModelFileError(f"{folder}: is damaged")
        return "read: some text"


def trained(path: Path, name: str, text: Text) -> Trained:
    """Open the folder, and ask for a part."""
    return opened(path).trained(name, text, lambda: text.train(None, None, None))


def opened(path: Path, settings: Settings | None = None, **checksums: str) -> ComparisonFolder:
    return ComparisonFolder(path, CHECKSUMS | checksums, Settings() if settings is None else settings)


def test_a_part_is_trained_once(tmp_path: Path) -> None:
    text = Text()
    found = [trained(tmp_path / "deep" / "down", "one", text) for _ in range(2)]
    assert text.trained == 1
    assert found[0] == found[1]
    assert found[0].model == "read: some text"


def test_a_part_that_was_deleted_or_not_finished_is_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Text()
    trained(tmp_path, "one", text)
    shutil.rmtree(tmp_path / "parts" / "one")
    trained(tmp_path, "one", text)
    assert text.trained == 2

    def killed(self: Text, model: str, folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Text, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path, "two", text)
    trained(tmp_path, "two", text)
    assert text.trained == 4


def test_a_damaged_part(tmp_path: Path) -> None:
    text, part = Text(), tmp_path / "parts" / "one"
    trained(tmp_path, "one", text)
    (part / "text").write_text("some other text")
    with pytest.raises(ComparisonFolderError) as caught:
        trained(tmp_path, "one", text)
    assert str(caught.value) == f"{part}: is damaged; delete {part}, and the same command trains it again"


def test_other_data_or_settings(tmp_path: Path) -> None:
    opened(tmp_path)
    before = (tmp_path / "comparison.json").read_bytes()
    for change, named in (
        (lambda: opened(tmp_path, dev="ccc"), "dev"),
        (lambda: opened(tmp_path, train="ccc", dev="ccc"), "train, dev"),
        (lambda: opened(tmp_path, Settings(device="cuda")), "device"),
        (lambda: opened(tmp_path, Settings().quick(), train="ccc"), "train, recipe, rival_recipe"),
    ):
        with pytest.raises(ComparisonFolderError) as caught:
            change()
        assert str(caught.value).startswith(
            f"{tmp_path}: its parts were trained on other data or with other settings ({named}"
        )
    assert (tmp_path / "comparison.json").read_bytes() == before
    opened(tmp_path, Settings(samples=3, shares=(10,)))


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
    with pytest.raises(ComparisonFolderError) as caught:
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
        with pytest.raises(ComparisonFolderError, match=f"^{path}: {problem}"):
            opened(path)
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]


def test_results(tmp_path: Path) -> None:
    results, seconds = four_systems(), trained(tmp_path, "one", Text()).seconds
    opened(tmp_path).write(results)
    assert (tmp_path / "comparison.md").read_text(encoding="utf-8") == results.to_markdown()
    assert (tmp_path / "comparison.svg").read_bytes() == results.to_svg()
    value = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert value.pop("parts") == {"one": seconds}
    assert value == results.to_json()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "comparison.json",
        "comparison.md",
        "comparison.svg",
        "parts",
    ]


def test_results_that_cannot_be_written(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    (tmp_path / "comparison.svg").mkdir()
    with pytest.raises(ComparisonFolderError, match=r"comparison\.svg: cannot be written: Is a directory"):
        folder.write(four_systems())
