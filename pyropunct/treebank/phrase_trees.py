"""Reads bracketed phrase-structure trees, as in the Penn Treebank."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import STRAIGHT

DEEPEST = 200
"""Brackets that may be open at the same time; real trees have fewer than 100."""

_ATOM = re.compile(r"[()]|[^\s()]+(?:[^\S \t\n\r\f\v]+[^\s()]+)*")
"""A bracket, label or word.  Spaces that ASCII lacks, such as hair spaces, may stand inside a word."""

_NOT_IN_CATEGORY = re.compile(r"[-=|]")


@dataclass(frozen=True, slots=True)
class PhraseTree:
    """A node of a phrase-structure tree.

    :ivar label: as written, such as ``NP-SBJ-1``; empty for brackets without one.
    :ivar word: the word of a leaf, as written; empty for a phrase.
    """

    label: str
    line: int
    word: str = ""
    daughters: "tuple[PhraseTree, ...]" = ()

    @property
    def category(self) -> str:
        """The label without function tags, indices and second readings."""
        return category_of(self.label)


@lru_cache(1 << 12)
def category_of(label: str) -> str:
    """A label up to its first ``-``, ``=`` or ``|``: ``NP`` for ``NP-SBJ-1``; ``-LRB-`` stays."""
    return _NOT_IN_CATEGORY.split(label)[0] or label


def function_tags(label: str) -> list[str]:
    """The function tags of a label, without indices: SBJ and TPC for ``NP-SBJ-TPC-2``."""
    if category_of(label) == label:
        return []
    parts = _NOT_IN_CATEGORY.split(label.partition("|")[0])[1:]
    return [part for part in parts if part and not part.isdecimal()]


def read_phrase_trees(lines: Iterable[str], name: str) -> Iterator[PhraseTree]:
    """The trees of a bracketed text; raises `TreebankError`, which names line and tree (``#17``).

    Trees and lines need not coincide; between trees, lines that begin with ``<`` (Chinese Treebank) are
    skipped.
    """
    waiting: list[_Bracket] = []
    trees = 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("<") and not waiting:
            continue
        for atom in _ATOM.findall(line):
            trees += not waiting
            if wrong := _wrong(atom, number, waiting):
                problem, place = wrong
                raise TreebankError(name, problem, place, f"#{trees}")
            if atom == "(":
                waiting.append(_Bracket(number))
            elif atom == ")":
                bracket = waiting.pop()
                word, daughters = "".join(bracket.words), tuple(bracket.daughters)
                tree = PhraseTree(bracket.label, bracket.line, word, daughters)
                if waiting:
                    waiting[-1].daughters.append(tree)
                else:
                    yield tree
            elif waiting[-1].label:
                waiting[-1].words.append(atom)
            else:
                waiting[-1].label = atom
    if waiting:
        problem = f"the text ends before {len(waiting)} brackets are closed"
        problem = problem.replace("1 brackets are", "a bracket is")
        raise TreebankError(name, problem, waiting[0].line, f"#{trees}")


@dataclass(slots=True)
class _Bracket:
    """A bracket that is not closed yet."""

    line: int
    label: str = ""
    words: list[str] = field(default_factory=list)
    daughters: list[PhraseTree] = field(default_factory=list)


def _wrong(atom: str, line: int, waiting: Sequence[_Bracket]) -> tuple[str, int] | None:
    """Why an atom cannot come next, given the open brackets, and the line to blame; None if it can."""
    if not waiting:
        what = "a closing bracket" if atom == ")" else atom
        return None if atom == "(" else (f"{what} stands outside of all brackets", line)
    bracket = waiting[-1]
    if (atom == "(" and bracket.words) or (atom == ")" and len(bracket.words) > 1):
        word = bracket.words[-1]
        problem = f"the word {word} below {bracket.label} has no tag (write it as (TAG {word}))"
        return problem, line if atom == "(" else bracket.line
    if atom == "(" and len(waiting) > 1 and not bracket.label:
        return "a bracket inside the tree has no label (is one before it not closed?)", bracket.line
    if atom == "(" and len(waiting) == DEEPEST:
        return f"more than {DEEPEST} brackets are open at a time", line
    if atom == ")" and not bracket.words and not bracket.daughters:
        return f"the bracket ({bracket.label}) holds no word", line
    if atom not in ("(", ")") and bracket.daughters:
        return f"the word {atom} has no tag (write it as (TAG {atom}))", line
    return None


# Tags and words in the terms of Universal Dependencies

EMPTY_ELEMENT = "-NONE-"
"""The tag of traces and other elements that are not on the page."""

_TABLE = """
ADJ    JJ JJR JJS
ADP    IN RP  P LC BA LB SB
ADV    RB RBR RBS WRB  AD
AUX    MD AUX AUXG  VC
CCONJ  CC
DET    DT PDT WDT
INTJ   UH  IJ ON
NOUN   NN NNS  NT M
NUM    CD  OD
PART   POS TO  AS DEC DEG DER DEV ETC MSP SP
PRON   EX PRP PRP$ WP WP$  PN
PROPN  NNP NNPS  NR
PUNCT  -LRB- -RRB- -LCB- -RCB- -LSB- -RSB- HYPH NFP  PU
SCONJ  CS
SYM    $ # SYM  EM
VERB   VB VBD VBG VBN VBP VBZ  VA VE VV
X      ADD AFX FW GW LS XX  INF NOI URL
"""
"""Tags of the English Penn Treebank and OntoNotes, then those of the Penn Chinese Treebank; no tag
has two meanings."""

UNIVERSAL = {tag: line.split()[0] for line in _TABLE.strip().split("\n") for tag in line.split()}
"""The universal tag of each Penn tag.  Universal tags stand for themselves."""

OTHER = "X"

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_ESCAPED = re.compile(r"\\([/*])")


def universal_tag(tag: str) -> str | None:
    """The universal tag of a word category, None if unknown; a tag without any letter is that of a mark."""
    if tag in UNIVERSAL:
        return UNIVERSAL[tag]
    return None if any(map(str.isalpha, tag)) else "PUNCT"


def as_printed(word: str, tag: str) -> str:
    """A word of a tree as printed: brackets and escapes decoded, quotation marks directed by their tag."""
    if word in STRAIGHT and tag in ("``", "''"):
        return STRAIGHT[word][tag == "''"]
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)
