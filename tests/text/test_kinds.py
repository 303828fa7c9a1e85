"""The kinds of tokens and lines whose marks are no punctuation."""

import pytest

from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.prose import ADDRESS, CODE, CODE_LINE, FACE, KINDS, MARKER, MARKUP, OPERATOR, RULER, Kind
from pyropunct.text.raw_reader import RawReader
from pyropunct.vocabulary import Vocabulary

MARKS = (",", ".", "?", "!", ":", ";", "-", "--", "—", "(", ")", "“", "”", "/", "'")
READER = RawReader(
    Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, *MARKS), ("",), ("",), ("",), ((),)), Conventions()
)
EXAMPLES = [pytest.param(kind, one, id=one) for kind in KINDS for one in kind.examples]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_examples(kind: Kind, example: str) -> None:
    assert kind.has(example)
    if kind in (FACE, OPERATOR, ADDRESS, RULER, CODE):
        assert READER.read(f"see {example} now").words == ("see", example, "now")
    if kind in (MARKUP, CODE_LINE):
        assert READER.read(example).settled
    if kind is MARKER:
        assert READER.read(example).before == example[:-1]


@pytest.mark.parametrize(
    ("kind", "other"), [pytest.param(kind, one, id=one) for kind in KINDS for one in kind.others]
)
def test_what_is_nearly_of_a_kind_is_not(kind: Kind, other: str) -> None:
    assert not kind.has(other)
