"""Lines of text files."""

import io
from pathlib import Path

import pytest

from pyropunct.text.lines import TreebankError, opened, read_lines


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
