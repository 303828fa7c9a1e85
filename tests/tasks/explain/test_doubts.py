"""Heads of marks that are less probable than others."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import complaint, printed

from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.machines.paths import Ways
from pyropunct.models.channel.slip import SLIP
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import underlying_strings
from pyropunct.tasks.explain.doubts import doubts, head_posteriors
from pyropunct.tasks.explain.reattaching import reattached
from pyropunct.treebank.reading import Sentence, read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def dev(small: Path) -> list[Sentence]:
    return list(read_treebank(small / "dev.conllu"))


def test_posteriors_are_those_of_draws(model: Punctuator, dev: list[Sentence]) -> None:
    """Of T', and of the channel's moves given T', for marks that are alone in their slot."""
    some, draws = dev[:3], 200
    channel, number_of = model.story.channel, model.vocabulary.token_number
    with torch.no_grad():
        ways = Ways(channel.transducer, channel.probabilities())
    generator = np.random.default_rng(0)
    compared = 0
    posteriors = head_posteriors(model, some)
    for (sentence, heads), trees in zip(posteriors, model.underlying(some, draws), strict=True):
        assert set(heads) == {mark for slot in sentence.layout.marks for mark in slot}
        assert all(0.9 < sum(posterior.values()) < 1 + 1e-6 for posterior in heads.values())
        strings = [underlying_strings(sentence.tree, tree) for tree in trees]
        for slot, marks in enumerate(sentence.layout.marks):
            if len(marks) != 1:
                continue
            counts: Counter[int] = Counter()
            surface = exactly([number_of[token] for token in sentence.surface[slot]])
            for each in strings:
                path = ways.draw([number_of[one.token] for one in each[slot]], surface, generator)
                assert path is not None
                if path.branch != SLIP and path.origins[-1] is not None:
                    counts[sentence.layout.words[each[slot][path.origins[-1]].word - 1]] += 1
            for head in sentence.layout.words:
                share = heads[marks[0]].get(head, 0.0)
                assert abs(counts[head] / draws - share) < 5 * (share * (1 - share) / draws) ** 0.5 + 0.01
                compared += 0.1 < share < 0.9
    assert compared


def test_planted_heads_come_first(model: Punctuator, dev: list[Sentence]) -> None:
    """A treebank with the most probable heads has no doubts; one wrong head is the only one."""
    best = []
    for sentence, heads in head_posteriors(model, dev[:6]):
        proposed = {mark: max(some, key=some.__getitem__) for mark, some in heads.items()}
        best.append(reattached(sentence, proposed))
    assert doubts(model, best) == []
    mark = best[2].layout.marks[-1][-1]
    right = best[2].layout.block.tokens[mark - 1].head
    wrong = next(word for word in best[2].layout.words if word != right)
    best[2] = reattached(best[2], {mark: wrong})
    done: list[int] = []
    [doubt] = doubts(model, best, done.append)
    assert (doubt.sentence, doubt.mark, doubt.head, doubt.proposed) == (best[2], mark, wrong, right)
    assert doubt.certainty == doubt.proposed_probability - doubt.probability > 0
    assert sum(done) == 6


def test_marks_in_one_slot_hang_without_crossing(model: Punctuator, dev: list[Sentence]) -> None:
    """However probable, no head of the inner mark is one whose arc crosses that of the outer one."""
    rows = [
        ("“", 2, "punct", "PUNCT"),
        ("Go", 0, "root", "VERB"),
        (".", 2, "punct", "PUNCT"),
        ("”", 2, "punct", "PUNCT"),
    ]
    lines = [
        f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{name}\t_\t_"
        for number, (form, head, name, tag) in enumerate(rows, 1)
    ]
    [(_, heads)] = head_posteriors(model, list(read_text("\n".join(lines))))
    assert all(set(posterior) <= {2} for posterior in heads.values())


def test_the_report(small: Path, model: Punctuator, dev: list[Sentence]) -> None:
    file = small / "dev.conllu"
    found = doubts(model, dev)
    assert [one.certainty for one in found] == sorted((one.certainty for one in found), reverse=True)
    lines = printed("underlying", small / "model", file, "--format", "report").splitlines()
    tsv = printed("underlying", small / "model", file, "--format", "tsv")
    header, *rows = csv.reader(tsv.splitlines(), delimiter="\t")
    text = file.read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(rows) == len(found) > 0
    for line, row, doubt in zip(lines, rows, found, strict=True):
        cells = dict(zip(header, row, strict=True))
        columns = text[int(cells["line"]) - 1].split("\t")
        assert (cells["token"], cells["mark"], cells["head"]) == (columns[0], columns[1], columns[6])
        assert cells["sentence"] == doubt.sentence.identifier
        assert float(cells["proposed_probability"]) == pytest.approx(doubt.proposed_probability)
        assert line == (
            f"{file}:{cells['line']}: {cells['sentence']}: {cells['token']} {cells['mark']} hangs on "
            f"{cells['head']} {cells['head_form']} ({doubt.probability:.3f}), better on {cells['proposed']} "
            f"{cells['proposed_form']} ({doubt.proposed_probability:.3f})"
        )
    commas = printed("underlying", small / "model", file, "--format", "report", "--mark", ",")
    assert commas.splitlines() == [line for line in lines if " , hangs on " in line]
    assert 0 < len(commas.splitlines()) < len(lines)
    identifier = found[0].sentence.identifier
    one = printed("underlying", small / "model", file, "--format", "report", "--sentence", identifier)
    assert one.splitlines() == [line for line in lines if f": {identifier}: " in line]


def test_marks_are_those_of_a_report(small: Path) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--mark", ",")
    assert complaint(2, *arguments).startswith("--mark is that of a report")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--samples", 3), "--format report has exact probabilities: leave out --samples"),
        (("--json",), "--json and --format report are two formats: take one of them"),
        (("--attach-punctuation",), "--attach-punctuation writes trees: use it with --format conllu"),
    ],
)
def test_refusals(small: Path, options: tuple[object, ...], problem: str) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--format", "report")
    assert complaint(2, *arguments, *options) == problem
