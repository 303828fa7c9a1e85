"""The convention by which a treebank hangs its marks."""

from pathlib import Path

import pytest
from command_line import complaint, printed
from sentences import annotated, conllu_of

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.attachment_conventions import Rule, Situation, Way, convention_of, habits
from pyropunct.tasks.explain.guidelines import guided_heads, seen
from pyropunct.tasks.explain.proposals import proposals
from pyropunct.tasks.explain.reattaching import by_guidelines

USUAL, OTHER, ROOT = (
    f"If/3/mark you/3/nsubj go/6/advcl ,/{comma}/punct I/6/nsubj stay/0/root because/9/mark it/9/nsubj "
    f"rains/6/advcl ,/{second}/punct says/6/parataxis (/{bracket}/punct she/11/nsubj )/{bracket}/punct "
    "./6/punct"
    for comma, second, bracket in ((3, 11, 13), (6, 6, 13), (6, 6, 6))
)
BARE = [((), ())] * 9


@pytest.fixture(scope="module")
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


def test_a_convention_is_learned(model: Punctuator) -> None:
    other = annotated(OTHER)
    marks = seen(model, [other] * 9)
    convention = convention_of(marks)
    assert {situation.mark for situation in convention} == {"comma"}
    hung = by_guidelines(annotated(USUAL), BARE, convention)
    assert [hung.layout.head(mark) for mark in hung.layout.all_marks] == [6, 6, 13, 13, 6]
    assert {one.token for one in habits(marks, convention)} == {4, 10}
    assert not any(proposals(model, [other], 0.0, convention=convention))


def test_few_or_useless_heads_tell_nothing(model: Punctuator) -> None:
    assert convention_of([]) == convention_of(seen(model, [annotated(OTHER)])) == {}
    assert convention_of(seen(model, [annotated(ROOT)] * 9)) == {}
    assert convention_of(seen(model, [annotated(USUAL)] * 9)) == {}


def test_the_situation_counts_before_its_kind() -> None:
    sentence = annotated(USUAL)
    kind = Situation("comma", Rule.DEPENDENT)
    convention = {kind: Way.ABOVE, kind._replace(beside=">advcl"): Way.WORD_BEFORE}
    assert guided_heads(sentence, BARE, convention)[4].head == 6
    convention[kind._replace(beside="<>advcl")] = Way.WORD_BEHIND
    assert guided_heads(sentence, BARE, convention)[4].head == 5


def test_commands(small: Path, tmp_path: Path) -> None:
    usual, other = tmp_path / "usual.conllu", tmp_path / "other.conllu"
    usual.write_text(conllu_of(USUAL), encoding="utf-8")
    other.write_text(conllu_of(OTHER) * 9, encoding="utf-8")
    command = ("underlying", small / "model", usual, "--format", "conllu", "--attach-punctuation")
    heads = [
        [line.split("\t")[6] for line in text.splitlines() if "\t,\t" in line]
        for text in (printed(*command), printed(*command, "--like", other))
    ]
    assert heads == [["3", "11"], ["6", "6"]]
    report = printed("underlying", small / "model", other, "--format", "report")
    assert f"18 marks: comma: of 18 with the rule “{Rule.DEPENDENT}”" in report
    assert "and 16 more" in report
    assert complaint(2, *command[:3], "--like", other).startswith("--like is a treebank of heads")
