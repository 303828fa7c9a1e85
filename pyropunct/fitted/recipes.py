"""Training settings of a story for `fit`, and the texts ``NAME=VALUE`` that set them.  Needs no torch."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil, isfinite
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pyropunct.errors import SettingError
from pyropunct.limits import Count, Limits, NotNegative, Range, forbidden, limits, listed
from pyropunct.untrusted import texts

PAPER_FAMILIES = ("symmetry", "head", "paths", "flanks", "inside")
"""The feature families that Li, Wang & Eisner (2019, section 2.1) describe."""

DEFAULT_FAMILIES = (*PAPER_FAMILIES, "rhythm", "spans", "siblings", "words", "shapes")
"""The paper's families and others; further ones in `pyropunct.models.attach.features` do not help."""

OF_TREEBANKS = "treebanks"
"""The family of features of single treebanks; `pyropunct.fit` adds it if there are several treebanks."""


OWN_SETTINGS: dict[str, dict[str, str]] = {
    "attach": {
        "families": "families",
        "least": "least",
        "prior_scale": "prior_scale",
        "completes": "page_decides",
    },
    "channel": {"prior_scale": "edit_prior_scale", "prior_keep": "prior_keep"},
}
"""Constructor options of attach models and channels that every recipe sets, each with the setting's name."""

Options = tuple[tuple[str, Any], ...] | Mapping[str, Any]
"""Names and values."""


Above0 = Annotated[float, Range(above=0)]
From0 = Annotated[float, Range(0)]


