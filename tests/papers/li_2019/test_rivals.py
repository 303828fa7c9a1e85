"""The rivals: probabilities, training, restoration, saving."""

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sentences import embedded, sentence

from pyropunct.errors import ModelFileError
from pyropunct.fitted.evaluation import average_edit_distance, slot_distance
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.trainer import Progress
from pyropunct.papers.experiment import loader
from pyropunct.papers.li_2019.recurrent import RivalRecipe, RivalVocabulary
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, Rival, train_rival
from pyropunct.text.marks import START, UNKNOWN
from pyropunct.treebank.sentence import Sentence

SMALL = RivalRecipe(
    word_size=12, hidden_size=8, layers=2, epochs=3, least_steps=0, learning_rate=0.01, batch_size=8
)

every_kind = pytest.mark.parametrize("kind", [BiLSTMCRF, BiGRUAttention])


@pytest.fixture(scope="module")
def train() -> list[Sentence]:
    return embedded("train", 60)


@pytest.fixture(scope="module")
def dev() -> list[Sentence]:
    return embedded("dev", 20)


def untrained(kind: type[Rival], train: list[Sentence], scale: float = 1.0) -> Rival:
    """A rival with random weights, transitions included."""
    rival = kind.untrained(RivalVocabulary.collect(train), SMALL)
    with torch.no_grad():
        for weight in rival.network.parameters():
            weight += scale * torch.randn_like(weight)
    rival.network.eval()
    return rival


def forms(sentences: list[Sentence]) -> list[tuple[str, ...]]:
    return [one.tree.forms for one in sentences]


@every_kind
def test_probabilities_of_all_punctuation_add_up_to_one(kind: type[Rival]) -> None:
    """Of all strings of up to 3 marks in both slots of a word; the longer have at most what is said here."""
    train = [sentence("a b", "", ",", ".")] * 5 + [sentence("a", "“ ,", ",")]
    rival = untrained(kind, train, scale=0.3)
    labels, spelling = rival.vocabulary.slots.labels, rival.vocabulary.slots.spelling
    marks, longest = labels.marks[1:], 3  # all but the abbreviation dot, which the strings below lack
    strings = [one for size in range(longest + 1) for one in itertools.product(marks, repeat=size)]
    surfaces = [((START, *first), last) for first in strings for last in strings]
    word = sentence("a")
    total = float(rival.log_prob([replace(word, surface=one) for one in surfaces]).exp().sum())
    unknown = [one for one in strings if one not in labels.strings]
    missing = 1 - sum(math.exp(spelling.log_prob(one)) for one in unknown)
    distribution = rival.network(rival.encode([["a"]]))
    shares = distribution.marginals()[0, :, labels.unknown].tolist()
    assert missing < 0.5
    assert 1 - missing * sum(shares) <= total < 1


@every_kind
def test_strings_without_a_label_are_the_unknown_label_and_then_spelled(kind: type[Rival]) -> None:
    train = [sentence("a b", "", ",", ".")] * 5
    rival = untrained(kind, train)
    one = sentence("b", ", .", "★")
    number = rival.vocabulary.slots.labels.unknown
    distribution = rival.network(rival.encode([["b"]]))
    labels = distribution.log_prob(torch.tensor([[number, number]]))
    spelled = rival.vocabulary.slots.spelling.log_prob((",", ".")) + rival.vocabulary.slots.spelling.log_prob(
        (UNKNOWN,)
    )
    torch.testing.assert_close(rival.log_prob([one]), labels.detach() + spelled)


@every_kind
def test_a_batch_is_its_sentences(kind: type[Rival], train: list[Sentence]) -> None:
    rival = untrained(kind, train)
    together = rival.log_prob(train)
    alone = torch.cat([rival.log_prob([one]) for one in train])
    torch.testing.assert_close(together, alone, rtol=1e-9, atol=1e-9)
    restored = rival.restore(forms(train))
    assert restored == [rival.restore([words])[0] for words in forms(train)]


@every_kind
def test_gradients_by_finite_differences(kind: type[Rival], train: list[Sentence]) -> None:
    """Along a random direction of all weights together."""
    rival = untrained(kind, train, scale=0.1)
    labels = rival.vocabulary.slots.labels.encode(rival.vocabulary.slots.labels.strings_of(train[0].surface))
    batch = rival.encode([train[0].tree.forms])
    weights = list(rival.network.parameters())
    directions = [torch.randn_like(weight) for weight in weights]

    def log_prob() -> torch.Tensor:
        return rival.network(batch).log_prob(torch.tensor([labels])).sum()

    def moved(step: float) -> float:
        with torch.no_grad():
            for weight, direction in zip(weights, directions, strict=True):
                weight += step * direction
            value = float(log_prob())
            for weight, direction in zip(weights, directions, strict=True):
                weight -= step * direction
        return value

    gradients = torch.autograd.grad(log_prob(), weights)
    exact = sum(float((g * d).sum()) for g, d in zip(gradients, directions, strict=True))
    assert all(float(gradient.abs().max()) > 0 for gradient in gradients)
    assert (moved(1e-5) - moved(-1e-5)) / 2e-5 == pytest.approx(exact, rel=1e-5)


def comma_before_but(number: int) -> list[Sentence]:
    """Random words; a comma stands before "but", and questions begin with "do"."""
    chooser, made = random.Random(0), []
    for _ in range(number):
        words = [chooser.choice(["do", "we"]), *chooser.choices(["go", "on", "but", "up"], k=2)]
        inner = ["," if word == "but" else "" for word in words[1:]]
        made.append(sentence(" ".join(words), "", *inner, "?" if words[0] == "do" else "."))
    return made


