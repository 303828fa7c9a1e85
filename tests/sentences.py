"""Made-up sentences for the baselines."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.explain.hanging import hung
from pyropunct.text.marks import START
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree


def sentence(words: str, *slots: str) -> Sentence:
    """A sentence of words separated by spaces, and the marks of its slots 0..n, by default none."""
    lines = [
        f"{number}\t{word}\t_\tX\t_\t_\t{number - 1}\t{'dep' if number > 1 else 'root'}\t_\t_"
        for number, word in enumerate(words.split(), 1)
    ]
    made = read_text("\n".join(lines) + "\n\n").sentences[0]
    first, *others = (tuple(slot.split()) for slot in slots or [""] * (len(lines) + 1))
    return replace(made, surface=((START, *first), *others))


def conllu_of(tokens: str) -> str:
    """The CoNLL-U of tokens "form/head/relation"; no space follows those that end in a tilde.

    Tokens with the relation "punct", or a star behind it, are marks.
    """
    rows = []
    for number, token in enumerate(tokens.split(), 1):
        form, head, relation = token.rstrip("~").rsplit("/", 2)
        tag = "PUNCT" if relation == "punct" or relation.endswith("*") else "NOUN"
        misc = "SpaceAfter=No" if token.endswith("~") else "_"
        rows.append(f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation.rstrip('*')}\t_\t{misc}")
    return "\n".join(rows) + "\n\n"


def annotated(tokens: str) -> Sentence:
    """The sentence of `conllu_of`."""
    [found] = read_text(conllu_of(tokens))
    return found


def tagged(written: str) -> Sentence:
    """A sentence of marks, and of words with their tags, heads and relations; no word occurs twice."""
    cells = [token.split("/") for token in written.split()]
    place = {form: number for number, (form, *rest) in enumerate(cells, 1) if rest} | {"": 0}
    root = next(place[form] for form, *rest in cells if rest[-1:] == ["root"])
    lines = []
    for number, (form, *rest) in enumerate(cells, 1):
        tag, head, relation = (rest[0], place[rest[1]], rest[2]) if rest else ("PUNCT", root, "punct")
        lines.append(f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
    return read_text("\n".join(lines) + "\n\n").sentences[0]


def embedded(split: str, size: int) -> list[Sentence]:
    """The first sentences of the embedded treebank."""
    return list(read_treebank(embedded_treebank_path(split)))[:size]


def hung_by_slot(
    heads: Sequence[int], wanted: Sequence[Sequence[int]], barred: Collection[int] = ()
) -> list[list[int]]:
    """The heads that `hung` finds for the marks of each slot, given the wanted ones."""
    number = count(1)
    marks = [[next(number) for _ in slot] for slot in wanted]
    numbered = dict(enumerate((head for slot in wanted for head in slot), 1))
    found = hung(heads, marks, numbered, barred)
    return [[found[mark] for mark in slot] for slot in marks]


def chain(words: Sequence[str]) -> Tree:
    """Each word depends on the one before."""
    size = len(words)
    return Tree(tuple(range(size)), ("root", *["dep"] * (size - 1)), ("X",) * size, tuple(words))
