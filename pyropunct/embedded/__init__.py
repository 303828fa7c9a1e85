"""The treebank that ships inside the package.

English-like sentences from a hand-written grammar, punctuated by the generative story of Li, Wang &
Eisner 2019 with known parameters: see `pyropunct.embedded.rules`.  The grammar and the program that wrote
the files are in the source repository, in `tests/generator`.
"""

from pathlib import Path
from typing import Literal

__all__ = ["embedded_treebank_path"]


def embedded_treebank_path(split: Literal["train", "dev", "test"]) -> Path:
    """The CoNLL-U file of one part of the embedded treebank.

    :raises ValueError: if there is no such part.
    """
    if split not in ("train", "dev", "test"):
        raise ValueError(f"the embedded treebank has the parts train, dev and test, not {split!r}")
    return Path(__file__).parent / f"{split}.conllu"
