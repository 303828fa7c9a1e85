"""The command ``pyropunct evaluate``."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import click

from pyropunct.commands import console
from pyropunct.commands.frame import polite
from pyropunct.commands.loading import load_model, use_threads
from pyropunct.commands.options import json_option, threads_option, trust_option

if TYPE_CHECKING:
    from pyropunct.punctuator import Evaluation, SlotEvaluations
    from pyropunct.treebank.reading import Omission
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.

NONE = "–"

LEGEND = """\
model     1 if each slot were certain; k as if choosing among k equal strings
unigram   of a model without trees: the string of each slot is drawn by itself as
          in the training treebank, that of last slots as in last slots there"""

NOT_COUNTED = (
    "An older version has fitted this model, which does not know the strings of the training treebank."
)


@click.command()
@click.argument("model")
@click.argument("file")
@trust_option
@threads_option
@json_option
@polite
def evaluate(
    model: str,
    file: str,
    trust_variants: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees.

    The perplexity with trees is that of heads, relations, tags and punctuation together.
    """
    from pyropunct.inference.pyro.handlers import ImpossibleSurfaceError
    from pyropunct.treebank.lines import opened, read_lines
    from pyropunct.treebank.reading import nothing_kept, read_sentences

    use_threads(threads)
    punctuator = load_model(model, trust_variants)
    omitted: list[Omission] = []
    impossible: list[ImpossibleSurfaceError] = []
    with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
        sentences = _kept(read_sentences(read_lines(stream, name), name), omitted, advance)
        first = next(sentences, None)
        if first is None:
            raise nothing_kept(name, omitted)
        own, unigram, with_trees = punctuator.evaluate_slots(chain([first], sentences), impossible)
    result = own.all
    console.tell_omitted(name, omitted)
    _tell_impossible(name, list(map(str, impossible)))
    values = {
        "sentences": result.sentences,
        **console.plain_omissions(omitted),
        "impossible": list(map(str, impossible)),
        "slots": result.slots,
        "log_likelihood": result.log_likelihood,
        "perplexity": result.perplexity,
        "perplexity_with_trees": None if with_trees is None else with_trees.perplexity,
    }
    if as_json:
        plain = _plain(own, "") | _plain(unigram, "unigram_")
        console.print_json({**values, **plain})
    else:
        shown = {name: value for name, value in values.items() if name != "omissions" and value is not None}
        shown["impossible"] = len(impossible)
        rows = [[name.replace("_", " "), _shown(value)] for name, value in shown.items()]
        console.print_table(file, [" ", "value"], rows)
        _tell_slots(own, unigram)


def _kept(
    items: "Iterable[Sentence | Omission]", omitted: "list[Omission]", advance: Callable[[], None]
) -> "Iterator[Sentence]":
    """The sentences that are not omitted; the others are remembered, but not their lines."""
    from pyropunct.treebank.reading import Omission

    for item in items:
        advance()
        if isinstance(item, Omission):
            omitted.append(replace(item, lines=()))
        else:
            yield item


def _tell_impossible(name: str, messages: Sequence[str]) -> None:
    """Say beside the results which sentences have probability zero, if any have."""
    if messages:
        left_out = f"{len(messages)} left out as impossible"
        console.tell(f"pyropunct: {name}: {left_out}, with which the perplexity would be infinite")
    for message in messages[: console.IDS_SHOWN]:
        console.tell(f"pyropunct: {message}")


def _plain(found: "SlotEvaluations | None", prefix: str) -> dict[str, dict[str, float] | None]:
    """What was found in plain JSON types; what stands elsewhere in the object already is left out."""
    if found is None:
        return dict.fromkeys(("unigram", "unigram_last_slots", "unigram_other_slots"))
    parts = {f"{prefix}last_slots": found.last, f"{prefix}other_slots": found.others}
    parts = {"unigram": found.all, **parts} if prefix else parts
    return {
        name: {"slots": one.slots, "log_likelihood": one.log_likelihood, "perplexity": one.perplexity}
        for name, one in parts.items()
    }


def _tell_slots(own: "SlotEvaluations", unigram: "SlotEvaluations | None") -> None:
    rows = []
    for place, title in enumerate(("all", "last of a sentence", "others")):
        other = NONE if unigram is None else _perplexity(unigram[place])
        rows.append([title, f"{own[place].slots:,}", _perplexity(own[place]), other])
    console.print_table("Perplexity per slot", [" slots", "number", "model", "unigram"], rows)
    console.say(LEGEND)
    if unigram is None:
        console.say(NOT_COUNTED)


def _perplexity(one: "Evaluation") -> str:
    return _shown(one.perplexity) if one.slots else NONE


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    rounded = float(f"{value:.4g}")
    decimals = 3 - math.floor(math.log10(abs(rounded))) if rounded and math.isfinite(rounded) else 0
    return f"{rounded:,.{max(0, decimals)}f}"
