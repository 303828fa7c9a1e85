"""Training that comes to numbers which are none stops at once, says where and why, and leaves no model."""

import json
from pathlib import Path

import pytest
import torch
from command_line import complaint, printed

from pyropunct.errors import ModelFileError, UserError
from pyropunct.files import json_text
from pyropunct.fitted.evaluation import Balance, EvaluationSums, SlotEvaluations
from pyropunct.fitted.model_file import write_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2


@pytest.mark.parametrize(
    ("settings", "place", "problem"),
    [
        (("prior_scale=1e-30",), "epoch 1, direction left", "the objective is no finite number at "),
        # Probabilities are so far off that they count as zero.
        (
            ("sparse_learning_rate=1e8", "edit_learning_rate=1e8"),
            "epoch 1, direction left",
            "the objective is no finite number at ",
        ),
        # One step, which is the last.
        (
            ("sparse_learning_rate=3e38", "batch_size=500"),
            "epoch 1, direction left",
            "at its end, attach.weights has a number as large as ",
        ),
    ],
)
def test_settings_with_which_training_diverges(
    small: Path, tmp_path: Path, settings: tuple[str, ...], place: str, problem: str
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    shorter = ("--families", "symmetry", "--epochs", 1, "--threads", 1, "--direction", "auto")
    told = complaint(
        BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", "--json", *options, *shorter
    )
    assert told.startswith(f"training diverged in {place}: {problem}")
    assert not (tmp_path / "m").exists()


def test_the_sentences_are_named(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those alone whose objective is not finite, that with the longest string first."""
    sentences = read_treebank(small / "train.conllu")[:12]
    longest = {n: max(map(len, sentence.surface)) for n, sentence in enumerate(sentences)}
    lost = sorted({1, 5, 6, 7}, key=lambda number: -longest[number])
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])
    training = Training(vocabulary, sentences, sentences, Recipe(families=("symmetry",)), 0, "cpu")

    def objective(self: Training, numbers: list[int]) -> torch.Tensor:
        return torch.tensor(torch.nan if set(numbers) & set(lost) else 1.0)

    monkeypatch.setattr(Training, "_objective", objective)
    with pytest.raises(UserError) as told:
        training.step(range(12), 0)
    names = ", ".join(repr(sentences[number].identifier) for number in lost[:3])
    assert f"at {names} and 1 others, with up to {longest[lost[0]]} marks in a slot" in str(told.value)


# Numbers that JSON lacks


def test_json_without_numbers_that_are_none() -> None:
    value = {"a": [1, float("nan"), {"b": float("-inf")}], "c": 0.5, "d": (float("inf"),)}
    told = json.loads(json_text(value), parse_constant=pytest.fail)
    assert told == {"a": [1, None, {"b": None}], "c": 0.5, "d": [None], "not_finite": ["a/1", "a/2/b", "d/0"]}
    assert json_text({"c": 0.5, "word": "été"}) == '{"c": 0.5, "word": "été"}'


def test_a_command_that_comes_to_such_a_number(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hopeless = SlotEvaluations.of(1, 2, -2000.0, -1.0)
    monkeypatch.setattr(EvaluationSums, "evaluation", lambda *_: (hopeless, None, None, Balance(0, 0, 0.0)))
    printed_json = printed("evaluate", small / "model", small / "dev.conllu", "--json")
    told = json.loads(printed_json, parse_constant=pytest.fail)
    assert (told["perplexity"], told["log_likelihood"]) == (None, -2000)
    assert told["not_finite"] == ["perplexity", "last_slots/perplexity"]


def test_a_report_with_such_a_number_is_not_saved(tmp_path: Path) -> None:
    plain = {"vocabulary": {}, "recipe": {}, "report": {"perplexity": float("nan")}}
    with pytest.raises(ModelFileError, match="holds a number that is not finite"):
        write_model_file(tmp_path / "m", plain, {})
    assert not list(tmp_path.iterdir())
