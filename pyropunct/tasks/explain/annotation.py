"""What is odd about the punctuation of a treebank beside heads, for its maintainer to decide.

Nothing here is changed by any command.  Some of it is wrong by the guidelines of Universal Dependencies, some
only rare, and of some a treebank should have one kind: whether quoted speech depends on the verb of saying,
or the verb on the speech.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyropunct.tasks.explain.guidelines import heads_outside
from pyropunct.text.marks import CLOSERS, PAIRED, paired
from pyropunct.treebank.conllu_block import FORM, UPOS, Block
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base

_EMOTICON = re.compile(
    r"""[:;=]['’]?[-oO^]?[)(\][DPpOoSs/\\|*3}{]+ | [)(\][]+[-oO^]?[:;=] | [xX]D+ | <3+ | \^[_.-]*\^
    | [☹☺❤\U0001f300-\U0001faff]+""",
    re.VERBOSE,
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
    def context(self) -> tuple[str, str, str]:
        """The tokens before the place, the token, and the tokens behind."""
        forms = [token.columns[FORM] for token in self.block.tokens]
        at = self.token - 1
        return " ".join(forms[max(at - 4, 0) : at]), forms[at], " ".join(forms[at + 1 : at + 5])


def findings(items: Iterable[Sentence | Omission]) -> list[Finding]:
    """What is odd about sentences, and about those that no model can use, in their order."""
    found = list[Finding]()
    for item in items:
        block = item.layout.block if isinstance(item, Sentence) else item.block
        if block is None:  # malformed, and told as such
            continue
        if isinstance(item, Sentence):
            found += (Finding(what, block, token) for what, token in (*_alone(item), *_speech(item)))
        found += (Finding(what, block, token) for what, token in _about_tokens(block))
    return found


def _about_tokens(block: Block) -> Iterator[tuple[str, int]]:
    """What the columns tell, without pairs."""
    forms = [token.columns[FORM] for token in block.tokens]
    bearing = {token.head for token in block.tokens}
    for number, (token, form) in enumerate(zip(block.tokens, forms, strict=True), 1):
        tag, relation = token.columns[UPOS], token.relation
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


def _alone(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """Marks without their partners."""
    placed = list(sentence.layout.placed())
    tokens = [token for _, token, _ in placed]
    for number in sorted(set(range(len(tokens))).difference(*paired(tokens))):
        mark, token, _ = placed[number]
        if token in PAIRED:
            side = "opening" if token in CLOSERS else "closing"
            yield f"the {side} mark {sentence.layout.form(mark)} has no partner", mark


def _speech(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """The relation of quoted speech, at its opening mark."""
    tree, placed = sentence.tree, list(sentence.layout.placed())
    for opener, closer in paired([token for _, token, _ in placed]):
        (mark, token, before), (_, _, last) = placed[opener], placed[closer]
        if token in QUOTES and last - before >= SPEECH:
            tops = heads_outside(tree, before + 1, last)
            relation = base(tree.relations[tops[0] - 1]) if len(tops) == 1 else ""
            if relation == "ccomp" or (relation == "root" and _is_said(tree, tops[0], before, last)):
                yield f"quoted speech has the relation {relation}", mark


def _is_said(tree: Tree, top: int, before: int, last: int) -> bool:
    """Whether a verb of saying, outside of quoted speech, depends on its head."""
    outside = (word for word in tree.children[top] if not before < word <= last)
    return any(base(tree.relations[word - 1]) == "parataxis" for word in outside)
