"""A bar chart of the punctemes of each relation (Li, Wang & Eisner 2019, section 5.2)."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from pyropunct.figures.plots import label, svg
from pyropunct.tasks.explain.relations import RelationPunctemes

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
        parts = {
            "symmetric": axes.barh(
                places, symmetric, color="0.25", edgecolor="black", label="symmetric punctemes"
            ),
            "other": axes.barh(
                places,
                other,
                left=symmetric,
                color="white",
                edgecolor="black",
                hatch="///",
                label="other punctemes",
            ),
        }
        for name, bars in parts.items():
            for place, bar in enumerate(bars):
                bar.set_gid(f"relation-{place}-{name}")
        for place, one in enumerate(relations):
            axes.annotate(
                f"{one.entropy:.2f} bits",
                (one.nonempty, place),
                xytext=(4, 0),
                textcoords="offset points",
                verticalalignment="center",
                fontsize=8,
            )
        names = [label(f"{one.name} ({one.count:,})") for one in relations]
        axes.set_yticks(places, names, parse_math=False)
        axes.set_ylim(max(1, len(relations)) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("expected share of the constituents, and entropy of their pairs")
        axes.set_ylabel("relation (constituents)")
        axes.legend(loc="lower right", frameon=False)

    return svg(draw, WIDTH, FRAME_HEIGHT + BAR_HEIGHT * len(relations))
