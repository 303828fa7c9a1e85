"""Every network: training, seeds, checkpoints, progress, and its parts as JSON and tensors."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from encoders import MadeUp
from sentences import embedded

from pyropunct.errors import ModelFileError, UserError
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser, train_parser
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe, train_slot_tagger
from pyropunct.nets.trainer import Progress
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, train_rival
from pyropunct.train.checkpoints import Checkpoint, read_state, write_state
from pyropunct.treebank.sentence import Sentence

SENTENCES = embedded("train", 40)
TRAIN, DEV = SENTENCES[:25], SENTENCES[25:]

SMALL = {"epochs": 3, "least_steps": 0, "learning_rate": 0.01, "dropout": 0.1}
WORDS = {**SMALL, "batch_words": 100, "form_size": 8, "character_size": 4, "spelling_size": 8, "lstm_size": 8}
PARSER = ParserRecipe(**WORDS, tag_size=8, arc_size=8, relation_size=8)
READER = ReaderRecipe(**WORDS, layers=1, window=30, lower_cased=1)
TAGGER = SlotTaggerRecipe(**SMALL, batch_words=60, slot_size=8)
RIVAL = RivalRecipe(**SMALL, word_size=8, hidden_size=6, batch_size=8)


class Kind(NamedTuple):
    """A kind of network."""

    name: str
    train: Callable[..., Any]
    recipe: Any
    answers: Callable[[Any, Sequence[Sentence]], object]

    def trained(self, train: Sequence[Sentence], dev: Any, changes: dict[str, Any], **options: Any) -> Any:
        """A network trained with changed settings."""
        return self.train(train, dev, replace(self.recipe, **changes), **options)


@cache
def parser_of_words() -> BiaffineParser:
    """The parser whose states the tagger reads."""
    return train_parser(SENTENCES, None, replace(PARSER, epochs=1))


def tagger_of(train: Sequence[Sentence], *arguments: Any, **options: Any) -> Any:
    return train_slot_tagger(parser_of_words(), train, *arguments, **options)


def forms(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tree.forms for sentence in sentences]


def restored(rival: Any, sentences: Sequence[Sentence]) -> object:
    return rival.restore(forms(sentences)), rival.log_prob(sentences).tolist()


RIVALS = {
    kind: Kind(rival.name, partial(train_rival, rival), RIVAL, restored)
    for kind, rival in (("crf", BiLSTMCRF), ("attention", BiGRUAttention))
}
NETWORKS = {
    "parser": Kind("parser", train_parser, PARSER, lambda model, dev: model.parse(forms(dev), trees=5)),
    "reader": Kind(
        "reader", train_reader, READER, lambda model, dev: model.read(sum(forms(dev), ())).ends.tolist()
    ),
    "tagger": Kind(
        "tagger",
        tagger_of,
        TAGGER,
        lambda model, dev: model.log_prob(forms(dev), [one.surface for one in dev]).tolist(),
    ),
}


def over(*kinds: Kind) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds, ids=[kind.name for kind in kinds])


every_kind = over(*NETWORKS.values(), *RIVALS.values())
without_rivals = over(*NETWORKS.values())
reading_words = over(NETWORKS["parser"], NETWORKS["reader"], *RIVALS.values())

pytestmark = pytest.mark.usefixtures("single_precision")


def assert_equal(first: Any, second: Any) -> None:
    """Both networks have the same weights, and the same reports but for the seconds."""
    for name, weight in first.network.state_dict().items():
        assert torch.equal(weight, second.network.state_dict()[name]), name
    reports = [
        {**model.report, "epochs": [{**epoch, "seconds": 0} for epoch in model.report["epochs"]]}
        for model in (first, second)
    ]
    assert reports[0] == reports[1]


@every_kind
def test_equal_seeds_give_equal_networks(kind: Kind) -> None:
    before = torch.get_rng_state()
    first, again, other = (kind.trained(TRAIN, DEV, {"epochs": 1}, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert_equal(first, again)
    assert any(
        not torch.equal(*both)
        for both in zip(first.network.parameters(), other.network.parameters(), strict=True)
    )
    assert kind.answers(first, DEV) == kind.answers(again, DEV)


@every_kind
def test_every_weight_is_trained(kind: Kind) -> None:
    fresh, trained = (
        kind.trained(TRAIN, DEV, {"epochs": 1, **rate}) for rate in ({"learning_rate": 0.0}, {})
    )
    for name, weight in fresh.network.named_parameters():
        assert not torch.equal(weight, trained.network.get_parameter(name)), name


@reading_words
def test_pretrained_features(kind: Kind) -> None:
    """The weights that read them are trained; a network that is read again needs the same features."""
    settings = ({"epochs": 1, "learning_rate": 0.0}, {"epochs": 1})
    fresh, trained = (kind.trained(TRAIN, DEV, setting, pretrained=MadeUp()) for setting in settings)
    for name, weight in fresh.network.named_parameters():
        assert not torch.equal(weight, trained.network.get_parameter(name)), name
    again = type(trained).from_parts(*trained.to_parts(), MadeUp())
    assert kind.answers(again, DEV) == kind.answers(trained, DEV)
    for other in (None, MadeUp(size=4)):
        with pytest.raises(ValueError, match="it was trained with other pretrained features of words"):
            type(trained).from_parts(*trained.to_parts(), other)


@without_rivals
@pytest.mark.parametrize("dev", [None, DEV], ids=["without dev", "with dev"])
def test_going_on_from_a_checkpoint(kind: Kind, dev: Any, tmp_path: Path) -> None:
    """Stopped in any epoch, a training that goes on gives the same network."""
    whole = kind.trained(TRAIN, dev, {}, seed=3)
    for stop in (1, 3):
        checkpoint = Checkpoint(tmp_path / f"after {stop}")

        def watch(progress: Progress, stop: int = stop) -> None:
            if progress.epoch == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            kind.trained(TRAIN, dev, {}, seed=3, checkpoint=checkpoint, watch=watch)
        assert_equal(whole, kind.trained(TRAIN, dev, {}, seed=3, checkpoint=checkpoint))


@without_rivals
def test_a_checkpoint_of_something_else(kind: Kind, tmp_path: Path) -> None:
    checkpoint, once = Checkpoint(tmp_path / "checkpoint"), {"epochs": 1}
    kind.trained(TRAIN, None, once, checkpoint=checkpoint)
    others: list[tuple[list[Sentence], Any, dict[str, Any], int]] = [
        (SENTENCES[:26], None, once, 0),
        (TRAIN[:-1], TRAIN[-1:], once, 0),
        (TRAIN, None, {"epochs": 2}, 0),
        (TRAIN, None, once, 1),
    ]
    for train, dev, changes, seed in others:
        with pytest.raises(ModelFileError, match="checkpoint is of other data, settings or another seed"):
            kind.trained(train, dev, changes, seed=seed, checkpoint=checkpoint)
    state = read_state(checkpoint.path)
    name, _ = state["network"].popitem()
    write_state(checkpoint.path, state)
    with pytest.raises(ModelFileError, match=f"checkpoint: is damaged: RuntimeError: .*{name}"):
        kind.trained(TRAIN, None, once, checkpoint=checkpoint)


@every_kind
def test_progress_and_report(kind: Kind) -> None:
    """The epoch with the best scores is kept."""
    seen: list[Progress] = []
    model = kind.trained(TRAIN, DEV, {"epochs": 2}, watch=seen.append)
    total = model.report["train_words"]
    assert {progress.size for progress in seen} == {total}
    assert [progress.finished for progress in seen if progress.done == total] == [False, True] * 2
    assert {progress.epoch for progress in seen} == {1, 2}
    assert seen[0].last is None
    last = seen[-1].last
    assert last is not None
    assert last._asdict() == model.report["epochs"][-1]
    assert json.loads(json.dumps(model.report)) == model.report
    assert model.report["chosen"] in (1, 2)
    assert model.report["weights"] == sum(weight.numel() for weight in model.network.parameters())


@every_kind
def test_parts_are_json_and_tensors(kind: Kind) -> None:
    model = kind.trained(TRAIN, DEV, {"epochs": 1})
    plain, tensors = model.to_parts()
    plain, source = json.loads(json.dumps(plain)), getattr(model, "parser", None)
    before = torch.get_rng_state()
    again = type(model).from_parts(plain, tensors, source)
    assert torch.equal(torch.get_rng_state(), before)
    assert (again.vocabulary, again.recipe, again.report) == (model.vocabulary, model.recipe, model.report)
    assert kind.answers(again, DEV) == kind.answers(model, DEV)
    broken = [({key: part for key, part in plain.items() if key != name}, tensors) for name in plain]
    name = next(iter(tensors))
    broken += [(plain, {**tensors, name: torch.zeros(3)}), (plain, {**tensors, "more": tensors[name]})]
    for parts in broken:
        with pytest.raises(ValueError, match=f"not the parts of {model.what}: "):
            type(model).from_parts(*parts, source)


@every_kind
def test_nothing_to_learn_from(kind: Kind) -> None:
    with pytest.raises(ValueError, match=f"no sentence to train a {kind.name} on"):
        kind.train([], DEV)
    with pytest.raises(ValueError, match="no sentence to choose an epoch by"):
        kind.train(TRAIN, [])


@every_kind
def test_training_that_diverges(kind: Kind) -> None:
    """In a step that follows the one that is too large, or in the scores on dev."""
    rate = {"epochs": 2, "learning_rate": 1e39}
    message = rf"the {kind.name}'s training diverged in epoch \d: its .*nan, with learning_rate=1e\+39"
    with pytest.raises(UserError, match=message):
        kind.trained(TRAIN, DEV, rate)
