"""The systems that are compared."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from pyropunct.compare.progress import Watch, of_epochs
from pyropunct.files import texts
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variant_options import reads_pretrained
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.rivals.restoration.parts import Model, Parses, Part, Treebanks
from pyropunct.rivals.taggers.attention import BiGRUAttention
from pyropunct.rivals.taggers.crf import BiLSTMCRF
from pyropunct.rivals.taggers.kinds import load_rival
from pyropunct.rivals.taggers.rival import Rival
from pyropunct.rivals.taggers.training import train_rival
from pyropunct.rivals.taggers.trivial import Trivial, trivial_restorer
from pyropunct.train.fitting import fit_story
from pyropunct.train.parsed_trees import fit_parsed
from pyropunct.train.tagged_words import fit_tagger
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class System(Part[Model]):
    """How a system is trained, saved and used.

    :ivar title: its name in tables.
    :cvar uses_trees: whether it punctuates trees; otherwise it punctuates their words.
    """

    title: str
    uses_trees: ClassVar[bool] = False

    @property
    def built_on(self) -> str | None:
        """The name of the system whose trained model it adds something to, with a parser, if it does."""
        return None

    @abstractmethod
    def restore(self, model: Model, parses: Parses, conditions: Conditions) -> Iterable[Surface]:
        """Punctuate each sentence, given its trees; a system without trees uses only their words."""

    def log_prob(self, model: Model, sentences: Sequence[Sentence], parses: Parses) -> Tensor | None:
        """(sentences,) log p(x | words) of the punctuation of some sentences, in natural logarithms.

        :param parses: for systems with trees, the trees of each sentence, over which p(x | T) is averaged.
        :returns: None from a system that gives no probabilities.
        """
        return None

    def report(self, model: Model) -> Mapping[str, Any]:
        """What happened in training, in plain JSON types."""
        return {}


class TrivialSystem(System[Trivial]):
    """The trivial system: only the most frequent final mark."""

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Trivial:
        """Learn the final mark."""
        return trivial_restorer(treebanks.train)

    def save(self, model: Trivial, folder: Path) -> None:
        """Write it as a model without tensors."""
        write_model_file(folder, {"vocabulary": list(model.final), "recipe": {}, "report": {}}, {})

    def load(self, folder: Path, conditions: Conditions) -> Trivial:
        """Read it back."""
        plain, _ = read_model_file(folder)
        return Trivial(texts(f"{folder}: the final mark", plain["vocabulary"]))

    def restore(self, model: Trivial, parses: Parses, conditions: Conditions) -> list[Surface]:
        """Punctuate the words."""
        return model.restore(_words(parses))


@dataclass(frozen=True)
class RivalSystem(System[Rival]):
    """A recurrent network over words.

    :ivar kind: one of `pyropunct.rivals.taggers.kinds.RIVALS`.
    """

    kind: str

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Rival:
        """Train it, stopping early on dev."""
        recipe = conditions.rival_recipe
        slots = sum(len(sentence.surface) for sentence in treebanks.train)
        epochs = recipe.planned_epochs(len(treebanks.train))
        with watch(f"training {self.title}: slots", epochs * slots) as advance:
            return train_rival(
                self.kind,
                treebanks.train,
                treebanks.dev,
                recipe,
                conditions.seed,
                watch=of_epochs(advance),
                device=conditions.device,
                pretrained=conditions.pretrained,
            )

    def save(self, model: Rival, folder: Path) -> None:
        """Write it."""
        model.save(folder)

    def load(self, folder: Path, conditions: Conditions) -> Rival:
        """Read it back."""
        return load_rival(folder, conditions.pretrained)

    def restore(self, model: Rival, parses: Parses, conditions: Conditions) -> list[Surface]:
        """Punctuate the words, with the least expected edit distance in each slot."""
        return model.restore(_words(parses))

    def log_prob(self, model: Rival, sentences: Sequence[Sentence], parses: Parses) -> Tensor:
        """log p(x | words)."""
        return model.log_prob(sentences)

    def report(self, model: Rival) -> Mapping[str, Any]:
        """Its epochs, and which one was chosen."""
        return model.report


@dataclass(frozen=True)
class TreeSystem(System[Punctuator]):
    """A model of latent punctuation.

    :ivar changes: changes to the recipe of the conditions.
    :ivar direction: where its channel starts to read; "auto" for the better direction on dev.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    direction: str = "auto"
    uses_trees: ClassVar[bool] = True

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train it on the gold trees, and besides on those that parsers have found, if there are any."""
        recipe, (train, dev, parses, _) = self._recipe(conditions), treebanks
        passes = recipe.epochs * (2 if self.direction == "auto" else 1)
        with watch(f"training {self.title}: sentences", passes * _epoch(recipe, len(train))) as advance:
            model = fit_story(
                train,
                dev,
                recipe,
                direction=self.direction,
                seed=conditions.seed,
                device=conditions.device,
                pretrained=conditions.pretrained if reads_pretrained(recipe) else None,
                watch=of_epochs(advance),
            )
        if parses is None:
            return model
        size = recipe.epochs * _epoch(recipe, 2 * len(train))
        with watch(f"training {self.title} on trees of parsers: sentences", size) as advance:
            return fit_parsed(
                model,
                train,
                parses[0],
                dev,
                parses[1],
                seed=conditions.seed,
                device=conditions.device,
                watch=of_epochs(advance),
            )

    def save(self, model: Punctuator, folder: Path) -> None:
        """Write it."""
        model.save(folder)

    def load(self, folder: Path, conditions: Conditions) -> Punctuator:
        """Read it back."""
        recipe = self._recipe(conditions)
        return Punctuator.load(folder, variants=(recipe.attach, recipe.channel))

    def _recipe(self, conditions: Conditions) -> Recipe:
        return conditions.recipe.changed(**self.changes)

    def restore(self, model: Punctuator, parses: Parses, conditions: Conditions) -> Iterator[Surface]:
        """Draw surfaces and decide on one (Li, Wang & Eisner 2019, section 6.1)."""
        decisions = decide(
            model, parses, decoder=conditions.decoder, samples=conditions.samples, seed=conditions.seed
        )
        return (decision.surface for decision in decisions)

    def log_prob(self, model: Punctuator, sentences: Sequence[Sentence], parses: Parses) -> Tensor:
        """log sum over T of p(T | words) p(x | T), with the weights of the trees as p(T | words)."""
        return model.log_prob_over_trees(sentences, parses)

    def report(self, model: Punctuator) -> Mapping[str, Any]:
        """Its epochs, and the direction that was chosen."""
        parsed = None if model.parsed is None else model.parsed.report
        return {**model.report, "direction": model.recipe.direction, "parsed_trees": parsed}


@dataclass(frozen=True)
class MixedSystem(TreeSystem):
    """The full model with a tagger of words, which are mixed where trees are predicted."""

    @property
    def built_on(self) -> str:
        """The full model."""
        return "full"

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train the tagger on the states of the parser, and find its share on dev."""
        (train, dev, _, model), recipe = treebanks, conditions.slot_tagger_recipe
        assert model is not None
        words = sum(len(sentence.tree) for sentence in train)
        with watch("training the tagger: words", recipe.planned_epochs(words) * words) as advance:
            return fit_tagger(model, train, dev, recipe, seed=conditions.seed, watch=of_epochs(advance))

    def report(self, model: Punctuator) -> Mapping[str, Any]:
        """The epochs of the tagger, and its share."""
        assert model.tagger is not None
        return {**model.tagger.report, "share": model.share}


def _epoch(recipe: Recipe, sentences: int) -> int:
    """The sentences of an epoch."""
    return min(recipe.sentences_per_epoch or sentences, sentences)


def _words(parses: Parses) -> list[tuple[str, ...]]:
    return [parse[0].tree.forms for parse in parses]


SYSTEMS: dict[str, System[Any]] = {
    "trivial": TrivialSystem("trivial"),
    "crf": RivalSystem(BiLSTMCRF.name, "crf"),
    "attention": RivalSystem(BiGRUAttention.name, "attention"),
    "attach": TreeSystem("attach only", {"channel": "identity"}, direction="left"),
    "full": TreeSystem("full model"),
    "mixed": MixedSystem("full model and tagger"),
}
"""All systems in the order of tables, by their names on the command line and in folders."""
