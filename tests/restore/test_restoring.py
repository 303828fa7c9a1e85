"""Restoration from Python: parse, draw, decide."""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sentences import chain

from pyropunct.draws import Draws
from pyropunct.errors import MissingPartError, ModelFileError, SettingError
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.models.extensions import Trust
from pyropunct.models.learned import settle
from pyropunct.nets.labels import Labels, SlotVocabulary
from pyropunct.nets.parser import WeightedTree
from pyropunct.papers.li_2019.restorers import ended_in, final_mark
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import (
    FIRST_ROUND,
    around,
    decide,
)
from pyropunct.restore.decoders import DECODERS
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.pooling import BREAKS_OFF, Voice, Voices, pooled, voices_of
from pyropunct.restore.posterior import evidence_of_marks
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import has_marks, words_of
from pyropunct.restore.rewriting import mixture, without_unknown
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.treebank.reading import Treebank, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")


class KnownTrees:
    """A parser that knows the trees of some sentences, and gives each a chain of its words beside it."""

    def __init__(self, sentences: Treebank) -> None:
        self._trees = {sentence.tree.forms: sentence.tree for sentence in sentences}

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        found = [self._trees.get(tuple(words), chain(words)) for words in sentences]
        if trees == 1:
            return [[WeightedTree(tree, 1.0)] for tree in found]
        return [[WeightedTree(tree, 0.75), WeightedTree(chain(tree.forms), 0.25)] for tree in found]


@pytest.fixture(scope="module")
def dev(small: Path) -> Treebank:
    return read_treebank(small / "dev.conllu")


@pytest.fixture
def model(small: Path, dev: Treebank) -> Punctuator:
    return replace(Punctuator.load(small / "model"), parser=KnownTrees(dev))


def trees_of(treebank: Treebank) -> list[Tree]:
    return [sentence.tree for sentence in treebank]


@pytest.mark.parametrize("name", DECODERS)
def test_decisions_are_those_of_the_decoder(model: Punctuator, dev: Treebank, name: str) -> None:
    trees = trees_of(dev)
    drawn = map(around, [[WeightedTree(tree, 1.0)] for tree in trees], model.draws(trees, 50, seed=3))
    expected = [DECODERS[name](without_unknown(draws)).surface for draws in drawn]
    assert model.restore(trees, decoder=name, samples=50, seed=3) == expected


def test_words_are_parsed(model: Punctuator, dev: Treebank) -> None:
    trees = trees_of(dev)
    from_words = model.restore([tree.forms for tree in trees], samples=20, trees=1, seed=1)
    assert from_words == model.restore(trees, samples=20, trees=1, seed=1)
    mixed = [tree if number % 2 else tree.forms for number, tree in enumerate(trees)]
    assert from_words == model.restore(mixed, samples=20, trees=1, seed=1)


def test_several_trees_share_the_draws(model: Punctuator, dev: Treebank) -> None:
    """Draws of both trees of each sentence, with the weights of the trees."""
    trees = trees_of(dev)[:5]
    chains = [chain(tree.forms) for tree in trees]
    each = FIRST_ROUND // 2
    parts = zip(model.draws(trees, each, 2), model.draws(chains, each, 2), strict=True)
    expected = [DECODERS["mbr"](without_unknown(mixture(pair, [0.75, 0.25]))) for pair in parts]
    parses = weighted_trees(model, [tree.forms for tree in trees], 2)
    assert [len(some) for some in parses] == [2] * 5
    for samples in (FIRST_ROUND, FIRST_ROUND - 1):  # the draws of a round, shared
        assert list(decide(model, parses, samples=samples, seed=2)) == expected


def test_a_sentence_does_not_depend_on_the_others(model: Punctuator, dev: Treebank) -> None:
    trees = trees_of(dev)[:8]
    parses = [
        [WeightedTree(tree, 1.0)]
        if number % 2
        else [WeightedTree(tree, 0.5), WeightedTree(chain(tree.forms), 0.5)]
        for number, tree in enumerate(trees)
    ]
    together = list(decide(model, parses, samples=20, seed=5))
    alone = [decision for parse in parses for decision in decide(model, [parse], samples=20, seed=5)]
    assert together == alone


