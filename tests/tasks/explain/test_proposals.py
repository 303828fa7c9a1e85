"""Proposals of better heads for the marks of a treebank."""

import csv
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from command_line import complaint, printed
from sentences import annotated

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.attachment_conventions import Rule
from pyropunct.tasks.explain.guidelines import guided_heads
from pyropunct.tasks.explain.proposals import Matter, Proposal, doubtful, proposals
from pyropunct.tasks.explain.proposals import probability as likely
from pyropunct.tasks.explain.reattaching import by_guidelines, reattached
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

EVERY = ("--least", 0)


@pytest.fixture(scope="module")
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def few(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some sentences of dev.conllu."""
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:15]
    path = tmp_path_factory.mktemp("proposals") / "dev.conllu"
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def dev(few: Path) -> list[Sentence]:
    return list(read_treebank(few))


def test_a_planted_head_is_the_only_proposal(model: Punctuator, dev: list[Sentence]) -> None:
    best = [by_guidelines(one, tree) for one, (tree,) in zip(dev, model.underlying(dev), strict=True)]
    assert not any(proposals(model, best, 0.0))
    mark = best[2].layout.marks[-1][-1]
    right = best[2].layout.block.tokens[mark - 1].head
    best[2] = reattached(best[2], {mark: next(one for one in best[2].layout.words if one != right)})
    done: list[int] = []
    [found] = chain.from_iterable(proposals(model, best, 0.0, done.append))
    assert (found.sentence, found.mark, found.proposed) == (best[2], mark, right)
    assert sum(done) == len(best)


@pytest.mark.parametrize(
    ("change", "matter", "rule", "probability"),
    [
        ({4: 3}, Matter.ELSEWHERE, Rule.CONJUNCT, 0.9),
        ({4: 2}, Matter.CROSSING, Rule.CONJUNCT, 0.97),
        ({5: 3}, Matter.SPLIT, Rule.ENCLOSED, 0.91),
        ({8: 3}, Matter.BESIDE, Rule.FINAL, 0.94),
        ({8: 1}, Matter.CROSSING, Rule.FINAL, 0.97),
    ],
)
def test_what_is_the_matter(change: dict[int, int], matter: Matter, rule: Rule, probability: float) -> None:
    sentence = annotated(
        "They/2/nsubj bought/0/root lamps/2/obj ,/6/punct “/6/punct chairs/3/conj ”/6/punct ./2/punct"
    )
    right = guided_heads(sentence, [((), ())] * len(sentence.tree))
    assert list(doubtful(sentence, right)) == []
    changed = reattached(sentence, change)
    found = list(doubtful(changed, right))
    assert {mark for mark, _, _ in found} == set(change)
    assert {(guided.rule, what) for _, guided, what in found} == {(rule, matter)}
    mark = min(change)
    assert likely(changed, mark, rule, matter) == probability


def test_the_report(small: Path, few: Path, model: Punctuator, dev: list[Sentence]) -> None:
    found = sorted(chain.from_iterable(proposals(model, dev, 0.0)), key=lambda one: -one.probability)
    title = {id(one): f"{one.sentence.layout.form(one.mark)} : {one.rule}" for one in found}
    titles = [one for one, _ in Counter(title.values()).most_common()]
    groups = {name: [one for one in found if title[id(one)] == name] for name in titles}
    arguments = ("underlying", small / "model", few, *EVERY, "--format")
    printed_groups = [one for one in printed(*arguments, "report").split("\n\n") if "better on" in one]
    header, *all_rows = csv.reader(printed(*arguments, "tsv").splitlines(), delimiter="\t")
    rows = [row for row in all_rows if row[header.index("proposed")]]
    text, left = few.read_text(encoding="utf-8").split("\n"), iter(rows)
    assert len(printed_groups) == len(groups) > 1
    assert len(rows) == len(found)
    for (name, some), group in zip(groups.items(), printed_groups, strict=True):
        first, *lines = group.strip().split("\n")
        assert first == f"{len(some)} {'mark' if len(some) == 1 else 'marks'}: {name}"
        for line, one in zip(lines, some, strict=True):
            cells = dict(zip(header, next(left), strict=True))
            columns = text[int(cells["line"]) - 1].split("\t")
            assert (cells["token"], cells["mark"], cells["head"]) == (columns[0], columns[1], columns[6])
            assert (cells["sentence"], cells["pattern"]) == (one.sentence.identifier, one.pattern)
            assert float(cells["probability"]) == pytest.approx(one.probability)
            assert cells["before"] + cells["text"] + cells["after"] in one.sentence.text()
            assert line == (
                f"{few}:{cells['line']}: {cells['sentence']}: token {cells['token']}: "
                f"{cells['before']}⟦{cells['mark']}⟧{cells['after']}: hangs on {cells['head']} "
                f"{cells['head_form']}, {cells['head_relation']}, better on {cells['proposed']} "
                f"{cells['proposed_form']}, {cells['proposed_relation']} ({one.probability:.2f})"
            )
    identifier = found[0].sentence.identifier
    one_sentence = printed(*arguments, "report", "--sentence", identifier)
    lines = [line for group in printed_groups for line in group.split("\n") if f": {identifier}: " in line]
    assert sorted(line for line in one_sentence.split("\n") if "better on" in line and "⟦" in line) == sorted(
        line for line in lines if "⟦" in line
    )


def test_few_are_probable(model: Punctuator, dev: list[Sentence]) -> None:
    every, some = (list(chain.from_iterable(proposals(model, dev, *least))) for least in ([0.0], []))
    assert [one for one in every if one.probability >= 0.9] == some


@pytest.mark.parametrize(
    ("words", "shown"),
    [([9] * 3, [9] * 3), ([2] * 6, [2] * 5), ([8] * 5, [8] * 4), ([9, 30], [9]), ([50, 9], [39])],
)
def test_context_ends_between_words(words: list[int], shown: list[int]) -> None:
    """Unless the word beside the mark alone is too long, as where a script has no spaces."""
    forms = [chr(ord("a") + place) * length for place, length in enumerate(words)]
    tokens = [*forms[::-1], ",", *forms]
    comma = len(forms) + 1
    rows = [
        f"{number}\t{form}\t_\t{'PUNCT' if form == ',' else 'X'}\t_\t_\t{number > 1:d}\t_\t_\t_"
        for number, form in enumerate(tokens, 1)
    ]
    before, mark, after = Proposal(read_text("\n".join(rows))[0], comma, 2, Rule.FINAL, 1.0).context
    near = [form[:length] for form, length in zip(forms, shown, strict=False)]
    assert (before.split(), mark, after.split()) == (near[::-1], ",", near)


def test_accepted_proposals(
    small: Path, few: Path, model: Punctuator, dev: list[Sentence], tmp_path: Path
) -> None:
    arguments = ("--format", "conllu", "--proposals")
    text = printed("underlying", small / "model", few, *EVERY, *arguments, "write")
    found = list(chain.from_iterable(proposals(model, dev, 0.0)))
    place = [one.sentence.layout.block.line_of(one.mark) for one in found]
    lines = text.split("\n")
    assert [number for number, line in enumerate(lines, 1) if "PunctHead" in line] == place
    assert f"|PunctProb={found[0].probability:.2f}" in lines[place[0] - 1]
    lines[place[0] - 1] += "|PunctAccept=Yes"
    file = tmp_path / "proposals.conllu"
    file.write_text("\n".join(lines), encoding="utf-8")
    applied = printed("underlying", small / "model", file, *arguments, "apply").split("\n")
    before = few.read_text(encoding="utf-8").split("\n")
    [changed] = [number for number, (a, b) in enumerate(zip(before, applied, strict=True), 1) if a != b]
    assert changed == place[0]
    assert applied[changed - 1].split("\t")[6] == str(found[0].proposed)
    problem = complaint(2, "underlying", small / "model", file, *arguments, "write")
    assert problem.endswith("an annotator has set PunctAccept (apply these proposals first)")
    for wrong, right, told in (
        ("PunctHead=", "PunctHead=9", "is not the id of a word"),
        ("PunctHead=", "Head=", "PunctAccept=Yes has no PunctHead beside it"),
        ("PunctAccept=Yes", "PunctAccept=yes", "PunctAccept=yes is neither Yes nor No"),
    ):
        file.write_text("\n".join(lines).replace(wrong, right), encoding="utf-8")
        problem = complaint(2, "underlying", small / "model", file, *arguments, "apply")
        assert f"{file}:{changed}" in problem
        assert told in problem


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--samples", 3), "--format report is about the best underlying trees: leave out --samples"),
        (
            ("--proposals", "write"),
            "--proposals goes with --format conllu, without --attach-punctuation and --samples",
        ),
        (("--attach-punctuation",), "--attach-punctuation writes trees: use it with --format conllu"),
    ],
)
def test_refusals(small: Path, options: tuple[object, ...], problem: str) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--format", "report")
    assert complaint(2, *arguments, *options) == problem
