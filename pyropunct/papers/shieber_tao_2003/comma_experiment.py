"""Compares systems that restore commas, as Table 1 of Shieber & Tao (2003), with significance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from pyropunct.nets.parser import Parser, WeightedTree, as_read
from pyropunct.papers.experiment import Experiment, Results
from pyropunct.papers.li_2019.restoration_experiment import Run
from pyropunct.papers.li_2019.restorers import Conditions, Parses, Treebanks
from pyropunct.papers.options import CommaSettings
from pyropunct.papers.shieber_tao_2003.models import MODELS, CommaSystem
from pyropunct.papers.shieber_tao_2003.sentences import (
    COMMA,
    CORRECT,
    MARKS,
    CommaResult,
    CommaScores,
    CommaSentence,
    parsed,
    read_comma_sentences,
    require_commas,
)
from pyropunct.papers.watching import Watch, unwatched
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS
from pyropunct.restore.posterior import OF_WORDS
from pyropunct.significance import f1
from pyropunct.tables import Column
from pyropunct.tasks import Advance
from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import Surface
from pyropunct.treebank.constituency import read_brackets
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

BASELINE = "1"
"""The model from which reductions of errors are counted."""

ON_PARSED_TREES: Mapping[str, str] = {"5": "3", "5t": "3t", "9": "8", "9c": "8c", "12": "10", "12c": "10c"}
"""The models with a parser's constituents, and the same model with those of the treebank."""

SEEN, SEEN_IN_TRAINING = "7", "6"
"""Model 5 with constituents of a parser that has read the commas of all sentences, or those of training."""


def columns(baseline: CommaScores | None) -> tuple[Column[CommaResult], ...]:
    """The columns; F and sentence accuracy are tested, error reductions are relative to the baseline."""

    def reduction(result: CommaResult) -> float | None:
        return None if baseline is None else result.scores.error_reduction(baseline)

    def marks(result: CommaResult) -> NDArray[np.int64]:
        return result.scores.table[:, MARKS]

    def correct(result: CommaResult) -> NDArray[np.int64]:
        return result.scores.table[:, CORRECT]

    accuracy = attrgetter("scores.sentence_accuracy")
    return (
        Column("model", "model", attrgetter("name")),
        Column("title", "what it looks at", attrgetter("title")),
        Column("trees", "trees", attrgetter("trees")),
        Column("precision", "P", attrgetter("scores.marks.precision"), 3),
        Column("recall", "R", attrgetter("scores.marks.recall"), 3),
        Column("f", "F", attrgetter("scores.marks.f1"), 3, evidence=marks, statistic=f1, best=max),
        Column("token_accuracy", "tokens", attrgetter("scores.token_accuracy"), 3),
        Column("sentence_accuracy", "sentences", accuracy, 3, evidence=correct, best=max),
        Column("error_reduction", "reduction", reduction, 3),
    )


