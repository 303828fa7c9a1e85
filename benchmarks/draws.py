"""Times draws of surface punctuation for the trees of a treebank; prints a Markdown table.

    python benchmarks/draws.py MODEL TREEBANK.conllu [--samples 1000] [--sentences 1000] [--threads 1,2]
                               [--seed 0] [--repeats 3] [--told 2]

Each row has a number of threads and the best time of several runs of `Punctuator.draws`.  In the last row,
Pyro runs the story forward: it makes a few draws for each of 100 sentences.  Processor time is the sum over
all threads.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from pyropunct import Sentence, read_treebank
from pyropunct.fitted.fitted_story import BATCH_SIZE
from pyropunct.punctuator import Punctuator

HEADER = ("draws by", "threads", "sentences", "words", "draws each", "seconds", "processor", "draws a second")


def best_times(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    wall, processor = [], []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    return min(wall), min(processor)


def exhaust(model: Punctuator, sentences: list[Sentence], samples: int, seed: int) -> None:
    """Draw, and keep nothing."""
    for _ in model.draws([sentence.tree for sentence in sentences], samples, seed):
        pass


def tell(model: Punctuator, sentences: list[Sentence], samples: int) -> None:
    for start in range(0, len(sentences), BATCH_SIZE):
        some = sentences[start : start + BATCH_SIZE]
        trees = model.vocabulary.encode_trees([sentence.tree for sentence in some])
        for _ in range(samples):
            model.story(trees)


def row(
    system: str, threads: int, sentences: list[Sentence], samples: int, times: tuple[float, float]
) -> str:
    """A line of the table."""
    words = sum(len(sentence.tree) for sentence in sentences)
    counts = f"{len(sentences):,} | {words:,} | {samples:,}"
    speed = f"{len(sentences) * samples / times[0]:,.0f}"
    return f"| {system} | {threads} | {counts} | {times[0]:.2f} | {times[1]:.2f} | {speed} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--samples", type=int, default=1000, help="draws for each tree")
    parser.add_argument("--sentences", type=int, default=1000, help="how many sentences are taken")
    parser.add_argument("--threads", default=str(torch.get_num_threads()), help="numbers, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--told", type=int, default=2, help="draws of the story run forward; 0 for none")
    options = parser.parse_args()
    model = Punctuator.load(options.model)
    sentences = list(read_treebank(options.treebank))[: options.sentences]
    exhaust(model, sentences[:1], 2, options.seed)  # compiles and warms up
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for threads in map(int, options.threads.split(",")):
        torch.set_num_threads(threads)
        times = best_times(lambda: exhaust(model, sentences, options.samples, options.seed), options.repeats)
        print(row("Punctuator.draws", threads, sentences, options.samples, times), flush=True)
    if options.told:
        few = sentences[:BATCH_SIZE]
        times = best_times(lambda: tell(model, few, options.told), options.repeats)
        print(row("the story", torch.get_num_threads(), few, options.told, times))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"greatest memory, with the model: {memory:,.0f} MiB", file=sys.stderr)


if __name__ == "__main__":
    main()