class Coins:
    """Draws of a mark behind the first word of each tree: a comma, with a probability that the word says."""

    parser, tagger, reader, share, reader_share = None, None, None, 0.0, 0.0

    def fitted_story(self, given: bool) -> "Coins":
        return self

    def __init__(self) -> None:
        self.drawn = Counter[str]()
        self.seeds = set[int | None]()

    def draws(
        self,
        trees: Sequence[Tree],
        samples: Sequence[int],
        seed: int | None,
        *,
        alike: bool = False,
        read: object = None,
    ) -> Iterator[Draws]:
        self.seeds.add(seed)
        random = np.random.default_rng(seed)
        for tree, number in zip(trees, samples, strict=True):
            self.drawn[tree.forms[0]] += number
            commas = random.random((number, 1)) < float(tree.forms[0])
            others = np.ones((number, len(tree) - 1))
            numbers = np.concatenate([np.zeros((number, 1)), 1 + commas, others], 1).astype(np.int32)
            yield Draws(((START,), (), (",",)), numbers, np.full(number, 1 / number))


def test_a_sentence_gets_the_draws_that_its_decision_needs() -> None:
    coins, words = Coins(), ["0", "0.02", "0.5", "1"]
    decisions = list(
        decide(coins, [[WeightedTree(chain([word]), 1.0)] for word in words], seed=5, decoder="mbr")
    )
    assert coins.drawn == {
        "0": FIRST_ROUND,
        "0.02": FIRST_ROUND,
        "1": FIRST_ROUND,
        "0.5": 3 * FIRST_ROUND,
    }
    assert len(coins.seeds) == 2  # each round is independent of the others
    assert [list(decisions[number].surface) for number in (0, 1, 3)] == [
        [(START,), ()],
        [(START,), ()],
        [(START,), (",",)],
    ]
    risk = decisions[2].risk  # over all draws, not over those of the last round alone
    assert risk == pytest.approx(0.5, abs=0.05)


def test_a_long_sentence_may_risk_more_edits() -> None:
    coins = Coins()
    list(decide(coins, [[WeightedTree(chain(["0.5", *["0"] * 99]), 1.0)]], seed=0))
    assert coins.drawn == {"0.5": FIRST_ROUND}


def test_all_draws_of_all_rounds_weigh_the_same() -> None:
    seen = []

    def watched(draws: Draws) -> Draws:
        seen.append(draws.weights)
        return draws

    list(decide(Coins(), [[WeightedTree(chain(["0.5"]), 1.0)]], seed=0, rewritings=[watched]))
    assert len(seen) == 3
    for weights in seen:
        assert weights == pytest.approx(np.full(len(weights), 1 / len(weights)))


def test_the_most_draws_are_kept_to() -> None:
    for samples in (1, FIRST_ROUND, FIRST_ROUND + 1, 777):
        coins = Coins()
        list(decide(coins, [[WeightedTree(chain(["0.5"]), 1.0)]], seed=0, samples=samples, decoder="mbr"))
        assert coins.drawn == {"0.5": samples}


