"""Commands that are interrupted, lose their streams, or whose model is overwritten: they end in one line."""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from material import DEV
from processes import ended, interrupted, judged, started
from row import DONE, INTERRUPTED, Try

from pyropunct.errors import BAD_INPUT
from pyropunct.shipped import place_of

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

TALK, LINES = "so we went to the meeting and then we came home", 200


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Disturb a command."""
    text = folder / "words.txt"
    text.write_text("\n".join(" ".join(chance.sample(TALK.split(), 11)) for _ in range(LINES)) + "\n")
    began = time.monotonic()
    assert ended(started(["restore", "en", text]), None)[0] == 0  # which may compile
    seconds = time.monotonic() - began
    ways = {
        "once": lambda: once(chance),
        "again and again": lambda: again_and_again(chance),
        "live text": lambda: live_text(chance),
        "overwritten model": lambda: overwritten_model(text, chance, seconds),
    }
    for _ in range(tries):
        name = chance.choice(sorted(ways))
        yield name, ways[name]()


def once(chance: random.Random) -> str:
    """An interruption at any moment."""
    process = started(["evaluate", "en", DEV])
    time.sleep(chance.uniform(0.05, LONGEST))
    process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    status, told = ended(process)
    return interrupted(status, told) if status else judged(status, told, 0)


def again_and_again(chance: random.Random) -> str:
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
    return INTERRUPTED if status is None else f"status {status}"


def live_text(chance: random.Random) -> str:
    """Live text whose reader hangs up, or whose writer does, or that is interrupted."""
    arguments = ["restore", "en", "-", "--running", "--ahead", "12"]
    process = started(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    way = chance.choice(["reader", "writer", INTERRUPTED])
    with suppress(BrokenPipeError):
        for number in range(200):
            print(TALK, file=process.stdin, flush=True)
            if number == 20:
                process.stdout.read(100)
                if way == "reader":
                    process.stdout.close()
                    process.stdout = None
            if number == 40 and way == INTERRUPTED:
                process.send_signal(signal.SIGINT)
                break
            time.sleep(chance.uniform(0, 0.01))
    status, told = ended(process)
    if way == INTERRUPTED:
        return interrupted(status, told)
    quiet = status in ((0, 1, -signal.SIGPIPE, 128 + signal.SIGPIPE) if way == "reader" else (0,))
    return DONE if quiet and not told else f"{way}: status {status}: {told[-500:]}"


def overwritten_model(text: Path, chance: random.Random, seconds: float) -> str:
    """A model that is cut or overwritten in place while a command starts or uses it."""
    model = Path(shutil.copy(place_of("en"), text.with_name("model.safetensors")))
    process = started(["restore", model, text])
    time.sleep(chance.uniform(0, seconds))
    size = chance.randrange(model.stat().st_size)
    with model.open("r+b") as stream:
        stream.truncate(size)
        stream.write(bytes(chance.randrange(2)) * size)
    status, told = ended(process)
    return judged(status, told, BAD_INPUT if status else 0)
