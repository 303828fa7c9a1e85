"""The notebooks of tutorials/: what they show is there, and their assertions hold."""

import importlib.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

BESIDE = ("matplotlibrc", "true_rules.py", "trigrams.py", "inaugural.zip", "german.zip")
"""What notebooks need in the folder where they run."""

LARGEST = 400_000
"""Bytes that a notebook may have, with its outputs."""

AS_NEW = """
%reset -f
import os, matplotlib, pyro, torch
os.chdir({work!r})
matplotlib.rc_file("matplotlibrc")
pyro.clear_param_store()
torch.set_default_dtype(torch.float)
%reset -f
"""
"""Makes a kernel forget what another notebook has done in it."""

ABSOLUTE = re.compile(r"(?<![\w.<:/*-])(?:/[\w.-]+){2,}|\b[A-Z]:\\\\")
"""A path that is only right on one machine."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def run() -> ModuleType:
    """tutorials/run.py."""
    spec = importlib.util.spec_from_file_location("run_tutorials", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsyncKernelManager]:
    """A kernel for all notebooks, not started yet: to start one takes as long as to run some."""
    home = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        manager = AsyncKernelManager()
        yield manager
        if manager.has_kernel:
            run_sync(manager.shutdown_kernel)(now=True)


def answers(notebook: NotebookNode) -> list[str]:
    """The code of the answers to the exercises."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [code for text in texts for code in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.M)]


def test_there_are_fourteen() -> None:
    assert sorted(int(path.name.split("-")[0]) for path in NOTEBOOKS) == list(range(1, 15))


@each_notebook
def test_a_notebook_runs_with_the_answers_to_its_exercises(
    path: Path, run: ModuleType, kernel: AsyncKernelManager, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in BESIDE:
        shutil.copy(FOLDER / name, work)
    notebook = run.read(path)
    assert len(answers(notebook)) >= 2
    notebook.cells += map(nbformat.v4.new_code_cell, answers(notebook))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(AS_NEW.format(work=str(work))))
    run.execute(notebook, work, quick=True, kernel=kernel)
    assert not [output.text for cell in code_cells(notebook) for output in streams(cell) if is_error(output)]
    assert {left.name for left in work.iterdir()} <= {*BESIDE, "__pycache__"}


@each_notebook
def test_a_notebook_shows_what_it_computed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds <= {"stream", "display_data", "execute_result"}
    assert not [output.text for cell in cells for output in streams(cell) if is_error(output)]
    assert sum(bool(cell.outputs) for cell in cells) > len(cells) / 2
    assert any("image/svg+xml" in output.get("data", {}) for cell in cells for output in cell.outputs)


@each_notebook
def test_a_notebook_says_at_the_top_how_long_it_runs(path: Path) -> None:
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    [seconds] = re.findall(rf"\({re.escape(path.name)}\).* (\d+) \|$", table, re.M)
    assert (
        f"\n\n*Runs in {seconds} seconds on one core.*\n\n"
        in nbformat.read(path, as_version=4).cells[0].source
    )


@each_notebook
def test_a_notebook_has_a_picture_near_its_top(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells[:7]
    shown = any(
        "image/svg+xml" in output.get("data", {}) for cell in cells for output in cell.get("outputs", [])
    )
    linked = [name for cell in cells for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", cell.source)]
    assert shown or linked
    assert all((FOLDER / name).exists() for name in linked)


@each_notebook
def test_a_notebook_is_small_and_the_same_on_all_machines(path: Path, run: ModuleType) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert ABSOLUTE.findall(text) == []
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata == run.METADATA
    assert all(not cell.metadata for cell in notebook.cells)


@pytest.mark.parametrize(
    ("text", "is_path"),
    [
        ("/home/anybody/model", True),
        ("in '/tmp/x'", True),
        (r"C:\\Users", True),
        ("see ../docs/variants.md and models/channel/window.py", False),
        ("http://www.w3.org/2000/svg", False),
        ("-//W3C//DTD SVG 1.1//EN", False),
        ("<summary>a</summary></details>", False),
        ("$p / q / r$", False),
    ],
)
def test_absolute_paths_are_found(text: str, is_path: bool) -> None:
    assert bool(ABSOLUTE.search(text)) == is_path


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def streams(cell: NotebookNode) -> list[NotebookNode]:
    return [output for output in cell.outputs if output.output_type == "stream"]


def is_error(output: NotebookNode) -> bool:
    """Warnings and progress bars go to the error stream."""
    return output.name == "stderr"
