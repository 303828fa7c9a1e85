"""Settings for restoring text: for `pyropunct.load`, calls of a `Punctuator`, and the command."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pyropunct.errors import SettingError
from pyropunct.limits import Count, Internal, Opposite, Placeholder, Range, Seed, forbidden

CaseMode = Literal["auto", "restore", "keep"]
"""Restore capital letters where a text has only one case, everywhere, or nowhere."""

Decoder = Literal["mbr", "f1"]

Thresholds = Mapping[str, float] | float
"""The least probability of marks: of all, or of each; that of "" holds for marks that are not named."""

THRESHOLD = 0.28
"""Nearly the greatest F1 on EWT dev and GUM dev, with pairs; see docs/experiments/index.md."""


Style = Literal["usual", "full", "careful"]

STYLES: Mapping[Style, Thresholds] = {"usual": THRESHOLD, "full": {",": 0.14, "": 0.2}, "careful": 0.4}
"""The thresholds of styles; docs/guide/restoring.md has their scores."""


AHEAD_OF_STREAM = 12
"""The words that must be known behind the end of a sentence of live text."""

FINAL = ".?!"
"""The marks that end most sentences."""


def thresholds(text: str) -> Thresholds:
    """Parse thresholds from 0 to 1 such as "0.4" or "0.4 ,=0.3 ?=0.2"; raises `ValueError`."""
    found: dict[str, float] = {}
    for part in text.split():
        mark, _, number = part.rpartition("=")
        found[mark] = _probability(number)
    if not found:
        raise ValueError("there is no threshold")
    return found


def _probability(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError(f"{text} is no number from 0 to 1")
    return number


@dataclass(frozen=True, kw_only=True)
class DecisionSettings:
    """How punctuation is decided on, whether it is restored or corrected.

    :ivar decoder: take the punctuation of least expected edit distance ("mbr"), or all marks that are
        probable enough for the greatest F1 ("f1").
    :ivar trees: average over at most this many trees of the parser (footnote 20 of the paper).
    :ivar parse: parse the words of CoNLL-U input anew.
    :ivar best_tree: parse words once more for their best tree, which is part of the result.
    :raises SettingError: if a value is out of its bounds, or none of its choices.
    """

    decoder: Decoder = "mbr"
    trees: Count = 10
    parse: bool = False
    best_tree: Annotated[bool, Internal] = False

    def __post_init__(self) -> None:
        if problem := forbidden(self):
            raise SettingError(problem)


@dataclass(frozen=True, kw_only=True)
class RestoreSettings(DecisionSettings):
    """How sentences that may have punctuation already are restored.

    Marks that are kept are evidence about the others.

    :ivar samples: the most draws for each sentence; fewer where the decision is clear.  The paper has 1000.
    :ivar seed: equal seeds give equal results, whatever the other sentences are.
    :ivar decoder: take all marks that are probable enough for the greatest F1 ("f1", see ``threshold``), or
        the draw of least expected edit distance ("mbr").  [default: f1; mbr with --score]
    :ivar threshold: with the decoder f1, the least probability of a mark; or of each, as ",=0.3 ?=0.2 0.4".
    :ivar style: thresholds for more marks (full: for speech and edited prose) or for fewer (careful), unless
        there is another ``threshold``.
    :ivar marks: restore only these marks, such as ".,?!"; by default all that the model knows.  In a text,
        spaces separate marks of several characters; straight quotation marks stand for both directions.
    :ivar keep: keep the punctuation that is there, and fill only empty slots; or discard it, and restore all
        anew.  [default: keep that of raw text, and fill only sentences without a mark at the end; discard
        that of CoNLL-U, and marks that are hidden]
    :ivar hidden: restore only these marks, such as ",", and take all others as they are: they tell where
        these belong.
    :ivar as_written: keep what belongs to words: abbreviation dots, and in raw text no hyphens between words
        and no marks beside symbols.
    :ivar capital: begin sentences of raw text with a capital letter.
    :ivar running: the text is running text, with sentences that end anywhere in lines: find them.  Blank
        lines part paragraphs.
    :ivar ends: the least probability of the end of a sentence where no mark shows it: with a greater one,
        fewer are found.  [default: 0.3 in running text; other lines are probably one
        sentence each]
    :ivar ahead: how many words behind a sentence of running text must be known before it is printed; for live
        text, 12 are enough.  [default: 61]
    :ivar case: restore capital letters, of names too: in raw text that has none, or nothing else; in all raw
        text; or nowhere.
    :ivar force: also change text in another language than the one of the model.
    """

    samples: Count = 1000
    seed: Seed = 0
    decoder: Decoder | None = None  # type: ignore[assignment]  # a command has its own default
    threshold: Annotated[Thresholds, thresholds] = THRESHOLD
    style: Style = "usual"
    marks: str | Collection[str] | None = None
    keep: Annotated[bool | None, Opposite("anew")] = None
    hidden: Annotated[str | Collection[str] | None, Placeholder("MARKS")] = None
    as_written: Annotated[bool, Internal] = True
    capital: bool = True
    running: bool = False
    ends: Annotated[float, Range(0, 1)] | None = None
    ahead: Count | None = None
    case: CaseMode = "auto"
    force: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold == THRESHOLD:
            object.__setattr__(self, "threshold", STYLES[self.style])
        given: object = self.threshold
        if isinstance(given, str):
            try:
                given = thresholds(given)
            except ValueError as error:
                raise SettingError(f"threshold: {error}") from None
            object.__setattr__(self, "threshold", given)
        values = list(given.values()) if isinstance(given, Mapping) else [given]
        if not all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
            raise SettingError(
                f"threshold is {given!r}: it must be a number from 0 to 1, or such numbers by marks"
            )

    def in_language(self, caution: float, ends: float | None) -> "RestoreSettings":
        """The settings with the thresholds of a language, where they have only those of a style.

        :param caution: and ``ends``: see `pyropunct.text.conventions.Conventions`.
        """
        found, given = self, self.threshold
        if given == STYLES[self.style] and caution != 1:
            of_marks = given if isinstance(given, Mapping) else {"": given}
            inner = {mark: min(1.0, caution * value) for mark, value in of_marks.items()}
            found = replace(found, threshold={**dict.fromkeys(FINAL, of_marks[""]), **inner})
        return replace(found, ends=ends) if self.running and self.ends is None else found
