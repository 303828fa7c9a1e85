"""The fitted model, as called from Python."""

import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyro
import pytest
import torch

from pyropunct.fitted.fitted_story import BATCH_SIZE
from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.machines.products import EDITS
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.models.trees import TreeBatch
from pyropunct.punctuator import Punctuator, load
from pyropunct.tasks.explain.tree_text import bracketed
from pyropunct.text.marks import Surface, unpaired
from pyropunct.train.fitting import fit
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def dev(small: Path) -> list[Sentence]:
    return list(read_treebank(small / "dev.conllu"))


def sentence(*tokens: tuple[str, int, str, str]) -> Sentence:
    """A sentence from (form, head, relation, tag)."""
    lines = [
        f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
        for number, (form, head, relation, tag) in enumerate(tokens, 1)
    ]
    return read_text("".join(lines)).sentences[0]


def test_log_prob_of_a_sentence_does_not_depend_on_its_neighbours(
    model: Punctuator, dev: list[Sentence]
) -> None:
    together = model.log_prob(dev)
    alone = torch.cat([model.log_prob([one]) for one in dev])
    assert together.shape == (30,)
    assert (together < 0).all()
    assert torch.allclose(together, alone, rtol=1e-5, atol=1e-6)


def test_the_same_tree_with_many_punctuations(model: Punctuator, dev: list[Sentence]) -> None:
    """To the last bit as if each tree came with one punctuation alone."""
    trees = [one.tree for one in dev[:4]]
    bare = [[() for _ in one.surface] for one in dev[:4]]
    pairs = [
        (tree, surface)
        for tree, one, none in zip(trees, dev, bare, strict=False)
        for surface in (one.surface, none)
    ]
    together = model.log_prob_of_marks([tree for tree, _ in pairs], [surface for _, surface in pairs])
    copies = [replace(tree) for tree, _ in pairs]
    assert torch.equal(together, model.log_prob_of_marks(copies, [surface for _, surface in pairs]))
    of_first = model.log_prob_of_marks(trees, [one.surface for one in dev[:4]])
    assert torch.equal(together[::2], of_first)


def test_a_treebank_as_it_is_read(model: Punctuator, small: Path, dev: list[Sentence]) -> None:
    treebank = read_treebank(small / "dev.conllu")
    assert (treebank[0], treebank[1:3]) == (dev[0], tuple(dev[1:3]))
    assert model.evaluate(treebank) == model.evaluate(dev)
    assert torch.equal(model.log_prob(treebank), model.log_prob(dev))


def test_more_sentences_than_a_batch(model: Punctuator, dev: list[Sentence]) -> None:
    many = (dev * 5)[: BATCH_SIZE + 7]
    assert len(model.log_prob(many)) == len(list(model.underlying(many))) == len(list(model.sample(many)))


def test_evaluation(model: Punctuator, dev: list[Sentence]) -> None:
    result = model.evaluate(dev)
    assert (result.sentences, result.slots) == (30, sum(len(one.surface) for one in dev))
    assert result.perplexity == pytest.approx(math.exp(-result.log_likelihood / result.slots), 1e-12)


def test_saved_and_loaded(model: Punctuator, dev: list[Sentence], tmp_path: Path) -> None:
    model.save(tmp_path / "again")
    again = Punctuator.load(tmp_path / "again")
    assert torch.equal(model.log_prob(dev), again.log_prob(dev))
    assert (model.vocabulary, model.recipe, model.report) == (again.vocabulary, again.recipe, again.report)


