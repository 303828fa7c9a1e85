"""The files of a corpus."""

import gzip
import sys
import tracemalloc
from pathlib import Path

import pytest

from pyropunct.errors import InputError
from pyropunct.text.inputs import contents, files_of, kind_of
from pyropunct.text.lines import ByteLines

TEXT = b"however the meeting ended\n" * 20_000


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a.TXT.gz", "text"),
        ("a.conllu.zst", "conllu"),
        ("a.conllu", "conllu"),
        ("a.gz", None),
        ("a.pdf", None),
    ],
)
def test_names_tell_the_kind(name: str, kind: str | None) -> None:
    assert kind_of(f"x/{name}") == kind


def test_files_of_a_folder_and_of_a_pattern(tmp_path: Path) -> None:
    names = ["b.txt", "a/z.txt.gz", "a/b/c.conllu"]
    for name in [*names, ".hidden/x", "a/.x"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    in_order = ["a/b/c.conllu", "a/z.txt.gz", "b.txt"]
    assert files_of(str(tmp_path)) == [str(tmp_path / name) for name in in_order]
    assert files_of(str(tmp_path / "**" / "*.txt*")) == [str(tmp_path / name) for name in in_order[1:]]
    assert files_of(str(tmp_path / "b.txt")) == [str(tmp_path / "b.txt")]
    with pytest.raises(InputError, match=r"z\.txt\.gz: is not CoNLL-U by its name \(\.conllu"):
        files_of(str(tmp_path), conllu=True)
    (tmp_path / "c.pdf").touch()
    with pytest.raises(InputError, match=r"c\.pdf: is neither text nor CoNLL-U by its name"):
        files_of(str(tmp_path))
    assert len(files_of(str(tmp_path), any_name=True)) == 4


def test_links_stay_in_the_folder(tmp_path: Path) -> None:
    for name in ("out", "corpus"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").touch()
    (tmp_path / "corpus" / "b.txt").symlink_to("a.txt")
    assert len(files_of(str(tmp_path / "corpus"))) == 2
    (tmp_path / "corpus" / "c.txt").symlink_to(tmp_path / "out" / "a.txt")
    with pytest.raises(InputError, match=r"c\.txt: is a link that leads out of"):
        files_of(str(tmp_path / "corpus"))


def test_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file in it"):
        files_of(str(tmp_path))
    with pytest.raises(InputError, match="there is no file of this name"):
        files_of(str(tmp_path / "*.txt"))


def test_what_is_missing_is_told_for_the_folder_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.txt.zst").write_bytes(b"")
    with pytest.raises(InputError, match=r"source, pip install -c constraints.txt '\.\[corpus\]'$"):
        read(tmp_path / "a.txt.zst")


def read(path: Path) -> bytes:
    with contents(str(path)) as stream:
        return stream.read()


def test_compressed_files(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard", reason="pyropunct[corpus] is not installed")
    half = len(TEXT) // 2
    frames = [zstandard.compress(part) for part in (TEXT[:half], TEXT[half:])]
    for name, stored in [("a.txt", TEXT), ("a.txt.gz", gzip.compress(TEXT)), ("a.txt.zst", b"".join(frames))]:
        (tmp_path / name).write_bytes(stored)
        assert read(tmp_path / name) == TEXT


@pytest.mark.parametrize("damage", ["cut off", "something else"])
@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_damaged_files(tmp_path: Path, ending: str, damage: str) -> None:
    zstandard = pytest.importorskip("zstandard", reason="pyropunct[corpus] is not installed")
    path = tmp_path / f"a.txt{ending}"
    stored = gzip.compress(TEXT) if ending == ".gz" else zstandard.compress(TEXT)
    path.write_bytes(stored[:-9] if damage == "cut off" else TEXT)
    problem = rf"a\.txt\{ending}: cannot be decompressed"
    with pytest.raises(InputError, match=problem):
        read(path)
    with pytest.raises(InputError, match=problem), contents(str(path)) as stream:  # no bad line of a text
        list(ByteLines(stream))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_few_bytes_that_stand_for_gigabytes(tmp_path: Path, ending: str) -> None:
    """They are read piece by piece, and no further than they can be text."""
    zstandard = pytest.importorskip("zstandard", reason="pyropunct[corpus] is not installed")
    zeros, path = bytes(1 << 28), tmp_path / f"a.txt{ending}"
    path.write_bytes(gzip.compress(zeros, 1) if ending == ".gz" else zstandard.compress(zeros))
    tracemalloc.start()
    with pytest.raises(InputError, match=r": holds a megabyte without white space \(is this text\?\)$"):
        read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < len(zeros) / 4


def test_a_device_is_no_corpus() -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: is a device, not a file$"):
        read(Path("/dev/zero"))
