"""The punctemes of each relation, from Python and on the command line."""

import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
import torch
from command_line import answer, complaint, printed

from pyropunct.figures.relations_plot import relations_svg
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.relations import (
    PairShare,
    RelationPunctemes,
    grew_query,
    relation_punctemes,
)
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def dev(small: Path) -> list[Sentence]:
    return list(read_treebank(small / "dev.conllu"))


def known_relations(model: Punctuator, sentence: Sentence) -> list[str]:
    """The relations of the words of a sentence, as the model knows them."""
    vocabulary = model.vocabulary
    return [vocabulary.relations[vocabulary.relation_number(name)] for name in sentence.tree.relations]


MADE_UP = RelationPunctemes(
    "appos",
    8,
    (
        PairShare((), (), 0.5),
        PairShare((",",), (",",), 0.25),
        PairShare((",", "“"), ("”",), 0.125),
        PairShare((",",), ("”",), 0.125),
    ),
)


def test_numbers_by_hand() -> None:
    assert MADE_UP.entropy == pytest.approx(0.5 * 1 + 0.25 * 2 + 2 * 0.125 * 3)
    assert MADE_UP.nonempty == pytest.approx(0.5)
    assert MADE_UP.symmetric == pytest.approx(0.375)
    assert MADE_UP.symmetric_of_nonempty == pytest.approx(0.75)
    silent = RelationPunctemes("", 1, (PairShare((), (), 1.0), PairShare((",",), (), 0.0)))
    assert (silent.entropy, silent.nonempty, silent.symmetric_of_nonempty) == (0, 0, None)
    assert (silent.name, MADE_UP.name) == ("(other)", "appos")


@pytest.mark.parametrize(
    ("left", "right", "symmetric", "text"),
    [
        ("", "", False, "ε | ε"),
        (",", ",", True, ", | ,"),
        ("“", "”", True, "“ | ”"),
        (", “", "” ,", True, ", “ | ” ,"),
        ("", ".", False, "ε | ."),
        ("(", "", False, "( | ε"),
        (":", ",", False, ": | ,"),
        ("(", ",", False, "( | ,"),
    ],
)
def test_symmetric_punctemes(left: str, right: str, symmetric: bool, text: str) -> None:
    pair = PairShare(tuple(left.split()), tuple(right.split()), 1.0)
    assert (pair.is_symmetric, pair.text) == (symmetric, text)


def test_shares_are_frequencies_of_posterior_draws(model: Punctuator, dev: list[Sentence]) -> None:
    """Of independent ones, so that a frequency deviates as a binomial one does, or less."""
    draws = 400
    counts: Counter[tuple[str, tuple[str, ...], tuple[str, ...]]] = Counter()
    for sentence, trees in zip(dev, model.underlying(dev, samples=draws), strict=True):
        for tree in trees:
            names = known_relations(model, sentence)
            counts.update((name, *pair) for name, pair in zip(names, tree, strict=True))
    uncertain = 0
    for one in relation_punctemes(model, dev):
        for pair in one.pairs:
            frequency = counts[one.relation, pair.left, pair.right] / (draws * one.count)
            deviation = math.sqrt(pair.share * max(0, 1 - pair.share) / (draws * one.count))
            assert abs(frequency - pair.share) < 5 * deviation + 2 / (draws * one.count)
            uncertain += 0.05 < pair.share < 0.95
    assert uncertain > 10


