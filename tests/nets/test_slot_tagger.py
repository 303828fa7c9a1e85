"""The tagger of slots: what it learns, what it gives, what it keeps, what it refuses."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pyropunct.errors import ModelFileError
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.tagger import SlotTagger, SlotTaggerRecipe, train_slot_tagger
from pyropunct.text.marks import START, Surface
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence

SMALL = SlotTaggerRecipe(
    epochs=8, least_steps=0, batch_words=100, learning_rate=0.02, averaging=0.9, dropout=0.1, slot_size=20
)


def smaller(**changes: Any) -> SlotTaggerRecipe:
    return replace(SMALL, **changes)


@pytest.fixture(scope="module")
def tagger(parser: BiaffineParser, train: list[Sentence], dev: list[Sentence]) -> SlotTagger:
    torch.set_num_threads(1)
    return train_slot_tagger(parser, train, dev, SMALL)


@pytest.fixture(scope="module")
def tiny(parser: BiaffineParser) -> SlotTagger:
    """A tagger with one mark, of whose strings some have a label and one was seen only once."""
    word, comma = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n", "{}\t,\t,\tPUNCT\t_\t_\t1\tpunct\t_\t_\n"
    commas = ["".join(map(comma.format, range(2, 2 + number))) for number in (1, 1, 1, 3, 0, 0)]
    text = "".join(f"{word}{some}\n" for some in commas)
    return train_slot_tagger(parser, read_text(text), None, smaller(epochs=1))


def words_of(some: list[Sentence]) -> list[tuple[str, ...]]:
    return [one.tree.forms for one in some]


def surfaces(some: list[Sentence]) -> list[Surface]:
    return [one.surface for one in some]


def test_it_learns(tagger: SlotTagger, dev: list[Sentence]) -> None:
    """Loss falls; of sentences of all lengths, the last slot has a mark and most others have none."""
    epochs = tagger.report["epochs"]
    assert epochs[-1]["loss"] < 0.8 * epochs[0]["loss"]
    found = tagger.read(words_of(dev))
    assert np.mean([one[-1, 0] for one in found]) < 0.3
    assert np.mean([one[:-1, 0].mean() for one in found]) > 0.6
    total = float(tagger.log_prob(words_of(dev), surfaces(dev)).sum())
    perplexity = math.exp(-total / sum(map(len, surfaces(dev))))
    assert perplexity == pytest.approx(min(epoch["scores"]["perplexity"] for epoch in epochs))


def test_questions_show_at_their_first_word(parser: BiaffineParser) -> None:
    """Other words are the same, and too many for the states of the parser to tell of the first word."""
    filler = "".join(f"{number}\tsings\t_\tVERB\t_\t_\t1\tdep\t_\t_\n" for number in range(2, 20))
    texts = [
        f"1\t{first}\t_\tX\t_\t_\t0\troot\t_\t_\n{filler}20\t{mark}\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
        for first, mark in (("did", "?"), ("Ann", "."))
    ]
    sentences = list(read_text("".join(texts) * 40))
    tagger = train_slot_tagger(parser, sentences, None, smaller(epochs=8))
    question, statement = (one[-1] for one in tagger.read(words_of(sentences[:2])))
    labels = tagger.vocabulary.labels.encode([("?",), (".",)])
    assert question[labels[0]] > 0.75
    assert statement[labels[1]] > 0.75


def test_probabilities_of_all_strings_add_up_to_one(tiny: SlotTagger) -> None:
    """Of sentences of one word, with as many commas as are at all probable in each slot."""
    labels = tiny.vocabulary.labels
    assert labels.marks[2:] == (",",)
    assert ((",",) * 3) in tiny.vocabulary.rare
    strings = [(), *(one for size in range(1, 4) for one in itertools.product(labels.marks, repeat=size))]
    pairs = [((START, *first), second) for first in strings for second in strings]
    total = tiny.log_prob([("a",)] * len(pairs), pairs).exp().sum()
    assert 0.8 < total < 1 + 1e-9


def test_what_is_said_of_a_sentence_does_not_depend_on_others(
    tagger: SlotTagger, dev: list[Sentence]
) -> None:
    words = words_of(dev)
    for one, alone in zip(tagger.read(words), map(tagger.read, ([some] for some in words)), strict=True):
        np.testing.assert_allclose(one, alone[0], atol=1e-6)
        np.testing.assert_allclose(one.sum(1), 1)


@pytest.mark.parametrize(
    "change",
    [
        {"rare": [["★"]]},
        {"rare": ["★"]},
        {"rare": [[","], [",", ","]], "labels": {"marks": [], "strings": []}},
        {"labels": None},
    ],
)
def test_vocabularies_that_are_none(tiny: SlotTagger, change: dict[str, Any]) -> None:
    plain, tensors = tiny.to_parts()
    plain["vocabulary"] |= change
    with pytest.raises(ValueError, match="not the parts of a slot tagger"):
        SlotTagger.from_parts(plain, tensors, tiny.parser)


def test_a_tagger_of_a_smaller_parser(tiny: SlotTagger) -> None:
    plain, tensors = tiny.to_parts()
    sides = (side[:, 1:] for side in tensors["slots.weight"].chunk(2, 1))
    smaller = {"edges": tensors["edges"][:, 1:], "slots.weight": torch.cat(list(sides), 1)}
    with pytest.raises(ValueError, match="not the parts of a slot tagger"):
        SlotTagger.from_parts(plain, {**tensors, **smaller}, tiny.parser)


def test_a_checkpoint_of_other_punctuation(
    parser: BiaffineParser, train: list[Sentence], tmp_path: Path
) -> None:
    recipe, checkpoint, few = smaller(epochs=1), Checkpoint(tmp_path / "tagger"), train[:20]
    train_slot_tagger(parser, few, None, recipe, checkpoint=checkpoint)
    punctuated = replace(few[0], surface=[(START, "!"), *few[0].surface[1:]])
    with pytest.raises(ModelFileError, match="checkpoint is of other data, settings or another seed"):
        train_slot_tagger(parser, [punctuated, *few[1:]], None, recipe, checkpoint=checkpoint)
