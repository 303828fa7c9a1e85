"""Sentences with hundreds of marks between two words: bounded memory, and the next sentence is answered."""

import os
import random
import subprocess
import tempfile
from pathlib import Path

from row import DONE, REFUSED, Row, row_of
from surroundings import BAD_INPUT, COMMAND

from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.repunctuate import USUAL
from pyropunct.treebank.tree import Tree

MOST = 2_000
"""The greatest memory of a command, in MB."""

TEXT_COMMANDS = [
    "restore en FILE",
    "restore en FILE --keep",
    "restore en FILE --anew",
    "correct en FILE",
]
TREEBANK_COMMANDS = [
    "evaluate en FILE",
    "restore en FILE --keep",
    "restore en FILE",
    "rephrase en FILE --delete nsubj",
    "sample en FILE",
]
SILENT = ("evaluate", "rephrase")
"""The commands whose answer does not have all words."""


def attack(tries: int, seed: int) -> Row:
    """Call a command on such sentences, so often."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        found = (_try(chance, Path(place) / "file") for _ in range(tries))
        return row_of("commands on slots with hundreds of marks", found)


def _try(chance: random.Random, file: Path) -> tuple[str, str]:
    slots, lines = _slots(chance), chance.choice([1, 10, 100])
    if chance.random() < 0.5:
        command = chance.choice(TEXT_COMMANDS)
        crowded = " ".join([slots[0], "the", slots[1], "cats", slots[2], "sleep", slots[3]])
        file.write_text(f"{crowded}\n" * lines + "dogs sleep\n")
    else:
        command = chance.choice(TREEBANK_COMMANDS)
        file.write_text(_block("the cats sleep", slots) * lines + _block("dogs sleep", ["", "", "."]))
    arguments = [str(file) if word == "FILE" else word for word in command.split()]
    told = f"{command} on {lines} lines with {[len(slot.split()) for slot in slots]} marks"
    return told, _judged([*arguments, "--threads", "1"], file.parent, command)


def _judged(arguments: list[str], folder: Path, command: str) -> str:
    """`DONE` or `REFUSED` if a command behaves as it should; otherwise what went wrong."""
    with (folder / "answer").open("w") as answer, (folder / "told").open("w") as told:
        process = subprocess.Popen([*COMMAND, *arguments], stdout=answer, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    complaint, most = (folder / "told").read_text(), used.ru_maxrss // 1024
    if process.returncode not in (0, BAD_INPUT) or "Traceback" in complaint:
        return f"status {process.returncode}: {complaint[-500:]}"
    if most > MOST:
        return f"{most} MB"
    if command.split()[0] not in SILENT and "ogs sleep" not in (folder / "answer").read_text():
        return f"no answer to the last sentence: {complaint[-500:]}"
    return REFUSED if process.returncode else DONE


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
