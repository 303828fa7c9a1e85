"""The interactive page, and the fate of each underlying token, for its search."""

import base64
import hashlib
import html
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import combinations, product
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.layout import FRAME, STYLES, Drawing, Label, Stroke
from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.machines.products import (
    EDITS,
    KEEP,
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
)
from pyropunct.tasks.explain.derivations import SlotDerivation, SlotEdit
from pyropunct.tasks.explain.tree_text import bracket_slots
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import part_of

SLIP, OTHER = "slip", "other change"
"""The fate where the channel ignored the underlying string, and the fate of a channel without named edits."""


class Fate(NamedTuple):
    """The fate of an underlying token, or the origin of a surface token without an underlying one.

    :ivar word: the head word, from 1, of the constituent that sprouted it; 0 if there is none.
    :ivar token: the underlying token; None if there was none.
    :ivar slot: the slot, from 0.
    :ivar edit: one of `pyropunct.inference.machines.products.EDITS`, `SLIP`, or `OTHER`.
    """

    word: int
    token: str | None
    slot: int
    edit: str


def token_fates(derivations: Sequence[SlotDerivation]) -> list[Fate]:
    """The fates of all tokens but the sentence start, slot by slot.

    A token that is missing in the surface string was absorbed.  A token that is in it was transposed if it
    was swapped with another token, which may have been absorbed afterwards.  Every edit of a slot is the fate
    of some token.  If edits are ambiguous, those of equal absorbed tokens are assigned from left to right,
    and the nearest token counts as swapped with an absorbed one.

    :param derivations: of the slots 0..n, see `pyropunct.tasks.explain.derivations.Derivations.of`.
    """
    return [fate for slot, derivation in enumerate(derivations) for fate in _slot_fates(slot, derivation)]


def _slot_fates(slot: int, derivation: SlotDerivation) -> Iterator[Fate]:
    absorptions = _absorptions(derivation.edits)
    transposed = _transposed(derivation)
    for place, (token, word, _) in enumerate(derivation.underlying):
        if derivation.slipped:
            edit = SLIP
        elif place not in derivation.origins:
            edit = absorptions[token].pop(0) if absorptions[token] else OTHER
        else:
            edit = EDITS[TRANSPOSITION if place in transposed else KEEP]
        if word:
            yield Fate(word, token, slot, edit)
    if None in derivation.origins:
        yield Fate(0, None, slot, SLIP if derivation.slipped else OTHER)


def _absorptions(edits: Sequence[SlotEdit]) -> defaultdict[str, list[str]]:
    """For each token the names of the edits that absorbed it."""
    absorbed = {EDITS[LEFT_ABSORPTION]: 0, EDITS[RIGHT_ABSORPTION]: 1}
    names: defaultdict[str, list[str]] = defaultdict(list)
    for edit in edits:
        if edit.name in absorbed:
            names[edit.before[absorbed[edit.name]]].append(edit.name)
    return names


def _transposed(derivation: SlotDerivation) -> set[int]:
    """The places of the transposed tokens that are in the surface string."""
    stay = [place for place in derivation.origins if place is not None]
    moved = {place for pair in combinations(stay, 2) if pair[0] > pair[1] for place in pair}
    tokens = [sprouted.token for sprouted in derivation.underlying]
    gone = set(range(len(tokens))) - set(stay)
    for edit in derivation.edits:
        if edit.name == EDITS[TRANSPOSITION]:
            partners = [
                (abs(place - other), place)
                for place, other in product(stay, gone)
                if edit.before == (tokens[min(place, other)], tokens[max(place, other)])
            ]
            moved |= {place for _, place in sorted(partners)[:1]}
    return moved


def page_html(treebank: Treebank, trees: Sequence[PunctuatedTree], model: str, recipe: Recipe) -> str:
    """A page with a search over trees; equal arguments give equal pages.

    The page is a single file that loads nothing else: its Content-Security-Policy allows only its own style
    sheet and script, by their hashes.  Drawings are laid out here, see `pyropunct.figures.layout.Drawing`;
    the script turns them into SVG when they are shown.

    :param treebank: the source of the trees; the page lists its omitted sentences.
    :param trees: the trees to show; several trees of one sentence are posterior draws.
    """
    style, script = _part("page.css"), _part("page.js")
    data = {"about": _about(treebank, model, recipe), **_data(trees)}
    return Template(_part("page.html")).substitute(
        title=html.escape(f"{_name(treebank.path)}: underlying punctuation"),
        style_hash=_hash(style),
        script_hash=_hash(script),
        style=style,
        script=script,
        # In a script element only "<" can end the data too early.
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    )


