"""Fits with each setting of a recipe at its bounds, beyond them, and of another type."""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import get_type_hints

import click
import torch
from row import Row, outcome, row_of, run

from pyropunct.cli.main import main
from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.recipes import Recipe
from pyropunct.limits import Range, limits

OTHERS = ("", "x", "nan", "inf", "-1", "0", "1", "2", "1e-300", "1e300", "true", "none", "[1]", "a=b", "é")
"""Values for any setting."""

FAST = {"epochs": "1", "families": "symmetry,head", "direction": "left"}


def attack(tries: int, seed: int) -> Row:
    """Fit a model to few sentences with one odd setting, so often."""
    return row_of("fits with odd settings", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    torch.set_num_threads(1)
    bounds = {
        name: limits(hint).first(Range) or Range()
        for name, hint in get_type_hints(Recipe, include_extras=True).items()
    }
    with tempfile.TemporaryDirectory() as place:
        few = Path(place) / "few.conllu"
        text = embedded_treebank_path("train").read_text(encoding="utf-8")
        few.write_text("\n\n".join(text.split("\n\n")[:40]) + "\n\n", encoding="utf-8")
        for _ in range(tries):
            name = chance.choice([field.name for field in fields(Recipe)])
            ends = [end for end in vars(bounds[name]).values() if end is not None]
            near = [str(value) for end in ends for value in (end, end - 1, end + 1, end * 1.0000001)]
            value = chance.choice([*near, *OTHERS])
            yield f"{name}={value}", outcome(partial(_fit, few, {**FAST, name: value}), Path(place))


def _fit(file: Path, settings: dict[str, str]) -> None:
    """Training may stop at a number that is not finite: status 1."""
    assert isinstance(main, click.Group)
    command = main.get_command(click.Context(main), "fit")
    assert command is not None
    own = {option.name for option in command.params}
    options = [
        word
        for name, value in settings.items()
        for word in ((f"--{name.replace('_', '-')}", value) if name in own else ("--set", f"{name}={value}"))
    ]
    out = str(file.with_name("model"))
    run(["fit", str(file), "--threads", "1", *options, "--out", out], statuses=(0, 1, 2))
