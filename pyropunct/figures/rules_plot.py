"""A plot of learned rules: the outcomes of edits (Li, Wang & Eisner 2019, section 5)."""

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pyropunct.figures.plots import label, svg
from pyropunct.tasks.explain.rule_pairs import LearnedPair
from pyropunct.text.marks import display

COLUMNS = 6
PANEL_WIDTH, PANEL_HEIGHT, FRAME_HEIGHT = 1.8, 1.6, 0.9
"""Panels in a row, the size of each, and the height of the legend and of the name of the axis, in inches."""

PAIR_SIZE, OUTCOME_SIZE = 14, 11
"""Sizes of the font of pairs and of outcomes, which are small marks."""

OUTCOME_WIDTH = 3
"""Characters of an outcome that fit on one line below its bar; the tokens of longer ones get lines."""

LONG_SIZE = 9
"""The size of the font of outcomes on several lines."""

OFTEN = 1.5
"""The least expected number of a pair that has a panel: rounded, it is two."""

BY_NUNBERG, OTHER = "0.25", "0.9"
"""The greys of the bar of Nunberg's outcome and of the other bars."""


def rules_svg(pairs: Sequence[LearnedPair]) -> bytes:
    """A panel with a bar for each outcome of each pair, as an SVG file; equal pairs give equal files.

    Dark bars are outcomes under Nunberg's rules, if he considers the pair; lines are credible intervals. The
    bar of outcome k of pair i, counted from 0, is the element ``pair-i-outcome-k``.  Pairs expected less than
    `OFTEN` are left out.
    """
    pairs = [pair for pair in pairs if pair.count is None or pair.count >= OFTEN]
    rows = max(1, math.ceil(len(pairs) / COLUMNS))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False).flat
        for number, axes in enumerate(panels):
            if number < len(pairs):
                _draw_pair(axes, number, pairs[number])
            else:
                axes.set_visible(False)
        figure.supylabel("probability", fontsize=10)
        counted = " (its expected number)" if any(pair.count is not None for pair in pairs) else ""
        figure.supxlabel(f"what becomes of the pair above{counted}", fontsize=10)
        if handles := _legend(pairs):
            figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), frameon=False)

    return svg(draw, COLUMNS * PANEL_WIDTH, rows * PANEL_HEIGHT + FRAME_HEIGHT)


def _legend(pairs: Sequence[LearnedPair]) -> list[Artist]:
    """The legend of a plot: the meaning of the colours and lines that occur in it."""
    handles: list[Artist] = []
    if any(pair.by_nunberg for pair in pairs):
        handles.append(Patch(facecolor=BY_NUNBERG, edgecolor="black", label="Nunberg's rule"))
        handles.append(Patch(facecolor=OTHER, edgecolor="black", label="other outcomes"))
    if any(outcome.interval for pair in pairs for outcome in pair.outcomes):
        handles.append(Line2D([], [], color="black", label="credible interval"))
    return handles


def _draw_pair(axes: Axes, number: int, pair: LearnedPair) -> None:
    outcomes = pair.outcomes
    colours = [BY_NUNBERG if outcome.after == pair.by_nunberg else OTHER for outcome in outcomes]
    heights = [outcome.probability for outcome in outcomes]
    bars = axes.bar(range(len(outcomes)), heights, color=colours, edgecolor="black", linewidth=0.8)
    for place, (bar, outcome) in enumerate(zip(bars, outcomes, strict=True)):
        bar.set_gid(f"pair-{number}-outcome-{place}")
        if outcome.interval is not None:
            axes.vlines(place, *outcome.interval, color="black" if colours[place] == OTHER else "0.6")
    count = "" if pair.count is None else f"  ({pair.count:,.0f})"
    axes.set_title(f"{_text(pair.before)}{count}", fontsize=PAIR_SIZE, parse_math=False)
    names = [_text(outcome.after) for outcome in outcomes]
    long = any(len(name) > OUTCOME_WIDTH for name in names)
    if long:
        names = [name.replace(" ", "\n") for name in names]
    size = LONG_SIZE if long else OUTCOME_SIZE
    axes.set_xticks(range(len(outcomes)), names, fontsize=size, parse_math=False)
    axes.set_ylim(0, 1)
    axes.set_xlim(-0.6, 3.6)
    axes.spines[["top", "right"]].set_visible(False)


def _text(tokens: Sequence[str]) -> str:
    return label(" ".join(display(token) for token in tokens))
