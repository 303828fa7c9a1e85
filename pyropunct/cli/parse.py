"""The command ``pyropunct parse``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.texts import text_command
from pyropunct.errors import UserError
from pyropunct.limits import Count, Range
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Work


@text_command
def parse(
    model: str = DEFAULT,
    *,
    draws: Count = 200,
    strength: Annotated[float, Range(0, 10)] = 1.0,
    format: Literal["conllu", "json"] = "conllu",
    score: bool = False,
    use: ModelUse,
    json: Json = False,
) -> "Work":
    """Find the trees of FILE by its words and its punctuation, and the head of each mark.

    FILE is raw text, one sentence a line with spaces between words, or CoNLL-U, whose own trees do not count;
    it may be - for standard input.  Without MODEL, it is the English one that comes with the package; another
    one must be fitted with --parser, and finds better trees if it was fitted with --mark-parser too.

    :param draws: trees of the parser that are drawn for each sentence, and weighed by their marks.
    :param strength: how much it counts how probable the story makes the marks, given a tree: 1 as Bayes' rule
        says, 0 not at all.
    :param score: compare with the trees of FILE, and print only the scores.
    """
    from pyropunct.cli.parse_output import JsonTrees, TreePrinter, TreeScores, parsed
    from pyropunct.cli.restore_output import ConlluOutput, Output
    from pyropunct.cli.sources import text_work

    punctuator = use.load(model)
    if punctuator.parser is None:
        raise UserError(f"{model}: has no parser: fit one with `pyropunct fit TRAIN --parser`")
    shape = "json" if json else format

    def output(out: TextIO, name: str) -> Output:
        if score:
            return TreeScores(name, shape == "json")
        return {"conllu": ConlluOutput, "json": JsonTrees}[shape](out, TreePrinter(punctuator))

    return text_work(punctuator, lambda: partial(parsed, punctuator, draws, strength), output)
