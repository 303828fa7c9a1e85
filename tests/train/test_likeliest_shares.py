"""The shares of networks make the marks of unseen sentences most probable."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from pyropunct.train import parser_output


@dataclass(frozen=True)
class Model:
    """What the search reads of a model, and what it sets."""

    reader: bool
    reader_share: float = 0.0
    share: float = 0.0
    vocabulary: object = field(default_factory=lambda: SimpleNamespace(known_surface=list))


@pytest.mark.parametrize("reader", [True, False])
def test_the_likeliest_shares(monkeypatch: pytest.MonkeyPatch, reader: bool) -> None:
    """A slot's string is most probable at a share of .35, and at .5 of the reader, if there is one."""

    def pooled(draws: None, of_reader: float, share: float) -> SimpleNamespace:
        probability = 0.9 - (share - 0.35) ** 2 - (of_reader - 0.5) ** 2 / 2
        return SimpleNamespace(strings=[("x",)], shares=np.array([[probability]]))

    def voices_of(model: Model, trees: list[None]) -> list[SimpleNamespace]:
        return [SimpleNamespace(each=model.reader_share)] * len(trees)

    monkeypatch.setattr(parser_output, "pooled", pooled)
    monkeypatch.setattr(parser_output, "voices_of", voices_of)

    def draws_of(model: Model, trees: list[None], *_: object) -> list[None]:
        used.append(len(trees))
        return trees

    used = list[int]()
    monkeypatch.setattr(parser_output, "draws_of", draws_of)
    monkeypatch.setattr(parser_output, "MOST_SHARED", 3)
    sentences = [SimpleNamespace(surface=[("x",)])] * 3
    best = parser_output.with_likeliest_shares(Model(reader), sentences, [None] * 3)  # type: ignore[arg-type]
    nearest = min(parser_output.READER_SHARES, key=lambda share: abs(share - 0.5))
    assert best.share == pytest.approx(0.35)
    assert used == [3]
    assert best.reader_share == (nearest if reader else parser_output.READER_SHARES[0])
