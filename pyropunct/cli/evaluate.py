"""The command ``pyropunct evaluate``."""

import json as json_module
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.options import Json, ModelUse
from pyropunct.files import json_text

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Reject, Work
    from pyropunct.fitted.evaluation import Evaluation, EvaluationSums, WholeEvaluation
    from pyropunct.fitted.story import ImpossibleSentenceError
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.lines import Part
    from pyropunct.treebank.reading import Omission
    from pyropunct.treebank.sentence import Sentence

NONE = "–"

LEGEND = """\
model     1 if each slot were certain; k as if choosing among k equal strings
unigram   of a model without trees: the string of each slot is drawn by itself as
          in the training treebank, that of last slots as in last slots there"""

NOT_COUNTED = (
    "An older version has fitted this model, which does not know the strings of the training treebank."
)


@command
def evaluate(model: str, file: str, *, use: ModelUse, json: Json = False) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees.

    The perplexity with trees is that of heads, relations, tags and punctuation together.
    """
    from pyropunct.treebank.lines import Part, opened
    from pyropunct.treebank.reading import nothing_kept

    punctuator = use.load(model)
    with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
        measured = _measured(punctuator, Part(stream, name, "conllu"), None, advance)
    if not measured.sums.sentences:
        raise measured.impossible[0] if measured.impossible else nothing_kept(name, measured.omitted)
    console.tell_omitted(name, measured.omitted)
    messages = list(map(str, measured.impossible))
    if messages:
        left_out = f"{len(messages)} left out as impossible"
        console.tell(f"pyropunct: {name}: {left_out}, with which the perplexity would be infinite")
    for message in messages[: console.IDS_SHOWN]:
        console.tell(f"pyropunct: {message}")
    result = Result(name, measured.sums.evaluation(), measured.counts)
    if json:
        omissions = console.plain_omissions(measured.omitted)
        console.print_json(result.to_json({**omissions, "impossible": messages}))
    else:
        result.show()


def work(model: str, *, use: ModelUse) -> "Work":
    """What the command does with a part of a corpus: it writes a line of JSON with sums."""
    punctuator = use.load(model)

    def measure(
        part: "Part", out: TextIO, reject: "Reject | None" = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        measured = _measured(punctuator, part, reject, advance)
        counts = {**measured.counts, "malformed": measured.malformed}
        print(json_text({**counts, "sums": measured.sums.to_json()}), file=out)

    return measure


@dataclass
class _Measured:
    """The sums over a text, and the sentences that were left out, without their lines."""

    sums: "EvaluationSums"
    omitted: "list[Omission]"
    impossible: "list[ImpossibleSentenceError]"
    malformed: int = 0

    @property
    def counts(self) -> dict[str, int]:
        return {"omitted": len(self.omitted), "impossible": len(self.impossible)}


def _measured(
    model: "Punctuator", part: "Part", reject: "Reject | None", advance: Callable[[], None]
) -> _Measured:
    """Evaluate the sentences of a text.

    :param reject: takes errors, the first of which is raised by default.
    """
    from pyropunct.cli.sources import why_omitted
    from pyropunct.fitted.evaluation import EvaluationSums
    from pyropunct.treebank.errors import TreebankError
    from pyropunct.treebank.lines import ByteLines, lines_or_errors
    from pyropunct.treebank.reading import Omission, sentences_or_errors

    measured = _Measured(EvaluationSums(), [], [])

    def kept() -> "Iterator[Sentence]":
        lines = lines_or_errors(ByteLines(part.stream), part.name, part.start)
        for item in sentences_or_errors(lines, part.name, part.start):
            advance()
            if isinstance(item, TreebankError):
                if reject is None:
                    raise item
                measured.malformed += 1
                reject(item)
            elif isinstance(item, Omission):
                measured.omitted.append(replace(item, lines=()))
                if reject is not None:
                    reject(why_omitted(part.name, item))
            else:
                yield item

    measured.sums = model.evaluation_sums(kept(), measured.impossible)
    if reject is not None:
        for error in measured.impossible:
            reject(error)
    return measured


@dataclass(frozen=True)
class Result:
    """How well a model predicts a text.

    :ivar name: of the text.
    :ivar evaluation: of all sentences.
    :ivar left_out: the numbers of sentences that were left out, by the reasons.
    """

    name: str
    evaluation: "WholeEvaluation"
    left_out: Mapping[str, int]

    @classmethod
    def merged(cls, name: str, parts: Iterable[str]) -> "Result":
        """The result for a corpus, by the lines that `work` wrote.

        :raises TreebankError: if no sentence was evaluated.
        """
        from pyropunct.fitted.evaluation import EvaluationSums
        from pyropunct.treebank.errors import TreebankError

        sums, left_out = EvaluationSums(), dict.fromkeys(("omitted", "malformed", "impossible"), 0)
        for plain in map(json_module.loads, parts):
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
        return {
            "sentences": slots.all.sentences,
            **(self.left_out if left_out is None else left_out),
            **_plain(slots.all),
            "perplexity_with_trees": None if with_trees is None else with_trees.perplexity,
            "last_slots": _plain(slots.last),
            "other_slots": _plain(slots.others),
            "unigram": None if unigram is None else _plain(unigram.all),
            "unigram_last_slots": None if unigram is None else _plain(unigram.last),
            "unigram_other_slots": None if unigram is None else _plain(unigram.others),
        }

    def show(self) -> None:
        """Print the result for people."""
        from pyropunct.compare.table import Column, Table

        slots, unigram, with_trees = self.evaluation
        values: dict[str, float] = {"sentences": slots.all.sentences, **self.left_out, **_plain(slots.all)}
        if with_trees is not None:
            values["perplexity with trees"] = with_trees.perplexity
        whole: list[Column[tuple[str, float]]] = [
            Column("name", " ", lambda row: row[0].replace("_", " ")),
            Column("value", "value", lambda row: row[1], shown=lambda row: _shown(row[1])),
        ]
        console.show_table(Table(self.name, whole, list(values.items())))
        titles = ("all", "last of a sentence", "others")
        others = unigram or (None, None, None)
        by_place: list[Column[tuple[str, Evaluation, Evaluation | None]]] = [
            Column("slots", "slots", lambda row: row[0]),
            Column("number", "number", lambda row: row[1].slots),
            Column("model", "model", lambda row: None, shown=lambda row: _perplexity(row[1])),
            Column("unigram", "unigram", lambda row: None, shown=lambda row: _perplexity(row[2])),
        ]
        rows = list(zip(titles, slots, others, strict=True))
        notes = [LEGEND] if unigram is not None else [LEGEND, NOT_COUNTED]
        console.show_table(Table("Perplexity per slot", by_place, rows, notes))


def _plain(evaluation: "Evaluation") -> dict[str, float]:
    names = ("slots", "log_likelihood", "perplexity")
    return {name: getattr(evaluation, name) for name in names}


def _perplexity(evaluation: "Evaluation | None") -> str:
    return NONE if evaluation is None or not evaluation.slots else _shown(evaluation.perplexity)


def _shown(value: float) -> str:
    """A count in full, another number to four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    rounded = float(f"{value:.4g}")
    decimals = 3 - math.floor(math.log10(abs(rounded))) if rounded and math.isfinite(rounded) else 0
    return f"{rounded:,.{max(0, decimals)}f}"
