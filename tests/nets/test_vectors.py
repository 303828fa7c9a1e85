"""Vectors of words: what is read of a file, and what is refused."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command_line import complaint

from pyropunct.cli.fit import pretrained_source
from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.parser import BiaffineParser, ParserRecipe, train_parser
from pyropunct.nets.pretrained import PretrainedError
from pyropunct.nets.sources import pretrained_from
from pyropunct.nets.vectors import MOST_FREQUENT, WordVectors, read_vectors
from pyropunct.punctuator import Punctuator
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

TEXT = "5 2\nthe 1 2\nParis 3 4\nof 0.5 -6e-1\nrare 5 6\nNew York 7 8\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_vectors_of_words(file: Path) -> None:
    vectors = read_vectors(file, ())
    assert vectors.words == ("the", "Paris", "of", "rare", "New York")
    found = vectors.features([["The", "the", "Paris"], ["paris", "of"], []])
    assert found.shape == (3, 3, 2)
    assert found[0].tolist() == [[1, 2], [1, 2], [3, 4]]
    assert found[1].tolist() == [[0, 0], pytest.approx([0.5, -0.6], abs=1e-3), [0, 0]]
    assert vectors.features([]).shape == (0, 0, 2)


@pytest.mark.parametrize(
    ("most", "wanted", "kept"),
    [(2, (), "the Paris"), (2, ("Rare", "else"), "the Paris rare"), (0, ("of",), "of"), (9, (), None)],
)
def test_rows_that_are_kept(file: Path, most: int, wanted: Collection[str], kept: str | None) -> None:
    expected = ("the", "Paris", "of", "rare", "New York") if kept is None else tuple(kept.split())
    assert read_vectors(file, wanted, most).words == expected


def test_the_first_of_equal_words_counts(file: Path) -> None:
    file.write_text("2 1\na 1\na 2\n")
    assert read_vectors(file, ()).table.tolist() == [[1]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ":1: is no file of vectors"),
        (b"the 1 2\n", ":1: is no file of vectors"),
        (b"\x80\x02}q\x00" * 99, ":1: is no file of vectors"),
        (b"1 0\nthe\n", ":1: vectors of 0 features"),
        (b"1 99999999\nthe\n", ":1: vectors of 99999999 features"),
        (b"2 2\nthe 1 2\nof 1\n", ":3: there are 1 features, not 2"),
        (b"1 2\nthe 1 x\n", ":2: a feature is no number"),
        (b"1 2\nthe 1 nan\n", ":2: a feature is no finite number"),
        (b"1 1\nth\xff 1\n", ":2: the word is not UTF-8"),
        (b"2 1\nthe 1\n", ": has 1 vectors, not 2 as its first line says"),
        (b"0 1\n", ": there is no vector in the file"),
    ],
)
def test_files_of_something_else(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)
    with pytest.raises(PretrainedError) as caught:
        read_vectors(file, ())
    assert str(caught.value).startswith(f"{file}{problem}")


def test_a_model_keeps_them(file: Path, small: Path, tmp_path: Path) -> None:
    some = list(read_treebank(embedded_treebank_path("train")))[:8]
    recipe = ParserRecipe(epochs=1, least_steps=0, form_size=8, lstm_size=8, arc_size=8, relation_size=8)
    vectors = read_vectors(file, ())
    parser = train_parser(some, None, recipe, pretrained=vectors)
    model = replace(Punctuator.load(small / "model"), parser=parser)
    model.save(tmp_path / "model")
    file.unlink()
    loaded = Punctuator.load(tmp_path / "model").parser
    assert isinstance(loaded, BiaffineParser)
    assert isinstance(loaded.pretrained, WordVectors)
    assert loaded.pretrained.words == vectors.words
    torch.testing.assert_close(loaded.pretrained.table, vectors.table, atol=0.05, rtol=0)
    words = [sentence.tree.forms for sentence in some]
    assert [tree.forms for [(tree, *_)] in loaded.parse(words)] == words
    with pytest.raises(PretrainedError, match="--encoder x: the model was trained without an encoder"):
        Punctuator.load(tmp_path / "model", encoder="x")


def test_parts_of_something_else(file: Path) -> None:
    plain, tensors = read_vectors(file, ()).to_parts()
    for wrong, problem in (
        ({"words": plain["words"][1:]}, "not one word for each"),
        ({"words": ["a"] * 5}, "not one word for each"),
        ({"words": [1] * 5}, "no list of texts"),
        ({"kind": "else"}, "no pretrained features of the kind 'else'"),
    ):
        with pytest.raises(ValueError, match=problem):
            pretrained_from({**plain, **wrong}, tensors)
    with pytest.raises(ValueError, match="no matrix"):
        pretrained_from(plain, {"table": torch.zeros(5)})


def test_what_fit_refuses(file: Path, small: Path, tmp_path: Path) -> None:
    fit = ("fit", small / "train.conllu", "--out", tmp_path / "model")
    assert complaint(2, *fit, "--vectors", file).startswith("--vectors is for --parser")
    both = ("--parser", "--vectors", file, "--encoder", "x")
    assert complaint(2, *fit, *both) == "--encoder and --vectors exclude each other"
    file.write_text("nonsense")
    told = complaint(2, *fit, "--parser", "--vectors", file)
    assert told.startswith(f"{file}:1: is no file of vectors")
    there = tmp_path / "nothing"
    assert complaint(2, *fit, "--parser", "--vectors", there) == f"{there}: No such file or directory"


def test_what_fit_reads(file: Path, small: Path) -> None:
    treebank = read_treebank(small / "train.conllu")
    word = treebank[0].tree.forms[0]
    rows = "a 1\n" * MOST_FREQUENT + f"{word} 2\nunseen 3\n"
    file.write_text(f"{MOST_FREQUENT + 2} 1\n{rows}", encoding="utf-8")
    pretrained = pretrained_source(None, str(file), treebank)
    assert pretrained is not None
    assert pretrained.features([[word, "unseen", "a"]]).tolist() == [[[2], [0], [1]]]
