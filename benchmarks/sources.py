"""Finds the files of this repository that a command runs, so that a table tells whether they have changed."""

import ast
import subprocess
from functools import cache
from pathlib import Path

import grimp

from pyropunct.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
LOCAL = [ROOT / "benchmarks", ROOT / "tutorials"]
"""The folders whose programs import each other."""


def sources(command: str) -> set[Path]:
    """The files that a command imports directly or indirectly, relative to the repository.

    :param command: ``-m pyropunct COMMAND ...`` or ``benchmarks/program.py ...``.
    """
    program, *words = command.split()
    if program == "-m":
        return _of_package(f"pyropunct.cli.{COMMANDS[words[1]]}") | _of_package("pyropunct.cli.main")
    return _of_program(ROOT / program)


def changes(commit: str, files: set[Path]) -> int | None:
    """The number of commits since ``commit`` that changed the files; 1 more if they differ from the last one.

    None outside of a git repository, or if the commit is not there.
    """
    paths = ["--", *map(str, sorted(files))]
    count = git("rev-list", "--count", f"{commit}..HEAD", *paths)
    return None if count is None else int(count) + bool(git("status", "--porcelain", *paths))


@cache
def _of_program(file: Path) -> set[Path]:
    found = {file.relative_to(ROOT)}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for name in _imported(node):
            local = [folder / f"{name}.py" for folder in LOCAL if (folder / f"{name}.py").exists()]
            for one in local:
                found |= _of_program(one) if one != file else set()
            found |= _of_package(name) if name.startswith("pyropunct") else set()
    return found


def _imported(node: ast.AST) -> list[str]:
    """The names of what an import may load: modules, and names in them."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [str(node.module), *(f"{node.module}.{one.name}" for one in node.names)]
    return []


@cache
def _of_package(module: str) -> set[Path]:
    graph = _graph()
    if module not in graph.modules:
        return set()
    found = {module, *graph.find_upstream_modules(module)}
    files = (ROOT / name.replace(".", "/") for name in found)
    places = [file / "__init__.py" if file.is_dir() else file.with_suffix(".py") for file in files]
    return {place.resolve().relative_to(ROOT) for place in places}


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("pyropunct", cache_dir=None)


def git(*words: str) -> str | None:
    """What a command of git prints about this repository; None if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True)
    return done.stdout.strip() if done.returncode == 0 else None
