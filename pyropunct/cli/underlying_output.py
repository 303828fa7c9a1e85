"""Output of the command ``pyropunct underlying``, and what it does with a part of a corpus."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TextIO

from pyropunct.cli import console
from pyropunct.cli.options import ModelUse
from pyropunct.cli.showing import check_attach
from pyropunct.cli.sources import Items
from pyropunct.compare.table import cells_table
from pyropunct.corpus.shards import Reject, Work
from pyropunct.figures.drawing import PunctuatedTree, drawn_text
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.brackets import bracketed, misc_entries
from pyropunct.tasks.explain.derivations import Derivations
from pyropunct.tasks.explain.reattaching import doubts, mark_attachments, reattached
from pyropunct.text.lines import Part
from pyropunct.text.marks import display
from pyropunct.treebank.reading import Omission
from pyropunct.treebank.sentence import Sentence

_HEADS = tuple(place + part for place in ("head", "proposed") for part in ("", "_form", "_probability"))
COLUMNS = ("file", "line", "sentence", "token", "mark", *_HEADS)
"""Of the report on heads, for programs."""


def work(model: str, *, format: str = "brackets", attach_punctuation: bool = False, use: ModelUse) -> Work:
    """What the command does with a part of a corpus."""
    check_attach(attach_punctuation, format)
    punctuator = use.load(model)
    tell = shapes(punctuator, attach_punctuation, [])[format]
    end = "" if format == "conllu" else "\n"

    def texts(sentences: Sequence[Any]) -> Iterator[str]:
        for sentence, [tree] in zip(sentences, punctuator.underlying(sentences), strict=True):
            yield tell(sentence, tree) + end

    def show(
        part: Part, out: TextIO, reject: Reject | None = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        for item, text in Items(part, punctuator, reject).results(texts, advance):
            if text is not None:
                out.write(text)
            elif isinstance(item, Omission) and format == "conllu":
                out.write(item.conllu())

    return show


def shapes(
    model: Punctuator, attach: bool, drawings: list[PunctuatedTree]
) -> dict[str, Callable[[Sentence, Any], Any]]:
    """The functions with which `pyropunct.cli.showing.tell_each` shows underlying trees.

    :param attach: whether marks depend on the constituents that sprouted them.
    :param drawings: gets the trees that are to be drawn in one SVG file or on one page.
    """
    derivations = Derivations(model)

    def plain(trees: Any) -> Any:
        return [[[[display(token) for token in side] for side in pair] for pair in tree] for tree in trees]

    def drawing(sentence: Sentence, tree: Any) -> PunctuatedTree:
        return PunctuatedTree(sentence, tree, derivations.of(sentence, tree))

    def draw(sentence: Sentence, tree: Any) -> None:
        drawings.append(drawing(sentence, tree))

    def conllu(sentence: Sentence, tree: Any) -> str:
        if attach:
            sentence = reattached(sentence, mark_attachments(sentence, derivations.of(sentence, tree)))
        return sentence.conllu(misc_entries(tree))

    return {
        "brackets": bracketed,
        "conllu": conllu,
        "text": lambda sentence, tree: drawn_text(drawing(sentence, tree)),
        "svg": draw,
        "html": draw,
        "json": lambda sentence, trees: {"forms": list(sentence.tree.forms), "trees": plain(trees)},
    }


def tell_doubts(
    model: Punctuator, sentences: Sequence[Sentence], format: str, marks: Collection[str] = ()
) -> None:
    """Print the marks whose head is less probable than another, the most certain first.

    :param marks: print these marks alone; by default all.
    :param format: "report" for a line of text each, "tsv" for columns.
    """
    rows = []
    with console.sentence_bar("heads of marks", len(sentences)) as advance:
        for doubt in doubts(model, sentences, advance):
            layout = doubt.sentence.layout
            if marks and layout.form(doubt.mark) not in marks:
                continue
            place = layout.block.path, doubt.line, doubt.sentence.identifier
            now = doubt.head, layout.form(doubt.head), doubt.probability
            better = doubt.proposed, layout.form(doubt.proposed), doubt.proposed_probability
            rows.append((*place, doubt.mark, layout.form(doubt.mark), *now, *better))
    if format == "tsv":
        print(cells_table("", dict.fromkeys(COLUMNS), rows).tsv(), end="")
        return
    for row in rows:
        console.say("{}:{}: {}: {} {} hangs on {} {} ({:.3f}), better on {} {} ({:.3f})".format(*row))
