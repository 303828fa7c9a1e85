"""Learned edits beside Nunberg's rules, from Python."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from by_hand import chances
from made_up_rules import TOKENS, made_up
from true_rules import TRUE_EDITS

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import build_story
from pyropunct.inference.machines.products import EDITS
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.learned import other_values
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.nunberg import EQUAL_STRENGTH, NunbergRule, nunberg_rules
from pyropunct.tasks.explain.rule_pairs import (
    LearnedPair,
    LearnedRules,
    PairOutcome,
    Precision,
    Recall,
    precision,
    recall,
)
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, display
from pyropunct.train.fitting import fit
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def dev(small: Path) -> list[Sentence]:
    return list(read_treebank(small / "dev.conllu"))


def learned(model: Punctuator, a: str, b: str) -> dict[tuple[str, ...], float]:
    """The probability of each outcome of a pair."""
    (pair,) = (pair for pair in learned_rules(model).pairs if pair.before == (a, b))
    return {outcome.after: outcome.probability for outcome in pair.outcomes}


def test_marks_that_hardly_reach_the_page() -> None:
    """A mark is erased if it is absorbed more often than shown; of two equal marks one is."""
    absorbed = LearnedPair(
        (";", "."), (PairOutcome((";", "."), 0.1, count=1.0), PairOutcome((".",), 0.9, count=9.0))
    )
    twice = LearnedPair(
        (",", ","), (PairOutcome((",", ","), 0.0, count=0.0), PairOutcome((",",), 1.0, count=9.0))
    )
    for shown, erased in (({";": 8, ",": 9}, {";"}), ({";": 9, ",": 8}, {","})):
        assert LearnedRules((absorbed, twice), shown=shown).erased == erased


# Both directions


@pytest.mark.parametrize("direction", ["left", "right"])
def test_probabilities_are_those_of_the_page(direction: str) -> None:
    """A slot of two underlying tokens a b has the surface that the distribution of a b says."""
    tokens = TOKENS[:6]
    model = made_up(tokens=tokens, direction=direction, logits=2 * torch.randn(6, 6, 4))
    channel = model.story.channel.channel
    assert isinstance(channel, Channel)
    for a, b in product(range(6), range(1, 6)):
        for after, probability in learned(model, tokens[a], tokens[b]).items():
            surface = tuple(tokens.index(token) for token in after)
            assert probability == pytest.approx(float(chances(channel, [surface], (a, b))), abs=1e-6)


@pytest.mark.parametrize("direction", ["left", "right"])
def test_named_edits_in_both_directions(direction: str) -> None:
    edits = {
        (",", "."): {"left absorption": 1.0},
        ("!", ","): {"right absorption": 1.0},
        ("”", ","): {"transposition": 1.0},
        (",", ","): {"left absorption": 0.25, "right absorption": 0.75},
    }
    model = made_up(edits, direction=direction)
    assert learned(model, ",", ".") == {(",", "."): 0, (".",): 1, (",",): 0, (".", ","): 0}
    assert learned(model, ".", ",") == {(".", ","): 1, (",",): 0, (".",): 0, (",", "."): 0}
    assert learned(model, "!", ",")["!",] == 1
    assert learned(model, "”", ",")[",", "”"] == 1
    assert learned(model, ",", ",") == pytest.approx({(",", ","): 0, (",",): 1})


# Ranks


def pair(rule: str | None, *probabilities: float, count: float | None = None) -> LearnedPair:
    """The pair ``; ,`` with the probabilities of ``; ,``, ``,``, ``;``, ``, ;``, and a rule for it."""
    before, afters = (";", ","), ((";", ","), (",",), (";",), (",", ";"))
    outcomes = tuple(
        PairOutcome(after, probability, count=None if count is None else probability * count)
        for after, probability in zip(afters, probabilities, strict=True)
    )
    return LearnedPair(before, outcomes, True, rule and NunbergRule(before, tuple(rule.split()), "some"))  # type: ignore[arg-type]


TABLE = [
    pair(";", 0.1, 0.0, 0.9, 0.0, count=40.0),  # rank 1
    pair(", ;", 0.6, 0.0, 0.1, 0.3, count=30.0),  # rank 2
    pair(";", 0.1, 0.8, 0.06, 0.04, count=20.0),  # rank 3
    pair(",", 0.4, 0.1, 0.3, 0.2, count=2.0),  # rank 4
    pair(",", 0.4, 0.2, 0.2, 0.2),  # ranks 2, 3 and 4 shared
    pair(",", 0.25, 0.25, 0.25, 0.25),  # all ranks shared
    pair(None, 0.1, 0.9, 0.0, 0.0),  # he keeps them
    pair(None, 0.9, 0.1, 0.0, 0.0),
]


def test_ranks_by_hand() -> None:
    assert [pair.rank for pair in TABLE] == [1, 2, 3, 4, 3, 2.5, None, None]


def test_recall_by_hand() -> None:
    mean = (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 3 + 1 / 2.5) / 6
    assert recall(TABLE) == Recall(6, 1, 1, 4, pytest.approx(mean))
    assert recall([pair for pair in TABLE if pair.rule is None]) == Recall(0, 0, 0, 0, None)


def test_precision_by_hand() -> None:
    """Of the edits , ; and , with 0.9, 0.8 and 0.9 the first is his; keeping is no edit."""
    assert precision(TABLE) == Precision(3, 1)
    assert precision(TABLE, 0.85) == Precision(2, 1)
    assert precision(TABLE).share == pytest.approx(1 / 3)
    assert precision([], 0.5).share is None


def test_groups_of_rules(model: Punctuator, dev: list[Sentence]) -> None:
    found = learned_rules(model, dev, least=2)
    some = replace(found, pairs=tuple(TABLE), least=20)
    assert {name: one.rules for name, one in some.recall.items()} == {
        "all": 6,
        "determined": 6,
        "occurring": 4,
        "frequent": 3,
    }
    assert some.precision == {
        "all": Precision(3, 1),
        "occurring": Precision(2, 1),
        "frequent": Precision(2, 1),
    }
    assert replace(some, least=30).precision["occurring"] == Precision(2, 1)
    assert replace(some, least=30).precision["frequent"] == Precision(1, 1)
    alone = replace(some, sentences=None)
    assert set(alone.recall) == {"all", "determined"}
    assert set(alone.precision) == {"all"}


def test_equal_tokens_have_two_outcomes() -> None:
    model = made_up(
        {(",", ","): {"keep": 0.3, "left absorption": 0.4, "right absorption": 0.2, "transposition": 0.1}}
    )
    (found,) = (pair for pair in learned_rules(model).pairs if pair.before == (",", ","))
    assert [outcome.after for outcome in found.outcomes] == [(",", ","), (",",)]
    assert [outcome.probability for outcome in found.outcomes] == pytest.approx([0.4, 0.6])
    assert found.rank == 1


# Marks that a model has or lacks


def test_rules_of_marks_that_the_model_lacks() -> None:
    """They are named, and have no rank.  Another dash stands for Nunberg's."""
    found = learned_rules(made_up({("—", "."): {"left absorption": 1.0}}))
    known = set(TOKENS)
    lacking = [rule for rule in nunberg_rules() if set(rule.before) - {"-"} - known]
    assert list(found.unlearned) == lacking
    assert found.recall["all"].rules == len(found.ruled) == 192 - len(lacking)
    assert found.recall["determined"].rules == sum(
        rule.schema != EQUAL_STRENGTH for rule in nunberg_rules() if rule not in lacking
    )
    (dash,) = (pair for pair in found.pairs if pair.before == ("—", "."))
    assert (dash.by_nunberg, dash.rank) == ((".",), 1)


