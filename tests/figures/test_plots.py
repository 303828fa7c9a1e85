"""Nothing in a plot covers anything else."""

import warnings
from collections.abc import Callable
from itertools import pairwise

import pytest
from made_up_rules import TOKENS, made_up
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pyropunct.figures import relations_plot, rules_plot
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.tasks.explain.relations import PairShare, RelationPunctemes


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures of plots, as they are laid out."""
    drawn: list[Figure] = []

    def lay_out(draw: Callable[[Figure], None], width: float, height: float) -> bytes:
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        figure.draw_without_rendering()
        drawn.append(figure)
        return b""

    for module in (relations_plot, rules_plot):
        monkeypatch.setattr(module, "svg", lay_out)
    return drawn


def test_outcomes_stand_apart(figures: list[Figure]) -> None:
    pairs = learned_rules(made_up(tokens=(*TOKENS, "<<", "--", "..."))).pairs
    rules_plot.rules_svg([pair for pair in pairs if {"\tabbr.", "<<"}.intersection(pair.before)])
    labels = [[label.get_window_extent() for label in axes.get_xticklabels()] for axes in figures[0].axes]
    assert sum(map(len, labels)) > 20
    assert all(one.x1 < other.x0 for row in labels for one, other in pairwise(row))


def test_every_panel_of_rules_is_1_8_inches_wide(figures: list[Figure]) -> None:
    rules_plot.rules_svg(learned_rules(made_up()).prominent(3))
    assert figures[0].get_figwidth() == pytest.approx(6 * 1.8)


def test_the_legend_covers_no_bar(figures: list[Figure]) -> None:
    relations_plot.relations_svg([RelationPunctemes("appos", 8, (PairShare((",",), (",",), 1.0),))] * 3)
    [axes], [legend] = figures[0].axes, figures[0].legends
    assert not legend.get_window_extent().overlaps(axes.get_window_extent())


def test_marks_that_the_font_lacks_are_no_news() -> None:
    """The picture has text, for which others have fonts."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = relations_plot.relations_svg([RelationPunctemes("語", 8, (PairShare(("、",), (), 1.0),))])
    assert "語" in drawn.decode()
