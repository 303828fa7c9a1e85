"""Heads of marks that are less probable than others, and where marks come from, against enumeration."""

import csv
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from brute_force import String, first_edits, underlying_strings
from command_line import complaint, printed
from problems import Case, inventory, problem_of, random_case, window

from pyropunct.inference.inside import posterior_draws
from pyropunct.inference.machines.paths import Ways
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.reattaching import (
    Doubt,
    by_pattern,
    doubts,
    drawn_origins,
    head_posteriors,
    reattached,
)
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

DRAWS = 500

Labelled = tuple[int, int]
"""A token, and the word whose constituent sprouted it; 0 for what stands before the sentence."""


@pytest.fixture(scope="module")
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def few(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some sentences of dev.conllu."""
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:15]
    path = tmp_path_factory.mktemp("doubts") / "dev.conllu"
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def dev(few: Path) -> list[Sentence]:
    return list(read_treebank(few))


def slides(
    underlying: Sequence[Labelled], phi: Sequence[Sequence[Sequence[float]]], direction: str
) -> list[tuple[tuple[Labelled, ...], float]]:
    """Each way for a window to slide over tokens that carry labels."""
    if len(underlying) < 2:
        return [(tuple(underlying), 1.0)]
    rows = {a: {b: phi[a[0]][b[0]] for b in underlying} for a in underlying}
    found = []
    for emitted, left, chance in first_edits(tuple(underlying), rows, direction):  # type: ignore[arg-type]
        for surface, further in slides(left, phi, direction):  # type: ignore[arg-type]
            own: Any = emitted
            found.append(((*own, *surface) if direction == "left" else (*surface, *own), chance * further))
    return found


def by_enumeration(case: Case, channel: Any, slot: int, place: int) -> list[float]:
    """The posterior of each word as the origin of a token, from the definitions."""
    phi = channel.edit_logits.softmax(-1).tolist()
    shares: defaultdict[int, float] = defaultdict(float)
    total = 0.0
    for choices in itertools.product(*(range(len(some)) for some in case.pairs)):
        pairs = [
            tuple(tuple((token, word) for token in side) for side in some[choice])
            for word, (some, choice) in enumerate(zip(case.pairs, choices, strict=True), 1)
        ]
        strings: Any = underlying_strings(case.heads, pairs, ((0, 0),))  # type: ignore[arg-type]
        prior = math.prod(chances[choice] for chances, choice in zip(case.chances, choices, strict=True))
        ways = [
            [(shown, p) for shown, p in slides(u, phi, channel.direction) if _tokens(shown) == x]
            for u, x in zip(strings, case.surface, strict=True)
        ]
        others = prior * math.prod(
            sum(p for _, p in some) for number, some in enumerate(ways) if number != slot
        )
        for shown, chance in ways[slot]:
            shares[shown[place][1]] += others * chance
            total += others * chance
    return [shares[word] / total for word in range(1, len(case.heads) + 1)]


def _tokens(labelled: Sequence[Labelled]) -> String:
    return tuple(token for token, _ in labelled)


def origins_of(
    cases: Sequence[Case], channel: Channel
) -> dict[tuple[int, int], list[tuple[int | None, ...]]]:
    """Draws of where the tokens of each slot of each tree come from."""
    problem = problem_of(cases, channel, inventory())
    choices = posterior_draws(problem, DRAWS, torch.Generator().manual_seed(0))
    ways, generator = Ways(channel.transducer, channel.probabilities()), np.random.default_rng(0)
    return {
        (tree, slot): list(drawn_origins(problem, choices, ways, (tree, slot), string, generator))
        for tree, case in enumerate(cases)
        for slot, string in enumerate(case.surface)
    }


@pytest.mark.parametrize("direction", ["left", "right"])
def test_draws_are_those_of_all_explanations(direction: str) -> None:
    """In slots with several marks, and where the same mark may come from several constituents."""
    channel = window(direction, seed=3)
    trees = [[0], [2, 0], [0, 1], [2, 0, 2], [3, 1, 0]]
    cases = [random_case(heads, channel, inventory(), seed) for seed, heads in enumerate(trees * 5)]
    unsure, longest = 0, 0
    for (tree, slot), drawn in origins_of(cases, channel).items():
        assert len(drawn) == DRAWS
        case = cases[tree]
        longest = max(longest, len(case.surface[slot]))
        for place, token in enumerate(case.surface[slot]):
            expected = by_enumeration(case, channel, slot, place) if token else []
            counts = Counter(words[place] for words in drawn)
            for word, share in enumerate(expected, 1):
                error = math.sqrt(max(share * (1 - share), 0.0) / DRAWS)
                assert abs(counts[word] / DRAWS - share) <= 4 * error + 1e-9
                unsure += 0.02 < share < 0.98
    assert longest >= 3
    assert unsure > 12


@pytest.mark.parametrize("kind", [Inserting, TwoPasses])
def test_what_is_inserted_comes_from_nowhere(kind: type[Channel]) -> None:
    """Without insertion there is no nowhere."""
    torch.manual_seed(1)
    channel = kind(3)
    for module in channel.modules():
        if "edit_logits" in getattr(module, "_pyro_samples", ()):
            module.edit_logits = torch.randn(3, 3, 4)
    if isinstance(channel, Inserting):
        channel.insertion_logits = torch.tensor([-9.0, -1.0, -1.0])
    cases = [random_case([2, 0, 2], window("left", 5), inventory(), seed) for seed in range(6)]
    drawn = [words for some in origins_of(cases, channel).values() for words in some]
    assert any(None in words for words in drawn) == (kind is Inserting)


def test_equal_seeds_give_equal_posteriors(model: Punctuator, dev: list[Sentence]) -> None:
    def posteriors(seed: int, draws: int = 50) -> list[dict[int, dict[int, float]]]:
        return [heads for _, heads in head_posteriors(model, dev[:6], draws=draws, seed=seed)]

    assert posteriors(0) == posteriors(0) != posteriors(1)
    for sentence, heads in zip(dev[:6], posteriors(0), strict=True):
        assert set(heads) == {mark for slot in sentence.layout.marks for mark in slot}
        assert all(0.8 < sum(posterior.values()) < 1 + 1e-6 for posterior in heads.values())


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


def test_the_report(small: Path, few: Path, model: Punctuator, dev: list[Sentence]) -> None:
    file = few
    found = doubts(model, dev)
    assert [one.certainty for one in found] == sorted((one.certainty for one in found), reverse=True)
    groups = by_pattern(found)
    printed_groups = printed("underlying", small / "model", file, "--format", "report").split("\n\n")
    tsv = printed("underlying", small / "model", file, "--format", "tsv")
    header, *rows = csv.reader(tsv.splitlines(), delimiter="\t")
    text, left = file.read_text(encoding="utf-8").split("\n"), iter(rows)
    assert len(printed_groups) == len(groups) > 1
    assert len(rows) == len(found)
    for (pattern, some), group in zip(groups.items(), printed_groups, strict=True):
        title, *lines = group.strip().split("\n")
        assert title == f"{len(some)} {'mark' if len(some) == 1 else 'marks'}: {pattern}"
        for line, doubt in zip(lines, some, strict=True):
            cells = dict(zip(header, next(left), strict=True))
            columns = text[int(cells["line"]) - 1].split("\t")
            assert (cells["token"], cells["mark"], cells["head"]) == (columns[0], columns[1], columns[6])
            assert (cells["sentence"], cells["pattern"]) == (doubt.sentence.identifier, pattern)
            assert float(cells["proposed_probability"]) == pytest.approx(doubt.proposed_probability)
            near = cells["before"] + cells["text"] + cells["after"]
            assert near in doubt.sentence.text()
            assert line == (
                f"{file}:{cells['line']}: {cells['sentence']}: token {cells['token']}: "
                f"{cells['before']}⟦{cells['mark']}⟧{cells['after']}: hangs on {cells['head']} "
                f"{cells['head_form']}, {cells['head_relation']} ({doubt.probability:.3f}), better on "
                f"{cells['proposed']} {cells['proposed_form']}, {cells['proposed_relation']} "
                f"({doubt.proposed_probability:.3f})"
            )
    commas = printed("underlying", small / "model", file, "--format", "report", "--mark", ",")
    assert commas.strip().split("\n\n") == [one.strip() for one in printed_groups if ": , hangs" in one]
    identifier = found[0].sentence.identifier
    one = printed("underlying", small / "model", file, "--format", "report", "--sentence", identifier)
    lines = [line for group in printed_groups for line in group.split("\n") if f": {identifier}: " in line]
    assert sorted(line for line in one.split("\n") if line.startswith(str(file))) == sorted(lines)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([9] * 3, [9] * 3),
        ([2] * 6, [2] * 5),
        ([8] * 5, [8] * 4),
        ([9, 30], [9]),
        ([50, 9], [39]),
    ],
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
    before, mark, after = Doubt(read_text("\n".join(rows))[0], comma, 1, 0.0, 2, 1.0).context
    near = [form[:length] for form, length in zip(forms, shown, strict=False)]
    assert (before.split(), mark, after.split()) == (near[::-1], ",", near)


def test_large_groups_come_first_and_quotation_marks_last(dev: list[Sentence]) -> None:
    def doubt(form: str, certainty: float) -> Doubt:
        for sentence in dev:
            block = sentence.layout.block
            for mark in (mark for slot in sentence.layout.marks for mark in slot):
                if block.tokens[mark - 1].columns[1] == form:
                    return Doubt(sentence, mark, sentence.layout.words[0], 0.0, mark - 1, certainty)
        raise AssertionError(form)

    some = [doubt("”", 0.9), doubt("”", 0.8), doubt("”", 0.7), doubt(".", 0.6), doubt(",", 0.5)]
    some.append(doubt(",", 0.4))
    groups = by_pattern(some)
    assert [[one.proposed_probability for one in group] for group in groups.values()] == [
        [0.5, 0.4],
        [0.6],
        [0.9, 0.8, 0.7],
    ]
    assert [pattern[0] for pattern in groups] == [",", ".", "”"]


def test_function_words_get_no_marks(model: Punctuator) -> None:
    """The content word gets their probability."""
    rows = [("Go", 0, "root"), ("on", 4, "case"), (",", 4, "punct"), ("Sam", 1, "obl"), (".", 1, "punct")]
    lines = [
        f"{number}\t{form}\t_\t{'PUNCT' if name == 'punct' else 'X'}\t_\t_\t{head}\t{name}\t_\t_"
        for number, (form, head, name) in enumerate(rows, 1)
    ]
    [(_, heads)] = head_posteriors(model, list(read_text("\n".join(lines))))
    assert set(heads[3]) <= {1, 4}
    assert heads[3]


def test_accepted_proposals(
    small: Path, few: Path, model: Punctuator, dev: list[Sentence], tmp_path: Path
) -> None:
    arguments = ("--format", "conllu", "--proposals")
    text = printed("underlying", small / "model", few, *arguments, "write")
    found = sorted(doubts(model, dev), key=lambda doubt: doubt.line)
    lines = text.split("\n")
    assert [number for number, line in enumerate(lines, 1) if "PunctHead" in line] == [
        doubt.line for doubt in found
    ]
    assert f"|PunctProb={found[0].proposed_probability:.2f}" in lines[found[0].line - 1]
    lines[found[0].line - 1] += "|PunctAccept=Yes"
    file = tmp_path / "proposals.conllu"
    file.write_text("\n".join(lines), encoding="utf-8")
    applied = printed("underlying", small / "model", file, *arguments, "apply").split("\n")
    before = few.read_text(encoding="utf-8").split("\n")
    [changed] = [number for number, (a, b) in enumerate(zip(before, applied, strict=True), 1) if a != b]
    assert changed == found[0].line
    assert applied[changed - 1].split("\t")[6] == str(found[0].proposed)
    file.write_text("\n".join(lines).replace("PunctHead=", "PunctHead=9"), encoding="utf-8")
    problem = complaint(2, "underlying", small / "model", file, *arguments, "apply")
    assert f"{file}:{changed}" in problem
    assert "is not the id of a word" in problem


def test_marks_are_those_of_a_report(small: Path) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--mark", ",")
    assert complaint(2, *arguments).startswith("--mark is that of a report")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--samples", 3), "--format report makes draws of its own: leave out --samples"),
        (("--json",), "--json and --format report are two formats: take one of them"),
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
