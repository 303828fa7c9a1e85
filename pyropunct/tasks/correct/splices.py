"""Comma splices: two main clauses that only a comma joins, as in "I like pizza, it is round".

The reader of running text, which sees no commas, finds where a sentence may end.  If it may end at a comma,
the words on either side are parsed as two sentences.  The comma is a splice if both are statements with a
subject.  The tree of the whole line tells less: a parser of words often takes the second clause for a part of
the first.

The probability of a splice is the reader's probability of a sentence end.  For most splices it is low.

A semicolon replaces the comma.  It is right wherever a period is, and no letter changes.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pyropunct.errors import MissingPartError
from pyropunct.punctuator import Punctuator
from pyropunct.restore.restoring import Restored, words_of
from pyropunct.restore.running import ENDING, lowered
from pyropunct.tasks.correct.learner_errors import COMMA, SEPARATORS, SUBJECTS
from pyropunct.text.marks import Surface, marks_of
from pyropunct.treebank.tree import Tree, base

SEMICOLON = ";"

LEAST, LEAST_BEFORE_PRONOUN = 0.3, 0.05
"""The least probability of a sentence end at a splice, tuned on GUM dev; few clauses with a pronoun for their
subject are taken for a second clause wrongly."""

LATEST = 2
"""The last word of a second clause at which its subject begins."""

SHORTEST = 3
"""The fewest words of a clause: shorter ones are set phrases ("I came, I saw") and tags ("he said")."""

LINKS = frozenset({"cc", "mark"})
"""Relations of words that join a clause to another."""

SUBORDINATING = frozenset({"if", "because", "though", "although", "while", "when", "as", "since"})
SUBORDINATING |= {"after", "before", "once", "until", "unless", "whereas"}
"""English words that begin a subordinate clause."""

LINKING = SUBORDINATING | {"and", "but", "or", "nor", "so", "yet", "for", "than", "like", "not"}
LINKING |= {"who", "whom", "whose", "which", "what", "where", "why", "how"}
"""English words that begin a second clause which a comma may precede."""

SPEECH = frozenset({"said", "says", "say", "asked", "replied", "added", "wrote"})
SPEECH |= {"think", "thought", "guess", "know"}
"""English verbs that introduce what somebody says or thinks."""

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
    lone = [slot for slot in range(1, len(words)) if marks_of(surface[slot]) == (COMMA,)]
    for slot, following in pairwise([*lone, len(words)]):
        first = max((border for border in borders if border < slot), default=0)
        last = min((border for border in borders if border > slot), default=len(words))
        begins = [word.lower() for word in (words[slot], *words[following : following + 1])]
        is_linked = begins[0] in LINKING or words[first].lower() in SUBORDINATING
        if not is_linked and SERIES.isdisjoint(begins[1:]):
            yield Comma(slot, tuple(words[first:slot]), tuple(words[slot:last]))


def subject_of(tree: Tree) -> int | None:
    """The subject of a statement, which precedes the verb; None for other words, and after a conjunction."""
    relations = {child: base(tree.relations[child - 1]) for child in tree.children[tree.root]}
    verbs = [tree.root, *(child for child, relation in relations.items() if relation in ("aux", "cop"))]
    subjects = (child for child in relations if relations[child] in SUBJECTS or relations[child] == "expl")
    subject = next(subjects, len(tree))
    is_verbal = len(verbs) > 1 or tree.tags[tree.root - 1] in ("VERB", "AUX")
    is_tag = tree.root == len(tree) and tree.forms[tree.root - 1].lower() in SPEECH
    if len(tree) < SHORTEST or not is_verbal or is_tag or not LINKS.isdisjoint(relations.values()):
        return None
    return subject if subject < min(verbs) else None


def least_probability(before: Tree, behind: Tree) -> float:
    """The least probability of a sentence end between two clauses at which the comma there is a splice."""
    subject = subject_of(behind)
    if subject is None or subject_of(before) is None or behind.spans[subject - 1][0] > LATEST:
        return math.inf
    return LEAST_BEFORE_PRONOUN if behind.tags[subject - 1] == "PRON" else LEAST


def find_splices(
    model: Punctuator, sentences: Iterable[tuple[Sequence[str], Surface]], threshold: float = 0.0
) -> list[dict[int, float]]:
    """The slots of the splices of each sentence, given its words and marks, with their probabilities.

    :param threshold: the least probability of all.
    :raises MissingPartError: if the model has no parser or no reader.
    """
    if model.parser is None or model.reader is None:
        raise MissingPartError("comma splices are found by a parser and a reader, and the model lacks one")
    sentences = list(sentences)
    least = max(threshold, LEAST_BEFORE_PRONOUN)
    readings = model.reader.read_all([lowered(words) for words, _ in sentences])
    likely = [
        [(comma, end) for comma in commas(*sentence) if (end := reading.ends[comma.slot - 1].item()) >= least]
        for sentence, reading in zip(sentences, readings, strict=True)
    ]
    clauses = [half for of_sentence in likely for comma, _ in of_sentence for half in comma[1:]]
    trees = (parses[0].tree for parses in model.parser.parse(clauses))
    return [
        {comma.slot: end for comma, end in of_sentence if end >= least_probability(next(trees), next(trees))}
        for of_sentence in likely
    ]


def mended(model: Punctuator, sentences: Iterable[Restored], threshold: float) -> Iterator[Restored]:
    """Corrected sentences, with semicolons for the commas of splices that are still there.

    :param threshold: the least probability of a splice, where it is above those of this module.
    :raises MissingPartError: see `find_splices`.
    """
    sentences = list(sentences)
    written = [(words_of(one.source), one.source.surface) for one in sentences]
    for one, splices in zip(sentences, find_splices(model, written, threshold), strict=True):
        surface, shares = list(one.surface), list(one.shares)
        for slot, probability in splices.items():
            if tuple(surface[slot]) == (COMMA,):
                surface[slot] = (SEMICOLON,)
                shares[slot] = {(SEMICOLON,): probability, (COMMA,): 1 - probability}
        yield one._replace(surface=surface, shares=tuple(shares))
