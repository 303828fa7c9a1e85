"""A plot of the punctemes of relations."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from pyropunct.figures.plots import FRAME_HEIGHT, label, svg
from pyropunct.tasks.explain.relations import RelationPunctemes

WIDTH, BAR_HEIGHT = 7.5, 0.25
"""The size of the plot in inches: its width, and the height of each bar."""


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