@dataclass(frozen=True)
class Recipe:
    """All settings that determine a fit, apart from the data and the seed.

    :ivar attach: attach model: log-linear, local, or ``module:Class``.
    :ivar channel: noisy channel: sliding-window, identity, strength, pooled, languages, two-passes,
        inserting, or ``module:Class``.
    :ivar direction: where the channel starts to read, "left" or "right".
    :ivar families: feature families of the log-linear attach model; in a text, separated by commas.
    :ivar least: skip features of contexts seen at fewer nodes of the training treebank.
    :ivar prior_scale: standard deviation s of the normal prior of the feature weights; the penalty
        varsigma of the paper's equation (5) is 1 / (2 s^2).
    :ivar edit_prior_scale: the same for the logits of the edits.
    :ivar prior_keep: the mean of the prior of the logits of keeping two tokens as they are.
    :ivar symmetry_weight: xi of equation (5), the weight of the penalty on unbalanced punctemes.
    :ivar economy_weight: kappa, the weight of the penalty on marks that explain nothing or sit further inside
        than need be; see `pyropunct.models.economy.Economy`.
    :ivar empty_score: added to the score of the empty pair, for an attach model that does not start by
        preferring it.
    :ivar parts: whether brackets and quotation marks may enclose a part of a constituent, see
        `pyropunct.models.extensions`.
    :ivar clauses: whether the channel knows where a clause begins behind a conjunction or subordinator, as it
        knows where a sentence begins: then it learns whether a comma stays there.
    :ivar page_decides: whether the sides on which constituents have commas in the middle of sentences, where
        the page shows both, decide on those at the edges; else features of place do.
    :ivar flanking: whether W_d has only the pairs of punctemes that flank a constituent in training.
    :ivar slip_mean: the mean of the normal prior of the log-odds of a slip; ``slip_scale`` its standard
        deviation.
    :ivar random_start: start from draws of the priors instead of their means, of wide ones as from N(0, 1).
    :ivar guide: "map" for a point estimate, "normal" for a mean-field normal posterior over all weights,
        "channel" for one over the channel's weights, with a point estimate of all others.
    :ivar epochs: passes over the data (or samples of it, see ``sentences_per_epoch``), unless
        ``least_steps`` needs more.
    :ivar least_steps: minimum number of steps, for small treebanks; dev chooses no epoch before half of them.
    :ivar sentences_per_epoch: the number of sentences drawn for each epoch; 0 for all.
    :ivar batch_size: the number of sentences in a step.
    :ivar optimiser: "adagrad" for sparse updates of the weights of a log-linear attach model; or "adam" for
        all weights.
    :ivar sparse_learning_rate: Adagrad's rate at the start.
    :ivar learning_rate: Adam's rate at the start, for the attach model.
    :ivar edit_learning_rate: the same for the channel, whose weights do not add up in hundreds.
    :ivar network_learning_rate: AdamW's rate at the start, for plain parameters of the story's parts, which
        have no priors.
    :ivar network_weight_decay: the share of the rate by which AdamW shrinks them at each step.
    :ivar decay: whether the learning rates fall linearly to zero.
    :ivar attach_options: further arguments of the attach model's constructor, by their names; given as a
        mapping, kept as pairs in the order of their names.  Those in `OWN_SETTINGS` go to these settings.
    :ivar channel_options: the same for the channel.
    """

    attach: str = "log-linear"
    channel: str = "sliding-window"
    direction: str = "left"
    families: Annotated[tuple[str, ...], listed] = DEFAULT_FAMILIES
    least: Count = 2
    prior_scale: Above0 = 0.35
    edit_prior_scale: Above0 = 30.0
    prior_keep: Annotated[float, Range(-1000, 1000)] = 1.0
    symmetry_weight: From0 = 0.0
    economy_weight: From0 = 0.2
    empty_score: Annotated[float, Range(0, 1000)] = 0.0
    parts: bool = True
    clauses: bool = True
    page_decides: bool = True
    flanking: bool = False
    slip_mean: Annotated[float, Range(-1000, 1000)] = -7.0
    slip_scale: Above0 = 1.0
    random_start: bool = False
    guide: Literal["map", "channel", "normal"] = "map"
    epochs: Count = 5
    least_steps: NotNegative = 0
    sentences_per_epoch: NotNegative = 0
    batch_size: Count = 64
    optimiser: Literal["adagrad", "adam"] = "adagrad"
    sparse_learning_rate: Above0 = 0.08
    learning_rate: Above0 = 0.02
    edit_learning_rate: Above0 = 0.25
    network_learning_rate: Above0 = 0.002
    network_weight_decay: From0 = 0.01
    decay: bool = True
    attach_options: Options = ()
    channel_options: Options = ()

    def __post_init__(self) -> None:
        for part, own in OWN_SETTINGS.items():
            options = dict(getattr(self, f"{part}_options"))
            for name in own.keys() & options.keys():
                object.__setattr__(self, own[name], _frozen(options.pop(name)))
            pairs = tuple((name, _frozen(options[name])) for name in sorted(options))
            object.__setattr__(self, f"{part}_options", pairs)

    def changed(self, **changes: Any) -> "Recipe":
        """The recipe with other settings; options of a replaced attach model or channel are dropped.

        :param changes: some fields.  Epochs are exact, unless ``least_steps`` is given too.  An identity
            channel hides nothing at edges, so that by default it is `PLAIN`.
        """
        if changes.get("channel") == "identity":
            changes = {**PLAIN, **changes}
        if "epochs" in changes:
            changes = {"least_steps": 0, **changes}
        for part in OWN_SETTINGS:
            if changes.get(part, getattr(self, part)) != getattr(self, part):
                changes = {f"{part}_options": (), **changes}
        return replace(self, **changes)

    def epoch_size(self, sentences: int) -> int:
        """The sentences of an epoch, for a training treebank of this size."""
        return min(self.sentences_per_epoch or sentences, sentences)

    def planned_epochs(self, sentences: int) -> int:
        """The number of epochs, for a training treebank of this size."""
        steps = ceil(self.epoch_size(sentences) / self.batch_size)
        return max(self.epochs, ceil(self.least_steps / steps))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, for `from_json`."""
        return asdict(self) | {name: dict(getattr(self, name)) for name in OPTIONS}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Recipe":
        """The recipe that `to_json` wrote; raises `TypeError` or `ValueError`.

        Settings that the file lacks have their defaults; those in `LATER` are off.
        """
        default = asdict(cls()) | dict.fromkeys(LATER, False)
        known = {name: plain.get(name, default[name]) for name in default}
        for name, usual in default.items():
            kinds = (int, float) if isinstance(usual, float) else (type(usual),)
            if name not in (*OPTIONS, "families") and type(known[name]) not in kinds:
                raise TypeError(f"{name} is {known[name]!r}, not {KINDS[type(usual)]}")
        texts("families", known["families"])
        for name in OPTIONS:
            if not isinstance(known[name], Mapping | tuple):
                raise TypeError(f"{name} is {known[name]!r}, not options by their names")
        recipe = cls(**{**known, "families": tuple(known["families"])})
        if wrong := forbidden(recipe):
            raise ValueError(f"the setting {wrong}")
        return recipe


KINDS = {float: "a number", int: "a whole number", bool: "true or false", str: "a text", tuple: "some texts"}
"""The name of each type in messages."""

LATER = ("parts", "clauses", "page_decides")
"""Settings that earlier versions lacked; a model whose file lacks them was fitted with False."""

PLAIN: dict[str, Any] = {"clauses": False, "page_decides": False}
"""Settings of models whose underlying trees nobody reads, in comparisons of channels or of restoration."""

OF_PARSED: dict[str, Any] = {"economy_weight": 0.0, "parts": False, **PLAIN}
"""The settings of a story for parser output: it predicts better without the penalties and options that make
underlying trees readable, and nobody reads its trees."""

OPTIONS = tuple(f"{part}_options" for part in OWN_SETTINGS)
"""The fields that hold options."""


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


RECIPES: dict[str, Recipe] = {
    "default": Recipe(),
    "rules": Recipe(
        channel="pooled", edit_prior_scale=1.0, prior_keep=-1.0, edit_learning_rate=0.03, least_steps=300
    ),
    "languages": Recipe(
        channel="languages", least=3, edit_prior_scale=2.0, guide="channel", sparse_learning_rate=0.06
    ),
    "own": Recipe(empty_score=5.0, learning_rate=0.2, network_learning_rate=0.01),
    "paper": Recipe(
        families=PAPER_FAMILIES,
        least=1,
        prior_scale=0.35,
        edit_prior_scale=1000.0,
        prior_keep=0.0,
        symmetry_weight=1.0,
        economy_weight=0.0,
        parts=False,
        clauses=False,
        page_decides=False,
        flanking=True,
        slip_mean=-20.0,
        slip_scale=0.01,
        random_start=True,
        epochs=30,
        sentences_per_epoch=400,
        batch_size=5,
        optimiser="adam",
        learning_rate=0.07,
        edit_learning_rate=0.07,
    ),
}
"""Named recipes: "own" is for attach models that users write, "rules" for models whose rules are to be read;
"languages" for models of several languages.

