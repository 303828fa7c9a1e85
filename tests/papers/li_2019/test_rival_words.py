"""Words as rivals read them."""

from dataclasses import asdict

import torch
from sentences import sentence

from pyropunct.nets.labels import SlotVocabulary
from pyropunct.papers.li_2019.recurrent import (
    FORM,
    KINDS,
    RivalRecipe,
    RivalVocabulary,
    WordVectors,
    word_attributes,
)


def test_attributes_of_a_word() -> None:
    assert word_attributes("Running") == (
        "form=running",
        "last three=ing",
        "last two=ng",
        "last=g",
        "first=r",
        "shape=2",
    )


def test_unknown_attributes_count_one_by_one() -> None:
    vocabulary = RivalVocabulary.collect(
        [sentence("Singing swinging", "", "", ""), sentence("swinging", "", "")]
    )
    _, singing, swinging, thing, _ = vocabulary.encode_words(["Singing", "swinging", "Thing"])
    form, last_three = KINDS.index("form"), KINDS.index("last three")
    assert singing[form] == thing[form] == form  # seen once and never
    assert swinging[form] >= len(KINDS)
    assert singing[last_three] == swinging[last_three] == thing[last_three] >= len(KINDS)


def test_json() -> None:
    vocabulary = RivalVocabulary.collect([sentence("a b a", "", ",", ",", "★")])
    assert RivalVocabulary.from_json(asdict(vocabulary)) == vocabulary


def test_dropped_words_keep_all_but_their_form() -> None:
    vocabulary = RivalVocabulary(tuple(map(str, range(20))), SlotVocabulary.collect([]))
    vectors = WordVectors(vocabulary, RivalRecipe(word_size=4, dropout=0.0, word_dropout=1.0))
    word = torch.tensor([[[12, 13, 14, 15, 16, 17]]])
    without_form = word.clone()
    without_form[..., FORM] = FORM
    dropped = vectors(word)
    vectors.eval()
    assert torch.equal(dropped, vectors(without_form))
    assert not torch.equal(dropped, vectors(word))
