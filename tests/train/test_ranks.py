"""Training in several processes."""

import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from command_line import command, environment, without_log

from pyropunct.train.optimisers import SparseAdagrad
from pyropunct.train.ranks import ALONE, RankGoneError, Ranks, device_of_rank, started


def test_one_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So `torchrun --nproc-per-node 1` trains as no torchrun does."""
    for name, value in {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "1", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    with started("cpu") as ranks:
        assert ranks is ALONE
    assert ALONE.first
    assert all(ALONE.takes(batch) and not ALONE.meets(batch) for batch in range(100))
    numbers = torch.arange(3)
    assert ALONE.same(numbers) is numbers
    assert ALONE.total(0.1) == 0.1


def test_batches_are_dealt_out() -> None:
    ranks = [Ranks(number, 3) for number in range(3)]
    assert [[one.takes(batch) for one in ranks].index(True) for batch in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    meetings = [batch for batch in range(200) if ranks[0].meets(batch)]
    assert meetings == [95, 191]


def test_each_rank_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert [device_of_rank(device) for device in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda:3", "cuda:1"]


def test_what_was_learned_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first weight was moved by both ranks, the second by this one, the third by the other."""
    weight = torch.nn.Parameter(torch.ones(4))
    dense = torch.nn.Parameter(torch.zeros(1))
    adagrad, adam = SparseAdagrad([weight], 0.1), torch.optim.Adam([dense])
    dense.grad = torch.ones(1)
    ranks = Ranks(0, 2)
    ranks.remember([adagrad, adam])
    adam.step()
    adam.state[dense]["exp_avg"].fill_(1.0)
    squares = adagrad.state[weight]["squares"]
    with torch.no_grad():
        weight += torch.tensor([2.0, 1.0, 0.0, 0.0])
        squares += torch.tensor([4.0, 1.0, 0.0, 0.0])
        dense.fill_(0.0)
    others = iter(
        [
            torch.tensor([4.0, 0.0, 3.0, 0.0]),
            torch.tensor([1, 0, 1, 0], dtype=torch.uint8),
            torch.tensor([16.0, 0.0, 9.0, 0.0]),
            torch.tensor([0.5]),
            torch.tensor([1], dtype=torch.uint8),
            torch.tensor([0, 0, 1, 1], dtype=torch.int),
            torch.tensor([2.0]),
            torch.tensor([0.0]),
        ]
    )
    monkeypatch.setattr(dist, "all_reduce", lambda tensor: tensor.add_(next(others)))
    ranks.meet([adagrad, adam])
    torch.testing.assert_close(weight.detach(), torch.tensor([1 + 6 / 2**0.5, 2.0, 4.0, 1.0]))
    torch.testing.assert_close(squares, torch.tensor([20.0, 1.0, 9.0, 0.0]))
    torch.testing.assert_close(dense.detach(), torch.tensor([0.5]))
    torch.testing.assert_close(adam.state[dense]["exp_avg"], torch.tensor([1.5]))
    assert next(others, None) is None


def two_ranks(*arguments: object) -> "list[subprocess.Popen[str]]":
    """Two processes with what torchrun tells them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = {"TORCHELASTIC_RUN_ID": "test", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return [
        subprocess.Popen(
            command("fit", *arguments), env=environment(**told, RANK=rank, LOCAL_RANK=rank), **options
        )
        for rank in ("0", "1")
    ]


def test_a_rank_that_dies_ends_all_and_training_goes_on(small: Path, tmp_path: Path) -> None:
    """What the first rank says is one line, and the other one says nothing; two ranks can go on."""
    text = (small / "dev.conllu").read_text(encoding="utf-8")
    (tmp_path / "train.conllu").write_text("\n\n".join(text.split("\n\n")[:20]) + "\n\n", encoding="utf-8")
    options = (tmp_path / "train.conllu", "--out", tmp_path / "model", "--direction", "right", "--threads", 1)
    options += ("--epochs", 12, "--set", "batch_size=4")
    first, other = two_ranks(*options)
    kept = tmp_path / "model.unfinished" / "checkpoint.right"
    while not kept.exists():
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    other.kill()
    _, told = first.communicate(timeout=300)
    assert first.returncode == 1
    advice = f"finished epochs are kept in {kept.parent}; continue with the same command and --resume"
    assert without_log(told) == f"pyropunct: another process of this training has ended: {advice}\n"
    other.communicate()
    first, other = two_ranks(*options, "--resume")
    (shown, told), silence = first.communicate(timeout=300), other.communicate(timeout=300)
    assert (first.returncode, other.returncode) == (0, 0), told
    assert (without_log(told), silence) == ("", ("", ""))
    assert "model written to" in shown
    assert (tmp_path / "model.safetensors").is_file()
    assert not kept.parent.exists()


def test_the_first_rank_alone_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no rank can do ends the others without a word, what another one cannot do is told by that one."""
    ended: list[str] = []
    monkeypatch.setattr(dist, "barrier", lambda: ended.append("waited"))
    with pytest.raises(ValueError, match="told"), Ranks(0, 2).first_says_why():
        raise ValueError("told")
    assert ended == []
    with pytest.raises(ValueError, match="own"), Ranks(1, 2).first_says_why():
        raise ValueError("own")
    assert ended == ["waited"]

    def gone() -> None:
        raise RuntimeError

    monkeypatch.setattr(dist, "barrier", gone)
    with pytest.raises(RankGoneError), Ranks(1, 2).first_says_why():
        raise ValueError("silent")


def test_dev_is_dealt_out() -> None:
    shares = [Ranks(number, 3).share(range(7)) for number in range(3)]
    assert shares == [range(0, 7, 3), range(1, 7, 3), range(2, 7, 3)]
    assert ALONE.share(range(7)) == range(7)
