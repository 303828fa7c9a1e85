"""What attacks work on: sentences, random lines, mutated files, damaged bytes, small networks."""

import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.train.fitting import NetworkRecipes
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

HERE = Path(__file__).parent

INPUTS: dict[str, Any] = tomllib.loads((HERE / "inputs.toml").read_text(encoding="utf-8"))

LINES: dict[str, Any] = INPUTS["lines"]
WORDS, MARKS = LINES["words"].split(), LINES["marks"].split()

DEV = embedded_treebank_path("dev")

PIECES: list[str] = INPUTS["treebanks"]["pieces"]
"""Texts that a mutation inserts at a random place of a file."""

# Sentences


def sentences(part: str) -> list[Sentence]:
    """The sentences of a part of the treebank of the package."""
    return list(read_treebank(embedded_treebank_path(part)))


def lines(part: str) -> list[str]:
    """The words of each sentence of a part, without marks."""
    return [" ".join(one.tree.forms) for one in sentences(part)]


def few_sentences(file: Path, number: int) -> Path:
    """Write the first sentences of the training part to a file."""
    file.write_text("".join(f"{one.conllu()}\n" for one in sentences("train")[:number]), encoding="utf-8")
    return file


def hard_blocks() -> list[str]:
    """In CoNLL-U: ranges, an empty node, abbreviations, crossing arcs, marks in a row; then the dev part."""
    whole = "".join(file.read_text(encoding="utf-8") for file in (HERE / "hard.conllu", DEV))
    return [block + "\n\n" for block in whole.strip().split("\n\n")]


# Random lines


def random_line(chance: random.Random, words: Sequence[str] = WORDS, marks: Sequence[str] = MARKS) -> str:
    """Words, marks beside and between them, and white space of all kinds."""
    spaces = LINES["spaces"]
    parts = [chance.choice(["", "", "", " ", "\t"]), chance.choice(LINES["markers"])]
    for _ in range(chance.randint(1, 12)):
        word = chance.choice(words)
        front, back = (chance.choice(marks) if chance.random() < 0.1 else "" for _ in range(2))
        parts += [front, word, back, chance.choice(spaces)]
        if chance.random() < 0.1:
            parts += [chance.choice(marks), chance.choice(spaces)]
    return "".join(parts[: len(parts) - chance.randint(0, 1)])


# Mutated files and damaged bytes


def mutated(chance: random.Random, blocks: list[str], most: int = 3) -> bytes:
    """Some blocks in a row, with one to four mutations."""
    first = chance.randrange(len(blocks)) if chance.random() < 0.7 else 0
    text = "".join(blocks[first : first + chance.randint(1, most)])
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(MUTATIONS)(text, chance)
    data = text.encode("utf-8", "surrogatepass")
    return damaged(chance, data)[0] if data and chance.random() < 0.05 else data


def damaged(chance: random.Random, content: bytes, most: int = 2**62) -> tuple[bytes, str]:
    """Cut bytes off, or change one of the first ``most``; returns the new bytes, and what was done."""
    place = chance.randrange(min(len(content), most))
    if chance.random() < 0.3:
        return content[:place], f"cut at {place}"
    return content[:place] + chance.randbytes(1) + content[place + 1 :], f"another byte {place}"


def _put_in(text: str, chance: random.Random) -> str:
    place = chance.randint(0, len(text))
    return text[:place] + chance.choice(PIECES) + text[place + chance.choice([0, 0, 1, 5]) :]


def _change_field(text: str, chance: random.Random) -> str:
    rows = text.split("\n")
    place = chance.randrange(len(rows))
    fields = rows[place].split("\t")
    fields[chance.randrange(len(fields))] = chance.choice([*PIECES, *fields, str(chance.randint(0, 20))])
    rows[place] = "\t".join(fields)
    return "\n".join(rows)


def _move_line(text: str, chance: random.Random) -> str:
    rows = text.split("\n")
    row = chance.choice(rows)
    if chance.random() < 0.5:
        rows.remove(row)
    if chance.random() < 0.7:
        rows.insert(chance.randint(0, len(rows)), row)
    return "\n".join(rows)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _repeat(text: str, chance: random.Random) -> str:
    place, size = chance.randint(0, len(text)), chance.randint(1, 40)
    return text[:place] + text[place : place + size] * chance.choice([2, 3, 50]) + text[place + size :]


MUTATIONS = [_put_in, _put_in, _change_field, _change_field, _change_field, _move_line, _cut, _repeat]

# Small networks


def small_networks(epochs: int) -> NetworkRecipes:
    """Recipes of a parser, a reader and a tagger that are trained in seconds."""
    short: dict[str, Any] = {"epochs": epochs, "least_steps": 1}
    sizes = {"form_size": 8, "character_size": 4, "spelling_size": 8, "lstm_size": 6}
    parser = ParserRecipe(**short, **sizes, tag_size=4, arc_size=8)
    return NetworkRecipes(parser, ReaderRecipe(**short, **sizes), SlotTaggerRecipe(**short, slot_size=8))