def test_pairs_that_nunberg_does_not_consider() -> None:
    found = {pair.before: pair for pair in learned_rules(made_up(tokens=(*TOKENS, "*"))).pairs}
    assert not found["*", ","].listed
    assert found["*", ","].by_nunberg is None
    assert found["!", "!"].by_nunberg == ("!",)
    assert found["”", "!"].by_nunberg == ("”", "!")
    assert all(b != START for _, b in found)


@pytest.mark.parametrize("counted", [False, True])
def test_prominent_pairs(model: Punctuator, dev: list[Sentence], counted: bool) -> None:
    found = learned_rules(model, dev if counted else None)
    prominent = found.prominent(5)
    assert len(prominent) == 5
    if counted:
        assert [pair.count for pair in prominent] == sorted(pair.count or 0 for pair in found.pairs)[:-6:-1]
    else:
        greatest = [max(edit.probability for edit in pair.edits) for pair in found.pairs if pair.listed]
        shown = [max(edit.probability for edit in pair.edits) for pair in prominent]
        assert shown == sorted(greatest)[:-6:-1]


# Counts


def test_without_sentences_the_pairs_of_training_lead() -> None:
    model = made_up()
    known = replace(model, report={**model.report, "trained_pairs": {", .": 3.0, "” ,": 9.0}})
    first, second, *_ = learned_rules(known).prominent(4)
    assert [(pair.before, pair.count, pair.frequency) for pair in (first, second)] == [
        (("”", ","), None, 9.0),
        ((",", "."), None, 3.0),
    ]
    with pytest.raises(ModelFileError, match="counts of pairs in the model are damaged"):
        learned_rules(replace(model, report={**model.report, "trained_pairs": [1]}))


