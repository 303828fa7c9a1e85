"""What the command ``pyropunct evaluate`` measures, and how it is shown."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from pyropunct.cli import console
from pyropunct.cli.options import ModelUse
from pyropunct.cli.sources import Items
from pyropunct.compare.table import NO_VALUE, cells_table
from pyropunct.corpus.shards import Reject, Work
from pyropunct.files import json_text
from pyropunct.fitted.evaluation import Evaluation, EvaluationSums, WholeEvaluation
from pyropunct.fitted.story import ImpossibleSentenceError
from pyropunct.punctuator import Punctuator
from pyropunct.text.lines import Part, TreebankError
from pyropunct.treebank.sentence import Sentence

LEGEND = """\
model     1 if each slot were certain; k as if choosing among k equal strings
unigram   of a model without trees: the string of each slot is drawn by itself as
          in the training treebank, where last slots are counted apart"""

NOT_COUNTED = (
    "An older version has fitted this model, which does not know the strings of the training treebank."
)


def work(model: str, *, use: ModelUse) -> Work:
    """What the command does with a part of a corpus: it writes a line of JSON with sums."""
    punctuator = use.load(model)

    def measure(
        part: Part, out: TextIO, reject: Reject | None = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        sums, items, impossible = measured(punctuator, part, advance, reject)
        counts = {"omitted": len(items.omitted), "impossible": len(impossible), "malformed": items.failed}
        print(json_text({**counts, "sums": sums.to_json()}), file=out)

    return measure


def measured(
    model: Punctuator, part: Part, advance: Callable[[], None], reject: Reject | None = None
) -> tuple[EvaluationSums, Items, list[ImpossibleSentenceError]]:
    """The sums over a text, what was left out, and the errors of sentences that the model cannot produce.

    :param advance: called after each sentence.
    :param reject: takes errors, the first of which is raised by default.
    """
    items, impossible = Items(part, model, reject), list[ImpossibleSentenceError]()

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


@dataclass(frozen=True)
class Result:
    """How well a model predicts a text.

    :ivar name: of the text.
    :ivar evaluation: of all sentences.
    :ivar left_out: the numbers of sentences that were left out, by the reasons.
    """

    name: str
    evaluation: WholeEvaluation
    left_out: Mapping[str, int]

    @classmethod
    def merged(cls, name: str, parts: Iterable[str]) -> "Result":
        """The result for a corpus, by the lines that `work` wrote.

        :raises TreebankError: if no sentence was evaluated.
        """
        sums, left_out = EvaluationSums(), dict.fromkeys(("omitted", "malformed", "impossible"), 0)
        for plain in map(json.loads, parts):
            sums += EvaluationSums(plain["sums"])
            left_out = {reason: count + plain[reason] for reason, count in left_out.items()}
        if not sums.sentences:
            raise TreebankError(name, "no sentence can be used")
        return cls(name, sums.evaluation(), left_out)

    def to_json(self, left_out: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result in plain JSON types.

        :param left_out: more about the sentences that were left out than their numbers.
        """
        slots, unigram, with_trees = self.evaluation
        names = ("last_slots", "other_slots", "unigram", "unigram_last_slots", "unigram_other_slots")
        parts = (*slots[1:], *(unigram or (None, None, None)))
        return {
            "sentences": slots.all.sentences,
            **(self.left_out if left_out is None else left_out),
            **_plain(slots.all),
            "perplexity_with_trees": None if with_trees is None else with_trees.perplexity,
            **{name: None if part is None else _plain(part) for name, part in zip(names, parts, strict=True)},
        }

    def tell(self, as_json: bool, left_out: Mapping[str, Any] | None = None) -> None:
        """Print the result, for people or as JSON.

        :param left_out: see `to_json`.
        """
        if as_json:
            console.print_json(self.to_json(left_out))
            return
        slots, unigram, with_trees = self.evaluation
        values: dict[str, float] = {"sentences": slots.all.sentences, **self.left_out, **_plain(slots.all)}
        if with_trees is not None:
            values["perplexity with trees"] = with_trees.perplexity
        whole = [(name.replace("_", " "), value) for name, value in values.items()]
        console.show_table(cells_table(self.name, {" ": None, "value": _shown}, whole))
        titles = ("all", "last of a sentence", "others")
        others = unigram or (None, None, None)
        rows = [
            (title, own.slots, own, other) for title, own, other in zip(titles, slots, others, strict=True)
        ]
        columns = {"slots": None, "number": None, "model": _perplexity, "unigram": _perplexity}
        notes = [LEGEND] if unigram is not None else [LEGEND, NOT_COUNTED]
        console.show_table(cells_table("Perplexity per slot", columns, rows, notes))


def _plain(evaluation: Evaluation) -> dict[str, float]:
    names = ("slots", "log_likelihood", "perplexity")
    return {name: getattr(evaluation, name) for name in names}


def _perplexity(evaluation: Evaluation | None) -> str:
    return NO_VALUE if evaluation is None or not evaluation.slots else _shown(evaluation.perplexity)


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    rounded = float(f"{value:.4g}")
    decimals = 3 - math.floor(math.log10(abs(rounded))) if rounded and math.isfinite(rounded) else 0
    return f"{rounded:,.{max(0, decimals)}f}"
