"""The command ``pyropunct rephrase``."""

import json
import re
from pathlib import Path

import pytest
from command_line import complaint, invoke, printed

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture
def files(small: Path) -> tuple[Path, Path]:
    """A model and a treebank."""
    return small / "model", small / "dev.conllu"


def drawn(*arguments: object) -> str:
    """What a call prints that may leave halves of pairs of marks, of which alone it tells."""
    result = invoke("rephrase", *arguments)
    assert result.exit_code == 0
    assert re.fullmatch(r"(pyropunct: .*: halves of pairs of marks are left in .*\n)?", result.stderr)
    return result.stdout


def test_deletion_is_that_of_the_library(files: tuple[Path, Path]) -> None:
    model, file = files
    treebank = read_treebank(file)
    rephraser = Rephraser(Punctuator.load(model))
    trees = rephraser.underlying(list(treebank))
    expected = [
        rephraser.best(tree.without([*tree.with_relation("advmod"), *tree.with_relation("appos")])).text()
        for tree in trees
    ]
    found = printed("rephrase", *files, "--delete", "advmod", "--delete", "appos").splitlines()
    assert found == expected
    assert found != [sentence.text() for sentence in treebank]
    read = read_text(
        printed("rephrase", *files, "--delete", "advmod", "--delete", "appos", "--format", "conllu")
    )
    assert [sentence.text() for sentence in read] == expected
    chosen = ("--sentence", treebank.sentences[3].identifier)
    assert (
        printed("rephrase", *files, "--delete", "advmod", "--delete", "appos", *chosen) == expected[3] + "\n"
    )
    assert not any(one.partition(":")[0] == "appos" for sentence in read for one in sentence.tree.relations)


def test_sentences_with_halves_of_pairs_are_named(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    [half] = read_text("1\t“\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n2\tNo\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    names = [sentence.identifier for sentence in read_treebank(files[1])][:2]
    monkeypatch.setattr(
        Rephraser, "best", lambda self, tree: half if tree.sentence.identifier in names else tree.sentence
    )
    told = f"pyropunct: {files[1]}: halves of pairs of marks are left in {', '.join(names)}\n"
    assert invoke("rephrase", *files, "--delete", "advmod").stderr == told
    names.clear()
    assert invoke("rephrase", *files, "--delete", "advmod").stderr == ""


def test_moves(files: tuple[Path, Path]) -> None:
    treebank = read_treebank(files[1])
    found = read_text(printed("rephrase", *files, "--move", "advmod:last", "--format", "conllu"))
    assert any(new.tree.forms != old.tree.forms for new, old in zip(found, treebank, strict=True))
    for new, old in zip(found, treebank, strict=True):
        assert sorted(map(str.lower, new.tree.forms)) == sorted(map(str.lower, old.tree.forms))
    both = printed(
        "rephrase", *files, "--delete", "appos", "--move", "advmod:last", "--move", "aux:pass:first"
    )
    assert len(both.splitlines()) == len(treebank)


def test_what_has_no_such_relation_stays(files: tuple[Path, Path]) -> None:
    """The model knows vocatives, let us say, but a file without any comes out as it went in."""
    relations = {one for sentence in read_treebank(files[1]) for one in sentence.tree.relations}
    model = Punctuator.load(files[0])
    missing = sorted(set(filter(None, model.vocabulary.relations)) - relations)
    if not missing:
        pytest.skip("the file has all relations of the model")
    found = printed("rephrase", *files, "--delete", missing[0], "--format", "conllu")
    assert found == files[1].read_text(encoding="utf-8")


def test_json(files: tuple[Path, Path]) -> None:
    value = json.loads(drawn(*files, "--delete", "advmod", "--samples", 3, "--json"))
    treebank = read_treebank(files[1])
    assert value["omitted"] == 0
    assert [one["text"] for one in value["sentences"]] == [sentence.text() for sentence in treebank]
    assert [one["id"] for one in value["sentences"]] == [sentence.identifier for sentence in treebank]
    for one in value["sentences"]:
        assert len(one["rephrased"]) == 3
        for version in one["rephrased"]:
            assert len(version["marks"]) == len(version["words"]) + 1
            assert all(word in version["text"] for word in version["words"])
    plain = drawn(*files, "--delete", "advmod", "--samples", 3).splitlines()
    assert plain == [version["text"] for one in value["sentences"] for version in one["rephrased"]]


@pytest.mark.parametrize("variant", ["base", "half", "full"])
def test_permutations(files: tuple[Path, Path], variant: str, small: Path) -> None:
    arguments = (*files, "--permute", variant)
    found, again, other = (drawn(*arguments, "--seed", seed) for seed in (1, 1, 2))
    assert found == again
    assert found != other
    assert found != drawn(*arguments, "--seed", 1, "--like", small / "train.conllu")
    assert len(found.splitlines()) == len(read_treebank(files[1]))
    assert len(drawn(*arguments, "--samples", 2).splitlines()) == 2 * len(found.splitlines())


def test_standard_input(files: tuple[Path, Path]) -> None:
    model, file = files
    result = invoke("rephrase", model, "-", "--delete", "advmod", given=file.read_bytes())
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == printed("rephrase", model, file, "--delete", "advmod")


def test_refusals(files: tuple[Path, Path], tmp_path: Path) -> None:
    told = complaint(2, "rephrase", *files, "--delete", "root")
    assert told == "--delete: root is the whole sentence, nothing would be left"
    assert "nowhere to move it" in complaint(2, "rephrase", *files, "--move", "root:first")
    told = complaint(2, "rephrase", *files, "--delete", "nonsense")
    assert told.startswith(f"--delete: there is no relation nonsense in {files[1]}, but acl")
    assert "no relation nonsense" in complaint(2, "rephrase", *files, "--move", "nonsense:last")
    assert "there is no such file" in complaint(
        2, "rephrase", files[0], tmp_path / "none", "--delete", "advmod"
    )
    dots = tmp_path / "one.conllu"
    dots.write_text("1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    told = complaint(2, "rephrase", files[0], dots, "--permute", "base")
    assert told == f"{dots}: no noun and no verb has dependents, so there is no order to be learned"
    odd = tmp_path / "odd.conllu"
    odd.write_text("# sent_id = odd\n1\tYes\t_\tINTJ\t_\t_\t0\tadvmod\t_\t_\n\n", encoding="utf-8")
    told = complaint(2, "rephrase", files[0], odd, "--delete", "advmod")
    assert told == f"{odd}: sentence 'odd': word 1 (Yes) is the root: nothing would be left"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "say what to change"),
        (["--delete", "advmod", "--permute", "full"], "--permute goes without"),
        (["--move", "advmod"], "RELATION:first or RELATION:last is needed"),
        (["--move", ":first"], "RELATION:first or RELATION:last is needed"),
        (["--move", "advmod:middle"], "RELATION:first or RELATION:last is needed"),
        (["--delete", "advmod", "--samples", 0], "0 is not in the range"),
        (["--permute", "none"], "'none' is not one of"),
    ],
)
def test_options_that_make_no_sense(files: tuple[Path, Path], options: list[object], problem: str) -> None:
    result = invoke("rephrase", *files, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr
