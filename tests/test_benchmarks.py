"""Programs outside of the package find the names that they import."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = [
    path for folder in ("benchmarks", "benchmarks/attacks") for path in sorted((ROOT / folder).glob("*.py"))
]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_program_is_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a library that only it needs, it is skipped."""
    monkeypatch.syspath_prepend(str(path.parent))
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("pyropunct", *(one.stem for one in PROGRAMS)):
            raise
        pytest.skip(f"needs {error.name}")
    finally:
        for name in set(sys.modules) - before:  # neighbours with short names, such as "models"
            if getattr(sys.modules[name], "__file__", None) and str(ROOT / "benchmarks") in str(
                sys.modules[name].__file__
            ):
                del sys.modules[name]
