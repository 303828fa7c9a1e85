"""Tensors in fewer bytes: the same ones come back, and nothing else is taken."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pyropunct.fitted.small_tensors import GAP, LEVEL, rounded_rows, small, whole


def parts_of(tensor: Tensor) -> dict[str, Tensor]:
    """The parts of a tensor as it is stored, by their names; by no name if it is stored as it is."""
    return {name.partition(":")[2]: part for name, part in small({"t": tensor}).items()}


def again(tensor: Tensor) -> Tensor:
    return whole(small({"t": tensor}))["t"]


def with_numbers_at(places: list[int], size: int) -> Tensor:
    tensor = torch.zeros(size, dtype=torch.float)
    tensor[places] = torch.arange(1.0, len(places) + 1, dtype=torch.float) / 256
    return tensor


@given(st.lists(st.integers(0, 3000), max_size=40, unique=True), st.integers(0, 600))
def test_few_numbers_among_zeros(places: list[int], more: int) -> None:
    tensor = with_numbers_at(places, 3001 + more)
    stored = parts_of(tensor)
    assert set(stored) == {"gaps", "halves"}
    assert torch.equal(again(tensor), tensor)
    sparse = whole(small({"a/t": tensor, "b": tensor}), ("/t", "/u"))
    assert (sparse["a/t"].is_sparse, sparse["b"].is_sparse) == (True, False)
    assert torch.equal(sparse["a/t"].to_dense(), tensor)
    assert sparse["a/t"]._nnz() == len(places)
    assert len(stored["gaps"]) <= len(places) + 1 + 3601 // GAP


def test_doubles_in_fewer_bytes() -> None:
    for number, part in ((1 / 3, set()), (float(torch.tensor(1 / 3, dtype=torch.float)), {"singles"})):
        assert set(parts_of(torch.tensor([[number, 0.0]], dtype=torch.double))) == (part or {""})
    half = torch.tensor([[0.25, 2.0**-24, -3.0]], dtype=torch.double)
    assert set(parts_of(half)) == {"half"}
    assert torch.equal(again(half), half)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), min_size=1, max_size=20))
def test_whole_numbers(numbers: list[int]) -> None:
    tensor = torch.tensor(numbers)
    assert torch.equal(again(tensor), tensor)


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
    assert bool((rough.abs().flatten(1).amax(1) >= greatest).all())  # scales are rounded up: nothing is cut
    assert set(parts_of(rough)) == {"levels", "scales"}
    assert torch.equal(again(rough), rough)
    assert torch.equal(rounded_rows(rough), rough)


def test_vectors_are_not_rounded() -> None:
    bias = torch.randn(5, dtype=torch.float)
    assert torch.equal(rounded_rows(bias), bias)


@pytest.mark.parametrize("gap", [0, 1, GAP - 1, GAP, GAP + 1, 2 * GAP, 2 * GAP + 1, 2 * GAP + 2, 2 * GAP + 3])
def test_gaps_at_the_border(gap: int) -> None:
    tensor = with_numbers_at([gap, 2 * gap + 1], 3000)
    after = (2999 - 2 * gap - 1) // (GAP + 1)
    assert len(parts_of(tensor)["gaps"]) <= 3 + 2 * (gap // (GAP + 1)) + after
    assert torch.equal(again(tensor), tensor)


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
    assert again(tensor).dtype == tensor.dtype
    assert torch.equal(again(tensor), tensor)
    assert sum(part.nbytes for part in parts_of(tensor).values()) <= share * tensor.nbytes


GAPS = torch.tensor([3, 4], dtype=torch.uint8)
HALVES = torch.tensor([1, 2], dtype=torch.half)
SCALES = torch.ones(3, dtype=torch.float)
MANY = {"gaps": torch.tensor([255], dtype=torch.uint8), "halves": torch.zeros(1, dtype=torch.half)}
STEPS = torch.ones(1, 2, dtype=torch.int16)


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"t:gaps": GAPS, "t:halves": HALVES[:1]}, "t does not have a gap before each number"),
        ({"t:gaps": GAPS[:0], "t:halves": HALVES[:0]}, "t does not have a gap before each number"),
        ({"t:gaps": GAPS[None], "t:halves": HALVES[None]}, "t does not have a gap before each number"),
        ({"t:gaps": GAPS.long(), "t:halves": HALVES}, "t:gaps has numbers of the type torch.int64"),
        ({"t:gaps": GAPS, "t:halves": HALVES.double()}, "t:halves has numbers of the type torch.float64"),
        ({"t:gaps": GAPS}, "t is stored in a form that is not known"),
        ({"t:gaps": GAPS, "t:halves": HALVES, "t": GAPS}, "t is stored in a form that is not known"),
        ({"t:gaps": GAPS, "t:halves": HALVES, "t:more": GAPS}, "t is stored in a form that is not known"),
        ({"t:what": GAPS}, "t is stored in a form that is not known"),
        ({"t:steps": torch.tensor([1, 1])}, "t:steps has numbers of the type torch.int64"),
        ({"t:steps": STEPS}, "t is not stored as a vector"),
        ({"t:singles": HALVES}, "t:singles has numbers of the type torch.float16"),
        ({"t:levels": torch.ones(2, 3, dtype=torch.int8), "t:scales": SCALES}, "a scale for each row"),
        ({"t:levels": torch.ones(2, dtype=torch.int8), "t:scales": SCALES[:2]}, "a scale for each row"),
        (
            {f"{name}:{part}": one.expand(150_000) for name in "ab" for part, one in MANY.items()},
            "with b there are more than 67108864 numbers in a few bytes",
        ),
        ({"t": HALVES}, "t has numbers of the type torch.float16"),
        ({"t": STEPS}, "t has numbers of the type torch.int16"),
    ],
)
def test_what_nobody_stored(stored: dict[str, Tensor], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        whole(stored)
    assert "\n" not in str(caught.value)
