"""Learners' sentences with their corrections, from files of JSON lines or from two treebanks."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyropunct.errors import InputError
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.text.marks import START, STRAIGHT, Surface, direct_quotes
from pyropunct.treebank.reading import read_treebank


@dataclass(frozen=True)
class Corrected:
    """A numbered sentence of a learner with one correction: its words, x_e and x_c."""

    sentence: str
    words: tuple[str, ...]
    wrong: tuple[String, ...]
    right: tuple[String, ...]


def read_learners(path: str | Path) -> list[Corrected]:
    """The sentences of a file with one JSON object a line.

    ``words`` are those of a correction; ``wrong`` and ``right`` are the marks of its n + 1 slots; ``id`` is
    that of the sentence, with the number of the correction after a last hyphen.  Straight quotation marks
    become directed.

    :raises InputError: if a line is not such an object, or if the file has no line.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise InputError(f"{path}: {reason}") from error
    corrections = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            corrections.append(_corrected(json.loads(line)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{path}:{number}: is no corrected sentence: {reason}") from error
    if not corrections:
        raise InputError(f"{path}: there is no sentence in the file")
    return corrections


def read_learner_treebanks(wrong: str | Path, right: str | Path) -> list[Corrected]:
    """The sentences of two CoNLL-U files: as learners wrote them, and corrected, as in UD English-ESL.

    Sentences match if they have the same ``sent_id``, or without ids by their order.  Sentences whose trees
    differ without punctuation are left out; relations and words may differ (Li, Wang & Eisner 2019, section
    6.2).

    :raises InputError: if no sentence is left.
    :raises TreebankError: if a file is not CoNLL-U.
    """
    corrections = {sentence.identifier: sentence for sentence in read_treebank(right)}
    found = []
    for sentence in read_treebank(wrong):
        correction = corrections.get(sentence.identifier)
        if correction is not None and sentence.tree.heads == correction.tree.heads:
            marks = (
                [[m for m in slot if m != START] for slot in each.surface] for each in (sentence, correction)
            )
            found.append(Corrected(sentence.identifier, tuple(correction.tree.forms), *map(_directed, marks)))
    if not found:
        raise InputError(f"{wrong}: no sentence has the identifier and the tree of one in {right}")
    return found


def _corrected(plain: Any) -> Corrected:
    if not isinstance(plain, dict):
        raise ValueError("it is no object")
    words = _texts("words", plain["words"])
    if not words:
        raise ValueError("it has no word")
    slots = {}
    for name in ("wrong", "right"):
        surface = [_texts(name, slot) for slot in plain[name]]
        if len(surface) != len(words) + 1:
            raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
        slots[name] = _directed(surface)
    return Corrected(str(plain["id"]).rpartition("-")[0], words, **slots)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ValueError(f"{name!r} is no list of texts")
    return tuple(value)


def _directed(surface: Surface) -> tuple[String, ...]:
    """A surface with directed quotation marks, and the sentence start."""
    flat = [mark for slot in surface for mark in slot]
    tags = [mark if mark in ("``", "''") else "" for mark in flat]  # these show their direction
    marks = direct_quotes(flat, tags)
    # A mark that is left without a partner opens, like the first of two.
    opened = (STRAIGHT.get(mark, (mark,))[0] for mark in marks)
    slots = [tuple(next(opened) for _ in slot) for slot in surface]
    return ((START, *slots[0]), *slots[1:])
