import pytest

from pyropunct.text.marks import direct_quotes


@pytest.mark.parametrize(
    ("forms", "tags", "heads", "directed"),
    [
        # by tags
        (['"', '"'], ["``", "''"], [1, 2], "“ ”"),
        (["'", "'"], ["``", "''"], [1, 1], "‘ ’"),
        (['"'], ["''"], [1], "”"),
        # a tag on something that is no quotation mark
        ([",", "「", "-"], ["``", "''", "''"], [1, 1, 1], ", 「 -"),
        # marks of ASCII typesetting, with and without tags
        (["``", "''"], ["``", "''"], [1, 1], "“ ”"),
        (["``", "''"], ["_", "_"], [1, 1], "“ ”"),
        (["`", "'"], ["``", "'"], [1, 1], "‘ ’"),
        # by the shared head
        (['"', ",", '"'], ["_", "_", "_"], [4, 4, 4], "“ , ”"),
        (['"', '"', '"', '"'], ["_"] * 4, [1, 1, 1, 1], "“ ” “ ”"),
        (['"', '"', '"', '"'], ["_"] * 4, [1, 2, 2, 1], "“ “ ” ”"),
        (['"', "'", "'", '"'], ["_"] * 4, [1, 1, 1, 1], "“ ‘ ’ ”"),
        # the last one that is open is closed
        (['"', "``", '"'], ["_"] * 3, [1, 1, 1], '" “ ”'),
        # unpaired
        (['"', '"'], ["_", "_"], [1, 2], '" "'),
        (['"', "'"], ["_", "_"], [1, 1], "\" '"),
        (['"', '"', '"'], ["_"] * 3, [1, 1, 1], '“ ” "'),
        # one of two has a tag
        (['"', '"'], [",", "''"], [1, 1], "“ ”"),
        # already directed
        (["“", "”", "’"], ["_"] * 3, [1, 1, 1], "“ ” ’"),
    ],
)
def test_directions(forms: list[str], tags: list[str], heads: list[int], directed: str) -> None:
    assert direct_quotes(forms, tags, heads) == directed.split()
