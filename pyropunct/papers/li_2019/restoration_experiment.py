"""The experiment that trains all systems that restore punctuation, and measures them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

from pyropunct.nets.jackknife import fold_recipe, folds_of, others_of, parse_folds
from pyropunct.nets.parser import BiaffineParser, WeightedTree, as_read, attachment_scores, train_parser
from pyropunct.papers.experiment import Experiment, Results, Trained, checksum, loader
from pyropunct.papers.li_2019.restorers import (
    SYSTEMS,
    Conditions,
    Parses,
    System,
    Treebanks,
)
from pyropunct.papers.li_2019.results import (
    GOLD,
    NONE,
    PREDICTED,
    Outcome,
    ParserResult,
    Runs,
    SystemResult,
    TreebankSize,
    restoration_results,
)
from pyropunct.papers.watching import of_epochs
from pyropunct.punctuator import Punctuator
from pyropunct.restore.settings import RestoreSettings
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import Sentence


@dataclass(kw_only=True)
class RestorationExperiment(Experiment):
    """Systems that restore punctuation: Table 3 and Figure 4 of the paper.

    :ivar train: sentences, like ``dev``, for early stopping and the direction; without ``test``, also
        measured on.
    :ivar test: the sentences to measure on, which decide nothing.
    :raises ValueError: if a treebank has no sentence.
    """

    test: Sequence[Sentence] | None = None
    settings_type = Conditions

    def __post_init__(self) -> None:
        self.measured = self.dev if self.test is None else self.test
        if not all(map(len, (self.train, self.dev, self.measured))):
            raise ValueError("a comparison needs sentences to train on and sentences to measure on")
        super().__post_init__()

    def texts(self, data: Iterable[Sentence]) -> Iterator[str]:
        """Trees and punctuation, and the sentences as they were read."""
        return chain.from_iterable((repr((one.tree, one.surface)), one.conllu()) for one in data)

    def _size(self, sentences: Sequence[Sentence]) -> TreebankSize:
        path = sentences.path if isinstance(sentences, Treebank) else None
        words = sum(len(sentence.tree) for sentence in sentences)
        return TreebankSize(path, checksum(self.texts(sentences)), len(sentences), words)

    def results(self) -> Results:
        """The results with each seed."""
        treebanks = Treebanks(tuple(self.train), tuple(self.dev))
        measured = tuple(self.measured)
        runs = [Run(treebanks, measured, one, self).results() for one in self.settings.of_each_seed()]
        parsers, systems = (
            tuple(map(Runs, zip(*results, strict=True))) for results in zip(*runs, strict=True)
        )
        parts = {"train": self.train, "dev": self.dev, "test": self.test}
        sizes = {name: self._size(part) for name, part in parts.items() if part is not None}
        return restoration_results(self.settings, sizes, parsers, systems)


class _Source(NamedTuple):
    """`GOLD`, `PREDICTED` or `NONE` trees of the measured sentences, with the results of their parser."""

    name: str
    parses: Parses
    parser: ParserResult | None = None


@dataclass(frozen=True)
class Run:
    """Trains everything with one seed of the conditions, then measures it.

    :ivar marks: whether parsers read marks too.
    """

    treebanks: Treebanks
    measured: Sequence[Sentence]
    conditions: Conditions
    experiment: Experiment
    marks: bool = False

    def results(self) -> tuple[tuple[ParserResult, ...], tuple[SystemResult, ...]]:
        """The results of all parsers and of all systems."""
        systems = self.conditions.systems
        trained = {name: self.system(name) for name in systems}
        sources = [_Source(GOLD, [[WeightedTree(one.tree, 1.0, given=True)] for one in self.measured])]
        if any(SYSTEMS[name].uses_trees for name in systems):
            sources += [self._parsed(share) for share in self.conditions.shares]
        return (
            tuple(source.parser for source in sources if source.parser is not None),
            tuple(self._measured(name, trained[name], sources) for name in systems),
        )

    # Training

    def system(self, name: str) -> Trained[Any]:
        """A trained system; its part is named after its parser, if any."""
        system, conditions = SYSTEMS[name], self.conditions
        part = self._part(name if system.built_on is None else f"{name}-{conditions.shares[-1]}")
        # Whatever it needs is trained outside of the seconds of its own training.
        treebanks = self.treebanks if self.experiment.has(part) else self._treebanks(system)

        def train() -> Any:
            return system.train(treebanks, conditions, self.experiment.watch)

        return self.experiment.trained(part, train, partial(system.load, conditions=conditions))

    def _treebanks(self, system: System[Any]) -> Treebanks:
        if system.built_on is None:
            return self.with_parses if system.uses_trees else self.treebanks
        model: Punctuator = self.system(system.built_on).model
        return self.treebanks._replace(
            model=replace(model, parser=self.parser(self.conditions.shares[-1]).model)
        )

    @cached_property
    def with_parses(self) -> Treebanks:
        """The data with trees of parsers that have not seen the sentences; unchanged without folds."""
        train, dev, *_ = self.treebanks
        if min(self.conditions.folds, len(train)) < 2:
            return self.treebanks
        parts = folds_of(train, self.conditions.folds)
        purposes = [f"for fold {fold + 1} of {len(parts)}" for fold in range(len(parts))]
        parsers = [
            self._trained_parser(f"fold-{fold + 1}", others_of(parts, fold), None, purpose).model
            for fold, purpose in enumerate(purposes)
        ]
        with self.experiment.watch("parsing folds: sentences", len(train) + len(dev)) as advance:
            parses = parse_folds(parts, parsers, marks=self.marks)
            words = [as_read(sentence, marks=self.marks) for sentence in dev]
            dev_parses = parsers[0].parse(words, RestoreSettings.trees)
            advance(len(train) + len(dev))
        return self.treebanks._replace(parses=(parses, dev_parses))

    def parser(self, share: int) -> Trained[BiaffineParser]:
        """The parser of the first ``share`` percent of the training sentences."""
        train = self.treebanks.share(share)
        return self._trained_parser(f"parser-{share}", train, self.treebanks.dev, f"on {share}%")

    def _trained_parser(
        self, name: str, train: Sequence[Sentence], dev: Sequence[Sentence] | None, purpose: str
    ) -> Trained[BiaffineParser]:
        """A parser whose epoch is chosen by dev; None for the parser of a fold."""
        recipe, seed, read = self.conditions.parser_recipe, self.conditions.seed, self.conditions.pretrained
        recipe = fold_recipe(recipe) if dev is None else recipe

        def parser() -> BiaffineParser:
            words = sum(len(sentence.tree) for sentence in train)
            size = recipe.planned_epochs(words) * words
            with of_epochs(self.experiment.watch, f"training the parser {purpose}: words", size) as watch:
                return train_parser(
                    train, dev, recipe, pretrained=read, marks=self.marks, seed=seed, watch=watch
                )

        load = loader(BiaffineParser.from_parts, read)
        return self.experiment.trained(self._part(f"marks-{name}" if self.marks else name), parser, load)

    def _part(self, name: str) -> str:
        return f"seed-{self.conditions.seed}/{name}"

    # Measuring

    @cached_property
    def words(self) -> list[tuple[str, ...]]:
        """The words to punctuate."""
        return [sentence.tree.forms for sentence in self.measured]

    def _parsed(self, share: int) -> _Source:
        """The trees of a parser for the measured sentences, and the scores of its best trees."""
        parser, training_seconds = self.parser(share)
        several, gold = self.conditions.trees, [sentence.tree for sentence in self.measured]
        with self.experiment.watch(f"parsing with {share}%: sentences", len(self.words)) as advance:
            parses = parser.parse(self.words, several, seed=self.conditions.seed)
            best = parses if several == 1 else parser.parse(self.words)
            advance(len(self.words))
        scores = attachment_scores([trees[0].tree for trees in best], gold)
        sentences = len(self.treebanks.share(share))
        return _Source(PREDICTED, parses, ParserResult(share, sentences, scores, training_seconds))

    def _measured(self, name: str, trained: Trained[Any], sources: Sequence[_Source]) -> SystemResult:
        system = SYSTEMS[name]
        if not system.uses_trees:
            sources = [_Source(NONE, sources[0].parses)]
        elif system.built_on is not None:
            sources = [sources[0], sources[-1]]
        outcomes = tuple(self._outcome(system, trained.model, source) for source in sources)
        return SystemResult(name, system.title, outcomes, trained.seconds)

    def _outcome(self, system: System[Any], model: Any, source: _Source) -> Outcome:
        parser, restored = source.parser, []
        trees = source.name if parser is None else f"{parser.share}%"
        with self.experiment.watch(
            f"restoring, {system.title}, trees: {trees}: sentences", len(self.words)
        ) as advance:
            for surface in system.restore(model, source.parses, self.conditions):
                restored.append(surface)
                advance(1)
        values = system.log_prob(model, self.measured, source.parses)
        log_probs = None if values is None else values.double().cpu().numpy()
        gold = [sentence.surface for sentence in self.measured]
        return Outcome(source.name, parser, restored, gold, log_probs)