@every_kind
def test_training_learns_what_is_next_to_a_slot_and_what_is_far(kind: type[Rival]) -> None:
    sentences = comma_before_but(180)
    train, dev = sentences[:150], sentences[150:]
    seen: list[Progress] = []
    recipe = replace(SMALL, hidden_size=32, layers=1, dropout=0.1, word_dropout=0.0, epochs=5)
    rival = train_rival(kind, train, dev, recipe, watch=seen.append)
    epochs = [progress.last for progress in seen if progress.finished and progress.last is not None]
    perplexities = [epoch.scores["perplexity"] for epoch in epochs if epoch.scores is not None]
    assert epochs[-1].loss < 0.2 * epochs[0].loss
    assert min(perplexities) < 1.05
    assert rival.evaluate(dev).perplexity == pytest.approx(min(perplexities), rel=1e-12)
    assert rival.report["chosen"] == 1 + perplexities.index(min(perplexities))
    restored = rival.restore(forms(dev))
    assert average_edit_distance(restored, [one.surface for one in dev]) < 0.01


@every_kind
def test_training_stops_early(kind: type[Rival], train: list[Sentence], dev: list[Sentence]) -> None:
    recipe = replace(SMALL, epochs=40, patience=2, learning_rate=0.05, dropout=0.0)
    rival = train_rival(kind, train[:40], dev, recipe)
    assert len(rival.report["epochs"]) == rival.report["chosen"] + 2


def test_small_treebanks_are_trained_on_for_more_epochs() -> None:
    recipe = RivalRecipe(epochs=8, least_steps=100, patience=3, batch_size=10)
    assert (recipe.planned_epochs(150), recipe.planned_patience(150)) == (8, 3)
    assert (recipe.planned_epochs(101), recipe.planned_patience(101)) == (10, 4)
    assert (recipe.planned_epochs(9), recipe.planned_patience(9)) == (100, 38)


@every_kind
def test_more_epochs_are_run(kind: type[Rival], train: list[Sentence], dev: list[Sentence]) -> None:
    recipe = replace(SMALL, epochs=1, least_steps=10, patience=1)
    assert len(train_rival(kind, train[:16], dev[:8], recipe).report["epochs"]) == 5


@every_kind
def test_saved_and_loaded(
    kind: type[Rival], train: list[Sentence], dev: list[Sentence], tmp_path: Path
) -> None:
    rival = train_rival(kind, train, dev, replace(SMALL, epochs=1))
    write_model_file(tmp_path / "rival", *rival.to_parts())
    loaded = loader(kind.from_parts)(tmp_path / "rival")
    assert torch.equal(loaded.log_prob(dev), rival.log_prob(dev))
    assert loaded.restore(forms(dev)) == rival.restore(forms(dev))
    assert (loaded.recipe, loaded.report) == (rival.recipe, rival.report)


def test_folders_that_hold_no_rival(train: list[Sentence], tmp_path: Path) -> None:
    plain, tensors = untrained(BiLSTMCRF, train).to_parts()
    write_model_file(tmp_path / "other", {"vocabulary": {}, "recipe": {}, "report": {}}, {})
    write_model_file(tmp_path / "lacking", plain, dict(list(tensors.items())[1:]))
    for name, problem in (
        ("other", r"other: not the parts of a BiLSTM-CRF: KeyError: .*"),
        ("lacking", r"lacking: not the parts of a BiLSTM-CRF: .* is missing"),
        ("nowhere", "no such model"),
    ):
        with pytest.raises(ModelFileError, match=problem):
            loader(BiLSTMCRF.from_parts)(tmp_path / name)


@every_kind
def test_strings_have_the_least_expected_edit_distance(kind: type[Rival], train: list[Sentence]) -> None:
    """Against the definition, by enumeration of all labels of a sentence of one word."""
    rival = untrained(kind, train)
    strings, number = rival.vocabulary.slots.labels.strings, rival.vocabulary.slots.labels.printable
    distribution = rival.network(rival.encode([["the"]]))
    paths = list(itertools.product(number, repeat=2))
    probability = {path: float(distribution.log_prob(torch.tensor([path])).detach().exp()) for path in paths}

    def risk(slot: int, choice: int) -> float:
        return sum(p * slot_distance(strings[choice], strings[path[slot]]) for path, p in probability.items())

    least = [min(number, key=lambda choice: risk(slot, choice)) for slot in range(2)]
    assert rival.restore([["the"]]) == [rival.vocabulary.slots.labels.surface(least)]


@every_kind
def test_restored_marks_are_marks_of_the_page(kind: type[Rival]) -> None:
    """Even where nearly every string of training is rare."""
    train = [sentence("a b", f"{chr(0x2600 + number)}", "", ".") for number in range(8)]
    rival = train_rival(kind, train, train, replace(SMALL, epochs=2))
    assert (UNKNOWN,) in rival.vocabulary.slots.labels.strings
    restored = rival.restore([["a", "b"], ["never", "seen", "word"]])
    assert {mark for surface in restored for slot in surface for mark in slot} <= {START, "."}


@every_kind
def test_two_thousand_words(kind: type[Rival], train: list[Sentence]) -> None:
    words = ["word"] * 2000
    assert len(untrained(kind, train, scale=0.1).restore([words])[0]) == 2001


def test_bad_input(train: list[Sentence]) -> None:
    rival = untrained(BiLSTMCRF, train)
    with pytest.raises(ValueError, match="sentence 2: there is no word in it"):
        rival.restore([["a"], []])
    assert rival.restore([]) == []
    assert rival.log_prob([]).shape == (0,)
