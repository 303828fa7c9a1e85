"""Commands on a disk that becomes full: one line, the old file as it was, and no half of a new one."""

import random
import re
import resource
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from row import REFUSED, Row, row_of
from surroundings import FAILURE, called, judged

from pyropunct.embedded import embedded_treebank_path
from pyropunct.treebank.reading import read_treebank

COMMANDS = {
    "adapt en TEXT --out PLACE --epochs 1 --threads 1": 20_000_000,
    "fit TREEBANK --out PLACE --epochs 1 --direction left --threads 1": 200_000,
    "typology en TREEBANK OTHER --plot PLACE.svg": 20_000,
    "corpus restore en TEXT PLACE --samples 20 --processes 1": 1_000,
    "restore en TEXT": 1_000,
    "underlying en TREEBANK --format conllu": 4_000,
}
"""Commands, with about as many bytes as they write."""

SENTENCES = 120


def attack(tries: int, seed: int) -> Row:
    """Call a command that may write so many bytes to each file, so often."""
    return row_of("commands that fill the disk", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    sentences = read_treebank(embedded_treebank_path("train"))[:SENTENCES]
    with tempfile.TemporaryDirectory() as place:
        inputs, out = Path(place) / "in", Path(place) / "out"
        inputs.mkdir()
        words = {"TEXT": str(inputs / "t.txt"), "PLACE": str(out / "o"), "PLACE.svg": str(out / "o.svg")}
        words |= {name: str(inputs / f"{name}.conllu") for name in ("TREEBANK", "OTHER")}
        (inputs / "t.txt").write_text("".join(one.text() + "\n" for one in sentences))
        for name in ("TREEBANK", "OTHER"):
            Path(words[name]).write_text("".join(one.conllu() + "\n" for one in sentences))
        for number in range(tries):
            line, size = list(COMMANDS.items())[number % len(COMMANDS)]
            limit = int(size * chance.choice([0, chance.uniform(0, 1)]))
            arguments = [words.get(word, word) for word in line.split()]
            yield f"{line}, {limit} bytes", _outcome(arguments, out, limit)


def _outcome(arguments: list[str], out: Path, limit: int) -> str:
    """The outcome of a call; a picture is put over an older one."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    before = {"o.svg": b"<svg/>"} if "--plot" in arguments else {}
    for name, content in before.items():
        (out / name).write_bytes(content)
    with tempfile.TemporaryFile() as stdout:
        limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        status, told = called(arguments, stdout=stdout, preexec_fn=limited)
    told = re.sub(r"(?m)^\d\d:\d\d:\d\d .*\n|^pyropunct: (compiled code|[^:\n]*: +\d+%,|at \d).*\n", "", told)
    left = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    found = judged(status, told, FAILURE if status else 0)
    if found == REFUSED and arguments[0] != "corpus" and left != before:
        return f"left {sorted(left)}"
    return found
