"""Tensors in fewer bytes: the same ones come back, and nothing else is taken."""

import re
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pyropunct.fitted.small_tensors import GAP, LARGEST, LEVEL, SHIFT, rounded_rows, small, whole
from pyropunct.models.attach.pruning import STEP


def bytes_of(stored: Any) -> int:
    if isinstance(stored, dict):
        return sum(map(bytes_of, stored.values()))
    return stored.nbytes if isinstance(stored, Tensor) else 8


def with_numbers_at(places: list[int], size: int) -> Tensor:
    tensor = torch.zeros(size, dtype=torch.float)
    tensor[places] = torch.arange(1.0, len(places) + 1, dtype=torch.float) * STEP / 2
    return tensor


@given(st.lists(st.integers(0, 3000), max_size=40, unique=True), st.integers(0, 600))
def test_few_numbers_among_zeros(places: list[int], more: int) -> None:
    tensor = with_numbers_at(places, 3001 + more)
    for one, names in ((tensor, {"halves"}), (8 * tensor, {"levels", "step", "far", "beyond"})):
        stored = small({"t": one})["t"]
        assert set(stored) == {"gaps", "size"} | (names if places else LEVELS)
        assert torch.equal(whole({"t": stored})["t"], one)
        assert len(stored["gaps"]) <= len(places) + 3001 // GAP


LEVELS = {"levels", "step", "far", "beyond"}


@pytest.mark.parametrize("greatest", [LEVEL, LEVEL + 1, 2**15 - 1, 2**15])
def test_multiples_of_any_size(greatest: int) -> None:
    tensor = torch.zeros(100, dtype=torch.float)
    tensor[[3, 50, 80]] = torch.tensor([1.0, greatest, -greatest], dtype=torch.float) * STEP
    stored = small({"t": tensor})["t"]
    assert (set(stored) == {"gaps", "size"} | LEVELS) == (greatest < 2**15)
    assert len(stored.get("far", "")) == (2 if LEVEL < greatest < 2**15 else 0)
    assert torch.equal(whole({"t": stored})["t"], tensor)


@given(st.lists(st.integers(0, 2 ** (64 - SHIFT) - 1), min_size=1, max_size=20, unique=True))
def test_ascending_numbers_without_a_sign(high: list[int]) -> None:
    numbers = torch.tensor([one << SHIFT for one in sorted(high)], dtype=torch.uint64).view(torch.long)
    stored = small({"t": numbers})["t"]
    steps = [after - before for before, after in pairwise([0, *sorted(high)])]
    assert isinstance(stored, dict) == (max(steps) < 2**31)
    assert torch.equal(whole({"t": stored})["t"], numbers)


@pytest.mark.parametrize("shape", [(7, 30), (4, 3, 5), (1, 1)])
def test_rounded_rows(shape: tuple[int, ...]) -> None:
    rows = torch.randn(shape, dtype=torch.float) * 10.0 ** torch.arange(-9, shape[0] - 9).reshape(
        -1, *[1] * (len(shape) - 1)
    )
    rows[0] = 0
    rough = rounded_rows(rows.float())
    greatest = rows.abs().flatten(1).amax(1)
    worst = (rough - rows).abs().flatten(1).amax(1)
    assert bool((worst <= greatest / LEVEL * 0.501 + greatest * 2**-11).all())
    stored = small({"t": rough})["t"]
    assert set(stored) == {"levels", "scales"}
    assert torch.equal(whole({"t": stored})["t"], rough)
    assert torch.equal(rounded_rows(rough), rough)


def test_vectors_are_not_rounded() -> None:
    bias = torch.randn(5, dtype=torch.float)
    assert torch.equal(rounded_rows(bias), bias)


