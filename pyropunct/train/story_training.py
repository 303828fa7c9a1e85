"""The training of a story: data, steps, scores, and the resulting model."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, isfinite, nan
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyro
import torch
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoGuide, AutoNormal
from pyro.infer.autoguide.initialization import init_to_mean, init_to_sample, init_to_value
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import blank_story, build_story, settle_story
from pyropunct.fitted.variants import is_own
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.inference.pyro.svi import PointEstimate, normal_in, scale_likelihood
from pyropunct.inference.views import Views, views_of
from pyropunct.models.attach.attach_model import Contexts, join_contexts
from pyropunct.models.checking import check_attach, check_channel
from pyropunct.models.learned import learned_values
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trees import TreeBatch, join_surfaces
from pyropunct.nets.trainer import Perplexity, Trainer, strange
from pyropunct.punctuator import Punctuator
from pyropunct.train.optimisers import optimisers_of
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import Vocabulary

HELD_OUT = 10
"""Without a dev treebank, every tenth training sentence is held out as one."""

CHECKED = 5
"""The number of sentences on which an attach model that is not the package's is checked."""

LARGE_BATCH = 500
"""The number of sentences whose contexts the attach model looks up together."""

NAMED = 3
"""The most sentences that are named where training diverges."""

SAME = 1.001
"""Perplexities with a smaller ratio count as equal: two seeds differ by more.

The last of such epochs is kept, as learning rates fall.
"""

GUIDES: dict[str, Callable[..., AutoGuide]] = {
    "map": PointEstimate,
    "channel": partial(normal_in, "channel"),
    "normal": AutoNormal,
}


Item = TypeVar("Item")
"""A sentence, or a sentence with something."""

_OWN_PARAMETERS = pyro.settings.context(module_local_params=True)
"""The context of every call of a guide; without it, all trainings in a process would share parameters."""


def _random_start(site: dict[str, Any]) -> Tensor:
    """A draw from the prior of a site; from priors wider than N(0, 1), as near to their mean as from it."""
    drawn = init_to_sample(site)
    mean, scale = site["fn"].mean, site["fn"].stddev
    return mean + (drawn - mean) / scale.clamp(min=1) if torch.isfinite(scale).all() else drawn