@dataclass(kw_only=True)
class CommaExperiment(Experiment):
    """Trains models of commas on some sentences and measures them on others.

    :ivar parser: finds trees for the models of :data:`ON_PARSED_TREES`, which are skipped without it.
    :ivar others: results of further systems on the same sentences.
    :ivar parser_of_train: finds the trees of the training sentences; by default the same parser does.
    :ivar seen: knows the trees of a parser that has read the commas of the sentences, for models 6 and 7.
    """

    parser: Parser | None = None
    others: Iterable[CommaResult] = ()
    parser_of_train: Parser | None = None
    seen: Parser | None = None
    settings_type = CommaSettings

    def results(self) -> Results:
        """A row for each model with gold and parsed constituents, then ``others``.

        :raises ValueError: without sentences.
        """
        rows, settings = [*self._rows(), *self.others], self.settings
        sizes = {
            name: {"sentences": len(part), "commas": sum(int(one.commas.sum()) for one in part)}
            for name, part in (("train", self.train), ("dev", self.dev))
        }
        train, dev = sizes.values()
        notes = (
            f"Trained on {train['sentences']:,} sentences with {train['commas']:,} commas, measured on "
            f"{dev['sentences']:,} with {dev['commas']:,}; smoothing {settings.smoothing}; words with fewer "
            f"than {settings.least} places in training count as one.",
            "tokens, sentences: the shares of positions, and of sentences, in which all is right; reduction: "
            f"of the errors in sentences of model {BASELINE} that people would avoid.",
        )
        baseline = next((result.scores for result in rows if result.name == BASELINE), None)
        table = self.table("Commas", columns(baseline), rows, notes)
        return Results({"systems": table}, sizes)

    def _rows(self) -> Iterator[CommaResult]:
        models = self.settings.models
        on_parsed = {} if self.parser is None else {n: m for n, m in ON_PARSED_TREES.items() if m in models}
        with self.watch("models", len(models) + len(on_parsed)) as advance:
            for name in models:
                trees = "gold" if MODELS[name].looks_at_constituents else ""
                yield self._result(name, name, trees, self.train, self.dev)
                advance(1)
            if self.parser is not None:
                train = parsed(self.train, self.parser_of_train or self.parser)
                dev = parsed(self.dev, self.parser)
                for name, model in on_parsed.items():
                    yield self._result(name, model, "parsed", train, dev)
                    advance(1)
                model = ON_PARSED_TREES["5"]
                if self.seen is not None and model in models:
                    train = parsed(self.train, self.seen)
                    yield self._result(SEEN_IN_TRAINING, model, "parsed, commas seen in training", train, dev)
                    yield self._result(SEEN, model, "parsed, commas seen", train, parsed(self.dev, self.seen))

    def _result(
        self, name: str, model: str, trees: str, train: Sequence[CommaSentence], dev: Sequence[CommaSentence]
    ) -> CommaResult:
        system = CommaSystem(train, model, self.settings.smoothing, self.settings.least)
        scores = CommaScores.of(system.restore(dev), [sentence.commas for sentence in dev])
        return CommaResult(name, MODELS[model].title, trees, scores)


@dataclass(frozen=True)
class KnownTrees:
    """A parser that knows the trees of some sentences, by their words, and parses all others."""

    known: Mapping[tuple[str, ...], list[WeightedTree]]
    parser: Parser

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        """See `pyropunct.nets.parser.Parser`."""
        return [self.known.get(tuple(one)) or self.parser.parse([one], trees)[0] for one in sentences]


def _known(parses: Parses, parser: Parser) -> KnownTrees:
    return KnownTrees({trees[0].tree.forms: list(trees) for trees in parses}, parser)


class FittedCommaExperiment(Experiment):
    """As `CommaExperiment`, with a model of latent punctuation and a parser trained on the same sentences.

    Both learn from the converted trees, with early stopping on dev.  A parser knows its training sentences
    too well, so their trees come from parsers trained on the others, see `pyropunct.nets.jackknife`.

    :ivar train: first a file of phrase-structure trees, like ``dev``, then its converted sentences.
    :raises TreebankError: if a file cannot be read, or there is too little to learn from.
    """

    settings_type = CommaSettings

    def __post_init__(self) -> None:
        file, self.file = self.train, self.dev
        self.learned, self.measured = read_comma_sentences(file), read_comma_sentences(self.file)
        require_commas(self.learned, file)
        self.train, self.dev = tuple(read_brackets(file)), tuple(read_brackets(self.file))
        if len(self.train) < 2:
            problem = "parsing each sentence by what is learned from others takes two sentences"
            raise TreebankError(file, problem)
        super().__post_init__()

    def texts(self, data: Iterable[Sentence]) -> Iterator[str]:
        """The converted sentences."""
        return (sentence.conllu() for sentence in data)

    def results(self) -> Results:
        """The table of all models."""
        conditions = Conditions(seed=self.settings.seed, folds=self.settings.folds)
        run = Run(Treebanks(self.train, self.dev), self.dev, conditions, self)
        parser = run.parser(100).model
        model = replace(run.system("full").model, parser=parser)
        parses = run.with_parses.parses
        assert parses is not None  # there are folds
        return CommaExperiment(
            self.learned,
            self.measured,
            self.settings,
            watch=self.watch,
            parser=parser,
            others=story_results(model, self.file, self.measured, self.settings, self.watch),
            parser_of_train=_known(parses[0], parser),
            seen=self._seen(run, parser),
        ).results()

    def _seen(self, run: Run, parser: Parser) -> KnownTrees | None:
        """The trees of parsers that have read words and commas; None if no model uses them."""
        if ON_PARSED_TREES["5"] not in self.settings.models:
            return None
        train, dev = (tuple(map(_with_commas_alone, part)) for part in (self.train, self.dev))
        run = replace(run, treebanks=Treebanks(train, dev), marks=True)
        parses = run.with_parses.parses
        assert parses is not None  # there are folds
        read = [as_read(sentence, marks=True) for sentence in dev]
        return _known([*parses[0], *run.parser(100).model.parse(read)], parser)


