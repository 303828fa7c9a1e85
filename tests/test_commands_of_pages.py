"""The commands that the pages show: all have right arguments, and those that only use a model run."""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from command_line import invoke
from model_files import copied
from test_documents import PAGES, ROOT

from pyropunct.cli.main import main
from pyropunct.errors import UserError
from pyropunct.punctuator import Punctuator

LINE = re.compile(
    r"^ {4}(?:\w+=\S+ )?(?:echo \"(.*)\" \| |.* && )?pyropunct (.*?)(?: {2,}.*)?$", re.MULTILINE
)
"""A command in a block, what it reads from ``echo``, and what the page says about it."""

TRAINING = ("adapt", "compare", "corpus", "fit", "fit-correction")
"""Commands that train, or start processes: their own tests run them."""

OTHER_MODELS = {
    "correct": "a corrector",
    "parse en-marks": "a parser that reads marks",
    "restore multi": "a model with an encoder",
}
"""What the model of `stage` is not."""


def commands() -> Iterator[tuple[str, str]]:
    """The commands of all pages, once each, with what they read."""
    seen = dict[str, str]()
    for page in PAGES:
        text = re.sub(r"\\\n\s*", "", (ROOT / page).read_text(encoding="utf-8"))
        for given, line in LINE.findall(text):
            seen.setdefault(re.sub(r"\s*[<>].*", "", line), given)
    yield from seen.items()


COMMANDS = dict(commands())
"""Without redirections."""

USING = [
    line for line in COMMANDS if not line.startswith((*TRAINING, *OTHER_MODELS)) and "--encoder" not in line
]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_a_page_has_right_arguments(line: str) -> None:
    command: click.Command = main
    context = main.make_context("pyropunct", shlex.split(line))
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None, name
        command, context = found, found.make_context(name, rest, parent=context)


@pytest.mark.parametrize("line", ["fit --epochs no", "evaluate a b c", "rules", "corpus restore", "nothing"])
def test_wrong_arguments_are_found(line: str) -> None:
    with pytest.raises((UserError, click.UsageError)):
        test_a_command_of_a_page_has_right_arguments(line)


@pytest.fixture(scope="module")
def stage(model_with_parser: Path, small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of all the names that the commands use."""
    folder = tmp_path_factory.mktemp("stage")
    for word in {word for line in USING for word in shlex.split(line)}:
        if word.endswith(".conllu"):
            (folder / word).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(small / "dev.conllu", folder / word)
        elif word.endswith(".mrg"):
            (folder / word).write_text("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))\n")
        elif word.endswith(".srt"):
            (folder / word).write_text("1\n00:00:01,000 --> 00:00:03,000\nthe meeting ended\n")
        elif word.endswith(".csv"):
            (folder / word).write_text("id,review\n1,the meeting ended\n")
        elif word.endswith(".txt"):
            (folder / word).write_text("however the meeting ended without a vote\n")
        elif re.fullmatch(r"my-[\w-]+|[A-Z]|MODEL|(?!en)[a-z]{2}(-rules)?", word):
            copied(model_with_parser, folder / word)
    return folder


@pytest.fixture(scope="module")
def load() -> Callable[..., Punctuator]:
    """Loads each model once."""
    return cache(Punctuator.load)


@pytest.mark.parametrize("line", USING)
def test_a_command_of_a_page_runs(
    line: str, stage: Path, load: Callable[..., Punctuator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stage)
    monkeypatch.setattr(Punctuator, "load", load)
    given = COMMANDS[line] or (stage / "dev.conllu").read_text(encoding="utf-8")
    result = invoke(*shlex.split(re.sub(r"\bID\b", "dev-0001", line)), given=given.encode())
    if "--match" in line and result.exit_code:  # which may fit no row of other treebanks
        assert result.stderr == "pyropunct: no rows are left: change --match, or lower --least\n"
        return
    assert (result.exit_code, "Traceback" in result.stderr) == (0, False), result.stderr
    assert result.stdout or os.path.exists(stage / "languages.svg")