def test_seeds(model: Punctuator, dev: Treebank) -> None:
    first, again, other = (model.restore(trees_of(dev), samples=3, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_better_than_a_period_at_the_end(model: Punctuator, dev: Treebank, small: Path) -> None:
    gold = [sentence.surface for sentence in dev]
    restored = average_edit_distance(model.restore(trees_of(dev), samples=200, seed=0), gold)
    final = final_mark(read_treebank(small / "train.conllu"))
    trivial = ended_in(final, [tree.forms for tree in trees_of(dev)])
    assert restored < 0.6 * average_edit_distance(trivial, gold)


def test_unknown_marks_are_left_out(model: Punctuator, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, weights = np.zeros((1, 3), np.int32), np.ones(1)
    drawn = Draws(((UNKNOWN, ","),), numbers, weights)
    monkeypatch.setattr(Punctuator, "draws", lambda *_, **__: iter([drawn]))
    assert model.restore([chain(["a", "b"])]) == [((",",),) * 3]


def test_no_parser(small: Path, dev: Treebank) -> None:
    model = Punctuator.load(small / "model")
    assert len(model.restore(trees_of(dev)[:1], samples=2)) == 1
    with pytest.raises(MissingPartError, match="fit one with `pyropunct fit TRAIN --parser`"):
        model.restore([["a", "b"]])


def test_no_sentences(model: Punctuator) -> None:
    assert model.restore([]) == []


def test_an_unknown_decoder(model: Punctuator) -> None:
    with pytest.raises(KeyError, match="best"):
        model.restore([["a"]], decoder="best")


# Sentences that may have punctuation already


def raw(model: Punctuator, text: str) -> tuple[tuple[str, ...], ...]:
    return RawReader(model.vocabulary, Conventions()).read(text).surface


def restored(model: Punctuator, text: str, **settings: object) -> list[tuple[str, ...]]:
    source = RawReader(model.vocabulary, Conventions()).read(text)
    (found,) = Restorer(model, RestoreSettings(samples=20, **settings)).restore([source])  # type: ignore[arg-type]
    return [tuple(token for token in slot if token != START) for slot in found.surface]


def test_given_marks_are_taken_off(model: Punctuator) -> None:
    assert restored(model, "a, b;", keep=False) == restored(model, "a b")


def test_given_marks_are_kept(model: Punctuator) -> None:
    text = "( a U.S. ; c ‽ d e"
    kept = restored(model, text)
    assert kept == restored(model, text, keep=True)
    assert (kept[0], kept[2], kept[3]) == (("(",), (ABBREVIATION_DOT, ";"), ("‽",))


def test_kept_marks_are_evidence(model: Punctuator, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided on elsewhere is what their posterior says, after as many draws."""
    monkeypatch.setattr("pyropunct.restore.deciding.REGRET", -1.0)
    source = RawReader(model.vocabulary, Conventions()).read("Ann , a doctor sings")
    evidence = evidence_of_marks(model.vocabulary, source.surface)
    settings = {"samples": 1000, "seed": 0, "trees": 2}
    (found,) = Restorer(model, RestoreSettings(keep=True, **settings)).restore([source])  # type: ignore[arg-type]
    (free,) = Restorer(model, RestoreSettings(keep=False, **settings)).restore([source])  # type: ignore[arg-type]
    assert found.surface == model.posterior(source.words, evidence, **settings).best("f1")  # type: ignore[arg-type]
    assert found.surface[1] == (",",)
    assert (found.effective_draws is None, free.effective_draws is None) == (False, True)


def test_marks_that_nothing_explains_are_kept_all_the_same(
    model: Punctuator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other slots are then as if nothing were known, unless keeping was asked for."""
    free = restored(model, "a b c", keep=False)
    monkeypatch.setattr(
        "pyropunct.restore.marks_there.evidence_of_marks", lambda *_, **__: [Evidence(1, (), (), ())] * 4
    )
    assert restored(model, "a ; b c") == [free[0], (";",), *free[2:]]
    with pytest.raises(ImpossibleSurfaceError):
        restored(model, "a ; b c", keep=True)


def test_a_slot_of_many_marks_tells_nothing(model: Punctuator) -> None:
    marks = "; " * 5000
    found = restored(model, f"a {marks} b c")
    assert found[1] == (";",) * 5000
    assert [found[0], *found[2:]] == [*restored(model, "a b c")[:1], *restored(model, "a b c")[2:]]


def test_kept_marks_change_what_is_put_elsewhere(model: Punctuator, dev: Treebank) -> None:
    """One comma of two makes the other one more probable, on average over sentences that have two."""
    gains = []
    for sentence in dev:
        commas = [slot for slot, marks in enumerate(sentence.surface) if marks == (",",)]
        if len(commas) == 2 and len(gains) < 3:
            first, second = commas
            chances = []
            for kept in ((), (",",)):
                known = [kept if slot == first else None for slot in range(len(sentence.surface))]
                posterior = model.posterior(sentence.tree, known, samples=50, seed=0)
                chances.append(posterior.marginals()[second].get((",",), 0.0))
            gains.append(chances[1] - chances[0])
    assert len(gains) == 3
    assert sum(gains) / len(gains) > 0.4


def test_abbreviation_dots_are_kept(model: Punctuator) -> None:
    found, bare = restored(model, "a U.S. b"), restored(model, "a U.S b")
    assert ABBREVIATION_DOT in found[2]
    assert [found[slot] for slot in (0, 1, 3)] == [bare[slot] for slot in (0, 1, 3)]
    assert restored(model, "a U.S. b", as_written=False) == bare


def test_marks_are_restricted_and_words_stay(model: Punctuator, dev: Treebank) -> None:
    """The dot of an abbreviation belongs to its word."""
    sources = list(dev)
    for marks in ((), (",",), (".", "“")):
        found = list(Restorer(model, RestoreSettings(samples=20, marks=marks)).restore(sources))
        printed = {token for one in found for slot in one.surface for token in slot}
        assert printed - {START, ABBREVIATION_DOT} <= set(marks)
        dots = [[ABBREVIATION_DOT in slot for slot in one.surface] for one in (*sources, *found)]
        assert dots[: len(sources)] == dots[len(sources) :]


def test_a_line_without_words_stays(model: Punctuator, dev: Treebank) -> None:
    reader = RawReader(model.vocabulary, Conventions())
    lines = [reader.read("?!"), reader.read("a"), reader.read("")]
    first, second, third = Restorer(model, RestoreSettings(samples=5)).restore(lines)
    assert (first.surface, first.tree, third.surface, third.tree) == (
        lines[0].surface,
        None,
        ((START,),),
        None,
    )
    assert second.tree == chain(["a"])
    assert [has_marks(line) for line in lines] == [False, False, False]
    assert has_marks(reader.read("a !"))
    assert has_marks(dev.sentences[0])


def test_trees_of_a_treebank_are_used_or_not(model: Punctuator, dev: Treebank) -> None:
    """When told to parse, it parses; the sentence itself keeps its tree."""
    (sentence,) = dev.sentences[:1]
    changed = replace(sentence, tree=chain(words_of(sentence)))
    assert isinstance(changed, Sentence)
    for parse, tree in ((False, changed.tree), (True, sentence.tree)):
        (found,) = Restorer(model, RestoreSettings(samples=5, parse=parse)).restore([changed])
        assert found.tree == tree
        assert found.source is changed


def test_only_a_parser_of_the_package_is_saved(model: Punctuator, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be saved with a parser of the kind KnownTrees"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


COMMAS = SlotVocabulary(Labels((ABBREVIATION_DOT, UNKNOWN, ","), ((), (",",))), ())


class HalfCommas:
    """A tagger for which each slot has a comma with probability 0.4."""

    vocabulary = COMMAS

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        self.asked = [tuple(words) for words in sentences]
        return [np.tile([0.5, 0.4, 0.1], (len(words) + 1, 1)) for words in sentences]


def reading(model: Punctuator, tagger: HalfCommas) -> Punctuator:
    """A model whose story for parsed trees reads a tagger."""
    story = deepcopy(model.story)
    story.reading = Trust(story.inventory)
    table = torch.full((2, story.inventory.num_tokens), 0.5)
    settle(story.reading, {"own": torch.tensor([0.9]), "trust": table, "offset": 0 * table})
    parsed = FittedStory(model.vocabulary, model.recipe, story, {})
    return replace(model, parsed=parsed, tagger=tagger, share=0.4)  # type: ignore[arg-type]


def test_what_is_read_counts_where_trees_were_found(model: Punctuator, dev: Treebank) -> None:
    """The story reads it, and it is pooled with the story; sentences do not depend on others."""
    trees, tagger = trees_of(dev)[:6], HalfCommas()
    both = reading(model, tagger)
    parses = [[WeightedTree(tree, 1.0, given=bool(number % 2))] for number, tree in enumerate(trees)]
    found = list(decide(both, parses, samples=FIRST_ROUND, seed=2))
    assert tagger.asked == [tree.forms for tree in trees[::2]]
    given = list(model.draws(trees, FIRST_ROUND, 2))
    for number, tree in enumerate(trees):
        draws = given[number]
        if number % 2 == 0:
            read = tagger.read([tree.forms])[0]
            voices = Voices((Voice(COMMAS, read, np.ones(len(read))),), 0.4)
            odds = [voices.log_odds(model.vocabulary.tokens)]
            [draws] = both.for_parsed.draws([tree], FIRST_ROUND, 2, read=odds)
            draws = pooled(draws, *voices)
        assert found[number] == DECODERS["mbr"](without_unknown(draws))
    alone = [one for parse in parses for one in decide(both, [parse], samples=FIRST_ROUND, seed=2)]
    assert found == alone


@pytest.mark.parametrize(
    ("running", "trusted", "weights", "pool"),
    [(True, 0.0, [0, 0.5, 0.5], 0.4), (True, 0.5, [0, 1, 1], 0.8), (False, 0.6, [0, 0.6, 0], 0.4)],
)
def test_the_reader_is_another_voice(
    model: Punctuator, dev: Treebank, running: bool, trusted: float, weights: list[float], pool: float
) -> None:
    """It says nothing of what stands in front of a sentence, or behind a line."""
    tree = trees_of(dev)[0]
    of_reader = np.tile([0.1, 0.8, 0.1], (len(tree), 1))
    reader = SimpleNamespace(
        vocabulary=SimpleNamespace(slots=COMMAS),
        read_all=lambda texts: [SimpleNamespace(marks=None, ends=[1.0]) for _ in texts],
        mark_probabilities=lambda marks, ends: of_reader,
    )
    both = replace(reading(model, HalfCommas()), reader=reader, reader_share=trusted)  # type: ignore[arg-type]
    parses, readings = [[WeightedTree(tree, 1.0)]], [of_reader] if running else None
    [voices] = voices_of(both, parses, readings)
    assert voices is not None
    assert [voice.probabilities[0].tolist() for voice in voices.each] == [[0.5, 0.4, 0.1], [1, 0, 0]]
    first, inner, last = weights
    expected = np.array([first, *[inner] * (len(tree) - 1), last])
    for voice, counted in zip(voices.each, (1 - expected, expected), strict=True):
        np.testing.assert_allclose(voice.weights, counted)
    assert voices.share == pool
    [found] = decide(both, parses, samples=FIRST_ROUND, seed=2, readings=readings)
    [draws] = both.for_parsed.draws([tree], FIRST_ROUND, 2, read=[voices.log_odds(model.vocabulary.tokens)])
    assert found == DECODERS["mbr"](without_unknown(pooled(draws, *voices)))


@pytest.mark.parametrize(("trusted", "end"), [(1.0, 0.9), (0.5, BREAKS_OFF), (0.5, 0.01)])
def test_networks_tell_questions_behind_a_line(
    model: Punctuator, dev: Treebank, trusted: float, end: float
) -> None:
    """The tagger says whether the line has a final mark, the reader which one; trees say nothing of that.

    A line that breaks off has none.
    """
    known = SlotVocabulary(
        Labels((ABBREVIATION_DOT, UNKNOWN, ".", "?", ","), ((), (".",), ("?",), (",",))), ()
    )
    tree = trees_of(dev)[0]

    class Tagger(HalfCommas):
        vocabulary = known

        def read(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
            return [np.tile([0.1, 0.6, 0.1, 0.2, 0.0], (len(words) + 1, 1)) for words in sentences]

    reader = SimpleNamespace(
        vocabulary=SimpleNamespace(slots=known),
        read_all=lambda texts: [SimpleNamespace(marks=None, ends=[end]) for _ in texts],
        mark_probabilities=lambda marks, ends: np.tile([0.5, 0.1, 0.3, 0.1, 0.0], (len(tree), 1)),
    )
    both = replace(reading(model, Tagger()), reader=reader, reader_share=trusted)  # type: ignore[arg-type]
    [voices] = voices_of(both, [[WeightedTree(tree, 1.0)]])
    assert voices is not None
    tagger, of_reader = voices.each
    period, question = 0.6 ** (1 - trusted) * 0.1**trusted, 0.1 ** (1 - trusted) * 0.3**trusted
    told = 0.7 * np.array([period, question]) / (period + question)
    np.testing.assert_allclose(tagger.probabilities[-1], [0.1, *told, 0.2, 0])
    [draws] = both.for_parsed.draws([tree], FIRST_ROUND, 2, read=[voices.log_odds(model.vocabulary.tokens)])
    pool = pooled(draws, *voices)
    assert pool.shares is not None
    if end < BREAKS_OFF:
        assert pool.shares[-1, pool.strings.index(())] == 1
        return
    of_final = [pool.shares[-1, pool.strings.index((mark,))] for mark in ".?"]
    assert of_final[1] / of_final[0] == pytest.approx(question / period)
    np.testing.assert_allclose(tagger.probabilities[-2], [0.1, 0.6, 0.1, 0.2, 0])
    assert of_reader.weights[-1] == 0


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"case": "x"}, "case is 'x': it must be one of auto, restore, keep"),
        ({"case": None}, "case is None: it must be one of auto, restore, keep"),
        ({"decoder": "best"}, "decoder is 'best': it must be one of mbr, f1"),
        ({"samples": 0}, "samples is 0: it must be 1 or more"),
        ({"seed": -1}, "seed is -1: it must be 0 to 4294967295"),
        ({"threshold": 2}, "threshold is 2: it must be a number from 0 to 1"),
        ({"threshold": "abc"}, "threshold: abc is no number from 0 to 1"),
        (
            {"threshold": {"": 0.3, ",": float("nan")}},
            "it must be a number from 0 to 1, or such numbers by marks",
        ),
    ],
)
def test_values_that_nobody_knows(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        RestoreSettings(**settings)


def test_a_decoder_may_be_left_open() -> None:
    assert RestoreSettings(decoder=None, case="keep", samples=1).decoder is None
