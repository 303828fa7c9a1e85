"""Folders of encoders whose files are replaced while they are in use: the same features, or one line."""

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from encoder_folders import made_encoder
from row import DONE, REFUSED, Row, row_of

from pyropunct.errors import MissingPartError
from pyropunct.nets.encoder import Encoder

SENTENCES = [["Mary", "saw", "don't", "1,000"]]


def attack(tries: int, seed: int) -> Row:
    """Open an encoder, replace, cut or delete some of its files, and use it, ``tries`` times."""
    return row_of("encoders whose files are replaced", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as place:
        first, other = (_made(Path(place) / name, seed) for seed, name in enumerate(("first", "other")))
        for number in range(tries):
            folder = shutil.copytree(first, Path(place) / str(number))
            encoder = Encoder(folder)
            plain, _ = encoder.to_parts()
            features = encoder.features(SENTENCES)
            names = sorted(path.name for path in folder.iterdir())
            for name in (changed := chance.sample(names, chance.randint(1, len(names)))):
                content = (folder / name).read_bytes()
                (folder / name).unlink()
                new = (content[:50], (other / name).read_bytes(), os.urandom(100), None)
                if (bytes_of := chance.choice(new)) is not None:
                    (folder / name).write_bytes(bytes_of)
            told = ", ".join(changed)
            same = torch.equal(features, encoder.features(SENTENCES))
            yield f"in use: {told}", DONE if same else "other features"
            try:
                same = torch.equal(features, Encoder.from_parts(plain, folder).features(SENTENCES))
                yield f"opened again: {told}", DONE if same else "other features"
            except MissingPartError:
                yield f"opened again: {told}", REFUSED
            shutil.rmtree(folder)


def _made(place: Path, seed: int) -> Path:
    torch.manual_seed(seed)
    return made_encoder(place)
