"""The command ``pyropunct evaluate``, its work on a part of a corpus, and its report."""

import json as plain_json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import Json, ModelUse, of_language
from pyropunct.cli.progress import stream_bar
from pyropunct.cli.report import Report
from pyropunct.files import json_text
from pyropunct.text.lines import TextPart, TreebankError, opened
from pyropunct.treebank.reading import nothing_kept
from pyropunct.treebank.sentence import Sentence

if TYPE_CHECKING:
    from pyropunct.cli.sources import Items, Reject, Work
    from pyropunct.fitted.evaluation import Evaluation, EvaluationSums, WholeEvaluation
    from pyropunct.fitted.fitted_story import ImpossibleSentenceError
    from pyropunct.punctuator import Punctuator
    from pyropunct.tables import Table

# Modules that need torch are imported inside the functions, so that --help answers at once.

LEGEND = """\
model     1 if each slot were certain; k as if choosing among k equal strings
unigram   of a model without trees: the string of each slot is drawn by itself as
          in the training treebank, where last slots are counted apart"""

WITH_TREES = "with trees: of heads, relations, tags and punctuation together, per slot"

BALANCE = """\
unmatched   in the best T': without the partner on the constituent's other side;
            expected: under the posterior"""

NOT_COUNTED = (
    "An older version has fitted this model, which does not know the strings of the training treebank."
)


@command
def evaluate(model: str, file: str, *, use: ModelUse, json: Json = False) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees.

    The perplexity with trees is that of heads, relations, tags and punctuation together.
    """
    punctuator = use.load(model)
    with opened(file) as (stream, name), stream_bar(stream, name) as advance:
        sums, items, impossible = measured(punctuator, TextPart(stream, name, "conllu"), advance)
    omitted = items.omitted
    if not sums.get("sentences"):
        raise impossible[0] if impossible else nothing_kept(name, omitted)
    console.tell_omitted(name, omitted)
    messages = list(map(str, impossible))
    if messages:
        left_out = f"{len(messages)} left out as impossible"
        console.tell(f"pyropunct: {name}: {left_out}, with which the perplexity would be infinite")
    for message in messages[: console.IDS_SHOWN]:
        console.tell(f"pyropunct: {message}")
    counts = {"omitted": len(omitted), "impossible": len(impossible)}
    told = {**console.plain_omissions(omitted), "impossible": messages}
    evaluation_report(name, sums.evaluation(), counts, told).show("json" if json else "text")


def work(model: str, *, use: ModelUse) -> "Work":
    """The work of the command on a part of a corpus: it writes a line of JSON with sums."""
    punctuator = use.load(model)

    def measure(
        part: TextPart,
        out: TextIO,
        reject: "Reject | None" = None,
        advance: Callable[[], None] = lambda: None,
    ) -> None:
        sums, items, impossible = measured(punctuator, part, advance, reject)
        counts = {"omitted": len(items.omitted), "impossible": len(impossible), "malformed": items.failed}
        print(json_text({**counts, "sums": sums}), file=out)

    return measure


def measured(
    model: "Punctuator", part: TextPart, advance: Callable[[], None], reject: "Reject | None" = None
) -> "tuple[EvaluationSums, Items, list[ImpossibleSentenceError]]":
    """The sums over a text, its items, and errors of impossible sentences, which ``reject`` gets too."""
    from pyropunct.cli.sources import Items
    from pyropunct.restore.stretches import language_of_treebank

    if model.languages:
        code, part = language_of_treebank(part, model.languages)
        model = of_language(model, code)
    items = Items(part, reject).read(part, model)
    impossible: list[ImpossibleSentenceError] = []

    def usable() -> Iterator[Sentence]:
        for item in items:
            advance()
            if isinstance(item, Sentence):
                yield item

    sums = model.evaluation_sums(usable(), impossible)
    if reject is not None:
        for error in impossible:
            reject(error)
    return sums, items, impossible


def merged_report(name: str, parts: Iterable[str]) -> Report:
    """The report on a corpus, from the lines of `work`. Raises TreebankError if nothing was evaluated."""
    from pyropunct.fitted.evaluation import EvaluationSums

    sums, left_out = EvaluationSums(), dict.fromkeys(("omitted", "malformed", "impossible"), 0)
    for plain in map(plain_json.loads, filter(None, parts)):
        sums.add(plain["sums"])
        left_out = {reason: count + plain[reason] for reason, count in left_out.items()}
    if not sums.get("sentences"):
        raise TreebankError(name, "no sentence can be used")
    return evaluation_report(name, sums.evaluation(), left_out, left_out)


def evaluation_report(
    name: str, evaluation: "WholeEvaluation", left_out: Mapping[str, int], plain_left_out: Mapping[str, Any]
) -> Report:
    """How well a model predicts a text.

    :param left_out: the numbers of sentences left out, by reason; ``plain_left_out`` says more, for JSON.
    """
    slots, unigram, with_trees, balance = evaluation
    names = ("last_slots", "other_slots", "unigram", "unigram_last_slots", "unigram_other_slots")
    parts = (*slots[1:], *(unigram or (None, None, None)))
    plain = {
        "sentences": slots.all.sentences,
        **plain_left_out,
        **_plain(slots.all),
        "perplexity_with_trees": None if with_trees is None else with_trees.perplexity,
        "balance": balance._asdict(),
        **{name: None if part is None else _plain(part) for name, part in zip(names, parts, strict=True)},
    }
    return Report(plain, _tables(name, evaluation, left_out))


def _tables(name: str, evaluation: "WholeEvaluation", left_out: Mapping[str, int]) -> "Iterator[Table[Any]]":
    """A table of the whole, and one of the perplexity of the model and of unigrams."""
    from pyropunct.tables import NO_VALUE, cells_table

    def perplexity(evaluation: "Evaluation | None") -> str:
        return NO_VALUE if evaluation is None or not evaluation.slots else _shown(evaluation.perplexity)

    slots, unigram, with_trees, balance = evaluation
    values: dict[str, float] = {"sentences": slots.all.sentences, **left_out, **_plain(slots.all)}
    if with_trees is not None:
        values["perplexity with trees"] = with_trees.perplexity
    whole = [(name.replace("_", " "), value) for name, value in values.items()]
    notes = [] if with_trees is None else [WITH_TREES]
    yield cells_table(name, {" ": None, "value": _shown}, whole, notes)
    if balance.bearing:
        counted = {"constituents with one": 0, "unmatched": 0, "unmatched, expected": 1}
        yield cells_table("Brackets and quotation marks", counted, [balance], [BALANCE])
    titles = ("all", "last of a sentence", "others")
    others = unigram or (None, None, None)
    rows = [(title, own.slots, own, other) for title, own, other in zip(titles, slots, others, strict=True)]
    columns = {"slots": None, "number": None, "model": perplexity, "unigram": perplexity}
    notes = [LEGEND] if unigram is not None else [LEGEND, NOT_COUNTED]
    yield cells_table("Perplexity per slot", columns, rows, notes)


def _plain(evaluation: "Evaluation") -> dict[str, float]:
    names = ("slots", "log_likelihood", "perplexity")
    return {name: getattr(evaluation, name) for name in names}


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    rounded = float(f"{value:.4g}")
    decimals = 3 - math.floor(math.log10(abs(rounded))) if rounded and math.isfinite(rounded) else 0
    return f"{rounded:,.{max(0, decimals)}f}"
