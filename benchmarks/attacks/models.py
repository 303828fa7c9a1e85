"""Damaged models of every kind, with the right checksum: a command ends with results or one line."""

import copy
import json
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from material import INPUTS, damaged, few_sentences, small_networks
from processes import filled
from row import Try, outcome, run

from pyropunct.errors import ModelFileError
from pyropunct.fitted.model_file import read_tensors, write_model_file, write_tensors
from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.parser import train_parser
from pyropunct.nets.reader_training import train_reader
from pyropunct.papers.experiment import loader
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, Rival, train_rival
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel
from pyropunct.train.fitting import fit
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

RIVALS: dict[str, type[Rival]] = {"crf": BiLSTMCRF, "attention": BiGRUAttention}
TAGGER = RivalRecipe(epochs=1, least_steps=1, word_size=8, hidden_size=6)

PLAIN = Recipe(families=("symmetry", "head", "inside"), epochs=1)
CHANNELS = ("strength", "pooled", "inserting", "two-passes")
VARIANTS = {
    "normal": replace(PLAIN, guide="normal"),
    **{name: replace(PLAIN, channel=name) for name in CHANNELS},
}


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Damage a model, and use it."""
    material = Material(folder)
    for _ in range(tries):
        kind = chance.choice(sorted(material.uses))
        path = Path(shutil.copy(folder / f"{kind}.safetensors", folder / "damaged"))
        told = damaged_header(path, chance) if chance.random() < 0.25 else damage(path, chance)
        yield f"{kind}: {told}", outcome(folder, material.uses[kind], path, chance)


def small_model(sentences: list[Sentence]) -> tuple[Punctuator, NoisyChannel]:
    """A model with a parser and a reader of running text, and a corrector."""
    networks, dev = small_networks(1), sentences[:20]
    model = replace(
        fit(sentences, dev, PLAIN, direction="left"),
        parser=train_parser(sentences, dev, networks.parser),
        reader=train_reader(sentences, dev, networks.reader),
    )
    return model, NoisyChannel(model, fit_channel(simulated_pairs(sentences), model.vocabulary.tokens))


class Material:
    """Models of every kind in a folder, and how each is used.

    :ivar uses: for each model what to do with a copy of it; it raises what a user would see.
    """

    def __init__(self, folder: Path) -> None:
        self.words = {"WORDS": folder / "words.txt", "TREEBANK": few_sentences(folder / "few.conllu", 60)}
        self.words["WORDS"].write_text("Grace the guide considered the concert a perfect dream\nWell come\n")
        self.uses: dict[str, Callable[[Path, random.Random], None]] = {}
        sentences = list(read_treebank(self.words["TREEBANK"]))
        model, corrector = small_model(sentences)
        models = {
            name: fit(sentences, sentences[:5], one, direction="left") for name, one in VARIANTS.items()
        }
        for name, one in {"plain": model, **models}.items():
            one.save(folder / name)
            self.uses[name] = self._use_model
        corrector.save(folder / "corrector")
        self.uses["corrector"] = partial(self._call, INPUTS["models"]["correctors"])
        for kind, rival in RIVALS.items():
            write_model_file(folder / kind, *train_rival(rival, sentences, sentences[:5], TAGGER).to_parts())
            self.uses[kind] = partial(self._use_tagger, rival)

    def _use_model(self, path: Path, chance: random.Random) -> None:
        self._call(["evaluate MODEL TREEBANK"], path, chance)
        self._call(INPUTS["models"]["on_treebank"], path, chance)

    def _use_tagger(self, rival: type[Rival], path: Path, chance: random.Random) -> None:
        sentences = read_treebank(self.words["TREEBANK"])[:5]
        tagger = loader(rival.from_parts)(path)
        tagger.evaluate(sentences)
        tagger.restore([sentence.tree.forms for sentence in sentences])

    def _call(self, commands: list[str], path: Path, chance: random.Random) -> None:
        run([*filled(chance.choice(commands), {**self.words, "MODEL": path}), "--threads", "1"], alone=True)


# Damage


def damage(path: Path, chance: random.Random) -> str:
    """Change one thing in a model, make its checksum right again, and tell what was changed."""
    description, tensors = read_tensors(path)
    change = changed_tensor if tensors and chance.random() < 0.75 else None
    told = change(tensors, chance) if change else changed(description, chance)
    try:
        write_tensors(path, description, tensors)
    except (ModelFileError, UnicodeEncodeError):  # JSON has no such number, or UTF-8 no such character
        told += ", which is not written"
    return told


def damaged_header(path: Path, chance: random.Random) -> str:
    """Change the header of a file: its length, its bytes, or what it says of a tensor; or cut the tensors."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    text, rest = content[8 : 8 + length], content[8 + length :]
    way = chance.choice(["length", "bytes", "tensors", "tensor", "tensor", "tensor"])
    if way == "length":
        length = chance.choice([0, 1, length - 1, length + 1, 2**31, 2**63, 10**8 + 1])
        told = f"header of {length} bytes"
    elif way == "bytes":
        text, told = damaged(chance, text)
    elif way == "tensors":
        rest, told = damaged(chance, rest)
    else:
        header = json.loads(text)
        name = chance.choice([name for name in sorted(header) if name != "__metadata__"])
        key = chance.choice(["dtype", "shape", "data_offsets"])
        header[name][key] = chance.choice(ENTRIES)
        text = json.dumps(header).encode()
        length, told = len(text), f"{name} {key} is {header[name][key]!r}"
    path.write_bytes(struct.pack("<Q", length) + text + rest)
    return f"{way}: {told}"


