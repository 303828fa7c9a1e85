"""Corpora that are ended or killed with all their processes, two writers at once, and clocks that go wrong.

An ended command leaves no temporary folder and no unfinished file.  After the last call there are the
results of one undisturbed call, and nothing else.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from material import lines
from processes import ended, interrupted, judged, started
from row import DONE, INTERRUPTED, REFUSED, Try

from pyropunct.cli.cluster import RECORD
from pyropunct.errors import BAD_INPUT

FILES, LINES = 4, 5

TIMES = (-(2**33), -1, 0, 1, 2**31, 2**33)
"""When files were changed, in seconds since 1970: 272 years around it, and the end of 32 bits."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Disturb work on a corpus, and begin again."""
    texts, out, temporary = (folder / name for name in ("texts", "out", "temporary"))
    (texts / "more").mkdir(parents=True)
    temporary.mkdir()
    for number in range(FILES):
        path = texts / ("more" if number % 2 else "") / f"{number}.txt"
        path.write_text("\n".join(lines("test")[number * LINES :][:LINES]) + "\n")
    began = time.monotonic()
    _problem(_started(texts, folder / "whole", temporary))
    seconds, wanted = time.monotonic() - began, _contents(folder / "whole")
    for _ in range(tries):
        told, wrong, is_killed = [], [], chance.random() < 0.7
        for _ in range(chance.randint(1, 3)):
            if chance.random() < 0.3:
                for path in texts.rglob("*.txt"):
                    os.utime(path, (moment := chance.choice(TIMES), moment))
                told.append("other times")
            writers = [_started(texts, out, temporary) for _ in range(chance.choice([1, 2]))]
            after = chance.uniform(0, 1.2 * seconds)
            time.sleep(after)
            for writer in writers:
                if chance.random() < 0.7:
                    told.append(f"{'killed' if is_killed else 'ended'} after {after:.1f} s")
                    if is_killed:
                        os.killpg(writer.pid, signal.SIGKILL)
                    else:
                        writer.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
            wrong += filter(None, map(_problem, writers))
            left = [*temporary.glob("pyropunct-*"), *out.glob(".*.new")]
            wrong += [f"left {left}"] if left and not is_killed else []
        wrong += filter(None, [_problem(_started(texts, out, temporary))])
        if not wrong and _contents(out) != wanted:
            wrong.append(f"other files: {sorted(_contents(out).items() ^ wanted.items())}")
        yield "; ".join(told), "; ".join(wrong) or DONE
        for old in (out, temporary):
            shutil.rmtree(old)
        temporary.mkdir()


def _started(texts: Path, out: Path, temporary: Path) -> "subprocess.Popen[str]":
    """The command, as the leader of a group that its workers belong to."""
    line = f"corpus restore en {texts} {out} --processes 1 --samples 20"
    return started(line.split(), start_new_session=True, env=os.environ | {"TMPDIR": str(temporary)})


def _problem(process: "subprocess.Popen[str]") -> str:
    """How a call failed, or nothing: it may be killed or ended, or find that another process is at work."""
    status, told = ended(process)
    if status in (0, -signal.SIGKILL) or interrupted(status, told) == INTERRUPTED:
        return ""
    at_work = "at work there already" in told
    return "" if at_work and judged(BAD_INPUT, told, BAD_INPUT) == REFUSED else told[-500:]


def _contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder, but the times of sources in records."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): b"" if path.name.endswith(RECORD) else path.read_bytes()
        for path in paths
    }
