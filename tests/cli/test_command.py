"""How signatures, settings and docstrings become options."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from click.testing import CliRunner

from pyropunct.cli.command import Command, command
from pyropunct.cli.fit import fit
from pyropunct.cli.restore import restore
from pyropunct.errors import FailureError, UserError
from pyropunct.limits import Count, Help, Internal, NamesIn, Placeholder, Range, Seed, limits, meanings

COLOURS = {"red": 1, "green": 2}


class PanicException(BaseException):  # as libraries in Rust call it
    pass


@dataclass(frozen=True)
class Basis:
    """A base.

    :ivar seed: of all draws, even these.
    """

    seed: Seed = 7


@dataclass(frozen=True)
class Settings(Basis):
    """Settings.

    :ivar trees: how many ``trees``.
    :ivar share: a part.
    """

    trees: Count | None = None
    share: Annotated[float, Range(0, below=1)] = 0.5
    colour: Annotated[str, NamesIn("test_command:COLOURS")] = "red"
    capital: bool = True
    inner: Annotated[int, Internal] = 3


@dataclass(frozen=True)
class Others:
    seed: int = 7
    sure: bool | None = None


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


@command
def try_it(
    file: str,
    more: Annotated[tuple[str, ...], Placeholder("MORE...")] = (),
    *,
    settings: Settings,
    others: Others,
    beams: Annotated[tuple[int, ...], numbers] = (1, 4),
    name: tuple[str, ...] = (),
    format: Annotated[Literal["a", "b"], Help("which form.")] = "a",
    fail: str | None = None,
) -> None:
    """Try it on FILE.

    :param name: repeatable.
    """
    if fail is not None:
        kinds = {"user": UserError, "failure": FailureError, "panic": PanicException}
        raise kinds.get(fail, RuntimeError)(f"{fail}\nthere")
    print(file, more, settings, others, beams, name, format)


def called(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(try_it, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_defaults_are_those_of_settings() -> None:
    assert called("x") == (0, f"x () {Settings()} {Others()} (1, 4) () a\n", "")


def test_options_become_settings() -> None:
    given = "x y --seed 2 --trees 3 --share 0 --colour green --no-capital --no-sure --beams 2 --name n"
    settings = Settings(seed=2, trees=3, share=0.0, colour="green", capital=False)
    status, text, _ = called(*given.split(), "--format", "b")
    assert (status, text) == (0, f"x ('y',) {settings} {Others(2, False)} (2,) ('n',) b\n")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--trees", "0"], "0 is not in the range x>=1"),
        (["--share", "1"], "1.0 is not in the range 0<=x<1"),
        (["--share", "nan"], "nan is not a finite number"),
        (["--colour", "blue"], "'blue' is not one of 'red', 'green'"),
        (["--beams", "1,x"], "invalid literal for int() with base 10: 'x'"),
        (["--inner", "1"], "No such option '--inner'"),
    ],
)
def test_wrong_values(given: list[str], problem: str) -> None:
    status, text, message = called("x", *given)
    assert (status, text) == (2, "")
    assert problem in message


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("user", (2, "pyropunct: user there\n")),
        ("failure", (1, "pyropunct: failure there\n")),
        ("panic", (1, "pyropunct: a library failed, perhaps for lack of memory: panic\n")),
        ("program", (1, "pyropunct: RuntimeError: program there (set PYROPUNCT_DEBUG=1 to see where)\n")),
    ],
)
def test_errors_have_a_line_and_a_status(kind: str, expected: tuple[int, str]) -> None:
    status, text, message = called("x", "--fail", kind)
    assert ((status, message), text) == (expected, "")


def test_help_is_that_of_docstrings() -> None:
    assert isinstance(try_it, Command)
    helps = {one.name: getattr(one, "help", None) for one in try_it.params}
    assert helps["seed"] == "Of all draws, even these."
    assert (helps["trees"], helps["name"], helps["format"]) == (
        "How many trees.",
        "Repeatable.",
        "Which form.",
    )
    text = " ".join(called("--help")[1].split())
    assert "Try it on FILE. Options:" in text
    assert "[default: 7; 0<=x<=4294967295]" in text
    assert ":param" not in text


def test_annotations_are_taken_apart() -> None:
    assert limits(Annotated[int, Range(1)] | None) == limits(Annotated[int | None, Range(1)])
    several = limits(tuple[Count, ...])
    assert (several.kind, several.several, several.item) == (int, True, (Range(1),))
    assert meanings(Settings) == {
        "seed": "of all draws, even these.",
        "trees": "how many trees.",
        "share": "a part.",
    }


@pytest.mark.parametrize("one", [restore, fit])
def test_options_under_headings(one: Command) -> None:
    """Each option is in the help once, and those of no heading come last."""
    shown = CliRunner().invoke(one, ["--help"]).stdout
    options = re.findall(r"^  (?:-h, )?(--[a-z-]+)", shown, re.MULTILINE)
    names = [str(it.name).replace("_", "-") for it in one.params if it.param_type_name == "option"]
    assert sorted(options) == sorted(f"--{name}" for name in [*names, "help"])
    headings = re.findall(r"^(\w.*):$", shown, re.MULTILINE)
    assert headings == [*one.sections, "Other options"]