@pytest.mark.parametrize("gap", [0, 1, GAP - 1, GAP, GAP + 1, 2 * GAP, 2 * GAP + 1, 2 * GAP + 2, 2 * GAP + 3])
def test_gaps_at_the_border(gap: int) -> None:
    tensor = with_numbers_at([gap, 2 * gap + 1], 3000)
    stored = small({"t": tensor})
    assert len(stored["t"]["gaps"]) == 2 + 2 * (gap // (GAP + 1))
    assert torch.equal(whole(stored)["t"], tensor)


@pytest.mark.parametrize(
    ("tensor", "share"),
    [
        (with_numbers_at([5, 700], 1000), 0.01),
        (torch.arange(1000).cumsum(0) % 30_000 * 0 + torch.arange(1000) * 30, 0.26),
        (torch.arange(12.0, dtype=torch.double).reshape(3, 4) / 8, 0.5),
        (torch.tensor([0.1], dtype=torch.double), 1),
        (with_numbers_at([5, 700], 1000) / 3, 1),
        (torch.ones(100, dtype=torch.float), 1),
        (torch.tensor([0, 5, 3]), 1),
        (torch.tensor([0, 1 << 40]), 1),
        (torch.tensor([-3, 5]), 1),
        (torch.tensor(7), 1),
        (torch.zeros(0, dtype=torch.float), 1),
        (torch.zeros(0, dtype=torch.long), 1),
        (torch.zeros(1, dtype=torch.long), 1),
        (torch.zeros(2, 3, dtype=torch.float), 1),
    ],
)
def test_the_same_tensor_comes_back(tensor: Tensor, share: float) -> None:
    stored = small({"t": tensor})
    again = whole(stored)["t"]
    assert again.dtype == tensor.dtype
    assert torch.equal(again, tensor)
    assert bytes_of(stored["t"]) <= max(share * tensor.nbytes, 0)


def test_a_view_is_stored_without_what_it_is_a_view_of() -> None:
    stored = small({"t": torch.rand(1000)[:3]})["t"]
    assert stored.untyped_storage().nbytes() == stored.nbytes


GAPS = torch.tensor([3, 4], dtype=torch.uint8)
HALVES = torch.tensor([1, 2], dtype=torch.half)
SCALES = torch.ones(3, dtype=torch.float)
IN_LEVELS = {
    "gaps": GAPS,
    "levels": torch.tensor([1, 2], dtype=torch.int8),
    "step": STEP,
    "far": torch.tensor([1], dtype=torch.int32),
    "beyond": torch.tensor([200], dtype=torch.int16),
    "size": 9,
}


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"gaps": GAPS, "halves": HALVES, "size": 8}, "t has numbers outside of itself, or too many"),
        ({"gaps": GAPS, "halves": HALVES, "size": LARGEST + 1}, "outside of itself, or too many"),
        ({"gaps": GAPS, "halves": HALVES, "size": -1}, "outside of itself, or too many"),
        ({"gaps": GAPS, "halves": HALVES, "size": 9.5}, "outside of itself, or too many"),
        ({"gaps": GAPS, "halves": HALVES[:1], "size": 9}, "outside of itself, or too many"),
        ({"gaps": GAPS.long(), "halves": HALVES, "size": 9}, "numbers of the type torch.uint8"),
        ({"gaps": GAPS, "halves": HALVES.double(), "size": 9}, "numbers of the type torch.float16"),
        ({"gaps": GAPS[None], "halves": HALVES, "size": 9}, "t is not stored as a vector"),
        ({"gaps": [3, 4], "halves": HALVES, "size": 9}, "numbers of the type torch.uint8"),
        ({"steps": torch.tensor([1, -1], dtype=torch.int16)}, "t does not ascend"),
        ({"steps": torch.tensor([1, 1])}, "numbers of the type torch.int16"),
        ({"singles": torch.ones(2, dtype=torch.half)}, "numbers of the type torch.float32"),
        ({"steps": torch.tensor([1], dtype=torch.int16), "more": 1}, "t is no tensor"),
        ({"gaps": GAPS}, "t is no tensor"),
        (IN_LEVELS | {"step": 0.0}, "t is stored as multiples of 0.0"),
        (IN_LEVELS | {"step": float("nan")}, "t is stored as multiples of nan"),
        (IN_LEVELS | {"step": 1}, "t is stored as multiples of 1"),
        (IN_LEVELS | {"far": torch.tensor([2], dtype=torch.int32)}, "in places that it does not have"),
        (IN_LEVELS | {"far": torch.tensor([-1], dtype=torch.int32)}, "in places that it does not have"),
        (IN_LEVELS | {"far": torch.zeros(0, dtype=torch.int32)}, "in places that it does not have"),
        (IN_LEVELS | {"beyond": torch.ones(1)}, "numbers of the type torch.int16"),
        (IN_LEVELS | {"levels": torch.ones(3, dtype=torch.int8)}, "outside of itself, or too many"),
        (IN_LEVELS | {"size": 8}, "outside of itself, or too many"),
        ({"levels": torch.ones(2, 3, dtype=torch.int8), "scales": SCALES}, "a scale for each row"),
        ({"levels": torch.ones(2, dtype=torch.int8), "scales": SCALES[:2]}, "a scale for each row"),
        ({"levels": torch.ones(2, 3), "scales": SCALES[:2]}, "numbers of the type torch.int8"),
        (
            {"levels": torch.ones(2, 3, dtype=torch.int8), "scales": HALVES},
            "numbers of the type torch.float32",
        ),
        ({"steps": torch.tensor([1], dtype=torch.int32), "shift": 64}, "greater numbers than there are"),
        ({"steps": torch.tensor([8], dtype=torch.int32), "shift": 61}, "greater numbers than there are"),
        ({"steps": torch.tensor([8], dtype=torch.int32), "shift": 1.0}, "greater numbers than there are"),
        ({"steps": torch.tensor([1, -1], dtype=torch.int32), "shift": 24}, "t does not ascend"),
        ({}, "t is no tensor"),
        ("text", "t is no tensor"),
        (torch.ones(3).to_sparse(), "t is a tensor of a foreign kind"),
    ],
)
def test_what_nobody_stored(stored: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        whole({"t": stored})
    assert "\n" not in str(caught.value)
