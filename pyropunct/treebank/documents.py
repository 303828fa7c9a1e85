"""The documents of a treebank."""

from collections.abc import Iterable

from pyropunct.treebank.sentence import Sentence

NEW_DOCUMENT = "# newdoc"
"""How the comment begins that stands before the first sentence of a document (CoNLL-U)."""


def by_document(sentences: Iterable[Sentence]) -> list[list[Sentence]]:
    """The sentences of each document; all are of one if no comments say where documents start."""
    parts: list[list[Sentence]] = []
    for sentence in sentences:
        if not parts or any(line.startswith(NEW_DOCUMENT) for line in sentence.layout.block.lines):
            parts.append([])
        parts[-1].append(sentence)
    return parts
