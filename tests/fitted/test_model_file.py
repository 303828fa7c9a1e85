"""Models in files: whole or not at all, and nothing in them is believed without a look."""

import json
import os
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from model_files import changed, changed_as_stored, copied
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from pyropunct.errors import ModelFileError, VariantError
from pyropunct.files import model_path, written_whole
from pyropunct.fitted.model_file import MODEL, check_writable, read_model_file, write_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variants import Trusted
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.learned import other_values
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser, train_parser
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.rival import BiLSTMCRF, train_rival
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import SPECIAL
from pyropunct.train.checkpoints import read_state, write_state
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import SHOWS_CLAUSES

PLAIN: dict[str, Any] = {"vocabulary": {"tokens": ["“", "\t^"]}, "report": {"y": [1, None]}}
VALUES = {"part/a b": torch.arange(6.0).reshape(2, 3), "empty": torch.zeros(0), "one": torch.tensor(7)}
OTHER = {**PLAIN, "report": {}}


def change(model: Path, part: str, **changes: object) -> None:
    """Change a part of a model's description."""
    with changed(model) as (description, _):
        description[part].update(changes)


@pytest.fixture
def model(small: Path, tmp_path: Path) -> Path:
    """A copy of a fitted model."""
    return copied(small / "model", tmp_path / "model")


def refused(model: Path, problem: str) -> None:
    """Loading raises an error of one line, which names the file and the fault."""
    with pytest.raises(ModelFileError, match=problem) as caught:
        Punctuator.load(model)
    assert str(caught.value).startswith(f"{model}: ")
    assert "\n" not in str(caught.value)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_round_trip(tmp_path: Path) -> None:
    write_model_file(tmp_path / "deep" / "m", PLAIN, VALUES)
    for name in ("m", "m.safetensors"):
        description, tensors = read_model_file(tmp_path / "deep" / name)
        assert description == PLAIN
        assert set(tensors) == set(VALUES)
        assert all(torch.equal(tensors[name], value) for name, value in VALUES.items())
    assert names(tmp_path / "deep") == ["m.safetensors"]


def test_other_programs_can_read_it(tmp_path: Path) -> None:
    """As docs/reference/model-file.md shows."""
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    with safe_open(tmp_path / "m.safetensors", "pt") as file:
        assert json.loads(file.metadata()["pyropunct model"])["description"] == PLAIN
    assert load_file(tmp_path / "m.safetensors").keys() == VALUES.keys()


def test_a_model_is_replaced(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    write_model_file(tmp_path / "m.safetensors", OTHER, {})
    description, tensors = read_model_file(tmp_path / "m")
    assert (description["report"], tensors) == ({}, {})
    assert names(tmp_path) == ["m.safetensors"]


def test_a_file_without_the_ending_is_read(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    (tmp_path / "m.safetensors").rename(tmp_path / "renamed")
    assert read_model_file(tmp_path / "renamed")[0] == PLAIN


# Failures while writing


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "step"), [(os, "fdopen"), (os, "fsync"), (Path, "chmod"), (Path, "replace")]
)
@pytest.mark.parametrize(
    ("failure", "error"),
    [(full, "m.safetensors: cannot be written: No space left on device"), (interrupt, "")],
)
@pytest.mark.parametrize("exists", [True, False])
def test_failure_while_writing(
    tmp_path: Path, owner: object, step: str, failure: Callable[..., None], error: str, exists: bool
) -> None:
    """The old model is there as it was, and nothing else."""
    if exists:
        write_model_file(tmp_path / "m", PLAIN, VALUES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, step, failure)
        with pytest.raises(ModelFileError if error else KeyboardInterrupt, match=error):
            write_model_file(tmp_path / "m", OTHER, {})
    assert names(tmp_path) == ["m.safetensors"] * exists
    if exists:
        assert read_model_file(tmp_path / "m")[0] == PLAIN


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_without_the_right_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ModelFileError, match="cannot write there: Permission denied"):
        write_model_file(tmp_path / "m", PLAIN, VALUES)


