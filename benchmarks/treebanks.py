"""Fit and evaluate the model on the five treebanks of the paper, and write the table of results.

    python benchmarks/treebanks.py FOLDER [--only zh,en] [--systems "attach only"] [--seed 0] [--threads 2]
                                   [--out table.json] [--counts] [--test FOLDER]

FOLDER holds Universal Dependencies files whose names begin with a language's code and contain "train"
or "dev"; of several pairs of a language the one named in `FILES` is taken.  For each language the script
fits the channel in both directions, and the identity channel (the attach-only ablation), and prints dev
perplexity per slot as a Markdown table; with ``--test``, that of the test parts in another folder.  The
better direction on dev is compared with attach only by paired permutation of sentences (p).  With
``--counts`` it only counts, as Table 2 of the paper does.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from reproduce import test_of

from pyropunct import Recipe, Treebank, fit, read_treebank
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


@dataclass(frozen=True)
class Result:
    """One row of the table."""

    language: str
    system: str
    train_sentences: int
    dev_sentences: int
    omitted: int
    slots: int
    log_likelihood: float
    perplexity: float
    on_dev: float
    log_probs: list[float]
    seconds: float
    epochs: list[dict[str, Any]]


def run_language(
    language: str,
    systems: list[str],
    train: Treebank,
    dev: Treebank,
    test: Treebank,
    recipe: Recipe,
    seed: int,
) -> Iterator[Result]:
    """Fit some systems on one treebank, and evaluate them on its test part, which may be dev."""
    for system in systems:
        channel, direction = SYSTEMS[system]
        began = time.monotonic()
        model = fit(train, dev, replace(recipe, channel=channel), direction=direction, seed=seed)
        seconds = time.monotonic() - began
        log_prob = model.log_prob(list(test))
        found = Evaluation.of(list(test), log_prob)
        yield Result(
            language,
            system,
            len(train),
            found.sentences,
            len(test.omitted),
            found.slots,
            found.log_likelihood,
            found.perplexity,
            model.evaluate(list(dev)).perplexity,
            log_prob.tolist(),
            seconds,
            model.report["epochs"],
        )


def markdown(results: list[Result]) -> str:
    """The table of results."""
    lines = [
        "| language | train | dev | slots | " + " | ".join(SYSTEMS) + " | p | seconds |",
        "|---|---|---|---|" + "---|" * (len(SYSTEMS) + 2),
    ]
    for language in dict.fromkeys(result.language for result in results):
        rows = {result.system: result for result in results if result.language == language}
        one = next(iter(rows.values()))
        cells = [f"{rows[system].perplexity:.4f}" if system in rows else "" for system in SYSTEMS]
        seconds = " / ".join(f"{row.seconds:.0f}" for row in rows.values())
        alone, *others = (rows.pop(system, None) for system in reversed(SYSTEMS))
        full = min(filter(None, others), key=lambda row: row.on_dev, default=None)
        both = alone is not None and full is not None
        cells.append(f"{permutation_test(full.log_probs, alone.log_probs):.2g}" if both else "")
        start = [language, f"{one.train_sentences:,}", f"{one.dev_sentences:,}", f"{one.slots:,}"]
        lines.append("| " + " | ".join([*start, *cells, seconds]) + " |")
    return "\n".join(lines)


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
    parser.add_argument("--systems", default=";".join(SYSTEMS), help="systems, separated by semicolons")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--out", type=Path, help="a JSON file for all numbers")
    parser.add_argument("--test", type=Path, help="a folder of test files; dev then only chooses epochs")
    parser.add_argument("--counts", action="store_true", help="fit nothing, count tokens and marks")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.counts:
        print(*counts(options.folder, options.only.split(",")), sep="\n")
        return
    results: list[Result] = []
    systems = options.systems.split(";")
    for language in options.only.split(","):
        train, dev = (read_treebank(options.folder / f"{name}.conllu") for name in FILES[language])
        test = dev
        if options.test is not None:
            place = test_of(FILES[language][1], options.test)
            if place is None:
                continue
            test = read_treebank(place)
        for result in run_language(language, systems, train, dev, test, Recipe(**PLAIN), options.seed):
            results.append(result)
            print(f"{language}, {result.system}: {result.perplexity:.5f}", file=sys.stderr, flush=True)
            if options.out:
                options.out.write_text(json.dumps([vars(one) for one in results], indent=1))
    print(markdown(results))


if __name__ == "__main__":
    main()
