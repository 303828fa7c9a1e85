"""What is odd about the punctuation of a treebank beside heads, for its maintainer to decide.

Nothing here is changed by any command.  Some of it is wrong by the guidelines of Universal Dependencies, some
only rare, and of some a treebank should have one kind: whether quoted speech depends on the verb of saying,
or the verb on the speech.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pyropunct.tasks.explain.guidelines import heads_outside
from pyropunct.text.marks import CLOSERS, PAIRED, paired
from pyropunct.treebank.columns import PLAIN
from pyropunct.treebank.conllu_block import DEPREL, FORM, UPOS, Block, read_block
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.sentence import Sentence

_EYES = r"[:;=8xX]"
_EMOTICON = re.compile(
    rf"{_EYES}['’]?[-oO^]?[)(\][DPpOoSs/\\|*3}}{{]+|[)(\][Dd]+[-oO^]?{_EYES}|<3+|\^[_.-]*\^|[\u2600-\u27bf\U0001f000-\U0001faff]+"
)
_DOTS = re.compile(r"\.{2,}|…")
BRACKETS = {"(": ")", "[": "]"}
QUOTES = frozenset("“„«「『»”")
SPEECH = 3
"""The least words of quoted speech."""


class Finding(NamedTuple):
    """A place in a sentence, a token id, and what is odd there."""

    what: str
    block: Block
    token: int

    @property
    def line(self) -> int:
        """The line of the token in the file, counted from 1."""
        return self.block.first_line + self.block.tokens[self.token - 1].row

    @property
    def context(self) -> tuple[str, str, str]:
        """The tokens before the place, the token, and the tokens behind."""
        forms = [token.columns[FORM] for token in self.block.tokens]
        at = self.token - 1
        return " ".join(forms[max(at - 4, 0) : at]), forms[at], " ".join(forms[at + 1 : at + 5])


def findings(items: Sequence[Sentence | Omission], path: str) -> list[Finding]:
    """What is odd about sentences of a file, and about those that no model can use, in their order."""
    found, orders = list[Finding](), (one.layout.block.order for one in items if isinstance(one, Sentence))
    order = next(orders, PLAIN)
    for item in items:
        if isinstance(item, Sentence):
            block = item.layout.block
            found += (Finding(what, block, token) for what, token in _about_pairs(item))
        elif item.malformed:  # and so is known already
            continue
        else:
            block = read_block(item.lines, path, item.line, 1, order)
        found += (Finding(what, block, token) for what, token in _about_tokens(block))
    return found


def by_kind(found: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings by what they are, the most frequent first."""
    kinds: dict[str, list[Finding]] = {}
    for one in found:
        kinds.setdefault(one.what, []).append(one)
    return dict(sorted(kinds.items(), key=lambda kind: -len(kind[1])))


def _about_tokens(block: Block) -> Iterator[tuple[str, int]]:
    """What the columns tell, without pairs."""
    forms = [token.columns[FORM] for token in block.tokens]
    bearing = {token.head for token in block.tokens}
    for number, (token, form) in enumerate(zip(block.tokens, forms, strict=True), 1):
        tag, relation = token.columns[UPOS], token.columns[DEPREL].partition(":")[0]
        if tag != "PUNCT":
            if relation == "punct":
                yield f"a token of tag {tag} has the relation punct", number
            continue
        if relation not in ("punct", "root"):
            yield f"a mark has the relation {relation}", number
        if number in bearing and token.head:
            yield "a mark has dependents", number
        if _EMOTICON.fullmatch(form):
            yield "an emoticon has the tag PUNCT", number
        before, after = forms[number - 2 : number - 1], forms[number : number + 1]
        if _DOTS.fullmatch(form) and after and before and BRACKETS.get(before[0]) == after[0]:
            yield "dots in brackets, which stand for words, have the tag PUNCT", number
        if forms[number - 1 : number + 2] == ["."] * 3 and before != ["."]:
            yield "an ellipsis is split into dots", number


def _about_pairs(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """Marks without their partners, and the relation of quoted speech."""
    layout, tree = sentence.layout, sentence.tree
    marks, tokens, slots = zip(*layout.placed(), strict=True) if any(layout.marks) else ((), (), ())
    pairs = paired(tokens)
    for number in sorted(set(range(len(tokens))).difference(*pairs)):
        if tokens[number] in PAIRED:
            side = "opening" if tokens[number] in CLOSERS else "closing"
            yield f"the {side} mark {layout.form(marks[number])} has no partner", marks[number]
    for opener, closer in pairs:
        before, last = slots[opener], slots[closer]
        tops = heads_outside(tree, before + 1, last)
        if tokens[opener] in QUOTES and last - before >= SPEECH and len(tops) == 1:
            relation = tree.relations[tops[0] - 1].partition(":")[0]
            says = any(
                head == tops[0] and tree.relations[word - 1].startswith("parataxis")
                for word, head in enumerate(tree.heads, 1)
                if not before < word <= last
            )
            if relation == "ccomp" or (relation == "root" and says):
                yield f"quoted speech has the relation {relation}", marks[opener]
