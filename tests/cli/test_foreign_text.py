"""A note on text whose words the model does not know."""

from pathlib import Path

import pytest
from command_line import invoke

pytestmark = pytest.mark.usefixtures("single_precision")

GERMAN = "der hund der im garten lag war sehr müde und wollte nicht mehr laufen als die katze kam und sang\n"


def test_text_in_another_language_is_told(model_with_parser: Path) -> None:
    result = invoke("restore", "en", "-", "--samples", 2, "--threads", 1, given=GERMAN * 2)
    assert result.exit_code == 0
    assert "words: is this text in its language?" in result.stderr
    for model, text in (("en", "der hund\n"), (model_with_parser, GERMAN * 2)):
        silent = invoke("restore", model, "-", "--samples", 2, "--threads", 1, given=text)
        assert silent.stderr == ""
