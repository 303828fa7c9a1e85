"""Fits that are killed, at a random time or when they touch a file, and then continued.

A continued fit must write the same model as an uninterrupted fit, and leave no other file.  Every fourth fit
trains a corrector, which starts again from the beginning.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from material import few_sentences, small_networks
from row import DONE, Try

import pyropunct.train.fitting
from pyropunct.cli.main import main
from pyropunct.fitted.model_file import read_model_file

EVENTS = {"open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "shutil.rmtree", "tempfile.mkstemp"}
"""Audit events of steps that touch files: see the table in the documentation of Python."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Kill a fit, and continue it."""
    # The command makes its own recipes for the networks, which take minutes.
    networks = small_networks(4)
    pyropunct.train.fitting.NetworkRecipes = lambda: networks  # type: ignore[assignment, misc]
    killed, whole = folder / "killed", folder / "models" / "whole" / "m"
    models = Fits(folder / "models", "fit TREEBANK --parser --families symmetry,head --epochs 2")
    correctors = Fits(folder / "correctors", f"fit-correction TREEBANK --model {whole} --copies 1")
    for number in range(tries):
        fits = correctors if number % 4 == 3 else models
        killed.mkdir()
        if chance.random() < 0.5:
            told = fits.killed_after(killed, chance.uniform(0, 1.05 * fits.seconds))
        else:
            told = fits.killed_at(killed, chance.randrange(1, fits.events + 1))
        phase = fits.phase(killed)
        yield f"{told}, in {phase}", fits.continued(killed) or f"{DONE}: bit-equal, in {phase}"
        shutil.rmtree(killed)


class Fits:
    """Fits of the same model or corrector, each in a process of its own, by a line of arguments.

    :ivar seconds: the time of an uninterrupted fit, which touches files ``events`` times.
    """

    def __init__(self, place: Path, line: str) -> None:
        place.mkdir()
        treebank = few_sentences(place / "few.conllu", 30)
        self._arguments = [*line.replace("TREEBANK", str(treebank)).split(), "--threads", "1"]
        self._name = "correctors" if "fit-correction" in line else "models"
        whole = place / "whole"
        whole.mkdir()
        self._wait(self._start(whole))  # which compiles
        began = time.monotonic()
        self._wait(self._start(whole, told=place / "events"))
        self.seconds, self.events = time.monotonic() - began, int((place / "events").read_text())
        self.wanted = contents(whole / "m")

    def killed_after(self, folder: Path, seconds: float) -> str:
        """Kill a fit after some time."""
        child = self._start(folder)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return f"killed after {seconds:.2f} s of {self.seconds:.2f}"

    def killed_at(self, folder: Path, event: int) -> str:
        """Kill a fit when it touches files for the n-th time."""
        os.waitpid(self._start(folder, event), 0)
        return f"killed at event {event} of {self.events}"

    def phase(self, folder: Path) -> str:
        """What was going on when a fit was killed, as its files tell."""
        if list(folder.glob(".m.*")):
            return f"saving of {self._name}"
        if self._name == "correctors":
            return "training of correctors"
        kept = sorted(path.suffix for path in (folder / "m.unfinished").glob("checkpoint.*"))
        return f"training after {kept[-1][1:]}" if kept else "the beginning or the end"

    def continued(self, folder: Path) -> str | None:
        """Continue a fit that was killed; what is wrong with its result, if anything is."""
        more = ["--resume"] if list((folder / "m.unfinished").glob("checkpoint.*")) else []
        status = self._wait(self._start(folder, more=more))
        if status:
            return f"continued with status {status}"
        left = sorted(path.name for path in folder.iterdir())
        if left != ["m.safetensors"]:
            return f"beside the model is {left}"
        return None if contents(folder / "m") == self.wanted else "another model"

    def _start(
        self, folder: Path, killed_at: int = 0, told: Path | None = None, more: list[str] | None = None
    ) -> int:
        """Start a fit, and return the number of its process."""
        arguments = [*self._arguments, "--out", str(folder / "m"), *(more or [])]
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            count = counted(folder, killed_at)
            status = CliRunner().invoke(main, arguments).exit_code
            if told is not None:
                told.write_text(str(count()))
        finally:
            os._exit(status)

    def _wait(self, child: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def counted(folder: Path, killed_at: int) -> Callable[[], int]:
    """Count from now on the events that touch files in a folder; the process kills itself at one of them."""
    seen = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in EVENTS and str(arguments[0]).startswith(str(folder)):
            seen += 1
            if seen == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return lambda: seen


def contents(model: Path) -> Any:
    """All that is in a model or a corrector, but the times that it took."""
    description, tensors = read_model_file(model)
    return _timeless(description), {name: (tensor.dtype, tensor.tolist()) for name, tensor in tensors.items()}


def _timeless(value: Any) -> Any:
    """Plain data without the times that it took."""
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key != "seconds"}
    return list(map(_timeless, value)) if isinstance(value, list) else value
