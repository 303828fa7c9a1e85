"""The English model of the package is the one that the documents tell of.

With PYROPUNCT_EWT_DEV set to the dev part of UD_English-EWT 2.16, its numbers are computed again.
"""

import hashlib
import math
import os
import re
import runpy
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from click.testing import CliRunner
from sentences import tagged

import pyropunct
from pyropunct.cli.main import main
from pyropunct.errors import SettingError
from pyropunct.shipped import DEFAULT, place_of
from pyropunct.tasks.explain.tree_text import bracketed
from pyropunct.tasks.explain.typology_of_model import of_model
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

ROOT = Path(__file__).parent.parent
EWT_DEV = "PYROPUNCT_EWT_DEV"
SENTENCES = Path(__file__).with_name("shipped_sentences.txt").read_text(encoding="utf-8").splitlines()
"""Sentences written for this test, as the model restored them when it was trained."""


WITHOUT_ENCODER = pytest.mark.skipif(
    DEFAULT != "en", reason="the encoder is installed, so en-encoder answers"
)


@pytest.fixture(scope="module")
def punctuator() -> pyropunct.Punctuator:
    return pyropunct.load("en")


@pytest.fixture(scope="module")
def table() -> dict[str, str]:
    """The numbers in the documents."""
    text = (ROOT / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    section = text.partition("## English: `en` {#en}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE))


def test_the_model_is_the_one_that_was_measured(table: dict[str, str]) -> None:
    digest = hashlib.sha256(place_of("en").read_bytes()).hexdigest()
    assert table["checksum of the model"] == f"`{digest[:16]}`"


@pytest.mark.parametrize(
    ("written", "underlying"),
    [
        (
            "If/SCONJ/rains/mark it/PRON/rains/nsubj rains/VERB/stay/advcl , we/PRON/stay/nsubj "
            "stay/VERB//root .",
            "root[advcl[, If it rains ,] we stay .]",
        ),
        (
            "We/PRON/stay/nsubj stay/VERB//root , if/SCONJ/rains/mark it/PRON/rains/nsubj "
            "rains/VERB/stay/advcl .",
            "root[We stay advcl[, if it rains ,] .]",
        ),
        # The beginning of a clause has absorbed a comma.
        (
            "He/PRON/says/nsubj says/VERB//root that/SCONJ/stay/mark if/SCONJ/rains/mark it/PRON/rains/nsubj "
            "rains/VERB/stay/advcl , they/PRON/stay/nsubj stay/VERB/says/ccomp .",
            "root[He says that advcl[, if it rains ,] they stay .]",
        ),
        # Commas of conjuncts separate.
        (
            "Apples/NOUN//root , pears/NOUN/Apples/conj , and/CCONJ/plums/cc plums/NOUN/Apples/conj .",
            "root[Apples conj[, pears] conj[, and plums] .]",
        ),
        (
            "We/PRON/met/nsubj met/VERB//root Ann/PROPN/met/obj , the/DET/director/det "
            "director/NOUN/Ann/appos .",
            "root[We met Ann appos[, the director ,] .]",
        ),
    ],
)
def test_what_stands_behind_the_page(punctuator: pyropunct.Punctuator, written: str, underlying: str) -> None:
    given = tagged(written)
    [[best]] = punctuator.underlying([given])
    assert bracketed(given, best) == underlying


def test_it_says_what_it_said(punctuator: pyropunct.Punctuator) -> None:
    """Its own sentences without their marks come back with them."""
    raw = [re.sub(r"[,.?!]", "", sentence) for sentence in SENTENCES]
    assert len(raw) == 20
    assert punctuator(raw) == SENTENCES


def test_two_sentences_in_a_line_of_small_letters(punctuator: pyropunct.Punctuator) -> None:
    """Where the reader is sure, and `ends` is not greater."""
    line = "hello how are you i am fine"
    assert punctuator(line) == "Hello. How are you? I am fine."
    assert punctuator(line, ends=0.99).count(".") == 1
    assert punctuator("i think that he is right") == "I think that he is right."


@WITHOUT_ENCODER
def test_the_page_on_trees() -> None:
    """Its example is what the command says without options."""
    page = (ROOT / "docs" / "guide" / "trees.md").read_text(encoding="utf-8")
    said = CliRunner().invoke(main, ["parse", "-"], "After eating, the dog slept.\n").stdout
    assert f"pyropunct parse -\n\n{indent(said.strip(), '    ')}\n" in page


@pytest.mark.parametrize(
    "settings", [{"keep": False}, {"hidden": ","}, {"keep": True, "marks": '.?"', "running": True}], ids=str
)
def test_settings_are_those_of_load_and_of_each_call_and_of_the_command(
    punctuator: pyropunct.Punctuator, settings: dict[str, Any]
) -> None:
    text = "My brother, who lives in Boston called yesterday"
    called = punctuator(text, **settings)
    assert called == pyropunct.load("en", **settings)(text)
    flags = {("keep", False): ["--anew"]}
    options = [
        word
        for name, value in settings.items()
        for word in flags.get((name, value), [f"--{name}", value])
        if word is not True
    ]
    assert called + "\n" == CliRunner().invoke(main, ["restore", "en", "-", *options], input=text).stdout
    assert ("brother," in called) == (settings not in ({"keep": False}, {"hidden": ","}))


def test_a_complete_sentence_gets_no_more_marks(punctuator: pyropunct.Punctuator) -> None:
    """Unless that is asked for; only a mark at the end that ends sentences makes it complete."""
    words = "However the meeting which lasted three hours ended"
    restored = punctuator(words)
    assert restored == "However, the meeting which lasted three hours ended."
    for end in (".", "?", "!", ".”"):
        assert punctuator(words + end) == words + end
        assert "However, " in punctuator(words + end, keep=True)
    for complete in ("However, the meeting which lasted three hours ended at 5 p.m.", words + " घर।"):
        assert punctuator(complete) == complete
    assert punctuator(words + ",").startswith("However, ")
    assert punctuator(words + ".", keep=False) == restored
    assert punctuator(words + ".", marks=",").startswith("However, ")


def test_settings_that_name_marks_are_checked(punctuator: pyropunct.Punctuator) -> None:
    with pytest.raises(SettingError, match="the model has no mark ‽, it has ! "):
        punctuator("a b", marks=",‽")
    with pytest.raises(SettingError, match="there is no mark"):
        punctuator("a b", hidden=" ")
    with pytest.raises(SettingError, match="exclude each other"):
        punctuator("a b", hidden=",", marks=[","])
    for text in (None, 3, [3]):
        with pytest.raises(TypeError, match=r"a text is a string, .*not of the type"):
            punctuator(text)  # type: ignore[call-overload]


def test_texts_of_a_table(punctuator: pyropunct.Punctuator) -> None:
    """Cells without text stay as they are; a mapping is refused."""

    class Unknown:
        """As pandas' NA."""

        def __ne__(self, other: object) -> "Unknown":  # type: ignore[override]
            return self

        def __bool__(self) -> bool:
            raise TypeError("boolean value of NA is ambiguous")

    line, unknown = "she came but he left", Unknown()
    first, *others = punctuator([line, None, float("nan"), line, unknown])  # type: ignore[list-item]
    assert first == others[2] == punctuator(line)
    assert (others[0], others[3]) == (None, unknown)
    assert math.isnan(others[1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not a mapping: give its values\(\)$"):
        punctuator({"a": line})


def test_a_threshold_is_written_as_for_the_command(punctuator: pyropunct.Punctuator) -> None:
    line = "well she came but he left"
    assert punctuator(line, threshold=",=0.9 0.3") == punctuator(line, threshold={",": 0.9, "": 0.3})
    with pytest.raises(SettingError, match=r"^threshold: no is no number from 0 to 1$"):
        punctuator(line, threshold="no")


def test_styles_are_thresholds(punctuator: pyropunct.Punctuator) -> None:
    line = "after the long meeting we went home and she called her brother who lives in paris"
    counts = [punctuator(line, style=style).count(",") for style in ("careful", "usual", "full")]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]
    assert punctuator(line, style="full") == punctuator(line, threshold=",=0.14 0.2")
    assert punctuator(line, style="full", threshold=0.9) == punctuator(line, threshold=0.9)


def test_the_example_of_the_guide(punctuator: pyropunct.Punctuator) -> None:
    guide = (ROOT / "docs" / "guide" / "restoring.md").read_text(encoding="utf-8")
    first, second = re.findall(r"(?:^    .+\n)+", guide, re.MULTILINE)[1:3]
    shown = [[line.strip() for line in block.splitlines()] for block in (first, second)]
    assert punctuator(shown[0]) == shown[1]


def test_the_examples_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(
        r'^    \$ echo "(.+)" \|\s+pyropunct (restore.* -)\n    (.+)$', readme, re.MULTILINE
    )
    assert len(examples) == 2
    for text, command, shown in examples:
        assert CliRunner().invoke(main, command.split(), input=text).stdout == f"{shown}\n"


@pytest.mark.skipif(EWT_DEV not in os.environ, reason=f"{EWT_DEV} names no treebank")
def test_the_numbers_of_the_documents(table: dict[str, str]) -> None:
    numbers = runpy.run_path(str(ROOT / "benchmarks" / "shipped.py"))["numbers"]
    assert numbers(place_of("en"), list(read_treebank(os.environ[EWT_DEV]))) == table


@pytest.mark.parametrize(
    "line",
    [
        "This was shown by science research. [1 - 3]",
        "Smith et al. (2010) showed that it works.",
        "My father, who called you, is a doctor.",
    ],
)
def test_it_leaves_what_is_right(line: str) -> None:
    result = CliRunner().invoke(main, ["correct", "en", "-", "--format", "edits"], input=line + "\n")
    assert (result.exit_code, result.stdout) == (0, "")


def test_it_corrects_as_the_guide_shows() -> None:
    guide = (ROOT / "docs" / "guide" / "correcting.md").read_text(encoding="utf-8")
    example = r'^    \$ echo "(.+)" \| pyropunct correct en - --format edits\n((?:    .+\n)+)'
    shown = re.search(example, guide, re.MULTILINE)
    assert shown is not None
    result = CliRunner().invoke(main, ["correct", "en", "-", "--format", "edits"], input=shown[1] + "\n")
    assert result.exit_code == 0
    assert result.output.split() == shown[2].split()


def test_what_all_languages_agree_on() -> None:
    """A rule of every language that shows it; the tutorial tells of more."""
    model = pyropunct.load("multi")
    assert len(model.languages) == 19
    compared = {(one.of, one.outcome): one for one in of_model(model)}
    absorbed = compared[", .", "."]
    assert all(share.value > 0.95 for share in absorbed.known)
    assert absorbed.shares[0] is not None
    assert absorbed.shares[0].low > 0.9
    assert model.of("ja").conventions.quotes[","] == "、"
