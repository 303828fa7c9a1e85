"""The page of all trees of a file, in a real browser."""

import itertools
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from browser import Watched, browser
from playwright.sync_api import Browser, Page, expect
from punctuated import arabic, chain, clara, hostile

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.page import drawn_svg, page_html
from pyropunct.fitted.recipes import Recipe
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import Derivations, token_fates
from pyropunct.tasks.explain.tree_text import bracketed
from pyropunct.text.marks import START, display
from pyropunct.treebank.reading import Treebank, read_treebank

NONE = "\t"
"""What the page calls no mark."""

SHOWN = """() => {
    const all = document.querySelector('#more button[value=all]');
    if (!document.getElementById('more').hidden) all.click();
    return [...document.querySelectorAll('#hits .name a')].map((link) => link.textContent);
}"""
"""The identifiers of all trees that are found."""

SEARCH = f"""(queries) => queries.map((query) => {{
    const form = document.querySelector('form');
    for (const select of form.querySelectorAll('select')) select.value = query[select.name] ?? '';
    form.dispatchEvent(new Event('input'));
    return ({SHOWN})();
}})"""


class Match(NamedTuple):
    """Something that a search may look for: the values of the four conditions that it fulfils."""

    relation: str | None
    underlying: str
    edit: str | None
    surface: tuple[str, ...]


CONDITIONS = Match._fields


@dataclass(frozen=True)
class Written:
    """A page and what is on it."""

    address: str
    trees: Sequence[PunctuatedTree]

    @cached_property
    def findable(self) -> list[set[Match]]:
        """All that can be found in each tree."""
        return list(map(findable, self.trees))

    def identifiers(self, query: dict[str, str]) -> list[str]:
        """What a search for some conditions should give."""
        return [
            tree.sentence.identifier
            for tree, some in zip(self.trees, self.findable, strict=True)
            if any(fulfils(found, query) for found in some)
        ]

    @cached_property
    def values(self) -> dict[str, set[str]]:
        """All values of each condition."""
        found = set().union(*self.findable)
        single = {name: {getattr(one, name) for one in found} - {None} for name in CONDITIONS[:3]}
        return {**single, "surface": {mark for one in found for mark in one.surface}}


def findable(tree: PunctuatedTree) -> set[Match]:
    relations = (None, *tree.tree.relations)
    found = set()
    for fate in token_fates(tree.derivations):
        surface = tuple(display(token) for token in tree.derivations[fate.slot].surface if token != START)
        token = NONE if fate.token is None else display(fate.token)
        found.add(Match(relations[fate.word], token, fate.edit, surface or (NONE,)))
    for relation, (left, right) in zip(tree.tree.relations, tree.punctemes, strict=True):
        if not left and not right:
            found.add(Match(relation, NONE, None, ()))
    return found


def fulfils(found: Match, query: dict[str, str]) -> bool:
    return all(
        value in found.surface if name == "surface" else value == getattr(found, name)
        for name, value in query.items()
    )


def write(folder: Path, name: str, treebank: Treebank, trees: Sequence[PunctuatedTree]) -> Written:
    file = folder / f"{name}.html"
    file.write_bytes(page_html(treebank, trees, "a-model", Recipe(direction="right")).encode())
    return Written(file.as_uri(), trees)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as chromium:
        yield chromium


@pytest.fixture
def watched(chromium: Browser) -> Iterator[Watched]:
    context = chromium.new_context()
    context.set_default_timeout(10_000)
    yield Watched(context.new_page())
    context.close()


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page


