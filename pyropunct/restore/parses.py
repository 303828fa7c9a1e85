"""The trees over which the punctuation of a sentence is averaged."""

from collections.abc import Iterator, Sequence

from pyropunct.errors import UserError
from pyropunct.fitted.model import FittedModel
from pyropunct.nets.parser import Parser, WeightedTree
from pyropunct.restore.settings import DecisionSettings
from pyropunct.restore.windows import LONGEST_PARSED, joined, windows
from pyropunct.treebank.tree import Tree, require_words


class NoParserError(UserError, ValueError):
    """Raised when raw words are given to a model without a parser."""

    def __init__(self) -> None:
        super().__init__(
            "the model has no parser, so it cannot read raw words: "
            "fit one with `pyropunct fit TRAIN --parser`, or give CoNLL-U input"
        )


def weighted_trees(
    model: FittedModel, sentences: Sequence[Sequence[str] | Tree], trees: int = DecisionSettings.trees
) -> list[list[WeightedTree]]:
    """The trees of each sentence, with weights that add up to 1; a given tree has weight 1.

    :param sentences: words, which the model's parser parses, or trees.
    :param trees: the greatest number of trees of a parsed sentence; a sentence of more than `LONGEST_PARSED`
        words has one tree, which joins the best trees of its windows.
    :raises NoParserError: if there are raw words and the model has no parser.
    :raises TypeError: if a string stands where words are needed.
    """
    require_words(sentences)
    raw = [sentence for sentence in sentences if not isinstance(sentence, Tree)]
    for words in raw:
        require_words(words)
    if raw and model.parser is None:
        raise NoParserError
    parsed = _parsed(model.parser, raw, trees) if model.parser is not None and raw else iter(())
    return [
        [WeightedTree(sentence, 1.0, given=True)] if isinstance(sentence, Tree) else next(parsed)
        for sentence in sentences
    ]


def _parsed(parser: Parser, sentences: Sequence[Sequence[str]], trees: int) -> Iterator[list[WeightedTree]]:
    """The trees of each sentence; long sentences are parsed in windows, see `pyropunct.restore.windows`."""
    short = [words for words in sentences if len(words) <= LONGEST_PARSED]
    parses = iter(parser.parse(short, trees) if short else ())
    for words in sentences:
        if len(words) <= LONGEST_PARSED:
            yield next(parses)
            continue
        parts = windows(len(words), ())
        best = parser.parse([words[window.first : window.last] for window in parts])
        yield [WeightedTree(joined(parts, [only.tree for [only] in best]), 1.0)]
