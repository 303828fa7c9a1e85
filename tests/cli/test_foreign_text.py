"""Text whose words the model does not know is left as it was."""

from pathlib import Path

import pytest
from command_line import invoke

import pyropunct

pytestmark = pytest.mark.usefixtures("single_precision")

GERMAN = "der hund der im garten lag war sehr müde und wollte nicht mehr laufen als die katze kam und sang\n"


PUNCTUATOR = pyropunct.load("en")

QUICK = ("-", "--samples", 2, "--threads", 1)


@pytest.mark.parametrize(
    "text", [GERMAN * 2, "он пришёл домой когда уже было темно и очень холодно " * 3, "他" * 120]
)
def test_text_in_another_language(text: str) -> None:
    result = invoke("restore", "en", *QUICK, given=text)
    assert (result.exit_code, result.stdout) == (2, text if text.endswith("\n") else f"{text}\n")
    assert result.stderr.count("\n") == 1
    assert ", so its language seems to be another one: " in result.stderr
    forced = invoke("restore", "en", *QUICK, "--force", given=text)
    assert (forced.exit_code, forced.stderr) == (0, "")


@pytest.mark.parametrize("running", [False, True])
def test_python_leaves_it_too(running: bool) -> None:
    """With one warning; each text is judged by itself."""
    english = "we went home " * 2
    with pytest.warns(match=r"language seems to be another one: it is left as it was \(force=True") as warned:
        left, restored = PUNCTUATOR([GERMAN * 2, english], running=running, samples=2)
    assert len(warned) == 1
    assert left == GERMAN * 2
    assert restored != english
    assert PUNCTUATOR(GERMAN * 2, running=running, samples=2, force=True) != GERMAN * 2


def test_little_is_no_sign_of_a_language(model_with_parser: Path) -> None:
    """Neither few letters, nor that a model of few words does not know others."""
    for model, text in (("en", "der hund\n"), (model_with_parser, GERMAN * 2)):
        assert invoke("restore", model, *QUICK, given=text).stderr == ""
