"""Which underlying token each token on the page is."""

from itertools import combinations
from pathlib import Path

import torch
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.embedded import embedded_treebank_path
from pyropunct.inference.machines.evidence import EMPTY
from pyropunct.inference.machines.products import EDITS
from pyropunct.inference.strings import Underlying
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import Derivations, common_tokens, underlying_strings
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import build_vocabulary

strings = st.lists(st.integers(0, 2), max_size=5)


@given(strings, strings, st.data())
def test_common_tokens(u: list[int], x: list[int], data: st.DataObject) -> None:
    depths = data.draw(st.lists(st.integers(0, 3), min_size=len(u), max_size=len(u)))
    choices = [
        (-size, sum(depths[i] for i in some))
        for size in range(min(len(u), len(x)) + 1)
        for some in combinations(range(len(u)), size)
        for others in combinations(range(len(x)), size)
        if [u[i] for i in some] == [x[j] for j in others]
    ]
    found = common_tokens(u, x, depths)
    used = [origin for origin in found if origin is not None]
    assert used == sorted(set(used))
    assert all(origin is None or u[origin] == x[j] for j, origin in enumerate(found))
    assert (-len(used), sum(depths[i] for i in used)) == min(choices)


def test_underlying_strings_are_those_of_the_model() -> None:
    sentences = list(read_treebank(embedded_treebank_path("dev")))[:40]
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])
    batch = vocabulary.encode_trees([sentence.tree for sentence in sentences])
    inventory = vocabulary.inventory
    sizes = torch.tensor([len(inventory.pairs[relation]) for relation in batch.relation.tolist()])
    choices = (torch.rand(len(sizes)) * sizes).long()
    slots = torch.arange(batch.forest.num_slots)
    tokens = Underlying(batch.forest, inventory, batch.relation, choices, slots).tokens.tolist()
    expected = iter([vocabulary.decode_string(t for t in row if t != EMPTY) for row in tokens])
    pairs = iter(zip(batch.relation.tolist(), choices.tolist(), strict=True))
    for sentence in sentences:
        encoded = [
            inventory.pairs[relation][choice]
            for relation, choice in (next(pairs) for _ in sentence.tree.heads)
        ]
        punctemes = [
            (vocabulary.decode_string(left), vocabulary.decode_string(right)) for left, right in encoded
        ]
        for string in underlying_strings(sentence.tree, punctemes):
            assert tuple(sprouted.token for sprouted in string) == next(expected)


def test_derivations_of_a_treebank(small: Path, single_precision: None) -> None:
    model, sentences = Punctuator.load(small / "model"), list(read_treebank(small / "dev.conllu"))
    derivations = Derivations(model)
    changed = 0
    for sentence, trees in zip(sentences, model.underlying(sentences), strict=True):
        for slot in derivations.of(sentence, trees[0]):
            changed += slot.changed
            tokens = [sprouted.token for sprouted in slot.underlying]
            assert slot.changed == (slot.slipped or tuple(tokens) != slot.surface or bool(slot.edits))
            if not slot.slipped:
                assert [tokens[origin] for origin in slot.origins if origin is not None] == list(slot.surface)
            assert all(edit.name in EDITS[1:] for edit in slot.edits)
    assert changed
