"""The public names and their parameters; ``python tests/test_public_api.py`` writes the list anew."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyropunct
import pyropunct.pyro

LIST = Path(__file__).parent / "public_api.txt"


def parameters(called: Any) -> str:
    """The parameters in brackets, those with a default with "=...", without types."""
    given = inspect.signature(called).parameters.values()
    bare = [
        one.replace(annotation=one.empty, default=one.empty if one.default is one.empty else ...)
        for one in given
    ]
    return str(inspect.Signature(bare)).replace("Ellipsis", "...")


def lines(module: ModuleType) -> Iterator[str]:
    """Each public name of a module, and the public methods of its classes that the package defines."""
    for name in sorted(module.__all__):
        value, path = getattr(module, name), f"{module.__name__}.{name}"
        is_error = isinstance(value, type) and issubclass(value, Exception)
        yield path + (parameters(value) if callable(value) and not is_error else "")
        for method in dir(value) if isinstance(value, type) else ():
            found = inspect.getattr_static(value, method)
            function = getattr(found, "__func__", found)
            ours = str(getattr(function, "__module__", "")).startswith("pyropunct.")
            if not method.startswith("_") and inspect.isfunction(function) and ours:
                yield f"{path}.{method}{parameters(function)}"


def public() -> str:
    return "".join(f"{line}\n" for module in (pyropunct, pyropunct.pyro) for line in lines(module))


def test_public_names_take_what_the_list_says() -> None:
    assert public().splitlines() == LIST.read_text(encoding="utf-8").splitlines()


def test_dir_lists_the_public_names() -> None:
    assert sorted(dir(pyropunct)) == sorted([*pyropunct.__all__, "__version__"])


if __name__ == "__main__":
    LIST.write_text(public(), encoding="utf-8")