def held_out(sentences: Iterable[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """The training sentences, and every tenth, or of fewer the last; a single sentence is in both."""
    given = tuple(sentences)
    if len(given) < 2:
        return given, given
    if len(given) < HELD_OUT:
        return given[:-1], given[-1:]
    rest = tuple(sentence for number, sentence in enumerate(given, 1) if number % HELD_OUT)
    return rest, given[HELD_OUT - 1 :: HELD_OUT]


@dataclass
class Training(Trainer):
    """The training of one story."""

    share: ClassVar[float] = 1 / SAME

    vocabulary: Vocabulary
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    recipe: Recipe
    seed: int
    device: str

    @_OWN_PARAMETERS
    def __post_init__(self) -> None:
        pyro.set_rng_seed(self.seed)
        sentences = len(self.train)
        super().__init__(self.recipe.planned_epochs(sentences), self.recipe.epoch_size(sentences))
        self.what = self.recipe.direction
        self.trees = self.vocabulary.encode_trees([sentence.tree for sentence in self.train])
        self.surfaces = [
            self.vocabulary.encode_surface(sentence.surface, sentence.tree) for sentence in self.train
        ]
        self.story = build_story(self.vocabulary, self.recipe, self.surfaces)
        self._contexts: Contexts | None = None
        self.story.attach.learn(self._parts())
        self._check_variants()
        self._contexts = self._look_up()
        assert isinstance(self.story.syntax, HeadOutward)
        self.story.syntax.fit_counts([self.trees])
        self.guide = self._make_guide()
        self.story.to(self.device)
        self.guide.to(self.device)
        self.optimisers = optimisers_of(self.guide, self.story, self.recipe)
        self.elbo = Trace_ELBO()
        self._current = self._blank()
        self._settle(self._current)  # at the start, since not all sites of a foreign variant can be kept
        self._best: Sequence[dict[str, Tensor]] = ()
        self._checked = False

    def _check_variants(self) -> None:
        """Reject variants that break the rules of the story, before spending time on them."""
        few = range(len(self.train))[:CHECKED]
        if is_own(self.recipe.channel):
            self.story.channel.check()
        else:
            check_channel(self.story.channel, self.trees.pick(few))
        if not is_own(self.recipe.attach):
            check_attach(self.story.attach, self.trees.pick(few))

    def _make_guide(self) -> AutoGuide:
        start = _random_start
        if not self.recipe.random_start:
            values = {f"attach.{name}": value for name, value in self.story.attach.starting_point().items()}
            start = init_to_value(values=values, fallback=init_to_mean)
        # A copy: otherwise the prior's own mean tensor would move along with the guide's.
        guide = GUIDES[self.recipe.guide](
            collapse_trees(self.story), init_loc_fn=lambda site: start(site).clone()
        )
        guide(*self.batch([0]))
        return guide

    def batch(self, numbers: Sequence[int]) -> tuple[TreeBatch, Tensor, Views]:
        """Trees, surface strings and `Views` of the training sentences with these numbers, counted from 0."""
        trees = self.trees.pick(numbers)
        surface = join_surfaces([self.surfaces[number] for number in numbers])
        views = views_of(trees.forest, surface, skipped=self.story.inventory.clause_token)
        if self._contexts is not None:
            views = views._replace(contexts=self._contexts.of(self.trees.forest.nodes_of(numbers)))
        return trees, surface, views

    def _parts(self) -> Iterator[tuple[TreeBatch, Views]]:
        """The training treebank in large batches."""
        for first in range(0, len(self.train), LARGE_BATCH):
            trees, _, views = self.batch(range(first, min(first + LARGE_BATCH, len(self.train))))
            yield trees, views

    def _look_up(self) -> Contexts | None:
        """The contexts that the attach model looks up once for the whole treebank, if any."""
        contexts = [self.story.attach.contexts(trees, views) for trees, views in self._parts()]
        known = [part for part in contexts if part is not None]
        return join_contexts(known) if len(known) == len(contexts) else None

    @property
    def perplexity(self) -> float:
        """The perplexity of dev after the best epoch."""
        scores = self.epochs[self.chosen - 1].scores
        assert scores is not None  # because there is always a dev treebank
        return scores["perplexity"]

    def batches(self) -> list[list[int]]:
        """The batches of an epoch, in random order; each is of one treebank, whose trees share weights."""
        order = torch.randperm(len(self.train))[: self.size].tolist()
        of = defaultdict[str, list[int]](list)
        for number in order:
            of[self.train[number].tree.treebank].append(number)
        size = self.recipe.batch_size
        parts = [some[first : first + size] for some in of.values() for first in range(0, len(some), size)]
        return [parts[place] for place in torch.randperm(len(parts)).tolist()] if len(of) > 1 else parts

    def size_of(self, batch: Sequence[int]) -> int:
        """The number of sentences."""
        return len(batch)

    @property
    def is_early(self) -> bool:
        """Whether less than half of ``least_steps`` have been taken: edits are still near their prior."""
        steps = len(self.epochs) * ceil(self.size / self.recipe.batch_size)
        return 2 * steps < self.recipe.least_steps

    def keep(self) -> None:
        """Keep a copy of the current values as the best."""
        self._best = self._weights()

    def score_on_dev(self) -> Perplexity:
        """The perplexity of dev; raises `UserError` if it or a weight is not finite or very large."""
        self._settle(self._current)
        weights = {**learned_values(self._current), **dict(self._current.named_parameters())}
        for name, weight in weights.items():
            if problem := strange(weight):
                raise self._diverged(f"at its end, {name} {problem}")
        try:
            with np.errstate(invalid="ignore"):  # overflow is checked below
                perplexity = self.perplexity_of(self._punctuator(self._current))
        except ImpossibleSurfaceError as error:
            raise self._diverged(f"on dev, {error}") from error
        if not isfinite(perplexity):
            raise self._diverged(f"at its end, the perplexity of dev is {perplexity}")
        return Perplexity(perplexity)

    def perplexity_of(self, model: Punctuator) -> float:
        """The perplexity per slot of dev."""
        return model.evaluate(self.dev).perplexity

    @_OWN_PARAMETERS
    def step(self, numbers: Sequence[int], done: int) -> float:
        """Take a step on numbered sentences; returns the objective per sentence."""
        self.story.is_settled = 2 * len(self.epochs) >= self.planned
        for optimiser in self.optimisers:
            optimiser.zero_grad()
            for group in optimiser.param_groups:
                group["lr"] = group["initial_lr"] * self.decay(done)
        # Every step runs the same sites, so Pyro's slow validation runs on the first step only.
        with pyro.validation_enabled(not self._checked):
            objective = self._objective(numbers)
        self._checked = True
        if not objective.isfinite():
            raise self._diverged_at(numbers)
        objective.backward()
        for optimiser in self.optimisers:
            optimiser.step()
        return float(objective.detach())

    def _objective(self, numbers: Sequence[int]) -> Tensor:
        """The objective per sentence, from a batch; NaN where the probability underflows."""
        model = collapse_trees(scale_likelihood(self.story, len(self.train) / len(numbers)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Encountered NaN")  # Pyro's warning; the caller says more
            try:
                loss = self.elbo.differentiable_loss(model, self.guide, *self.batch(numbers))
            except ImpossibleSurfaceError:
                return torch.tensor(nan)
        return loss / len(self.train)

    @torch.no_grad()
    def _diverged_at(self, numbers: Sequence[int]) -> UserError:
        """The error for an objective that is not finite; names the sentences that cause it."""
        lost = [number for number in numbers if not self._objective([number]).isfinite()] or numbers
        longest = {number: max(map(len, self.train[number].surface)) for number in lost}
        worst = sorted(lost, key=lambda number: -longest[number])
        names = ", ".join(repr(self.train[number].identifier) for number in worst[:NAMED])
        more = f" and {len(lost) - NAMED} others" if len(lost) > NAMED else ""
        marks = f"up to {longest[worst[0]]} marks in a slot"
        return self._diverged(f"the objective is no finite number at {names}{more}, with {marks}")

    def _diverged(self, problem: str) -> UserError:
        place = f"epoch {len(self.epochs) + 1}, direction {self.recipe.direction}"
        advice = "take lower learning rates and usual settings, or leave such sentences out"
        return UserError(f"training diverged in {place}: {problem} ({advice})")

    def decay(self, done: int) -> float:
        """The factor of a learning rate: 1, or with decay linear from 1 to 0.01."""
        passed = len(self.epochs) + done / self.size
        return max(0.01, 1 - passed / self.planned) if self.recipe.decay else 1.0

    @_OWN_PARAMETERS
    def punctuator(self) -> Punctuator:
        """A copy of the model of the best epoch, or of the untrained one."""
        story = self._blank()
        settle_story(story, *(self._best or self._weights()))
        return self._punctuator(story.to(self.device))

    def _punctuator(self, story: Story) -> Punctuator:
        weights = [*learned_values(story).values(), *story.parameters()]
        report = {
            "epochs": [
                {"number": one.number, "objective": one.loss, **(one.scores or {}), "seconds": one.seconds}
                for one in self.epochs
            ],
            "chosen": self.chosen,
            "train_sentences": len(self.train),
            "dev_sentences": len(self.dev),
            "weights": sum(weight.numel() for weight in weights),
        }
        return Punctuator(self.vocabulary, self.recipe, story, report)

    def _blank(self) -> Story:
        return blank_story(self.vocabulary, self.recipe).to(self.device)

    @_OWN_PARAMETERS
    def _settle(self, story: Story) -> None:
        """Settle another story at the current values; they share buffers and weights."""
        settle_story(story, self.story.state_dict(), *_posterior(self.guide))

    @_OWN_PARAMETERS
    def _weights(self) -> list[dict[str, Tensor]]:
        """A copy of the current values, as `settle_story` takes them."""
        parts = self.story.state_dict(), *_posterior(self.guide)
        return [{name: tensor.clone() for name, tensor in part.items()} for part in parts]

    def state(self) -> dict[str, Any]:
        """See `Trainer.state`."""
        return {
            **super().state(),
            "guide": self.guide.state_dict(),
            "story": self.story.state_dict(),
            "best": self._best,
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """See `Trainer.go_on_from`."""
        self.guide.load_state_dict(state["guide"])
        self.story.load_state_dict(state["story"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self._best = state["best"]
        super().go_on_from(state)


def _posterior(guide: AutoGuide) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The guide's point values of all sites, and their standard deviations if it has them."""
    with torch.no_grad():
        values = {name: value.detach() for name, value in guide.median().items()}
    # Every site of the story is real-valued, so the guide's scales are those of the sites.
    scales = {
        name: normal._get_loc_and_scale(name)[1].detach()
        for normal in guide.modules()
        if isinstance(normal, AutoNormal)
        for name, _ in normal.prototype_trace.iter_stochastic_nodes()
    }
    return values, scales
