"""Ctrl-C in the middle of a fit, and going on later."""

import hashlib
import json
import pickle
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import answer, complaint, environment, invoke, one_line, printed
from conftest import try_few_shares

from pyropunct.errors import ModelFileError
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser, ParserTraining
from pyropunct.nets.reader_training import ReaderTraining
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe, SlotTaggerTraining
from pyropunct.punctuator import Punctuator
from pyropunct.train.checkpoints import own_folder, read_state, write_state
from pyropunct.train.fitting import NetworkRecipes
from pyropunct.train.story_training import Training

pytestmark = pytest.mark.usefixtures("single_precision")

INTERRUPTED, FAILURE, BAD_INPUT = 130, 1, 2
EPOCHS = 10


def fit(folder: Path, out: Path, *more: object) -> list[object]:
    """The arguments of a fit that takes some seconds."""
    common = [
        "fit",
        folder / "train.conllu",
        "--dev",
        folder / "dev.conllu",
        "--threads",
        1,
        "--epochs",
        EPOCHS,
    ]
    return [*common, "--out", out, *more]


INTERRUPTS_ITSELF = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
checkpoint, writings = sys.argv.pop(1), []
def watch(event, arguments):
    if event == "os.rename" and os.fspath(arguments[1]) == checkpoint:
        writings.append(event)
        if len(writings) == 2:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(watch)
runpy.run_module("pyropunct", run_name="__main__", alter_sys=True)
"""


def interrupted(arguments: list[object], checkpoint: Path) -> "subprocess.CompletedProcess[str]":
    """Call it in a new process, which is interrupted when it keeps the checkpoint for the second time.

    It sends the signal to itself: on a busy machine a fit may end before another process has seen it.
    """
    call = [sys.executable, "-c", INTERRUPTS_ITSELF, str(checkpoint), *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, env=environment(), timeout=240)


def assert_same_model(one: Path, other: Path) -> None:
    """Two models are equal in everything but the seconds that they took."""
    first, second = Punctuator.load(one), Punctuator.load(other)
    assert first.recipe == second.recipe
    assert first.vocabulary == second.vocabulary
    assert timeless(first) == timeless(second)
    assert set(first.values) == set(second.values)
    for name, value in first.values.items():
        assert torch.equal(value.to_dense(), second.values[name].to_dense()), name


def timeless(model: Punctuator) -> dict[str, Any]:
    return without_seconds(dict(model.report))


@pytest.fixture(scope="module")
def few(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Even smaller treebanks, since fits that are interrupted are in processes of their own."""
    folder = tmp_path_factory.mktemp("few")
    for split, size in (("train", 16), ("dev", 4)):
        sentences = (small / f"{split}.conllu").read_text(encoding="utf-8").split("\n\n")[:size]
        (folder / f"{split}.conllu").write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def whole(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of a fit that nothing interrupts."""
    out, default = tmp_path_factory.mktemp("whole") / "model", torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    try:
        printed(*fit(few, out))
    finally:
        torch.set_default_dtype(default)
    return out


def test_going_on_gives_the_model_of_an_uninterrupted_fit(few: Path, tmp_path: Path, whole: Path) -> None:
    """Interrupted in the second of the directions that it tries."""
    out, kept = tmp_path / "m", tmp_path / "m.unfinished"
    done = interrupted(fit(few, out), kept / "checkpoint.right")
    message = one_line(done.returncode, done.stdout, done.stderr, INTERRUPTED)
    advice = "continue with the same command and --resume"
    assert message == f"interrupted: finished epochs are kept in {kept}; {advice}"
    assert not out.exists()
    assert {path.name for path in kept.iterdir()} == {"checkpoint.left", "checkpoint.right"}
    (kept / ".checkpoint.right.abc123.new").write_bytes(b"half of a checkpoint, as a kill leaves it")
    printed(*fit(few, out, "--resume"))
    assert_same_model(out, whole)
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]


def stopping_after(epochs: int, run_epoch: Any) -> Any:
    """A training that is interrupted when so many epochs are done."""
    left = iter(range(epochs))

    def run(*arguments: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        run_epoch(*arguments)

    return run


def without_seconds(report: dict[str, Any]) -> dict[str, Any]:
    return {**report, "epochs": [{**epoch, "seconds": 0} for epoch in report["epochs"]]}


def test_going_on_with_the_parser(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished epochs are kept, also of what follows the parser, and are those of an uninterrupted fit."""
    networks = NetworkRecipes(
        ParserRecipe(epochs=3, least_steps=0, batch_words=200, lstm_size=20),
        ReaderRecipe(epochs=2, least_steps=0, form_size=8, lstm_size=12),
        SlotTaggerRecipe(epochs=2, least_steps=0, batch_words=100, slot_size=20),
    )
    monkeypatch.setattr("pyropunct.train.fitting.NetworkRecipes", lambda: networks)
    try_few_shares(monkeypatch)
    options = ("--direction", "left", "--epochs", 2, "--parser", "--folds", 2)
    expected = answer(*fit(few, tmp_path / "whole", *options))
    stops = (
        ("parser", ParserTraining, 2),
        ("reader", ReaderTraining, 1),
        ("fold-2", ParserTraining, 3),
        ("parsed", Training, 1),
        ("tagger", SlotTaggerTraining, 1),
    )
    kept = ["checkpoint.left"]
    for what, training, epochs in stops:
        with monkeypatch.context() as patch:
            patch.setattr(training, "run_epoch", stopping_after(epochs, training.run_epoch))
            more = ["--resume"] if len(kept) > 1 else []
            assert "--resume" in complaint(INTERRUPTED, *fit(few, tmp_path / "m", *options, *more))
        kept += ["checkpoint.fold-1"] * (what == "fold-2") + [f"checkpoint.{what}"]
        assert {path.name for path in (tmp_path / "m.unfinished").iterdir()} == set(kept)
    result = invoke(*fit(few, tmp_path / "m", *options, "--resume", "--json"))
    found = json.loads(result.stdout)
    assert found["parser"] == expected["parser"]
    assert found["reader"] == expected["reader"]
    assert without_seconds(found["parsed_trees"]) == without_seconds(expected["parsed_trees"])
    assert without_seconds(found["tagger"]) == without_seconds(expected["tagger"])
    told = [line for line in result.stderr.splitlines() if "epoch" in line]
    assert len(told) == 1
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d tagger, epoch 2 of 2: loss [\d.]+, dev perplexity [\d.]+, "
        r"[\d,]+ words a second, \d+ s so far",
        told[0],
    )
    models = [Punctuator.load(tmp_path / name) for name in ("m", "whole")]
    parsers = [model.parser.network for model in models if isinstance(model.parser, BiaffineParser)]
    both = [model.parsed.story for model in models if model.parsed is not None]
    taggers = [model.tagger.network for model in models if model.tagger is not None]
    for one, other in (parsers, both, taggers):
        state = other.state_dict()
        assert all(
            torch.equal(value.to_dense(), state[name].to_dense()) for name, value in one.state_dict().items()
        )
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["m", "whole"]