def test_counts_are_those_of_the_edits(model: Punctuator, dev: list[Sentence]) -> None:
    done: list[int] = []
    found = learned_rules(model, dev * 8, advance=done.append)
    assert (sum(done), found.sentences) == (240, 240)
    edits = model.edits(dev)
    for pair in found.pairs:
        assert pair.count is not None
        shown = tuple(map(display, pair.before))
        expected = sum(edit.count for edit in edits if edit.before == shown)
        assert pair.count == pytest.approx(8 * expected, rel=1e-4, abs=1e-6)
        for outcome in pair.outcomes:
            after = tuple(map(display, outcome.after))
            expected = sum(edit.count for edit in edits if (edit.before, edit.after) == (shown, after))
            assert outcome.count == pytest.approx(8 * expected, rel=1e-4, abs=1e-6)


def test_edits_have_the_probabilities_of_the_channel(model: Punctuator, dev: list[Sentence]) -> None:
    """Those of a before b, which differ from those of b before a."""
    table, edits = model.edit_probabilities(), model.edits(dev)
    assert table is not None
    numbers = {display(token): number for number, token in enumerate(model.vocabulary.tokens)}
    places = [(numbers[a], numbers[b], EDITS.index(kind)) for (a, b), kind, *_ in edits]
    assert [edit.probability for edit in edits] == [float(table[place]) for place in places]
    assert any(a != b for a, b, _ in places)


