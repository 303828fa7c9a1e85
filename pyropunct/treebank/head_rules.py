"""Tables of rules that choose the head of each phrase among its daughters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pyropunct.errors import InputError
from pyropunct.text.lines import opened, read_lines
from pyropunct.treebank.phrase_trees import PhraseTree

ANY = "*"
"""The label of the rule for phrases without a rule of their own."""

COORDINATION = "coordination"

BUILT_IN = ("english", "chinese")
"""The tables for the English and the Chinese Penn Treebank; ``head_rules_english.txt`` is the first."""

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
        wanted = [self.categories] if self.side.endswith("most") else [(name,) for name in self.categories]
        found = (place for categories in wanted for place in places if daughters[place] in categories)
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
    if name not in BUILT_IN and not Path(name).exists():
        known = ", ".join(BUILT_IN)
        raise InputError(f"{name}: there is no such file, and the built-in rules are {known}")
    own = files("pyropunct.treebank") / f"head_rules_{name}.txt"
    with opened(str(own if name in BUILT_IN else name)) as (stream, shown):
        return parse_head_rules(read_lines(stream, shown), shown)


def parse_head_rules(lines: Iterable[str], name: str) -> HeadRules:
    """Parse a table (format: ``docs/guide/constituency.md``); raises `InputError`."""
    rules: dict[str, tuple[Rule, ...]] = {}
    conjunctions: frozenset[str] = frozenset()
    for number, line in enumerate(lines, start=1):
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