def test_a_saved_model_is_smaller_and_as_good(small: Path, dev: list[Sentence], tmp_path: Path) -> None:
    """It has a part of the weights, and what is saved again is the same."""
    model = fit(read_treebank(small / "train.conllu"), dev, direction="left")
    model.save(tmp_path / "m")
    again = Punctuator.load(tmp_path / "m")
    assert again.evaluate(dev).perplexity == pytest.approx(model.evaluate(dev).perplexity, rel=5e-5)
    weights, left = (one.values["attach.weights"] for one in (model, again))
    assert left.count_nonzero() < 0.6 * weights.count_nonzero()
    assert len(left) < len(weights)
    again.save(tmp_path / "n")
    third = Punctuator.load(tmp_path / "n")
    assert all(torch.equal(value, third.values[name]) for name, value in again.values.items())
    assert torch.equal(again.log_prob(dev), third.log_prob(dev))


def test_nothing_is_left_out_of_a_model_with_scales(small: Path, dev: list[Sentence], tmp_path: Path) -> None:
    recipe = Recipe(guide="normal", epochs=1, families=("head",))
    model = fit(read_treebank(small / "train.conllu"), dev, recipe, direction="left")
    model.save(tmp_path / "m")
    again = Punctuator.load(tmp_path / "m")
    for one, other in ((model.values, again.values), (model.scales, again.scales)):
        assert one.keys() == other.keys()
        assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_double_precision_elsewhere_does_not_matter(
    model: Punctuator, small: Path, dev: list[Sentence]
) -> None:
    expected = model.evaluate(dev)
    torch.set_default_dtype(torch.double)
    assert Punctuator.load(small / "model").evaluate(dev).perplexity == pytest.approx(
        expected.perplexity, 1e-6
    )


# What training has not shown

UNSEEN = {
    "relation": sentence(
        ("Wait", 0, "root", "VERB"), ("Anna", 1, "unheard:of", "PROPN"), (".", 1, "punct", "PUNCT")
    ),
    "tag": sentence(("Wait", 0, "root", "KLINGON"), (".", 1, "punct", "PUNCT")),
    "form": sentence(("Qapla", 0, "root", "VERB"), ("!", 1, "punct", "PUNCT")),
    "mark": sentence(("Wait", 0, "root", "VERB"), ("⸮", 1, "punct", "PUNCT")),
    "string": sentence(
        ("Wait", 0, "root", "VERB"), *((mark, 1, "punct", "PUNCT") for mark in (")", ";", "(", "?", ":"))
    ),
    "marks at the start": sentence((")", 2, "punct", "PUNCT"), ("Wait", 0, "root", "VERB")),
    "long string": sentence(("So", 0, "root", "ADV"), *[(".", 1, "punct", "PUNCT")] * 60),
}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_what_training_has_not_shown(model: Punctuator, unseen: Sentence) -> None:
    """It backs off, or the channel slips: every sentence has a positive probability."""
    result = model.evaluate([unseen])
    assert math.isfinite(result.perplexity)
    assert result.perplexity > 1
    (trees,) = model.underlying([unseen])
    assert len(trees[0]) == len(unseen.tree)
    (draws,) = model.sample([unseen], 3)
    assert all(len(draw) == len(unseen.surface) for draw in draws)
    assert all(unseen.text(draw) for draw in draws)


def test_an_unseen_string_is_less_likely_than_a_usual_one(model: Punctuator) -> None:
    usual = sentence(("Wait", 0, "root", "VERB"), (".", 1, "punct", "PUNCT"))
    assert model.log_prob([usual]) > model.log_prob([UNSEEN["string"]]) + 5