def test_counts_are_those_of_the_trees(model: Punctuator, dev: list[Sentence]) -> None:
    done: list[int] = []
    found = relation_punctemes(model, dev * 5, advance=done.append)
    assert sum(done) == 150
    expected = Counter(name for sentence in dev * 5 for name in known_relations(model, sentence))
    assert {one.relation: one.count for one in found} == expected
    assert all(math.fsum(pair.share for pair in one.pairs) == pytest.approx(1) for one in found)
    least = sorted(expected.values())[len(expected) // 2]
    frequent = relation_punctemes(model, dev * 5, least=least)
    assert [one.relation for one in frequent] == [one.relation for one in found if one.count >= least]


def test_order(model: Punctuator, dev: list[Sentence]) -> None:
    found = relation_punctemes(model, dev)
    assert [one.symmetric for one in found] == sorted((one.symmetric for one in found), reverse=True)
    for one in found:
        assert [pair.share for pair in one.pairs] == sorted((pair.share for pair in one.pairs), reverse=True)


def test_an_unknown_relation(model: Punctuator) -> None:
    rows = [("Wait", 0, "root", "VERB"), ("Anna", 1, "unheard", "PROPN"), (".", 1, "punct", "PUNCT")]
    lines = [
        f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
        for number, (form, head, relation, tag) in enumerate(rows, 1)
    ]
    found = relation_punctemes(model, list(read_text("".join(lines))))
    assert {one.name: one.count for one in found} == {"root": 1, "(other)": 1}


def test_equal_batches_add_up(model: Punctuator, dev: list[Sentence]) -> None:
    one, many = relation_punctemes(model, dev), relation_punctemes(model, dev * 8)
    assert [(a.relation, 8 * a.count) for a in one] == [(b.relation, b.count) for b in many]
    for a, b in zip(one, many, strict=True):
        assert torch.allclose(
            torch.tensor([pair.share for pair in a.pairs]),
            torch.tensor([pair.share for pair in b.pairs]),
            atol=1e-5,
        )


# On the command line


def test_the_table_has_the_numbers_of_the_json(small: Path) -> None:
    arguments = ("relations", small / "model", small / "dev.conllu", "--least", 5, "--pairs", 3)
    value = answer(*arguments)
    assert value["sentences"] == 30
    lines = [line for line in printed(*arguments).splitlines() if re.match(r"│ [a-z(]", line)]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    number = len(value["relations"])
    assert number > 5
    for row, one in zip(rows[:number], value["relations"], strict=True):
        assert row[:5] == [
            one["relation"],
            f"{one['count']:,}",
            f"{one['entropy']:.2f}",
            f"{100 * one['nonempty']:.1f}",
            f"{100 * one['symmetric']:.1f}",
        ]
        assert one["count"] >= 5
        assert len(one["pairs"]) == 3
    assert rows[number:] == [
        [
            one["relation"],
            " ".join(pair["left"]) or "ε",
            " ".join(pair["right"]) or "ε",
            f"{100 * pair['share']:.1f}",
            "yes" if pair["symmetric"] else "",
            f"{100 * pair['low']:.1f}–{100 * pair['high']:.1f}",
        ]
        for one in value["relations"]
        for pair in one["pairs"]
        if pair["share"] * one["count"] >= 0.5
    ]


def test_bad_input(small: Path, tmp_path: Path) -> None:
    model, dev = small / "model", small / "dev.conllu"
    assert complaint(2, "relations", tmp_path / "none", dev) == f"{tmp_path / 'none'}: no such model"
    assert "none.conllu" in complaint(2, "relations", model, tmp_path / "none.conllu")
    plot = tmp_path / "none" / "plot.svg"
    missing = f"{plot}: the folder {plot.parent} does not exist"
    assert complaint(2, "relations", model, dev, "--plot", plot) == missing


# Plot


def widths(svg: bytes) -> dict[str, float]:
    """The widths of the bars in a plot, by their names."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.get("id", "").startswith("relation-"):
            path = group.find(f"{SVG}path")
            assert path is not None
            places = [float(x) for x, _ in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path.attrib["d"])]
            found[group.attrib["id"]] = max(places) - min(places)
    return found


def test_every_bar_is_in_the_plot() -> None:
    other = RelationPunctemes("root", 9, (PairShare((), (".",), 1.0),))
    found = widths(relations_svg([MADE_UP, other]))
    scale = found["relation-1-other"]
    assert {name: width / scale for name, width in found.items()} == pytest.approx(
        {
            "relation-0-symmetric": 0.375,
            "relation-0-other": 0.125,
            "relation-1-symmetric": 0,
            "relation-1-other": 1,
        },
        abs=0.01,
    )


def test_names_and_entropies_are_written(small: Path, tmp_path: Path) -> None:
    arguments = ("relations", small / "model", small / "dev.conllu")
    value = answer(*arguments, "--plot", tmp_path / "plot.svg")
    svg = (tmp_path / "plot.svg").read_bytes()
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    for one in value["relations"]:
        assert f"{one['relation']} ({one['count']:,})" in texts
        assert f"{one['entropy']:.2f} bits" in texts
    assert len(widths(svg)) == 2 * len(value["relations"])
    assert "relation (constituents)" in texts


def test_the_plot_is_always_the_same_and_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    first = relations_svg([MADE_UP])
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 20)
    assert relations_svg([MADE_UP]) == first
    assert b"dc:date" not in first
    assert all(colour[1:3] == colour[3:5] == colour[5:] for colour in re.findall(rb"#[0-9a-f]{6}", first))


def test_nothing_to_draw() -> None:
    assert widths(relations_svg([])) == {}


# Queries


def test_a_query_finds_the_constituents(small: Path, model: Punctuator, tmp_path: Path) -> None:
    """Every query, read here as Grew reads it, on the file that ``underlying`` writes."""
    model_file, file = small / "model", tmp_path / "plain.conllu"
    dev = (small / "dev.conllu").read_text(encoding="utf-8")  # which has such entries itself
    file.write_text(re.sub(r"Punct\w+=[^|\n]*", "Own=", dev), encoding="utf-8")
    value = answer("relations", model_file, file, "--examples", 1, "--pairs", 99)
    written = printed("underlying", model_file, file, "--format", "conllu")
    words = [line.split("\t") for line in written.splitlines() if re.match(r"\d+\t", line)]
    entries = [
        (relation, dict(one.split("=", 1) for one in misc.split("|") if "=" in one))
        for *_, relation, _, misc in words
        if relation != "punct"
    ]
    told = answer("underlying", model_file, file)["sentences"]
    sprouted = Counter(
        (known, tuple(left), tuple(right))
        for sentence, one in zip(read_treebank(file), told, strict=True)
        for known, (left, right) in zip(known_relations(model, sentence), one["trees"][0], strict=True)
    )
    assert not any(part for one in told for part in one["parts"])
    compared = 0
    for one in value["relations"]:
        for pair in one["pairs"]:
            features, names = re.fullmatch(r"pattern { X \[(.*)\]; \* -\[(.*)\]-> X }", pair["grew"]).groups()  # type: ignore[union-attr]
            wanted = re.findall(r'(?:^|, )(!?)(\w+)(?:="((?:[^"\\]|\\")*)")?', features)
            found = sum(
                relation in names.split("|")
                and all(
                    (name not in misc) if absent else misc.get(name) == text.replace('\\"', '"')
                    for absent, name, text in wanted
                )
                for relation, misc in entries
            )
            assert found == sprouted[one["relation"], tuple(pair["left"]), tuple(pair["right"])]
            compared += found
    assert compared > 100


@pytest.mark.parametrize(
    ("left", "right", "features"),
    [
        ((",",), (), 'PunctLeft=",", !PunctRight'),
        ((",", "“"), ("”",), 'PunctLeft=",+“", PunctRight="”", !PunctPart'),
        (('"',), ('"',), 'PunctLeft="\\"", PunctRight="\\"", !PunctPart'),
    ],
)
def test_marks_in_a_query(left: tuple[str, ...], right: tuple[str, ...], features: str) -> None:
    assert (
        grew_query(["acl", "acl:cleft"], left, right)
        == f"pattern {{ X [{features}]; * -[acl|acl:cleft]-> X }}"
    )
    assert grew_query(["acl"], ("|",), right) is None
