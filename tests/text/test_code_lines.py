"""Which lines are code or markup."""

import pytest

from pyropunct.text.prose import is_code_line


@pytest.mark.parametrize(
    "line",
    [
        'if x == 3 and y != 4: print("hello")',
        "for i in range(3):",
        "return table[key] == 3",
        "x = np.zeros(3);",
        "see [link text](https://a.b/c) for more",
        "<p>some words</p>",
        "# a heading",
        "| one | two |",
        "```",
    ],
)
def test_code_and_markup(line: str) -> None:
    assert is_code_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "call method(arg1, arg2) to start",
        "the item(s) that you bought",
        "if you are hungry: there is soup",
        "three = two + one",
        "what I want < what I get > nothing",
        "let us go; it is late",
        "see note [3] and section (a)",
        "#1 in the country",
    ],
)
def test_prose(line: str) -> None:
    assert not is_code_line(line)
