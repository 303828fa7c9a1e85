"""Whether a model is one of English, for which Nunberg's rules were written."""

from collections.abc import Collection

_COMMON = """
the of and to a in is that it was for on with he as his at by this had not are but from or have they which you
would were her she there been their we when who will more if no out so
"""

ENGLISH_WORDS = frozenset(_COMMON.split())
"""The commonest words of English text.  Text in other languages has some of them, in names and titles."""


def is_english(words: Collection[str]) -> bool:
    """Whether the words that occur several times in a text, in lower case, are those of English.

    They are if they have at least half of `ENGLISH_WORDS`.
    """
    return 2 * len(ENGLISH_WORDS.intersection(words)) >= len(ENGLISH_WORDS)
