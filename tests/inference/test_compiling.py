"""Compiled code that was kept on disk, and sources that change."""

import errno
import importlib.util
import os
import signal
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numba import config

from pyropunct.inference.compiling import _tell, compiled, forget_outdated, is_compiled


def test_what_was_kept_is_forgotten_when_any_file_changes(tmp_path: Path) -> None:
    (tmp_path / "room" / "__pycache__").mkdir(parents=True)
    sources = [tmp_path / "one.py", tmp_path / "room" / "other.py"]
    for source in sources:
        source.write_text("x = 1\n")
    kept = [tmp_path / "room" / "__pycache__" / f"other.f-1.py311.{kind}" for kind in ("nbi", "1.nbc")]
    for changed in [None, *sources]:
        if changed is not None:
            os.utime(changed, (1, 1))
        for path in kept:
            path.write_text("code")
        forget_outdated(tmp_path)
        assert not any(path.exists() for path in kept)
        assert not is_compiled(tmp_path)
        for path in kept:
            path.write_text("new code")
        forget_outdated(tmp_path)
        assert all(path.exists() for path in kept)
        assert is_compiled(tmp_path)
    (tmp_path / "new.py").write_text("")
    forget_outdated(tmp_path)
    assert not any(path.exists() for path in kept)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    (tmp_path / "__pycache__").write_text("no folder")
    forget_outdated(tmp_path)
    assert (tmp_path / "__pycache__").read_text() == "no folder"


def module_of_one(folder: Path) -> ModuleType:
    """A new module in a folder, with a function that gives back 1."""
    source = folder / "one.py"
    source.write_text("def one():\n    return 1\n")
    spec = importlib.util.spec_from_file_location("one", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user without a home."""
    with monkeypatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", "")
        patch.setenv("HOME", os.devnull)
        patch.setenv("XDG_CACHE_HOME", f"{os.devnull}/cache")
        config.reload_config()
        yield
    config.reload_config()


@pytest.mark.usefixtures("no_home")
def test_code_that_cannot_be_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _tell.cache_clear()
    (tmp_path / "__pycache__").write_text("no folder")
    assert compiled(module_of_one(tmp_path).one)() == 1
    assert "pyropunct: no place for compiled code: each process compiles anew" in caplog.text


def test_a_full_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is used though there is no room to keep it."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert compiled(module_of_one(tmp_path).one)() == 1
    assert "pyropunct: compiled code cannot be kept: No space left on device" in caplog.text


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x05K\x01.", None])
def test_damaged_code_is_compiled_anew(tmp_path: Path, kind: str, content: bytes | None) -> None:
    module = module_of_one(tmp_path)
    assert compiled(module.one)() == 1
    [kept] = tmp_path.rglob(f"*.{kind}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-100] if content is None else content)
    assert compiled(module.one)() == 1
    assert abs(len(kept.read_bytes()) - len(whole)) < 100  # names in the code differ a little


def test_code_that_others_may_change_is_not_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """This is told once."""
    _tell.cache_clear()
    module = module_of_one(tmp_path)
    first = compiled(module.one)  # kept: what is loaded refers to its globals
    assert first() == 1
    folder = next(tmp_path.rglob("*.nbi")).parent
    for mode, is_loaded in ((0o777, False), (0o702, False), (0o755, True)):
        folder.chmod(mode)
        function = compiled(module.one)
        assert function() == 1
        assert bool(function.stats.cache_hits) == is_loaded
    [line] = caplog.messages
    assert line.startswith(f"pyropunct: compiled code in {folder} is not used")


def test_an_interruption_waits_for_the_end_of_a_call() -> None:
    """The tuple that compiled code gives back is made by Python in the midst of the call."""
    made = []

    class Interrupting(namedtuple("Interrupting", "number")):
        def __new__(cls, number: int) -> Any:
            signal.raise_signal(signal.SIGINT)
            made.append(number)
            return super().__new__(cls, number)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells block it in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled(lambda pair: pair)(Interrupting._make([1]))
    finally:
        signal.signal(signal.SIGINT, before)
    assert made == [1]
