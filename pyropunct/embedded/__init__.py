"""The treebank that ships inside the package.

English-like sentences from a hand-written grammar, punctuated by the generative story of Li, Wang &
Eisner 2019 with known parameters: see :mod:`pyropunct.embedded.grammar` for the sentences,
:mod:`pyropunct.embedded.rules` for the parameters and :mod:`pyropunct.embedded.generate` for the
files.
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
