"""Showing results sentence by sentence."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyropunct.commands import console

if TYPE_CHECKING:
    from pyropunct.treebank.sentence import Sentence


def tell_each(
    title: str,
    sentences: "Sequence[Sentence]",
    results: Iterable[Sequence[Any]],
    shape: str,
    tell: "dict[str, Callable[[Sentence, Any], Any]]",
) -> None:
    """Show the results of each sentence one after the other, or those of all sentences as one JSON object.

    :param tell: for each shape a function that shows a result of a sentence; for "json", one that makes a
        dictionary of all results of a sentence.
    """
    found = []
    with console.sentence_bar(title, len(sentences)) as advance:
        for sentence, some in zip(sentences, results, strict=True):
            advance(1)
            if shape == "json":
                found.append({"id": sentence.identifier, **tell[shape](sentence, some)})
                continue
            for one in some:
                tell[shape](sentence, one)
    if shape == "json":
        console.print_json({"sentences": found})
