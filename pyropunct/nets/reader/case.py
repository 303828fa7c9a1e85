"""Upper and lower case: how words are written, in four classes."""

LOWER, CAPITAL, UPPER, OTHER = range(4)
"""Capitals: no letter; the first letter alone; all of several letters; other letters, as in "iPhone"."""

CASES = 4


def case_of(word: str) -> int | None:
    """The case of a word, None if none of its characters has two cases."""
    letters = [character for character in word if character.lower() != character.upper()]
    if not letters:
        return None
    capitals = [character.isupper() or character.istitle() for character in letters]
    if not any(capitals):
        return LOWER
    if capitals[0] and not any(capitals[1:]):
        return CAPITAL
    return UPPER if all(capitals) else OTHER


def in_case(word: str, case: int) -> str:
    """A word without capital letters, written in one of the first three cases.

    It stays as it is if lower-casing would not give it back, as German "ß", which has no capital form.
    """
    written = word
    if case == UPPER:
        written = word.upper()
    elif case == CAPITAL:
        cased = (place for place, letter in enumerate(word) if letter.lower() != letter.upper())
        first = next(cased, len(word))
        written = word[:first] + word[first : first + 1].title() + word[first + 1 :]
    return written if written.lower() == word else word
