"""Random trees and random CoNLL-U sentences for hypothesis."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from pyropunct.treebank.tree import Tree

WORDS = ["a", "Bb", "ccc", "etc.", "U.S.", "n't", "...", "ж", "語"]
MARKS = [",", ".", "(", ")", "-", "...", "¿", "?", "»", '"', "'", "''", "``", "”", "|"]
NEW_MARKS = [",", ";", "(", ")", "-", "--", "?!", "“", "”", "‘", "’", "★"]


@st.composite
def head_lists(draw: st.DrawFn, size: int | None = None) -> list[int]:
    """The heads of a random tree of words 1..n, often not projective."""
    size = draw(st.integers(1, 9)) if size is None else size
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    for rank, word in enumerate(order[1:], start=1):
        heads[word - 1] = draw(st.sampled_from(order[:rank]))
    return heads


def bare(heads: Sequence[int]) -> Tree:
    """A tree of which nothing is known but the heads."""
    n = len(heads)
    return Tree(tuple(heads), ("dep",) * n, ("X",) * n, ("w",) * n)


@dataclass(frozen=True)
class Written:
    """A random sentence: its CoNLL-U, and what should come out of it."""

    conllu: str
    text: str
    forms: list[str]
    is_mark: list[bool]


def _node_line(
    number: str, form: str, upos: str, xpos: str, head: str, relation: str, deps: str, misc: str
) -> str:
    return "\t".join([number, form, "_", upos, xpos, "_", head, relation, deps, misc])


@st.composite
def sentences(draw: st.DrawFn, tagged_quotes: bool = False) -> Written:
    """A sentence with words, whose punctuation has no dependents; tags may direct straight quotes."""
    is_mark = draw(st.lists(st.booleans(), min_size=1, max_size=12).filter(lambda kinds: not all(kinds)))
    words = [number for number, mark in enumerate(is_mark, 1) if not mark]
    heads = iter(draw(head_lists(len(words))))
    forms = [draw(st.sampled_from(MARKS if mark else WORDS)) for mark in is_mark]
    spaces = [draw(st.booleans()) for _ in forms]
    joined = draw(_ranges(is_mark))
    lines = ["# sent_id = random"]
    text = ""
    for number, (form, mark) in enumerate(zip(forms, is_mark, strict=True), 1):
        space = "_" if spaces[number - 1] else "SpaceAfter=No"
        if number in joined:
            last = joined[number]
            space = "_" if spaces[last - 1] else "Key=x|SpaceAfter=No"
            contracted = "".join(forms[number - 1 : last])
            lines.append("\t".join([f"{number}-{last}", contracted, *"_______", space]))
        inside = any(first <= number <= last for first, last in joined.items())
        misc = "_" if inside else space
        ends_inside = any(first <= number < last for first, last in joined.items())
        text += form + (" " if spaces[number - 1] and not ends_inside else "")
        if mark:
            head = draw(st.sampled_from(words))
            tag = draw(st.sampled_from(["``", "''"] if tagged_quotes else ["``", "''", "_"]))
            lines.append(
                _node_line(str(number), form, "PUNCT", tag, str(head), "punct", f"{head}:punct", misc)
            )
        else:
            order = next(heads)
            head = words[order - 1] if order else 0
            relation = f"r{number}" if head else "root"
            lines.append(
                _node_line(str(number), form, "X", "_", str(head), relation, f"{head}:{relation}", misc)
            )
        if draw(st.integers(0, 9)) == 0:
            lines.append(_node_line(f"{number}.1", "gone", "X", "_", "_", "_", f"{words[0]}:dep", "_"))
    return Written("\n".join(lines) + "\n\n", text.rstrip(" "), forms, is_mark)


@st.composite
def _ranges(draw: st.DrawFn, is_mark: list[bool]) -> dict[int, int]:
    """Multiword tokens, each of two neighbouring words, by their first word."""
    ranges: dict[int, int] = {}
    for number in range(1, len(is_mark)):
        free = number - 1 not in ranges and not is_mark[number - 1] and not is_mark[number]
        if free and draw(st.integers(0, 3)) == 0:
            ranges[number] = number + 1
    return ranges


@st.composite
def surfaces(draw: st.DrawFn, slots: int) -> list[list[str]]:
    """New marks for each slot."""
    return [draw(st.lists(st.sampled_from(NEW_MARKS), max_size=2)) for _ in range(slots)]
