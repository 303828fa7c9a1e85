"""Plots: punctemes of relations, outcomes of edits (Li, Wang & Eisner 2019, section 5), and languages."""

import io
import math
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pyropunct.tasks.explain.relations import RelationPunctemes
from pyropunct.tasks.explain.rule_pairs import LearnedPair
from pyropunct.tasks.explain.typology import Comparison
from pyropunct.text.marks import display

STYLE: dict[str, Any] = {"svg.hashsalt": "pyropunct", "svg.fonttype": "none", "font.size": 10}
"""Settings for identifiers that do not change from run to run, and for text that is not turned into paths."""


def label(text: str) -> str:
    """A text for a plot, without control characters that SVG forbids; give ``parse_math=False`` with it."""
    controls = {one for one in text if unicodedata.category(one) in ("Cc", "Cs") or one in "\ufffe\uffff"}
    return text.translate(dict.fromkeys(map(ord, controls), "\N{REPLACEMENT CHARACTER}"))


def svg(draw: Callable[[Figure], None], width: float, height: float) -> bytes:
    """A plot of some inches, put into a figure by ``draw``, as an SVG file; equal plots give equal files."""
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # whoever shows the text has fonts of his own
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


WIDTH, BAR_HEIGHT, FRAME_HEIGHT = 7.5, 0.25, 1.3
"""The size of the plot in inches: its width, the height of each bar, and the height of the frame."""


