"""The parts of a comparison that are trained and saved: systems and parsers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pyropunct.compare.progress import Watch, of_epochs
from pyropunct.fitted.model_file import ModelFileError, read_model_file, write_model_file
from pyropunct.nets.parser import BiaffineParser, ParserRecipe, WeightedTree, fold_recipe, train_parser
from pyropunct.nets.parser.jackknife import folds_of, others_of
from pyropunct.punctuator import Punctuator
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.treebank.sentence import Sentence

Model = TypeVar("Model")
"""The type of a trained part."""


Parses = Sequence[Sequence[WeightedTree]]
"""The trees of each sentence, the heaviest first."""


class Treebanks(NamedTuple):
    """The data for training.

    :ivar train: the treebank to train on.
    :ivar dev: the treebank that says when training stops.
    :ivar parses: for each sentence of either the trees that a parser finds which has not seen it; None if
        there are none.
    :ivar model: the model that a system adds something to, with the parser of the table, if it does.
    """

    train: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    parses: tuple[Parses, Parses] | None = None
    model: Punctuator | None = None


class Part(ABC, Generic[Model]):
    """How something is trained, saved to a folder, and loaded."""

    @abstractmethod
    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Model:
        """Train it; dev may be used to decide when to stop."""

    @abstractmethod
    def save(self, model: Model, folder: Path) -> None:
        """Write it to a model folder."""

    @abstractmethod
    def load(self, folder: Path, conditions: Conditions) -> Model:
        """Read back what `train` has made under these conditions.

        :raises ValueError: if the folder is damaged; the message is one line and names it.
        """


class _AnyParser(Part[BiaffineParser]):
    """A parser of some of the training sentences."""

    def save(self, model: BiaffineParser, folder: Path) -> None:
        """Write it."""
        write_model_file(folder, *model.to_parts())

    def load(self, folder: Path, conditions: Conditions) -> BiaffineParser:
        """Read it back."""
        parts = read_model_file(folder)
        try:
            return BiaffineParser.from_parts(*parts, conditions.pretrained)
        except ValueError as error:
            raise ModelFileError(f"{folder}: {error}") from error


@dataclass(frozen=True)
class ParserPart(_AnyParser):
    """A parser that is trained on the first part of the training sentences.

    :ivar share: the size of this part in percent.
    """

    share: int

    def sentences(self, treebanks: Treebanks) -> tuple[Sentence, ...]:
        """The sentences that it is trained on, at least one."""
        return treebanks.train[: -(-self.share * len(treebanks.train) // 100)]

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> BiaffineParser:
        """Train it, and keep the best epoch on dev."""
        part, recipe = self.sentences(treebanks), conditions.parser_recipe
        with watch(f"training the parser on {self.share}%: words", _work(part, recipe)) as advance:
            return train_parser(
                part,
                treebanks.dev,
                recipe,
                pretrained=conditions.pretrained,
                seed=conditions.seed,
                watch=of_epochs(advance),
            )


@dataclass(frozen=True)
class FoldPart(_AnyParser):
    """A parser that is trained on all folds of the training sentences but one, see `parsing.jackknife`.

    :ivar fold: the number of this fold, counted from 0.
    """

    fold: int

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> BiaffineParser:
        """Train it; dev is not looked at."""
        parts, recipe = folds_of(treebanks.train, conditions.folds), fold_recipe(conditions.parser_recipe)
        others = others_of(parts, self.fold)
        what = f"training the parser for fold {self.fold + 1} of {len(parts)}: words"
        with watch(what, _work(others, recipe)) as advance:
            return train_parser(
                others,
                None,
                recipe,
                pretrained=conditions.pretrained,
                seed=conditions.seed,
                watch=of_epochs(advance),
            )


def _work(sentences: Sequence[Sentence], recipe: ParserRecipe) -> int:
    """The words of all epochs of a parser's training."""
    words = sum(len(sentence.tree) for sentence in sentences)
    return recipe.planned_epochs(words) * words
