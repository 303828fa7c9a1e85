"""Feature templates of the log-linear model (Li, Wang & Eisner 2019, section 2.1), in families."""

from collections.abc import Iterable
from typing import NamedTuple

from pyropunct.models.attach.scores import Part
from pyropunct.models.trees import TREEBANK


class Template(NamedTuple):
    """A kind of feature: a conjunction of attributes of the constituent and a part of its pair (l, r).

    These templates are our own: the paper lists its templates in an appendix that was not available.

    :ivar part: of the pair; `Part.PAIR`, `Part.LEFT` and `Part.RIGHT` include the constituent's relation.
    :ivar attributes: see `pyropunct.models.attach.attributes`; at most one may have several values.
    """

    part: Part
    attributes: tuple[str, ...]


def templates(parts: Iterable[Part], *contexts: str) -> list[Template]:
    """A template for each part and context: names joined by " + ", or "" for every constituent."""
    return [
        Template(part, tuple(context.split(" + ")) if context else ())
        for part in parts
        for context in contexts
    ]


def _edges(*contexts: str) -> list[Template]:
    """Contexts at both edges: "outer" is the word before or after, "inner" the first or last word."""
    left = [context.replace("outer", "before").replace("inner", "first") for context in contexts]
    right = [context.replace("outer", "after").replace("inner", "last") for context in contexts]
    return templates([Part.LEFT, Part.ANY_LEFT], *left) + templates([Part.RIGHT, Part.ANY_RIGHT], *right)


def _pairs(*contexts: str) -> list[Template]:
    return templates([Part.PAIR], *contexts)


def _symmetry(*contexts: str) -> list[Template]:
    return templates([Part.SYMMETRY], *contexts)


EVERYWHERE = Template(Part.SYMMETRY, ())
"""The template of the symmetry of pairs whose single context is true of all constituents."""

EACH_RELATION = Template(Part.SYMMETRY, ("relation",))
"""The template of the symmetry of pairs that has a context for each relation."""

OF_WORDS = (Part.LEFT, Part.RIGHT, Part.SYMMETRY)
"""The parts for contexts with a word in them, which are too many and too rare for a weight of every pair."""

# The numbers of templates are part of the keys of saved models: their order must not change.
FAMILIES: dict[str, list[Template]] = {
    "symmetry": templates(Part, "") + _symmetry("relation"),
    "head": _pairs("tag", "head tag + side", "tag + head tag + side")
    + _symmetry("relation + tag", "relation + head tag + side"),
    "paths": _pairs("head relation", "head relation + side", "child relation", "path")
    + _pairs("head relation + grandhead relation")
    + _symmetry("relation + head relation", "relation + child relation", "child relation and tag"),
    "flanks": _edges("outer tag", "inner tag", "outer tag + inner tag", "second outer tag + outer tag")
    + _pairs("before tag + after tag"),
    "inside": _pairs("mark inside", "first_mark", "last_mark", "first_mark + last_mark"),
    "rhythm": templates([Part.LEFT, Part.ANY_LEFT], "first_mark + until_mark", "until_mark + words_after")
    + templates([Part.RIGHT, Part.ANY_RIGHT], "last_mark + since_mark", "since_mark + words_after")
    + _pairs("until_mark + since_mark", "last_mark + since_mark")
    + _pairs("marks", "marks + length")
    + _symmetry("relation + last_mark + since_mark", "last_mark + since_mark + length")
    + _symmetry("relation + marks + words_before", "relation + marks + words_after"),
    "spans": _pairs("length", "edges", "edges + length", "side + edges + length")
    + _symmetry("relation + edges + length"),
    "distances": _pairs("distance + side", "words_before", "words_after", "head length")
    + _pairs("length + right sibling length", "length + left sibling length")
    + _pairs("length + distance + side")
    + _symmetry("relation + words_before", "relation + words_after", "length + distance + side"),
    "siblings": _pairs("left sibling relation", "right sibling relation", "first child relation")
    + _pairs("last child relation", "left sibling relation + right sibling relation")
    + _edges("outer relation"),
    "words": templates(OF_WORDS, "form", "head form", "first form", "last form")
    + templates(OF_WORDS, "child relation and form")
    + _edges("outer form", "inner form", "outer form + inner tag", "outer tag + inner form"),
    "shapes": _pairs("shape", "first shape + last shape") + _edges("outer shape + inner shape"),
    "treebanks": templates(Part, TREEBANK)
    + _pairs("treebank + tag", "treebank + head relation", "treebank + edges", "treebank + length")
    + _edges("treebank + outer tag", "treebank + inner tag", "treebank + outer form", "treebank + inner form")
    + _symmetry("treebank + relation", "treebank + relation + edges + length"),
}
"""The feature families: (a) to (d) of the paper are "head", "paths", "flanks" and "inside"."""
