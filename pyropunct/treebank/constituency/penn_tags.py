"""Tags and words of the Penn treebanks in the terms of Universal Dependencies."""

import re

from pyropunct.text.marks import STRAIGHT

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
    """The universal tag of a category of words; a tag without any letter is that of a mark.

    :return: None if the tag is unknown.
    """
    if tag in UNIVERSAL:
        return UNIVERSAL[tag]
    return None if any(map(str.isalpha, tag)) else "PUNCT"


def as_printed(word: str, tag: str) -> str:
    """A word of a tree as it is on the page.

    Codes of brackets and escapes with backslashes are undone, and a straight quotation mark becomes a
    directed one if its tag tells the direction.
    """
    if word in STRAIGHT and tag in ("``", "''"):
        return STRAIGHT[word][tag == "''"]
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)