ENTRIES: tuple[Any, ...] = (
    *("F32", "I64", "F8_E5M2", "what", [], [0], [2**62], [2**32, 2**32], [-1], [0, 0], [5, 1]),
    *([0, 4], [0, 2**63], None, {}, 3, [0.5]),
)
"""What may stand in a header in place of types, shapes and offsets."""


def changed_tensor(tensors: dict[str, Any], chance: random.Random) -> str:
    """Change a tensor as it is stored, leave it out, or give it another name."""
    name, way = chance.choice(sorted(tensors)), chance.choice([*sorted(DAMAGES), "missing", "renamed"])
    tensor = tensors[name]
    if way in ("missing", "renamed"):
        del tensors[name]
    if way == "renamed":
        tensors[chance.choice([f"{name}:steps", f"other/{name}", f"{name}x", ""])] = tensor
    elif way != "missing":
        tensors[name] = DAMAGES[way](tensor, chance).contiguous()
    return f"{name} {way}"


def anywhere(tensor: torch.Tensor, value: float, chance: random.Random) -> torch.Tensor:
    """The tensor with another value in one place or in all."""
    if tensor.dtype == torch.bool or not tensor.numel():
        return tensor
    try:
        made = torch.tensor(value, dtype=tensor.dtype)
    except (RuntimeError, OverflowError, ValueError):
        made = torch.tensor(int(chance.choice([-1, 127, 1])), dtype=tensor.dtype)
    tensor = tensor.clone()
    place = chance.randrange(tensor.numel())
    tensor.view(-1)[slice(None) if chance.random() < 0.3 else place] = made
    return tensor


def much(tensor: torch.Tensor, chance: random.Random) -> torch.Tensor:
    """A vector of the same type that claims as much as few bytes can, if it is a part with gaps."""
    return torch.full((1_000_000,), 255 if tensor.dtype == torch.uint8 else 0).to(tensor.dtype)


DAMAGES: dict[str, Callable[[torch.Tensor, random.Random], Any]] = {
    "cut": lambda tensor, chance: tensor.flatten()[: chance.randrange(max(1, tensor.numel()))].clone(),
    "cut in its first dimension": lambda tensor, chance: (
        tensor[: len(tensor) // 2] if tensor.dim() else tensor
    ),
    "doubled": lambda tensor, chance: torch.cat([tensor, tensor]) if tensor.dim() else tensor,
    "much": much,
    "times two": lambda tensor, chance: tensor * 2,
    "negative": lambda tensor, chance: -tensor if tensor.dtype != torch.bool else tensor,
    "zero": lambda tensor, chance: torch.zeros_like(tensor),
    "huge": lambda tensor, chance: anywhere(tensor, chance.choice([1e30, -1e30, 1e6, -1e9]), chance),
    "largest": lambda tensor, chance: anywhere(
        tensor, chance.choice([2**62, -(2**62), 32767, 127, -128]), chance
    ),
    "NaN": lambda tensor, chance: anywhere(tensor, float("nan"), chance),
    "infinite": lambda tensor, chance: anywhere(tensor, chance.choice([1, -1]) * float("inf"), chance),
    "of another type": lambda tensor, chance: tensor.to(chance.choice(TYPES)),
    "permuted": lambda tensor, chance: tensor.flatten()[torch.randperm(tensor.numel())].view(tensor.shape),
    "transposed": lambda tensor, chance: tensor.mT if tensor.dim() > 1 else tensor[None],
}
TYPES = [torch.half, torch.bfloat16, torch.float, torch.double, torch.int8, torch.int, torch.long, torch.bool]
TYPES += [torch.cfloat, torch.uint8, torch.int16]

MANY = [str(number) for number in range(50_000)]
"""A list that claims much memory, or much time, where a table or a layer is made for each."""

VALUES: tuple[Any, ...] = (
    *(None, -1, 0, 1, 10**6, 10**30, 10**400, 1e30, 0.5, -1e300, float("nan"), True),
    *("", "text", "\t^", "\ud800", MANY, [], [0], {}, {"a": 1}),
)
"""What may stand in a description in place of any value."""


def changed(description: dict[str, Any], chance: random.Random) -> str:
    """Change, delete or double something in the JSON of a description."""
    places = [place for place in places_of(description) if place[0] not in ("report", "sha256")]
    depth = chance.randrange(1, max(map(len, places)) + 1)
    place = chance.choice([one for one in places if len(one) >= min(depth, 3)])
    holder: Any = description
    for key in place[:-1]:
        holder = holder[key]
    key, way = place[-1], chance.choice(["other value", "other value", "deleted", "doubled"])
    if way == "other value":
        value = chance.choice(VALUES)
        holder[key] = copy.deepcopy(value)
        way = f"is {str(value)[:100]!r}"
    elif way == "deleted":
        del holder[key]
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[f"{key} "] = holder[key]
    return f"{'/'.join(map(str, place))} {way}"


def places_of(value: Any) -> Iterator[tuple[Any, ...]]:
    """The places of all values in JSON."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (key,)
        for place in places_of(part):
            yield key, *place
