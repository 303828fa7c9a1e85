"""Head rules: published tables that choose the head daughter of a phrase, and their file format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyropunct.errors import InputError
from pyropunct.treebank.phrase_trees import PhraseTree

ANY = "*"
"""The label of the rule for phrases without a rule of their own."""

COORDINATION = "coordination"

ENGLISH = """
# Collins (1999), Head-Driven Statistical Models for Natural Language Parsing, appendix A.
ADJP,JJP     left       NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP         right      RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP        right      CC RB IN
FRAG         right
INTJ         left
LST          right      LS
NAC          left       NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP,NML,NX    rightmost  NN NNP NNPS NNS NX NML POS JJR
NP,NML,NX    leftmost   NP
NP,NML,NX    rightmost  $ ADJP PRN
NP,NML,NX    rightmost  CD
NP,NML,NX    rightmost  JJ JJS RB QP
PP           right      IN TO VBG VBN RP FW
PP           leftmost   PP
PRN          left
PRT          right      RP
QP           left       $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC          right      VP NP ADVP ADJP PP
S            left       TO IN VP S SBAR ADJP UCP NP
SBAR         left       WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ        left       SQ S SINV SBARQ FRAG
SINV         left       VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ           left       VBZ VBD VBP VB MD VP SQ
UCP          right
VP           left       TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP       left       CC WRB JJ ADJP
WHADVP       right      CC WRB
WHNP         left       WDT WP WP$ WHADJP WHPP WHNP
WHPP         right      IN TO FW
*            left
coordination CC CONJP
"""
"""Rules for the English Penn Treebank; ``docs/reference/constituency.md`` lists departures from Collins."""

CHINESE = """
# Sun & Jurafsky (2004), Shallow Semantic Parsing of Chinese.
ADJP         right      ADJP JJ AD
ADVP         right      ADVP AD CS JJ NP PP P VA VV
CLP          right      CLP M NN NP
CP           right      CP IP VP
DNP          right      DEG DNP DEC QP
DP           left       M DP DT OD
DVP          right      DEV AD VP
IP           right      VP IP NP
LCP          right      LCP LC
LST          right      CD NP QP
NP           right      NP NN IP NR NT
PP           left       P PP
QP           right      QP CLP CD
UCP          left       IP NP VP
VCD          left       VV VA VE
VCP          left
VNV          left
VP           left       VE VC VV VNV VPT VRD VSB VCD VP
VPT          left       VA VV
VRD          left       VV VA
VSB          right      VV VE
*            right
# Bikel (2004), On the Parameter Space of Generative Lexicalized Statistical Parsing Models: additions.
FRAG         right      VV NR NN
INTJ         right      INTJ IJ
PRN          right      NP IP VP NT NR NN
VP           left       VA BA LB SB VCP
WHNP         right      WHNP NP NN NT NR QP
WHPP         left       WHPP PP P
"""
"""Rules for the Penn Chinese Treebank."""

BUILT_IN: Mapping[str, str] = {"english": ENGLISH, "chinese": CHINESE}

_SIDES = ("left", "right", "leftmost", "rightmost")


@dataclass(frozen=True)
class Rule:
    """One line of a table of categories of daughters.

    :ivar side: with ``left`` or ``right``, the categories are tried in order, and the head is the outermost
        daughter on that side with the first one found.  With ``leftmost`` or ``rightmost``, the head is the
        outermost daughter on that side that has any of the categories.
    """

    side: str
    categories: tuple[str, ...]

    def find(self, daughters: Sequence[str]) -> int | None:
        """The position of the chosen daughter, by the daughters' categories, or None."""
        places = range(len(daughters))[:: 1 if self.from_left else -1]
        wanted = [self.categories] if self.side.endswith("most") else [(one,) for one in self.categories]
        found = (place for some in wanted for place in places if daughters[place] in some)
        return next(found, None)

    @property
    def from_left(self) -> bool:
        """Whether it looks from left to right."""
        return self.side.startswith("left")


@dataclass(frozen=True)
class HeadRules:
    """A table of head rules.

    :ivar rules: for each category of a phrase its rules, tried in order; if none applies, the outermost
        daughter on the side of the last rule is the head.  :data:`ANY` stands for all other categories.
    :ivar conjunctions: categories of conjunctions.  If the head is a phrase with one before it, the last
        daughter before the conjunction is the head instead.
    """

    rules: Mapping[str, tuple[Rule, ...]]
    conjunctions: frozenset[str] = frozenset()

    def knows(self, category: str) -> bool:
        """Whether there are rules for this very category, not only for :data:`ANY`."""
        return category in self.rules

    def head(self, category: str, daughters: Sequence[PhraseTree]) -> int:
        """The position of the head among the candidate daughters (at least one) of a phrase."""
        categories = [daughter.category for daughter in daughters]
        rules = self.rules.get(category, self.rules[ANY])
        outermost = 0 if rules[-1].from_left else len(daughters) - 1
        found = (rule.find(categories) for rule in rules)
        head = next((place for place in found if place is not None), outermost)
        coordinated = head > 1 and not daughters[head].word and categories[head - 1] in self.conjunctions
        return head - 2 if coordinated else head


def load_head_rules(name: str) -> HeadRules:
    """The table ``english`` or ``chinese``, or of a file; raises `InputError` if it cannot be used."""
    if name in BUILT_IN:
        return parse_head_rules(BUILT_IN[name], name)
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        known = ", ".join(BUILT_IN)
        raise InputError(f"{name}: there is no such file, and the built-in rules are {known}") from None
    except OSError as error:
        raise InputError(f"{name}: the file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name}: the file is not UTF-8 (save the file as UTF-8)") from None
    return parse_head_rules(text, name)


def parse_head_rules(text: str, name: str) -> HeadRules:
    """Parse a table (format: ``docs/reference/constituency.md``); raises `InputError`."""
    rules: dict[str, tuple[Rule, ...]] = {}
    conjunctions: frozenset[str] = frozenset()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == COORDINATION:
            conjunctions |= frozenset(words[1:])
            continue
        if len(words) < 2 or words[1] not in _SIDES:
            problem = f"write LABEL, then one of {', '.join(_SIDES)}, then the labels of daughters"
            raise InputError(f"{name}:{number}: {problem}")
        rule = Rule(words[1], tuple(words[2:]))
        for category in words[0].split(","):
            rules[category] = (*rules.get(category, ()), rule)
    if ANY not in rules:
        raise InputError(f"{name}: there is no rule for other labels (add the line: {ANY} left)")
    return HeadRules(rules, conjunctions)
