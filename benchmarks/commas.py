"""Models of commas, and where commas stand in trees, as Markdown tables.

    python benchmarks/commas.py TABLE TRAIN.mrg DEV.mrg [--models 1,10c]

TABLE is one of

- ``claims``: conclusions of Shieber & Tao (2003) about two models, with Katz's smoothing: F and the share of
  sentences without an error of both, each with p (two-sided paired permutation).
- ``models``: F and sentences of each model, with either smoothing, and of ``--story``, which reads all marks
  but commas.
- ``constituents``: Figure 3 of the paper, the percentages of positions in TRAIN, with and without a comma, at
  which each number of constituents start, and end, and the mean numbers.
- ``kinds``: for the most frequent kinds of commas their number in DEV, and the recall of each model; the last
  row has the commas inserted wrongly.  The kind of a comma is its phrase with the daughters on
  either side, as ``NP: NP , SBAR``.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

import pyropunct
from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.comma_experiment import story_results
from pyropunct.papers.shieber_tao_2003.models import MODELS, CommaSystem
from pyropunct.papers.shieber_tao_2003.sentences import (
    COMMA,
    CORRECT,
    MARKS,
    CommaScores,
    CommaSentence,
    read_comma_sentences,
)
from pyropunct.significance import f1, permutation_test
from pyropunct.text.lines import opened, read_lines
from pyropunct.treebank.constituency import without_empty_elements
from pyropunct.treebank.phrase_trees import PhraseTree, read_phrase_trees

CLAIMS = {
    "an omission penalty raises recall": ("1", "2"),
    "one bit about constituents helps": ("1", "3"),
    "full counts help more": ("3", "8"),
    "tags help beside full counts": ("8", "10"),
    "three ends are better than two": ("3", "4"),
}
"""Conclusions of the paper, and the two models that each compares."""

KINDS = 10
"""How many kinds have a row; those behind them share one."""

OTHERS = "all others"

MOST_CONSTITUENTS = 6
"""From this number on, numbers of constituents share a row."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=["claims", "models", "constituents", "kinds"])
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--models", default="1,3,8,10,10c")
    parser.add_argument("--story", help="a model of this package, fitted to the converted TRAIN")
    arguments = parser.parse_args()
    train, dev = read_comma_sentences(arguments.train), read_comma_sentences(arguments.dev)
    names = arguments.models.split(",")
    if arguments.table == "claims":
        _print_claims(train, dev)
    elif arguments.table == "models":
        _print_models(train, dev, arguments.story, arguments.dev)
    elif arguments.table == "constituents":
        _print_constituents(train)
    else:
        _print_kinds(train, dev, names, _kinds(arguments.dev))


def _scores(
    train: Sequence[CommaSentence], dev: Sequence[CommaSentence], model: str, smoothing: str
) -> CommaScores:
    restored = CommaSystem(train, model, smoothing).restore(dev)
    return CommaScores.of(restored, [sentence.commas for sentence in dev])


def _print_claims(train: Sequence[CommaSentence], dev: Sequence[CommaSentence]) -> None:
    scores = {name: _scores(train, dev, name, "katz") for name in sorted({*sum(CLAIMS.values(), ())})}
    print("| models | conclusion | F | p | sentences | p |")
    print("|---" * 6 + "|")
    for claim, pair in CLAIMS.items():
        first, second = (scores[name] for name in pair)
        p_of_f = permutation_test(first.table[:, MARKS], second.table[:, MARKS], statistic=f1)
        p_of_sentences = permutation_test(first.table[:, CORRECT], second.table[:, CORRECT])
        f = f"{_number(first.marks.f1)}, {_number(second.marks.f1)}"
        sentences = f"{_number(first.sentence_accuracy)}, {_number(second.sentence_accuracy)}"
        print(f"| {', '.join(pair)} | {claim} | {f} | {p_of_f:.4f} | {sentences} | {p_of_sentences:.4f} |")


