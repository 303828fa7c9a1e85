"""Commands with closed or full streams, interruptions and odd files: they end with results or one line."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from row import DONE, REFUSED, SECONDS, Row, row_of

from pyropunct.embedded import embedded_treebank_path

BRACKETS = "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))\n"

COMMAND = [sys.executable, "-c", "from pyropunct.__main__ import main; main()"]
"""As the installed command does it."""

FAILURE, BAD_INPUT, INTERRUPTED = 1, 2, 130

LONGEST = 3.0
"""The time within which an interruption comes, in seconds: longer than a command takes."""

INTERRUPTIONS = 50
"""How often a process that goes on is interrupted."""

UNDAUNTED = """
import pyropunct
from pyropunct.embedded import embedded_treebank_path
from pyropunct.treebank.reading import read_treebank
model, dev = pyropunct.load("en"), read_treebank(embedded_treebank_path("dev"))[:20]
model.evaluate(dev)
print(flush=True)
while True:
    try:
        while True:
            model.evaluate(dev)
    except BaseException:
        pass
"""


def attack(tries: int, seed: int) -> Row:
    """Call a command in hostile surroundings, so often."""
    name = "commands with closed or full streams, interruptions, odd files"
    return row_of(name, _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "good").write_text(BRACKETS)
        (folder / "words").write_text("The cat sleeps\n")
        (folder / "empty").touch()
        os.mkfifo(folder / "pipe.safetensors")
        with (folder / "sparse.safetensors").open("wb") as stream:
            stream.truncate(100 * 2**30)
        for _ in range(tries):
            name = chance.choice(sorted(WAYS))
            yield name, WAYS[name](folder, chance)


def called(arguments: list[str], **options: Any) -> tuple[int, str]:
    """The status of a call, and what it says on standard error."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    done = subprocess.run([*COMMAND, *arguments], text=True, check=False, timeout=SECONDS, **options)
    return done.returncode, done.stderr or ""


def judged(status: int, told: str, wanted: int) -> str:
    """`DONE` or `REFUSED` if a call ended as it should, else what it did."""
    one_line = told.startswith("pyropunct: ") and told.count("\n") == 1
    right = status == wanted and "Traceback" not in told and (one_line or not told)
    return (REFUSED if wanted else DONE) if right else f"status {status}: {told[-500:]}"


def _without(descriptor: int) -> Callable[[], None]:
    return lambda: os.close(descriptor)


def closed_output(folder: Path, chance: random.Random) -> str:
    """Results have no place to go."""
    return judged(*called(["convert", str(folder / "good")], preexec_fn=_without(1)), FAILURE)


def full_output(folder: Path, chance: random.Random) -> str:
    """Results go to a full disk."""
    with open("/dev/full", "w") as full:
        return judged(*called(["convert", str(folder / "good")], stdout=full), FAILURE)


def closed_error(folder: Path, chance: random.Random) -> str:
    """What goes wrong cannot be told."""
    return judged(*called(["convert", str(folder / "no")], preexec_fn=_without(2)), BAD_INPUT)


def full_error(folder: Path, chance: random.Random) -> str:
    """What goes wrong is told to a full disk."""
    with open("/dev/full", "w") as full:
        wrong = chance.choice([["convert", str(folder / "no")], ["convert", "--nonsense"]])
        return judged(*called(wrong, stderr=full), BAD_INPUT)


def odd_input(folder: Path, chance: random.Random) -> str:
    """Input that is no file, or cannot be read."""
    disks = (str(path) for path in Path("/dev").iterdir() if path.is_block_device())
    file = chance.choice(["/proc/self/mem", str(folder), str(folder / "empty"), "/dev/zero", *disks])
    return judged(*called(["convert", file]), BAD_INPUT)


def odd_model(folder: Path, chance: random.Random) -> str:
    """A model that is a pipe, a device, a folder, or a file of 100 GB without contents."""
    names = ["pipe.safetensors", "sparse.safetensors", "", "empty"]
    model = chance.choice([*(str(folder / name) for name in names), "/dev/zero", "/dev/random"])
    return judged(*called(["evaluate", model, str(embedded_treebank_path("dev"))]), BAD_INPUT)


