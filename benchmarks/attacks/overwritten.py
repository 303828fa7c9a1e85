"""Models that are cut or overwritten in place while a command starts or uses them."""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from row import DONE, REFUSED, SECONDS, Row

from pyropunct.shipped import place_of

COMMAND = [sys.executable, "-m", "pyropunct", "restore"]
LINES = 200
BAD_INPUT = 2


def attack(tries: int, seed: int) -> Row:
    """Restore text while the file of the model changes, so often."""
    chance, outcomes, failures = random.Random(seed), Counter[str](), []
    whole = place_of("en").read_bytes()
    with tempfile.TemporaryDirectory() as place:
        model, text = Path(place) / "model.safetensors", Path(place) / "words.txt"
        words = ["however", "the", "meeting", "which", "lasted", "three", "hours", "ended"]
        text.write_text("\n".join(" ".join(chance.sample(words, len(words))) for _ in range(LINES)) + "\n")
        shutil.copy(place_of("en"), model)
        began = time.monotonic()
        subprocess.run([*COMMAND, model, text], check=True, capture_output=True)
        seconds = time.monotonic() - began
        for number in range(tries):
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
            refused = running.returncode == BAD_INPUT and told.startswith("pyropunct: ")
            if running.returncode == 0 or (refused and told.count("\n") == 1):
                outcomes[REFUSED if refused else DONE] += 1
            else:
                failures.append(f"{number}: cut at {size}: status {running.returncode}: {told[-500:]}")
    return Row("models overwritten while they are used", tries, dict(outcomes), failures)
