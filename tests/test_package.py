"""What is installed."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pyropunct

ROOT = Path(__file__).parent.parent
PARTS = ("pyproject.toml", "README.md", "LICENSE", "pyropunct", "models", "inference")


MOST = 14_000_000
"""The most bytes of the model in the wheel; a million more than before its reader learned from podcasts."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel; it is built from a copy, and nothing is left behind."""
    folder = tmp_path_factory.mktemp("wheel")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, folder)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        ".",
    ]
    subprocess.run([*command, "--wheel-dir", "out"], cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "out").iterdir()
    return wheel


@pytest.fixture(scope="module")
def files(wheel: Path) -> dict[str, int]:
    """The files in the wheel, with their sizes there."""
    with zipfile.ZipFile(wheel) as archive:
        return {file.filename: file.compress_size for file in archive.infolist()}


@pytest.fixture
def names(files: dict[str, int]) -> set[str]:
    """The names of the files in the wheel."""
    return set(files)


def test_the_english_model_is_in_the_wheel(files: dict[str, int]) -> None:
    assert files["pyropunct/shipped/en.safetensors"] <= MOST
    assert "pyropunct/shipped/LICENSE.md" in files


def test_every_module_is_in_the_wheel(names: set[str]) -> None:
    for room, place in (
        ("pyropunct", "pyropunct"),
        ("models", "pyropunct/models"),
        ("inference", "pyropunct/inference"),
    ):
        for module in (ROOT / room).rglob("*.py"):
            assert f"{place}/{module.relative_to(ROOT / room).as_posix()}" in names


def test_data_files_are_in_the_wheel(names: set[str]) -> None:
    expected = {
        f"pyropunct/embedded/{name}" for name in ("train.conllu", "dev.conllu", "test.conllu", "LICENSE.md")
    }
    expected |= {f"pyropunct/figures/page.{kind}" for kind in ("css", "html", "js")}
    assert expected | {"pyropunct/py.typed"} <= names


def test_nothing_else_is_in_the_wheel(names: set[str]) -> None:
    """No package is called ``models``: other people's are."""
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"pyropunct"}


def test_the_version_is_there() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pyropunct.__version__)


def test_the_wheel_runs_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """Outside of the sources, it restores with its model, and fits a treebank; without compiling, which takes
    a minute, and which the other tests do.
    """
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    paths = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "NUMBA_DISABLE_JIT": "1"}

    def printed(*words: str, given: str = "") -> str:
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=paths, input=given, check=True, text=True, capture_output=True
        )
        return done.stdout

    place = printed("-c", "import pyropunct; print(pyropunct.__file__)")
    assert Path(place.strip()).is_relative_to(tmp_path / "site")
    words = "however the meeting ended without a vote\n"
    assert printed("-m", "pyropunct", "restore", "en", "-", given=words) == (
        "However, the meeting ended without a vote.\n"
    )
    text = (tmp_path / "site" / "pyropunct" / "embedded" / "dev.conllu").read_text(encoding="utf-8")
    (tmp_path / "few.conllu").write_text("\n\n".join(text.split("\n\n")[:4]) + "\n\n", encoding="utf-8")
    printed("-m", "pyropunct", "fit", "few.conllu", "--epochs", "1", "--direction", "left", "--out", "quick")
    assert (tmp_path / "quick.safetensors").exists()
