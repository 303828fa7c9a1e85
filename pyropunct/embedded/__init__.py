"""The treebank in the package: English-like sentences of a grammar, punctuated by the generative story with
known parameters.  In the source repository, `tutorials/true_rules.py` has these parameters, and
`tests/generator` wrote the files.

The name of a part (train, dev or test) comes in, the path of its CoNLL-U file goes out.  All rooms from
`pyropunct.inference` up may call this one; of the package, only the command line does.
"""

from pathlib import Path
from typing import Literal

__all__ = ["embedded_treebank_path"]


def embedded_treebank_path(split: Literal["train", "dev", "test"]) -> Path:
    """The CoNLL-U file of one part of the embedded treebank; raises `ValueError` if there is no such part."""
    if split not in ("train", "dev", "test"):
        raise ValueError(f"the embedded treebank has the parts train, dev and test, not {split!r}")
    return Path(__file__).parent / f"{split}.conllu"