def interrupted(folder: Path, chance: random.Random) -> str:
    """An interruption at any moment; before the first line of the package, Python itself answers."""
    arguments = [*COMMAND, "evaluate", "en", str(embedded_treebank_path("dev"))]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(chance.uniform(0.05, LONGEST))
    process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    told = process.communicate(timeout=SECONDS)[1]
    if process.returncode in (1, -signal.SIGINT, -signal.SIGTERM) and "/pyropunct/" not in told:
        return "interrupted"  # in the start of Python
    found = judged(process.returncode, told, INTERRUPTED)
    return "interrupted" if found == REFUSED else judged(process.returncode, told, 0)


def interrupted_again_and_again(folder: Path, chance: random.Random) -> str:
    """A process that goes on after each interruption, in the midst of sums over trees."""
    process = subprocess.Popen([sys.executable, "-c", UNDAUNTED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    for _ in range(INTERRUPTIONS):
        time.sleep(chance.uniform(0.02, 0.1))
        process.send_signal(signal.SIGINT)
    time.sleep(1)
    status = process.poll()
    process.kill()
    process.communicate()
    return "interrupted" if status is None else f"status {status}"


def ended_corpus(folder: Path, chance: random.Random) -> str:
    """Work on a corpus that is ended: no temporary folder and no unfinished file stays."""
    temporary, out = (Path(tempfile.mkdtemp(dir=folder)) for _ in range(2))
    dev = str(embedded_treebank_path("dev"))
    arguments = [*COMMAND, "corpus", "evaluate", "en", dev, str(out), "--processes", "1"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(arguments, **streams, text=True, env=os.environ | {"TMPDIR": str(temporary)})
    time.sleep(chance.uniform(3, 10))
    process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    told = process.communicate(timeout=SECONDS)[1]
    left = [*temporary.glob("pyropunct-*"), *out.glob(".*.new")]
    found = judged(process.returncode, told, INTERRUPTED)
    return f"left {left}" if left else "interrupted" if found == REFUSED else found


def live_text(folder: Path, chance: random.Random) -> str:
    """Live text whose reader hangs up, or whose writer does, or that is interrupted."""
    arguments = [*COMMAND, "restore", "en", "-", "--running", "--ahead", "12"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(arguments, **streams, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    way = chance.choice(["reader", "writer", "interrupted"])
    with suppress(BrokenPipeError):
        for number in range(200):
            print("so we went to the meeting and then we came home", file=process.stdin, flush=True)
            if number == 20:
                process.stdout.read(100)
                if way == "reader":
                    process.stdout.close()
                    process.stdout = None
            if number == 40 and way == "interrupted":
                process.send_signal(signal.SIGINT)
                break
            time.sleep(chance.uniform(0, 0.01))
    told = process.communicate(timeout=SECONDS)[1]
    if way == "interrupted":
        return "interrupted" if judged(process.returncode, told, INTERRUPTED) == REFUSED else told[-500:]
    quiet = process.returncode in ((0, 1, -signal.SIGPIPE, 128 + signal.SIGPIPE) if way == "reader" else (0,))
    return DONE if quiet and not told else f"{way}: status {process.returncode}: {told[-500:]}"


def deleted_folder(folder: Path, chance: random.Random) -> str:
    """The working folder is gone."""
    gone = Path(tempfile.mkdtemp(dir=folder))

    def enter_and_delete() -> None:
        os.chdir(gone)
        gone.rmdir()

    arguments = ["evaluate", "en", str(embedded_treebank_path("dev"))]
    return judged(*called(arguments, preexec_fn=enter_and_delete), BAD_INPUT)


def damaged_code(folder: Path, chance: random.Random) -> str:
    """Compiled code on disk has other bytes; the first call keeps it."""
    arguments = ["parse", "en", str(folder / "words")]
    options = {"env": os.environ | {"NUMBA_CACHE_DIR": str(folder / "code")}}
    called(arguments, **options)
    kept = chance.choice(sorted((folder / "code").rglob("*.nb?")))
    kept.write_bytes(chance.choice([b"", b"no pickle", b"\x80\x05K\x01.", kept.read_bytes()[:-100]]))
    return judged(*called(arguments, **options), 0)


WAYS = {
    way.__name__: way
    for way in (
        closed_output,
        full_output,
        closed_error,
        full_error,
        odd_input,
        odd_model,
        interrupted,
        interrupted_again_and_again,
        ended_corpus,
        live_text,
        deleted_folder,
        damaged_code,
    )
}
