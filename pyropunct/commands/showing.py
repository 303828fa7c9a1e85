"""Results shown sentence by sentence."""

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
    """Show what was found for each sentence, one result after the other, or all of it as one JSON object.

    :param tell: how to show a result in each shape; for "json", how to make a dictionary of a sentence's.
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
