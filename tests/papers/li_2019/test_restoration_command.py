"""``pyropunct compare``: what it prints and writes, how it goes on, what it refuses."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import answer, complaint, invoke, printed, run

from pyropunct.files import held, model_path
from pyropunct.papers.li_2019.restorers import SYSTEMS, TreeSystem

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
SEED = "parts/seed-0"
"""Where the folder of a comparison has what was trained."""

SYSTEM_PARTS = {name: "mixed-100" if name == "mixed" else name for name in SYSTEMS}
PARTS = [*SYSTEM_PARTS.values(), "fold-1", "fold-2", "parser-50", "parser-100"]


def compare(small: Path, out: Path, *more: object) -> tuple[object, ...]:
    """The arguments of a comparison that takes some seconds."""
    treebanks = (small / "train.conllu", small / "dev.conllu")
    return (
        "compare",
        "restoration",
        *treebanks,
        "--out",
        out,
        "--quick",
        "--threads",
        1,
        "--folds",
        2,
        "--shares",
        "50,100",
        *more,
    )


def timeless(value: Any) -> Any:
    """All but seconds, which nobody can repeat."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if "seconds" not in key}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def kept(out: Path) -> dict[str, int]:
    """The parts that are there, and when their files were written."""
    return {path.stem: path.stat().st_mtime_ns for path in (out / SEED).iterdir()}


