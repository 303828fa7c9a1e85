"""What is imported when; which modules may know which is in the contracts of pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

from pyropunct.embedded import embedded_treebank_path

BRACKETS = "( (S (NP (NNP Kim)) (VP (VBZ sings)) (. .)) )\n"


@pytest.mark.parametrize("reader", ["read_treebank", "read_brackets"])
def test_a_treebank_is_read_without_torch(reader: str, tmp_path: Path) -> None:
    """Torch takes seconds to import."""
    path = embedded_treebank_path("dev")
    if reader == "read_brackets":
        path = tmp_path / "x.mrg"
        path.write_text(BRACKETS, encoding="utf-8")
    script = (
        "import sys\n"
        f"from pyropunct import {reader}\n"
        f"assert len({reader}(sys.argv[1]))\n"
        "print(sorted({'torch', 'pyro', 'numba'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


A_PARSER = """
from pyropunct.models.learned import filled
from pyropunct.nets.biaffine import BiaffineNetwork, ParserRecipe, ParserVocabulary
words = ParserVocabulary(*[("a", "b")] * 5)
make = lambda: BiaffineNetwork(words, ParserRecipe(lstm_size=2))
filled(make, make().state_dict())
print("torch._dynamo" in sys.modules)
"""
INFERENCE = """
import pkgutil, importlib
from pyropunct import inference
for module in pkgutil.walk_packages(inference.__path__, "pyropunct.inference."):
    importlib.import_module(module.name)
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("pyropunct.")}))
"""


@pytest.mark.parametrize(
    ("script", "expected"), [(A_PARSER, "False\n"), (INFERENCE, "['errors', 'inference']\n")]
)
def test_a_part_is_imported_without_others(script: str, expected: str) -> None:
    """A parser without the compiler of torch; inference without models, treebanks and tasks."""
    command = [sys.executable, "-c", "import sys" + script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == expected


def test_a_model_is_used_without_what_takes_long_to_import(small: Path) -> None:
    """Without a terminal, a cycle of heads or a plot; torch imports sympy for some questions about shapes."""
    script = (
        "import sys\n"
        "from pyropunct.cli.main import main\n"
        "main(['underlying', *sys.argv[1:]], standalone_mode=False)\n"
        "slow = {'matplotlib', 'networkx', 'rich.progress', 'sympy', 'torch._dynamo'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script, small / "model", small / "dev.conllu"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
