"""Folders of encoders with wrong claims, under 2 GB: each is opened, or refused in one line."""

import json
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from row import RefusedError, Row, outcome, row_of

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # where a small encoder is made

from encoders import made_encoder

from pyropunct.errors import MissingPartError
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.encoder_places import CONFIG, WEIGHTS

MEMORY = 2 * 2**30
"""The bytes of memory that opening may add."""

NUMBERS = (-1, 0, 1, 3, 500, 2000, 10**6, 10**9, 2**63, 0.5, float("nan"), float("inf"), None, "x", [], {})
"""Values that settings get."""

KINDS = ("bark", "t5", "albert", "gpt2", "llama", "xlm-roberta", "distilbert", "mine", "", 3)
"""Types that encoders claim to have."""

FILES = (CONFIG, "tokenizer.json", "tokenizer_config.json", WEIGHTS)


def attack(tries: int, seed: int) -> Row:
    """Change a folder, and read words, so often."""
    return row_of("folders of encoders, under 2 GB", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    import transformers  # noqa: F401  # before the memory is limited

    torch.set_num_threads(1)  # threads do not survive a fork
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with tempfile.TemporaryDirectory() as place:
        good = made_encoder(Path(place) / "good")
        identity = Encoder(good).to_parts()[0]
        for _ in range(tries):
            bad = Path(place) / "bad"
            shutil.rmtree(bad, ignore_errors=True)
            told = changed(Path(shutil.copytree(good, bad)), chance)
            yield told, outcome(partial(read_words, bad, identity), Path(place))


def read_words(folder: Path, identity: dict[str, Any]) -> None:
    """Read words by the encoder that a model wants, and by any."""
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + MEMORY, there + MEMORY))
    try:
        states = Encoder(folder).features([["She", "left", "early"]])
        assert states.isfinite().all()
        Encoder.from_parts(identity, folder).features([["She", "left", "early"]])
    except MissingPartError as error:
        if "\n" in str(error):
            raise
        raise RefusedError from error


def changed(folder: Path, chance: random.Random) -> str:
    """Change a folder, and say how."""
    name = chance.choice(FILES)
    path, way = folder / name, chance.random()
    if name == WEIGHTS or way < 0.15:
        content = bytearray(path.read_bytes())
        place = chance.randrange(min(len(content), 2000))
        if chance.random() < 0.3:
            del content[place:]
        else:
            content[place] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        return f"byte {place} of {name}"
    plain = json.loads(path.read_text("utf-8"))
    if name == CONFIG and way < 0.3:
        setting, value = "model_type", chance.choice(KINDS)
    elif name == "tokenizer.json" and way < 0.4:
        pieces = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * chance.choice([1, 100, 10**5, 10**6])
        setting, value = "post_processor", {"type": "TemplateProcessing", "single": pieces, "pair": pieces}
        value["special_tokens"] = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    else:
        setting, value = chance.choice(sorted(plain)), chance.choice(NUMBERS)
    path.write_text(json.dumps(plain | {setting: value}), "utf-8")
    return f"{setting} = {str(value)[:60]} in {name}"
