"""The table of equations in docs/reference/model.md names what there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^## Where each equation is$(.*?)^## ", re.DOTALL | re.MULTILINE)


def test_files_have_the_names() -> None:
    (section,) = SECTION.findall((ROOT / "docs" / "reference" / "model.md").read_text(encoding="utf-8"))
    rows = [row.split(" | ") for row in section.splitlines() if row.startswith("| ") and "`" in row]
    for row in rows:
        files = [(ROOT / name).read_text(encoding="utf-8") for name in re.findall("`([^`]+)`", row[1])]
        for name in re.findall("`([^`]+)`", row[2]):
            defined = re.compile(rf"^(def|class) {name}\b", re.MULTILINE)
            assert any(map(defined.search, files)), f"{name} is not in {row[1]}"
    text = " ".join(row[0] for row in rows)
    assert {int(number) for number in re.findall(r"\((\d+)\)", text)} == set(range(1, 12))