def _print_models(
    train: Sequence[CommaSentence], dev: Sequence[CommaSentence], story: str | None, path: str
) -> None:
    print("| model | looks at | Katz: F | sentences | Witten-Bell: F | sentences |")
    print("|---" * 6 + "|")
    for name, model in MODELS.items():
        found = [_scores(train, dev, name, smoothing) for smoothing in ("katz", "witten-bell")]
        cells = (f"{_number(one.marks.f1)} | {_number(one.sentence_accuracy)}" for one in found)
        title = model.title.replace(" | ", " given ")
        print(f"| {name} | {title} | {' | '.join(cells)} |")
    model = None if story is None else pyropunct.load(story)
    for one in () if model is None else story_results(model, path, dev, CommaSettings()):
        cells = f"{_number(one.scores.marks.f1)} | {_number(one.scores.sentence_accuracy)}"
        print(f"| story | {one.title} | | | {cells} |")


def _number(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def _print_kinds(
    train: Sequence[CommaSentence],
    dev: Sequence[CommaSentence],
    names: list[str],
    kinds: Sequence[dict[int, str]],
) -> None:
    columns = []
    for name in names:
        restored = list(CommaSystem(train, name).restore(dev))
        found: Counter[str] = Counter()
        for commas, sentence, own in zip(restored, dev, kinds, strict=True):
            found.update(kind for place, kind in own.items() if commas[place])
            found["inserted"] += int((commas & ~sentence.commas).sum())
        columns.append(found)
    _print(names, Counter(kind for own in kinds for kind in own.values()), columns)


def _print_constituents(sentences: Sequence[CommaSentence]) -> None:
    commas = np.concatenate([one.commas[1:-1] for one in sentences])
    sides = (np.concatenate([getattr(one, side)[1:-1] for one in sentences]) for side in ("starts", "ends"))
    numbers = [counts[places] for counts in sides for places in (commas, ~commas)]
    columns = [
        100 * np.bincount(one.clip(max=MOST_CONSTITUENTS), minlength=MOST_CONSTITUENTS + 1) / len(one)
        for one in numbers
    ]
    print("| constituents | start at a comma | start elsewhere | end at a comma | end elsewhere |")
    print("|---" * (len(columns) + 1) + "|")
    for number, shares in enumerate(zip(*columns, strict=True)):
        title = f"{number} or more" if number == MOST_CONSTITUENTS else number
        print(f"| {title} | {' | '.join(f'{share:.1f}' for share in shares)} |")
    print(f"| mean | {' | '.join(f'{one.mean():.1f}' for one in numbers)} |")


def _print(names: list[str], gold: Counter[str], columns: list[Counter[str]]) -> None:
    frequent = [kind for kind, _ in gold.most_common(KINDS)]
    rare = [kind for kind in gold if kind not in frequent]
    print(f"| kind | commas | {' | '.join(names)} |")
    print("|---" * (len(names) + 2) + "|")
    for title, some in [*((kind, [kind]) for kind in frequent), (OTHERS, rare), ("all", list(gold))]:
        number = sum(gold[kind] for kind in some)
        recalls = [f"{sum(found[kind] for kind in some) / max(number, 1):.2f}" for found in columns]
        print(f"| {title} | {number:,} | {' | '.join(recalls)} |")
    print(f"| inserted where there is none | | {' | '.join(str(found['inserted']) for found in columns)} |")


def _kinds(path: str) -> list[dict[int, str]]:
    """For each sentence the kind of the first comma at each position that has one."""
    with opened(path) as (stream, name):
        bare = (without_empty_elements(tree) for tree in read_phrase_trees(read_lines(stream, name), name))
        return [dict(_kinds_in(tree, 0)) for tree in bare if tree is not None and _words(tree)]


def _words(tree: PhraseTree) -> int:
    """How many leaves are no commas."""
    if tree.word:
        return int(tree.word != COMMA)
    return sum(map(_words, tree.daughters))


def _kinds_in(tree: PhraseTree, start: int) -> Iterator[tuple[int, str]]:
    """The positions of commas in a tree that starts at a position, with their kinds."""
    beside = ["", *(daughter.category for daughter in tree.daughters), ""]
    for number, daughter in enumerate(tree.daughters, start=1):
        if daughter.word == COMMA:
            yield start, f"{tree.category}: {beside[number - 1]} , {beside[number + 1]}"
        yield from _kinds_in(daughter, start)
        start += _words(daughter)


if __name__ == "__main__":
    main()
