"""Fit and evaluate the model on the five treebanks of the paper, and write the table of results.

    python benchmarks/treebanks.py FOLDER [--only zh,en] [--seed 0] [--threads 2] [--counts]
                                   [--test FOLDER]

FOLDER holds Universal Dependencies files whose names begin with a language's code and contain "train"
or "dev"; of several pairs of a language the one named in `FILES` is taken.  For each language the script
fits the channel in both directions, and the identity channel (the attach-only ablation), and prints dev
perplexity per slot as a Markdown table; with ``--test``, that of the test parts in another folder.  The
better direction on dev is compared with attach only by paired permutation of sentences (p).  With
``--counts`` it only counts, as Table 2 of the paper does.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from reproduce import test_of

from pyropunct import Punctuator, Recipe, Treebank, fit, read_treebank
from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.recipes import PLAIN
from pyropunct.significance import permutation_test
from pyropunct.text.marks import SPECIAL
from pyropunct.treebank.preparing import NO_WORD
from pyropunct.vocabulary import build_vocabulary

FILES = {
    "ar": ("ar_padt-ud12-train_small", "ar_padt-ud12-dev_small"),
    "zh": ("zh_gsd-ud14-train", "zh_gsd-ud14-dev"),
    "en": ("en_ewt-ud14-train", "en_ewt-ud14-dev"),
    "hi": ("hi_hdtb-ud12-train_small", "hi_hdtb-ud12-dev_small"),
    "es": ("es_ancora-ud14-train_small", "es_ancora-ud14-dev_small"),
}
"""Training and dev file of each language."""

SYSTEMS = {
    "channel, left": ("sliding-window", "left"),
    "channel, right": ("sliding-window", "right"),
    "attach only": ("identity", "left"),
}
"""The systems compared: their channel and its direction."""


def parts_of(
    folder: Path, tests: Path | None, languages: Sequence[str]
) -> Iterator[tuple[str, Treebank, Treebank, Treebank | None]]:
    """The training and dev part of each language, and its test part in another folder, if one is given.

    Without a test part there, a language is left out.
    """
    for language in languages:
        test = None if tests is None else test_of(FILES[language][1], tests)
        if test is not None or tests is None:
            train, dev = (read_treebank(folder / f"{name}.conllu") for name in FILES[language])
            yield language, train, dev, None if test is None else read_treebank(test)


def row(language: str, parts: Sequence[Treebank], recipe: Recipe, seed: int) -> str:
    """Fit each system to a training part; the row of its test part, which may be dev."""
    train, dev, test = parts
    models, seconds = list[Punctuator](), list[str]()
    for channel, direction in SYSTEMS.values():
        began = time.monotonic()
        models.append(fit(train, dev, replace(recipe, channel=channel), direction=direction, seed=seed))
        seconds.append(f"{time.monotonic() - began:.0f}")
    of_test = [model.log_prob(list(test)) for model in models]
    found = [Evaluation.of(list(test), log_prob) for log_prob in of_test]
    *_, attach_only = of_test
    full = min(range(2), key=lambda system: models[system].evaluate(list(dev)).perplexity or 0)
    p = permutation_test(of_test[full].tolist(), attach_only.tolist())
    numbers = [f"{number:,}" for number in (len(train), found[0].sentences, found[0].slots)]
    cells = [*numbers, *(f"{one.perplexity:.4f}" for one in found), f"{p:.2g}", " / ".join(seconds)]
    return f"| {language} | {' | '.join(cells)} |"


def counts(folder: Path, languages: list[str]) -> Iterator[str]:
    """The paper's Table 2: tokens, share of marks and omitted sentences of both files, and types.

    Types are the marks seen five times in training, and the sentence start, the abbreviation dot and rare
    marks.
    """
    yield "| language | tokens | marks, % | omitted | types |\n|---|---|---|---|---|"
    for language in languages:
        files = [folder / f"{name}.conllu" for name in FILES[language]]
        rows = [line.split("\t") for file in files for line in file.read_text("utf-8").splitlines()]
        tags = [row[3] for row in rows if row[0].isdigit()]
        train, dev = (read_treebank(file, punctuation_relation=False) for file in files)
        omitted = sum(one.reason != NO_WORD for one in (*train.omitted, *dev.omitted))
        types = len(build_vocabulary([(one.tree, one.surface) for one in train]).tokens) - len(SPECIAL)
        share = tags.count("PUNCT") / len(tags)
        yield f"| {language} | {len(tags):,} | {100 * share:.1f} | {omitted} | {types} + {len(SPECIAL)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(FILES), help="languages, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--test", type=Path, help="a folder of test files; dev then only chooses epochs")
    parser.add_argument("--counts", action="store_true", help="fit nothing, count tokens and marks")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.counts:
        print(*counts(options.folder, options.only.split(",")), sep="\n")
        return
    print("| language | train | dev | slots | " + " | ".join(SYSTEMS) + " | p | seconds |")
    print("|---" * (6 + len(SYSTEMS)) + "|")
    for language, train, dev, test in parts_of(options.folder, options.test, options.only.split(",")):
        parts = (train, dev, dev if test is None else test)
        print(row(language, parts, Recipe(**PLAIN), options.seed), flush=True)


if __name__ == "__main__":
    main()
