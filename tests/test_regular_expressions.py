"""No regular expression of the package takes more than linear time."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from limits import within

import pyropunct

HOME = Path(pyropunct.__file__).parent
MODULES = sorted(
    ".".join(("pyropunct", *path.relative_to(HOME).with_suffix("").parts))
    for path in HOME.rglob("*.py")
    if re.search(r"^\w+ = re\.compile\(", path.read_text(encoding="utf-8"), re.MULTILINE)
)
LONG = 20_000
STARTS = (
    "",
    "#",
    "# text",
    "# text =",
    "# sent_id",
    "# sent_id =",
    "1",
    "1-1",
    "1\t",
    "‘",
    "‘a",
    "(",
    "n't",
    "\\",
)
REPEATED = (
    " ",
    "\t",
    "1",
    "a",
    ".",
    "-",
    "#",
    "(",
    "/",
    "'",
    "‘",
    "a’",
    " =",
    "\\/",
    "n't",
    "\u2028",
    "\x00",
)


@pytest.mark.parametrize("name", MODULES)
def test_matching_takes_linear_time(name: str) -> None:
    patterns = [value for value in vars(import_module(name)).values() if isinstance(value, re.Pattern)]
    assert patterns
    with within(5):
        for pattern in patterns:
            for start in STARTS:
                for repeated in REPEATED:
                    for end in ("", "\n", "x"):
                        pattern.match(start + LONG * repeated + end)
