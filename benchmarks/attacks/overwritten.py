"""Models that are cut or overwritten in place while a command starts or uses them."""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from row import SECONDS, Row, row_of
from surroundings import judged

from pyropunct.errors import BAD_INPUT
from pyropunct.shipped import place_of

COMMAND = [sys.executable, "-m", "pyropunct", "restore"]
LINES = 200


def attack(tries: int, seed: int) -> Row:
    """Restore text while the file of the model changes, so often."""
    return row_of("models overwritten while they are used", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    whole = place_of("en").read_bytes()
    with tempfile.TemporaryDirectory() as place:
        model, text = Path(place) / "model.safetensors", Path(place) / "words.txt"
        words = ["however", "the", "meeting", "which", "lasted", "three", "hours", "ended"]
        text.write_text("\n".join(" ".join(chance.sample(words, len(words))) for _ in range(LINES)) + "\n")
        shutil.copy(place_of("en"), model)
        began = time.monotonic()
        subprocess.run([*COMMAND, model, text], check=True, capture_output=True)
        seconds = time.monotonic() - began
        for _ in range(tries):
            shutil.copy(place_of("en"), model)
            running = subprocess.Popen(
                [*COMMAND, model, text], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            time.sleep(chance.uniform(0, seconds))
            size = chance.randrange(len(whole))
            with model.open("r+b") as stream:
                stream.truncate(size)
                stream.write(bytes(chance.randrange(2)) * size)
            told = running.communicate(timeout=SECONDS)[1]
            wanted = BAD_INPUT if running.returncode else 0
            yield f"cut at {size}", judged(running.returncode, told, wanted)
