"""Written words that a treebank splits into several, as French "du" into "de" and "le"."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pyropunct.text.spacing import space_between_words
from pyropunct.treebank.conllu_block import FORM
from pyropunct.treebank.repunctuate import Layout, original_spaces
from pyropunct.treebank.sentence import Sentence

LEAST_SPLITS = 2
"""How often a written word must have been split to be known."""

LONGEST_WRITTEN = 200
"""The most characters of a written word that is taken apart."""

Splits = Mapping[str, tuple[str, ...]]
"""For each lower-cased written word the words, in small letters too, that it is made of."""


def learn_splits(sentences: Iterable[Sentence]) -> dict[str, tuple[str, ...]]:
    """The written words that a treebank mostly splits in one way.

    Written words are multiword tokens and words without a space between them.  Those with a digit are left
    out: there are too many.
    """
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for sentence in sentences:
        for text, words in _written(sentence.layout):
            if not any(map(str.isdigit, text)):
                seen[text.lower(), tuple(map(str.lower, words))] += 1
    best: dict[str, tuple[str, ...]] = {}
    for (form, parts), count in seen.most_common():
        best.setdefault(form, parts if count >= LEAST_SPLITS else ())
    return {form: parts for form, parts in best.items() if len(parts) > 1}


def _written(layout: Layout) -> Iterator[tuple[str, list[str]]]:
    """The written words of a sentence, each with the words that it is made of."""
    text, words = "", list[str]()
    spaces, marks = original_spaces(layout.block), {mark for slot in layout.marks for mark in slot}
    for form, first, last in _units(layout):
        tokens = range(first, last + 1)
        if words and (marks.intersection(tokens) or not space_between_words(text, form)):
            yield text, words
            text, words = "", []
        if not marks.intersection(tokens):
            text, words = text + form, words + [layout.form(token) for token in tokens]
            if spaces[last]:
                yield text, words
                text, words = "", []
    if words:
        yield text, words


def _units(layout: Layout) -> Iterator[tuple[str, int, int]]:
    """The multiword tokens and the other tokens of a sentence: the form, the first id and the last."""
    ranges = {multiword.first: multiword for multiword in layout.block.ranges}
    token = 1
    while token <= len(layout.block.tokens):
        multiword = ranges.get(token)
        last = token if multiword is None else multiword.last
        yield (layout.form(token) if multiword is None else multiword.columns[FORM]), token, last
        token = last + 1


def split_word(text: str, splits: Splits, proclitics: Iterable[str], enclitics: Iterable[str]) -> list[str]:
    """The words that a written word is made of; itself if it is one word, or longer than `LONGEST_WRITTEN`.

    :param splits: known words.
    :param proclitics: words split off at the beginning of others, longest first.
    :param enclitics: words split off at the end of others, longest first.
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
