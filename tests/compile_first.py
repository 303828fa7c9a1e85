"""Compile what most tests need, once, in an empty FOLDER: python tests/compile_first.py FOLDER"""

import sys
from pathlib import Path

from pyropunct.cli.main import main
from pyropunct.embedded import embedded_treebank_path

SENTENCES = 40


def calls(folder: Path) -> list[list[object]]:
    """Calls of commands that compile code: of training, of its second derivatives, of all else."""
    train, model = folder / "train.conllu", folder / "model"
    text = embedded_treebank_path("train").read_text(encoding="utf-8")
    train.write_text("\n\n".join(text.split("\n\n")[:SENTENCES]) + "\n\n", encoding="utf-8")
    few = ["--epochs", 1, "--threads", 1]
    return [
        ["fit", train, "--out", model, *few],
        ["fit", train, "--out", folder / "symmetric", "--symmetry-weight", 0.1, *few],
        ["underlying", model, train],
        ["sample", model, train],
        ["restore", "en", train, "--parse", "--trees", 2],
        ["rephrase", model, train, "--permute", "full"],
        ["compare", "parsers", train, train, "--beams", "1,2", "--iterations", 1],
    ]


if __name__ == "__main__":
    for arguments in calls(Path(sys.argv[1])):
        main([str(argument) for argument in arguments], standalone_mode=False)
