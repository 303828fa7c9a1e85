"""Draw house.svg: the rooms of the source, each above those that it knows, and the way of the data.

python docs/figures/house.py

Rooms and floors are those of the import contract "A room knows the rooms below it" in pyproject.toml; the
purpose of a room is the first line of its docstring.
"""

import ast
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CONTRACT = "A room knows the rooms below it"

WAY = {
    "cli": "files, standard input → a command → tables, text, JSON",
    "papers": "treebanks → systems side by side, each with its p-value",
    "tasks": "T' → edited trees; wrong marks → right marks; edits → rules",
    "train": "sentences → SVI steps → learned weights",
    "punctuator": "text → text",
    "restore": "words → draws of x → the least expected edit distance",
    "fitted": "(T, x) → log p(x | T), draws, T'; one model file",
    "nets": "words → trees, ends of sentences, marks",
    "vocabulary": "trees and slots → a flat batch of numbers",
    "treebank": "CoNLL-U, brackets → sentences: a tree T, n + 1 slots x",
    "text": "bytes → lines → words and slots → lines",
    "models": "T → punctemes T' → edits → x, as a Pyro model",
    "inference": "p(x | T) = sum over T' of p(T' | T) p(x | T')",
}
"""What becomes of the data on a floor, by a room on it."""

ROW, TOP, NAME, PURPOSE, DATA, WIDTH = 40, 46, 24, 190, 800, 1240


def floors() -> list[list[str]]:
    """The rooms of each floor, the highest floor first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["name"] == CONTRACT]
    rooms = [[room.strip() for room in layer.replace(":", "|").split("|")] for layer in layers]
    return [floor for floor in rooms if floor != ["__main__"]]


def purpose(room: str) -> str:
    """The first line of a room's docstring."""
    place = ROOT / room if room in ("models", "inference") else ROOT / "pyropunct" / room
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))
    return (text or "").splitlines()[0].rstrip(".")


def house() -> str:
    """The drawing, as SVG."""
    rooms = [(room, place) for place, floor in enumerate(floors()) for room in floor]
    height = TOP + ROW * len(rooms) + 16
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" '
        'font-family="Georgia, \'DejaVu Serif\', serif" font-size="15" fill="#17202a">',
        "<title>The rooms of the source and the way of the data</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{NAME}" y="28" fill="#5d6d7e">each room knows the rooms below its floor</text>',
        f'<text x="{DATA}" y="28" fill="#5d6d7e">the way of the data</text>',
    ]
    for row, (room, floor) in enumerate(rooms):
        top = TOP + ROW * row
        shade = "#f4f6f7" if floor % 2 else "#e8edf1"
        data = escape(WAY.get(room, ""))
        pieces += [
            f'<rect x="10" y="{top}" width="{WIDTH - 20}" height="{ROW - 4}" rx="4" fill="{shade}"/>',
            f'<text x="{NAME}" y="{top + 23}" font-weight="bold">{escape(room)}</text>',
            f'<text x="{PURPOSE}" y="{top + 23}" font-size="13">{escape(purpose(room))}</text>',
            f'<text x="{DATA}" y="{top + 23}" font-size="13" fill="#2471a3">{data}</text>',
        ]
    return "\n".join([*pieces, "</svg>", ""])


if __name__ == "__main__":
    (HERE / "house.svg").write_text(house(), encoding="utf-8")
