import pytest
import torch
from torch import Tensor

from pyropunct.train.optimisers import SparseAdagrad


def gradients(steps: int) -> list[Tensor]:
    """Sparse vectors of length 50 with ten places each."""
    torch.manual_seed(3)
    made = []
    for _ in range(steps):
        places = torch.randperm(50)[:10].sort().values
        made.append(torch.sparse_coo_tensor(places[None], torch.randn(10), (50,), check_invariants=True))
    return made


def after(make: type[torch.optim.Optimizer], steps: list[Tensor], dense: bool) -> Tensor:
    parameter = torch.nn.Parameter(torch.linspace(-1, 1, 50))
    optimiser = make([parameter], lr=0.3)  # type: ignore[call-arg]
    for number, gradient in enumerate(steps):
        for group in optimiser.param_groups:
            group["lr"] = 0.3 / (number + 1)
        parameter.grad = gradient.to_dense() if dense else gradient
        optimiser.step()
    return parameter.detach()


def test_steps_are_those_of_adagrad() -> None:
    steps = gradients(20)
    expected = after(torch.optim.Adagrad, steps, True)
    moved = after(SparseAdagrad, steps, False)
    assert ((expected - torch.linspace(-1, 1, 50)).abs() > 1e-4).sum() > 45
    torch.testing.assert_close(moved, expected, rtol=1e-12, atol=1e-12)


def test_untouched_weights_stay() -> None:
    (gradient,) = gradients(1)
    moved = after(SparseAdagrad, [gradient], False) != torch.linspace(-1, 1, 50)
    assert moved.nonzero()[:, 0].tolist() == gradient.coalesce().indices()[0].tolist()


def test_closure_and_missing_gradients() -> None:
    parameter = torch.nn.Parameter(torch.zeros(50))
    optimiser = SparseAdagrad([parameter, torch.nn.Parameter(torch.zeros(2))], lr=0.1)

    def closure() -> float:
        parameter.grad = gradients(1)[0]
        return 7.0

    assert optimiser.step(closure) == 7.0
    assert int((parameter != 0).sum()) == 10


def test_dense_gradients_are_refused() -> None:
    parameter = torch.nn.Parameter(torch.zeros(3))
    optimiser = SparseAdagrad([parameter], lr=0.1)
    parameter.grad = torch.ones(3)
    with pytest.raises(ValueError, match="this one is dense"):
        optimiser.step()


def test_state_goes_on() -> None:
    steps = gradients(6)
    expected = after(SparseAdagrad, steps, False)
    first = torch.nn.Parameter(torch.linspace(-1, 1, 50))
    second = torch.nn.Parameter(torch.zeros(50))
    early, late = SparseAdagrad([first], lr=0.3), SparseAdagrad([second], lr=0.3)
    for number, gradient in enumerate(steps):
        if number == 3:
            second.data.copy_(first.data)
            late.load_state_dict(early.state_dict())
        parameter, optimiser = (first, early) if number < 3 else (second, late)
        optimiser.param_groups[0]["lr"] = 0.3 / (number + 1)
        parameter.grad = gradient
        optimiser.step()
    assert torch.equal(second.detach(), expected)
