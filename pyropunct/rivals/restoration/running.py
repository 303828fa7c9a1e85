"""Training all systems, and measuring them."""

import platform
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from pyropunct.compare.progress import Watch, unwatched
from pyropunct.nets.parser import BiaffineParser, WeightedTree, attachment_scores
from pyropunct.nets.parser.jackknife import folds_of, parse_folds
from pyropunct.punctuator import Punctuator
from pyropunct.restore.settings import DecisionSettings
from pyropunct.rivals.restoration.comparison import Comparison
from pyropunct.rivals.restoration.folder import ComparisonFolder, Trained, checksum, train_timed
from pyropunct.rivals.restoration.parts import FoldPart, ParserPart, Parses, Part, Treebanks
from pyropunct.rivals.restoration.results import (
    GOLD,
    NONE,
    PREDICTED,
    Outcome,
    ParserResult,
    Runs,
    SystemResult,
    TreebankSize,
)
from pyropunct.rivals.restoration.settings import Settings
from pyropunct.rivals.restoration.systems import SYSTEMS, System
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence


def compare(
    train: Iterable[Sentence],
    dev: Iterable[Sentence],
    settings: Settings | None = None,
    folder: str | Path | None = None,
    watch: Watch | None = None,
    *,
    test: Iterable[Sentence] | None = None,
) -> Comparison:
    """Train all systems on one treebank and measure them on another: Table 3 and Figure 4 of the paper.

    :param train: training sentences, as `pyropunct.read_treebank` gives them.
    :param dev: the sentences that decide when training stops and which direction is kept, and to measure on
        if there are no others.
    :param settings: what is compared and how; by default ``Settings()``.
    :param folder: each part is saved there as soon as it is trained, and loaded when the comparison is
        repeated; in the end the results are written there.
    :param watch: gets reports of progress.
    :param test: the sentences to measure on, which decide nothing.
    :raises ComparisonFolderError: if the folder cannot be written, or holds a comparison with other data or
        settings, or a damaged part.
    :raises ValueError: if one of the treebanks has no sentence.
    """
    settings = Settings() if settings is None else settings
    watch = unwatched if watch is None else watch
    treebanks = Treebanks(tuple(train), tuple(dev))
    measured = treebanks.dev if test is None else tuple(test)
    if not all((treebanks.train, treebanks.dev, measured)):
        raise ValueError("a comparison needs sentences to train on and sentences to measure on")
    sizes = _size(train, treebanks.train), _size(dev, treebanks.dev)
    test_size = None if test is None else _size(test, measured)
    checksums = {"train": sizes[0].checksum, "dev": sizes[1].checksum}
    opened = nullcontext() if folder is None else ComparisonFolder.alone(Path(folder), checksums, settings)
    with opened as kept:
        runs = [_Work(treebanks, measured, run, kept, watch).run() for run in settings.of_each_seed()]
        parsers, systems = (
            tuple(map(Runs, zip(*results, strict=True))) for results in zip(*runs, strict=True)
        )
        results = Comparison(settings, *sizes, test_size, parsers, systems, _environment())
        if kept is not None:
            kept.write(results)
    return results


def _size(source: Iterable[Sentence], sentences: Sequence[Sentence]) -> TreebankSize:
    path, omitted = (source.path, source.omitted) if isinstance(source, Treebank) else (None, ())
    words = sum(len(sentence.tree) for sentence in sentences)
    return TreebankSize(path, checksum(sentences), len(sentences), words, omitted)


def _environment() -> dict[str, Any]:
    return {
        "pyropunct": version("pyropunct"),
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }


class _Trees(NamedTuple):
    """The trees of the measured sentences from one source.

    :ivar trees: the source, `GOLD` or `PREDICTED`.
    :ivar parses: the trees of each sentence.
    :ivar parser: the results of the parser, if the trees are predicted.
    """

    trees: str
    parses: Parses
    parser: ParserResult | None = None


