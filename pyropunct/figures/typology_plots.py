"""Plots that compare languages: a table of dots, and panels."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyropunct.figures.plots import FRAME_HEIGHT, label, svg
from pyropunct.tasks.explain.typology import Comparison

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
