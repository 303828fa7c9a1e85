"""The compared systems, and the parsers whose trees they punctuate: training, saving and use."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from torch import Tensor

from pyropunct.compare.experiment import Watch, of_epochs
from pyropunct.files import texts
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variants import reads_pretrained
from pyropunct.nets.parser import BiaffineParser, WeightedTree, fold_recipe, train_parser
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.rivals.settings import RESTORERS
from pyropunct.rivals.taggers.kinds import BiGRUAttention, BiLSTMCRF, load_rival, train_rival
from pyropunct.rivals.taggers.rival import Rival
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.train.fitting import fit_story
from pyropunct.train.parser_output import fit_parsed, fit_tagger
from pyropunct.treebank.sentence import Sentence

Model = TypeVar("Model")
"""The type of a trained system."""

Parses = Sequence[Sequence[WeightedTree]]
"""The trees of each sentence, the heaviest first."""


class Treebanks(NamedTuple):
    """The data for training, and for early stopping (``dev``).

    :ivar parses: for each sentence of either treebank the trees of a parser that has not seen it; None to
        train on gold trees alone.
    :ivar model: the model with the parser of the table, for systems that extend one.
    :ivar text: sentences of text to learn from besides, once for each tree of the parser; ``text_once``, each
        once.
    """

    train: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    parses: tuple[Parses, Parses] | None = None
    model: Punctuator | None = None
    text: Sequence[Sentence] = ()
    text_once: Sequence[Sentence] = ()


@dataclass(frozen=True)
class System(ABC, Generic[Model]):
    """How a system is trained, saved and used; ``title``: its name in tables.

    :cvar uses_trees: whether it punctuates trees; otherwise it punctuates their words.
    :cvar built_on: the name of the system whose trained model it extends, with a parser; None for most.
    """

    title: str
    uses_trees: ClassVar[bool] = False
    built_on: ClassVar[str | None] = None

    @abstractmethod
    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Model:
        """Train it; dev may be used to decide when to stop."""

    def save(self, model: Any, place: Path) -> None:
        """Write a trained system to a model file."""
        model.save(place)

    @abstractmethod
    def load(self, place: Path, conditions: Conditions) -> Model:
        """Read a model trained under these conditions. A damaged file raises a ValueError that names it."""

    @abstractmethod
    def restore(self, model: Model, parses: Parses, conditions: Conditions) -> Iterable[Surface]:
        """Punctuate each sentence, given its trees; a system without trees uses only their words."""

    def log_prob(self, model: Model, sentences: Sequence[Sentence], parses: Parses) -> Tensor | None:
        """(sentences,) natural log p(x | words), averaged over trees; None without probabilities."""
        return None

    def report(self, model: Model) -> Mapping[str, Any]:
        """What happened in training, in plain JSON types."""
        return {}


class TrivialSystem(System[tuple[str, ...]]):
    """The trivial system: every sentence ends in the most frequent final mark, and has no others."""

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> tuple[str, ...]:
        """Learn the final mark."""
        return final_mark(treebanks.train)

    def save(self, model: tuple[str, ...], place: Path) -> None:
        """Write it as a model without tensors."""
        write_model_file(place, {"vocabulary": list(model), "recipe": {}, "report": {}}, {})

    def load(self, place: Path, conditions: Conditions) -> tuple[str, ...]:
        """Read it back."""
        plain, _ = read_model_file(place)
        return tuple(texts(f"{place}: the final mark", plain.get("vocabulary")))

    def restore(self, model: tuple[str, ...], parses: Parses, conditions: Conditions) -> list[Surface]:
        """Punctuate the words."""
        return ended_in(model, _words(parses))


@dataclass(frozen=True)
class RivalSystem(System[Rival]):
    """A recurrent network over words, whose ``kind`` is one of `pyropunct.rivals.taggers.kinds.RIVALS`."""

    kind: str

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Rival:
        """Train it, stopping early on dev."""
        recipe, train = conditions.rival_recipe, (*treebanks.train, *treebanks.text_once)
        slots = sum(len(sentence.surface) for sentence in train)
        epochs = recipe.planned_epochs(len(train))
        both, device, read = (train, treebanks.dev), conditions.device, conditions.pretrained
        with watch(f"training {self.title}: slots", epochs * slots) as advance:
            progress = of_epochs(advance)
            return train_rival(
                self.kind, *both, recipe, conditions.seed, progress, device=device, pretrained=read
            )

    def load(self, place: Path, conditions: Conditions) -> Rival:
        """Read it back."""
        return load_rival(place, conditions.pretrained)

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
    """A model of latent punctuation, with changes to the recipe.

    :ivar direction: where its channel starts to read; "auto" for the better direction on dev.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    direction: str = "auto"
    uses_trees: ClassVar[bool] = True

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train it on the gold trees, and on those of parsers if there are any."""
        recipe, (train, dev, parses, _, text, _) = self._recipe(conditions), treebanks
        options: dict[str, Any] = {"seed": conditions.seed, "device": conditions.device}
        read = conditions.pretrained if reads_pretrained(recipe) else None
        size = _trained_on(recipe, len(train)) * (2 if self.direction == "auto" else 1)
        with watch(f"training {self.title}: sentences", size) as advance:
            options["watch"] = of_epochs(advance)
            model = fit_story(train, dev, recipe, direction=self.direction, pretrained=read, **options)
        if parses is None:
            return model
        size = _trained_on(recipe, 2 * len(train) + len(text))
        with watch(f"training {self.title} on trees of parsers: sentences", size) as advance:
            options["watch"] = of_epochs(advance)
            return fit_parsed(model, train, parses[0], dev, parses[1], text=text, **options)

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

    def report(self, model: Punctuator) -> Mapping[str, Any]:
        """Its epochs, and the direction that was chosen."""
        parsed = None if model.parsed is None else model.parsed.report
        return {**model.report, "direction": model.recipe.direction, "parsed_trees": parsed}


@dataclass(frozen=True)
class MixedSystem(TreeSystem):
    """The full model, which also reads a tagger of words if trees are predicted."""

    built_on: ClassVar[str | None] = "full"

    def train(self, treebanks: Treebanks, conditions: Conditions, watch: Watch) -> Punctuator:
        """Train the tagger on the states of the parser; the story learns on dev to read it."""
        (train, dev, _, model, _, text), recipe = treebanks, conditions.slot_tagger_recipe
        assert model is not None
        words = sum(len(sentence.tree) for sentence in (*train, *text))
        with watch("training the tagger: words", recipe.planned_epochs(words) * words) as advance:
            options: dict[str, Any] = {"seed": conditions.seed, "watch": of_epochs(advance)}
            return fit_tagger(model, train, dev, recipe, text=text, **options)

    def report(self, model: Punctuator) -> Mapping[str, Any]:
        """The epochs of the tagger."""
        assert model.tagger is not None
        return model.tagger.report


def _trained_on(recipe: Recipe, sentences: int) -> int:
    """The sentences of all epochs in one direction."""
    return recipe.planned_epochs(sentences) * recipe.epoch_size(sentences)


def _words(parses: Parses) -> list[tuple[str, ...]]:
    return [parse[0].tree.forms for parse in parses]


_IN_ORDER: Sequence[System[Any]] = (
    TrivialSystem("trivial"),
    RivalSystem(BiLSTMCRF.name, "crf"),
    RivalSystem(BiGRUAttention.name, "attention"),
    TreeSystem("attach only", {"channel": "identity"}, direction="left"),
    TreeSystem("full model"),
    MixedSystem("full model and tagger"),
)
SYSTEMS: Mapping[str, System[Any]] = dict(zip(RESTORERS, _IN_ORDER, strict=True))
"""The systems by their names on the command line and in folders."""


# Parsers


def share_of(treebanks: Treebanks, share: int) -> tuple[Sentence, ...]:
    """The first ``share`` percent of the training sentences, at least one."""
    return treebanks.train[: -(-share * len(treebanks.train) // 100)]


def parser_of(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    conditions: Conditions,
    watch: Watch,
    purpose: str,
    *,
    marks: bool = False,
) -> BiaffineParser:
    """Train a parser, which reads marks if ``marks``.

    :param dev: chooses the epoch; None for the parser of a fold.
    """
    recipe = conditions.parser_recipe if dev is not None else fold_recipe(conditions.parser_recipe)
    words = sum(len(sentence.tree) for sentence in train)
    size = recipe.planned_epochs(words) * words
    read, seed = conditions.pretrained, conditions.seed
    with watch(f"training the parser {purpose}: words", size) as advance:
        progress = of_epochs(advance)
        return train_parser(train, dev, recipe, pretrained=read, marks=marks, seed=seed, watch=progress)


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