class _Work:
    """Trains everything with one seed, then measures it.

    :param treebanks: the data for training.
    :param measured: the sentences to measure on.
    :param settings: what is compared, with this seed.
    :param folder: keeps trained parts; None to keep nothing.
    :param watch: gets reports of progress.
    """

    def __init__(
        self,
        treebanks: Treebanks,
        measured: Sequence[Sentence],
        settings: Settings,
        folder: ComparisonFolder | None,
        watch: Watch,
    ) -> None:
        self.treebanks, self.measured, self.settings = treebanks, measured, settings
        self.folder, self.watch = folder, watch
        self.done: dict[str, Trained] = {}
        self.words = [sentence.tree.forms for sentence in measured]
        self.gold_trees = [sentence.tree for sentence in measured]
        self.gold_surfaces = [sentence.surface for sentence in measured]

    def run(self) -> tuple[tuple[ParserResult, ...], tuple[SystemResult, ...]]:
        """The results of all parsers and of all systems."""
        systems = {name: SYSTEMS[name] for name in self.settings.systems}
        uses_trees = any(system.uses_trees for system in systems.values())
        parsers = [ParserPart(share) for share in self.settings.shares if uses_trees]
        trained = {name: self._trained(self._part(name), system) for name, system in systems.items()}
        trained_parsers = [self._trained(f"parser-{parser.share}", parser) for parser in parsers]
        sources = [_Trees(GOLD, [[WeightedTree(tree, 1.0, given=True)] for tree in self.gold_trees])]
        sources += map(self._parse, parsers, trained_parsers)
        return (
            tuple(source.parser for source in sources if source.parser is not None),
            tuple(self._measure(name, system, trained[name], sources) for name, system in systems.items()),
        )

    def _part(self, system: str) -> str:
        """The name of what is trained for a system, which depends on the parser that it reads."""
        reads_parser = SYSTEMS[system].built_on is not None
        return f"{system}-{self.settings.shares[-1]}" if reads_parser else system

    def _trained(self, name: str, part: Part[Any]) -> Trained:
        """A part, trained now unless it was trained before.

        The part is always one that was saved and loaded, since saving may round or leave out weights.
        """
        if name not in self.done:
            self.done[name] = self._trained_or_loaded(name, part)
        return self.done[name]

    def _trained_or_loaded(self, name: str, part: Part[Any]) -> Trained:
        where = f"seed-{self.settings.seed}/{name}"
        there = self.folder is not None and self.folder.has(where)
        treebanks = self.treebanks
        if isinstance(part, System) and part.uses_trees and not there:
            base = part.built_on
            treebanks = self._parsed if base is None else treebanks._replace(model=self._with_parser(base))

        def train() -> Any:
            return part.train(treebanks, self.settings, self.watch)

        if self.folder is not None:
            return self.folder.trained(where, part, train)
        made = train_timed(train)
        with TemporaryDirectory() as scratch:
            part.save(made.model, Path(scratch) / name)
            return Trained(part.load(Path(scratch) / name, self.settings), made.seconds)

    def _with_parser(self, name: str) -> Punctuator:
        """The trained model of a system, with the parser of the table."""
        share = self.settings.shares[-1]
        parser = self._trained(f"parser-{share}", ParserPart(share)).model
        return replace(self._trained(name, SYSTEMS[name]).model, parser=parser)

    @cached_property
    def _parsed(self) -> Treebanks:
        """The data for training with trees as a parser finds them, unless there are to be none."""
        train, dev, *_ = self.treebanks
        if min(self.settings.folds, len(train)) < 2:
            return self.treebanks
        parts = folds_of(train, self.settings.folds)
        parsers = [self._trained(f"fold-{fold + 1}", FoldPart(fold)).model for fold in range(len(parts))]
        with self.watch("parsing folds: sentences", len(train) + len(dev)) as advance:
            found = parse_folds(parts, parsers)
            found_dev = parsers[0].parse([sentence.tree.forms for sentence in dev], DecisionSettings.trees)
            advance(len(train) + len(dev))
        return self.treebanks._replace(parses=(found, found_dev))

    def _parse(self, part: ParserPart, trained: Trained) -> _Trees:
        """The trees of a parser for the measured sentences, and the scores of its best ones."""
        parser, several = trained.model, self.settings.trees
        assert isinstance(parser, BiaffineParser)
        with self.watch(f"parsing with {part.share}%: sentences", len(self.words)) as advance:
            began = time.monotonic()
            parses = parser.parse(self.words, several, seed=self.settings.seed)
            seconds = time.monotonic() - began
            best = parses if several == 1 else parser.parse(self.words)
            advance(len(self.words))
        scores = attachment_scores([trees[0].tree for trees in best], self.gold_trees)
        sentences = len(part.sentences(self.treebanks))
        result = ParserResult(part.share, sentences, scores, trained.seconds, seconds, parser.report)
        return _Trees(PREDICTED, parses, result)

    def _measure(
        self, name: str, system: System[Any], trained: Trained, sources: Sequence[_Trees]
    ) -> SystemResult:
        if not system.uses_trees:
            sources = [_Trees(NONE, sources[0].parses)]
        elif system.built_on is not None:
            sources = [sources[0], sources[-1]]
        return SystemResult(
            name,
            system.title,
            tuple(self._outcome(system, trained.model, source) for source in sources),
            trained.seconds,
            system.report(trained.model),
        )

    def _outcome(self, system: System[Any], model: Any, source: _Trees) -> Outcome:
        parser, restored = source.parser, []
        trees = source.trees if parser is None else f"{parser.share}%"
        began = time.monotonic()
        with self.watch(f"restoring, {system.title}, trees: {trees}: sentences", len(self.words)) as advance:
            for surface in system.restore(model, source.parses, self.settings):
                restored.append(surface)
                advance(1)
        seconds = time.monotonic() - began + (0.0 if parser is None else parser.parsing_seconds)
        found = system.log_prob(model, self.measured, source.parses)
        log_probs = None if found is None else found.double().cpu().numpy()
        return Outcome(source.trees, parser, restored, self.gold_surfaces, seconds, log_probs)
