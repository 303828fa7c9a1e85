"""Brackets and quotation marks without the other half of their pair."""

import pytest

from pyropunct.text.marks import unpaired


@pytest.mark.parametrize(
    ("surface", "alone"),
    [
        ([("“",), (",", "”")], 0),
        ([("(", "“"), ("”",), (")", ".")], 0),
        ([("„",), ("“", ".")], 0),
        ([("„",), ("”", ".")], 0),
        ([("»",), ("«",)], 0),
        ([("«",), ("»",), ("«", "“"), ("”", "»")], 0),
        ([(), (",",), (".",)], 0),
        ([("“",), (".",)], 1),
        ([(), (")",)], 1),
        ([("”",), ("“",)], 2),
        ([("(",), ("”",), (")",)], 1),
    ],
)
def test_halves_of_pairs(surface: list[tuple[str, ...]], alone: int) -> None:
    assert unpaired(surface) == alone
