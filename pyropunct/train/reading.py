"""Learns how far to trust a tagger: the weights of `pyropunct.models.trust`, by SVI, and the tagger's share
in the pool with the story, see `pyropunct.restore.deciding`.  The other weights of the story are not changed.
"""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import pyro
import torch
from pyro.infer.autoguide import AutoDelta
from pyro.infer.autoguide.initialization import init_to_mean

from pyropunct.fitted.story import FittedStory
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.elbo import scale_likelihood, tree_elbo
from pyropunct.models.learned import settle
from pyropunct.models.trees import join_surfaces
from pyropunct.models.trust import Trust
from pyropunct.nets.parser import WeightedTree
from pyropunct.nets.tagger import SlotTagger
from pyropunct.restore.deciding import draws_of, pooled, voices_of
from pyropunct.restore.parses import FittedModel
from pyropunct.treebank.sentence import Sentence

EPOCHS, BATCH, RATE = 6, 40, 0.05
"""Passes over the trees, trees of a step, and Adam's learning rate, which falls to zero."""

TREES = 2
"""The heaviest trees of a sentence that are learned from."""

SHARES = tuple(number / 20 for number in range(21))
"""The shares that are tried."""

MOST, DRAWS = 500, 200
"""The most sentences by which a share is chosen, and the draws of each."""

LEAST = 1e-4
"""The least probability that a string is taken to have, so that no single one decides."""


def fit_reading(
    fitted: FittedStory,
    tagger: SlotTagger,
    sentences: Sequence[Sentence],
    parses: Sequence[Sequence[WeightedTree]],
    *,
    seed: int = 0,
) -> FittedStory:
    """A copy of a story for parser output that reads a tagger.

    :param sentences: at least one, unseen by story and tagger.
    """
    story = deepcopy(fitted.story)
    story.reading = Trust(fitted.vocabulary.inventory)
    parts = fitted.vocabulary, fitted.recipe, story, fitted.report
    found = FittedStory(*parts, tagger=tagger)
    pairs = [
        (one.tree, sentence.surface)
        for sentence, trees in zip(sentences, parses, strict=True)
        for one in sorted(trees, key=lambda tree: -tree.weight)[:TREES]
    ]
    trees = found.encode_trees([tree for tree, _ in pairs])
    surfaces = [found.vocabulary.encode_surface(surface) for _, surface in pairs]
    with torch.random.fork_rng(devices=[]), pyro.settings.context(module_local_params=True):
        torch.manual_seed(seed)
        guide = AutoDelta(collapse_trees(story), init_loc_fn=init_to_mean)
        first = trees.pick([0]), join_surfaces(surfaces[:1])
        guide(*first)
        elbo = tree_elbo(story, guide, *first)
        optimiser = torch.optim.Adam(guide.parameters(), RATE)
        batches = [some for _ in range(EPOCHS) for some in torch.randperm(len(pairs)).split(BATCH)]
        decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, len(batches))
        for numbers in (batch.tolist() for batch in batches):
            model = scale_likelihood(story, len(sentences) / len(numbers))
            some = trees.pick(numbers), join_surfaces([surfaces[number] for number in numbers])
            optimiser.zero_grad()
            elbo.differentiable_loss(model, guide, *some).backward()
            optimiser.step()
            decay.step()
        values = {name.removeprefix("reading."): value.detach() for name, value in guide.median().items()}
    settle(story.reading, values)
    story.eval()
    return found


def likeliest_share(
    model: FittedModel,
    sentences: Sequence[Sentence],
    parses: Sequence[Sequence[WeightedTree]],
    *,
    seed: int = 0,
) -> float:
    """The tagger's share in the pool that makes the slot strings most probable.

    :param sentences: at least one, unseen by both; `MOST` of them are used.
    """
    some = range(0, len(sentences), -(-len(sentences) // MOST))
    trees = [parses[number] for number in some]
    voices = voices_of(model, trees)
    total = np.zeros(len(SHARES))
    for number, draws, heard in zip(some, draws_of(model, trees, voices, DRAWS, seed), voices, strict=True):
        known = model.vocabulary.known_surface(sentences[number].surface)
        for place, share in enumerate(SHARES):
            pool = pooled(draws, heard, share)
            column = {string: column for column, string in enumerate(pool.strings)}
            assert pool.shares is not None
            found = [
                pool.shares[slot, column[tuple(string)]] if tuple(string) in column else 0.0
                for slot, string in enumerate(known)
            ]
            total[place] += np.log(np.maximum(found, LEAST)).sum()
    return SHARES[int(total.argmax())]
