"""Showing results sentence by sentence."""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console
from pyropunct.errors import UserError

if TYPE_CHECKING:
    from pyropunct.treebank.reading import Omission, Treebank
    from pyropunct.treebank.sentence import Sentence

_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*+.*\S")


def tell_each(
    title: str,
    treebank: "Treebank",
    items: "Sequence[Sentence | Omission]",
    results: Iterable[Sequence[Any]],
    shape: str,
    tell: "dict[str, Callable[[Sentence, Any], Any]]",
) -> None:
    """Show the results of each sentence one after the other, or those of all sentences as one JSON object.

    :param treebank: where the sentences are from.
    :param items: the sentences that have results, and those left out, which CoNLL-U output has unchanged.
    :param tell: for each shape a function that returns the text of a result of a sentence, None if that is
        shown elsewhere; for "json", one that makes a dictionary of all results of a sentence; for "conllu",
        one that returns the lines of a result.
    """
    from pyropunct.treebank.reading import Omission

    found, rest = [], iter(results)
    with console.sentence_bar(title, len(items)) as advance:
        for item in items:
            advance(1)
            if isinstance(item, Omission):
                print(item.conllu() if shape == "conllu" else "", end="")
                continue
            some = next(rest)
            if shape == "json":
                found.append({"id": item.identifier, **tell[shape](item, some)})
            elif shape == "conllu":
                print(numbered([tell[shape](item, one) for one in some], item.identifier), end="")
            else:
                for one in some:
                    text = tell[shape](item, one)
                    if text is not None:
                        console.say(text)
    if shape == "json":
        console.print_json({"sentences": found, **console.plain_omissions(treebank.omitted)})


def numbered(blocks: Sequence[str], identifier: str) -> str:
    """The blocks of CoNLL-U that were made of one sentence; of several, each has a ``sent_id`` of its own."""
    if len(blocks) < 2:
        return "".join(blocks)
    name = identifier.lstrip("#")
    return "".join(_renamed(block, f"{name}-{number}") for number, block in enumerate(blocks, 1))


def _renamed(block: str, identifier: str) -> str:
    lines = [line for line in block.split("\n") if not _SENT_ID.match(line)]
    return "\n".join([f"# sent_id = {identifier}", *lines])


def in_order(treebank: "Treebank", identifier: str | None, shape: str) -> "Sequence[Sentence | Omission]":
    """The sentences with an identifier; without one all of a file, and the user is told what is left out.

    :raises UserError: if there is no such sentence.
    """
    if identifier is None:
        if shape != "html":  # as the page tells it
            console.tell_omitted(treebank.path, treebank.omitted, kept=shape == "conllu")
        return treebank.in_order()
    found = [sentence for sentence in treebank if sentence.identifier == identifier]
    if not found:
        omitted = {one.identifier: one.reason for one in treebank.omitted}
        near = get_close_matches(identifier, [sentence.identifier for sentence in treebank], 1, 0.0)
        why = f"is omitted: {omitted[identifier]}" if identifier in omitted else "is not there"
        why += f" (the nearest is {near[0]!r})" if near and identifier not in omitted else ""
        raise UserError(f"{treebank.path}: sentence {identifier!r} {why}")
    return found


def usable(items: "Iterable[Sentence | Omission]") -> "list[Sentence]":
    """Those that are not left out."""
    from pyropunct.treebank.sentence import Sentence

    return [item for item in items if isinstance(item, Sentence)]


def check_attach(attach: bool, shape: str) -> None:
    """:raises UserError: if marks are attached in trees that are not written."""
    if attach and shape != "conllu":
        raise UserError("--attach-punctuation writes trees: use it with --format conllu")
