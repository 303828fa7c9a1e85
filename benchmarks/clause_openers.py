"""Whether the beginning of a clause absorbs a comma, counted on the page, as Markdown tables.

    python benchmarks/clause_openers.py treebanks|kinds|examples LANGUAGE-NAME=TRAIN.conllu[,DEV.conllu] ...

*Openers* are conjunctions (cc) and subordinators (mark) in front of their clause's other words.  Counted are
constituents with a comma behind them, directly behind an opener or in the middle of a clause: how many have a
comma in front of them, too.

- treebanks: a row for each treebank, with Fisher's exact test of openers against the middle.
- kinds: a row for each kind of constituent, with the odds of a comma in front behind an opener, divided by
  those in the middle, from a logistic model.
- examples: sentences behind each kind of opener, with and without a comma in front.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct import read_treebank
from pyropunct.tasks.explain.kinds import FINITE, likenesses
from pyropunct.tasks.explain.tallies import central_interval, share_of
from pyropunct.text.marks import COMMAS
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, base

ADJUNCTS = ("advcl", "obl", "advmod", "parataxis", "discourse", "vocative")
"""Relations of constituents that commas set off."""

SET_OFF = frozenset(
    {"acl", "advcl", "appos", "ccomp", "conj", "csubj", "dislocated", "parataxis", "reparandum"}
)
"""Relations of other constituents, wherever they hang, that may have a comma of their own behind them."""

SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
OPENERS = {"cc": "conjunction", "mark": "subordinator"}
MIDDLE, FINAL = "in the middle", "final"
LEVEL = 0.95
FEWEST = 5
"""Shares of fewer constituents are not shown."""

FINALS = 10
"""The fewest final constituents of a relation in a treebank from which their commas are known."""

DRAWS, SEED = 1000, 1
SCALE, OF_TREEBANKS = 3.0, 1.0
"""The standard deviations of the normal priors of effects, and of those of treebanks."""


class Place(NamedTuple):
    """A constituent.

    :ivar kind: the opener in front of it, `MIDDLE`, or `FINAL`: the last of its clause, behind the head.
    :ivar kept: whether a comma stands in front of it.
    :ivar text: the text that it is from; its sentence, in a treebank without texts.
    :ivar alone: whether no other constituent that a comma may set off ends directly before it.
    :ivar fronted: whether the subject of its clause follows it; None without a subject.
    :ivar first, last: its words, counted from 1.
    """

    treebank: str
    text: int
    sentence: Sentence
    kind: str
    relation: str
    kept: bool
    finite: bool
    alone: bool
    fronted: bool | None
    first: int
    last: int

    @property
    def words(self) -> int:
        """Its number of words."""
        return self.last - self.first + 1


def places(treebank: str, file: str, texts: Iterator[int]) -> Iterator[Place]:
    """The counted constituents of a file: those of clauses' ends, and others with a comma behind them.

    :param texts: numbers for its texts.
    """
    sentences = list(read_treebank(file))
    text = next(texts)
    has_texts = any(map(_begins_text, sentences))
    for sentence, likes in zip(sentences, likenesses(sentences, [FINITE]), strict=True):
        if not has_texts or _begins_text(sentence):
            text = next(texts)
        tree, surface = sentence.tree, sentence.surface
        for word, (first, last) in enumerate(tree.spans, start=1):
            relation, kind = base(tree.relations[word - 1]), _kind(tree, word)
            if relation in ADJUNCTS and kind and (kind == FINAL or not COMMAS.isdisjoint(surface[last])):
                kept = not COMMAS.isdisjoint(surface[first - 1])
                subject = [one for one in tree.children[tree.heads[word - 1]] if _is(tree, one, SUBJECTS)]
                yield Place(
                    treebank,
                    text,
                    sentence,
                    kind,
                    relation,
                    kept,
                    likes[word - 1] == ", finite",
                    _is_alone(tree, word),
                    word < min(subject) if subject else None,
                    first,
                    last,
                )


def _begins_text(sentence: Sentence) -> bool:
    return any(line.startswith("# newdoc") for line in sentence.layout.block.lines)


def _is(tree: Tree, word: int, relations: frozenset[str]) -> bool:
    return base(tree.relations[word - 1]) in relations


def _kind(tree: Tree, word: int) -> str | None:
    head, (first, last) = tree.heads[word - 1], tree.spans[word - 1]
    if not head:
        return None
    begin, end = tree.spans[head - 1]
    if head < first:
        return FINAL if last == end else None
    if begin == first:
        return None
    before = base(tree.relations[first - 2])
    return OPENERS[before] if before in OPENERS and tree.heads[first - 2] == head else MIDDLE


def _is_alone(tree: Tree, word: int) -> bool:
    first, head = tree.spans[word - 1][0], tree.heads[word - 1]
    ends = [one for one, (_, last) in enumerate(tree.spans, start=1) if last == first - 1]
    beside = [one for one in ends if tree.heads[one - 1] == head]
    return not any(_is(tree, one, SET_OFF) for one in ends) and not any(
        _is(tree, one, frozenset(ADJUNCTS)) for one in beside
    )


Counts = tuple[int, int]
"""How many constituents have a comma in front, and how many there are."""


def counts(found: Sequence[Place]) -> Counts:
    """The counts of some constituents."""
    return sum(one.kept for one in found), len(found)


def cell(found: Counts) -> str:
    """Counts, the share in percent, and Wilson's interval; nothing of fewer than `FEWEST`."""
    kept, total = found
    if total < FEWEST:
        return ""
    share = share_of(kept, total, LEVEL)
    return f"{kept} of {total}: {100 * share.value:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"