@pytest.mark.parametrize("failure", [full, interrupt])
def test_failure_while_writing_a_checkpoint(tmp_path: Path, failure: Callable[..., None]) -> None:
    path = tmp_path / "new" / "checkpoint"
    write_state(path, {"epoch": 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", failure)
        with pytest.raises((ModelFileError, KeyboardInterrupt)):
            write_state(path, {"epoch": 2})
    assert read_state(path) == {"epoch": 1}
    assert names(path.parent) == ["checkpoint"]


def test_a_state_comes_back(tmp_path: Path) -> None:
    shared = torch.arange(4.0)
    state = {
        "weights": {"a.b": shared, "again": shared, "view": shared[::2], "step": torch.tensor(3)},
        "optimiser": {"state": {0: {"sum": torch.zeros(2)}}, "groups": [{"betas": (0.9, 0.1)}]},
        "merit": float("-inf"),
        "scores": None,
    }
    write_state(tmp_path / "s", state)
    found = read_state(tmp_path / "s")
    assert found["weights"].keys() == state["weights"].keys()  # type: ignore[attr-defined]
    for name, tensor in state["weights"].items():  # type: ignore[attr-defined]
        assert torch.equal(found["weights"][name], tensor)
    assert torch.equal(found["optimiser"]["state"][0]["sum"], torch.zeros(2))
    assert found["optimiser"]["groups"] == [{"betas": (0.9, 0.1)}]
    assert (found["merit"], found["scores"]) == (float("-inf"), None)


# Places


@pytest.mark.parametrize("content", [b"", b"mine", b"weights"])
def test_only_models_are_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.safetensors"
    if content == b"weights":
        save_file({"a": torch.ones(1)}, path, {"format": "pt"})
        content = path.read_bytes()
    path.write_bytes(content)
    for attempt in (lambda: check_writable(path), lambda: write_model_file(path, PLAIN, VALUES)):
        with pytest.raises(ModelFileError, match=r"m\.safetensors: is not the file of a model"):
            attempt()
    assert path.read_bytes() == content


def test_a_folder_is_no_place_for_a_model(tmp_path: Path) -> None:
    for path in (tmp_path, Path("."), Path("/"), Path("..")):
        with pytest.raises(ModelFileError, match="is a folder, not a file for a model"):
            check_writable(path)


def test_models_of_other_versions_are_replaced(tmp_path: Path) -> None:
    save_file({}, tmp_path / "m.safetensors", {MODEL: '{"version": 7}'})
    with pytest.raises(ModelFileError, match="has version 7, this program reads version 2"):
        read_model_file(tmp_path / "m")
    check_writable(tmp_path / "m")


def test_a_link_leads_to_the_model(tmp_path: Path) -> None:
    """It stays a link, whether there is something where it leads to or not."""
    link, there = tmp_path / "link.safetensors", tmp_path / "new" / "there.safetensors"
    link.symlink_to(there)
    for plain in (PLAIN, OTHER):
        check_writable(link)
        write_model_file(link, plain, VALUES)
        assert link.is_symlink()
        assert read_model_file(there)[0] == plain
    assert names(tmp_path) == ["link.safetensors", "new"]


# Killed while saving


@pytest.mark.parametrize(
    ("owner", "step"), [(os, "fdopen"), (os, "fsync"), (Path, "chmod"), (Path, "replace")]
)
@pytest.mark.parametrize("after", [False, True])
def test_killed_while_saving(tmp_path: Path, owner: Any, step: str, after: bool) -> None:
    """The model is the old or the new one, and what was left is cleared away when it is next saved."""
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    child = os.fork()
    if not child:
        do = getattr(owner, step)

        def end(*arguments: Any, **more: Any) -> None:
            if after:
                do(*arguments, **more)
            os._exit(0)

        setattr(owner, step, end)
        write_model_file(tmp_path / "m", OTHER, {})
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    replaced = step == "replace" and after
    assert len(names(tmp_path)) == 2 - replaced
    assert read_model_file(tmp_path / "m")[0] == (OTHER if replaced else PLAIN)
    check_writable(tmp_path / "m")
    assert names(tmp_path) == ["m.safetensors"]


def test_what_another_process_saves_is_not_cleared_away(tmp_path: Path) -> None:
    with written_whole(tmp_path / "m.safetensors") as stream:
        check_writable(tmp_path / "m")
        assert len(names(tmp_path)) == 1
        stream.write(b"saved")
    assert names(tmp_path) == ["m.safetensors"]


# Files that are no models


def header(text: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if length is None else length) + text


def described(text: str, file_format: str = MODEL) -> bytes:
    """A file with a header, but no tensors."""
    return header(json.dumps({"__metadata__": {file_format: text}}).encode())


TENSOR = b'{"a": {"dtype": "F32", "shape": [%b], "data_offsets": [0, %b]}}'

NO_TENSORS_OF = {
    "empty": b"",
    "short": b"\x10\0\0",
    "pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    "zip": b"PK\x03\x04" + bytes(100),
    "header longer than the file": header(b"{}", 1000),
    "header of 2^63 bytes": header(b"{}", 2**63),
    "header of many bytes": header(b"{}", 200_000_000) + bytes(99),
    "no JSON": header(b"what"),
    "deep header": header(b"[" * 200_000),
    "larger than the file": header(TENSOR % (b"9", b"36")),
    "2^45 numbers": header(TENSOR % (b"35184372088832", b"4")) + bytes(4),
    "2^64 numbers": header(TENSOR % (b"4294967296, 4294967296", b"4")) + bytes(4),
    "bytes too many": header(TENSOR % (b"1", b"4")) + bytes(5),
}
CRAFTED = {
    **{name: (content, r"is damaged(?!.*text)") for name, content in NO_TENSORS_OF.items()},
    "a word": (b"word", "looks like text: MODEL comes before FILE"),
    "a comment of a treebank": (("#" + "é" * 9999).encode(), "looks like text: MODEL comes before FILE"),
    "nothing": (header(b"{}"), "is not the file"),
    "another program": (described("{}", "format"), "is not the file"),
    "no description": (described('{"version": 2}'), "lacks a description"),
    "description": (described('{"version": 2, "description": [], "sha256": ""}'), "lacks a description"),
    "no object": (described("[1, 2]"), "version None"),
    "version": (described('{"version": 7}'), "version 7, .* version 2"),
    "deep JSON": (described("[" * 200_000), "JSON"),
    "no number": (described('{"a": NaN}'), "NaN"),
    "too great a number": (described('{"a": 1e999}'), "1e999"),
    "short JSON": (described("{"), "JSON"),
    "checksum": (described('{"version": 2, "description": {}, "sha256": "0"}'), "checksum"),
}


@pytest.mark.parametrize(("content", "problem"), CRAFTED.values(), ids=CRAFTED)
def test_crafted_files(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    refused(path, problem)


def test_an_empty_description(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", {}, {})
    refused(tmp_path / "m", "'recipe'")


def test_any_bit_of_a_model_is_noticed(tmp_path: Path) -> None:
    write_model_file(tmp_path / "m", PLAIN, VALUES)
    path = model_path(tmp_path / "m")
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :])
        with pytest.raises(ModelFileError):
            read_model_file(path)


def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    for path in (tmp_path / "pipe.safetensors", tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ModelFileError, match=r"is a device or a pipe|no such model"):
            Punctuator.load(path)
    with pytest.raises(ModelFileError, match="is not the file of a model"):
        check_writable(tmp_path / "pipe")


def test_a_file_larger_than_any_model(tmp_path: Path) -> None:
    """It has no numbers that are not zeros, so it needs no space; no memory is given to it."""
    path, size = tmp_path / "m.safetensors", 1 << 40
    tensor = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    start = header(json.dumps({"__metadata__": {MODEL: "{}"}, "a": tensor}).encode())
    path.write_bytes(start)
    try:
        os.truncate(path, len(start) + size)
    except OSError:
        pytest.skip("the file system has no files as large as this")
    with pytest.raises(ModelFileError, match="is larger than any model"):
        read_model_file(path)


# Hostile models, with the right checksum


WEIGHTS, EDITS = "story/attach.weights", "story/channel.channel.edit_logits"
PRIOR, BIGRAMS = "story/channel.channel._prior_mean", "story/channel.bigrams.probabilities"
SYNTAX = "story/syntax.probabilities"
STARTS, KINDS = "story/attach.starts", "story/attach.kinds"


def put(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[dict[str, Any]], None]:
    """A change of a tensor."""
    return lambda tensors: tensors.update({name: change(tensors[name])})


def half(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[: len(tensor) // 2].clone()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (put(f"{WEIGHTS}:gaps", torch.Tensor.float), "gaps .*float32"),
        (put(f"{WEIGHTS}:gaps", half), f"{WEIGHTS} .* gap"),
        (lambda tensors: tensors.pop(f"{WEIGHTS}:gaps"), "form"),
        (lambda tensors: tensors.update({WEIGHTS: torch.zeros(3)}), "form"),
        (put(f"{WEIGHTS}:halves", lambda one: one * torch.nan), f"{WEIGHTS}' .* finite"),
        (put(f"{STARTS}:steps", torch.neg), "attach.weights"),
        (put(EDITS + ":singles", lambda one: one + 1e30), f"{EDITS}' .* large"),
        (put(KINDS, torch.Tensor.half), f"{KINDS} .*float16"),
        (put(KINDS, torch.Tensor.bfloat16), f"{KINDS} .* foreign"),
        (put(KINDS, lambda one: one.to(torch.complex64)), f"{KINDS} .* foreign"),
        (put(KINDS, lambda one: one.to(torch.uint16)), f"{KINDS} .* foreign"),
    ],
)
def test_forms_that_do_not_fit(model: Path, change: Callable[[dict[str, Any]], object], problem: str) -> None:
    with changed_as_stored(model) as (_, tensors):
        change(tensors)
    refused(model, problem)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tensors: tensors.update({WEIGHTS: torch.zeros(3)}), "attach.weights"),
        (put("story/attach.keys", torch.zeros_like), "keys"),
        (put(KINDS, lambda one: one + 100), "kind"),
        (lambda tensors: tensors.pop(WEIGHTS), "attach.weights"),
        (lambda tensors: tensors.update({"story/more": torch.ones(1)}), "more"),
        (lambda tensors: tensors.update({"pets/cat": torch.ones(1)}), "'pets'"),
        (put(PRIOR, half), "_prior_mean .* shape"),
        (put(PRIOR, torch.Tensor.long), "_prior_mean .* type"),
        (put(BIGRAMS, torch.neg), "bigram .* distribution"),
        (put(BIGRAMS, half), "bigrams.probabilities .* shape"),
        (put(SYNTAX, lambda one: 2 * one), "syntax .* distribution"),
    ],
)
def test_tensors_that_do_not_fit(
    model: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    with changed(model) as (_, tensors):
        change(tensors)
    refused(model, problem)


def test_a_small_model(model_with_parser: Path, small: Path, tmp_path: Path) -> None:
    """It is rounded once: saved again, however, it stays the same."""
    fitted, dev = Punctuator.load(model_with_parser), list(read_treebank(small / "dev.conllu"))
    fitted.save(tmp_path / "small", small=True)
    loaded = Punctuator.load(tmp_path / "small")
    files = [model_path(path) for path in (model_with_parser, tmp_path / "small")]
    sizes = [path.stat().st_size for path in files]
    assert sizes[1] < 0.75 * sizes[0]
    assert loaded.evaluate(dev).perplexity == pytest.approx(fitted.evaluate(dev).perplexity, rel=1e-2)
    for again in (False, True):
        loaded.save(tmp_path / "again", small=again)
        assert model_path(tmp_path / "again").read_bytes() == files[1].read_bytes()
    assert isinstance(fitted.parser, BiaffineParser)
    assert isinstance(loaded.parser, BiaffineParser)
    assert loaded.parser.network.arcs.weight.detach().unique().numel() > 1000
    torch.testing.assert_close(
        loaded.parser.network.arcs.weight, fitted.parser.network.arcs.weight, rtol=0, atol=0.01
    )


@pytest.mark.parametrize(
    "name", ["variants:called", "os:system", "builtins:print", "variants:NoModule", "subprocess:Popen"]
)
@pytest.mark.parametrize("place", ["attach", "channel"])
def test_no_function_is_called_because_a_model_names_it(model: Path, place: str, name: str) -> None:
    """Not even of a module that is trusted."""
    change(model, "recipe", **{place: name})
    with pytest.raises(VariantError, match=f"'{name}' is no variant"):
        Punctuator.load(model, variants=[name])


PAYLOAD = """
from pathlib import Path
from pyropunct.models.channel.noisy_channel import Identity
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
    with pytest.raises(VariantError, match="'payload:Own'") as told:
        Punctuator.load(model, variants=variants)
    assert str(told.value).startswith(f"{model}: ")
    assert not (tmp_path / "exploded").exists()
    assert "payload" not in sys.modules
    for trusting in (True, ["payload:Own"]):
        with pytest.raises(ModelFileError):  # it is another channel than the one that was fitted
            Punctuator.load(model, variants=trusting)
        assert (tmp_path / "exploded").exists()
    del sys.modules["payload"]


NO_MODEL = "its parts do not make a model"


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("vocabulary", {"pairs": 1}),
        ("vocabulary", {"pairs": [[[0]]]}),
        ("vocabulary", {"tokens": None}),
        ("vocabulary", {"tokens": []}),
        ("vocabulary", {"tokens": [*SPECIAL, ""]}),
        ("vocabulary", {"forms": ["", "a", "a"]}),
        ("recipe", {"decay": 1}),
        ("conventions", {"quotes": {"“": 3}}),
        ("recipe", {"families": ["unheard-of"]}),
        ("recipe", {"families": 3}),
        ("recipe", {"direction": "up"}),
        ("recipe", {"edit_prior_scale": "wide"}),
        ("recipe", {"empty_score": 1e30}),
        ("recipe", {"empty_score": 10**400}),
        ("recipe", {"prior_keep": -1e30}),
        ("slot_strings", {"last": [[[","], -1]]}),
        ("slot_strings", {"others": [[[3], 1]]}),
        ("slot_strings", {"num_tokens": 0.5}),
    ],
)
def test_parts_of_another_kind(model: Path, part: str, changes: dict[str, object]) -> None:
    change(model, part, **changes)
    refused(model, NO_MODEL)


@pytest.mark.parametrize(
    "changes", [{"pairs": []}, {"pairs": [[[[], [99]]]]}, {"pairs": None}, {"report": 3}], ids=str
)
def test_the_model_for_parsed_trees_is_looked_at_too(
    model_with_parser: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    path = copied(model_with_parser, tmp_path / "model")
    change(path, "parsed", **changes)
    refused(path, NO_MODEL)


@pytest.mark.parametrize(
    ("lost", "problem"),
    [
        (("parsed",), "'parsed'"),
        (("recipe", "channel"), "'channel'"),
        (("vocabulary", SHOWS_CLAUSES), "version 1.2 or earlier: fit the model again"),
    ],
)
def test_missing_descriptions(
    model_with_parser: Path, tmp_path: Path, lost: tuple[str, ...], problem: str
) -> None:
    """Of a part, of a setting, and of what all earlier versions did without."""
    path = copied(model_with_parser, tmp_path / "model")
    with changed(path) as (description, _):
        *above, last = lost
        for name in above:
            description = description[name]
        del description[last]
    refused(path, problem)


def test_a_setting_that_is_newer_than_a_model_has_its_default(model: Path) -> None:
    with changed(model) as (description, _):
        del description["recipe"]["economy_weight"]
    assert Punctuator.load(model).recipe.economy_weight == Recipe().economy_weight


def test_sizes_are_compared_before_memory_is_given(model: Path) -> None:
    """Lists of 50,000 short names ask for tables of terabytes, and so do marks for an automaton."""
    vocabulary = read_model_file(model)[0]["vocabulary"]
    for name, problem in (
        ("tags", "syntax.probabilities .* shape"),
        ("tokens", "more than 200"),
    ):
        change(model, "vocabulary", **{name: [*vocabulary[name], *map(str, range(50_000))]})
        refused(model, problem)
        change(model, "vocabulary", **{name: vocabulary[name]})


@pytest.mark.parametrize("number", [-1, 10**6, 2**70, True, 0.5])
def test_tokens_that_there_are_none_of(model: Path, number: object) -> None:
    """Compiled code looks them up by their numbers."""
    pairs = read_model_file(model)[0]["vocabulary"]["pairs"]
    pairs[1][-1][0] = [number]
    change(model, "vocabulary", pairs=pairs)
    refused(model, "puncteme")


def test_a_context_with_the_weights_of_another_relation(model: Path, small: Path) -> None:
    """Nobody can tell when it is loaded, but no number is read that is not the context's own."""
    attach = Punctuator.load(model).story.attach
    assert isinstance(attach, LogLinearAttach)
    least = attach._parts.sizes.min(0)[attach.kinds.numpy()]
    weights = attach.weights.to_dense().split(attach.starts.diff().tolist())
    short = [one[:size] for one, size in zip(weights, least, strict=True)]
    starts = torch.tensor([0, *map(len, short)]).cumsum(0)
    assert starts[-1] < attach.starts[-1]
    with changed(model) as (_, tensors):
        tensors[WEIGHTS], tensors[STARTS] = torch.cat(short).float(), starts
    found = Punctuator.load(model).log_prob(read_treebank(small / "dev.conllu")[:5])
    assert found.isfinite().all()


def test_weights_that_no_training_comes_to_are_not_saved(small: Path, tmp_path: Path) -> None:
    model = Punctuator.load(small / "model")
    name = "channel.slip_logit"
    with (
        other_values(model.story, {name: torch.tensor(float("inf"))}),
        pytest.raises(ModelFileError, match="slip_logit' has a number that is not finite"),
    ):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


# Parsers, taggers and readers of running text


@pytest.fixture(scope="module")
def parts(small: Path) -> dict[str, tuple[dict[str, Any], dict[str, torch.Tensor]]]:
    """A small parser, a small rival and a small reader, taken apart."""
    dev = read_treebank(small / "dev.conllu")[:10]
    recipe = ParserRecipe(epochs=1, least_steps=1, lstm_size=4, arc_size=4, relation_size=4, form_size=4)
    rival = RivalRecipe(epochs=1, least_steps=1, word_size=4, hidden_size=4)
    reading = ReaderRecipe(epochs=1, least_steps=1, lstm_size=4, form_size=4)
    return {
        "parser": train_parser(dev, recipe=recipe).to_parts(),
        "rival": train_rival(BiLSTMCRF, dev, dev, rival).to_parts(),
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
    with pytest.raises(ModelFileError, match="reader"):
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
        (lambda tensors, name: tensors.pop(name), "the tensor {} is missing, or is not expected"),
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
            "recipe",
            {"parser": "upper_layers", "rival": "layers", "reader": "layers"},
            1000,
            "layers is 1000: it must be 0 to 100",
        ),
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
