"""How text is restored: the settings of `pyropunct.load`, of a call of a `Punctuator`, and of the command."""

from collections.abc import Collection
from dataclasses import dataclass

from pyropunct.restore.cases import CaseMode

SAMPLES = 1000
"""The most draws for each sentence: their number in the paper."""

TREES = 10
"""Trees of the parser that a sentence is averaged over (footnote 20 of the paper)."""


@dataclass(frozen=True, kw_only=True)
class RestoreSettings:
    """How sentences that may have punctuation already are restored.

    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`.
    :ivar samples: the most draws for each sentence.
    :ivar trees: trees of the parser to average over.
    :ivar seed: equal seeds give equal results, which do not depend on the other sentences.
    :ivar marks: the only marks to restore; None for all that the model knows.
    :ivar keep: keep existing marks, and fill only empty slots.  Otherwise existing marks are removed, except
        abbreviation dots if ``keep_dots`` is set.  Kept marks are evidence about the others.
    :ivar hidden: restore these marks alone, given all others, which are evidence.  Those of them that exist
        are removed, or with ``keep`` leave their slots as they are.
    :ivar keep_dots: whether the abbreviation dots of raw text, which are part of how words are spelt, stay.
    :ivar parse: parse the words of treebanks anew.
    :ivar best_tree: parse words once more for their best tree, which is part of the result.
    :ivar running: whether texts are running text, whose sentences are to be found: see
        `pyropunct.restore.running.SentenceFinder`.
    :ivar case: which words of raw text get the case that the model's reader of running text finds probable:
        "auto" if they have none, "restore", or "keep".
    :ivar capital: whether sentences begin with a capital letter.
    """

    decoder: str = "mbr"
    samples: int = SAMPLES
    trees: int = TREES
    seed: int = 0
    marks: Collection[str] | None = None
    keep: bool = False
    hidden: Collection[str] = ()
    keep_dots: bool = True
    parse: bool = False
    best_tree: bool = False
    running: bool = False
    case: CaseMode = "auto"
    capital: bool = True