@pytest.fixture(scope="module")
def draws(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Two draws for each sentence of the small treebank, which have more edits than the best trees."""
    treebank = read_treebank(small / "dev.conllu")
    model = Punctuator.load(small / "model")
    derivations = Derivations(model)
    trees = [
        PunctuatedTree(sentence, tree, derivations.of(sentence, tree))
        for sentence, some in zip(treebank, model.underlying(list(treebank), 2), strict=True)
        for tree in some
    ]
    return write(tmp_path_factory.mktemp("draws"), "draws", treebank, trees)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Written:
    treebank, tree = hostile()
    return write(tmp_path_factory.mktemp("made-up"), "made up", treebank, [clara(), arabic(), tree])


def combined(written: Written) -> list[dict[str, str]]:
    """All queries with one condition, and those with two or with all four that some tree fulfils."""
    queries = [{name: value} for name, some in written.values.items() for value in sorted(some)]
    several = set()
    for one in set().union(*written.findable):
        pairs = [(name, getattr(one, name)) for name in CONDITIONS[:3]]
        for mark in one.surface or (None,):
            known = [pair for pair in (*pairs, ("surface", mark)) if pair[1] is not None]
            several |= {chosen for size in (2, 4) for chosen in itertools.combinations(known, size)}
    return queries + [dict(chosen) for chosen in sorted(several)]


def shown(page: Page) -> list[str]:
    found = page.evaluate(SHOWN)
    assert isinstance(found, list)
    return found


# loading


def test_it_loads_and_asks_for_nothing(watched: Watched, draws: Written) -> None:
    page = watched.page
    page.goto(draws.address)
    expect(page).to_have_title("dev.conllu: underlying punctuation")
    expect(page.locator("h1")).to_have_text("dev.conllu")
    for part in ("30 sentences", "none omitted", "model a-model", "channel sliding-window", "from the right"):
        expect(page.locator("#summary")).to_contain_text(part)
    expect(page.locator("#count")).to_have_text("60 of 60 trees")
    page.get_by_label("Drawings").check()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#hits svg")).to_have_count(60)
    assert watched.said == []
    assert watched.asked == [draws.address]


def test_nothing_more_can_be_loaded_or_run(watched: Watched, made_up: Written) -> None:
    page = watched.page
    page.goto(made_up.address)
    ran = page.evaluate(
        """async () => {
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.ran = true">');
            const loaded = await fetch(location.href).then(() => true, () => false);
            return [window.ran ?? false, loaded];
        }"""
    )
    assert ran == [False, False]
    assert all("Content Security Policy" in line for line in watched.said if "error" in line)


# searching


def test_searches_find_what_they_should(page: Page, draws: Written) -> None:
    """Every condition, and all combinations of two, and of four, that a tree fulfils."""
    page.goto(draws.address)
    queries = combined(draws)
    assert len(queries) > 100
    for query, found in zip(queries, page.evaluate(SEARCH, queries), strict=True):
        assert found == draws.identifiers(query), query


def test_options_and_their_counts(page: Page, draws: Written) -> None:
    """A number says how many trees there will be with this option and the others as they are."""
    edits = Counter(one.edit for some in draws.findable for one in some if one.edit not in (None, "keep"))
    ((edit, _),) = edits.most_common(1)
    for query in ({}, {"edit": edit}, {"relation": "root", "underlying": "."}):
        page.goto("about:blank")
        page.goto(f"{draws.address}#{urlencode(query)}")
        expect(page.locator("#count")).to_have_text(f"{len(draws.identifiers(query))} of 60 trees")
        for name, some in draws.values.items():
            options = page.locator(f"select[name={name}] option").evaluate_all(
                "options => options.map((option) => [option.value, option.textContent])"
            )
            assert options[0] == ["", "any"]
            numbers = {value: int(text.rsplit("(", 1)[1].rstrip(")")) for value, text in options[1:]}
            expected = {value: len(draws.identifiers({**query, name: value})) for value in some}
            assert numbers == expected, (query, name)


def test_a_search_by_hand(page: Page, made_up: Written) -> None:
    page.goto(made_up.address)
    page.get_by_label("Relation").select_option("appos")
    expect(page.locator("#count")).to_have_text("1 of 3 trees")
    page.get_by_label("Underlying mark").select_option(label="” (0)")
    expect(page.locator("#count")).to_have_text("0 of 3 trees")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_have_text("3 of 3 trees")
    page.get_by_label("Edit").select_option("transposition")
    assert shown(page) == ["clara <1>"]
    assert page.locator(".surface mark").all_text_contents() == ["edit: ” . ⇒ . ” transposition"]
    assert page.locator(".constituent.found > .relation").all_text_contents() == ["root[", "obj["]


@pytest.mark.parametrize(
    ("words", "found"),
    [("my SINGS", ["clara <1>"]), ("  t&t ", ["clara <1>"]), ("حبا", ["‏عربي"]), ("nothing like it", [])],
)
def test_words(page: Page, made_up: Written, words: str, found: list[str]) -> None:
    page.goto(made_up.address)
    page.get_by_label("Words").fill(words)
    expect(page.locator("#count")).to_have_text(f"{len(found)} of 3 trees")
    assert shown(page) == found


def test_many_trees_come_in_parts(page: Page, draws: Written) -> None:
    page.goto(draws.address)
    rows = page.locator("#hits > li")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show 10 more").press("Enter")
    expect(rows).to_have_count(60)
    expect(page.locator("#more")).to_be_hidden()
    expect(rows.nth(50).locator("a")).to_be_focused()


# addresses


def test_the_address_keeps_the_search(page: Page, draws: Written, made_up: Written) -> None:
    page.goto(made_up.address)
    page.get_by_label("Underlying mark").select_option(",")
    page.get_by_label("Words").fill("a&b=c #é")
    address = f"{made_up.address}#{urlencode({'underlying': ',', 'words': 'a&b=c #é'})}"
    expect(page).to_have_url(address)
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_label("Underlying mark")).to_have_value(",")
    expect(page.get_by_label("Words")).to_have_value("a&b=c #é")
    page.goto(f"{draws.address}#relation=no-such-relation")
    expect(page.locator("#count")).to_have_text("0 of 60 trees")


def test_the_address_of_a_sentence(page: Page, made_up: Written) -> None:
    page.goto(f"{made_up.address}#edit=transposition")
    page.locator("#hits a").click()
    expect(page).to_have_url(f"{made_up.address}#{urlencode({'sentence': 'clara <1>'})}")
    expect(page.get_by_label("Edit")).to_have_value("")
    expect(page.locator("#hits svg")).to_be_visible()  # the drawing is there at once
    page.go_back()
    expect(page.get_by_label("Edit")).to_have_value("transposition")
    expect(page.get_by_label("Sentence")).to_have_value("")
    page.goto("about:blank")
    page.goto(f"{made_up.address}#{urlencode({'sentence': made_up.trees[2].sentence.identifier})}")
    assert shown(page) == ['"><img src=x onerror=alert(1)>']


# what is shown


def test_strings(page: Page, draws: Written) -> None:
    """The underlying tree as text is that of `bracketed`; the surface string has its edits."""
    page.goto(draws.address)
    shown(page)
    underlying = page.locator(".underlying").all_text_contents()
    assert underlying == [bracketed(tree.sentence, tree.punctemes) for tree in draws.trees]
    for tree, text in zip(draws.trees, page.locator(".surface").all_text_contents(), strict=True):
        pieces: list[str] = []
        words = tree.words_around(tree.surface)
        for place, slot in enumerate(tree.derivations):
            pieces += filter(None, [words[place - 1]] if place else [])
            if slot.changed:
                names = ", ".join(dict.fromkeys(edit.name for edit in slot.edits))
                u, x = (strings[place] or "∅" for strings in (tree.underlying, tree.surface))
                pieces.append(f"edit: {u} ⇒ {x} {'slip' if slot.slipped else names}")
            elif tree.surface[place]:
                pieces.append(tree.surface[place])
        assert text == " ".join(pieces)


def test_deep_trees(page: Page, tmp_path: Path) -> None:
    """There are not more boxes than can be seen, and the text says it all."""
    tree = chain()
    page.goto(write(tmp_path, "chain", hostile()[0], [tree]).address)
    assert page.locator(".underlying").text_content() == bracketed(tree.sentence, tree.punctemes)
    expect(page.locator(".constituent")).to_have_count(30)


def test_a_drawing_is_that_of_svg(page: Page, made_up: Written) -> None:
    page.goto(made_up.address)
    assert page.locator("svg").count() == 0
    for row, tree in enumerate(made_up.trees):
        page.locator("#hits > li").nth(row).get_by_text("Drawing", exact=True).click()
        drawing = page.locator("#hits > li").nth(row).locator("svg")
        expect(drawing).to_be_visible()
        texts = drawing.locator("text").evaluate_all(
            "texts => texts.map((one) => [one.textContent, +one.getAttribute('x'), +one.getAttribute('y')])"
        )
        root = ElementTree.fromstring(drawn_svg([tree]))
        expected = [
            [one.text, round(float(one.attrib["x"])), round(float(one.attrib["y"]))]
            for one in root.iter("{http://www.w3.org/2000/svg}text")
        ]
        assert texts == expected
        assert drawing.locator("path").count() == len(list(root.iter("{http://www.w3.org/2000/svg}path")))
        assert drawing.evaluate("(svg) => svg.getBBox().width") <= int(root.attrib["width"])


def test_hostile_text_is_text(watched: Watched, made_up: Written) -> None:
    page, tree = watched.page, made_up.trees[2]
    page.goto(f"{made_up.address}#drawings=1&words=%3Cscript")
    expect(page.locator("#hits svg")).to_have_count(1)
    page.get_by_text("Model and sentences").click()
    assert page.locator("#omitted li").all_text_contents() == [
        "<img src=x onerror=alert(3)> (line 6): token 1 depends on the punctuation mark "
        "</script><script>alert(4)</script> (token 2)"
    ]
    assert page.locator(".name a").text_content() == tree.sentence.identifier
    assert page.locator(".underlying").text_content() == bracketed(tree.sentence, tree.punctemes)
    assert page.locator("main script, main img, header script, header img, b").count() == 0
    assert watched.said == []
    assert watched.asked == [made_up.address]


def test_from_right_to_left(page: Page, made_up: Written) -> None:
    page.goto(f"{made_up.address}#drawings=1")
    for row, direction in ((0, "ltr"), (1, "rtl")):
        for part in (".surface", ".underlying"):
            expect(page.locator("#hits > li").nth(row).locator(part)).to_have_attribute("dir", direction)
        words = page.locator("#hits > li").nth(row).locator("svg text.word")
        first, last = (words.nth(place).bounding_box() for place in (0, len(made_up.trees[row].tree) - 1))
        assert first is not None
        assert last is not None
        assert (first["x"] > last["x"]) == (direction == "rtl")
    expect(page.locator(".surface").nth(1)).to_contain_text("، . ⇐ . left absorption")
    # The box of a constituent goes from its relation, on the right, to its last mark, and into no other box.
    edges = (
        page.locator(".underlying")
        .nth(1)
        .locator(".constituent .constituent")
        .evaluate_all(
            "boxes => boxes.map((box) => [box.getClientRects().length, box.getBoundingClientRect()])"
        )
    )
    (one, first), (another, second) = edges
    assert one == another == 1
    assert second["right"] <= first["left"]


# for everybody


def test_with_the_keyboard_alone(page: Page, made_up: Written) -> None:
    page.goto(made_up.address)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#hits")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#hits a").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#hits svg")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("group", name="Drawing of clara <1>; scrolls sideways")).to_be_focused()
    page.get_by_label("Relation").focus()
    page.keyboard.type("appos")
    expect(page.locator("#count")).to_have_text("1 of 3 trees")
    for _ in range(7):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Clear")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("3 of 3 trees")


def test_names_for_screen_readers(page: Page, made_up: Written) -> None:
    page.goto(f"{made_up.address}#sentence=clara+%3C1%3E")
    names = ("Relation", "Underlying mark", "Edit", "Surface mark")
    for role, some in (("combobox", names), ("searchbox", ("Words", "Sentence"))):
        for name in some:
            expect(page.get_by_role(role, name=name)).to_have_count(1)  # type: ignore[arg-type]
    expect(page.get_by_role("search")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("1 of 3 trees")
    expect(page.get_by_role("img", name="Drawing of the tree of clara <1>")).to_be_visible()


COLOURS = """() => [...document.querySelectorAll('p, a, summary, .mark, del, ins, small, .relation, text')]
    .filter((one) => one.textContent && one.closest('details:not([open])') === null)
    .map((one) => {
        const style = getComputedStyle(one);
        let at = one;
        const paper = () => getComputedStyle(at).backgroundColor;
        while (paper() === 'rgba(0, 0, 0, 0)') at = at.parentElement;
        return [one instanceof SVGElement ? style.fill : style.color, paper()];
    })"""


def luminance(colour: str) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    shares = [int(share) / 255 for share in colour.removeprefix("rgb(").rstrip(")").split(",")]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_told_from_the_paper(page: Page, made_up: Written, scheme: Any) -> None:
    """A contrast of 4.5, marks that were found included."""
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{made_up.address}#drawings=1&edit=transposition")
    pairs = {tuple(pair) for pair in page.evaluate(COLOURS)}
    assert len(pairs) > 5
    assert {luminance(paper) > 0.5 for _, paper in pairs} == {scheme == "light"}
    for pair in pairs:
        darker, lighter = sorted(map(luminance, pair))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, pair


def test_on_paper(page: Page, made_up: Written) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(f"{made_up.address}#drawings=1&relation=appos")
    for hidden in ("form", "#more", ".tree summary", "#legend"):
        expect(page.locator(hidden)).to_be_hidden()
    for seen in ("h1", "#count", ".surface", ".underlying", "svg"):
        expect(page.locator(seen)).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('svg .word')).fill") == "rgb(0, 0, 0)"
