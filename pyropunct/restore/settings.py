"""How text is restored: the settings of `pyropunct.load`, of a call of a `Punctuator`, and of the command."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

CaseMode = Literal["auto", "restore", "keep"]
"""Restore capital letters where a text has only one case, everywhere, or nowhere."""


@dataclass(frozen=True, kw_only=True)
class DecisionSettings:
    """How punctuation is decided on, whether it is restored or corrected.

    :ivar decoder: one of `pyropunct.restore.decoders.DECODERS`.
    :ivar samples: the most draws for each sentence; 1000 is their number in the paper.
    :ivar trees: the most trees of the parser to average over (footnote 20 of the paper).
    :ivar seed: equal seeds give equal results, which do not depend on the other sentences.
    :ivar parse: parse the words of treebanks anew.
    :ivar best_tree: parse words once more for their best tree, which is part of the result.
    """

    decoder: str = "mbr"
    samples: int = 1000
    trees: int = 10
    seed: int = 0
    parse: bool = False
    best_tree: bool = False


@dataclass(frozen=True, kw_only=True)
class RestoreSettings(DecisionSettings):
    """How sentences that may have punctuation already are restored.

    :ivar marks: the only marks to restore; None for all that the model knows.  A text lists single
        characters, or marks with spaces between them; straight quotation marks stand for both directions.
    :ivar keep: keep existing marks, and fill only empty slots.  Otherwise existing marks are removed, except
        abbreviation dots if ``keep_dots`` is set.  Kept marks are evidence about the others.
    :ivar hidden: restore these marks alone, written like ``marks``, given all others, which are evidence.
        Existing hidden marks are removed; with ``keep`` their slots stay as they are.
    :ivar keep_dots: keep the abbreviation dots of raw text, which belong to the spelling of its words.
    :ivar running: read texts as running text, whose sentences may end anywhere.
    :ivar case: the words of raw text that get the case which the model's reader of running text finds
        probable: with "auto" those of texts that have only one case, with "restore" all, with "keep" none.
    :ivar capital: begin sentences with a capital letter.
    """

    marks: str | Collection[str] | None = None
    keep: bool = False
    hidden: str | Collection[str] | None = None
    keep_dots: bool = True
    running: bool = False
    case: CaseMode = "auto"
    capital: bool = True
