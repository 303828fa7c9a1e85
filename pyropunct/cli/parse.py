"""The command ``pyropunct parse``, and how it shows trees and their scores."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from pyropunct.cli import console
from pyropunct.cli.command import text_command
from pyropunct.cli.loading import ModelUse
from pyropunct.cli.report import ScoreReport, SentenceReport
from pyropunct.cli.restore import RestorationReport
from pyropunct.errors import UserError
from pyropunct.limits import Count, Range
from pyropunct.shipped import DEFAULT
from pyropunct.text.lines import TreebankError
from pyropunct.treebank.reading import Omission
from pyropunct.treebank.sentence import Sentence

if TYPE_CHECKING:
    from pyropunct.corpus.shards import Work
    from pyropunct.punctuator import Punctuator
    from pyropunct.restore.restoring import Restored, Source
    from pyropunct.treebank.tree import Tree

# Modules that need torch are imported inside the functions, so that --help answers at once.


@text_command
def parse(
    model: str = DEFAULT,
    *,
    draws: Count = 200,
    strength: Annotated[float, Range(0, 10)] = 1.0,
    format: Literal["conllu", "json"] = "conllu",
    score: bool = False,
    use: ModelUse,
) -> "Work":
    """Find the trees of FILE from its words and punctuation, and the head of each mark.

    FILE is raw text, one sentence a line with spaces between words, or CoNLL-U, whose trees are ignored; - is
    standard input.  The default MODEL is the English en-encoder where its encoder is installed, else the
    English en; others must be fitted with --parser, and find better trees if fitted with --mark-parser too.

    :param draws: trees that the parser draws for each sentence, to be weighted by their marks.
    :param strength: weight of the probability of the marks given a tree: 1 as in Bayes' rule, 0 to ignore it.
    :param score: compare with the trees of FILE, and print only the scores.
    """
    from pyropunct.cli.sources import text_work

    punctuator = use.load(model)
    if punctuator.parser is None:
        raise UserError(f"{model}: has no parser: fit one with `pyropunct fit TRAIN --parser`")

    def report(out: TextIO, name: str) -> SentenceReport:
        return TreeScoreReport(name, format) if score else TreeReport(format, out, punctuator)

    return text_work(punctuator, lambda: partial(parsed, punctuator, draws, strength), report)


def parsed(
    model: "Punctuator", draws: int, strength: float, sources: "Sequence[Source]"
) -> "Iterator[Restored]":
    """Sentences with their trees, none for a line without words; see `trees_given_marks`."""
    from pyropunct.restore.restoring import Restored, words_of
    from pyropunct.tasks.explain.punctuated_trees import least_risk_trees

    given = [(words_of(source), source.surface) for source in sources if words_of(source)]
    found = least_risk_trees(model, given, draws, strength)
    for source in sources:
        tree, risk = next(found) if words_of(source) else (None, 0.0)
        yield Restored(source, source.surface, risk, tree)


class TreeReport(RestorationReport):
    """The trees, with the marks where the underlying tree has them.

    In JSON a sentence has ``heads``, ``relations``, ``tags``, and ``expected_wrong_heads`` for
    ``expected_edits``.
    """

    expected = "expected_wrong_heads"

    def __init__(self, form: str, out: TextIO, model: "Punctuator") -> None:
        from pyropunct.tasks.explain.derivations import Derivations

        super().__init__(form, out, model, capital=False)
        self._model, self._derivations = model.for_parsed, Derivations(model.for_parsed)

    def conllu(self, source: "Source", restored: "Restored") -> str:
        """A sentence as CoNLL-U; empty for a line without words."""
        from pyropunct.treebank.reading import read_again
        from pyropunct.treebank.sentence import with_tree

        if restored.tree is None:
            return ""
        if isinstance(source, Sentence):
            return self._reattached(with_tree(source, restored.tree)).conllu()
        written = super().conllu(source, restored)
        sentence = read_again(written, restored.tree)
        return written if sentence is None else self._reattached(sentence).conllu()

    def _reattached(self, sentence: Sentence) -> Sentence:
        """The sentence whose marks depend on the constituents that sprout them, if these are known."""
        from pyropunct.tasks.explain.reattaching import mark_attachments, reattached

        if self._model.log_prob_of_marks([sentence.tree], [sentence.surface]).isneginf().any():
            return sentence
        [[punctemes]] = self._model.underlying([sentence])
        return reattached(sentence, mark_attachments(sentence, self._derivations.of(sentence, punctemes)))

    def more(self, source: "Source", restored: "Restored") -> dict[str, Any]:
        """The tree."""
        tree = restored.tree
        if tree is None:
            return {}
        return {"heads": tree.heads, "relations": tree.relations, "tags": tree.tags}


class TreeScoreReport(ScoreReport):
    """Scores of trees against those of the file."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name, form)
        self._parsed: list[Tree] = []
        self._right: list[Tree] = []

    def add(self, source: "Source", *results: "Restored") -> None:
        """Remember the tree of a sentence of a treebank."""
        (restored,) = results
        if isinstance(source, Sentence) and restored.tree is not None:
            self._parsed.append(restored.tree)
            self._right.append(source.tree)

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the scores. Raises TreebankError if there was no tree to compare with."""
        if not self._right:
            raise TreebankError(self.name, "there is no tree to compare with: --score takes CoNLL-U")
        super().finish(omitted)

    def plain(self) -> dict[str, Any]:
        """The scores of heads, relations and tags."""
        from pyropunct.nets.parser import attachment_scores

        scores = attachment_scores(self._parsed, self._right)
        return {"sentences": len(self._right), **scores._asdict(), **console.plain_omissions(self.omitted)}

    def told(self) -> Iterator[str]:
        """The scores in a line."""
        told = "UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f} ({words:,} words of {sentences:,} sentences)"
        yield told.format(**self.plain())
