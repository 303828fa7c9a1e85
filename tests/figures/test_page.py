"""The page of all trees of a file, as it is written; test_page_browser.py shows it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import complaint, printed
from punctuated import clara, french, hostile

from pyropunct.figures.page import _data, page_html
from pyropunct.fitted.recipes import Recipe
from pyropunct.treebank.reading import read_treebank


def test_words_are_written_as_in_the_sentence() -> None:
    (tree,) = _data([french()])["trees"]
    together = ["L'UE", "", "du", "", "Nord", "vote"]
    assert (tree["surfaceWords"], tree["underlyingWords"]) == (together, together)
    assert tree["words"] == ("L'", "UE", "de", "le", "Nord", "vote")
    assert "surfaceWords" not in _data([clara()])["trees"][0]


class Read(HTMLParser):
    """The elements of a page, with their attributes and the text that stands right in them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append((f"/{tag}", {}, []))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.elements[-1][2].append(data)

    def texts(self, tag: str) -> list[str]:
        return ["".join(text) for name, _, text in self.elements if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        value = json.loads(self.texts("script")[0])
        assert isinstance(value, dict)
        return value


@pytest.fixture(scope="module")
def page() -> str:
    treebank, tree = hostile()
    return page_html(treebank, [clara(), tree], "my-model", Recipe(direction="right"))


def test_only_its_own_style_and_script_are_allowed(page: str) -> None:
    read = Read(page)
    (policy,) = [attributes["content"] for _, attributes, _ in read.elements if "http-equiv" in attributes]
    expected = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    for name, content in (("style-src", read.texts("style")[0]), ("script-src", read.texts("script")[1])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        expected[name] = f"'sha256-{digest}'"
    assert dict(part.split(None, 1) for part in (policy or "").split("; ")) == expected
    assert [tag for tag, attributes, _ in read.elements if "src" in attributes or "style" in attributes] == []
    assert [a["href"] for _, a, _ in read.elements if "href" in a] == ["data:,", "#hits"]


def test_nothing_is_named_that_is_elsewhere(page: str) -> None:
    """A name space of XML is no address."""
    assert set(re.findall(r"\w+://[^\"'\s)]*", page)) == {"http://www.w3.org/2000/svg"}


def test_text_stays_text(page: str) -> None:
    """Nothing in the sentences starts an element, or ends the data."""
    read = Read(page)
    plain = Read(page_html(hostile()[0], [clara()], "my-model", Recipe()))
    assert [tag for tag, _, _ in read.elements] == [tag for tag, _, _ in plain.elements]
    assert read.data["trees"][1]["words"] == ["<script>alert(2)</script>", "<!--<script>", "{{7*7}}$title"]
    assert read.data["about"]["omitted"][0][0] == "<img src=x onerror=alert(3)>"
    assert read.texts("title") == ["<img src=x onerror=alert(5)>: underlying punctuation"]


def test_what_it_says_of_a_tree(page: str) -> None:
    data = Read(page).data
    tree, tables = data["trees"][0], data["tables"]
    marks = tables["marks"]
    assert [tables["relations"][relation] for relation in tree["relations"]] == [
        "nsubj",
        "appos",
        "root",
        "obj",
    ]
    constituents = [
        (head, first, last, *([marks[mark] for mark in side] for side in punctemes))
        for head, first, last, *punctemes in tree["constituents"]
    ]
    assert constituents == [(3, 1, 4, [], ["."]), (4, 4, 4, ["“"], ["”"]), (2, 2, 2, [","], [","])]
    assert [(word, marks[mark], slot, tables["edits"][edit]) for word, mark, slot, edit in tree["fates"]] == [
        (2, ",", 1, "keep"),
        (2, ",", 2, "keep"),
        (4, "“", 3, "keep"),
        (4, "”", 4, "transposition"),
        (3, ".", 4, "transposition"),
    ]
    assert [slot[0] for slot in tree["slots"]] == [1, 2, 3, 4]
    assert [slot[3] for slot in tree["slots"]] == [0, 0, 0, 1]


def test_equal_arguments_give_equal_pages(page: str) -> None:
    treebank, tree = hostile()
    assert page_html(treebank, [clara(), tree], "my-model", Recipe(direction="right")) == page


# the command line


def test_the_command(small: Path) -> None:
    dev = small / "dev.conllu"
    arguments = ("underlying", small / "model", dev, "--format", "html", "--threads", 1)
    data = Read(printed(*arguments)).data
    identifiers = [sentence.identifier for sentence in read_treebank(dev)]
    assert [tree["id"] for tree in data["trees"]] == identifiers
    about = data["about"]
    assert (about["file"], about["model"], about["sentences"]) == ("dev.conllu", "model", 30)
    assert about["recipe"]["direction"] == "right"
    # Nothing tells where the files lie.
    assert str(small) not in json.dumps(data)
    one = Read(printed(*arguments, "--sentence", identifiers[4], "--samples", 2)).data
    assert [tree["id"] for tree in one["trees"]] == [identifiers[4]] * 2


def test_omitted_sentences_are_told(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.conllu"
    line = "1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n"
    text = f"# sent_id = shout\n{line}\n" + (small / "dev.conllu").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    data = Read(printed("underlying", small / "model", file, "--format", "html", "--threads", 1)).data
    assert data["about"]["omitted"] == [["shout", 1, "it has no word"]]


def test_bad_input(small: Path) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--format", "html")
    told = complaint(2, *arguments, "--sentence", "nobody")
    assert "sentence 'nobody' is not there (the nearest is '" in told
    one = read_treebank(arguments[2])[0].identifier
    assert complaint(2, *arguments, "--sentence", one + "x").endswith(f"(the nearest is {one!r})")
    told = complaint(2, *arguments, "--sentence", "#3")
    assert told.endswith("; only sentences without a sent_id have a number)")
