"""The command ``pyropunct sample``, and how it shows draws and dreams."""

from typing import Any, Literal

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SeededUse, read_file
from pyropunct.cli.report import SentenceReport, in_order, show_each
from pyropunct.limits import Count
from pyropunct.text.conventions import Conventions
from pyropunct.treebank.sentence import Sentence


@command
def sample(
    model: str,
    file: str | None = None,
    *,
    samples: Count | None = None,
    format: Literal["text", "conllu", "brackets", "json"] = "text",
    balanced: bool = False,
    use: SeededUse,
) -> None:
    """Draw surface punctuation for the trees of FILE, whose own punctuation is ignored.

    Without FILE, draw whole sentences: trees, words, underlying punctuation and surface punctuation.  A word
    outside the vocabulary of MODEL is printed as its tag.

    :param samples: draws for each tree, by default 1; without FILE sentences to draw, by default 10.
    :param format: sentences with surface marks as text or, with FILE, as CoNLL-U; or, without FILE, the
        underlying trees in brackets.
    :param balanced: draw only punctuation whose brackets and quotation marks are paired.
    """
    from pyropunct.tasks.explain.brackets import surface_texts, underlying_brackets

    wrong = "brackets" if file is not None else "conllu"
    if format == wrong:
        raise click.UsageError(f"--format {wrong} is for calls {'without' if file else 'with'} FILE")
    if file is None and balanced:
        raise click.UsageError("--balanced is for the trees of FILE")
    punctuator = use.load(model)
    if file is None:
        sentences = []
        for drawn in punctuator.dream(samples or 10):
            (text,) = surface_texts(drawn, punctuator.vocabulary)
            (underlying,) = underlying_brackets(drawn, punctuator.vocabulary)
            sentences.append({"text": text, "underlying": underlying})
            if format != "json":
                console.say(text if format == "text" else underlying)
        if format == "json":
            console.print_json({"sentences": sentences})
        return
    treebank = read_file(file)
    draws = punctuator.sample(list(treebank), samples or 1, balanced=balanced)
    show_each(
        "sampling",
        SampleReport(format, punctuator.conventions),
        treebank,
        in_order(treebank, None, format),
        draws,
    )


class SampleReport(SentenceReport):
    """Sentences with drawn punctuation."""

    def __init__(self, form: str, conventions: Conventions) -> None:
        super().__init__(form)
        self._conventions = conventions

    def text(self, source: Sentence, draw: Any) -> str:
        """A draw."""
        return source.text(draw, self._conventions)

    def conllu(self, source: Sentence, draw: Any) -> str:
        """A draw."""
        return source.conllu_with_surface(draw, self._conventions)

    def entry(self, source: Sentence, *draws: Any) -> dict[str, Any]:
        """All draws of a tree."""
        return {"texts": [self.text(source, draw) for draw in draws]}
