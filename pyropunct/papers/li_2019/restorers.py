"""The compared systems, and the recipes of these and of the parsers whose trees they punctuate."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from torch import Tensor

from pyropunct.errors import SettingError
from pyropunct.fitted.recipes import PLAIN, Recipe
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.parser import WeightedTree
from pyropunct.nets.pretrained import CachedFeatures
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.papers.experiment import Part, loader
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, Rival, train_rival
from pyropunct.papers.options import RestorationSettings
from pyropunct.papers.watching import Watch, of_epochs
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.decoders import DECODERS
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.train.fitting import fit_story
from pyropunct.train.parser_output import fit_parsed, fit_tagger
from pyropunct.treebank.sentence import Sentence
from pyropunct.untrusted import texts

QUICK_SAMPLES = 50
"""The most draws for each sentence in a quick run that only checks whether everything works."""


@dataclass(frozen=True, kw_only=True)
class Conditions(RestorationSettings):
    """The settings of a comparison, and the recipes of everything that is trained.

    :ivar recipe: of the models of latent punctuation; ``rival_recipe``, of the taggers of words.
    :ivar slot_tagger_recipe: of the tagger that is mixed with the model.
    """

    recipe: Recipe = field(default_factory=lambda: Recipe(**PLAIN))
    rival_recipe: RivalRecipe = field(default_factory=RivalRecipe)
    parser_recipe: ParserRecipe = field(default_factory=ParserRecipe)
    slot_tagger_recipe: SlotTaggerRecipe = field(default_factory=SlotTaggerRecipe)
    TRAINING: ClassVar[tuple[str, ...]] = (
        "recipe",
        "rival_recipe",
        "parser_recipe",
        "slot_tagger_recipe",
        *RestorationSettings.TRAINING,
    )

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise SettingError(f"no decoder is called {self.decoder!r}: take {', '.join(DECODERS)}")
        super().__post_init__()

    def quick(self) -> Self:
        """The same with one epoch and at most 50 draws, to check that everything works."""
        return replace(
            self,
            samples=min(self.samples, QUICK_SAMPLES),
            recipe=self.recipe.changed(epochs=1),
            rival_recipe=replace(self.rival_recipe, epochs=1, least_steps=0),
            parser_recipe=replace(self.parser_recipe, epochs=1, least_steps=0),
            slot_tagger_recipe=replace(self.slot_tagger_recipe, epochs=1, least_steps=0),
        )

    @property
    def pretrained(self) -> CachedFeatures | None:
        """The encoder, opened once, its features cached; None without one. Else raises MissingPartError."""
        return None if self.encoder is None else _opened(self.encoder)


@lru_cache(1)
def _opened(place: str) -> CachedFeatures:
    encoder = Encoder(place)
    encoder.open()
    return CachedFeatures(encoder)


Model = TypeVar("Model", bound=Part)
"""The type of a trained system."""

Parses = Sequence[Sequence[WeightedTree]]
"""The trees of each sentence, the heaviest first."""


class Treebanks(NamedTuple):
    """The data for training, and for early stopping (``dev``).

    :ivar parses: for each sentence of either treebank the trees of a parser that has not seen it; None to
        train on gold trees alone.
    :ivar model: the model with the parser of the table, for systems that extend one.
    """

    train: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    parses: tuple[Parses, Parses] | None = None
    model: Punctuator | None = None

    def share(self, percent: int) -> tuple[Sentence, ...]:
        """The first so many percent of the training sentences, at least one."""
        return self.train[: -(-percent * len(self.train) // 100)]


@dataclass(frozen=True)
class System(ABC, Generic[Model]):
    """How a system is trained, loaded and used; ``title``: its name in tables.

    :cvar uses_trees: whether it punctuates trees; otherwise it punctuates their words.
    :cvar built_on: the name of the system whose trained model it extends, with a parser; None for most.
    """

    title: str
    uses_trees: ClassVar[bool] = False
    built_on: ClassVar[str | None] = None

    @abstractmethod
    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Model:
        """Train it; dev may be used to decide when to stop."""

    @abstractmethod
    def load(self, place: Path, conditions: Conditions) -> Model:
        """Read a model trained under these conditions. A damaged file raises a ValueError that names it."""

    @abstractmethod
    def restore(self, model: Model, parses: Parses, conditions: Conditions) -> Iterable[Surface]:
        """Punctuate each sentence, given its trees; a system without trees uses only their words."""

    def log_prob(self, model: Model, sentences: Sequence[Sentence], parses: Parses) -> Tensor | None:
        """(sentences,) natural log p(x | words), averaged over trees; None without probabilities."""
        return None


class FinalMark(NamedTuple):
    """What the trivial system learns: the most frequent final mark, empty if there is none."""

    tokens: tuple[str, ...]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """A model without tensors."""
        return {"vocabulary": list(self.tokens), "recipe": {}, "report": {}}, {}

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The mark that `to_parts` took apart."""
        return cls(tuple(texts("the final mark", plain.get("vocabulary"))))


