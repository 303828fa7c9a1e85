"""The punctemes of each relation, from Python and in the rows of typology."""

import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
import torch
from command_line import answer, printed

from pyropunct.figures.relations_plot import relations_svg
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.relations import (
    PairShare,
    RelationPunctemes,
    grew_query,
    relation_punctemes,
)
from pyropunct.tasks.explain.sprouted import ANY, PUNCTEMES, SYMMETRIC, sprouted_in
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
    silent = RelationPunctemes("", 1, (PairShare((), (), 1.0), PairShare((",",), (), 0.0)))
    assert (silent.entropy, silent.nonempty) == (0, 0)
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


def test_names_and_entropies_are_written(model: Punctuator, dev: list[Sentence]) -> None:
    relations = relation_punctemes(model, dev)
    svg = relations_svg(relations)
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    for one in relations:
        assert {f"{one.name} ({one.count:,})", f"{one.entropy:.2f} bits"} <= {*texts}
    assert len(widths(svg)) == 2 * len(relations)
    assert "relation (constituents)" in texts


def test_the_plot_is_always_the_same_and_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    first = relations_svg([MADE_UP])
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 20)
    assert relations_svg([MADE_UP]) == first
    assert b"dc:date" not in first
    assert all(colour[1:3] == colour[3:5] == colour[5:] for colour in re.findall(rb"#[0-9a-f]{6}", first))


def test_nothing_to_draw() -> None:
    assert widths(relations_svg([])) == {}


# Rows of typology


def own_row(relation: str, of: str) -> bool:
    """Whether a constituent counts in a row of `typology`."""
    general = relation.partition(":")[0]
    return of in (general, relation if ":" in relation else f"{relation} (no subtype)")


def test_typology_has_all_pairs_and_queries_that_find_them(
    small: Path, model: Punctuator, tmp_path: Path
) -> None:
    """Every query, read here as Grew reads it, on the file that ``underlying`` writes."""
    model_file, file = small / "model", tmp_path / "plain.conllu"
    dev = (small / "dev.conllu").read_text(encoding="utf-8")  # which has such entries itself
    file.write_text(re.sub(r"Punct\w+=[^|\n]*", "Own=", dev), encoding="utf-8")
    value = answer("typology", model_file, file, "--examples", 1, "--least", 1)
    rows = [row for row in value["shares"] if row["table"] == PUNCTEMES and "beside" not in row["of"]]
    written = printed("underlying", model_file, file, "--format", "conllu")
    words = [line.split("\t") for line in written.splitlines() if re.match(r"\d+\t", line)]
    entries = [
        (relation, dict(one.split("=", 1) for one in misc.split("|") if "=" in one))
        for *_, relation, _, misc in words
        if relation != "punct"
    ]
    told = answer("underlying", model_file, file)["sentences"]
    sprouted = Counter(
        (relation, " | ".join(" ".join(side) or "ε" for side in pair))
        for sentence, one in zip(read_treebank(file), told, strict=True)
        for relation, pair in zip(sentence.tree.relations, one["trees"][0], strict=True)
    )
    assert not any(part for one in told for part in one["parts"])
    compared = 0
    for row in rows:
        if "grew" not in row:
            assert row["outcome"] in (ANY, SYMMETRIC)
            continue
        features, general, edge = re.fullmatch(
            r"pattern { X \[(.*)\]; \* -\[(1=)?(.*)\]-> X }", row["grew"]
        ).groups()  # type: ignore[union-attr]
        wanted = re.findall(r'(?:^|, )(!?)(\w+)(?:="((?:[^"\\]|\\")*)")?', features)
        found = sum(
            edge == (relation.partition(":")[0] if general else relation)
            and all(
                (name not in misc) if absent else misc.get(name) == text.replace('\\"', '"')
                for absent, name, text in wanted
            )
            for relation, misc in entries
        )
        pairs = (
            times
            for (relation, pair), times in sprouted.items()
            if pair == row["outcome"] and own_row(relation, row["of"])
        )
        assert found == sum(pairs)
        compared += found
    assert compared > 100


def test_typology_counts_the_same_pairs(model: Punctuator, dev: list[Sentence]) -> None:
    """In sentences without subtypes that the model lacks."""
    known = set(model.vocabulary.relations)
    sentences = [one for one in dev if known.issuperset(one.tree.relations)]
    _, tallies = sprouted_in(model, sentences)
    assert len(sentences) > 10
    for one in relation_punctemes(model, sentences):
        total, outcomes = tallies.get((PUNCTEMES, f"{one.name} (no subtype)")) or tallies[PUNCTEMES, one.name]
        shares = {pair.text: pair.share for pair in one.pairs} | {ANY: one.nonempty, SYMMETRIC: one.symmetric}
        assert total == one.count
        assert {name: outcomes.get(name, 0) / total for name in shares} == pytest.approx(shares, abs=1e-4)


@pytest.mark.parametrize(
    ("pair", "features"),
    [
        (", | ε", 'PunctLeft=",", !PunctRight'),
        (", “ | ”", 'PunctLeft=",+“", PunctRight="”", !PunctPart'),
        ('" | "', 'PunctLeft="\\"", PunctRight="\\"", !PunctPart'),
    ],
)
def test_marks_in_a_query(pair: str, features: str) -> None:
    for of, edge in (("acl", "1=acl"), ("acl (no subtype)", "acl"), ("acl:cleft", "acl:cleft")):
        assert grew_query(of, pair) == f"pattern {{ X [{features}]; * -[{edge}]-> X }}"
    assert {grew_query(of, pair) for of in ("beside acl", "acl, finite")} == {None}
    assert {grew_query("acl", other) for other in ("| | ,", "\\^ | ε", ANY)} == {None}