"paper" has the W_d of Li, Wang & Eisner (2019), hardly any slip (2e-9, so that each sentence has a
probability), no prior of edits, and the optimiser, rate, epochs and batches of their section 3.2.  It guesses
what they do not print: xi, varsigma (chosen on English dev, as theirs were), least, and the templates of
their feature families.  Its learning rates fall to zero: at a constant rate of 0.07 training diverges."""


def named_recipe(name: str, **changes: Any) -> Recipe:
    """A recipe of `RECIPES` with some settings changed; raises `KeyError` if it does not exist.

    "default" is "own" for an attach model ``module:Class``.
    """
    if name == "default" and ":" in str(changes.get("attach")):
        name = "own"
    return RECIPES[name].changed(**changes)


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a model learns from text.

    :ivar running: the text is running text, with sentences that end anywhere in lines.  Blank lines part
        paragraphs.
    :ivar most: the most sentences to learn from; of longer texts, parts from all over them.
    :ivar trees: trees of each sentence that weights are learned from: the best one, and draws.
    :ivar epochs: passes over them to learn these weights.
    """

    running: bool = False
    most: Count = 100_000
    trees: Count = 2
    epochs: Count = 3


def parsed_setting(text: str, elsewhere: Collection[str] = ()) -> tuple[str, Any]:
    """Parse a setting ``name=value``.

    :param text: a field of `Recipe`, and its value, a number, a name, ``true`` or ``false``.
    :raises SettingError: if there is no such setting, or the value is not valid.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    settings = {name: limits(hint) for name, hint in get_type_hints(Recipe, include_extras=True).items()}
    kinds = {name: kind for name, limit in settings.items() if (kind := _kind_of_setting(limit))}
    if not equals:
        raise SettingError(f"{text!r} is not of the form NAME=VALUE")
    if name in elsewhere:
        raise SettingError(f"{name} has an option of its own")
    if name not in kinds:
        takes = ", ".join(sorted(kinds.keys() - set(elsewhere)))
        raise SettingError(f"no setting is called {name!r}: take {takes}")
    parsed = parsed_value(name, value, kinds[name])
    names, bounds = get_args(settings[name].kind), settings[name].first(Range)
    if names and parsed not in names:
        raise SettingError(f"{name} is {' or '.join(names)}, not {value!r}")
    if bounds is not None and parsed not in bounds:
        raise SettingError(f"{name} is {bounds}, not {value}")
    return name, parsed


def _kind_of_setting(limit: Limits) -> type | None:
    """The type of a plain setting; None for settings that cannot be written as text."""
    kind = str if get_origin(limit.kind) is Literal else limit.kind
    return kind if kind in (int, float, bool, str) and not limit.several else None


def parsed_value(name: str, text: str, kind: type) -> Any:
    """Parse a float, int, bool, str, or comma-separated texts (tuple); raises `SettingError`."""
    if kind is str:
        return text
    if kind is tuple:
        return listed(text)
    read = {"true": True, "false": False}.__getitem__ if kind is bool else kind
    try:
        value = read(text)
    except (KeyError, ValueError):
        raise SettingError(f"{name} is {KINDS[kind]}, not {text!r}") from None
    if kind is float and not isfinite(value):
        raise SettingError(f"{name} is a finite number, not {text!r}")
    return value
