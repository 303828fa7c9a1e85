"""Folders of encoders, damaged, with wrong claims, or replaced in use: the same features, or one line.

Opening one adds at most 2 GB.
"""

import json
import os
import random
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from material import damaged
from row import Try, outcome

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # where a small encoder is made

from encoders import made_encoder

from pyropunct.nets.encoder import Encoder
from pyropunct.nets.encoder_places import CONFIG, WEIGHTS

MEMORY = 2 * 2**30
"""The bytes of memory that opening may add."""

NUMBERS = (-1, 0, 1, 3, 500, 2000, 10**6, 10**9, 2**63, 0.5, float("nan"), float("inf"), None, "x", [], {})
"""Values that settings get."""

KINDS = ("bark", "t5", "albert", "gpt2", "llama", "xlm-roberta", "distilbert", "mine", "", 3)
"""Types that encoders claim to have."""

FILES = (CONFIG, "tokenizer.json", "tokenizer_config.json", WEIGHTS)
SENTENCES = [["Mary", "saw", "don't", "1,000"]]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Change a folder while its encoder is in use, and open it again."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    good, other = (made_encoder(folder / str(seed), seed) for seed in range(2))
    identity = Encoder(good).to_parts()[0]
    for number in range(tries):
        bad = folder / f"bad{number}"
        shutil.copytree(good, bad)
        encoder = Encoder(bad)
        features = encoder.features(SENTENCES)
        told = changed(bad, chance) if chance.random() < 0.7 else replaced(bad, other, chance)
        same = torch.equal(features, encoder.features(SENTENCES))
        found = outcome(folder, read_words, bad, identity, features)
        yield told, found if same else "other features in use"
        shutil.rmtree(bad)


def read_words(folder: Path, identity: dict[str, Any], features: torch.Tensor) -> None:
    """Read words by any encoder, and by the one that a model wants, which has the same features."""
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + MEMORY, there + MEMORY))
    assert Encoder(folder).features(SENTENCES).isfinite().all()
    assert torch.equal(features, Encoder.from_parts(identity, folder).features(SENTENCES)), "other features"


def replaced(folder: Path, other: Path, chance: random.Random) -> str:
    """Replace some files by those of another encoder, or by nonsense, or delete them."""
    names = sorted(path.name for path in folder.iterdir())
    some = chance.sample(names, chance.randint(1, len(names)))
    for name in some:
        content = (folder / name).read_bytes()
        write(
            folder / name, chance.choice([content[:50], (other / name).read_bytes(), os.urandom(100), None])
        )
    return f"replaced {', '.join(some)}"


def write(path: Path, content: bytes | None) -> None:
    """Put a new file in the place of the old one, which may be in use; None is no file."""
    path.unlink()
    if content is not None:
        path.write_bytes(content)


def changed(folder: Path, chance: random.Random) -> str:
    """Damage a file, or change a setting."""
    name = chance.choice(FILES)
    path, way = folder / name, chance.random()
    if name == WEIGHTS or way < 0.15:
        content, told = damaged(chance, path.read_bytes(), 2000)
        write(path, content)
        return f"{told} of {name}"
    plain = json.loads(path.read_text("utf-8"))
    if name == CONFIG and way < 0.3:
        setting, value = "model_type", chance.choice(KINDS)
    elif name == "tokenizer.json" and way < 0.4:
        pieces = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * chance.choice([1, 100, 10**5, 10**6])
        setting, value = "post_processor", {"type": "TemplateProcessing", "single": pieces, "pair": pieces}
        value["special_tokens"] = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    else:
        setting, value = chance.choice(sorted(plain)), chance.choice(NUMBERS)
    write(path, json.dumps(plain | {setting: value}).encode())
    return f"{setting} = {str(value)[:60]} in {name}"
