"""Random lines of raw text: restoration keeps words and white space.

One line of `BY_MODEL` is restored by the English model of the package, and again if its marks are kept; the
others get random marks, which are harder on the words than those of any model.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from material import random_line
from row import DONE, Try
from unchanged import problem

import pyropunct
from pyropunct.draws import Draws
from pyropunct.restore.marks_there import MarksThere
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import Restored, Source, words_of
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import START
from pyropunct.treebank.tree import Tree

BY_MODEL = 10


class RandomMarks(Restorer):
    """Puts random marks of the model into the slots, instead of deciding on them."""

    chance = random.Random(0)

    def restore(self, sources: Sequence[Source]) -> Iterator[Restored]:
        """Rewrite one random draw for each sentence."""
        for source in sources:
            size = len(words_of(source))
            if not size:
                yield Restored(source, source.surface, 0.0, None)
                continue
            strings = [(), (START,), *((mark,) for mark in self.model.vocabulary.tokens[3:])]
            numbers = [
                self.chance.choice([0, 0, self.chance.randrange(2, len(strings))]) for _ in range(size)
            ]
            draws = Draws(tuple(strings), np.array([[1, *numbers]], np.int32), np.ones(1))
            draws = self._rewritten(MarksThere(source, self.settings, frozenset()), draws)
            surface = [draws.strings[number] for number in draws.numbers[0]]
            others = size - 1
            relations = ("root",) + ("dep",) * others
            tree = Tree((0,) + (1,) * others, relations, ("X",) * size, words_of(source))
            yield Restored(source, surface, 0.0, tree)


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Restore a line, marks kept or not."""
    model = pyropunct.load("en")
    settings = {keep: RestoreSettings(keep=keep, case="keep", samples=5, trees=1) for keep in (None, False)}
    by_chance = {keep: RandomMarks(model, how, model.raw_reader) for keep, how in settings.items()}
    by_model = {keep: Restorer(model, how, model.raw_reader) for keep, how in settings.items()}
    for number in range(tries):
        line, keep = random_line(chance), chance.choice([None, False])
        restorer = by_chance[keep] if number % BY_MODEL else by_model[keep]
        text = restorer.text(line)
        found = problem(line, text, kept=keep is None) or DONE
        if found == DONE and number % BY_MODEL == 0 and keep is None and restorer.text(text) != text:
            found = f"{DONE}: changed again when restored twice"
        yield f"keep={keep}: {line!r} is {text!r}", found
