"""Figure 4 of Li, Wang & Eisner (2019): edit distance against the quality of the trees, as an SVG file.

pyropunct compare restoration TRAIN.conllu DEV.conllu --shares 10,20,50,100 --out FOLDER
python benchmarks/figure_4.py FOLDER/comparison.json FIGURE.svg
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from pyropunct.figures import plots
from pyropunct.papers.li_2019.results import NONE

WITH_TREES: tuple[dict[str, Any], ...] = (
    {"marker": "s", "markerfacecolor": "white"},
    {"marker": "o"},
    {"marker": "D", "markerfacecolor": "white"},
    {"marker": "s"},
    {"marker": "o", "markerfacecolor": "white"},
    {"marker": "D"},
)
"""The styles of systems that use trees, in the order of the systems."""

WITHOUT_TREES: tuple[dict[str, Any], ...] = (
    {"marker": "x", "linestyle": ":"},
    {"marker": "^", "markerfacecolor": "white", "linestyle": "--"},
    {"marker": "v", "markerfacecolor": "white", "linestyle": "-."},
    {"marker": "P", "markerfacecolor": "white", "linestyle": (0, (8, 2))},
)
"""The styles of systems without trees."""

LABEL_HEIGHT = 0.06
"""The least distance between labels, as a share of the axis."""

MARGIN = 0.08
"""The free space at either end of an axis, as a share of the range of the data."""


class _Line(NamedTuple):
    """The line of a system; ``look``: its marker and dashes.

    :ivar scores: the labelled attachment scores of its trees in percent, ascending, means over seeds; both
        ends of the axis for a system without trees.
    :ivar distances: its average edit distance at each score, likewise.
    """

    title: str
    look: dict[str, Any]
    scores: list[float]
    distances: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("comparison", type=Path)
    parser.add_argument("figure", type=Path)
    arguments = parser.parse_args()
    arguments.figure.write_bytes(svg(json.loads(arguments.comparison.read_text(encoding="utf-8"))))


def svg(results: Mapping[str, Any]) -> bytes:
    """An SVG plot of average edit distance by parser LAS, 100 for gold trees; equal comparisons, equal files.

    Systems without trees are horizontal lines.

    :param results: the object of a comparison, see `pyropunct.papers.li_2019.results`.
    """
    first = min((run["scores"]["las"] for parser in results["parsers"] for run in parser), default=90.0)
    left = max(0.0, 100 - (100 - first) * (1 + MARGIN))
    looks = {True: cycle(WITH_TREES), False: cycle(WITHOUT_TREES)}
    lines = [_line(system, next(looks[_uses_trees(system)]), left) for system in results["systems"]]
    return plots.svg(lambda figure: _draw(figure.subplots(), lines, left), 7.5, 4.5)


def _uses_trees(system: Mapping[str, Any]) -> bool:
    return bool(system["runs"][0]["outcomes"][0]["trees"] != NONE)


def _line(system: Mapping[str, Any], look: dict[str, Any], left: float) -> _Line:
    runs = [
        [(outcome["las"] or 0.0, outcome["aed"]) for outcome in run["outcomes"]] for run in system["runs"]
    ]
    points = [tuple(map(fmean, zip(*same, strict=True))) for same in zip(*runs, strict=True)]
    if not _uses_trees(system):
        points = [(end, points[0][1]) for end in (left, 100.0)]
    return _Line(system["title"], look, *map(list, zip(*sorted(points), strict=True)))


def _draw(axes: Axes, lines: Sequence[_Line], left: float) -> None:
    for line in lines:
        axes.plot(line.scores, line.distances, color="black", clip_on=False, **line.look)
    axes.set_xlim(left, 100)
    axes.margins(y=MARGIN)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("labelled attachment score of the trees, in percent (100: gold trees)")
    axes.set_ylabel("average edit distance per slot")
    _label(axes, lines)


def _label(axes: Axes, lines: Sequence[_Line]) -> None:
    """Write the name of each line beside its right end, without overlaps."""
    low, high = axes.get_ylim()
    ends = [(line.distances[-1] - low) / (high - low) for line in lines]
    for line, end, place in zip(lines, ends, spread(ends, LABEL_HEIGHT), strict=True):
        axes.annotate(
            line.title,
            xy=(1.01, end),
            xytext=(1.06, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            verticalalignment="center",
            arrowprops={"arrowstyle": "-", "color": "0.7", "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)},
        )


def spread(places: Sequence[float], least: float) -> list[float]:
    """Move places as little as possible to keep a least distance between them.

    Close places form a group, spread around its mean; groups that are too close are merged.
    """
    groups: list[list[int]] = []
    for number in sorted(range(len(places)), key=places.__getitem__):
        groups.append([number])
        while len(groups) > 1 and _start(groups[-1], places, least) - _start(groups[-2], places, least) < (
            least * len(groups[-2])
        ):
            last = groups.pop()
            groups[-1].extend(last)
    moved = [0.0] * len(places)
    for group in groups:
        for rank, number in enumerate(group):
            moved[number] = _start(group, places, least) + least * rank
    return moved


def _start(group: Sequence[int], places: Sequence[float], least: float) -> float:
    return sum(places[number] for number in group) / len(group) - least * (len(group) - 1) / 2


if __name__ == "__main__":
    main()
