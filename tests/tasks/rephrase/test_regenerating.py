"""Surface strings for underlying strings, against enumeration of all edits."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from made_up_rules import TOKENS, made_up

from pyropunct.inference.machines.paths import MOST_STRINGS
from pyropunct.inference.machines.products import KEEP, LEFT_ABSORPTION, TRANSPOSITION
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.rephrase.rephrasing import Regenerator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN


def random_model(seed: int, direction: str) -> Punctuator:
    torch.manual_seed(seed)
    return made_up(direction=direction, logits=2 * torch.randn(len(TOKENS), len(TOKENS), 4))


def enumerated(model: Punctuator, underlying: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """p(x | u) from all sequences of edits of the window."""
    table = model.edit_probabilities()
    assert table is not None
    reads_left = model.recipe.direction == "left"
    u = underlying if reads_left else underlying[::-1]
    found: Counter[tuple[str, ...]] = Counter()
    for edits in product(range(4), repeat=len(u) - 1):
        chance, window, out = 1.0, u[0], []
        for new, edit in zip(u[1:], edits, strict=True):
            a, b = (window, new) if reads_left else (new, window)
            on_page = edit if reads_left or edit in (KEEP, TRANSPOSITION) else 3 - edit
            chance *= float(table[TOKENS.index(a), TOKENS.index(b), on_page])
            if edit in (KEEP, TRANSPOSITION):
                out.append(window if edit == KEEP else new)
            if edit in (KEEP, LEFT_ABSORPTION):
                window = new
        out.append(window)
        found[tuple(out if reads_left else reversed(out))] += chance  # type: ignore[assignment]
    return dict(found)


def distribution(regenerator: Regenerator, underlying: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    strings, chances = regenerator._outcomes(underlying)
    decode = regenerator._model.vocabulary.decode_string
    return {decode(x): chance for x, chance in zip(strings, chances.tolist(), strict=True)}


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_distribution_and_best(direction: str, size: int) -> None:
    for seed in range(5):
        model = random_model(seed, direction)
        underlying = tuple(np.random.default_rng(seed).choice(TOKENS, size).tolist())
        expected = enumerated(model, underlying)
        regenerator = Regenerator(model)
        found = distribution(regenerator, underlying)
        assert sum(found.values()) == pytest.approx(1)
        assert found == pytest.approx({x: chance for x, chance in expected.items() if chance > 0}, abs=1e-12)
        assert expected[regenerator.best(underlying)] == pytest.approx(max(expected.values()))


def test_the_best_string_is_not_that_of_the_best_edits() -> None:
    """Two ways to one period, of 0.2 and 0.4, are together more probable than the one way to two periods."""
    edits = {"keep": 0.4, "left absorption": 0.2, "transposition": 0.0, "right absorption": 0.4}
    model = made_up({(".", "."): edits}, direction="left")
    regenerator = Regenerator(model)
    assert distribution(regenerator, (".", ".")) == pytest.approx({(".", "."): 0.4, (".",): 0.6})
    assert regenerator.best((".", ".")) == (".",)


def test_draws_have_these_frequencies() -> None:
    model, underlying = random_model(1, "right"), (",", ".", "”")
    regenerator, generator = Regenerator(model), np.random.default_rng(0)
    draws = 4000
    found = Counter(regenerator.draw(underlying, generator) for _ in range(draws))
    expected = distribution(regenerator, underlying)
    deviations = [(found[x] - draws * p) ** 2 / (draws * p) for x, p in expected.items()]
    assert sum(deviations) < len(expected) + 4 * np.sqrt(2 * len(expected))


def test_an_empty_slot_stays_empty() -> None:
    assert Regenerator(made_up()).best(()) == ()


def test_unknown_marks_come_back() -> None:
    """A mark that the model does not know is unknown to it, but written as it was."""
    model = made_up({("!", UNKNOWN): {"transposition": 1.0}})
    regenerator = Regenerator(model)
    assert regenerator.best(("¤", ",", "※")) == ("¤", ",", "※")
    assert regenerator.best(("!", "¤")) == ("¤", "!")
    assert regenerator.best((UNKNOWN,)) == (UNKNOWN,)


def test_special_tokens() -> None:
    model = made_up(
        {(START, ","): {"right absorption": 1.0}, (ABBREVIATION_DOT, "."): {"right absorption": 1.0}}
    )
    regenerator = Regenerator(model)
    assert regenerator.best((START, ",")) == (START,)
    assert regenerator.best((ABBREVIATION_DOT, ".")) == (ABBREVIATION_DOT,)


def test_long_strings_end() -> None:
    """Among very many strings the most probable are followed: here all edits keep with 0.9."""
    logits = torch.full((len(TOKENS), len(TOKENS), 4), 0.1 / 3).log()
    logits[..., KEEP] = np.log(0.9)
    underlying = tuple(TOKENS[3:] * 4)
    model = made_up(logits=logits)
    regenerator = Regenerator(model)
    assert regenerator.best(underlying) == underlying
    assert len(distribution(regenerator, underlying)) <= MOST_STRINGS
