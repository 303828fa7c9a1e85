"""A note on text whose words the model does not know."""

from pathlib import Path

from command_line import invoke

GERMAN = "der hund der im garten lag war sehr müde und wollte nicht mehr laufen als die katze kam und sang\n"


def test_text_in_another_language_is_told(model_with_parser: Path) -> None:
    result = invoke("restore", model_with_parser, "-", "--samples", 2, "--threads", 1, given=GERMAN * 2)
    assert result.exit_code == 0
    assert "words: is this text in its language?" in result.stderr
    short = invoke("restore", model_with_parser, "-", "--samples", 2, "--threads", 1, given="der hund\n")
    assert short.stderr == ""
