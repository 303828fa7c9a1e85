"""Commands on mutated input, with random options: they end with their results or with one line."""

import random
from collections.abc import Iterator
from pathlib import Path

from material import INPUTS, PIECES, hard_blocks, mutated, sentences
from processes import filled
from row import Try, outcome, run

from models import small_model

COMMANDS = INPUTS["commands"]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Call a command on mutated input."""
    model, corrector = small_model(sentences("train")[:150])
    model.save(folder / "model")
    corrector.save(folder / "corrector")
    blocks = {
        "treebank": hard_blocks(),
        "text": [one.text() + "\n" for one in sentences("test")],
        "brackets": [*COMMANDS["brackets"], *PIECES],
    }
    words = {name: folder / name.lower() for name in ("MODEL", "CORRECTOR", "FILE", "OUT", "OUT.conllu")}
    for _ in range(tries):
        kind = chance.choice(["treebank", "treebank", "text", "brackets"])
        line, data = chance.choice(COMMANDS[f"on_{kind}"]), mutated(chance, blocks[kind])
        words["FILE"].write_bytes(data)
        more = [] if kind == "brackets" else ["--threads", "1"]
        yield f"{line}: {data[:2000]!r}", outcome(folder, run, [*filled(line, words), *more])
