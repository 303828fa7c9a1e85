"""Commands on mutated input, with random options: they end with their results or with one line."""

import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from row import Row, outcome, row_of, run
from treebanks import HARD, PIECES, mutated

from models import PARSER, RECIPES
from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.parser import train_parser
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel
from pyropunct.train.fitting import fit
from pyropunct.treebank.reading import read_treebank

BRACKETS = (
    "(S (NP (DT The) (NN cat)) (, ,) (VP (VBZ sleeps)) (. .))\n(S (`` ``) (VP (VB Go)) ('' '') (. !))\n"
)

TREEBANK_COMMANDS = [
    "evaluate MODEL FILE",
    "underlying MODEL FILE",
    "underlying MODEL FILE --samples 2 --format conllu",
    "underlying MODEL FILE --format report",
    "underlying MODEL FILE --attach-punctuation --format conllu",
    "underlying MODEL FILE --attach-punctuation --format conllu --like FILE",
    "typology MODEL FILE",
    "typology --page FILE",
    "underlying MODEL FILE --format svg --sentence dev-0001",
    "underlying MODEL FILE --format html",
    "underlying MODEL FILE --json",
    "sample MODEL FILE --balanced",
    "sample MODEL FILE --samples 2",
    "restore MODEL FILE --samples 5 --format conllu",
    "restore MODEL FILE --samples 5 --score",
    "restore MODEL FILE --samples 5 --parse --trees 2",
    "correct CORRECTOR FILE",
    "correct CORRECTOR FILE --format edits",
    "rules MODEL FILE --examples 1",
    "typology MODEL FILE --format tsv",
    "rephrase MODEL FILE --delete advmod,appos",
    "rephrase MODEL FILE --move advcl:first",
    "fit FILE --epochs 1 --direction left --families symmetry,head --out OUT",
]
TEXT_COMMANDS = [
    "restore MODEL FILE --samples 5",
    "restore MODEL FILE --samples 5 --keep",
    "restore MODEL FILE --samples 5 --json",
    "correct CORRECTOR FILE",
    "correct CORRECTOR FILE --json",
]
BRACKET_COMMANDS = ["convert FILE --out OUT.conllu", "convert FILE"]


def attack(tries: int, seed: int) -> Row:
    """Call a command on mutated input, ``tries`` times."""
    return row_of("commands on mutated input", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _models(folder)
        for _ in range(tries):
            arguments, data = _call(chance, folder)
            yield f"{' '.join(arguments)}: {data[:2000]!r}", outcome(partial(run, arguments), folder)


def _models(folder: Path) -> None:
    sentences = read_treebank(embedded_treebank_path("train"))[:150]
    model = fit(sentences, sentences[:20], RECIPES["plain"], direction="left")
    object.__setattr__(model, "parser", train_parser(sentences, sentences[:20], PARSER))
    errors = fit_channel(simulated_pairs(sentences), model.vocabulary.tokens)
    NoisyChannel(model, errors).save(folder / "corrector")
    model.save(folder / "model")


def _call(chance: random.Random, folder: Path) -> tuple[list[str], bytes]:
    kind = chance.choice(["treebank", "treebank", "text", "brackets"])
    if kind == "treebank":
        whole = HARD + embedded_treebank_path("dev").read_text(encoding="utf-8")
        blocks = [block + "\n\n" for block in whole.strip().split("\n\n")]
        line, data = chance.choice(TREEBANK_COMMANDS), mutated(chance, blocks)
    elif kind == "text":
        sentences = read_treebank(embedded_treebank_path("test"))[: chance.randint(1, 4)]
        line, data = chance.choice(TEXT_COMMANDS), mutated(chance, [one.text() + "\n" for one in sentences])
    else:
        line, data = chance.choice(BRACKET_COMMANDS), mutated(chance, [BRACKETS, *PIECES])
    (folder / "file").write_bytes(data)
    places = {
        "MODEL": "model",
        "CORRECTOR": "corrector",
        "FILE": "file",
        "OUT": "out",
        "OUT.conllu": "out.conllu",
    }
    arguments = [str(folder / places[word]) if word in places else word for word in line.split()]
    return [*arguments, *(["--threads", "1"] if arguments[0] != "convert" else [])], data
