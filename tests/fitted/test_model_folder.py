"""Model folders: whole or not at all, and no code in them is ever run."""

import hashlib
import io
import json
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pyropunct.fitted import model_file
from pyropunct.fitted.model_file import (
    DESCRIPTION,
    TENSORS,
    ModelFileError,
    check_writable,
    new_folder,
    read_model_file,
    read_sealed,
    write_model_file,
    write_sealed,
)
from pyropunct.fitted.registry import Trusted, UnknownVariantError, UntrustedVariantError
from pyropunct.fitted.small_tensors import whole
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.learned import other_values
from pyropunct.nets.parser import BiaffineParser, ParserRecipe, train_parser
from pyropunct.nets.reader import ReaderRecipe, RunningReader, train_reader
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.taggers.crf import BiLSTMCRF
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.training import train_rival
from pyropunct.treebank.reading import read_treebank

PLAIN: dict[str, Any] = {
    "vocabulary": {"tokens": ["“", "\t^"]},
    "recipe": {"x": 0.1},
    "report": {"y": [1, None]},
}
VALUES = {"a b": torch.arange(6.0).reshape(2, 3), "empty": torch.zeros(0)}
OTHER = {**PLAIN, "report": {}}


def with_checksum(model: Path) -> None:
    """Give a model that was tampered with the right checksum."""
    path = model / DESCRIPTION
    description = json.loads(path.read_text(encoding="utf-8"))
    parts = ("vocabulary", "recipe", "report", "conventions", "parser", "slot_strings", "reader", "parsed")
    parts += ("pretrained", "tagger")
    plain = [description[part] for part in parts if part in description]
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    digest.update((model / TENSORS).read_bytes())
    path.write_text(json.dumps({**description, "sha256": digest.hexdigest()}))


def change(model: Path, part: str, **changes: object) -> None:
    """Change a part of a model's description, the checksum as well."""
    path = model / DESCRIPTION
    description = json.loads(path.read_text(encoding="utf-8"))
    description[part].update(changes)
    path.write_text(json.dumps(description))
    with_checksum(model)


@pytest.fixture
def model(small: Path, tmp_path: Path) -> Path:
    """A copy of a fitted model."""
    return Path(shutil.copytree(small / "model", tmp_path / "model"))


def test_round_trip(tmp_path: Path) -> None:
    write_model_file(tmp_path / "deep" / "m", PLAIN, VALUES)
    description, tensors = read_model_file(tmp_path / "deep" / "m")
    assert {key: description[key] for key in PLAIN} == PLAIN
    assert set(tensors) == set(VALUES)
    assert all(torch.equal(tensors[name], value) for name, value in VALUES.items())
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert {path.name for path in (tmp_path / "deep" / "m").iterdir()} == {DESCRIPTION, TENSORS}


