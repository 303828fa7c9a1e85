"""Comma splices: two main clauses that only a comma joins, as in "I like pizza, it is round".

Where the reader of running text, which sees no commas, finds that a sentence may well end at a comma, the
words on either side are parsed as two sentences.  The comma is a splice if both are main clauses with subjects
of their own.  The tree of the whole line does not tell: a parser of words often takes the second clause for a
part of the first.

A semicolon replaces the comma.  It is right wherever a period is, and no letter changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from pyropunct.errors import MissingPartError
from pyropunct.punctuator import Punctuator
from pyropunct.restore.restoring import Restored, words_of
from pyropunct.restore.running import ENDING, lowered
from pyropunct.tasks.correct.learner_errors import COMMA, SEPARATORS, SUBJECTS
from pyropunct.text.marks import Surface, marks_of
from pyropunct.treebank.tree import Tree

LEAST = 0.3
"""The least probability of a sentence end at a splice, tuned on GUM dev."""

SHORTEST = 3
"""The fewest words of a clause: shorter ones are set phrases ("I came, I saw") and tags ("he said")."""

LINKS = frozenset({"cc", "mark"})
"""Relations of words that join a clause to another."""

LINKING = frozenset(
    "and but or nor so yet for as because if though although while than like not"
    " who whom whose which what when where why how".split()
)
"""English words that begin a second clause which a comma may precede."""

SPEECH = frozenset("said says say asked replied added wrote think thought guess know".split())
"""English verbs of clauses that a comma parts from what is said or thought."""

SERIES = frozenset({"and", "or"})
"""English words before the last of several clauses."""

BORDERS = SEPARATORS | ENDING
"""Marks at which a clause ends."""


class Comma(NamedTuple):
    """A lone comma, with the words before and behind it up to the nearest marks of `BORDERS`."""

    slot: int
    before: tuple[str, ...]
    behind: tuple[str, ...]


def commas(words: Sequence[str], surface: Surface) -> Iterator[Comma]:
    """The lone commas of a sentence that may be splices, by the words around them."""
    borders = [slot for slot, marks in enumerate(surface) if not BORDERS.isdisjoint(marks)]
    lone = [slot for slot, marks in enumerate(surface) if marks_of(marks) == (COMMA,)]
    for slot, following in pairwise([*lone, len(words)]):
        first = max((border for border in borders if border < slot), default=0)
        last = min((border for border in borders if border > slot), default=len(words))
        begins = [word.lower() for word in (*words[slot : slot + 1], *words[following : following + 1])]
        if begins and begins[0] not in LINKING and SERIES.isdisjoint(begins[1:]):
            yield Comma(slot, tuple(words[first:slot]), tuple(words[slot:last]))


def is_main_clause(tree: Tree) -> bool:
    """Whether the words of a tree are a statement with a subject before its verb, and no conjunction."""
    if len(tree) < SHORTEST:
        return False
    relations = {child: tree.relations[child - 1].partition(":")[0] for child in tree.children[tree.root]}
    subjects = [child for child, relation in relations.items() if relation in SUBJECTS or relation == "expl"]
    verbs = [tree.root, *(child for child, relation in relations.items() if relation in ("aux", "cop"))]
    is_verbal = len(verbs) > 1 or tree.tags[tree.root - 1] in ("VERB", "AUX")
    return is_verbal and LINKS.isdisjoint(relations.values()) and bool(subjects) and subjects[0] < min(verbs)


def is_tag(tree: Tree) -> bool:
    """Whether a clause only says who says or thinks something: "my sister said"."""
    is_speech = tree.forms[tree.root - 1].lower() in SPEECH
    return is_speech and tree.root == len(tree)


def are_spliced(before: Tree, behind: Tree) -> bool:
    """Whether two clauses with a comma between them should be two sentences."""
    return all(is_main_clause(tree) and not is_tag(tree) for tree in (before, behind))


def find_splices(
    model: Punctuator, sentences: Iterable[tuple[Sequence[str], Surface]], least: float = LEAST
) -> list[dict[int, float]]:
    """The slots of the splices of each sentence, given its words and marks, with their probabilities.

    :raises MissingPartError: if the model has no parser or no reader.
    """
    if model.parser is None or model.reader is None:
        raise MissingPartError("comma splices are found by a parser and a reader, and the model lacks one")
    sentences = list(sentences)
    readings = model.reader.read_all([lowered(words) for words, _ in sentences])
    likely = [
        [comma for comma in commas(words, surface) if reading.ends[comma.slot - 1] >= least]
        for (words, surface), reading in zip(sentences, readings, strict=True)
    ]
    halves = [half for comma in chain.from_iterable(likely) for half in (comma.before, comma.behind)]
    trees = iter([parses[0].tree for parses in model.parser.parse(halves)])
    return [
        {comma.slot: float(reading.ends[comma.slot - 1]) for comma in found if are_spliced(next(trees), next(trees))}
        for found, reading in zip(likely, readings, strict=True)
    ]


def mended(model: Punctuator, sentences: Iterable[Restored], threshold: float) -> Iterator[Restored]:
    """Corrected sentences with a semicolon for the comma of each splice that is probable enough."""
    sentences = list(sentences)
    found = find_splices(
        model, [(words_of(one.source), one.surface) for one in sentences], max(LEAST, threshold)
    )
    for one, splices in zip(sentences, found, strict=True):
        surface, shares = list(one.surface), list(one.shares)
        for slot, probability in splices.items():
            surface[slot], shares[slot] = (";",), {(";",): probability, (COMMA,): 1 - probability}
        yield one._replace(surface=surface, shares=tuple(shares))
