"""Lines of text files."""

import io
import os
import stat
from pathlib import Path

import pytest

from pyropunct.text.lines import ByteLines, TreebankError, is_device, opened, read_lines


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("\ufeffa\r\nb\r\n", ["a", "b"]),
        ("a\rb\u2028c\u0085d\n", ["a\rb\u2028c\u0085d"]),
    ],
)
def test_lines(data: str, texts: list[str]) -> None:
    assert list(read_lines(io.BytesIO(data.encode()), "x")) == texts


def test_opened(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a")
    with opened(str(tmp_path / "x")) as (stream, name):
        assert (stream.read(), name) == (b"a", str(tmp_path / "x"))
    with pytest.raises(TreebankError, match="there is no such file"), opened(str(tmp_path / "y")):
        pass
    with pytest.raises(TreebankError, match="the file cannot be read: Is a directory"), opened(str(tmp_path)):
        pass


def test_eager_lines_do_not_wait_for_their_ends() -> None:
    """What has come of a line is a piece; nobody reads on before it is taken."""

    class Slow:
        """Gives the bytes of one part at a time."""

        def __init__(self, *parts: bytes) -> None:
            self.parts = [*parts]

        def read1(self, size: int) -> bytes:
            return self.parts.pop(0) if self.parts else b""

    stream = Slow(b"one two", b" three\nfour", b"\n")
    lines = ByteLines(stream, eager=True)  # type: ignore[arg-type]
    assert next(lines) == b"one two"
    assert stream.parts == [b" three\nfour", b"\n"]
    assert list(lines) == [b" three\n", b"four", b"\n"]
    whole = ByteLines(Slow(b"one two", b" three\nfour", b"\n"))  # type: ignore[arg-type]
    assert list(whole) == [b"one two three\n", b"four\n"]


def test_devices_without_an_end_are_not_read() -> None:
    with pytest.raises(TreebankError, match=r"^/dev/zero: is a device, not a file$"), opened("/dev/zero"):
        pass
    with opened(os.devnull) as (stream, _):
        assert stream.read() == b""


def test_a_disk_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its owner can open one, so a file gives itself out as one."""
    path = tmp_path / "disk"
    path.touch()
    disk = os.stat_result([stat.S_IFBLK, *os.stat(path)[1:]])
    with path.open("rb") as stream:
        assert not is_device(stream)
        monkeypatch.setattr("os.fstat", lambda _: disk)
        assert is_device(stream)
