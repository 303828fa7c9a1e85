"""Run tutorials from top to bottom, and keep in each notebook what it shows.

python tutorials/run.py                     all notebooks, in place
python tutorials/run.py tutorials/3-*.ipynb one of them
python tutorials/run.py --quick --check     as tests/test_tutorials.py: less data, nothing is written
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

HERE = Path(__file__).parent

QUICK = "PYROPUNCT_QUICK"
"""The environment variable that the first cell of each notebook reads."""

LIMIT = 600
"""Seconds that a cell may take."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""What a notebook says about its kernel: nothing that changes from machine to machine."""


def notebooks() -> list[Path]:
    """The tutorials, in their order."""
    return sorted(HERE.glob("*.ipynb"))


def read(path: Path) -> NotebookNode:
    """A notebook of the current format."""
    return nbformat.read(path, as_version=4)


def execute(
    notebook: NotebookNode, folder: Path, *, quick: bool = False, kernel: AsyncKernelManager | None = None
) -> NotebookNode:
    """Run all cells in place, by default in a new kernel with one thread, and strip what differs from run to
    run.

    :param folder: where the kernel runs; with ``matplotlibrc``, equal pictures are equal files.
    :param quick: less data and fewer epochs.
    :param kernel: one that goes on when the notebook has been run.
    :raises CellExecutionError: if a cell fails; it tells which, and why.
    """
    environment = {
        **os.environ,
        QUICK: "1" if quick else "0",
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "SOURCE_DATE_EPOCH": "0",  # the date that matplotlib writes into pictures
        "PYTHONWARNINGS": "ignore:IProgress not found",  # of tqdm, which Pyro imports
    }
    client = NotebookClient(
        notebook,
        kernel,
        timeout=LIMIT,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,  # how a text is cut into messages is a matter of time
    )
    client.execute(env=environment)
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def main(arguments: Sequence[str] | None = None) -> int:
    """Run notebooks; the exit status is 1 if a cell fails."""
    parser = argparse.ArgumentParser(description="Run tutorials and keep what they show.")
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK", help="by default all")
    parser.add_argument("--quick", action="store_true", help="less data and fewer epochs; use with --check")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    for path in options.paths or notebooks():
        began = time.monotonic()
        try:
            notebook = execute(read(path), HERE, quick=options.quick)
        except CellExecutionError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            return 1
        if not options.check:
            nbformat.write(notebook, path)
        print(f"{path.name}: {time.monotonic() - began:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
