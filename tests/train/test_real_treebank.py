"""Fitting a slice of a real treebank, the Turkish treebanks of the package turkish-treebanks."""

import importlib.metadata
import math
from pathlib import Path

import pytest
import torch
from command_line import answer, printed

from pyropunct.punctuator import Punctuator
from pyropunct.treebank.reading import Treebank, read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 120 sentences of web.conllu, 40 of wiki.conllu, and a model fitted to the former."""
    folder = tmp_path_factory.mktemp("turkish")
    files = importlib.metadata.files("turkish-treebanks") or []
    paths = {path.name: Path(str(path.locate())) for path in files}
    for name, size in (("web.conllu", 120), ("wiki.conllu", 40)):
        sentences = paths[name].read_text(encoding="utf-8").split("\n\n")[:size]
        (folder / name).write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    options = ("--direction", "left", "--epochs", 3, "--threads", 1)
    printed("fit", folder / "web.conllu", "--out", folder / "model", *options)
    return folder


@pytest.fixture
def wiki(folder: Path) -> Treebank:
    return read_treebank(folder / "wiki.conllu")


def test_perplexity(folder: Path) -> None:
    """The objective falls from epoch to epoch, and perplexity is small on text of another kind too."""
    report = Punctuator.load(folder / "model").report
    objectives = [epoch["objective"] for epoch in report["epochs"]]
    assert objectives == sorted(objectives, reverse=True)
    value = answer("evaluate", folder / "model", folder / "wiki.conllu")
    assert value["sentences"] == 40
    assert 1 < value["perplexity"] < 2


def test_every_sentence_is_possible(folder: Path, wiki: Treebank) -> None:
    log_prob = Punctuator.load(folder / "model").log_prob(list(wiki))
    assert torch.isfinite(log_prob).all()
    assert (log_prob < 0).all()


def test_edits_are_probabilities(folder: Path, wiki: Treebank) -> None:
    model = Punctuator.load(folder / "model")
    table = model.edit_probabilities()
    assert table is not None
    assert torch.allclose(table.sum(-1), torch.ones_like(table[..., 0]))
    edits = model.edits(list(wiki))
    assert all(math.isfinite(edit.count) and edit.count > 0 for edit in edits)
    slip = model.story.channel.slip_logit.sigmoid()
    assert 0 < slip < 0.05


def test_underlying_punctuation_goes_round(folder: Path, wiki: Treebank) -> None:
    text = printed("underlying", folder / "model", folder / "wiki.conllu", "--format", "conllu")
    assert "PunctRight=" in text
    for again, original in zip(read_text(text), wiki, strict=True):
        assert (again.tree, again.surface, again.text()) == (original.tree, original.surface, original.text())


def test_drawn_sentences_can_be_read_again(folder: Path, wiki: Treebank) -> None:
    drawn = read_text(printed("sample", folder / "model", folder / "wiki.conllu", "--format", "conllu"))
    assert len(drawn) == len(wiki)
    for again, original in zip(drawn, wiki, strict=True):
        assert again.tree.relations == original.tree.relations
