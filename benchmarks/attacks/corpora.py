"""Corpora that are killed with all their processes, two writers at once, and clocks that go wrong.

After the last call there are the results of one undisturbed call, and nothing else.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from row import DONE, SECONDS, Row, row_of
from surroundings import BAD_INPUT, COMMAND, judged

from pyropunct.cli.cluster import RECORD
from pyropunct.embedded import embedded_treebank_path
from pyropunct.treebank.reading import read_treebank

FILES, LINES = 4, 5

TIMES = (-(2**33), -1, 0, 1, 2**31, 2**33)
"""When files were changed, in seconds since 1970: 272 years around it, and the end of 32 bits."""


def attack(tries: int, seed: int) -> Row:
    """Disturb work on a corpus, and begin again, so often."""
    return row_of("corpora, killed or with two writers, then continued", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    lines = [" ".join(one.tree.forms) for one in read_treebank(embedded_treebank_path("test"))]
    with tempfile.TemporaryDirectory() as place:
        texts, out = Path(place) / "texts", Path(place) / "out"
        (texts / "more").mkdir(parents=True)
        for number in range(FILES):
            path = texts / ("more" if number % 2 else "") / f"{number}.txt"
            path.write_text("\n".join(lines[number * LINES :][:LINES]) + "\n")
        began = time.monotonic()
        _ended(_started(texts, Path(place) / "whole"))
        seconds, wanted = time.monotonic() - began, _contents(Path(place) / "whole")
        for _ in range(tries):
            told, wrong = [], []
            for _ in range(chance.randint(1, 3)):
                if chance.random() < 0.3:
                    for path in texts.rglob("*.txt"):
                        os.utime(path, (moment := chance.choice(TIMES), moment))
                    told.append("other times")
                writers = [_started(texts, out) for _ in range(chance.choice([1, 2]))]
                after = chance.uniform(0, 1.2 * seconds)
                time.sleep(after)
                for writer in writers:
                    if chance.random() < 0.7:
                        os.killpg(writer.pid, signal.SIGKILL)
                        told.append(f"killed after {after:.1f} s")
                wrong += [one for one in map(_ended, writers) if one]
            wrong += filter(None, [_ended(_started(texts, out))])
            if not wrong and _contents(out) != wanted:
                wrong.append(f"other files: {sorted(_contents(out).items() ^ wanted.items())}")
            yield "; ".join(told), "; ".join(wrong) or DONE
            shutil.rmtree(out)


def _started(texts: Path, out: Path) -> "subprocess.Popen[str]":
    """The command, as the leader of a group that its workers belong to."""
    arguments = ["corpus", "restore", "en", str(texts), str(out), "--processes", "1", "--samples", "20"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], **streams, text=True, start_new_session=True)


def _ended(process: "subprocess.Popen[str]") -> str:
    """How a call failed, or nothing: it may be killed, or find that another process is at work."""
    told = process.communicate(timeout=SECONDS)[1]
    if process.returncode in (0, -signal.SIGKILL):
        return ""
    at_work = "at work there already" in told
    return "" if at_work and judged(BAD_INPUT, told, BAD_INPUT) == "refused" else told[-500:]


def _contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder, but the times of sources in records."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): b"" if path.name.endswith(RECORD) else path.read_bytes()
        for path in paths
    }
