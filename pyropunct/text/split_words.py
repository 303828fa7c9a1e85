"""Splits a written word into the words that a treebank makes of it, such as French "du"."""

from collections.abc import Iterable

from pyropunct.text.conventions import Splits

LONGEST_WRITTEN = 200
"""The most characters of a written word that is taken apart."""


def split_word(text: str, splits: Splits, proclitics: Iterable[str], enclitics: Iterable[str]) -> list[str]:
    """The words of a written word; the word itself if it is not split, or longer than `LONGEST_WRITTEN`.

    :param proclitics: words split off at the beginning, and ``enclitics`` at the end; longest first.
    """
    if len(text) > LONGEST_WRITTEN:
        return [text]
    folded = _folded(text)
    if folded in splits:
        return _cased(text, splits[folded])
    for clitic in proclitics:
        if folded.startswith(clitic) and folded[len(clitic) :][:1].isalnum():
            rest = split_word(text[len(clitic) :], splits, proclitics, enclitics)
            return [text[: len(clitic)], *rest]
    for clitic in enclitics:
        if folded.endswith(clitic) and folded[: -len(clitic)][-1:].isalnum():
            return [*split_word(text[: -len(clitic)], splits, (), enclitics), text[-len(clitic) :]]
    return [text]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'") if len(text.lower()) == len(text) else text


def _cased(text: str, words: tuple[str, ...]) -> list[str]:
    """The words with the capital letters of the written word."""
    if sum(map(len, words)) == len(text) and "".join(words) == _folded(text):
        cased, start = [], 0
        for word in words:
            cased.append(text[start : start + len(word)])
            start += len(word)
        return cased
    if len(text) > 1 and text.isupper():
        return [word.upper() for word in words]
    return [words[0][:1].upper() + words[0][1:] if text[:1].isupper() else words[0], *words[1:]]
