"""How large a model file is, and how much worse a model predicts without some of its weights.

    python benchmarks/model_file.py TRAIN.conllu DEV.conllu [--direction left] [--epochs 5] [--seed 0]

Prints for all weights and for fewer and fewer: the size of the file, its weights and contexts, the least
seconds to load the model, and its dev perplexity.  See `pyropunct.models.attach.pruning`.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from pyropunct import Punctuator, Recipe, fit, read_treebank
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import Pruned, pruned
from pyropunct.treebank.reading import Treebank


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--direction", default="left")
    parser.add_argument("--attach", default="log-linear")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    dev = read_treebank(options.dev)
    recipe = Recipe(attach=options.attach, epochs=options.epochs)
    model = fit(read_treebank(options.train), dev, recipe, direction=options.direction, seed=options.seed)
    print(f"in memory: perplexity {model.evaluate(dev).perplexity:.8f}")
    print(f"{'least':>8} {'MB':>8} {'weights':>10} {'contexts':>9} {'load s':>7} {'perplexity':>12}")
    _show("all", model, everything, dev, options.repeats)
    for power in range(12, 5, -1):
        _show(f"2^-{power}", model, partial(pruned, least=2.0**-power), dev, options.repeats)


def everything(attach: LogLinearAttach) -> Pruned:
    """All contexts and weights, none rounded."""
    return Pruned(attach.keys, attach.kinds, attach.starts, attach.weights)


def _show(
    name: str,
    model: Punctuator,
    left: Callable[[LogLinearAttach], Pruned],
    dev: Treebank,
    repeats: int,
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.safetensors"
        with mock.patch("pyropunct.fitted.stories.pruned", left):
            model.save(path)
        size = path.stat().st_size / 1e6
        seconds = []
        for _ in range(repeats):
            began = time.perf_counter()
            loaded = Punctuator.load(path)
            seconds.append(time.perf_counter() - began)
    attach = loaded.story.attach
    assert isinstance(attach, LogLinearAttach)
    print(
        f"{name:>8} {size:8.2f} {int(attach.weights.count_nonzero()):10,} {len(attach.keys):9,} "
        f"{min(seconds):7.2f} {loaded.evaluate(dev).perplexity:12.8f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
