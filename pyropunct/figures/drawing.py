"""The content of a drawing of a tree, and drawings as text.

Like Figure 1 of Li, Wang & Eisner (2019), they show the tree T with its punctemes, the underlying string u,
the edits of the noisy channel, and the surface string x.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from pyropunct.tasks.explain.derivations import SlotDerivation
from pyropunct.text.marks import display, displayed, displayed_string
from pyropunct.treebank.sentence import Puncteme, Sentence, part_of
from pyropunct.treebank.tree import Tree

ELLIPSIS, NOTHING = "…", "∅"
"""They stand for words, and for an empty string."""


@dataclass(frozen=True)
class PunctuatedTree:
    """A sentence with everything that a drawing shows: T', the punctemes of each word, and derivations."""

    sentence: Sentence
    punctemes: Sequence[tuple[Puncteme, Puncteme]]
    derivations: Sequence[SlotDerivation]

    @property
    def tree(self) -> Tree:
        """The tree T."""
        return self.sentence.tree

    @cached_property
    def right_to_left(self) -> bool:
        """Whether most letters of the words belong to a script that is written from right to left."""
        kinds = Counter(unicodedata.bidirectional(letter) for form in self.tree.forms for letter in form)
        return kinds["R"] + kinds["AL"] > kinds["L"]

    def sides(self, word: int) -> tuple[str, str]:
        """The left and right puncteme of a word's constituent, as a person reads them.

        Beside a mark around a part, an ellipsis stands for the dependents outside.
        """
        left, right = map(_shown, self.punctemes[word - 1])
        part = part_of(self.punctemes[word - 1])
        if part:
            left = f"{left} {ELLIPSIS * bool(part.left_out)}{display(part.left)}".strip()
            right = f"{display(part.right)}{ELLIPSIS * bool(part.right_out)} {right}".strip()
        return left, right

    @cached_property
    def underlying(self) -> list[str]:
        """The underlying string of each slot, without the sentence start."""
        return [_shown([sprouted.token for sprouted in slot.underlying]) for slot in self.derivations]

    @cached_property
    def surface(self) -> list[str]:
        """The surface string of each slot, without the sentence start."""
        return [_shown(slot.surface) for slot in self.derivations]

    def words_around(self, slots: Sequence[str]) -> list[str]:
        """The words as they are written, apart where a slot holds something or was edited."""
        return self.sentence.words_apart(
            {number for number, slot in enumerate(slots) if slot or self.derivations[number].changed}
        )


def _shown(tokens: Sequence[str]) -> str:
    return " ".join(displayed(tokens))


def edit_lines(derivations: Sequence[SlotDerivation]) -> list[str]:
    """A line for each edit of the channel, in the order of the slots."""
    lines = []
    for slot in derivations:
        for edit in slot.edits:
            before, after = (displayed_string(tokens) for tokens in (edit.before, edit.after))
            lines.append(f"{before} becomes {after} ({edit.name})")
        if slot.slipped:
            lines.append(f"{_ignored(slot)} becomes {_shown(slot.surface)} (slip)")
    return lines


def _ignored(slot: SlotDerivation) -> str:
    """The underlying string of a slot where the channel slipped."""
    return _shown([sprouted.token for sprouted in slot.underlying]) or NOTHING


def slip_notes(derivations: Sequence[SlotDerivation]) -> list[str]:
    """``{3: u ⇒ x}`` for each slot, here slot 3, where the channel ignored u and showed x."""
    return [
        f"{{{number}: {_ignored(slot)} ⇒ {_shown(slot.surface) or NOTHING}}}"
        for number, slot in enumerate(derivations)
        if slot.slipped
    ]


def drawn_text(punctuated: PunctuatedTree) -> str:
    """The tree with a line for each word between its punctemes, underlying and surface strings, and edits.

    In the surface string, ``{u ⇒ x}`` is a changed slot, and ``∅`` is an empty string.
    """
    derivations = punctuated.derivations
    changed = [
        f"{{{u or NOTHING} ⇒ {x or NOTHING}}}" if slot.changed else x
        for u, x, slot in zip(punctuated.underlying, punctuated.surface, derivations, strict=True)
    ]
    rows = [("underlying", punctuated.underlying), ("surface", changed)]
    lines = [f"# {punctuated.sentence.identifier}", *_outline(punctuated)]
    for name, slots in rows:
        words = zip(punctuated.words_around(slots), slots[1:], strict=True)
        lines.append(f"{name:<12}{' '.join(filter(None, [slots[0], *chain.from_iterable(words)]))}")
    lines += [f"{'edit':<12}{line}" for line in edit_lines(derivations)]
    return "\n".join(lines) + "\n"


def _outline(punctuated: PunctuatedTree) -> Iterator[str]:
    waiting = [(punctuated.tree.root, "", "")]
    while waiting:
        word, first, rest = waiting.pop()
        left, right = punctuated.sides(word)
        marked = " ".join(filter(None, (left, punctuated.tree.forms[word - 1], right)))
        yield f"{first}{marked}  [{punctuated.tree.relations[word - 1]}]"
        children = punctuated.tree.children[word]
        for child in reversed(children):
            branch, below = ("└─ ", "   ") if child == children[-1] else ("├─ ", "│  ")
            waiting.append((child, rest + branch, rest + below))
