"""Draw house.svg: the two ways through the rooms of the source, training and restoring.

python docs/figures/house.py

The purpose of a room is the first line of its docstring, up to a colon where it is long.
"""

import ast
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

WAYS = {
    "Training: pyropunct fit": {
        "cli": "the path of a treebank",
        "treebank": "sentences: a tree T, and marks x in its slots",
        "vocabulary": "T and x as numbers; the pairs of punctemes of each relation",
        "train": "a batch of T and x",
        "models": "scores of punctemes, and a machine that edits them",
        "inference": "log p(x | T) and its gradient, for the next step",
        "fitted": "a model in one file",
    },
    "Restoring: pyropunct restore": {
        "cli": "lines, and the name of a model",
        "punctuator": "a fitted story with its networks",
        "text": "words, and the marks that are there",
        "restore": "the words of sentences",
        "nets": "ten trees T of each, and guesses at its marks",
        "models": "scores of punctemes, and a machine that edits them",
        "inference": "derivations T', drawn from p(T' | T)",
        "draws": "1,000 punctuations x: restore chooses, text writes the line",
    },
}
"""The rooms of each way in order, and what each hands on."""

LONGEST = 90
"""The most characters of a purpose."""

ROOM, STEP, TOP, WIDTH, MARGIN = 46, 78, 52, 600, 16
"""Heights of a room, and with its arrow; where rooms begin; the width of a way, and the space beside it."""


def purpose(room: str) -> str:
    """What a room is for."""
    place = ROOT / room if room in ("models", "inference") else ROOT / "pyropunct" / room
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))
    line = (text or "").splitlines()[0].rstrip(".")
    return line if len(line) <= LONGEST else line.partition(":")[0]


def house() -> str:
    """The drawing, as SVG; rooms of both ways are shaded."""
    width = len(WAYS) * (WIDTH + MARGIN) + MARGIN
    height = TOP + STEP * max(map(len, WAYS.values())) + 8
    both = set.intersection(*map(set, WAYS.values()))
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" '
        'font-family="Georgia, \'DejaVu Serif\', serif" font-size="13" fill="#17202a">',
        "<title>The rooms of the source: the way of training and the way of restoring</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for column, (way, rooms) in enumerate(WAYS.items()):
        left = MARGIN + column * (WIDTH + MARGIN)
        pieces.append(f'<text x="{left}" y="32" font-size="18">{escape(way)}</text>')
        for row, (room, result) in enumerate(rooms.items()):
            top, shade = TOP + STEP * row, "#dbe6ee" if room in both else "#f4f6f7"
            foot, centre = top + ROOM, left + 30
            pieces += [
                f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{ROOM}" rx="5" fill="{shade}"/>',
                f'<text x="{left + 12}" y="{top + 19}" font-size="15" font-weight="bold">{room}</text>',
                f'<text x="{left + 12}" y="{top + 37}" font-size="12">{escape(purpose(room))}</text>',
                f'<path d="M{centre} {foot + 3} v24 m-5 -7 l5 7 l5 -7" fill="none" stroke="#2471a3"/>',
                f'<text x="{centre + 16}" y="{foot + 20}" fill="#2471a3">{escape(result)}</text>',
            ]
    return "\n".join([*pieces, "</svg>", ""])


if __name__ == "__main__":
    (HERE / "house.svg").write_text(house(), encoding="utf-8")
