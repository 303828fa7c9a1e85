"""Draw distances.svg: words between two marks, on the page and in what models write for the same trees.

    python docs/figures/distances.py MODEL NAME=FILE... [--out distances.svg]

Stanisz et al. (2023, arXiv 2212.11182) found that these distances have a discrete Weibull distribution::

    p(K > k) = q ** (k ** beta)

so that log(-log p(K > k)) over log k is a straight line of slope beta.  Prints both parameters as a table.
"""

import argparse
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from pyropunct import load, read_treebank
from pyropunct.figures.plots import svg
from pyropunct.text.marks import Surface

MOST = 30
"""The longest distance that is drawn."""


def distances(surfaces: Iterable[Surface]) -> np.ndarray:
    """The numbers of words between slots with marks, also across the ends of sentences."""
    places, words = [], 0
    for surface in surfaces:
        places += [words + slot for slot, marks in enumerate(surface) if marks and slot]
        words += len(surface) - 1
    return np.array([second - first for first, second in pairwise(places)])


def weibull(found: np.ndarray) -> tuple[float, float]:
    """The most probable q and beta."""
    k = torch.as_tensor(found, dtype=torch.float64)
    at = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([at], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        rate, beta = at.exp()
        upper, lower = rate * k**beta, rate * (k - 1).clamp(min=1e-9) ** beta
        value = (lower - torch.log(-torch.expm1(lower - upper))).mean()
        value.backward()
        return value

    optimiser.step(loss)
    rate, beta = at.detach().exp()
    return float(torch.exp(-rate)), float(beta)


def main() -> None:
    """Print the table, and draw the figure."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("model")
    made.add_argument("files", metavar="NAME=FILE", nargs="+")
    made.add_argument("--out", type=Path, default=Path(__file__).parent / "distances.svg")
    options = made.parse_args()
    model = load(options.model)
    print("| treebank | distances | page: q | beta | samples: q | beta |\n|---|---|---|---|---|---|")
    panels = []
    for named in options.files:
        name, _, file = named.partition("=")
        sentences = list(read_treebank(file))
        torch.manual_seed(0)
        drawn = [surfaces[0] for surfaces in model.sample(sentences)]
        both = [distances(some) for some in ([one.surface for one in sentences], drawn)]
        fits = [weibull(one) for one in both]
        panels.append((name, both, fits))
        numbers = " | ".join(f"{q:.3f} | {beta:.2f}" for q, beta in fits)
        print(f"| {name} | {len(both[0]):,} | {numbers} |", flush=True)

    def draw(figure: Figure) -> None:
        for axes, (name, both, fits) in zip(
            np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True
        ):
            k = np.arange(1, MOST + 1)
            for label, mark, found, (q, beta) in zip(("page", "samples"), "o+", both, fits, strict=True):
                survival = (found[:, None] > k).mean(0)
                axes.plot(k, survival, mark, label=label)
                axes.plot(k, q ** (k**beta), "-", linewidth=0.8, color="black")
            axes.set(yscale="log", title=name, xlabel="words, k", ylabel="share of distances over k")
            axes.legend()

    options.out.write_bytes(svg(draw, 3.4 * len(panels), 2.8))


if __name__ == "__main__":
    main()
