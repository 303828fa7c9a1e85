"""How text is restored: the settings of `pyropunct.load`, of a call of a `Punctuator`, and of the command."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pyropunct.limits import Count, Internal, Placeholder, Seed

CaseMode = Literal["auto", "restore", "keep"]
"""Restore capital letters where a text has only one case, everywhere, or nowhere."""

Decoder = Literal["mbr", "slot-mbr", "map"]


@dataclass(frozen=True, kw_only=True)
class DecisionSettings:
    """How punctuation is decided on, whether it is restored or corrected.

    :ivar samples: the most draws for each sentence; fewer where the decision is clear.  The paper has 1000.
    :ivar decoder: take the draw of least expected edit distance, decide each slot separately, or take the
        most frequent draw.
    :ivar trees: average over at most this many trees of the parser (footnote 20 of the paper).
    :ivar parse: parse the words of CoNLL-U input anew.
    :ivar best_tree: parse words once more for their best tree, which is part of the result.
    :ivar seed: equal seeds give equal results, whatever the other sentences are.
    """

    samples: Count = 1000
    decoder: Decoder = "mbr"
    trees: Count = 10
    parse: bool = False
    best_tree: Annotated[bool, Internal] = False
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class RestoreSettings(DecisionSettings):
    """How sentences that may have punctuation already are restored.

    Existing marks are removed first, unless ``keep`` or ``hidden`` is set: then they are evidence about the
    others.

    :ivar marks: restore only these marks, such as ".,?!"; by default all that the model knows.  In a text,
        spaces separate marks of several characters; straight quotation marks stand for both directions.
    :ivar keep: keep existing punctuation, and fill only empty slots.
    :ivar hidden: restore only these marks, such as ",", and take all others as they are: they tell where
        these belong.
    :ivar keep_dots: keep the abbreviation dots of raw text, which are part of how words are spelt.
    :ivar capital: begin sentences of raw text with a capital letter.
    :ivar running: the text is running text, with sentences that end anywhere in lines: find them.  Blank
        lines part paragraphs.
    :ivar case: restore capital letters, of names too: in raw text that has none, or nothing else; in all raw
        text; or nowhere.
    """

    marks: str | Collection[str] | None = None
    keep: bool = False
    hidden: Annotated[str | Collection[str] | None, Placeholder("MARKS")] = None
    keep_dots: Annotated[bool, Internal] = True
    capital: bool = True
    running: bool = False
    case: CaseMode = "auto"
