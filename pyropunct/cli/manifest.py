"""Records what results were made from, so that nothing else is mixed with them."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pyropunct.cli.shards import CutFile
from pyropunct.errors import InputError
from pyropunct.files import WRITING, json_text, written_whole

NAME = "manifest.json"

FORMAT = {"format": "pyropunct corpus", "version": 3}

MEANING = {
    "version": "this version of the program",
    "pyropunct": "this version of pyropunct",
    "task": "this task",
    "model": "this model",
    "settings": "these settings",
    "shard_size": "shards of this size",
    "files": "this input",
}
"""For each part of a manifest what else the results would have to be of."""


def described(task: str, checksum: str, settings: Mapping[str, Any], shard_size: int) -> dict[str, Any]:
    """A manifest without the input; ``checksum`` is the model's."""
    return {
        **FORMAT,
        "pyropunct": version("pyropunct"),
        "task": task,
        "model": checksum,
        "settings": dict(settings),
        "shard_size": shard_size,
    }


def with_files(manifest: Mapping[str, Any], given: str, files: Sequence[CutFile]) -> dict[str, Any]:
    """A manifest with the input; files are named relative to the ``given`` folder."""
    listed, first = [], 1
    for one in files:
        place = os.path.relpath(one.file, given) if Path(given).is_dir() else one.file
        listed.append(
            {
                "file": place,
                "kind": one.kind,
                "sha256": one.checksum,
                "sentences": sum(shard.sentences for shard in one.shards),
                "first_shard": first,
                "shards": len(one.shards),
            }
        )
        first += len(one.shards)
    return {**manifest, "files": listed}


def check(out: Path, manifest: Mapping[str, Any]) -> bool:
    """Check that results can be written to a folder, which is made if needed; returns whether it has some.

    :raises InputError: if it has other results or files, or cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        found = _read(out / NAME)
        if found is None and any(not path.name.endswith(WRITING) for path in out.iterdir()):
            raise InputError(f"{out}: holds other things than the results of a corpus: choose another folder")
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError:
        raise InputError(f"{out}: is a file, not a folder for results") from None
    except OSError as error:
        raise InputError(f"{out}: cannot write there: {error.strerror}") from error
    if found is None:
        return False
    plain = json.loads(json_text(manifest))
    for part, value in plain.items():
        if found.get(part) != value:
            raise InputError(f"{out}: {_difference(part, found.get(part), value)}: choose another folder")
    return True


def _read(path: Path) -> dict[str, Any] | None:
    """:raises InputError: if it is there, but no manifest."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT["format"]:
        raise InputError(f"{path}: is no manifest of a corpus")
    return found


def _difference(part: str, old: Any, new: Any) -> str:
    what = f"holds results that are not of {MEANING.get(part, part)}"
    if part == "settings" and isinstance(old, dict):
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        return f"{what} ({names[0]} was {old.get(names[0])!r}, not {new.get(names[0])!r})"
    if part == "files" and isinstance(old, list):
        pairs = zip_longest(new, old)
        differing = next(one or other for one, other in pairs if one != other)
        return f"{what} (the first file that differs: {differing['file']})"
    return what if part == "model" else f"{what} (it was {old!r}, not {new!r})"


def write(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest, unless it is there. Raises the errors of `check`."""
    if not check(out, manifest):
        with written_whole(out / NAME) as stream:
            stream.write((json_text(manifest, indent=1) + "\n").encode())