@cache
def _part(name: str) -> str:
    return files("pyropunct.figures").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _name(path: str) -> str:
    """The name of a file or folder without the folders around it, so that the page does not reveal them."""
    return path if path == "<stdin>" else Path(path).resolve().name


def _about(treebank: Treebank, model: str, recipe: Recipe) -> dict[str, Any]:
    return {
        "file": _name(treebank.path),
        "sentences": len(treebank),
        "omitted": [[one.identifier, one.line, one.reason] for one in treebank.omitted],
        "lifted": list(treebank.lifted_sentences),
        "model": _name(model),
        "recipe": recipe.to_json(),
        "version": version("pyropunct"),
    }


class _Names(dict[str, int]):
    """Numbers for names, in the order in which they are first asked for."""

    def __missing__(self, name: str) -> int:
        return self.setdefault(name, len(self))

    def each(self, names: Sequence[str]) -> list[int]:
        return [self[name] for name in names]


_Tables = Mapping[str, _Names]
"""The tables of names that the data refer to by number."""


def _data(trees: Sequence[PunctuatedTree]) -> dict[str, Any]:
    """All trees, in the format that the page's script reads."""
    tables = {name: _Names() for name in ("relations", "marks", "edits", "kinds")}
    plain = [_tree(tree, tables) for tree in trees]
    names = {name: list(table) for name, table in tables.items()}
    return {"tables": names, "frame": FRAME, "styles": STYLES, "trees": plain}


def _tree(tree: PunctuatedTree, tables: _Tables) -> dict[str, Any]:
    return {
        "id": tree.sentence.identifier,
        "rightToLeft": tree.right_to_left,
        "words": tree.tree.forms,
        **_written_together(tree),
        "relations": tables["relations"].each(tree.tree.relations),
        "constituents": list(_constituents(tree, tables)),
        "slots": [
            [number, *_slot(slot, tables)]
            for number, slot in enumerate(tree.derivations)
            if slot.changed or _marks(slot.surface, tables)
        ],
        "fates": [
            [word, -1 if token is None else tables["marks"][display(token)], slot, tables["edits"][edit]]
            for word, token, slot, edit in token_fates(tree.derivations)
        ],
        "drawing": _drawing(tree, tables),
    }


def _written_together(tree: PunctuatedTree) -> dict[str, list[str]]:
    """The words of both strings where some are written together, all in the place of the first of them."""
    strings = {
        "surfaceWords": tree.words_around(tree.surface),
        "underlyingWords": tree.sentence.words_apart(bracket_slots(tree.tree, tree.punctemes)),
    }
    return {name: words for name, words in strings.items() if "" in words}


def _constituents(tree: PunctuatedTree, tables: _Tables) -> Iterator[list[Any]]:
    """The constituents that sprout something, outer ones first: head, first and last word, both punctemes."""
    for word in tree.tree.top_down:
        pair, part = tree.punctemes[word - 1], part_of(tree.punctemes[word - 1])
        left, right = ((*pair[0], part.left), (part.right, *pair[1])) if part else pair
        punctemes = [_marks(side, tables) for side in (left, right)]
        if any(punctemes):
            yield [word, *tree.tree.spans[word - 1], *punctemes]


def _slot(slot: SlotDerivation, tables: _Tables) -> list[Any]:
    """The underlying and the surface string, whether they differ, and the edits."""
    underlying = [sprouted.token for sprouted in slot.underlying]
    names = dict.fromkeys(edit.name for edit in slot.edits)
    edits = tables["edits"].each([SLIP] if slot.slipped else list(names))
    return [_marks(underlying, tables), _marks(slot.surface, tables), int(slot.changed), edits]


def _marks(tokens: Sequence[str], tables: _Tables) -> list[int]:
    return tables["marks"].each(displayed(tokens))


def _drawing(tree: PunctuatedTree, tables: _Tables) -> list[Any]:
    """Width, height, and the elements: kind, text, x, y of a label; kind, x, y, x, y... of a stroke."""
    drawing = Drawing(tree)
    return [drawing.width, round(drawing.height), [_element(one, tables) for one in drawing.elements()]]


def _element(element: Label | Stroke, tables: _Tables) -> list[int | str]:
    kind = tables["kinds"][element.kind]
    if isinstance(element, Label):
        return [kind, element.text, round(element.x), round(element.y)]
    return [kind, *(round(place) for point in element.points for place in point)]
