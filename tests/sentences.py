"""Made-up sentences for the baselines."""

from dataclasses import replace

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.marks import START
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence


def sentence(words: str, *slots: str) -> Sentence:
    """A sentence of words separated by spaces, and the marks of its slots 0..n, by default none."""
    lines = [
        f"{number}\t{word}\t_\tX\t_\t_\t{number - 1}\t{'dep' if number > 1 else 'root'}\t_\t_"
        for number, word in enumerate(words.split(), 1)
    ]
    made = read_text("\n".join(lines) + "\n\n").sentences[0]
    first, *others = (tuple(slot.split()) for slot in slots or [""] * (len(lines) + 1))
    return replace(made, surface=((START, *first), *others))


def embedded(split: str, size: int) -> list[Sentence]:
    """The first sentences of the embedded treebank."""
    return list(read_treebank(embedded_treebank_path(split)))[:size]