def relations_svg(relations: Sequence[RelationPunctemes]) -> bytes:
    """A bar for each relation, as an SVG file; equal relations give equal files.

    The dark part of a bar is the share of constituents that sprout symmetric punctemes; the hatched part is
    the share of those that sprout others.  The entropy of the puncteme pair is written beside the bar.  The
    parts of bar i, counted from 0, are the elements ``relation-i-symmetric`` and ``relation-i-other``.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = range(len(relations))
        symmetric = [one.symmetric for one in relations]
        other = [one.nonempty - one.symmetric for one in relations]
        dark: dict[str, Any] = {"color": "0.25"}
        hatched: dict[str, Any] = {"left": symmetric, "color": "white", "hatch": "///"}
        for name, shares, look in (("symmetric", symmetric, dark), ("other", other, hatched)):
            bars = axes.barh(places, shares, edgecolor="black", label=f"{name} punctemes", **look)
            for place, bar in enumerate(bars):
                bar.set_gid(f"relation-{place}-{name}")
        beside: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points"}
        for place, one in enumerate(relations):
            text = f"{one.entropy:.2f} bits"
            axes.annotate(text, (one.nonempty, place), **beside, verticalalignment="center", fontsize=8)
        names = [label(f"{one.name} ({one.count:,})") for one in relations]
        axes.set_yticks(places, names, parse_math=False)
        axes.set_ylim(max(1, len(relations)) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("expected share of the constituents, and entropy of their pairs")
        axes.set_ylabel("relation (constituents)")
        figure.legend(loc="outside upper right", ncols=2, frameon=False)

    return svg(draw, WIDTH, FRAME_HEIGHT + BAR_HEIGHT * len(relations))


COLUMNS = 6
PANEL_WIDTH, PANEL_HEIGHT, RULES_FRAME_HEIGHT = 1.8, 1.6, 0.9
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

    return svg(draw, COLUMNS * PANEL_WIDTH, rows * PANEL_HEIGHT + RULES_FRAME_HEIGHT)


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


CELL, NAMES_WIDTH = 0.34, 3.6
"""The width and height of a cell, and the width of the names of rows, in inches."""

DOT, LIGHT, MIDDLE, DARK = 17.0, "0.85", "0.6", "0.1"
"""The size in points of the dot of a share of 1, and the greys of its rings, from the outermost."""


def typology_svg(languages: Sequence[str], rows: Sequence[Comparison]) -> bytes:
    """A row for each outcome, a column for each language, a dot in each cell; equal rows give equal files.

    The area of a dot is the share: its dark core the least value of the interval, the middle ring the share,
    the light ring the greatest value.  A star marks rows in which languages differ.  The middle of the dot of
    row i in language k, both counted from 0, is the element ``row-i-language-k``.
    """
    names = [label(one.name + (" *" if one.differs else "")) for one in rows]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        shares = {
            (place, number): share
            for number, one in enumerate(rows)
            for place, share in enumerate(one.shares)
            if share is not None
        }
        across, down = np.array([*shares]).reshape(-1, 2).T
        low, middle, high = (
            np.array([(one.low, one.value, one.high) for one in shares.values()]).reshape(-1, 3).T
        )
        rings: dict[str, Any] = {"linewidths": 0, "clip_on": False}
        axes.scatter(across, down, DOT**2 * high, LIGHT, zorder=1, **rings)
        axes.scatter(across, down, DOT**2 * low, DARK, zorder=3, **rings)
        dots: dict[str, Any] = {"color": MIDDLE, "markeredgewidth": 0, "clip_on": False, "zorder": 2}
        for (place, number), size in zip(shares, DOT * np.sqrt(middle), strict=True):
            [dot] = axes.plot(place, number, "o", markersize=size, **dots)
            dot.set_gid(f"row-{number}-language-{place}")
        axes.set_xticks(range(len(languages)), list(map(label, languages)), parse_math=False)
        axes.xaxis.tick_top()
        axes.set_xlim(-0.5, len(languages) - 0.5)
        axes.set_yticks(range(len(rows)), names, fontsize=8, parse_math=False)
        axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
        axes.grid(color="0.95")
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.supxlabel("area: share; dark and light: its interval; *: languages differ", fontsize=9)

    return svg(draw, NAMES_WIDTH + CELL * len(languages), FRAME_HEIGHT + CELL * len(rows))


PANELS = 5
"""Panels beside each other."""

MARGIN, MOST_CAPTION = 0.1, 4.6
"""Room around each panel, so that labels touch no edge, and the width of the longest caption, in inches."""

PANEL_WIDTH, TITLE_HEIGHT, LINE_HEIGHT = 2.2, 0.65, 0.14
"""The size of a panel in inches: its width, and the heights of its title and of the line of a language."""

TITLE = 32
"""Characters of a title that fit on a line."""


def panels_svg(languages: Sequence[str], rows: Sequence[Comparison]) -> bytes:
    """A panel for each row, a line for each language that has it, those with the largest share first.

    A dot is the share, its line the interval; the vertical line is what all languages have in common.  A star
    marks rows in which languages differ.  The dot of row i in language k, both counted from 0, is the element
    ``row-i-language-k``.
    """
    across = min(PANELS, max(1, len(rows)))
    down = max(1, math.ceil(len(rows) / across))
    longest = max((len(one.known) for one in rows), default=1)

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained", w_pad=MARGIN)
        panels = figure.subplots(down, across, sharex=True, squeeze=False).flat
        for number, axes in enumerate(panels):
            if number < len(rows):
                _draw_row(axes, number, languages, rows[number], longest)
            else:
                axes.set_visible(False)
        figure.supxlabel(_caption(rows), fontsize=9)

    return svg(
        draw,
        max(MOST_CAPTION, across * PANEL_WIDTH),
        down * (TITLE_HEIGHT + LINE_HEIGHT * longest) + FRAME_HEIGHT / 2,
    )


def _caption(rows: Sequence[Comparison]) -> str:
    """What is drawn in some panel."""
    has_all = any(row.first and row.shares[0] is not None for row in rows)
    parts = (
        ("share and interval", True),
        ("vertical line: all languages", has_all),
        ("*: languages differ", any(row.differs for row in rows)),
    )
    return "; ".join(part for part, is_drawn in parts if is_drawn)


def _draw_row(axes: Axes, number: int, languages: Sequence[str], row: Comparison, longest: int) -> None:
    shares = [
        (place, share) for place, share in enumerate(row.shares) if share is not None and place >= row.first
    ]
    shares.sort(key=lambda one: -one[1].value)
    for line, (place, share) in enumerate(shares):
        axes.hlines(line, share.low, share.high, color=MIDDLE, linewidth=1.5)
        [dot] = axes.plot(share.value, line, "o", color=DARK, markersize=4, clip_on=False)
        dot.set_gid(f"row-{number}-language-{place}")
    if row.first and (of_all := row.shares[0]) is not None:
        axes.axvline(of_all.value, color=LIGHT, zorder=0)
    lines = [*wrap(row.of, TITLE), *wrap(row.outcome + (" *" if row.differs else ""), TITLE)]
    axes.set_title("\n".join(map(label, lines)), fontsize=8, parse_math=False)
    names = [label(languages[place]) for place, _ in shares]
    axes.set_yticks(range(len(shares)), names, fontsize=7, parse_math=False)
    axes.set_ylim(longest - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "½", "1"], fontsize=7)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
