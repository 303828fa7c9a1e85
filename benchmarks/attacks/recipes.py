"""Fits with each setting of a recipe at its bounds, beyond them, and of another type."""

import random
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import click
from material import INPUTS, few_sentences
from row import Try, outcome, run

from pyropunct.cli.main import main
from pyropunct.fitted.recipes import Recipe
from pyropunct.limits import Range, limits

FAST = {"epochs": "1", "families": "symmetry,head", "direction": "left"}


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Fit a model to few sentences with one odd setting."""
    bounds = {
        name: limits(hint).first(Range) or Range()
        for name, hint in get_type_hints(Recipe, include_extras=True).items()
    }
    few = few_sentences(folder / "few.conllu", 40)
    for _ in range(tries):
        name = chance.choice([field.name for field in fields(Recipe)])
        ends = [end for end in vars(bounds[name]).values() if end is not None]
        near = [str(value) for end in ends for value in (end, end - 1, end + 1, end * 1.0000001)]
        value = chance.choice([*near, *INPUTS["recipes"]["values"]])
        yield f"{name}={value}", outcome(folder, _fit, few, {**FAST, name: value})


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
