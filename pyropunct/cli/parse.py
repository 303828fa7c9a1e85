"""The command ``pyropunct parse``."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.texts import text_command
from pyropunct.errors import UserError
from pyropunct.limits import Count, Range
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.cli.restore_output import Output
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.restoring import Restored, Source


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
    one must be fitted with --parser.

    :param draws: trees of the parser that are drawn for each sentence, and weighed by their marks.
    :param strength: how much marks count: 1 as Bayes' rule says, 0 not at all.
    :param score: compare with the trees of FILE, and print only the scores.
    """
    from pyropunct.cli.sources import text_work

    punctuator = use.load(model)
    if punctuator.parser is None:
        raise UserError(f"{model}: has no parser: fit one with `pyropunct fit TRAIN --parser`")
    shape = "json" if json else format

    def output(out: TextIO, name: str) -> "Output":
        from pyropunct.cli.parse_output import JsonTrees, TreePrinter, TreeScores
        from pyropunct.cli.restore_output import ConlluOutput

        if score:
            return TreeScores(name, shape == "json")
        kinds: dict[str, Callable[..., Output]] = {"conllu": ConlluOutput, "json": JsonTrees}
        return kinds[shape](out, TreePrinter(punctuator))

    return text_work(punctuator, lambda: partial(_parsed, punctuator, draws, strength), output)


def _parsed(
    model: "Punctuator", draws: int, strength: float, sources: "Sequence[Source]"
) -> "Iterator[Restored]":
    """Sentences with their trees; a line without words has none."""
    from pyropunct.restore.restoring import Restored, words_of
    from pyropunct.tasks.explain.punctuated_trees import least_risk_tree, trees_given_marks

    given = [(words_of(source), source.surface) for source in sources if words_of(source)]
    weighted = trees_given_marks(model, given, draws, strength)
    for source in sources:
        tree, risk = least_risk_tree(next(weighted)) if words_of(source) else (None, 0.0)
        yield Restored(source, source.surface, risk, tree)
