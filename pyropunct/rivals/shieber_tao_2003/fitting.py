"""Training a model of latent punctuation and its parser on the sentences that all other models learn from.

A parser knows the sentences that it was trained on too well.  So trees of training sentences come from
parsers trained on the others, see `pyropunct.nets.parser.jackknife`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyropunct.compare.comparison import TableComparison
from pyropunct.compare.progress import Watch, unwatched
from pyropunct.compare.runner import Runner, checksum
from pyropunct.nets.parser.protocol import Parser, WeightedTree
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.rivals.restoration.measuring import Run
from pyropunct.rivals.restoration.systems import Treebanks
from pyropunct.rivals.settings import CommaSettings
from pyropunct.rivals.shieber_tao_2003.comparison import CommaResult, compare_commas
from pyropunct.rivals.shieber_tao_2003.sentences import read_comma_sentences, require_commas
from pyropunct.rivals.shieber_tao_2003.story_commas import story_results
from pyropunct.treebank.constituency.reading import read_brackets
from pyropunct.treebank.errors import TreebankError


@dataclass(frozen=True)
class KnownTrees:
    """A parser that knows the trees of some sentences.

    :ivar known: their trees, by their words.
    :ivar parser: parses all other sentences.
    """

    known: Mapping[tuple[str, ...], list[WeightedTree]]
    parser: Parser

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        """See `pyropunct.nets.parser.Parser`."""
        return [self.known.get(tuple(one)) or self.parser.parse([one], trees)[0] for one in sentences]


def compare_fitted(
    train: str,
    dev: str,
    settings: CommaSettings,
    folder: str | None = None,
    *,
    watch: Watch = unwatched,
) -> TableComparison[CommaResult]:
    """As `compare_commas`, with a model of latent punctuation and a parser trained on the same sentences.

    Both learn from the converted trees, and dev says when their training stops.

    :param train: file of phrase-structure trees to learn from.
    :param dev: file of those to measure on.
    :param settings: the settings.
    :param folder: trained parts are saved there, and loaded when the comparison is repeated.
    :param watch: gets reports of progress.
    :raises TreebankError: if a file cannot be read, or there is too little to learn from.
    :raises ComparisonFolderError: if the folder cannot be written, or holds another comparison.
    """
    learned, measured = read_comma_sentences(train), read_comma_sentences(dev)
    require_commas(learned, train)
    treebanks = Treebanks(tuple(read_brackets(train)), tuple(read_brackets(dev)))
    if len(treebanks.train) < 2:
        raise TreebankError(train, "parsing each sentence by what is learned from others takes two sentences")
    checksums = {
        name: checksum(sentence.conllu() for sentence in part)
        for name, part in (("train", treebanks.train), ("dev", treebanks.dev))
    }
    with Runner.alone(folder, checksums, settings) as runner:
        conditions = Conditions(seed=settings.seed, folds=settings.folds)
        run = Run(treebanks, treebanks.dev, conditions, runner, watch)
        parser = run.parser(100).model
        model = replace(run.system("full").model, parser=parser)
        parses = run.with_parses.parses
        assert parses is not None  # there are folds
        known = {trees[0].tree.forms: list(trees) for trees in parses[0]}
        comparison = compare_commas(
            learned,
            measured,
            settings,
            parser,
            story_results(model, dev, measured, settings, watch),
            parser_of_train=KnownTrees(known, parser),
            watch=watch,
        )
        runner.write(comparison)
    return comparison