def _with_commas_alone(sentence: Sentence) -> Sentence:
    surface = tuple(tuple(mark for mark in slot if mark == COMMA) for slot in sentence.surface)
    return replace(sentence, surface=surface)


# The model of latent punctuation: its posterior given a tree and all other marks

KNOWN = 0.5
"""A model reads converted trees if it knows the relations of at least this share of their words."""


def story_results(
    model: Punctuator,
    path: str,
    sentences: Sequence[CommaSentence],
    settings: CommaSettings,
    watch: Watch = unwatched,
) -> list[CommaResult]:
    """How well a model of latent punctuation restores the commas of a file of phrase-structure trees.

    Measured on converted trees if it was trained on such trees, and on trees of its parser if it has one.

    :raises ValueError: if the model has no comma.
    """
    converted = read_brackets(path)
    relations = [relation for sentence in converted for relation in sentence.tree.relations]
    known = sum(relation in model.vocabulary.relations for relation in relations)
    trees = ["gold"] * (known >= KNOWN * len(relations)) + ["parsed"] * (model.parser is not None)
    gold = [sentence.commas for sentence in sentences]
    results = []
    for kind in trees:
        with watch(f"restoring, model, {kind} trees: sentences", len(sentences)) as advance:
            commas = story_commas(
                model, sentences, converted, parse=kind == "parsed", settings=settings, advance=advance
            )
            scores = CommaScores.of(commas, gold)
        results.append(CommaResult(f"story, {kind}", "all other marks", kind, scores))
    return results


def story_commas(
    model: Punctuator,
    sentences: Sequence[CommaSentence],
    converted: Sequence[Sentence],
    *,
    parse: bool,
    settings: CommaSettings,
    advance: Advance = lambda done: None,
) -> Iterator[NDArray[np.bool_]]:
    """For each sentence (n + 1,) where the decision of least expected edit distance puts commas.

    Sentences without words, and those with a comma tagged as a word, get none.

    :param converted: dependency trees of the sentences, see `pyropunct.treebank.constituency.read_brackets`.
    :param parse: find trees with the model's parser instead of taking the converted ones.
    :raises ValueError: if the model has no comma.
    """
    by_number = {int(one.identifier.rpartition("-")[2]): one for one in converted}
    draws = {"samples": settings.samples, "seed": settings.seed}
    for sentence in sentences:
        dependencies = by_number.get(sentence.number)
        if dependencies is None or COMMA in dependencies.tree.forms:
            yield np.zeros(len(sentence.commas), bool)
        else:
            known = [[mark for mark in slot if mark != COMMA] for slot in dependencies.surface]
            given: Sequence[str] | Tree = dependencies.tree.forms if parse else dependencies.tree
            posterior = model.posterior(given, known, hidden=[COMMA], **draws)
            # Not `Posterior.best`, which leaves out marks that the model does not know: they have positions.
            yield commas_of(DECODERS["mbr"](posterior.draws).surface)
        advance(1)


def commas_of(surface: Surface) -> NDArray[np.bool_]:
    """(n + 1,) whether a comma stands behind each word or other mark, and before the first."""
    commas = [False]
    for slot, tokens in enumerate(surface):
        if slot:
            commas.append(False)  # behind the word before the slot
        for token in tokens:
            if token == COMMA:
                commas[-1] = True
            elif token not in OF_WORDS:
                commas.append(False)
    return np.array(commas)
