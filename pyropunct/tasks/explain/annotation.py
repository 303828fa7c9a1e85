"""What is odd about the punctuation of a treebank beside heads, for its maintainer to decide.

Nothing here is changed by any command.  Some of it is wrong by the guidelines of Universal Dependencies, some
only rare, and of some a treebank should have one kind: whether quoted speech depends on the verb of saying,
or the verb on the speech.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyropunct.tasks.explain.hanging import heads_outside
from pyropunct.text.marks import CLOSERS, PAIRED, paired
from pyropunct.text.prose import EMOTICON
from pyropunct.treebank.conllu_block import FEATS, FORM, UPOS, Block
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base

_NUMBER = re.compile(r"\d{1,3}|[ivx]+|[^\W\d_]")
_DOTS = re.compile(r"\.{2,}|…")
_OMITTED = {"(": ")", "[": "]"}
_SPOKEN = frozenset("“„«「『»”")
WHOLE_WORD_LETTERS = 5
"""The least letters of a word that seems to be no abbreviation."""
SPEECH, FAR = 3, 10
"""The least words of quoted speech; and in how many further sentences a pair of marks may close."""


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
    """What is odd about sentences, and about those that no model can use.

    A mark that opens in one sentence and closes in one of the next `FAR` has its partner.  Of quoted speech
    only the rarer relation is odd, and only if there are two.
    """
    found, lone, speech = list[Finding](), list[tuple[str, int, Finding]](), dict[str, list[Finding]]()
    for number, item in enumerate(items):
        block = item.layout.block if isinstance(item, Sentence) else item.block
        if block is None:  # malformed, and told as such
            continue
        found += (Finding(what, block, token) for what, token in _about_tokens(block))
        if isinstance(item, Sentence):
            lone += ((mark, number, Finding(what, block, token)) for mark, what, token in _alone(item))
            for what, token in _speech(item):
                speech.setdefault(what, []).append(Finding(what, block, token))
    pairs = paired([mark for mark, _, _ in lone])
    near = {place for pair in pairs for place in pair if lone[pair[1]][1] - lone[pair[0]][1] <= FAR}
    found += (finding for place, (_, _, finding) in enumerate(lone) if place not in near)
    return found + (min(speech.values(), key=len) if len(speech) > 1 else [])


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
        if is_odd_period(block, number):
            yield "a period before a small letter, behind no known abbreviation", number
        if number in bearing and token.head:
            yield "a mark has dependents", number
        if EMOTICON.has(form):
            yield "an emoticon has the tag PUNCT", number
        before, after = forms[number - 2 : number - 1], forms[number : number + 1]
        if _DOTS.fullmatch(form) and after and before and _OMITTED.get(before[0]) == after[0]:
            yield "dots in brackets, which stand for words, have the tag PUNCT", number
        if forms[number - 1 : number + 2] == ["."] * 3 and before != ["."]:
            yield "an ellipsis is split into dots", number


def is_odd_period(block: Block, token: int) -> bool:
    """Whether a period stands between a word that seems to be no abbreviation and a word in small letters.

    Abbreviations have the feature Abbr, or fewer letters than `WHOLE_WORD_LETTERS`.
    """
    if not 1 < token < len(block.tokens) or block.tokens[token - 1].columns[FORM] != ".":
        return False
    before, after = (block.tokens[other].columns for other in (token - 2, token))
    whole = (
        before[FORM].isalpha() and len(before[FORM]) >= WHOLE_WORD_LETTERS and "Abbr=Yes" not in before[FEATS]
    )
    return whole and after[FORM][:1].islower()


def _alone(sentence: Sentence) -> Iterator[tuple[str, str, int]]:
    """The marks without their partners, but for those behind the number of an item: "2)"."""
    layout, placed = sentence.layout, list(sentence.layout.placed())
    tokens = [token for _, token, _ in placed]
    for number in sorted(set(range(len(tokens))).difference(*paired(tokens))):
        mark, token, _ = placed[number]
        is_item = token == ")" and mark > 1 and _NUMBER.fullmatch(layout.form(mark - 1))
        if token in PAIRED and not is_item:
            side = "opening" if token in CLOSERS else "closing"
            yield token, f"the {side} mark {layout.form(mark)} has no partner", mark


def _speech(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """The relation of quoted speech, at its opening mark."""
    tree, placed = sentence.tree, list(sentence.layout.placed())
    for opener, closer in paired([token for _, token, _ in placed]):
        (mark, token, before), (_, _, last) = placed[opener], placed[closer]
        if token in _SPOKEN and last - before >= SPEECH:
            tops = heads_outside(tree, before + 1, last)
            relation = base(tree.relations[tops[0] - 1]) if len(tops) == 1 else ""
            if relation == "ccomp" or (relation == "root" and _is_said(tree, tops[0], before, last)):
                yield f"quoted speech has the relation {relation}", mark


def _is_said(tree: Tree, top: int, before: int, last: int) -> bool:
    """Whether a verb of saying, outside of quoted speech, depends on its head."""
    outside = (word for word in tree.children[top] if not before < word <= last)
    return any(base(tree.relations[word - 1]) == "parataxis" for word in outside)
