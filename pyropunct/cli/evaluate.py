"""The command ``pyropunct evaluate``."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TextIO

import click

from pyropunct.cli import console
from pyropunct.cli.frame import polite
from pyropunct.cli.loading import load_model, use_threads
from pyropunct.cli.options import encoder_option, json_option, threads_option, trust_option
from pyropunct.files import json_text

if TYPE_CHECKING:
    from pyropunct.cli.sources import Reject
    from pyropunct.corpus.shards import Work
    from pyropunct.fitted.evaluation import Evaluation, SlotEvaluations
    from pyropunct.fitted.story import ImpossibleSentenceError
    from pyropunct.treebank.lines import Part
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
@encoder_option
@threads_option
@json_option
@polite
def evaluate(
    model: str,
    file: str,
    trust_variants: bool,
    encoder: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees.

    The perplexity with trees is that of heads, relations, tags and punctuation together.
    """
    from pyropunct.treebank.lines import opened, read_lines
    from pyropunct.treebank.reading import nothing_kept, read_sentences

    use_threads(threads)
    punctuator = load_model(model, trust_variants, encoder)
    omitted: list[Omission] = []
    impossible: list[ImpossibleSentenceError] = []
    with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
        sentences = _kept(read_sentences(read_lines(stream, name), name), omitted, advance)
        first = next(sentences, None)
        if first is None:
            raise nothing_kept(name, omitted)
        found = punctuator.evaluate_slots(chain([first], sentences), impossible)
    console.tell_omitted(name, omitted)
    _tell_impossible(name, list(map(str, impossible)))
    if as_json:
        left_out = {**console.plain_omissions(omitted), "impossible": list(map(str, impossible))}
        console.print_json(_values(*found, left_out))
    else:
        _print_tables(file, *found, {"omitted": len(omitted), "impossible": len(impossible)})


def work(model: str, trust_variants: bool, encoder: str | None) -> "Work":
    """What the command does with a part of a corpus: it writes a line of JSON with sums."""
    from pyropunct.cli.sources import why_omitted
    from pyropunct.treebank.lines import ByteLines, lines_or_errors
    from pyropunct.treebank.reading import Omission, TreebankError, sentences_or_errors

    punctuator = load_model(model, trust_variants, encoder)

    def measured(part: "Part", out: TextIO, reject: "Reject") -> None:
        number = {"omitted": 0, "malformed": 0}
        impossible: list[ImpossibleSentenceError] = []

        def kept() -> "Iterator[Sentence]":
            lines = lines_or_errors(ByteLines(part.stream), part.name, part.start)
            for item in sentences_or_errors(lines, part.name, part.start):
                if isinstance(item, TreebankError):
                    number["malformed"] += 1
                    reject(item)
                elif isinstance(item, Omission):
                    number["omitted"] += 1
                    reject(why_omitted(part.name, item))
                else:
                    yield item

        sums = punctuator.evaluation_sums(kept(), impossible)
        for error in impossible:
            reject(error)
        print(json_text({**number, "impossible": len(impossible), "sums": sums.to_json()}), file=out)

    return measured


class Merged:
    """What `work` wrote of all parts of a corpus, as one result.

    :param name: of the corpus.
    :param parts: what it wrote of each.
    :raises TreebankError: if no sentence was evaluated.
    """

    def __init__(self, name: str, parts: Iterable[str]) -> None:
        from pyropunct.fitted.evaluation import EvaluationSums
        from pyropunct.treebank.errors import TreebankError

        self._name, self._left_out = name, dict.fromkeys(("omitted", "malformed", "impossible"), 0)
        sums = EvaluationSums()
        for plain in map(json.loads, parts):
            sums += EvaluationSums(plain["sums"])
            for reason in self._left_out:
                self._left_out[reason] += plain[reason]
        if not sums.sentences:
            raise TreebankError(name, "no sentence can be used")
        self._found = sums.evaluation()

    def to_json(self) -> dict[str, Any]:
        """What ``pyropunct evaluate --json`` prints, with numbers of the sentences that were left out."""
        return _values(*self._found, self._left_out)

    def show(self) -> None:
        """Print the tables of ``pyropunct evaluate``."""
        _print_tables(self._name, *self._found, self._left_out)


def _values(
    own: "SlotEvaluations",
    unigram: "SlotEvaluations | None",
    with_trees: "Evaluation | None",
    left_out: Mapping[str, Any],
) -> dict[str, Any]:
    """The results in plain JSON types."""
    result = own.all
    return {
        "sentences": result.sentences,
        **left_out,
        "slots": result.slots,
        "log_likelihood": result.log_likelihood,
        "perplexity": result.perplexity,
        "perplexity_with_trees": None if with_trees is None else with_trees.perplexity,
        **_plain(own, ""),
        **_plain(unigram, "unigram_"),
    }


def _print_tables(
    title: str,
    own: "SlotEvaluations",
    unigram: "SlotEvaluations | None",
    with_trees: "Evaluation | None",
    left_out: Mapping[str, int],
) -> None:
    result = own.all
    shown: dict[str, float] = {"sentences": result.sentences, **left_out, "slots": result.slots}
    shown |= {"log_likelihood": result.log_likelihood, "perplexity": result.perplexity}
    if with_trees is not None:
        shown["perplexity_with_trees"] = with_trees.perplexity
    rows = [[name.replace("_", " "), _shown(value)] for name, value in shown.items()]
    console.print_table(title, [" ", "value"], rows)
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
