"""The parts of a comparison that are trained and saved: systems and parsers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pyropunct.comparison.conditions import Conditions
from pyropunct.comparison.progress import Watch, of_epochs
from pyropunct.parsing import BiaffineParser, train_parser
from pyropunct.training.model_folder import ModelFolderError, read_model_folder, write_model_folder
from pyropunct.treebank.sentence import Sentence

Model = TypeVar("Model")
"""The type of a trained part."""


class Treebanks(NamedTuple):
    """The treebank to train on, and the one that says when training stops."""

    train: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]


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


@dataclass(frozen=True)
class ParserPart(Part[BiaffineParser]):
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
        words = sum(len(sentence.tree) for sentence in part)
        size = recipe.planned_epochs(words) * words
        with watch(f"training the parser on {self.share}%: words", size) as advance:
            return train_parser(part, treebanks.dev, recipe, seed=conditions.seed, watch=of_epochs(advance))

    def save(self, model: BiaffineParser, folder: Path) -> None:
        """Write it."""
        write_model_folder(folder, *model.to_parts())

    def load(self, folder: Path, conditions: Conditions) -> BiaffineParser:
        """Read it back."""
        parts = read_model_folder(folder)
        try:
            return BiaffineParser.from_parts(*parts)
        except ValueError as error:
            raise ModelFolderError(f"{folder}: {error}") from error
