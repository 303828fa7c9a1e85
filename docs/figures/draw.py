"""Draw the pictures of README.md and of the guide.

python docs/figures/draw.py                 story.svg: one sentence, its tree and its punctuation;
                                            languages.svg: some of what the model multi knows;
                                            openers.svg: the table of docs/data/openers.json
python docs/figures/draw.py MODEL FILE      page.png too: the page of FILE, in a search; needs Chromium

MODEL is of `pyropunct fit --parser`, FILE is pyropunct/embedded/test.conllu.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.page import drawn_svg
from pyropunct.figures.typology_plots import panels_svg, typology_svg
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import SlotDerivation, SlotEdit, underlying_strings
from pyropunct.tasks.explain.sprouted import PAGE
from pyropunct.tasks.explain.tallies import share_of
from pyropunct.tasks.explain.typology import Comparison
from pyropunct.tasks.explain.typology_of_model import ALL, of_model
from pyropunct.treebank.reading import read_text

HERE = Path(__file__).parent

CLARA = """# sent_id = Clara, my neighbor, sings “Yesterday.”
1	Clara	_	PROPN	_	_	4	nsubj	_	_
2	my	_	PRON	_	_	3	nmod:poss	_	_
3	neighbor	_	NOUN	_	_	1	appos	_	_
4	sings	_	VERB	_	_	0	root	_	_
5	Yesterday	_	PROPN	_	_	4	obj	_	_

"""

SEARCH = "relation=appos&underlying=%2C&edit=left+absorption"
"""Appositions whose comma was absorbed by the mark on its right."""

SIZE = (1100, 500)
"""Of the picture of the page, in pixels."""


def story() -> str:
    """The drawing of one sentence, as SVG: a comma on either side of the apposition, quotes, and a period."""
    [sentence] = read_text(CLARA)
    punctemes = [((), ()), ((), ()), ((",",), (",",)), ((), (".",)), (("“",), ("”",))]
    slots = [
        SlotDerivation(u, tuple(one.token for one in u), tuple(range(len(u))), (), False)
        for u in underlying_strings(sentence.tree, punctemes)
    ]
    transposition = SlotEdit(("”", "."), "transposition", (".", "”"))
    slots[-1] = slots[-1]._replace(surface=(".", "”"), origins=(1, 0), edits=(transposition,))
    return drawn_svg([PunctuatedTree(sentence, punctemes, slots)])


BOTH = "commas on both sides"

COMPARED = [(", .", "."), ("” .", "” ."), ("” ,", ", ”")]
COMPARED += [(relation, BOTH) for relation in ("conj", "acl", "advcl", "ccomp", "appos")]
"""The rows of the picture of languages."""


def languages() -> bytes:
    """The picture of languages, as SVG."""
    model = Punctuator.load("multi")
    found = {(one.of, one.outcome): one for one in of_model(model)}
    return typology_svg([ALL, *model.languages], [found[row] for row in COMPARED])


def openers() -> str:
    """The picture of commas behind openers, as SVG: a panel for each column of the table."""
    table = json.loads((HERE.parent / "data" / "openers.json").read_text(encoding="utf-8"))["table"]
    head, _, *rows = ([cell.strip() for cell in row.split("|")[1:-1]] for row in table)
    panels = []
    for column in range(1, len(head) - 1):
        counts = [re.match(r"(\d+) of (\d+)", row[column]) for row in rows]
        shares = tuple(share_of(int(one[1]), int(one[2]), 0.95) if one else None for one in counts)
        panels.append(Comparison(PAGE, "in front", head[column], shares))
    return panels_svg([row[0] for row in rows], panels).decode()


def draw_page(model: str, file: str) -> None:
    """A screenshot of the page of a file, with few colours, so that it is small."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    command = ["pyropunct", "underlying", model, file, "--format", "html"]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page, picture = Path(folder, "page.html"), Path(folder, "page.png")
        page.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        shown.goto(f"{page.as_uri()}#{SEARCH}")
        shown.screenshot(path=picture)
        browser.close()
        Image.open(picture).convert("RGB").quantize(64).save(HERE / "page.png", optimize=True)


def main(arguments: Sequence[str]) -> None:
    """Draw what the arguments ask for."""
    (HERE / "story.svg").write_text(story(), encoding="utf-8")
    (HERE / "languages.svg").write_bytes(languages())
    (HERE / "openers.svg").write_text(openers(), encoding="utf-8")
    if arguments:
        draw_page(*arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
