"""Sums of an evaluation, and the unigram model of slots."""

import itertools
import json
import math
from dataclasses import replace
from itertools import starmap
from pathlib import Path

import pytest
import torch
from pyro import poutine

from pyropunct.fitted.evaluation import SlotCounts, SlotStrings
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.machines.evidence import SlotEvidence, any_over, exactly
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.models.symmetry import PAIRED, unmatched
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import START
from pyropunct.treebank.reading import read_treebank


def test_probabilities_by_hand() -> None:
    """Nothing 6 times, a comma 3 times, a comma and a quotation mark once: 10 slots, 3 strings, 5 tokens."""
    counts = SlotCounts({(): 6, (",",): 3, (",", "”"): 1}, num_tokens=3)
    stop, comma, quote, period = 11 / 19, 5 / 19, 2 / 19, 1 / 19
    for string, count, base in (
        ((), 6, stop),
        ((",",), 3, comma * stop),
        (("”",), 0, quote * stop),
        ((".", ","), 0, period * comma * stop),
    ):
        assert counts.log_prob(string) == pytest.approx(math.log((count + 3 * base) / 13))


def test_probabilities_add_up_to_one() -> None:
    counts = SlotCounts({(): 40, (",",): 9, (",", "”"): 1}, num_tokens=2)
    strings = [some for size in range(14) for some in itertools.product(",”", repeat=size)]
    assert math.fsum(math.exp(counts.log_prob(some)) for some in strings) == pytest.approx(1, abs=1e-6)


def test_each_further_mark_of_a_long_string_costs_the_same() -> None:
    counts = SlotCounts({(): 5, (",",): 3, (",", ","): 2}, 4)
    total = 7 + 10 + 5
    long = counts.log_prob((",",) * 1000)
    assert long == pytest.approx(counts.log_prob((",",) * 3) + 997 * math.log(8 / total), rel=1e-12)


def test_last_slots_are_counted_apart_and_the_sentence_start_is_not() -> None:
    surfaces = [[(START,), (), (".",)], [(START, "“"), (",",), ("!",)], [(START,), (".",)]]
    found = SlotStrings.count(surfaces, 5)
    assert found.last.counts == {(".",): 2, ("!",): 1}
    assert found.others.counts == {(): 3, ("“",): 1, (",",): 1}
    last, others = found.log_probs([(START,), (","), (".",)])
    assert last == found.last.log_prob((".",))
    assert others == found.others.log_prob(()) + found.others.log_prob((",",))
    assert SlotStrings.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_fit_counts_the_slots_of_its_training(small: Path) -> None:
    model, train = Punctuator.load(small / "model"), read_treebank(small / "train.conllu")
    assert model.slot_strings is not None
    assert sum(model.slot_strings.last.counts.values()) == len(train)
    assert sum(model.slot_strings.others.counts.values()) == sum(len(one.tree) for one in train)
    known = {token for string in model.slot_strings.others.counts for token in string}
    assert known <= set(model.vocabulary.tokens) - {START}


def test_last_slots_are_those_of_evidence_that_leaves_them_open(small: Path) -> None:
    """The sum over all of their strings, by an acceptor of any string."""
    model = Punctuator.load(small / "model")
    sentences = list(read_treebank(small / "dev.conllu"))[:8]
    vocabulary = model.vocabulary
    strings = [
        tuple(token for token in string if token >= 0)
        for sentence in sentences
        for string in vocabulary.encode_surface(sentence.surface, sentence.tree).tolist()
    ]
    ends = torch.tensor([len(sentence.surface) for sentence in sentences]).cumsum(0) - 1
    evidence = [
        any_over(range(len(vocabulary.tokens))) if slot in ends.tolist() else exactly(string)
        for slot, string in enumerate(strings)
    ]
    trees = vocabulary.encode_trees([sentence.tree for sentence in sentences])
    with torch.no_grad():
        rest = log_evidence(tree_problem(model.story, trees, SlotEvidence(evidence))).sum()
    own, unigram, with_trees, _ = model.evaluation_sums(iter(sentences), []).evaluation()
    whole = model.evaluate(sentences)
    assert own.all == pytest.approx(whole)
    assert own.others.log_likelihood == pytest.approx(float(rest), rel=1e-4)
    assert (own.last.sentences, own.last.slots) == (8, 8)
    observed = poutine.trace(model.story.syntax).get_trace(trees)
    assert with_trees is not None
    assert with_trees.slots == own.all.slots
    of_decisions = observed.log_prob_sum(lambda name, _: name != "word")
    joint = float(of_decisions) + own.all.log_likelihood
    assert with_trees.log_likelihood == pytest.approx(joint)
    assert unigram is not None
    assert model.slot_strings is not None
    by_hand = [model.slot_strings.log_probs(vocabulary.known_surface(one.surface)) for one in sentences]
    assert unigram.last.log_likelihood == pytest.approx(math.fsum(last for last, _ in by_hand))
    assert unigram.others.log_likelihood == pytest.approx(math.fsum(others for _, others in by_hand))


def test_balance_counts_constituents_with_marks_that_have_no_partner(small: Path) -> None:
    model = Punctuator.load(small / "model")
    sentences = list(read_treebank(small / "dev.conllu"))
    sums = model.evaluation_sums(iter(sentences[:15]), [])
    sums.add(json.loads(json.dumps(model.evaluation_sums(iter(sentences[15:]), []))))
    found = sums.evaluation().balance
    pairs = [pair for [tree] in model.underlying(sentences) for pair in tree]
    bearing = [pair for pair in pairs if PAIRED.intersection(pair[0] + pair[1])]
    assert 0 < found.bearing == len(bearing)
    assert found.unmatched == sum(starmap(unmatched, bearing))
    shown = [one for one in sentences if any(map(PAIRED.intersection, one.surface))]
    assert found.expected == pytest.approx(float(model.unmatched(shown).sum()), rel=1e-5)


def test_batches_are_smaller_where_slots_have_many_marks(small: Path) -> None:
    """The memory of a slot is quadratic in its marks."""
    model, sentence = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")[0]
    crowded = replace(sentence, surface=((START, *"," * 40), *sentence.surface[1:]))
    parts = model.problems([sentence, sentence, crowded, crowded, sentence])
    assert [len(part) for part, _ in parts] == [2, 1, 1, 1]
