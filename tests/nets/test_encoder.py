"""Encoders: what they say of words, how they are found, what is refused."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from encoders import MadeUp, made_encoder
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.errors import MissingPartError
from pyropunct.nets.adapters import pretrained_from
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.opened_encoder import MOST_PIECES, _cuts
from pyropunct.nets.pretrained import CachedFeatures

pytestmark = pytest.mark.usefixtures("single_precision")

SENTENCES = [["She", "left", "Paris", "early"], ["No"], ["a" * 300, "", "\N{PILE OF POO}", "left"]]


def test_features_of_words(encoder: Path) -> None:
    found = Encoder(encoder).features(SENTENCES)
    assert found.shape == (3, 4, 16)
    assert found.dtype == torch.float
    assert (found[1, 1:] == 0).all()
    assert (found[1, 0] != 0).any()
    assert (found[0, 1] - found[2, 3]).abs().max() > 0.01  # the same word among others
    assert torch.equal(found, found.half().float())
    for sentence, row in zip(SENTENCES, found, strict=True):
        [alone] = Encoder(encoder).features([sentence])
        torch.testing.assert_close(row[: len(sentence)], alone, atol=5e-3, rtol=0)


def test_no_sentence_and_no_word(encoder: Path) -> None:
    assert Encoder(encoder).features([]).shape == (0, 0, 16)
    assert Encoder(encoder).features([[], ["a"]]).shape == (2, 1, 16)


def test_features_are_the_means_over_layers_and_pieces(encoder: Path) -> None:
    import transformers

    model = transformers.AutoModel.from_pretrained(encoder, dtype=torch.float).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    numbers = tokenizer("she left", return_tensors="pt")
    with torch.no_grad():
        states = model(**numbers, output_hidden_states=True).hidden_states
    mean = (states[2] + states[3])[0] / 2  # of three layers: those at a half, at five sixths, and the last
    words = torch.stack([mean[1:4].mean(0), mean[4:8].mean(0)])
    [found] = Encoder(encoder).features([["She", "left"]])
    torch.testing.assert_close(found, words, atol=2e-3, rtol=0)


def test_a_long_sentence_is_read_in_windows(encoder: Path) -> None:
    words = [letter * 3 for letter in "abcdefghij"] * 20
    [found] = Encoder(encoder).features([words])
    assert found.shape == (200, 16)
    assert (found.abs().sum(-1) > 0).all()
    first, second, *_ = _cuts([3] * 200, 62)  # of 64 pieces, two are special
    assert first == (range(20), range(10))
    for seen, core in (first, second):
        [alone] = Encoder(encoder).features([words[seen.start : seen.stop]])
        own = alone[core.start - seen.start : core.stop - seen.start]
        torch.testing.assert_close(found[core.start : core.stop], own, atol=5e-3, rtol=0)


@given(st.lists(st.integers(1, MOST_PIECES)), st.integers(2 * MOST_PIECES, 100))
def test_windows_have_every_word_once(lengths: Sequence[int], room: int) -> None:
    cuts = list(_cuts(lengths, room))
    assert [word for _, core in cuts for word in core] == list(range(len(lengths)))
    for seen, core in cuts:
        assert sum(lengths[word] for word in seen) <= room
        assert set(core) <= set(seen)


def test_features_are_computed_once() -> None:
    source = MadeUp()
    kept = CachedFeatures(source)
    wanted = MadeUp().features([["a"], ["b", "c"], ["a"]])
    assert torch.equal(kept.features([["a"], ["b", "c"], ["a"]]), wanted)
    assert torch.equal(kept.features([["b", "c"]]), wanted[1:2])
    assert source.asked == [("a",), ("b", "c")]


def test_what_a_folder_keeps(encoder: Path, tmp_path: Path) -> None:
    plain, tensors = Encoder(encoder).to_parts()
    assert tensors == {}
    assert plain["place"] == str(encoder)
    assert (plain["size"], plain["layers"]) == (16, [2, 3])
    again = pretrained_from(json.loads(json.dumps(plain)), {})
    assert again is not None
    assert again.to_parts() == (plain, {})
    assert torch.equal(again.features(SENTENCES), Encoder(encoder).features(SENTENCES))
    moved = shutil.copytree(encoder, tmp_path / "moved")
    other = pretrained_from(plain, {}, moved)
    assert other is not None
    assert other.to_parts()[0] == {**plain, "place": str(moved)}
    assert torch.equal(other.features(SENTENCES), again.features(SENTENCES))


@pytest.mark.parametrize(
    ("name", "value"), [("size", 0), ("size", "16"), ("layers", [1.5]), ("place", 3), ("weights", None)]
)
def test_parts_of_something_else(encoder: Path, name: str, value: object) -> None:
    plain, _ = Encoder(encoder).to_parts()
    with pytest.raises(ValueError, match="of the encoder"):
        pretrained_from({**plain, name: value}, {})


def test_models_with_features_of_another_kind() -> None:
    with pytest.raises(MissingPartError, match=r"^the model reads word vectors, .* fit it again.*$"):
        pretrained_from({"kind": "vectors", "size": 2}, {})
    with pytest.raises(ValueError, match="no pretrained features of the kind 'else'"):
        pretrained_from({"kind": "else"}, {})


def test_another_encoder_than_that_of_training(encoder: Path, tmp_path: Path) -> None:
    plain, _ = Encoder(encoder).to_parts()
    others = {
        "has other weights": made_encoder(tmp_path / "weights", seed=1),
        "gives 12 features of a word, not 16": made_encoder(tmp_path / "size", size=12),
        "cuts words into other pieces": made_encoder(tmp_path / "pieces", others="äö"),
    }
    for problem, folder in others.items():
        with pytest.raises(MissingPartError, match=f"{folder}: is not the one .*: it {problem}; name the"):
            Encoder.from_parts(plain, folder).features([["a"]])


def test_places(encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that was downloaded before, and one in an installed package."""
    import huggingface_hub

    identity = Encoder(encoder).identity()
    cache = tmp_path / "cache"
    shutil.copytree(encoder, cache / "models--me--tiny" / "snapshots" / "abc")
    (cache / "models--me--tiny" / "refs").mkdir()
    (cache / "models--me--tiny" / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
    assert Encoder("me/tiny").identity() == identity
    installed = tmp_path / "installed"
    shutil.copytree(encoder, installed / "some_model" / "model")
    (installed / "some_model" / "__init__.py").write_text("raise SystemExit('code was run')")
    about = installed / "some_model-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-model\nVersion: 1.0\n")
    files = [path.relative_to(installed) for path in installed.rglob("*") if path.is_file()]
    (about / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    monkeypatch.syspath_prepend(str(installed))
    assert Encoder("some-model").identity() == identity


@pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "../nothing", "two words", "a/b/c"])
def test_nothing_is_downloaded(name: str, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("a connection was opened")

    for name_of in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name_of, connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    Encoder(encoder).open()
    with pytest.raises(MissingPartError, match=rf"^encoder {name}: is not there: .* nothing is downloaded"):
        Encoder(name).open()


def test_what_is_refused(encoder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    def copy(name: str) -> Path:
        return shutil.copytree(encoder, tmp_path / name)

    nothing = copy("nothing")
    (nothing / "config.json").unlink()
    pickled = copy("pickled")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    lacking = copy("lacking")
    weights = load_file(lacking / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, lacking / "model.safetensors", {"format": "pt"})
    damaged = copy("damaged")
    (damaged / "model.safetensors").write_bytes(b"nonsense")
    code = copy("code")
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine", "AutoModel": "mine.Mine"}}
    (code / "config.json").write_text(json.dumps(config))
    (code / "mine.py").write_text("raise SystemExit('code was run')")
    tokenizer = copy("tokenizer")
    richer = made_encoder(tmp_path / "richer", others="äöü")
    shutil.copy(richer / "tokenizer.json", tokenizer)
    problems = {
        tokenizer: "cannot be loaded: its tokenizer has other pieces than its weights",
        nothing: "is no encoder: it has no config.json",
        pickled: "has no file model.safetensors with all its weights",
        lacking: "cannot be loaded: its weights lack encoder.layer.1.output.dense.weight",
        damaged: "cannot be loaded: ",
        code: "cannot be loaded: it needs its own code, which is not run here",
    }
    for folder, problem in problems.items():
        with pytest.raises(MissingPartError) as caught:
            Encoder(folder).open()
        assert str(caught.value).startswith(f"encoder {folder}: {problem}")
        assert "\n" not in str(caught.value)


def with_settings(encoder: Path, place: Path, name: str, **changes: object) -> Path:
    """A copy of an encoder with other settings in one of its files."""
    folder = shutil.copytree(encoder, place)
    plain = json.loads((folder / name).read_text("utf-8"))
    (folder / name).write_text(json.dumps(plain | changes), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"num_hidden_layers": 2000}, "it has 2,000 layers; the most are 100"),
        ({"num_hidden_layers": 100}, "its settings describe "),
        ({"intermediate_size": 10**9}, "its settings describe "),
        ({"model_type": "bark"}, "its type is bark, not one of "),
        ({"layer_norm_eps": float("nan")}, "it computes numbers that are not finite"),
    ],
)
def test_settings_that_ask_for_more_than_the_weights(
    encoder: Path, tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    folder = with_settings(encoder, tmp_path / "more", "config.json", **changes)
    with pytest.raises(MissingPartError) as caught:
        Encoder(folder).open()
    assert str(caught.value).startswith(f"encoder {folder}: cannot be loaded: {problem}")


def test_settings_are_part_of_the_identity(encoder: Path, tmp_path: Path) -> None:
    plain, _ = Encoder(encoder).to_parts()
    other = with_settings(encoder, tmp_path / "other", "config.json", hidden_act="relu")
    with pytest.raises(MissingPartError, match="it has other settings"):
        Encoder.from_parts(plain, other).features([["a"]])
    same = with_settings(encoder, tmp_path / "same", "config.json", transformers_version="4.0")
    assert Encoder.from_parts(plain, same).features([["a"]]).isfinite().all()
    del plain["config"]  # as in models of earlier versions
    assert Encoder.from_parts(plain, other).features([["a"]]).isfinite().all()


def test_a_tokenizer_with_a_long_frame(encoder: Path, tmp_path: Path) -> None:
    pieces = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * 10_000
    frame = {"type": "TemplateProcessing", "single": pieces, "pair": pieces, "special_tokens": {}}
    folder = with_settings(encoder, tmp_path / "frame", "tokenizer.json", post_processor=frame)
    with pytest.raises(MissingPartError, match="its tokenizer puts too many pieces around a text"):
        Encoder(folder).open()


def test_attention_of_its_own_is_not_loaded(encoder: Path, tmp_path: Path) -> None:
    """A name like this is that of a repository with compiled code."""
    folder = with_settings(encoder, tmp_path / "own", "config.json", attn_implementation="someone/attention")
    opened = Encoder(folder).open()
    assert opened.model.config._attn_implementation in ("sdpa", "eager")
    assert torch.equal(opened.features(SENTENCES), Encoder(encoder).open().features(SENTENCES))


def replaced(pattern: dict[str, str], content: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": pattern, "content": content}


@pytest.mark.parametrize(
    ("normalizer", "problem"),
    [
        (
            {"type": "Sequence", "normalizers": [replaced({"Regex": "(?=.)"}, "123456789")] * 4},
            "its tokenizer may make a text more than 1000 times as long",
        ),
        (replaced({"String": "a"}, "b" * 2000), "its tokenizer may make a text"),
        (replaced({"String": ""}, "b" * 2000), "its tokenizer may make a text"),
        ({"type": "Prepend", "prepend": "b" * 2000}, "its tokenizer may make a text"),
        ({"type": "Precompiled", "precompiled_charsmap": "AAAA"}, "Precompiled: Error"),
        (
            {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="},
            "the tokenizer of an encoder fails",
        ),
        ({"type": "Sequence", "normalizers": [replaced({"String": "ab"}, "cd")] * 9}, None),
    ],
    ids=["growth", "one", "everywhere", "front", "damaged", "panic", "harmless"],
)
def test_tokenizers_that_explode(
    encoder: Path, tmp_path: Path, normalizer: object, problem: str | None
) -> None:
    folder = with_settings(
        encoder, tmp_path / "a", "tokenizer_config.json", tokenizer_class="TokenizersBackend"
    )
    folder = with_settings(folder, tmp_path / "b", "tokenizer.json", normalizer=normalizer)
    if problem is None:
        assert Encoder(folder).open()
        return
    with pytest.raises(MissingPartError) as caught:
        Encoder(folder).open()
    assert str(caught.value).startswith(f"encoder {folder}: cannot be loaded: {problem}")


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "more.safetensors"])
def test_parts_that_are_no_files(encoder: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(encoder, tmp_path / "pipe")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(MissingPartError, match=f"pipe: {name} is a device or a pipe, or too large"):
        Encoder(folder).open()
    (folder / name).unlink()
    with (folder / name).open("wb") as stream:
        stream.truncate(2**34 + 1)
    with pytest.raises(MissingPartError, match=f"pipe: {name} is a device or a pipe, or too large"):
        Encoder(folder).open()


def test_without_transformers(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingPartError, match="needs the package transformers: in the folder of"):
        Encoder(encoder).open()
