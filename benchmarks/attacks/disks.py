"""Commands on a disk that becomes full: one line, the old file as it was, and no half of a new one."""

import random
import re
import resource
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from material import INPUTS, few_sentences, sentences
from processes import called, filled, judged
from row import REFUSED, Try

from pyropunct.errors import FAILURE

SENTENCES = 120


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Call a command that may write so many bytes to each file."""
    out = folder / "out"
    words = {"TEXT": folder / "t.txt", "PLACE": out / "o", "PLACE.svg": out / "o.svg"}
    words |= {name: few_sentences(folder / f"{name}.conllu", SENTENCES) for name in ("TREEBANK", "OTHER")}
    words["TEXT"].write_text("".join(one.text() + "\n" for one in sentences("train")[:SENTENCES]))
    commands = list(INPUTS["disks"].items())
    for number in range(tries):
        line, size = commands[number % len(commands)]
        limit = int(size * chance.choice([0, chance.uniform(0, 1)]))
        yield f"{line}, {limit} bytes", _outcome(filled(line, words), out, limit)


def _outcome(arguments: list[str], out: Path, limit: int) -> str:
    """The outcome of a call; a picture is put over an older one."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    before = {"o.svg": b"<svg/>"} if "--plot" in arguments else {}
    for name, content in before.items():
        (out / name).write_bytes(content)
    with (out.parent / "stdout").open("wb") as stdout:
        limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        status, told = called(arguments, stdout=stdout, preexec_fn=limited)
    told = re.sub(r"(?m)^\d\d:\d\d:\d\d .*\n|^pyropunct: (compiled code|[^:\n]*: +\d+%,|at \d).*\n", "", told)
    left = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    found = judged(status, told, FAILURE if status else 0)
    if found == REFUSED and arguments[0] != "corpus" and left != before:
        return f"left {sorted(left)}"
    return found
