"""The language of a text, by the library py3langid."""

import math
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from threading import Lock
from typing import Any

MOST_LETTERS = 20_000
"""The characters of a text that are read; more do not change its language."""

KNOWN, OF_TEXT = 3.0, 4.0
"""Added to the log-probability of a language that the model knows, and of the language of the whole text.

The first is added twice to a text with fewer letters than `LETTERS_OF_TEXT`.

On six words of news in 30 languages, 27 of them known: 97 % of the lines have their language, and 99.4 % of
those in languages that are not known are not taken for a known one."""

LETTERS_OF_TEXT, FEW_LETTERS = 30, 10
"""The first line with 30 letters tells the language of a text.  A line with fewer than 10 letters has the
language of the line before, if it has the same alphabet."""

HEAD = 400
"""The language of a line or paragraph is found from its first bytes, at most this many."""

LETTERS_TO_JUDGE, MANY_WORDS = 100, 5000
"""Nothing is said of the language of fewer letters, nor by a model that knows fewer words."""

NORWEGIAN = {"nb": "no", "nn": "no"}
"""Written forms, which are not told apart."""

_LOADING = Lock()


@cache
def _identifier() -> Any:
    """An identifier of our own: other code may restrict the shared one to some languages."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _scores(text: str) -> tuple[dict[str, float], float]:
    """The score of each language, and the number by which to divide the scores.

    A score is a sum over bytes as if they were independent, which they are not: so it is too large.
    """
    with _LOADING:
        identifier = _identifier()
    text, scores = text[:MOST_LETTERS], dict[str, float]()
    for code, score in identifier.rank(text):
        scores.setdefault(NORWEGIAN.get(code, code), score)  # the best form comes first
    return scores, math.sqrt(max(1, len(text.encode(errors="surrogatepass"))))


def likely_language(text: str, known: Collection[str], of_text: str | None = None) -> str:
    """The language of a text: a known one, or any other that is more probable by far.

    A text without letters is in a known one.

    :param of_text: the language of the whole text; this part of it has the same, unless another language is
        far more probable.
    """
    scores, heat = _scores(text)
    names = {NORWEGIAN.get(code, code): code for code in known}
    letters = sum(map(str.isalpha, text[:MOST_LETTERS]))
    if not letters:
        return names[max(sorted(names), key=lambda code: scores.get(code, -math.inf))]
    of_known = KNOWN * (2 if letters < LETTERS_OF_TEXT else 1)
    own = NORWEGIAN.get(of_text, of_text) if of_text else None
    prior = {code: of_known * (code in names) + OF_TEXT * (code == own) for code in scores}
    best = max(scores, key=lambda code: scores[code] / heat + prior[code])
    return names.get(best, best)


def alphabet_of(letters: Sequence[str]) -> str:
    """The alphabet of the first letter as Unicode names it, such as "LATIN"; empty without letters."""
    return unicodedata.name(letters[0], "").partition(" ")[0] if letters else ""


class LanguagesOfLines:
    """The language of each line of a text, or of each paragraph, from this one and the beginning of the text.

    :param known: the languages of the model.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._of_text: str | None = None
        self._last: str | None = None
        self._alphabet = ""

    def begin(self, lines: Iterable[str]) -> None:
        """Find the language of the text in its first lines, before a later part of it is read."""
        for line in lines:
            if self._of_text is not None:
                return
            self.of(line)

    def of(self, line: str) -> str:
        """The `likely_language` of the next line; a very short line has the language of the line before."""
        letters = [letter for letter in line if letter.isalpha()]
        alphabet, last = alphabet_of(letters), self._alphabet
        if self._last is not None and len(letters) < FEW_LETTERS and alphabet in ("", last):
            return self._last
        self._alphabet = alphabet
        self._last = likely_language(line, self._known, self._of_text)
        if self._of_text is None and len(letters) >= LETTERS_OF_TEXT:
            self._of_text = self._last
        return self._last


class Strangeness:
    """Whether a text is in another language than a model: most of its letters are in words that it lacks.

    :param known: the lower-cased words of the model; None for one of several languages, which has few words
        of each, so that nothing is foreign to it.
    :ivar letters: how many letters of words have been seen.
    :ivar strange: how many of them are in unknown words.
    """

    def __init__(self, known: Collection[str] | None) -> None:
        self.letters = self.strange = 0
        self._known, self._judges = known or (), known is not None

    def add(self, words: Iterable[str]) -> None:
        """Look at further words of the text."""
        of_letters = [word.lower() for word in words if word.isalpha()]
        self.letters += sum(map(len, of_letters))
        self.strange += sum(len(word) for word in of_letters if word not in self._known)

    @property
    def is_foreign(self) -> bool:
        """Whether the text, so far, is in another language."""
        enough = self.letters >= LETTERS_TO_JUDGE and len(self._known) >= MANY_WORDS
        return self._judges and enough and 2 * self.strange > self.letters

    def __str__(self) -> str:
        known = f"{self.letters - self.strange:,} of {self.letters:,} letters"
        return f"the model knows words of {known}, so its language seems to be another one"


def head_of(lines: bytes) -> str:
    """The beginning of a line or paragraph, by which its language is found."""
    return lines[:HEAD].decode(errors="ignore")


def not_learned(code: str, known: Iterable[str]) -> str:
    """The message about a text whose language the model does not know."""
    return (
        f"the model has not learned from texts in the language {code}: it does what the "
        f"languages that it knows have in common ({' '.join(known)})"
    )
