"""What raw text must not lose: a check of restored lines."""

from collections.abc import Iterator

from pyropunct.text.prose import is_mark

WIDTHLESS = "\u200b\ufeff"
"""White space that Python does not take for such."""


def problem(line: str, restored: str, *, kept: bool) -> str | None:
    """What restoration has lost or changed, apart from capital letters; None if nothing.

    All but white space and marks must stay in order, and so must white space and, if ``kept``, marks.
    """
    before, after = list(_taken_apart(line)), list(_taken_apart(restored))
    if [character for _, character in before] != [character for _, character in after]:
        return "words"
    for number, ((gap, _), (now, _)) in enumerate(zip(before, after, strict=True)):
        inside = 0 < number < len(before) - 1
        has_marks = any(map(is_mark, gap))
        if inside and (not gap or (len(gap) == 1 and gap in "-'’.,:")) and now != gap:
            return f"together: {gap!r} is {now!r}"
        if (kept or not has_marks) and not _is_within(gap, now):
            return f"between words: {gap!r} is {now!r}"
        if inside and _spaces(gap) and not _spaces(now):
            return f"apart: {gap!r} is {now!r}"
        if not has_marks and _spaces(now) != _spaces(gap) and not any(map(is_mark, now)):
            return f"white space: {gap!r} is {now!r}"
    return None


def _taken_apart(line: str) -> Iterator[tuple[str, str]]:
    """Each character that must stay, with the marks and the white space in front of it; at last none."""
    gap = ""
    for character in line.lower():
        if character.isspace() or character in WIDTHLESS or is_mark(character):
            gap += character
        else:
            yield gap, character
            gap = ""
    yield gap, ""


def _spaces(gap: str) -> str:
    return "".join(character for character in gap if not is_mark(character))


def _is_within(part: str, whole: str) -> bool:
    """Whether a text is the other one with characters left out."""
    rest = iter(whole)
    return all(character in rest for character in part)
