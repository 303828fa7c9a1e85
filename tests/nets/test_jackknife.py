"""Trees of sentences by parsers that have not seen them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import ModelFileError
from pyropunct.nets import jackknife
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.jackknife import fold_recipe, folds_of, jackknifed, with_trees
from pyropunct.nets.parser import WeightedTree
from pyropunct.nets.trainer import Progress
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

TINY = ParserRecipe(
    epochs=2,
    least_steps=0,
    form_size=8,
    character_size=4,
    spelling_size=8,
    tag_size=8,
    lstm_size=8,
    arc_size=8,
    relation_size=8,
)

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def treebank() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:11]


@dataclass
class Learner:
    """Knows the trees of the sentences that it has seen, and no others."""

    seen: list[Sentence]

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        known = {sentence.tree.forms for sentence in self.seen}
        assert not known.intersection(sentences), "it has seen what it is to parse"
        first = self.seen[0].tree
        return [[WeightedTree(replace(first, forms=tuple(forms)), 1.0)] for forms in sentences]


@pytest.mark.parametrize("folds", [2, 3, 4, 11, 50])
def test_no_sentence_is_parsed_by_a_parser_that_has_seen_it(
    treebank: list[Sentence], folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learners: list[Learner] = []

    def train(sentences: Iterable[Sentence], **_: Any) -> Learner:
        learners.append(Learner(list(sentences)))
        return learners[-1]

    monkeypatch.setattr(jackknife, "train_parser", train)
    found = jackknifed(treebank, TINY, folds=folds)
    assert [trees[0].tree.forms for trees in found] == [sentence.tree.forms for sentence in treebank]
    parts = folds_of(treebank, folds)
    assert len(learners) == len(parts) == min(folds, 11)
    assert sorted(treebank.index(sentence) for part in parts for sentence in part) == list(range(11))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for learner, part in zip(learners, parts, strict=True):
        assert len(learner.seen) == 11 - len(part)


def test_the_punctuation_stays(treebank: list[Sentence]) -> None:
    found = jackknifed(treebank, TINY, folds=2, trees=3)
    assert all(sum(one.weight for one in trees) == pytest.approx(1) for trees in found)
    parsed = with_trees(treebank, found)
    assert [one.surface for one in parsed] == [one.surface for one in treebank]
    assert [one.tree for one in parsed] == [trees[0].tree for trees in found]
    assert [one.tree for one in parsed] != [one.tree for one in treebank]


def test_going_on_in_any_fold(treebank: list[Sentence], tmp_path: Path) -> None:
    def kept(fold: int) -> Checkpoint:
        return Checkpoint(tmp_path / f"fold-{fold}")

    def stop(fold: int, progress: Progress) -> None:
        steps.append((fold, progress.epoch))
        if (fold, progress.epoch) in stops:
            raise KeyboardInterrupt

    whole = jackknifed(treebank, TINY, folds=3, seed=4)
    stops = {(0, 2), (2, 1)}
    for stopped in sorted(stops):
        steps: list[tuple[int, int]] = []
        with pytest.raises(KeyboardInterrupt):
            jackknifed(treebank, TINY, folds=3, seed=4, checkpoints=kept, watch=stop)
        assert steps[-1] == stopped
        stops.remove(stopped)
    steps = []
    assert jackknifed(treebank, TINY, folds=3, seed=4, checkpoints=kept, watch=stop) == whole
    assert set(steps) == {(2, 1), (2, 2)}
    with pytest.raises(ModelFileError, match="of other data, settings or another seed"):
        jackknifed(treebank, TINY, folds=3, seed=5, checkpoints=kept)


def test_too_little_to_divide(treebank: list[Sentence]) -> None:
    for sentences, folds in ((treebank[:1], 4), ([], 4), (treebank, 1), (treebank, 0)):
        with pytest.raises(ValueError, match=f"{len(sentences)} sentences in {folds} folds"):
            jackknifed(sentences, TINY, folds=folds)


def test_parsers_of_folds_are_trained_for_less() -> None:
    assert fold_recipe(ParserRecipe()) == replace(ParserRecipe(), epochs=6, least_steps=2500)
    assert fold_recipe(replace(TINY, epochs=1)).epochs == 1