def test_going_on_with_the_second_of_three_seeds(few: Path, tmp_path: Path) -> None:
    options = ("--direction", "left", "--epochs", 2, "--seeds", 3)
    names, run_epoch, done = [f"m-{seed}" for seed in range(3)], Training.run_epoch, iter(range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "run_epoch", stopping_after(3, run_epoch))
        kept = tmp_path / "m-1.unfinished"
        result = invoke(*fit(few, tmp_path / "m", *options))
    assert (result.exit_code, str(kept) in result.stderr) == (INTERRUPTED, True)
    (first,) = tmp_path.glob("*.safetensors")
    written = first.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "run_epoch", lambda *given: (next(done), run_epoch(*given))[1])
        result = invoke(*fit(few, tmp_path / "m", *options, "--resume"))
    assert (result.exit_code, next(done, None)) == (0, None)
    assert sorted(path.stem for path in tmp_path.iterdir()) == names
    assert first.read_bytes() == written
    printed(*fit(few, tmp_path / "one", "--direction", "left", "--epochs", 2, "--seed", 1))
    assert_same_model(tmp_path / "m-1", tmp_path / "one")


def test_interrupted_before_an_epoch_was_finished(few: Path, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyropunct.train.story_training.Training.step", interrupt)
        assert complaint(INTERRUPTED, *fit(few, tmp_path / "m")) == "interrupted: no epoch was finished"
    assert not list(tmp_path.iterdir())


def test_interrupted_elsewhere(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyropunct.punctuator.Punctuator.evaluation_sums", interrupt)
    assert complaint(INTERRUPTED, "evaluate", small / "model", small / "dev.conllu") == "interrupted"


# Going on with something else, in this process: epochs are few, and the interruption is simulated.


@pytest.fixture(scope="module")
def half_done(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoints of a fit that was interrupted after its first epoch.  Copy them."""
    run_epoch, out = Training.run_epoch, tmp_path_factory.mktemp("half") / "m"

    def once(training: Training, watch: Any = None) -> None:
        if training.epochs:
            raise KeyboardInterrupt
        run_epoch(training, watch)

    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "run_epoch", once)
        assert "--resume" in complaint(INTERRUPTED, *fit(few, out, "--direction", "left"))
    torch.set_default_dtype(default)
    return out.with_name("m.unfinished")


@pytest.fixture
def unfinished(half_done: Path, tmp_path: Path) -> Path:
    """Where the model will be of the fit that was interrupted."""
    shutil.copytree(half_done, tmp_path / "m.unfinished")
    return tmp_path / "m"


@pytest.mark.parametrize(
    "change", [("--seed", 1), ("--families", "head"), ("--epochs", 3), ("--guide", "normal")]
)
def test_going_on_with_other_settings(few: Path, unfinished: Path, change: tuple[str, object]) -> None:
    message = complaint(BAD_INPUT, *fit(few, unfinished, "--direction", "left", "--resume", *change))
    assert message.startswith(f"{unfinished}.unfinished/checkpoint.left: this checkpoint is of other data, ")
    assert not unfinished.exists()


def test_going_on_with_other_data(few: Path, unfinished: Path) -> None:
    more = ("--direction", "left", "--resume", "--dev", few / "train.conllu")
    assert "is of other data, settings or another seed" in complaint(BAD_INPUT, *fit(few, unfinished, *more))


@pytest.mark.parametrize("content", [b"", b"no checkpoint", None])
def test_going_on_from_a_damaged_checkpoint(few: Path, unfinished: Path, content: bytes | None) -> None:
    path = unfinished.with_name("m.unfinished") / "checkpoint.left"
    path.write_bytes(path.read_bytes()[:1000] if content is None else content)
    message = complaint(BAD_INPUT, *fit(few, unfinished, "--direction", "left", "--resume"))
    assert message.startswith(f"{path}: is damaged")


def test_any_other_bit_of_a_checkpoint_is_noticed(unfinished: Path) -> None:
    path = unfinished.with_name("m.unfinished") / "checkpoint.left"
    content, chance = path.read_bytes(), random.Random(0)
    read_state(path)
    for place in (0, len(content) - 1, *(chance.randrange(len(content)) for _ in range(30))):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=f"^{path}: is damaged"):
            read_state(path)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04", pickle.dumps(print, protocol=2)])
def test_a_made_up_checkpoint(tmp_path: Path, content: bytes) -> None:
    """Its checksum is right; torch raises other errors for each, and runs no code."""
    path = tmp_path / "checkpoint"
    path.write_bytes(hashlib.sha256(content).digest() + content)
    with pytest.raises(ModelFileError, match=f"^{path}: cannot be read"):
        read_state(path)


def test_another_process_trains_to_the_same_place(few: Path, unfinished: Path) -> None:
    """A process that is killed holds nothing any more."""
    folder = unfinished.with_name("m.unfinished")
    kept = (folder / "checkpoint.left").read_bytes()
    hold = "import sys, time, pathlib; from pyropunct.files import held\n"
    hold += "with held(pathlib.Path(sys.argv[1])): print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", hold, folder], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for more in ((), ("--resume",)):
            message = complaint(BAD_INPUT, *fit(few, unfinished, "--direction", "left", *more))
            assert message == f"{folder}: another process is training there: wait, or choose another --out"
        other.kill()
    assert (folder / "checkpoint.left").read_bytes() == kept
    with own_folder(folder):
        pass


@pytest.mark.parametrize("kind", ["file", "link"])
def test_something_else_stands_where_checkpoints_go(few: Path, tmp_path: Path, kind: str) -> None:
    """It is told before training, and stays."""
    place = tmp_path / "m.unfinished"
    if kind == "file":
        place.write_text("mine")
    else:
        (tmp_path / "theirs").mkdir()
        place.symlink_to(tmp_path / "theirs")
    message = complaint(BAD_INPUT, *fit(few, tmp_path / "m"))
    problem = "cannot write there" if kind == "file" else "is a link, not a folder for checkpoints; remove it"
    assert message.startswith(f"{place}: {problem}")
    assert place.read_text() == "mine" if kind == "file" else not any((tmp_path / "theirs").iterdir())


def test_going_on_from_a_checkpoint_that_lacks_something(few: Path, unfinished: Path) -> None:
    path = unfinished.with_name("m.unfinished") / "checkpoint.left"
    state = read_state(path)
    del state["optimisers"]
    write_state(path, state)
    message = complaint(BAD_INPUT, *fit(few, unfinished, "--direction", "left", "--resume"))
    assert message == f"{path}: is damaged: KeyError: 'optimisers'"


def test_starting_anew_forgets_what_was_unfinished(few: Path, unfinished: Path) -> None:
    """What another fit left cannot come back when the new one is resumed."""
    kept = unfinished.with_name("m.unfinished")
    shutil.copy(kept / "checkpoint.left", kept / "checkpoint.right")
    (kept / "notes.txt").write_text("mine")
    result = invoke(*fit(few, unfinished, "--direction", "left", "--seed", 1, "--epochs", 2))
    told = f"pyropunct: {kept}: training starts anew, without --resume: epochs of an earlier try are deleted"
    assert told in result.stderr.splitlines()
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]


def test_a_model_that_cannot_be_written_after_training(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost: the training can be resumed, and then there is only the model left to write."""

    replace = Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.suffix == ".safetensors":
            raise OSError(28, "No space left on device")
        return replace(path, target)

    arguments = fit(few, tmp_path / "m", "--direction", "left", "--epochs", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", full)
        message = complaint(FAILURE, *arguments)
    problem = "m.safetensors: cannot be written: No space left on device; finished epochs"
    assert message.startswith(f"{tmp_path}/{problem}")
    printed(*arguments, "--resume")
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]