def test_a_caret_of_the_text_is_not_the_sentence_start() -> None:
    """Both are shown as ``^``."""
    model = made_up(tokens=(START, ABBREVIATION_DOT, UNKNOWN, "^", ","), logits=torch.zeros(5, 5, 4))
    lines = ["1\t^\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_", "2\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_"]
    counts = torch.zeros(5, 5, 4)
    counts[0, 4] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    counts[3, 4] = torch.tensor([5.0, 6.0, 7.0, 8.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Punctuator, "edit_counts", lambda *_: counts)
        found = learned_rules(model, list(read_text("\n".join(lines))))
    totals = {pair.before: pair.count for pair in found.pairs if pair.count}
    assert totals == {(START, ","): 10, ("^", ","): 26}


def test_rules_of_the_embedded_treebank(model: Punctuator, dev: list[Sentence]) -> None:
    """With the true channel all true edits have their probabilities, and no other edits happen."""
    tokens = model.vocabulary.tokens
    truth = torch.zeros(len(tokens), len(tokens), 4)
    truth[..., 0] = 1
    for (a, b), edits in TRUE_EDITS.items():
        if {a, b} <= set(tokens):
            truth[tokens.index(a), tokens.index(b)] = torch.tensor(edits)
    with other_values(model.story, {"channel.channel.edit_logits": truth.double().clamp(min=1e-9).log()}):
        found = {pair.before: pair for pair in learned_rules(model, dev).pairs}
    edited = {before: edits for before, edits in TRUE_EDITS.items() if set(before) <= set(tokens)}
    assert len(edited) > 20
    for (a, b), edits in edited.items():
        for outcome in found[a, b].outcomes:
            afters = zip([(a, b), (b,), (a,), (b, a)], edits, strict=True)
            expected = sum(probability for after, probability in afters if after == outcome.after)
            assert outcome.probability == pytest.approx(expected, abs=1e-6)
            assert expected > 0 or outcome.count == pytest.approx(0, abs=1e-4)
    quoted = found["”", "."]
    assert quoted.count is not None
    assert quoted.count > 1
    assert found[",", ","].rank == found[",", "."].rank == found["”", "."].rank == 1


def test_a_fitted_model_finds_rules_of_the_embedded_treebank() -> None:
    """The distributions are nearly those of the truth, and the pairs are frequent."""
    train = list(read_treebank(embedded_treebank_path("train")))[:600]
    fitted = fit(train, train[:1], Recipe(epochs=4, economy_weight=0.0), direction="right")
    found = {pair.before: pair for pair in learned_rules(fitted, train).pairs}
    for before, after in (
        ((",", ","), (",",)),
        ((",", "."), (".",)),
        (("”", "."), (".", "”")),
        (("”", ","), (",", "”")),
        ((START, ","), (START,)),
        ((ABBREVIATION_DOT, "."), (ABBREVIATION_DOT,)),
    ):
        (outcome,) = (outcome for outcome in found[before].outcomes if outcome.after == after)
        assert outcome.probability > 0.6
        assert outcome.count is not None
        assert outcome.count > 6
        assert found[before].rank == (None if START in before else 1)


# Credible intervals


def test_credible_intervals() -> None:
    """Only the logit of keeping is uncertain, so the quantiles of its probability are known."""
    scale = torch.zeros(len(TOKENS), len(TOKENS), 4)
    scale[..., 0] = 0.5
    model = made_up(logits=torch.zeros_like(scale), scale=scale)
    found = learned_rules(model, level=0.9)
    kept = found.pairs[1].outcomes[0]
    low, high = (torch.exp(torch.tensor(0.5 * z)) for z in (-1.645, 1.645))
    assert found.level == 0.9
    assert kept.probability == pytest.approx(0.25)
    assert kept.interval == pytest.approx((float(low / (low + 3)), float(high / (high + 3))), abs=0.02)
    assert learned_rules(model) == found
    assert learned_rules(model, seed=1) != found
    for wide, narrow in zip(found.pairs, learned_rules(model, level=0.5).pairs, strict=True):
        for outer, inner in zip(wide.outcomes, narrow.outcomes, strict=True):
            assert outer.interval is not None
            assert inner.interval is not None
            assert outer.interval[0] < inner.interval[0] < inner.interval[1] < outer.interval[1]


def test_intervals_of_equal_tokens_are_those_of_the_sum() -> None:
    """Here the two absorptions of , , are uncertain, but their sum is not."""
    logits = torch.full((len(TOKENS), len(TOKENS), 4), -40.0)
    logits[..., 1:3] = 0
    model = made_up(logits=logits, scale=torch.ones_like(logits))
    for found in learned_rules(model).pairs:
        if found.before == (",", ","):
            assert found.outcomes[1].interval == pytest.approx((1, 1))


def test_without_a_posterior_there_are_no_intervals(model: Punctuator) -> None:
    found = learned_rules(model)
    assert found.level is None
    assert all(outcome.interval is None for pair in found.pairs for outcome in pair.outcomes)


# Others


def test_a_channel_without_edits(model: Punctuator) -> None:
    recipe = replace(model.recipe, channel="identity")
    bare = replace(model, recipe=recipe, story=build_story(model.vocabulary, recipe))
    with pytest.raises(MissingPartError, match=r"^the channel identity has no edits"):
        learned_rules(bare)


def test_json(model: Punctuator, dev: list[Sentence]) -> None:
    found = learned_rules(model, dev)
    plain = json.loads(json.dumps(found.to_json()))
    assert len(plain["pairs"]) == len(found.pairs)
    for one, pair in zip(plain["pairs"], found.pairs, strict=True):
        assert one["before"] == [display(token) for token in pair.before]
        assert (one["rank"], one["count"]) == (pair.rank, pair.count)
        assert [outcome["probability"] for outcome in one["outcomes"]] == [
            outcome.probability for outcome in pair.outcomes
        ]
    assert plain["recall"]["all"] == found.recall["all"]._asdict()
    assert plain["precision"]["all"]["share"] == found.precision["all"].share
