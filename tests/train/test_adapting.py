"""A model that learns from text without trees."""

import gzip
import math
import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import answer, complaint, printed
from conftest import try_few_shares

import pyropunct
from pyropunct.cli.adapt import adaptation_report
from pyropunct.errors import InputError, MissingPartError
from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.recipes import Recipe, TextSettings
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import ADAPTING, train_reader
from pyropunct.nets.running_text import ReaderRecipe, documents
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import weighted_trees
from pyropunct.train.adapting import REPLACED, HeldOut, LearnedText, adapt
from pyropunct.train.fitting import NetworkRecipes
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def model(model_with_parser: Path) -> Punctuator:
    return Punctuator.load(model_with_parser)


@pytest.fixture(scope="module")
def text(train: list[Sentence], dev: list[Sentence]) -> str:
    """The sentences of the small treebank, a line each, twice with other names."""
    lines = [sentence.text() for sentence in (*train, *dev)]
    return "\n".join([*lines, *(line.replace("the", "this") for line in lines if "the" in line)])


@pytest.fixture(scope="module")
def few(text: str) -> str:
    """Some lines of the text, where it does not matter how well they are learned."""
    return "\n".join(text.split("\n")[:110])


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """Taggers in one epoch; adapted readers in few steps."""
    recipe = SlotTaggerRecipe(epochs=1, least_steps=0, batch_words=100, slot_size=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyropunct.nets.tagger.SlotTaggerRecipe", lambda: recipe)
        patch.setattr("pyropunct.train.adapting.ADAPTING", replace(ADAPTING, epochs=1, least_steps=40))
        try_few_shares(patch)
        yield


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the states of the parts of `adapted`."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(scope="module")
def adapted(model: Punctuator, text: str, quick: None, states: Path) -> Punctuator:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    made = adapt(model, [text], seed=3, checkpoint=states / "state")
    torch.set_default_dtype(default)
    return made


def test_what_changes_and_what_stays(model: Punctuator, adapted: Punctuator) -> None:
    report = adapted.report["text"]
    assert report["read"] == report["train"] + report["dev"] + sum(report["left_out"].values())
    for name in ("parser", "story", "vocabulary", "slot_strings"):
        assert getattr(adapted, name) is getattr(model, name)
    for name in REPLACED:
        assert (getattr(adapted, name) is not getattr(model, name)) == (name in report["new"])
    assert report["after"]["perplexity"] <= report["before"]["perplexity"]
    assert {"perplexity", "aed", "f1", "marks", "ends", "lower_ends"} == set(report["after"])
    words = adapted.conventions.capitals.words
    assert sum(seen for _, seen in words.values()) > sum(
        seen for _, seen in model.conventions.capitals.words.values()
    )


def test_scores_are_those_of_the_held_out_share(model: Punctuator, text: str, adapted: Punctuator) -> None:
    learned = LearnedText(model, [text])
    report = adapted.report["text"]
    assert len(learned.dev) == report["dev"]
    assert len(learned.examples) == 2 * report["train"] == 2 * len(learned.once)
    parses = weighted_trees(model, [sentence.tree.forms for sentence in learned.dev])
    log_prob = model.log_prob_over_trees(learned.dev, parses)
    assert report["before"]["perplexity"] == Evaluation.of(learned.dev, log_prob).perplexity
    seen = {sentence.tree.forms for sentence in learned.once}
    assert not [one for one in learned.dev if len(one.tree) >= 5 and one.tree.forms in seen]


def test_equal_seeds_and_saving(model: Punctuator, text: str, adapted: Punctuator, tmp_path: Path) -> None:
    assert adapt(model, [text], seed=3).report == adapted.report
    adapted.save(tmp_path / "model")
    loaded = Punctuator.load(tmp_path / "model")
    assert loaded.report["text"] == adapted.report["text"]
    words = ["the", "harbor", "council", "restored", "it"]
    assert loaded.restore([words], seed=0) == adapted.restore([words], seed=0)


def test_after_an_interruption(
    model: Punctuator, text: str, adapted: Punctuator, states: Path, tmp_path: Path
) -> None:
    """The state of each part is kept: a second run goes on from there and gives the same model."""
    assert sorted(path.name for path in states.iterdir()) == ["state.parsed", "state.reader", "state.tagger"]
    for name in ("state.parsed", "state.tagger"):
        shutil.copy(states / name, tmp_path)
    again = adapt(model, [text], seed=3, checkpoint=tmp_path / "state", resume=True)
    assert again.report["text"]["after"] == adapted.report["text"]["after"]


@pytest.mark.usefixtures("quick")
def test_a_treebank_besides(model: Punctuator, few: str, train: list[Sentence]) -> None:
    adapted = adapt(model, [few], train[:40], TextSettings(trees=1))
    assert adapted.report["text"]["treebank"] == 40
    if adapted.parsed is not model.parsed:
        assert adapted.parsed is not None
        assert adapted.parsed.report["train_sentences"] == 40 + adapted.report["text"]["train"]


def test_errors(model: Punctuator, text: str) -> None:
    with pytest.raises(MissingPartError):
        adapt(replace(model, parser=None), [text])
    with pytest.raises(InputError, match="no sentence"):
        adapt(model, [])
    with pytest.raises(InputError, match="fewest to learn from"):
        adapt(model, [text[:500]])
    foreign = "Der Hund lief durch den alten Wald und bellte laut.\n"
    lines = "".join(foreign.replace("alten", f"alt{number}en") for number in range(200))
    with pytest.raises(InputError, match="another language"):
        adapt(model, [lines])


def test_what_is_neither_a_model_nor_a_text_is_told(model: Punctuator, text: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"""a loaded model, .*load\("en"\), not 'some-model'$"""):
        adapt("some-model", [text])  # type: ignore[arg-type]
    file = lines_of(tmp_path / "a.txt", ["It rained."])
    wrong: list[tuple[Any, str]] = [
        *((one, r"^the texts are a list, such as \[text\], not one ") for one in (text, text.encode(), file)),
        ([text, b"It rained."], "^text 2 is b'It rained.': give a string, or the Path of a file$"),
        ([str(file)], "^'.*a.txt' is the name of a file, not a text: give Path"),
    ]
    for texts, problem in wrong:
        with pytest.raises(TypeError, match=problem):
            adapt(model, texts)


def test_a_path_is_read(model: Punctuator, text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    expected = LearnedText(model, [text] * 2).texts
    for paths in ([tmp_path], [tmp_path / "a.txt", tmp_path / "b.txt.gz"]):
        assert LearnedText(model, paths).texts == expected
    with pytest.raises(InputError, match="there is no file of this name"):
        LearnedText(model, [tmp_path / "c.txt"])


def test_a_reader_begins_with_another(model: Punctuator, train: list[Sentence], dev: list[Sentence]) -> None:
    """Without a step it reads as the other did, words of its own text included."""
    first = model.reader
    assert first is not None
    recipe = replace(first.recipe, learning_rate=0.0, dropout=0.0)
    same = train_reader(dev, recipe=recipe, first=first)
    assert set(same.vocabulary.forms) >= set(first.vocabulary.forms)
    for document in documents(train)[:3]:
        known = [word for word in document.words if word.lower() in first.vocabulary.forms]
        old, new = first.read(known), same.read(known)
        torch.testing.assert_close(old.ends, new.ends)
        torch.testing.assert_close(old.cases, new.cases)


@pytest.mark.usefixtures("quick")
def test_parser_and_tagger_keep_the_adapters_that_they_were_trained_with(
    text: str,
    train: list[Sentence],
    dev: list[Sentence],
    encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reader has its own ones from then on, in the file of the model too."""
    recipe = ReaderRecipe(epochs=1, least_steps=0, form_size=8, lstm_size=12)
    for room in ("fitting", "adapting"):
        monkeypatch.setattr(f"pyropunct.train.{room}.ADAPTING", recipe)
    networks = NetworkRecipes(
        ParserRecipe(epochs=1, least_steps=0, batch_words=200, lstm_size=20),
        tagger=SlotTaggerRecipe(epochs=1, least_steps=0, slot_size=8),
    )
    options = {"recipe": Recipe(epochs=1), "folds": 2, "networks": networks, "fine_tune": True}
    model = pyropunct.fit(train[:40], dev[:5], parser=True, pretrained=Encoder(encoder), **options)
    monkeypatch.setattr("pyropunct.train.adapting.HeldOut.better", lambda self, new, old: old)
    monkeypatch.setattr("pyropunct.train.adapting.HeldOut.better_reader", lambda self, new, old: new)
    adapted = adapt(model, ["\n".join(text.split("\n")[:250])])
    words = [sentence.tree.forms for sentence in dev[:5]]
    surfaces = [sentence.surface for sentence in dev[:5]]
    for part in ("parser", "tagger"):
        assert getattr(adapted, part) is getattr(model, part)
    assert adapted.reader.pretrained.identity() != model.reader.pretrained.identity()
    adapted.save(tmp_path / "model")
    model.save(tmp_path / "before")
    before, after = (Punctuator.load(tmp_path / name) for name in ("before", "model"))
    assert after.tagger.log_prob(words, surfaces).equal(before.tagger.log_prob(words, surfaces))
    assert after.parser.parse(words) == before.parser.parse(words)
    kept = replace(after, reader=before.reader, share=before.share, reader_share=before.reader_share)
    assert kept.restore(words, seed=0) == before.restore(words, seed=0)
    line = [word.lower() for forms in words for word in forms]
    found = after.reader.read(line).ends
    assert found.equal(adapted.reader.read(line).ends)
    assert not found.equal(before.reader.read(line).ends)


@pytest.mark.parametrize("change", ["perplexity", "f1"])
def test_nothing_is_kept_that_is_worse(
    model: Punctuator, text: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lower perplexity is not enough, nor is a higher F1."""
    new = replace(model)
    better = {"perplexity": {id(new): 1.0, id(model): 2.0}, "f1": {id(new): 0.6, id(model): 0.6}}
    monkeypatch.setattr(HeldOut, "perplexity", lambda self, one: better["perplexity"][id(one)])
    monkeypatch.setattr(HeldOut, "f1", lambda self, one: better["f1"][id(one)])
    held_out = HeldOut(model, LearnedText(model, [text]))
    assert held_out.better(new, model) is new
    better[change][id(new)] += 2 if change == "perplexity" else -0.01
    assert held_out.better(new, model) is model


def test_text_without_capital_letters(model: Punctuator, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is learned from in the case that restoration gives it; which words have capitals stays known."""
    monkeypatch.setattr(RunningReader, "in_cases", lambda self, words, *_: [*map(str.title, words)])
    lines = LearnedText(model, [text.lower()])
    line = LearnedText(model, [text.lower().replace("\n", " ")])
    assert line.texts.read > 0.9 * lines.texts.read
    assert not line.cased
    assert not lines.cased
    first = [one.tree.forms[0] for one in lines.once if one.tree.forms[0].isalpha()]
    assert [form[:1] for form in first] == [form[:1].upper() for form in first]
    with_capitals = LearnedText(model, [text])
    whole = [one for one in with_capitals.once if len(one.tree.forms) > 3]  # the small reader cuts off words
    assert len(with_capitals.cased) > 0.9 * len(whole)
    assert lines.with_capitals(model).conventions == model.conventions


def lines_of(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.usefixtures("quick")
def test_the_command(model_with_parser: Path, text: str, tmp_path: Path) -> None:
    """Folders, compressed files and CoNLL-U; the model can be used."""
    folder = tmp_path / "texts"
    folder.mkdir()
    lines = text.split("\n")
    random.Random(0).shuffle(lines)
    lines_of(folder / "a.txt", lines[:100])
    (folder / "b.txt.gz").write_bytes(gzip.compress("\n".join(lines[100:]).encode()))
    report = answer("adapt", model_with_parser, folder, "--out", tmp_path / "out", "--threads", 1)
    assert report["model"] == str(tmp_path / "out.safetensors")
    assert math.isfinite(report["after"]["perplexity"])
    model = Punctuator.load(tmp_path / "out")
    one = replace(model, report={"text": {**model.report["text"], "new": ["reader"]}})
    assert list(adaptation_report(one, tmp_path / "out").text_parts)[-3:-1] == [
        "new parts: reader of running text",
        "unchanged, because no better: weights for parsed trees, tagger",
    ]
    assert not (tmp_path / "out.unfinished").exists()
    assert printed("restore", tmp_path / "out", lines_of(tmp_path / "words.txt", ["the harbor was closed"]))


def test_errors_of_the_command(model_with_parser: Path, small: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    unmarked = lines_of(
        tmp_path / "unmarked.txt", [f"the harbor {number} was closed" for number in range(200)]
    )
    damaged = lines_of(tmp_path / "damaged.txt.gz", ["the harbor was closed."] * 200)
    for given, message in (
        ((model_with_parser, tmp_path / "empty"), "there is no file in it"),
        ((model_with_parser, tmp_path / "none.txt"), "there is no file of this name"),
        ((model_with_parser, damaged), f"{damaged}: cannot be decompressed"),
        ((model_with_parser, unmarked), "no punctuation to learn from"),
        ((small / "model", unmarked), "has no parser"),
        ((model_with_parser, unmarked, "--resume"), "nothing to resume"),
    ):
        assert message in complaint(2, "adapt", *given, "--threads", 1)