@pytest.fixture(scope="module")
def whole(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a comparison, not to be changed, with what it printed beside it."""
    folder = tmp_path_factory.mktemp("compared")
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    (folder / "printed").write_text(printed(*compare(small, folder / "out")), encoding="utf-8")
    yield folder / "out"
    torch.set_default_dtype(default)


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A copy of this folder."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


@pytest.fixture
def untrainable(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing can be trained."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("something is trained")

    for name in ("fit_story", "fit_parsed", "fit_tagger", "train_rival"):
        monkeypatch.setattr(f"pyropunct.papers.li_2019.restorers.{name}", fail)
    monkeypatch.setattr("pyropunct.papers.li_2019.restoration_experiment.train_parser", fail)


# What is printed and written


def test_tables_are_printed(whole: Path, small: Path) -> None:
    text = whole.with_name("printed").read_text(encoding="utf-8")
    assert f"{small}/train.conllu: 120 sentences" in text
    for title in (system.title for system in SYSTEMS.values()):
        assert re.search(rf"^│ {title} +│ .* │ +\d+ │$", text, re.MULTILINE)
    assert re.search(r"│ +\* 0\.\d{4} │", text)
    assert re.search(r"^│ parser, 50% +│ +60 │ +\d", text, re.MULTILINE)
    assert "10,000 permutations" in text
    assert text.endswith(f"written to {whole}\n")


def test_what_is_written(whole: Path) -> None:
    assert sorted(path.name for path in whole.iterdir()) == [
        "comparison.json",
        "comparison.md",
        "parts",
    ]
    assert set(kept(whole)) == set(PARTS)


@pytest.mark.usefixtures("untrainable")
def test_json_alone_is_printed_and_equals_the_file(small: Path, out: Path) -> None:
    """Nothing is trained for it: all parts are there."""
    before = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    value = answer(*compare(small, out))
    written = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    parts = written.pop("parts")
    assert value == written
    assert parts == before.pop("parts")
    assert timeless(value) == timeless(before)
    assert {one["name"]: one["training_seconds"] for one in value["systems"]} == {
        name: parts[f"seed-0/{part}"] for name, part in SYSTEM_PARTS.items()
    }
    assert value["treebanks"]["train"] == {
        "path": str(small / "train.conllu"),
        "checksum": value["checksums"]["train"],
        "sentences": 120,
        "words": value["treebanks"]["train"]["slots"] - 120,
        "slots": value["treebanks"]["train"]["slots"],
    }
    assert value["settings"]["samples"] == 50
    assert value["environment"]["threads"] == 1


@pytest.mark.usefixtures("untrainable")
def test_other_choices_with_the_same_parts(small: Path, out: Path) -> None:
    more = ("--systems", "full,trivial", "--samples", 20, "--decoder", "f1", "--trees", 3)
    value = answer(*compare(small, out, *more))
    assert [one["name"] for one in value["systems"]] == ["trivial", "full"]
    assert value["settings"]["samples"] == 20
    assert set(kept(out)) == set(PARTS)


@pytest.mark.usefixtures("untrainable")
def test_measured_on_another_treebank(small: Path, out: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.conllu"
    shutil.copy(small / "train.conllu", test)
    result = invoke(*compare(small, out, "--test", test, "--systems", "trivial,crf"))
    assert f"{test}: 120 sentences" in result.stdout
    assert re.search(r"measured on 120\s+of test with", result.stdout)


# Interruption


def test_going_on_after_an_interruption(
    small: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was trained before is used again, and the results are those of an uninterrupted comparison."""
    systems = ("--systems", "trivial,crf,full")
    uninterrupted = answer(*compare(small, out, *systems))
    out = tmp_path / "another"
    train = TreeSystem.train

    def interrupt(system: TreeSystem, *arguments: Any) -> Any:
        if system.title == "full model":
            raise KeyboardInterrupt
        return train(system, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TreeSystem, "train", interrupt)
        message = complaint(INTERRUPTED, *compare(small, out, *systems))
    assert message == f"interrupted: trained parts are kept in {out}; continue with the same command"
    before = kept(out)
    assert set(before) == {"trivial", "crf", "fold-1", "fold-2"}
    assert sorted(path.name for path in out.iterdir()) == ["comparison.json", "parts"]
    value = answer(*compare(small, out, *systems))
    after = kept(out)
    assert {name: after[name] for name in before} == before
    assert set(after) == {*before, "full", "parser-50", "parser-100"}
    assert timeless(value) == timeless(uninterrupted)


# What is refused


@pytest.mark.usefixtures("untrainable")
def test_other_settings(small: Path, out: Path) -> None:
    before = (out / "comparison.json").read_bytes()
    assert complaint(BAD_INPUT, *compare(small, out, "--recipe", "paper")) == (
        f"{out}: its parts were trained on other data or with other settings (recipe); "
        "repeat the command that began it, or choose another folder"
    )
    assert (out / "comparison.json").read_bytes() == before


@pytest.mark.usefixtures("untrainable")
def test_other_data(small: Path, out: Path) -> None:
    arguments = list(compare(small, out))
    arguments[3] = small / "train.conllu"
    assert "with other settings (dev); repeat" in complaint(BAD_INPUT, *arguments)


@pytest.mark.usefixtures("untrainable")
@pytest.mark.parametrize("part", ["trivial", "crf", "full", "parser-50"])
def test_damaged_parts(small: Path, out: Path, part: str) -> None:
    file = model_path(out / SEED / part)
    os.truncate(file, 100)
    told = complaint(BAD_INPUT, *compare(small, out))
    assert told.startswith(f"{file}: is damaged, or not the file of a pyropunct model")
    assert told.endswith(f"; delete {file}, and the same command trains it again")


@pytest.mark.usefixtures("untrainable")
@pytest.mark.parametrize(("part", "other"), [("crf", "full"), ("full", "crf"), ("parser-50", "crf")])
def test_parts_of_another_kind(small: Path, out: Path, part: str, other: str) -> None:
    shutil.copy(model_path(out / SEED / other), model_path(out / SEED / part))
    message = complaint(BAD_INPUT, *compare(small, out))
    assert message.startswith(f"{out}/{SEED}/{part}.safetensors: ")
    assert message.endswith("trains it again")


@pytest.mark.usefixtures("untrainable")
def test_places_that_cannot_be_written_to(small: Path, tmp_path: Path) -> None:
    """Told before anything is trained."""
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_text("mine")
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    for out, problem in (
        (file / "below", "cannot write there"),
        (file, "cannot write there"),
        (Path("/proc/comparison"), "cannot write there"),
        (other, "holds other things than a comparison; choose another folder"),
    ):
        assert complaint(BAD_INPUT, *compare(small, out)).startswith(f"{out}: {problem}")


@pytest.mark.usefixtures("untrainable")
def test_another_process_compares_to_the_same_folder(small: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with held(tmp_path / "out"):
        message = complaint(BAD_INPUT, *compare(small, tmp_path / "out"))
    assert message == (
        f"{tmp_path / 'out'}: another process is comparing there: wait, or choose another --out"
    )
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.usefixtures("untrainable")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--systems", "crf,oracle"), "'--systems': there is no system 'oracle'; there are trivial, crf, "),
        (("--systems", ","), "there is no system ''"),
        (("--shares", "0,100"), "'--shares': give percents from 1 to 100 with commas between them, not '0,"),
        (("--shares", "all"), "give percents from 1 to 100 with commas between them, not 'all'"),
        (("--shares", ""), "give percents from 1 to 100 with commas between them, not ''"),
        (("--folds", 1), "folds are two or more, or 0 for none, not 1"),
        (("--device", "abacus"), "--device abacus: "),
    ],
)
def test_bad_choices(small: Path, tmp_path: Path, options: tuple[str, str], problem: str) -> None:
    assert problem in complaint(BAD_INPUT, *compare(small, tmp_path / "out", *options))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--permutations", 9_999), ("--samples", 0), ("--trees", 0), ("--decoder", "beam"), ("--seed", -1)],
)
def test_values_out_of_range(small: Path, tmp_path: Path, option: str, value: object) -> None:
    message = complaint(BAD_INPUT, *compare(small, tmp_path / "out", option, value))
    assert message.startswith(f"Invalid value for '{option}': ")


def test_bad_treebanks(small: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tHello\t_\tX\t_\t_\t0\troot\t_\t_\n")
    missing = tmp_path / "missing.conllu"
    for train, dev, problem in (
        (bare, small / "dev.conllu", f"{bare}: there is no punctuation in the treebank"),
        (small / "train.conllu", missing, f"{missing}: there is no such file"),
    ):
        assert complaint(
            BAD_INPUT, "compare", "restoration", train, dev, "--out", tmp_path / "out"
        ).startswith(problem)
    assert not (tmp_path / "out").exists()


def test_in_a_new_process(small: Path, out: Path) -> None:
    """Progress alone on standard error, and no other results than here."""
    arguments = compare(small, out, "--systems", "trivial,crf")
    done = run(*arguments, "--json")
    assert done.returncode == 0
    assert [line[len("00:00:00 ") :] for line in done.stderr.splitlines()] == [
        "restoring, trivial, trees: none: sentences: 30",
        "restoring, BiLSTM-CRF, trees: none: sentences: 30",
    ]
    assert timeless(json.loads(done.stdout)) == timeless(answer(*arguments))
