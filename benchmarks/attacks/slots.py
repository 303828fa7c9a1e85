"""Sentences with hundreds of marks between two words: bounded memory, and the next sentence is answered."""

import random
from collections.abc import Iterator
from pathlib import Path

from material import INPUTS
from processes import filled, measured
from row import DONE, REFUSED, Try

from pyropunct.errors import BAD_INPUT
from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.repunctuate import USUAL
from pyropunct.treebank.tree import Tree

MOST = 2_000
"""The greatest memory of a command, in MB."""

SILENT = ("evaluate", "rephrase")
"""The commands whose answer does not have all words."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Call a command on a sentence with many marks, then on one without."""
    file = folder / "file"
    for _ in range(tries):
        slots, lines = _slots(chance), chance.choice([1, 10, 100])
        kind = chance.choice(["on_text", "on_treebank"])
        command = chance.choice(INPUTS["slots"][kind])
        if kind == "on_text":
            crowded = " ".join([slots[0], "the", slots[1], "cats", slots[2], "sleep", slots[3]])
            file.write_text(f"{crowded}\n" * lines + "dogs sleep\n")
        else:
            file.write_text(_block("the cats sleep", slots) * lines + _block("dogs sleep", ["", "", "."]))
        told = f"{command} on {lines} lines with {[len(slot.split()) for slot in slots]} marks"
        yield told, _judged([*filled(command, {"FILE": file}), "--threads", "1"], folder)


def _judged(arguments: list[str], folder: Path) -> str:
    """`DONE` or `REFUSED` if a command behaves as it should; otherwise what went wrong."""
    with (folder / "answer").open("w") as answer, (folder / "told").open("w") as told:
        status, used = measured(arguments, stdout=answer, stderr=told)
    complaint, most = (folder / "told").read_text(), used.ru_maxrss // 1024
    if status not in (0, BAD_INPUT) or "Traceback" in complaint:
        return f"status {status}: {complaint[-500:]}"
    if most > MOST:
        return f"{most} MB"
    if arguments[0] not in SILENT and "ogs sleep" not in (folder / "answer").read_text():
        return f"no answer to the last sentence: {complaint[-500:]}"
    return REFUSED if status else DONE


def _block(words: str, slots: list[str]) -> str:
    """A sentence in CoNLL-U; each word but the last depends on the last."""
    forms = tuple(words.split())
    others = len(forms) - 1
    tree = Tree(
        (len(forms),) * others + (0,),
        ("nsubj",) * others + ("root",),
        ("NOUN",) * others + ("VERB",),
        forms,
    )
    return print_conllu(tree, [tuple(slot.split()) for slot in slots], USUAL, words)


def _slots(chance: random.Random) -> list[str]:
    """The marks of four slots: brackets around a word, one mark in one slot, or all kinds in all slots."""
    many = chance.choice([9, 20, 21, 100, 250])
    kind = chance.choice(["brackets", "one", "all"])
    if kind == "brackets":
        return ["", "( " * many, ") " * many, "."]
    if kind == "one":
        return ["", chance.choice([", ", "- ", "! ", '" ']) * many, "", "."]
    return ["".join(chance.choice([", ", "( ", ") ", ". ", '" ']) for _ in range(many)) for _ in range(4)]
