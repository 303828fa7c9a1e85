"""Compiled code that was kept on disk, and sources that change."""

import os
from pathlib import Path

from pyropunct.inference.compiling import forget_outdated, is_compiled


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
