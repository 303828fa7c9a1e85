"""How well comma splices are found, as lines of a Markdown table.

    python benchmarks/splices.py TREEBANK.conllu [--model en] [--most 200] [--show 25]

A splice is made of two neighbouring sentences of a document: each has a finite verb with a subject, and ends
with a period.  A comma takes the place of the first period, and the second sentence begins with a small
letter, unless it begins with "I" or a name.  Precision and recall are those of a mixture: the splices, and as
many untouched sentences of the treebank with a comma between two clauses.  The alarms per 1,000 sentences are
those in all untouched sentences.  ``--show`` prints some of these to be read.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch

import pyropunct
from pyropunct import Sentence, read_treebank
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.correct.learner_errors import COMMA, SUBJECTS
from pyropunct.tasks.correct.splices import find_splices
from pyropunct.text.marks import marks_of
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.conllu_block import FEATS

LONGEST = 25
"""The most words of a sentence that becomes a part of a splice: nobody splices longer ones."""


class Case(NamedTuple):
    """A line of text, and the slot of the splice that was made in it."""

    source: RawSentence
    slot: int | None = None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebank")
    parser.add_argument("--model", default="en")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--show", type=int, default=25)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = pyropunct.load(arguments.model)
    reader = RawReader(model.vocabulary, model.conventions)
    sentences = list(read_treebank(arguments.treebank))
    chance = random.Random(0)
    made = list(_made(sentences, reader))
    made = chance.sample(made, min(arguments.most, len(made)))
    between = [sentence for sentence in sentences if _has_comma_between_clauses(sentence)]
    between = chance.sample(between, min(arguments.most, len(between)))
    others = [Case(reader.read(sentence.text(), 1)) for sentence in between]
    found = _found(model, made + others)
    right = sum(case.slot in slots for case, slots in zip(made + others, found, strict=True))
    alarms = sum(map(len, found))
    untouched = [Case(reader.read(sentence.text(), 1)) for sentence in sentences]
    false = [
        (case, slot)
        for case, slots in zip(untouched, _found(model, untouched), strict=True)
        for slot in slots
    ]
    print("| splices | other sentences | precision | recall | alarms in 1,000 untouched sentences |")
    print("|---|---|---|---|---|")
    scores = (
        f"{right / max(alarms, 1):.2f} | {right / len(made):.2f} | {1000 * len(false) / len(untouched):.1f}"
    )
    print(f"| {len(made)} | {len(others)} | {scores} |")
    for case, slot in chance.sample(false, min(arguments.show, len(false))):
        words = case.source.words
        print(f"\n{' '.join(words[:slot])} [,] {' '.join(words[slot:])}")


def _found(model: Punctuator, cases: Sequence[Case]) -> list[dict[int, float]]:
    """The splices that the model finds in each line."""
    return find_splices(model, [(case.source.words, case.source.surface) for case in cases])


def _made(sentences: Sequence[Sentence], reader: RawReader) -> Iterator[Case]:
    for first, second in pairwise(sentences):
        (document, number), (same, following) = (_place(one) for one in (first, second))
        if document == same and following == number + 1 and _is_plain(first) and _is_plain(second):
            start, rest = first.text().strip().removesuffix("."), second.text().strip()
            if second.tree.tags[0] != "PROPN" and second.tree.forms[0] != "I":
                rest = rest[0].lower() + rest[1:]
            yield Case(reader.read(f"{start}, {rest}", 1), len(reader.read(start, 1).words))


def _place(sentence: Sentence) -> tuple[str, int]:
    """The document of a sentence, and its number there."""
    document, _, number = sentence.identifier.rpartition("-")
    return document, int(number)


def _is_plain(sentence: Sentence) -> bool:
    """Whether a sentence is a finite clause with a subject, and ends with nothing but a period."""
    return (
        len(sentence.tree) <= LONGEST
        and marks_of(sentence.surface[-1]) == (".",)
        and any(head == sentence.tree.root for head in _heads_of_clauses(sentence))
    )


def _has_comma_between_clauses(sentence: Sentence) -> bool:
    clauses = list(_heads_of_clauses(sentence))
    return any(
        marks_of(marks) == (COMMA,) and min(clauses) <= slot < max(clauses)
        for slot, marks in enumerate(sentence.surface)
        if clauses
    )


def _heads_of_clauses(sentence: Sentence) -> Iterator[int]:
    """The heads of the finite clauses of a sentence that have a subject."""
    tree = sentence.tree
    tokens = sentence.layout.block.tokens
    finite = [False, *("VerbForm=Fin" in tokens[token - 1].columns[FEATS] for token in sentence.layout.words)]
    for word, children in enumerate(tree.children):
        relations = {child: tree.relations[child - 1].partition(":")[0] for child in children}
        verbs = [word, *(child for child, relation in relations.items() if relation in ("aux", "cop"))]
        if word and not SUBJECTS.isdisjoint(relations.values()) and any(finite[verb] for verb in verbs):
            yield word


if __name__ == "__main__":
    main()