def test_a_model_is_replaced(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    write_model_file(tmp_path / "m", OTHER, {})
    description, tensors = read_model_file(tmp_path / "m")
    assert (description["report"], tensors) == ({}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_the_layout_of_the_json_is_free(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    path = tmp_path / "m" / DESCRIPTION
    description = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(dict(reversed(description.items()))), encoding="utf-8")
    read_model_file(tmp_path / "m")


# Failures while writing


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


STEPS = [(model_file, "_pack"), (Path, "write_bytes"), (Path, "write_text"), (Path, "mkdir")]


@pytest.mark.parametrize(("owner", "step"), STEPS)
@pytest.mark.parametrize(("failure", "error"), [(full, ModelFileError), (interrupt, KeyboardInterrupt)])
def test_failure_while_writing(
    tmp_path: Path, owner: object, step: str, failure: Callable[..., None], error: type[BaseException]
) -> None:
    """The old model is there as it was, and nothing else."""
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, step, failure)
        with pytest.raises(error):
            write_model_file(tmp_path / "m", OTHER, {})
    assert read_model_file(tmp_path / "m")[0]["report"] == PLAIN["report"]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(("failure", "error"), [(full, ModelFileError), (interrupt, KeyboardInterrupt)])
@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("exists", [True, False])
def test_failure_while_moving(
    tmp_path: Path, failure: Callable[..., None], error: type[BaseException], failing: int, exists: bool
) -> None:
    """Even between the two steps in which the new folder takes the place of the old."""
    if exists:
        write_model_file(tmp_path / "m", PLAIN, VALUES)
    rename, calls = Path.rename, iter(range(1, 9))

    def fail_once(path: Path, target: Path) -> Path:
        if next(calls) == failing - (not exists):
            failure()
        return rename(path, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", fail_once)
        if exists or failing == 2:
            with pytest.raises(error):
                write_model_file(tmp_path / "m", OTHER, {})
    assert [path.name for path in tmp_path.iterdir()] == ["m"] * exists
    if exists:
        assert read_model_file(tmp_path / "m")[0]["report"] == PLAIN["report"]


@pytest.mark.parametrize("failure", [full, interrupt])
def test_failure_while_writing_a_checkpoint(tmp_path: Path, failure: Callable[..., None]) -> None:
    path = tmp_path / "new" / "checkpoint"
    write_sealed(path, {"epoch": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", failure)
        with pytest.raises((ModelFileError, KeyboardInterrupt)):
            write_sealed(path, {"epoch": 2})
    assert read_sealed(path) == {"epoch": 1}
    assert [one.name for one in path.parent.iterdir()] == ["checkpoint"]


# Places


def test_only_models_and_empty_folders_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    check_writable(folder)
    write_model_file(folder, PLAIN, VALUES)
    check_writable(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ModelFileError, match="holds other things than a model"):
        check_writable(folder)
    with pytest.raises(ModelFileError, match="holds other things than a model"):
        write_model_file(folder, OTHER, {})
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("text", ['{"format": "layers-model"}', "[]", "no JSON"])
def test_models_of_other_programs_are_not_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / DESCRIPTION).write_text(text)
    (tmp_path / TENSORS).write_bytes(b"theirs")
    with pytest.raises(ModelFileError, match="holds other things than a model"):
        check_writable(tmp_path)


def test_models_of_other_versions_are_replaced(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    path = tmp_path / "m" / DESCRIPTION
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "version": 0}))
    with pytest.raises(ModelFileError, match="has version 0, this program reads versions 1, 2 and 3"):
        read_model_file(tmp_path / "m")
    check_writable(tmp_path / "m")


def test_a_link_leads_to_the_model(tmp_path: Path) -> None:
    """It stays a link, whether there is something where it leads to or not."""
    link, there = tmp_path / "link", tmp_path / "new" / "there"
    link.symlink_to(there)
    for plain in (PLAIN, OTHER):
        check_writable(link)
        write_model_file(link, plain, VALUES)
        assert link.is_symlink()
        assert read_model_file(there)[0]["report"] == plain["report"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new"]


# Killed while saving


def killed(step: str, number: int, folder: Path) -> None:
    """Save in a process that ends, as if killed, at the given call of a method of `Path`."""
    child = os.fork()
    if not child:
        method, calls = getattr(Path, step), iter(range(1, 99))

        def end(path: Path, *arguments: Any, **more: Any) -> Any:
            if next(calls) == number:
                os._exit(0)
            return method(path, *arguments, **more)

        setattr(Path, step, end)
        write_model_file(folder, OTHER, {})
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("step", "number", "report"),
    [
        ("write_bytes", 1, PLAIN["report"]),
        ("rename", 1, PLAIN["report"]),
        ("rename", 2, OTHER["report"]),  # the old model is away, and the new one not yet there
    ],
)
@pytest.mark.parametrize("by", [read_model_file, check_writable])
def test_killed_while_saving(
    tmp_path: Path, step: str, number: int, report: object, by: Callable[[Path], object]
) -> None:
    """The model is the old or the new one, and what was left is cleared away when it is next saved."""
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    killed(step, number, tmp_path / "m")
    assert len(list(tmp_path.iterdir())) == 1 + (number == 1)
    by(tmp_path / "m")
    assert read_model_file(tmp_path / "m")[0]["report"] == report
    check_writable(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_what_another_process_saves_is_not_cleared_away(tmp_path: Path) -> None:
    with new_folder(tmp_path / "m") as new:
        new.mkdir()
        check_writable(tmp_path / "m")
        assert new.is_dir()


# Hostile models, with the right checksum


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def bombs(path: Path) -> list[bytes]:
    """Pickles that run code, plain and in torch's format."""
    buffer = io.BytesIO()
    torch.save({"value attach.weights": Bomb(path)}, buffer)
    return [pickle.dumps({"value attach.weights": Bomb(path)}), buffer.getvalue()]


@pytest.mark.parametrize("kind", [0, 1])
def test_a_pickle_bomb_is_refused(model: Path, tmp_path: Path, kind: int) -> None:
    fuse = tmp_path / "exploded"
    (model / TENSORS).write_bytes(bombs(fuse)[kind])
    with_checksum(model)
    with pytest.raises(
        ModelFileError, match=r"tensors\.pt: cannot be read as tensors: it holds something else"
    ):
        Punctuator.load(model)
    assert not fuse.exists()
    pickle.loads(bombs(fuse)[0])
    assert fuse.exists()  # it would have worked


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04N.", b"\x00" * 1000])
def test_tensors_that_are_none(model: Path, content: bytes) -> None:
    (model / TENSORS).write_bytes(content)
    with_checksum(model)
    with pytest.raises(
        ModelFileError, match=r"tensors\.pt: (cannot be read as|holds no dictionary of) tensors"
    ):
        Punctuator.load(model)


WEIGHTS, EDITS = "value attach.weights", "value channel.channel.edit_logits"
PRIOR, BIGRAMS = "buffer channel.channel._prior_mean", "buffer channel.bigrams.probabilities"
SYNTAX = "buffer syntax.probabilities"
WORDS, COUNTS = "buffer syntax.words.seen", "buffer syntax.words.counts"


def put(tensors: dict[str, Any], name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Change a tensor, in whichever form it is stored."""
    tensors[name] = change(whole(tensors)[name])


def half(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[: len(tensor) // 2].clone()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tensors: tensors[WEIGHTS].update(size=3), "numbers outside of itself, or too many"),
        (lambda tensors: tensors[WEIGHTS].update(size=1 << 40), "numbers outside of itself, or too many"),
        (lambda tensors: tensors[WEIGHTS].update(gaps=torch.zeros(3)), "numbers of the type torch.uint8"),
        (lambda tensors: tensors[WEIGHTS].pop("gaps"), "value attach.weights is no tensor"),
        (lambda tensors: tensors.update({WEIGHTS: torch.zeros(3)}), "the value of the site attach.weights"),
        (lambda tensors: tensors["buffer attach.starts"]["steps"].neg_(), "does not ascend"),
        (lambda tensors: tensors["buffer attach.keys"].zero_(), "the keys of the contexts are not in order"),
        (lambda tensors: tensors["buffer attach.kinds"].add_(100), "contexts of an unknown kind"),
        (lambda tensors: tensors.pop(WEIGHTS), "the site attach.weights has no value"),
        (lambda tensors: tensors[WEIGHTS]["halves"].fill_(torch.nan), f"{WEIGHTS}' has a number that is not"),
        (
            lambda tensors: tensors.update({EDITS: torch.full((2,), 1e30)}),
            f"{EDITS}' has a number as large as",
        ),
        (
            lambda tensors: tensors.update({EDITS: torch.zeros(2, dtype=torch.half)}),
            f"{EDITS} is a tensor of a",
        ),
        (
            lambda tensors: tensors.update({EDITS: torch.zeros(2).to_sparse()}),
            f"{EDITS} is a tensor of a foreign",
        ),
        (
            lambda tensors: tensors.update({EDITS: torch.zeros(1).expand(1 << 45)}),
            f"{EDITS} has more numbers than",
        ),
        (lambda tensors: put(tensors, PRIOR, half), "channel.channel._prior_mean is of the shape"),
        (
            lambda tensors: put(tensors, PRIOR, torch.Tensor.long),
            "_prior_mean has numbers of the type",
        ),
        (
            lambda tensors: put(tensors, BIGRAMS, torch.neg),
            "the bigram model has a row that is no distribution",
        ),
        (
            lambda tensors: put(tensors, SYNTAX, lambda one: 2 * one),
            "the syntax model has a row that is no distribution",
        ),
        (lambda tensors: put(tensors, WORDS, half), "words of the syntax model are not counted once each"),
        (lambda tensors: put(tensors, COUNTS, torch.neg), "words of the syntax model are not counted"),
        (
            lambda tensors: put(tensors, WORDS, lambda one: one + 10**12),
            "the syntax model has words that its vocabulary does not",
        ),
        (lambda tensors: put(tensors, BIGRAMS, half), "channel.bigrams.probabilities is of the shape"),
    ],
)
def test_tensors_that_do_not_fit(
    model: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    tensors = torch.load(model / TENSORS, weights_only=True)
    change(tensors)
    torch.save(tensors, model / TENSORS)
    with_checksum(model)
    with pytest.raises(ModelFileError, match=re.escape(problem)) as caught:
        Punctuator.load(model)
    assert "\n" not in str(caught.value)


def test_a_small_model(model_with_parser: Path, small: Path, tmp_path: Path) -> None:
    """It is rounded once: saved again, however, it stays the same."""
    fitted, dev = Punctuator.load(model_with_parser), list(read_treebank(small / "dev.conllu"))
    fitted.save(tmp_path / "small", small=True)
    loaded = Punctuator.load(tmp_path / "small")
    sizes = [(folder / TENSORS).stat().st_size for folder in (model_with_parser, tmp_path / "small")]
    assert sizes[1] < 0.75 * sizes[0]
    assert loaded.evaluate(dev).perplexity == pytest.approx(fitted.evaluate(dev).perplexity, rel=1e-2)
    for again in (False, True):
        loaded.save(tmp_path / "again", small=again)
        assert (tmp_path / "again" / TENSORS).read_bytes() == (tmp_path / "small" / TENSORS).read_bytes()
    assert isinstance(fitted.parser, BiaffineParser)
    assert isinstance(loaded.parser, BiaffineParser)
    assert loaded.parser.network.arcs.weight.detach().unique().numel() > 1000
    torch.testing.assert_close(
        loaded.parser.network.arcs.weight, fitted.parser.network.arcs.weight, rtol=0, atol=0.01
    )


def test_folders_of_version_1_are_read(model: Path) -> None:
    """They have all tensors as they are."""
    expected = Punctuator.load(model)
    _, tensors = read_model_file(model)
    torch.save(tensors, model / TENSORS)
    path = model / DESCRIPTION
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "version": 1}))
    with_checksum(model)
    found = Punctuator.load(model)
    assert all(torch.equal(value, found.values[name]) for name, value in expected.values.items())


@pytest.mark.parametrize(
    "name", ["variants:called", "os:system", "builtins:print", "variants:NoModule", "subprocess:Popen"]
)
@pytest.mark.parametrize("place", ["attach", "channel"])
def test_no_function_is_called_because_a_model_names_it(model: Path, place: str, name: str) -> None:
    """Not even of a module that is trusted."""
    change(model, "recipe", **{place: name})
    with pytest.raises(
        UnknownVariantError, match=r"is no variant: it is not a subclass of (torch|pyropunct)"
    ):
        Punctuator.load(model, variants=[name])


PAYLOAD = """
from pathlib import Path
from pyropunct.models.channel.identity import Identity
Path(__file__).with_name("exploded").touch()

class Own(Identity):
    pass
"""


@pytest.mark.parametrize("variants", [(), False, ["payload"], ["other:Own"], "my_payload:Own"])
def test_no_module_is_imported_because_a_model_names_it(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: Trusted
) -> None:
    """Unless this very class is trusted, or all are."""
    (tmp_path / "payload.py").write_text(PAYLOAD)
    monkeypatch.syspath_prepend(tmp_path)
    change(model, "recipe", channel="payload:Own", channel_options={})
    with pytest.raises(
        UntrustedVariantError, match=r"its channel is 'payload:Own', no part of pyropunct"
    ) as told:
        Punctuator.load(model, variants=variants)
    assert str(told.value).startswith(f"{model}: ")
    assert not (tmp_path / "exploded").exists()
    assert "payload" not in sys.modules
    for trusting in (True, ["payload:Own"]):
        with pytest.raises(ModelFileError):  # it is another channel than the one that was fitted
            Punctuator.load(model, variants=trusting)
        assert (tmp_path / "exploded").exists()
    del sys.modules["payload"]


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("vocabulary", {"pairs": 1}),
        ("vocabulary", {"pairs": [[[0]]]}),
        ("vocabulary", {"tokens": None}),
        ("vocabulary", {"tokens": []}),
        ("vocabulary", {"forms": ["", "a", "a"]}),
        ("recipe", {"decay": 1}),
        ("conventions", {"quotes": {"“": 3}}),
        ("recipe", {"families": ["unheard-of"]}),
        ("recipe", {"families": 3}),
        ("recipe", {"direction": "up"}),
        ("recipe", {"edit_prior_scale": "wide"}),
        ("slot_strings", {"last": [[[","], -1]]}),
        ("slot_strings", {"others": [[[3], 1]]}),
        ("slot_strings", {"num_tokens": 0.5}),
    ],
)
def test_parts_of_another_kind(model: Path, part: str, changes: dict[str, object]) -> None:
    change(model, part, **changes)
    with pytest.raises(ModelFileError, match="cannot be made a model again"):
        Punctuator.load(model)


@pytest.mark.parametrize("part", ["vocabulary", "recipe", "report", "conventions", "slot_strings"])
def test_every_part_is_sealed(model: Path, part: str) -> None:
    """Not with the right checksum, for once."""
    path = model / DESCRIPTION
    description = json.loads(path.read_text(encoding="utf-8"))
    description[part]["more"] = 1
    path.write_text(json.dumps(description))
    with pytest.raises(ModelFileError, match="is damaged: its checksum is not the one"):
        Punctuator.load(model)


@pytest.mark.parametrize(
    "changes", [{"pairs": []}, {"pairs": [[[[], [99]]]]}, {"pairs": None}, {"report": 3}], ids=str
)
def test_the_model_for_parsed_trees_is_looked_at_too(
    model_with_parser: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    path = Path(shutil.copytree(model_with_parser, tmp_path / "model"))
    change(path, "parsed", **changes)
    with pytest.raises(ModelFileError, match="cannot be made a model again"):
        Punctuator.load(path)


def test_tensors_without_their_part(model_with_parser: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(model_with_parser, tmp_path / "model"))
    description = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
    del description["parsed"]
    (path / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(ModelFileError, match="is damaged: its checksum is not the one"):
        Punctuator.load(path)
    with_checksum(path)
    with pytest.raises(ModelFileError, match="there are tensors of the part 'parsed', but not the part"):
        Punctuator.load(path)


def test_missing_settings(model: Path) -> None:
    path = model / DESCRIPTION
    description = json.loads(path.read_text(encoding="utf-8"))
    del description["recipe"]["channel"]
    path.write_text(json.dumps(description))
    with_checksum(model)
    with pytest.raises(ModelFileError, match="cannot be made a model again: KeyError: 'channel'"):
        Punctuator.load(model)


@pytest.mark.parametrize("number", [-1, 10**6, 2**70, True, 0.5])
def test_tokens_that_there_are_none_of(model: Path, number: object) -> None:
    """Compiled code looks them up by their numbers."""
    pairs = json.loads((model / DESCRIPTION).read_text(encoding="utf-8"))["vocabulary"]["pairs"]
    pairs[1][-1][0] = [number]
    change(model, "vocabulary", pairs=pairs)
    with pytest.raises(ModelFileError, match="a puncteme is no list of whole numbers from 0 to"):
        Punctuator.load(model)


def test_no_json(model: Path) -> None:
    """What Python writes for a number that is none."""
    path = model / DESCRIPTION
    path.write_text(path.read_text(encoding="utf-8").replace('"seed": 0', '"seed": NaN'))
    with pytest.raises(ModelFileError, match="cannot be read as JSON: it has NaN, which is no number"):
        Punctuator.load(model)


def test_a_context_with_the_weights_of_another_relation(model: Path, small: Path) -> None:
    """Nobody can tell when it is loaded, but no number is read that is not the context's own."""
    tensors = torch.load(model / TENSORS, weights_only=True)
    attach = Punctuator.load(model).story.attach
    assert isinstance(attach, LogLinearAttach)
    least = attach._parts.sizes.min(0)[attach.kinds.numpy()]
    weights = attach.weights.split(attach.starts.diff().tolist())
    short = [one[:size] for one, size in zip(weights, least, strict=True)]
    tensors[WEIGHTS] = torch.cat(short).float()
    starts = torch.tensor([0, *map(len, short)]).cumsum(0)
    assert starts[-1] < attach.starts[-1]
    tensors["buffer attach.starts"] = starts
    torch.save(tensors, model / TENSORS)
    with_checksum(model)
    found = Punctuator.load(model).log_prob(read_treebank(small / "dev.conllu")[:5])
    assert found.isfinite().all()


def test_a_folder_of_an_older_version_has_no_words(model: Path) -> None:
    """What it dreams of are tags."""
    assert Punctuator.load(model).story.syntax(num_trees=5).form.any()
    tensors = torch.load(model / TENSORS, weights_only=True)
    for name in (WORDS, COUNTS):
        del tensors[name]
    torch.save(tensors, model / TENSORS)
    with_checksum(model)
    assert not Punctuator.load(model).story.syntax(num_trees=5).form.any()


def test_weights_that_no_training_comes_to_are_not_saved(small: Path, tmp_path: Path) -> None:
    model = Punctuator.load(small / "model")
    name = "channel.slip_logit"
    with (
        other_values(model.story, {name: torch.tensor(float("inf"))}),
        pytest.raises(ModelFileError, match="slip_logit' has a number that is not finite"),
    ):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


# The folders of parsers, taggers and readers of running text


@pytest.fixture(scope="module")
def parts(small: Path) -> dict[str, tuple[dict[str, Any], dict[str, torch.Tensor]]]:
    """A small parser, a small rival and a small reader, taken apart."""
    dev = read_treebank(small / "dev.conllu")[:10]
    recipe = ParserRecipe(epochs=1, least_steps=1, lstm_size=4, arc_size=4, relation_size=4, form_size=4)
    rival = RivalRecipe(epochs=1, least_steps=1, word_size=4, hidden_size=4)
    reading = ReaderRecipe(epochs=1, least_steps=1, lstm_size=4, form_size=4)
    return {
        "parser": train_parser(dev, recipe=recipe).to_parts(),
        "rival": train_rival("crf", dev, dev, rival).to_parts(),
        "reader": train_reader(dev, recipe=reading).to_parts(),
    }


def test_a_model_keeps_its_reader(small: Path, tmp_path: Path, parts: dict[str, Any]) -> None:
    reader = RunningReader.from_parts(*parts["reader"])
    replace(Punctuator.load(small / "model"), reader=reader).save(tmp_path / "m")
    loaded = Punctuator.load(tmp_path / "m").reader
    assert loaded is not None
    assert (loaded.vocabulary, loaded.recipe) == (reader.vocabulary, reader.recipe)
    words = ["so", "it", "is"]
    assert torch.equal(loaded.read(words).cases, reader.read(words).cases)
    change(tmp_path / "m", "reader", recipe={})
    with pytest.raises(ModelFileError, match="not the parts of a reader of running text"):
        Punctuator.load(tmp_path / "m")


MAKE: dict[str, Callable[..., object]] = {
    "parser": BiaffineParser.from_parts,
    "rival": BiLSTMCRF.from_parts,
    "reader": RunningReader.from_parts,
}


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tensors, name: tensors.pop(name), "the tensor {} is missing or too many"),
        (lambda tensors, name: tensors.update({name: tensors[name][:1]}), "{} is of the shape"),
        (lambda tensors, name: tensors.update({name: tensors[name].long()}), "{} has numbers of the type"),
    ],
)
def test_tensors_of_networks(
    parts: dict[str, Any], kind: str, change: Callable[..., object], problem: str
) -> None:
    plain, tensors = parts[kind][0], dict(parts[kind][1])
    MAKE[kind](plain, tensors)
    name = next(name for name, tensor in tensors.items() if tensor.dim() and len(tensor) > 1)
    change(tensors, name)
    with pytest.raises(ValueError, match=re.escape(problem.format(name))):
        MAKE[kind](plain, tensors)


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize(
    ("part", "name", "value", "problem"),
    [
        ("recipe", "dropout", "none", "the setting dropout is 'none'"),
        ("recipe", "learning_rate", -1, "the setting learning_rate is -1"),
        ("recipe", "epochs", 10**12, "the setting epochs is 1000000000000"),
        (
            "vocabulary",
            {"parser": "forms", "rival": "attributes", "reader": "others"},
            {"attributes": ["a"]},
            "the list of ",
        ),
        (
            "recipe",
            {"parser": "lstm_size", "rival": "hidden_size", "reader": "lstm_size"},
            900_000,
            "is of the shape",
        ),
    ],
)
def test_descriptions_of_networks(
    parts: dict[str, Any], kind: str, part: str, name: Any, value: object, problem: str
) -> None:
    """The last would take all memory if sizes were not compared first."""
    plain, tensors = parts[kind]
    name = name if isinstance(name, str) else name[kind]
    with pytest.raises(ValueError, match=re.escape(problem)):
        MAKE[kind]({**plain, part: {**plain[part], name: value}}, tensors)
