"""Outcomes of neighbours, pooled over languages."""

import math
import shutil
from pathlib import Path

import pytest
import torch
from command_line import answer, complaint, printed

from pyropunct.tasks.explain import typology
from pyropunct.tasks.explain.typology import (
    PAIRS,
    LanguageCounts,
    PooledShares,
    Tally,
    log_shares,
    pair_counts,
    perplexities,
    pool,
)

pytestmark = pytest.mark.usefixtures("single_precision")


def language(kept: float, absorbed: float, equal: float = 20.0) -> LanguageCounts:
    """A language in which a comma before a final mark is kept so often, and so often absorbed."""
    outcomes = {"comma final": kept, "final": absorbed, "comma": 0.0, "final comma": 0.0}
    tallies = {
        (PAIRS, "comma final"): Tally(kept + absorbed, outcomes),
        (PAIRS, "comma comma"): Tally(equal, {"comma comma": 0.0, "comma": equal}),
    }
    return LanguageCounts({}, tallies)


@pytest.fixture(scope="module")
def pooled() -> PooledShares:
    """Four languages that agree, one with two pairs that disagree, one without pairs, one with many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typology, "STEPS", 350)
        return pool([*[language(0, 50)] * 4, language(2, 0), language(0, 0), language(300, 0)])


def test_shares_are_distributions(pooled: PooledShares) -> None:
    for shares in (pooled.own, pooled.pooled):
        assert torch.allclose(shares.sum(-1), torch.ones(7, 2), atol=1e-4)
        assert (shares[:, 1, 2:] == 0).all()
    assert pooled.outcomes["comma comma"] == ("comma comma", "comma")
    assert pooled.own[4, 0].tolist() == pytest.approx([2.5 / 4, 0.5 / 4, 0.5 / 4, 0.5 / 4])


def test_few_counts_borrow_and_many_do_not(pooled: PooledShares) -> None:
    kept = pooled.pooled[:, 0, 0].tolist()
    assert max(kept[:4]) < 0.05
    assert kept[0] < kept[5] < kept[4] < kept[6]
    assert kept[6] > 0.95
    assert pooled.pooled[5, 0, 1] > 0.3 > pooled.own[5, 0, 1]


def test_equal_seeds_give_equal_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typology, "STEPS", 20)
    languages = [language(0, 50), language(3, 1)]
    before = torch.get_rng_state()
    first, again, other = (pool(languages, seed=seed).pooled for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_log_shares_of_two_outcomes() -> None:
    possible = torch.tensor([[True, True, False, False]])
    logit = torch.tensor([[0.0, math.log(3.0), 5.0, 5.0]], requires_grad=True)
    found = log_shares(logit, possible)
    assert found.exp()[0, :2].tolist() == pytest.approx([0.25, 0.75])
    found.sum().backward()
    assert logit.grad is not None
    assert logit.grad.isfinite().all()


def test_perplexity_by_hand() -> None:
    """Three pairs with shares 1/2, 1/2 and 1/4 have the probability 1/16."""
    shares = torch.tensor([[[0.5, 0.25, 0.25, 0.0]]])
    counts, _ = pair_counts([language(2, 1)])
    assert perplexities(shares, counts[:, :1]) == pytest.approx([16 ** (1 / 3)])


def test_the_command_pools(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typology, "STEPS", 20)
    places = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for place in places:
        shutil.copy(small / "model.safetensors", place)
    train, dev = small / "train.conllu", small / "dev.conllu"
    arguments = ("typology", places[0], train, places[1], dev, "--pool")
    held_out = ("--held-out", dev, "--held-out", dev)
    value = answer(*arguments, *held_out)
    sums: dict[str, float] = {}
    for row in value["pooled"]:
        assert row["count"] >= 5
        sums[row["of"]] = sums.get(row["of"], 0.0) + row["one"][1]
    assert sums
    assert list(sums.values()) == pytest.approx([1.0] * len(sums), abs=1e-4)
    [one, two] = value["held_out"]
    assert one["pairs"] == pytest.approx(two["pairs"])  # the same model reads the same sentences
    assert two["own"] > 1
    assert f"{two['pooled']:.3f}" in printed(*arguments, *held_out)
    assert "held_out" not in answer(*arguments)
    assert "one FILE for each MODEL" in complaint(2, *arguments, "--held-out", dev)
    assert "needs --pool" in complaint(2, *arguments[:-1], *held_out)
