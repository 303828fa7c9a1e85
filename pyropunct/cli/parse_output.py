"""Output of the command ``pyropunct parse``, sentence by sentence."""

from collections.abc import Iterator, Sequence
from typing import Any

from pyropunct.cli import console
from pyropunct.cli.restore_output import JsonOutput, Output, Printer
from pyropunct.nets.parser import attachment_scores
from pyropunct.punctuator import Punctuator
from pyropunct.restore.restoring import Restored, Source, words_of
from pyropunct.tasks.explain.derivations import Derivations
from pyropunct.tasks.explain.punctuated_trees import least_risk_tree, trees_given_marks
from pyropunct.tasks.explain.reattaching import mark_attachments, reattached
from pyropunct.text.lines import TreebankError
from pyropunct.treebank.reading import Omission, read_again
from pyropunct.treebank.sentence import Sentence, with_tree
from pyropunct.treebank.tree import Tree


def parsed(model: Punctuator, draws: int, strength: float, sources: Sequence[Source]) -> Iterator[Restored]:
    """Sentences with their trees; a line without words has none.

    :param draws: see `pyropunct.tasks.explain.punctuated_trees.trees_given_marks`.
    :param strength: see there.
    """
    given = [(words_of(source), source.surface) for source in sources if words_of(source)]
    weighted = trees_given_marks(model, given, draws, strength)
    for source in sources:
        tree, risk = least_risk_tree(next(weighted)) if words_of(source) else (None, 0.0)
        yield Restored(source, source.surface, risk, tree)


class TreePrinter(Printer):
    """Prints the trees that were found, with the marks where the underlying tree has them.

    :param model: the model.
    """

    def __init__(self, model: Punctuator) -> None:
        super().__init__(model, capital=False)
        self._model, self._derivations = model.for_parsed, Derivations(model.for_parsed)

    def conllu(self, restored: Restored) -> str:
        """A sentence as CoNLL-U; an empty text for a line without words."""
        source, tree = restored.source, restored.tree
        if tree is None:
            return ""
        if isinstance(source, Sentence):
            return self._reattached(with_tree(source, tree)).conllu()
        written = super().conllu(restored)
        sentence = read_again(written, tree)
        return written if sentence is None else self._reattached(sentence).conllu()

    def _reattached(self, sentence: Sentence) -> Sentence:
        """The sentence whose marks depend on the constituents that sprout them, where these are known."""
        if self._model.log_prob_of_marks([sentence.tree], [sentence.surface]).isneginf().any():
            return sentence
        [[punctemes]] = self._model.underlying([sentence])
        return reattached(sentence, mark_attachments(sentence, self._derivations.of(sentence, punctemes)))


class JsonTrees(JsonOutput):
    """Prints one JSON object of all sentences, piece by piece.

    Each of its ``sentences`` has ``line`` (in raw text) or ``id`` (in CoNLL-U), ``text``, ``words``, the
    ``marks`` of the slots 0..n; ``heads``, ``relations`` and ``tags`` of the words; and
    ``expected_wrong_heads``.
    """

    expected = "expected_wrong_heads"

    def _more(self, restored: Restored) -> dict[str, Any]:
        tree = restored.tree
        if tree is None:
            return {}
        return {"heads": tree.heads, "relations": tree.relations, "tags": tree.tags}


class TreeScores(Output):
    """Compares trees with those of the file.

    :param name: the name of the file.
    :param as_json: whether to print one JSON object.
    """

    def __init__(self, name: str, as_json: bool) -> None:
        self._name, self._as_json = name, as_json
        self._parsed: list[Tree] = []
        self._right: list[Tree] = []

    def add(self, restored: Restored) -> None:
        """Remember the tree of a sentence of a treebank."""
        if isinstance(restored.source, Sentence) and restored.tree is not None:
            self._parsed.append(restored.tree)
            self._right.append(restored.source.tree)

    def finish(self, omitted: Sequence[Omission]) -> None:
        """Print the scores.

        :raises TreebankError: if there was no tree to compare with.
        """
        if not self._right:
            raise TreebankError(self._name, "there is no tree to compare with: --score takes CoNLL-U")
        scores = attachment_scores(self._parsed, self._right)
        values = {"sentences": len(self._right), **scores._asdict(), **console.plain_omissions(omitted)}
        if self._as_json:
            console.print_json(values)
        else:
            told = f"UAS {scores.uas:.2f}, LAS {scores.las:.2f}, tags {scores.upos:.2f}"
            console.say(f"{told} ({scores.words:,} words of {len(self._right):,} sentences)")