def test_sentences_are_evaluated_as_they_come(model: Punctuator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch at a time and a sentence more, with the same result as all together."""
    some = [sentence(("Wait", 0, "root", "VERB"), *[(".", 1, "punct", "PUNCT")] * (n % 3)) for n in range(7)]
    together = model.evaluate(some)
    monkeypatch.setattr("pyropunct.fitted.fitted_story.BATCH_SIZE", 3)
    given, seen = list[Sentence](), list[int]()

    def stream() -> Iterator[Sentence]:
        for one in some:
            given.append(one)
            yield one

    def watched(punctuator: Punctuator, batch: Sequence[Sentence]) -> tuple[TreeBatch, torch.Tensor]:
        seen.append(len(given))
        return encode(punctuator, batch)

    encode = Punctuator._encode
    monkeypatch.setattr(Punctuator, "_encode", watched)
    assert model.evaluate(stream()) == together
    assert seen == [4, 7, 7]


def test_punctuation_that_cannot_be_is_an_error_that_names_the_sentence(model: Punctuator) -> None:
    model.story.channel.slip_logit = torch.tensor(-1e4)  # it never slips
    absurd = sentence(("So", 0, "root", "ADV"), *[(".", 1, "punct", "PUNCT")] * 40)
    what = r"<string>:1: sentence '#1': the model cannot produce (\. )+.* behind the word 'So' "
    with pytest.raises(ImpossibleSurfaceError, match=f"^{what}"):
        model.log_prob([absurd])


# Settings


def test_an_unknown_setting_is_named_beside_the_nearest(model: Punctuator, small: Path) -> None:
    with pytest.raises(
        TypeError, match=r"^punctuator\(\) has no setting 'runing' \(the nearest is 'running'\)$"
    ):
        model("a b", runing=True)
    with pytest.raises(TypeError, match=r"^details\(\) has no setting 'mark' \(the nearest is 'marks'\)$"):
        model.details(["a b"], mark=",")
    with pytest.raises(TypeError, match=r"^load\(\) has no setting 'encodr' \(the nearest is 'encoder'\)$"):
        load(small / "model", encodr="folder")
    with pytest.raises(TypeError, match=r"^punctuator\(\) has no setting 'anew' \(it has .*, keep, .*\)$"):
        model("a b", anew=True)
    assert load(small / "model", keep=False).settings.keep is False


# Underlying and surface punctuation


def test_the_best_derivation_has_punctemes_of_its_relations(model: Punctuator, dev: list[Sentence]) -> None:
    vocabulary = model.vocabulary
    for one, (tree,) in zip(dev, model.underlying(dev), strict=True):
        for relation, (left, right) in zip(one.tree.relations, tree, strict=True):
            pair = tuple(tuple(vocabulary.token_number[token] for token in side) for side in (left, right))
            assert pair in vocabulary.pairs[vocabulary.relation_number(relation)]


def test_the_best_derivation_explains_most_marks_as_they_are(model: Punctuator, dev: list[Sentence]) -> None:
    """A sentence without absorption shows every underlying mark."""
    wait = sentence(("Wait", 0, "root", "VERB"), (".", 1, "punct", "PUNCT"))
    ((tree,),) = model.underlying([wait])
    assert bracketed(wait.tree, tree) == "root[Wait .]"


def test_draws_from_the_posterior(model: Punctuator, dev: list[Sentence]) -> None:
    def draws(seed: int) -> list[list[list[tuple[tuple[str, ...], tuple[str, ...]]]]]:
        pyro.set_rng_seed(seed)
        return list(model.underlying(dev, samples=4))

    assert draws(1) == draws(1) != draws(2)
    assert all(len(trees) == 4 for trees in draws(1))


def test_draws_of_the_surface(model: Punctuator, dev: list[Sentence]) -> None:
    for one, draws in zip(dev, model.sample(dev, 2), strict=True):
        for draw in draws:
            assert len(draw) == len(one.surface)
            assert {token for slot in draw for token in slot} <= set(model.vocabulary.tokens)


def test_balanced_draws_are_the_others_without_those_that_are_not(
    model: Punctuator, dev: list[Sentence]
) -> None:
    def draws(balanced: bool) -> list[list[Surface]]:
        pyro.set_rng_seed(0)
        return list(model.sample(dev, 10, balanced=balanced))

    some, all_balanced = draws(False), draws(True)
    for one, other in zip(some, all_balanced, strict=True):
        kept = [surface for surface in one if not unpaired(surface)]
        assert other[: len(kept)] == kept
        assert len(other) == 10
        assert not any(map(unpaired, other))
    assert any(unpaired(surface) for one in some for surface in one)


def test_a_sentence_without_balanced_draws(model: Punctuator, dev: list[Sentence]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyropunct.fitted.fitted_story.unpaired", lambda surface: 1)
        with pytest.raises(ImpossibleSurfaceError, match=f"{dev[0].identifier}.*too few draws"):
            next(model.sample(dev[:1], balanced=True))


def test_frequent_surfaces_are_drawn_often(model: Punctuator) -> None:
    wait = sentence(("Wait", 0, "root", "VERB"), (".", 1, "punct", "PUNCT"))
    (draws,) = model.sample([wait], 400)
    share = sum([tuple(slot) for slot in draw] == list(wait.surface) for draw in draws) / 400
    expected = float(model.log_prob([wait]).exp())
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / 400)


# Edits


def test_edits(model: Punctuator, dev: list[Sentence]) -> None:
    edits = model.edits(dev)
    assert [edit.count for edit in edits] == sorted((edit.count for edit in edits), reverse=True)
    for edit in edits:
        a, b = edit.before
        assert edit.after == dict(zip(EDITS, [(a, b), (b,), (a,), (b, a)], strict=True))[edit.name]
        assert 0 < edit.probability < 1


def test_edit_probabilities_are_the_learned_ones(model: Punctuator) -> None:
    """Every time the same; a softmax of the learned logits."""
    table, logits = model.edit_probabilities(), model.story.channel.channel.edit_logits
    assert table is not None
    assert torch.equal(table, model.edit_probabilities())
    assert torch.allclose(table, logits.softmax(-1))


def test_counts_of_edits_agree_with_their_probabilities(model: Punctuator, dev: list[Sentence]) -> None:
    """Two edits with the same effect on the surface are used in the proportion of their probabilities."""
    shares = {
        edit.name: (edit.count, edit.probability) for edit in model.edits(dev) if edit.before == (",", ",")
    }
    (one, p), (other, q) = shares["left absorption"], shares["right absorption"]
    assert one / other == pytest.approx(p / q, rel=1e-3)


def test_identical_marks_absorbed_are_one_edit(model: Punctuator, dev: list[Sentence]) -> None:
    apart = [edit for edit in model.edits(dev) if edit.before == (",", ",")]
    merged = {edit.name: edit for edit in model.edits(dev, merged=True) if edit.before == (",", ",")}
    assert {"absorption"} <= set(merged) <= {"keep", "absorption"}
    for number in ("count", "probability"):
        total = sum(getattr(edit, number) for edit in apart if edit.name in EDITS[1:3])
        assert getattr(merged["absorption"], number) == pytest.approx(total, rel=1e-5)
    others = [[edit for edit in model.edits(dev, merged=one) if len(set(edit.before)) > 1] for one in (0, 1)]
    assert others[0] == others[1]


def test_unmatched_punctemes(model: Punctuator, dev: list[Sentence]) -> None:
    """More are expected of a sentence whose quotation is never closed."""
    expected = model.unmatched(dev)
    assert expected.shape == (30,)
    assert (expected >= -1e-6).all()
    open_quotation = sentence(
        ("“", 2, "punct", "PUNCT"), ("Wait", 0, "root", "VERB"), ("Anna", 2, "vocative", "PROPN")
    )
    assert model.unmatched([open_quotation]) > 0.5


def test_without_edits(model: Punctuator, dev: list[Sentence]) -> None:
    bare = fit(dev, dev, replace(model.recipe, channel="identity", epochs=1), direction="left")
    assert bare.edits(dev) == []
    assert bare.edit_probabilities() is None


def test_threads_share_a_model(model: Punctuator, dev: list[Sentence]) -> None:
    """Each call gives what it gives alone, though Pyro has one list of handlers for all threads."""
    wanted = list(model.underlying(dev[:3]))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: list(model.underlying(dev[:3])), range(8)))
    finally:
        sys.setswitchinterval(before)
    assert found == [wanted] * 8