class TrivialSystem(System[FinalMark]):
    """The trivial system: every sentence ends in the most frequent final mark, and has no others."""

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> FinalMark:
        """Learn the final mark."""
        return FinalMark(final_mark(treebanks.train))

    def load(self, place: Path, conditions: Conditions) -> FinalMark:
        """Read it back."""
        return loader(FinalMark.from_parts)(place)

    def restore(self, model: FinalMark, parses: Parses, conditions: Conditions) -> list[Surface]:
        """Punctuate the words."""
        return ended_in(model.tokens, _words(parses))


@dataclass(frozen=True)
class RivalSystem(System[Rival]):
    """A recurrent network over words, of the class ``kind``."""

    kind: type[Rival]

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Rival:
        """Train it, stopping early on dev."""
        recipe, (train, dev, *_) = conditions.rival_recipe, treebanks
        slots = sum(len(sentence.surface) for sentence in train)
        options: dict[str, Any] = {"device": conditions.device, "pretrained": conditions.pretrained}
        size = recipe.planned_epochs(len(train)) * slots
        with of_epochs(watch, f"training {self.title}: slots", size) as progress:
            return train_rival(self.kind, train, dev, recipe, conditions.seed, progress, **options)

    def load(self, place: Path, conditions: Conditions) -> Rival:
        """Read it back."""
        return loader(self.kind.from_parts, conditions.pretrained)(place)

    def restore(self, model: Rival, parses: Parses, conditions: Conditions) -> list[Surface]:
        """Punctuate the words, with the least expected edit distance in each slot."""
        return model.restore(_words(parses))

    def log_prob(self, model: Rival, sentences: Sequence[Sentence], parses: Parses) -> Tensor:
        """log p(x | words)."""
        return model.log_prob(sentences)


@dataclass(frozen=True)
class TreeSystem(System[Punctuator]):
    """A model of latent punctuation, with changes to the recipe.

    :ivar direction: where its channel starts to read; "auto" for the better direction on dev.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    direction: str = "auto"
    uses_trees: ClassVar[bool] = True

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train it on the gold trees, and on those of parsers if there are any."""
        recipe, (train, dev, parses, _) = self._recipe(conditions), treebanks
        options: dict[str, Any] = {"seed": conditions.seed, "device": conditions.device}
        size = _trained_on(recipe, len(train)) * (2 if self.direction == "auto" else 1)
        with of_epochs(watch, f"training {self.title}: sentences", size) as progress:
            model = fit_story(train, dev, recipe, direction=self.direction, watch=progress, **options)
        if parses is None:
            return model
        size = _trained_on(recipe, 2 * len(train))
        title = f"training {self.title} on trees of parsers: sentences"
        with of_epochs(watch, title, size) as progress:
            return fit_parsed(model, train, parses[0], dev, parses[1], watch=progress, **options)

    def load(self, place: Path, conditions: Conditions) -> Punctuator:
        """Read it back."""
        recipe = self._recipe(conditions)
        return Punctuator.load(place, variants=(recipe.attach, recipe.channel))

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


@dataclass(frozen=True)
class MixedSystem(TreeSystem):
    """The full model, which also reads a tagger of words if trees are predicted."""

    built_on: ClassVar[str | None] = "full"

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train the tagger on the states of the parser; the story learns on dev to read it."""
        (train, dev, _, model), recipe = treebanks, conditions.slot_tagger_recipe
        assert model is not None
        words = sum(len(sentence.tree) for sentence in train)
        size = recipe.planned_epochs(words) * words
        with of_epochs(watch, "training the tagger: words", size) as progress:
            return fit_tagger(model, train, dev, recipe, seed=conditions.seed, watch=progress)


def _trained_on(recipe: Recipe, sentences: int) -> int:
    """The sentences of all epochs in one direction."""
    return recipe.planned_epochs(sentences) * recipe.epoch_size(sentences)


def _words(parses: Parses) -> list[tuple[str, ...]]:
    return [parse[0].tree.forms for parse in parses]


SYSTEMS: Mapping[str, System[Any]] = {
    "trivial": TrivialSystem("trivial"),
    "crf": RivalSystem(BiLSTMCRF.name, BiLSTMCRF),
    "attention": RivalSystem(BiGRUAttention.name, BiGRUAttention),
    "attach": TreeSystem("attach only", {"channel": "identity"}, direction="left"),
    "full": TreeSystem("full model"),
    "mixed": MixedSystem("full model and tagger"),
}
"""The systems by their names on the command line and in folders, in the order of
`pyropunct.papers.options.RESTORERS`."""


def final_mark(train: Iterable[Sentence]) -> tuple[str, ...]:
    """The most frequent last token of slot n (Li, Wang & Eisner 2019, section 6.1), empty if there is none.

    On ties the lowest code point; abbreviation dots belong to words. Raises ValueError without sentences.
    """
    ends = [sentence.surface[-1][-1:] for sentence in train]
    if not ends:
        raise ValueError("there is no sentence to learn a final mark from")
    marks = Counter(end for end in ends if end not in ((), (START,), (ABBREVIATION_DOT,)))
    return min(marks, key=lambda end: (-marks[end], end), default=())


def ended_in(final: tuple[str, ...], sentences: Sequence[Sequence[str]]) -> list[Surface]:
    """For each sentence of n words START in slot 0 and the final mark in slot n."""
    return [[(START,), *[()] * (len(words) - 1), final] for words in sentences]