def fisher(one: Counts, other: Counts) -> float:
    """The two-sided p-value of Fisher's exact test of a difference between two shares."""
    kept, total, first = one[0] + other[0], one[1] + other[1], one[1]
    ways = {
        here: comb(first, here) * comb(total - first, kept - here)
        for here in range(max(0, kept - other[1]), min(first, kept) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[one[0]]) / comb(total, kept)


def holm(tests: Mapping[str, float], level: float = 1 - LEVEL) -> set[str]:
    """The tests that are significant together, by Holm's method."""
    passed = set[str]()
    for done, name in enumerate(sorted(tests, key=lambda one: tests[one])):
        if tests[name] > level / (len(tests) - done):
            break
        passed.add(name)
    return passed


def p_cell(p: float) -> str:
    """A p-value."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def of_treebanks(found: Sequence[Place]) -> Iterator[str]:
    """A row for each treebank with enough openers and middles, and one for the others."""
    columns = [f"behind a {one}" for one in OPENERS.values()]
    yield f"| treebank | {' | '.join(columns)} | {MIDDLE} | p |"
    yield "|---|--:|--:|--:|--:|"
    by_name = defaultdict[str, list[Place]](list)
    for one in found:
        by_name[one.treebank].append(one)
    enough = {name for name, own in by_name.items() if min(map(len, _halves(own))) >= FEWEST}
    rest = [one for one in found if one.treebank not in enough]
    shown = {name: own for name, own in by_name.items() if name in enough}
    tests = {name: fisher(*map(counts, _halves(own))) for name, own in shown.items()}
    passed = holm(tests)
    for name, own in (shown | {f"{len(by_name) - len(enough)} others": rest}).items():
        cells = [counts([one for one in own if one.kind == kind]) for kind in (*OPENERS.values(), MIDDLE)]
        p = p_cell(tests[name]) + "*" * (name in passed) if name in tests else ""
        yield f"| {name} | {' | '.join(map(cell, cells))} | {p} |"


def _halves(found: Sequence[Place]) -> tuple[list[Place], list[Place]]:
    """Those behind openers, and those in the middle."""
    return [one for one in found if one.kind != MIDDLE], [one for one in found if one.kind == MIDDLE]


Array = NDArray[np.float64]


def design(found: Sequence[Place]) -> tuple[Array, Array]:
    """(places, effects) what the model knows of each constituent, and (effects,) the precisions of priors.

    The effects are, in this order: an opener, the base-2 logarithm of the length, an intercept, finiteness,
    relations, treebanks.
    """
    names = sorted({one.treebank for one in found})
    columns = [[one.kind != MIDDLE for one in found], [True] * len(found)]
    columns += [[one.finite for one in found]]
    columns += [[one.relation == relation for one in found] for relation in ADJUNCTS[1:]]
    columns += [[one.treebank == name for one in found] for name in names]
    lengths = np.log2([one.words for one in found])
    scales = np.full(len(columns) + 1, SCALE)
    scales[1 + len(columns) - len(names) :] = OF_TREEBANKS
    return np.column_stack([columns[0], lengths, *columns[1:]]).astype(float), scales**-2.0


def fitted(known: Array, kept: Array, precisions: Array, times: Array) -> float:
    """The effect of an opener on the log odds: the mode of a logistic model, by Newton's method.

    :param times: (places,) how many times each constituent counts.
    """
    effects = np.zeros(known.shape[1])
    for _ in range(25):
        shares = 1 / (1 + np.exp(-(known @ effects)))
        slope = known.T @ (times * (kept - shares)) - precisions * effects
        curve = (known * (times * shares * (1 - shares))[:, None]).T @ known + np.diag(precisions)
        step = np.linalg.solve(curve, slope)
        effects += step
        if np.abs(step).max() < 1e-6:
            break
    return float(effects[0])


class Effect(NamedTuple):
    """The effect of an opener on the log odds: its estimate, and draws over texts and over languages."""

    estimate: float
    of_texts: Array
    of_languages: Array

    def minus(self, other: "Effect") -> "Effect":
        """The difference of two effects."""
        return Effect(
            self.estimate - other.estimate,
            self.of_texts - other.of_texts,
            self.of_languages - other.of_languages,
        )

    def cells(self) -> list[str]:
        """The odds ratio with two intervals, and p over texts and over languages."""
        both = (self.of_texts, self.of_languages)
        intervals = (
            "–".join(f"{end:.2f}" for end in np.exp(central_interval(draws, LEVEL))) for draws in both
        )
        ends = (min((draws <= 0).sum(), (draws >= 0).sum()) for draws in both)
        p = " / ".join(p_cell(min(1, 2 * (1 + int(end)) / (1 + DRAWS))) for end in ends)
        return [f"{np.exp(self.estimate):.2f}", *intervals, p]


class Bootstrap:
    """Effects of openers over constituents, drawn again by their texts or by their languages."""

    def __init__(self, found: Sequence[Place]) -> None:
        random = np.random.default_rng(SEED)
        self._draws = []
        for group in ([one.text for one in found], [one.treebank.partition("-")[0] for one in found]):
            names, own = np.unique(np.array(group), return_inverse=True)
            drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS)
            self._draws.append((drawn, own))
        self._number = {id(one): place for place, one in enumerate(found)}

    def effect(self, found: Sequence[Place]) -> Effect:
        """The effect among some of the constituents."""
        known, precisions = design(found)
        kept = np.array([one.kept for one in found], float)
        rows = [self._number[id(one)] for one in found]
        draws = (
            np.array([fitted(known, kept, precisions, times[own[rows]].astype(float)) for times in drawn])
            for drawn, own in self._draws
        )
        return Effect(fitted(known, kept, precisions, np.ones(len(found))), *draws)


def of_kinds(found: Sequence[Place], finals: Mapping[tuple[str, str], Counts]) -> Iterator[str]:
    """A row for each kind of constituent.

    :param finals: the counts of final constituents by treebank and relation.
    """
    yield f"| of | behind an opener | {MIDDLE} | one rule | odds ratio | over texts | over languages | p |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    alone = [one for one in found if one.alone or one.kind != MIDDLE]
    bootstrap = Bootstrap(found)
    share = {key: kept / total for key, (kept, total) in finals.items() if total >= FINALS}

    def among(low: float, high: float) -> list[Place]:
        """Those whose relation has a comma in front of so many final constituents of the treebank."""
        return [one for one in alone if low <= share.get((one.treebank, one.relation), -1) < high]

    chosen = {
        "all": alone,
        **{relation: [one for one in alone if one.relation == relation] for relation in ADJUNCTS},
        "finite": [one for one in alone if one.finite],
        "not finite": [one for one in alone if not one.finite],
        "1–3 words": [one for one in alone if one.words <= 3],
        "4–7 words": [one for one in alone if 3 < one.words <= 7],
        "over 7 words": [one for one in alone if one.words > 7],
        "conjunctions": [one for one in alone if one.kind != OPENERS["mark"]],
        "subordinators": [one for one in alone if one.kind != OPENERS["cc"]],
        "outside of English": [one for one in alone if not one.treebank.startswith("en-")],
        "middles before a subject": [one for one in alone if one.kind != MIDDLE or one.fronted],
        "final ones under 1/3": among(0, 1 / 3),
        "final ones 1/3 to 2/3": among(1 / 3, 2 / 3),
        "final ones over 2/3": among(2 / 3, 2),
        "also behind adjuncts": found,
    }
    rule = one_rule([counts(half) for relation in ADJUNCTS for half in _halves(chosen[relation])])
    effects = {}
    for name, own in chosen.items():
        behind, middle = map(counts, _halves(own))
        effects[name] = bootstrap.effect(own)
        rate = f"{100 * rule.kept * middle[0] / middle[1]:.0f} %" if name in ADJUNCTS else ""
        yield f"| {name} | {cell(behind)} | {cell(middle)} | {rate} | {' | '.join(effects[name].cells())} |"
    for one, other in (("advcl", "parataxis"), ("final ones under 1/3", "final ones over 2/3")):
        cells = effects[one].minus(effects[other]).cells()
        yield f"| {one}, against {other} |  |  |  | {' | '.join(cells)} |"
    yield f"| one rule of all relations |  |  |  |  |  |  | {p_cell(rule.p)} |"


class OneRule(NamedTuple):
    """What a rule of strings says that absorbs the comma of every relation alike.

    :ivar kept: the share of commas that it keeps.
    :ivar p: how often counts that it makes are as far from it as those found.
    """

    kept: float
    p: float


def one_rule(pairs: Sequence[Counts]) -> OneRule:
    """The best rule for (behind openers, in the middle) counts of relations, and its test by simulation."""
    random = np.random.default_rng(SEED)
    table = np.array(pairs, float).reshape(-1, 2, 2)
    totals = table[..., 1]

    def rule_of(kept: Array) -> tuple[Array, Array]:
        """The rule of (..., relations, 2) counts, and how far these are from it."""
        middle = (kept[..., 1] + 0.5) / (totals[:, 1] + 1)
        rate = kept[..., 0].sum(-1) / (totals[:, 0] * middle).sum(-1)
        expected = np.clip(rate[..., None] * middle, 0.01, 0.99)
        variance = expected * (1 - expected) / totals[:, 0]
        variance += rate[..., None] ** 2 * middle * (1 - middle) / totals[:, 1]
        return rate, ((kept[..., 0] / totals[:, 0] - expected) ** 2 / variance).sum(-1)

    rate, far = rule_of(table[..., 0])
    middle = (table[:, 1, 0] + 0.5) / (totals[:, 1] + 1)
    shares = np.stack([np.clip(rate * middle, 0, 1), middle], -1)
    made = random.binomial(totals.astype(int), shares, size=(10_000, *shares.shape)).astype(float)
    return OneRule(float(rate), float((1 + (rule_of(made)[1] >= far).sum()) / (1 + len(made))))


def examples(found: Sequence[Place]) -> Iterator[str]:
    """A sentence of each treebank, kind of opener, and with and without a comma in front."""
    yield "| treebank | sentence | words | a comma in front |"
    yield "|---|---|---|---|"
    shown = Counter[tuple[str, str, bool]]()
    for one in found:
        key = one.treebank, one.kind, one.kept
        if one.kind != MIDDLE and 3 <= one.words <= 9 and not shown[key]:
            shown[key] += 1
            words = _text(one).replace("|", "\\|")
            yield f"| {one.treebank} | {one.sentence.identifier} | {words} | {'yes' if one.kept else 'no'} |"


def _text(place: Place) -> str:
    words = list(place.sentence.tree.forms)
    for slot, marks in enumerate(place.sentence.surface[1:]):
        words[slot] += "".join(mark for mark in marks if not mark.startswith("\t"))
    words[place.first - 1] = f"⟦{words[place.first - 1]}"
    words[place.last - 1] += "⟧"
    return " ".join(words[max(0, place.first - 4) : place.last + 3])


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("table", choices=["treebanks", "kinds", "examples"])
    made.add_argument("treebanks", metavar="LANGUAGE-NAME=FILE[,FILE]", nargs="+")
    options = made.parse_args()
    found, texts = list[Place](), count()
    for treebank in options.treebanks:
        name, _, files = treebank.partition("=")
        for file in files.split(","):
            found += places(name, file, texts)
    finals = defaultdict[tuple[str, str], list[Place]](list)
    for one in found:
        if one.kind == FINAL:
            finals[one.treebank, one.relation].append(one)
    others = [one for one in found if one.kind != FINAL]
    if options.table == "kinds":
        rows = of_kinds(others, {key: counts(own) for key, own in finals.items()})
    elif options.table == "treebanks":
        rows = of_treebanks([one for one in others if one.alone or one.kind != MIDDLE])
    else:
        rows = examples(others)
    for row in rows:
        print(row, flush=True)


if __name__ == "__main__":
    main()
