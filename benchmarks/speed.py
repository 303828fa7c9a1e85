"""Time training and evaluation against other ways to do the same, and print Markdown tables.

    python benchmarks/speed.py TRAIN.conllu DEV.conllu [--threads 1] [--seed 0] [--sentences 256]
                               [--naive 8] [--enumerated 6] [--tiny 2,4] [--words 2000] [--repeats 3]
                               [--tables systems,length,inventory,memory,floor] [--quick]

Run it on a quiet machine: threads that wait for a busy core can be many times as slow.  All tables come from
one run, so that their numbers may be compared; every time is the best of some trials after one that compiles
and warms up.  The tables:

- systems: a training step (forward, backward, update) and an evaluation (log p(x | T) alone), by Algorithm 1
  of Li, Wang & Eisner (2019) as printed, by Pyro's own enumeration, by the tensor path if there is one, and
  by the compiled path.
- length: the time of a word in sentences of 5 to 2000 words.
- inventory: the time of a word with puncteme sets from an eighth to four times the real size.
- memory: the greatest memory of a fresh process that does 20 training steps.
- floor: a training step against the multiply-adds that it cannot do without.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import floor
import numba
import numpy as np
import pyro
import speed_systems as systems
import torch
from speed_sentences import Mimic, chain_heads, flat_heads, sized

from pyropunct import Recipe, Sentence, read_treebank
from pyropunct.models.attach.feature_weights import Features, features_of
from pyropunct.train.story_training import Training
from pyropunct.vocabulary import Vocabulary, build_vocabulary

BATCH = Recipe().batch_size
LENGTHS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
LONG = 1000
"""Words of the chain and of the flat tree."""
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
SETUP = 400
"""Training sentences of the trainings with other puncteme sets."""
SHORT = range(2, 5)
"""Words of sentences that can be enumerated."""
STEPS = 20
"""Training steps whose memory is measured."""
TABLES = ("systems", "length", "inventory", "memory", "floor")


@dataclass(frozen=True)
class Bench:
    """The data, the training and the options of all tables."""

    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    training: Training
    options: argparse.Namespace

    def numbers(self, count: int) -> list[int]:
        """Some training sentences, always the same."""
        return Random(self.options.seed).sample(range(len(self.train)), min(count, len(self.train)))

    def held_out(self, count: int) -> list[Sentence]:
        """Some dev sentences, always the same."""
        return Random(self.options.seed).sample(list(self.dev), min(count, len(self.dev)))

    def seconds(self, work: Callable[[], object]) -> float:
        """The best time of some calls."""
        return systems.best_seconds(work, self.options.repeats)


def training_of(vocabulary: Vocabulary, train: Sequence[Sentence], seed: int) -> Training:
    """A training with the default recipe, at its start."""
    return Training(vocabulary, train, train[:1], Recipe(), seed, "cpu")


def vocabulary_of(sentences: Sequence[Sentence]) -> Vocabulary:
    """The real V and W_d of a treebank."""
    return build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])


def words_of(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.tree) for sentence in sentences)


def mean_length(sentences: Sequence[Sentence]) -> float:
    return words_of(sentences) / len(sentences)


def table(title: str, note: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    lines = [[str(cell) for cell in row] for row in (header, ["---"] * len(header), *rows)]
    print(f"\n### {title}\n\n{note}\n")
    print("\n".join("| " + " | ".join(line) + " |" for line in lines), flush=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one core alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


# The machine


def processor() -> str:
    """The name of the processor, as well as the system knows it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def describe(bench: Bench) -> None:
    """Print what the numbers depend on."""
    vocabulary = bench.training.vocabulary
    threads = f"threads in use: {torch.get_num_threads()}"
    load = f"load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "load unknown"
    versions = {"Python": platform.python_version(), "torch": torch.__version__, "numba": numba.__version__}
    versions |= {"Pyro": pyro.__version__, "NumPy": np.__version__}
    print("### Machine and model\n")
    print(f"- {processor()}, {os.cpu_count()} cores, {platform.system()}; {threads}; {load}")
    print("- " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    attach: Any = bench.training.story.attach
    name = Path(bench.options.train).name
    print(
        f"- {name}: {len(bench.train):,} sentences, {words_of(bench.train):,} words, "
        f"|V| = {len(vocabulary.tokens)}, {len(vocabulary.relations)} relations, "
        f"{np.mean([len(some) for some in vocabulary.pairs]):.1f} pairs a relation, "
        f"{int(attach.starts[-1]):,} attach weights",
        flush=True,
    )


# Table "systems"


@dataclass(frozen=True)
class Row:
    """Sentences a second that a system trains on and evaluates.

    :ivar on: what was timed.
    :ivar difference: of log p(x | T) from the compiled path, relative; NaN for that path itself.
    :ivar lengths: words in a sentence of those trained on, and of those evaluated.
    """

    system: str
    on: str
    training: float
    evaluation: float
    difference: float
    lengths: tuple[float, float]

    def ratio(self, other: "Row", name: str) -> list[str]:
        """How many times as many words a second this system does."""
        speeds = zip((self.training, self.evaluation), (other.training, other.evaluation), strict=True)
        longer = [ours / theirs for ours, theirs in zip(self.lengths, other.lengths, strict=True)]
        return [name, *(f"{one / two * more:.1f}" for (one, two), more in zip(speeds, longer, strict=True))]

    def cells(self) -> list[str]:
        """The row of the table."""
        off = "" if np.isnan(self.difference) else f"{self.difference:.0e}"
        return [self.system, self.on, f"{self.training:.2f}", f"{self.evaluation:.2f}", off]


def time_system(
    bench: Bench,
    system: str,
    evidence: systems.Evidence,
    numbers: list[int],
    held_out: list[Sentence],
    size: int,
) -> Row:
    """Time one inside algorithm, and compare its log p(x | T) with the compiled one's."""
    training, model = bench.training, bench.training.punctuator()
    wanted = model.log_prob(held_out)
    with systems.inside_by(evidence):
        difference = systems.greatest_difference(model.log_prob(held_out), wanted)
        stepping = bench.seconds(lambda: systems.train(training, numbers, size))
        asking = bench.seconds(lambda: systems.evaluate(model, held_out, size))
    lengths = mean_length([bench.train[number] for number in numbers]), mean_length(held_out)
    counted = zip((len(numbers), len(held_out)), lengths, strict=True)
    trained, asked = (f"{number} of {length:.1f} words" for number, length in counted)
    on = f"sentences: {trained}, {asked}; {size} at a time"
    speeds = len(numbers) / stepping, len(held_out) / asking
    return Row(system, on, *speeds, difference, lengths)


def short_training(bench: Bench, size: int) -> tuple[Training, str]:
    """A training on a few short sentences with tiny puncteme sets, and words that say so."""
    count, seed = bench.options.enumerated, bench.options.seed
    short = [sentence for sentence in bench.train if len(sentence.tree) in SHORT][:count]
    mimic, real = Mimic(bench.train, seed), len(short)
    lengths = [SHORT[number % len(SHORT)] for number in range(count - real)]
    short += [mimic.sentences(length, 1)[0] for length in lengths]
    vocabulary = bench.training.vocabulary
    tiny = sized(vocabulary, [size] * len(vocabulary.pairs), seed)
    kind = (
        f"{real} real and {count - real} random ones of {SHORT[0]} to {SHORT[-1]} words, sets of {size} pairs"
    )
    return training_of(tiny, short, seed), kind


def time_enumeration(bench: Bench, size: int) -> tuple[Row, Row]:
    """Pyro's enumeration and the compiled path on the same short sentences, one at a time."""
    training, kind = short_training(bench, size)
    sentences, numbers = training.train, range(len(training.train))
    model = training.punctuator()
    known = systems.collapsed_losses(model, sentences)
    wanted = model.log_prob(sentences)
    # Both losses are log p(x | T) and the same prior of all weights.
    found = wanted + known - systems.enumerated_losses(model, sentences)
    difference = systems.greatest_difference(found, wanted)
    on, lengths = f"{kind}; 1 at a time", (mean_length(sentences),) * 2

    def row(system: str, ask: Callable[[], object], off: float) -> Row:
        stepping = bench.seconds(lambda: systems.train(training, numbers, 1))
        return Row(system, on, len(numbers) / stepping, len(numbers) / bench.seconds(ask), off, lengths)

    ours = row("(d) compiled", lambda: systems.collapsed_losses(model, sentences), float("nan"))
    systems.enumerate_in_parallel(training)
    theirs = row("(b) TraceEnum_ELBO", lambda: systems.enumerated_losses(model, sentences), difference)
    return theirs, ours


def time_systems(bench: Bench) -> None:
    few, many = bench.options.naive, bench.options.sentences
    some, all_of_them = (bench.numbers(few), bench.held_out(few)), (bench.numbers(many), bench.held_out(many))
    naive = time_system(bench, "(a) Algorithm 1 with matrices", systems.by_matrices, *some, 1)
    alone = time_system(bench, "(d) compiled", systems.compiled, *some, 1)
    tensors = time_system(bench, "(c) tensors", systems.by_tensors, *all_of_them, BATCH)
    ours = time_system(bench, "(d) compiled", systems.compiled, *all_of_them, BATCH)
    sizes = [int(size) for size in bench.options.tiny.split(",")]
    enumerated = [time_enumeration(bench, size) for size in sizes]
    table(
        "Systems",
        "Sentences per second; the difference is the greatest of a log p(x | T) from that of (d), relative.  "
        "The attach scores, the channel, the gradient of all weights and the update are the same everywhere.",
        ["system", "timed on (training, evaluation)", "training", "evaluation", "difference"],
        [row.cells() for row in (naive, alone, *chain(*enumerated), tensors, ours)],
    )
    ratios = [("(d) / (a), same sentences, 1 at a time", alone, naive)]
    ratios += [(f"(d), {BATCH} at a time / (a)", ours, naive)]
    ratios += [
        (f"(d) / (b), same sentences, sets of {size} pairs", short, theirs)
        for size, (theirs, short) in zip(sizes, enumerated, strict=True)
    ]
    ratios += [("(d) / (c), same batches", ours, tensors)]
    table(
        "Ratios of systems",
        "How many times as many words per second.",
        ["ratio", "training", "evaluation"],
        [one.ratio(other, name) for name, one, other in ratios],
    )
    time_inside(bench)


def time_inside(bench: Bench) -> None:
    numbers = bench.numbers(bench.options.sentences)
    given = systems.problems(bench.training, numbers, BATCH)
    compared = {"(c) tensors": systems.by_tensors, "(d) compiled": systems.compiled}
    rows = []
    for system, evidence in compared.items():
        spent = bench.seconds(lambda evidence=evidence: each_inside(given, evidence))  # type: ignore[misc]
        rows.append([system, f"{len(numbers) / spent:.1f}", f"{1000 * spent / len(given):.2f}"])
    table(
        "Inside pass and gradient alone",
        f"On the same {len(given)} batches of {BATCH} sentences, the pairs' probabilities being given.",
        ["system", "sentences per second", "ms a batch"],
        rows,
    )


def each_inside(given: Sequence[Any], evidence: systems.Evidence) -> None:
    for problem in given:
        systems.inside_and_gradient(problem, evidence)


# Table "length"


def time_length(bench: Bench) -> None:
    mimic = Mimic(bench.train, bench.options.seed)
    words = bench.options.words
    lengths = [length for length in LENGTHS if length <= words]
    shapes = [(f"{length:,}", mimic.sentences(length, words // length)) for length in lengths]
    long = min(LONG, words)
    shapes.append((f"{long:,}, a chain", [mimic.sentence(chain_heads(long))]))
    shapes.append((f"{long:,}, flat", [mimic.sentence(flat_heads(long))]))
    with one_thread():
        rows = [[name, len(some), *_per_word(bench, some)] for name, some in shapes]
    table(
        "Length",
        f"Milliseconds per word, one thread, random projective trees of {words:,} words together; words and "
        "slots are drawn from the treebank.  Evaluation includes finding contexts and the attach scores.",
        ["words", "sentences", "inside and gradient", "inside alone", "evaluation"],
        rows,
    )


def _per_word(bench: Bench, sentences: list[Sentence]) -> list[str]:
    model, words = bench.training.punctuator(), words_of(sentences)
    problem = systems.problem_of(model, sentences)
    works: list[Callable[[], object]] = [
        lambda: systems.inside_and_gradient(problem, systems.compiled),
        lambda: systems.compiled(problem),
        lambda: model.evaluate(sentences),
    ]
    return [f"{1000 * bench.seconds(work) / words:.4f}" for work in works]


# Table "inventory"


def time_inventory(bench: Bench) -> None:
    sentences = bench.train[:SETUP]
    vocabulary = bench.training.vocabulary
    numbers = Random(bench.options.seed).sample(range(len(sentences)), min(2 * BATCH, len(sentences)))
    rows = []
    with one_thread():
        for factor in FACTORS[::3] if bench.options.quick else FACTORS:
            sizes = [round(factor * len(some)) for some in vocabulary.pairs]
            training = training_of(
                sized(vocabulary, sizes, bench.options.seed), sentences, bench.options.seed
            )
            rows.append([f"{factor:g}", *_per_pair(bench, training, numbers)])
    table(
        "Inventory",
        f"Milliseconds per word, one thread, of the model of {len(sentences)} sentences with smaller and "
        "larger sets W_d; the pairs are the mean over the nodes of the batches.",
        ["times the real size", "pairs a node", "inside and gradient", "training step"],
        rows,
    )


def _per_pair(bench: Bench, training: Training, numbers: list[int]) -> list[str]:
    given = systems.problems(training, numbers, BATCH)
    nodes = sum(problem.forest.num_nodes for problem in given)
    size = sum(problem.log_pairs.shape[-1] for problem in given) / nodes
    inside = bench.seconds(lambda: each_inside(given, systems.compiled))
    step = bench.seconds(lambda: systems.train(training, numbers, BATCH))
    return [f"{size:.1f}", f"{1000 * inside / nodes:.4f}", f"{1000 * step / nodes:.4f}"]


# Table "memory"


def peak_mebibytes() -> float:
    """The greatest memory of this process; ``ru_maxrss`` of Linux would include the parent's at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        peaks = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        if peaks:
            return int(peaks[0].split()[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def spend_memory(bench: Bench, system: str) -> None:
    """What the fresh process does: training steps by one system; then it prints its memory."""
    evidence = {"matrices": systems.by_matrices, "tensors": systems.by_tensors}.get(system)
    size = 1 if system == "matrices" else BATCH
    steps = 0 if system == "nothing" else STEPS
    order = Random(bench.options.seed).choices(range(len(bench.train)), k=steps * size)
    with systems.inside_by(evidence) if evidence else nullcontext():
        systems.train(bench.training, order, size)
    print(peak_mebibytes())


def measure_memory(bench: Bench) -> None:
    compared = {
        "no step: the treebank is read, the model is set up": ("nothing", 0),
        "(a) Algorithm 1 with matrices": ("matrices", 1),
        "(c) tensors": ("tensors", BATCH),
        "(d) compiled": ("compiled", BATCH),
    }
    peaks = {name: _peak_of(bench.options, system) for name, (system, _) in compared.items()}
    least = next(iter(peaks.values()))
    table(
        "Memory",
        f"The greatest memory of a fresh process that does {STEPS} training steps, in MiB.",
        ["system", "sentences a step", "peak", "above that of no step"],
        [
            [name, size, f"{peaks[name]:.0f}", f"{peaks[name] - least:.0f}"]
            for name, (_, size) in compared.items()
        ],
    )


def _peak_of(options: argparse.Namespace, system: str) -> float:
    command = [sys.executable, __file__, options.train, options.dev, "--memory-of", system]
    command += ["--seed", str(options.seed), "--threads", str(options.threads)]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return float(found.splitlines()[-1])


# Table "floor"


def features_in(training: Training, numbers: Sequence[int]) -> Features:
    attach: Any = training.story.attach
    trees, _, views = training.batch(numbers)
    return features_of(attach._parts, attach._blocks, trees.relation.numpy(), views.contexts)


def compare_with_floor(bench: Bench) -> None:
    """Print the time of a training step over the time of its multiply-adds alone."""
    numbers = bench.numbers(bench.options.sentences)
    given = systems.problems(bench.training, numbers, BATCH)
    batches = systems.parts(numbers, BATCH)
    counts = [
        floor.arithmetic(problem, features_in(bench.training, part))
        for problem, part in zip(given, batches, strict=True)
    ]
    attach, inside = (sum(column) / len(counts) for column in zip(*counts, strict=True))
    with one_thread():
        cached, streamed = floor.speed_in_cache(), floor.speed_in_memory()
        step = bench.seconds(lambda: systems.train(bench.training, numbers, BATCH)) / len(batches)
        alone = bench.seconds(lambda: each_inside(given, systems.compiled)) / len(batches)
    rows = [
        _against_floor("training step", attach + inside, step, cached, streamed),
        _against_floor("inside and gradient alone", inside, alone, cached, streamed),
    ]
    table(
        "Floor",
        f"Means of {len(batches)} batches of {BATCH} sentences, one thread; `floor.arithmetic` says what is "
        f"counted: {attach:,.0f} of attach scores, {inside:,.0f} of the inside pass.  Plain multiply-adds in "
        f"double precision on this core: {cached / 1e9:.2f} billion a second from the innermost cache, "
        f"{streamed / 1e9:.2f} from memory.",
        ["part", "multiply-adds", "ms", "floor, cache: ms", "times it", "floor, memory: ms", "times it"],
        rows,
    )


def _against_floor(part: str, count: float, seconds: float, cached: float, streamed: float) -> list[str]:
    floors = [
        cell for speed in (cached, streamed) for cell in (1000 * count / speed, seconds * speed / count)
    ]
    return [part, f"{count:,.0f}", *(f"{number:.2f}" for number in (1000 * seconds, *floors))]


def options_of_command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sentences", type=int, default=256, help="sentences timed by the fast systems")
    parser.add_argument("--naive", type=int, default=8, help="sentences timed by Algorithm 1 with matrices")
    parser.add_argument("--enumerated", type=int, default=6, help="short sentences timed by TraceEnum_ELBO")
    parser.add_argument("--tiny", default="2,4", help="pairs of the tiny sets for TraceEnum_ELBO")
    parser.add_argument("--words", type=int, default=2000, help="words of the random sentences together")
    parser.add_argument("--repeats", type=int, default=3, help="trials of which the best counts")
    parser.add_argument("--tables", default=",".join(TABLES), help="tables, separated by commas")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that everything works")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        vars(options).update(sentences=64, naive=2, enumerated=2, words=200, repeats=1)
    return options


def main() -> None:
    options = options_of_command_line()
    torch.set_num_threads(options.threads)
    train, dev = list(read_treebank(options.train)), list(read_treebank(options.dev))
    bench = Bench(train, dev, training_of(vocabulary_of(train), train, options.seed), options)
    if options.memory_of:
        spend_memory(bench, options.memory_of)
        return
    works = (time_systems, time_length, time_inventory, measure_memory, compare_with_floor)
    describe(bench)
    for name, work in zip(TABLES, works, strict=True):
        if name in options.tables.split(","):
            work(bench)


if __name__ == "__main__":
    main()
