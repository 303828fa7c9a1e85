"""The two parts of a model that are for parser output: weights, and a tagger.

A story p(x | T) trained on treebank trees alone trusts all mistakes of a parser.  So restoration uses a
second story, trained on each sentence twice: with its treebank tree, and with the tree of a parser that has
not seen the sentence (`pyropunct.nets.jackknife.jackknifed`): see `fit_parsed`.  Underlying trees and
rules come from the first story.

The second story reads a tagger (`pyropunct.nets.tagger`), which needs no tree and makes other mistakes.  How
far the tagger is trusted is learned from sentences that neither has seen: see `with_tagger`.

Example::

    from dataclasses import replace

    from pyropunct import fit, read_treebank
    from pyropunct.nets.jackknife import jackknifed
    from pyropunct.nets.parser import train_parser
    from pyropunct.train.parser_output import fit_parsed, fit_tagger

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    model = replace(fit(train, dev), parser=train_parser(train, dev))
    model = fit_parsed(model, train, jackknifed(train), dev)
    model = fit_tagger(model, train, dev)
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import product

import numpy as np
import pyro
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from pyro.infer.autoguide.initialization import init_to_mean

from pyropunct.errors import MissingPartError
from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.fitted.recipes import OF_PARSED
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.models.extensions import Trust
from pyropunct.models.learned import settle
from pyropunct.models.trees import join_surfaces
from pyropunct.nets.jackknife import with_trees
from pyropunct.nets.parser import BiaffineParser, WeightedTree, attachment_scores
from pyropunct.nets.tagger import SlotTagger, SlotTaggerRecipe, train_slot_tagger
from pyropunct.nets.trainer import AnyCheckpoint, Watch
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import draws_of
from pyropunct.restore.parses import NO_PARSER, weighted_trees
from pyropunct.restore.pooling import pooled, voices_of
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.story_training import Training, held_out
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import with_pairs_of

TRUST_EPOCHS, TRUST_BATCH, TRUST_RATE = 6, 40, 0.05
"""For the trust in a tagger: passes over the trees, trees of a step, and Adam's learning rate, which falls to
zero."""

TRUST_TREES = 2
"""The heaviest trees of a sentence from which the trust is learned."""

SHARES, READER_SHARES = tuple(number / 20 for number in range(21)), (0.0, 0.5, 1.0)
"""The shares that are tried: of networks in the pool with the story, and of the reader among them."""

MOST_SHARED, DRAWS = 500, 200
"""The most sentences by which a share is chosen, and the draws of each."""

LEAST_PROBABILITY = 1e-4
"""Smaller probabilities of a string are raised to this, so that no single string decides."""


def fit_parsed(
    model: Punctuator,
    train: Iterable[Sentence],
    parses: Iterable[Sequence[WeightedTree]],
    dev: Iterable[Sentence] | None = None,
    dev_parses: Iterable[Sequence[WeightedTree]] | None = None,
    *,
    text: Sequence[Sentence] = (),
    latent: Sequence[Sentence] = (),
    epochs: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    checkpoint: Checkpoint | None = None,
    watch: Watch | None = None,
) -> Punctuator:
    """Fit the story for parser output to the sentences that `pyropunct.fit` was given; raises its errors.

    :param parses: the trees of each sentence, see `pyropunct.nets.jackknife.jackknifed`.
    :param dev: sentences that choose the epoch; by default every tenth training sentence, with its trees.
    :param dev_parses: the trees of each dev sentence; by default the model's parser gives them.
    :param text: further sentences with parsed trees; see `pyropunct.train.texts`.
    :param latent: further sentences whose trees are summed over: see `pyropunct.train.all_trees`.
    :returns: the model with `Punctuator.parsed`, whose report has the parser's ``scores``, and ``perplexity``
        and ``unparsed_perplexity`` of dev over its trees.
    :raises MissingPartError: if neither dev has trees nor the model a parser.
    :raises ValueError: if the numbers of parses and sentences differ.
    """
    pairs = tuple(zip(train, parses, strict=True))
    if dev is None:
        seen, unseen = held_out(pairs)
    else:
        dev = tuple(dev)
        if dev_parses is None:
            dev_parses = parses_of(model, dev)
        seen, unseen = pairs, tuple(zip(dev, dev_parses, strict=True))
    sentences = [sentence for sentence, _ in seen]
    sentences += with_trees(sentences, [trees for _, trees in seen])
    sentences += [*text, *latent]
    vocabulary = with_pairs_of(
        model.vocabulary.without_clauses(),
        [(sentence.tree, sentence.surface) for sentence in sentences],
        flanking=model.recipe.flanking,
    )
    of_unseen = [sentence for sentence, _ in unseen], [trees for _, trees in unseen]
    last = with_trees(*of_unseen)
    recipe = model.recipe.changed(**OF_PARSED, **({} if epochs is None else {"epochs": epochs}))
    arguments = vocabulary, sentences, last, recipe, seed, device
    if latent:
        from pyropunct.train.all_trees import LatentTraining

        known = len(sentences) - len(latent)
        training: Training = LatentTraining(*arguments, parser=model.parser, known=known)
    else:
        training = Training(*arguments)
    training.run(checkpoint, watch)
    parsed = training.punctuator()
    best, gold = [trees[0].tree for _, trees in seen], [sentence.tree for sentence, _ in seen]
    report = {
        **parsed.report,
        "seed": seed,
        "scores": attachment_scores(best, gold)._asdict() if seen else None,
        "perplexity": perplexity_over_trees(parsed, *of_unseen),
        "unparsed_perplexity": perplexity_over_trees(replace(model, parsed=None), *of_unseen),
    }
    parsed.story.syntax = model.story.syntax  # the typology of trees is not to be learned from a parser
    # A file has one recipe, so a reloaded model reports the same.
    kept_recipe = model.recipe.changed(**OF_PARSED)
    added = replace(parsed, recipe=kept_recipe, report=report)
    return replace(model, parsed=added)


def parses_of(model: Punctuator, sentences: Sequence[Sentence]) -> list[list[WeightedTree]]:
    """The parser's trees of the words of each sentence, of the same treebank as the sentence."""
    parses = weighted_trees(model, [sentence.tree.forms for sentence in sentences])
    return [
        [one._replace(tree=replace(one.tree, treebank=sentence.tree.treebank)) for one in trees]
        for sentence, trees in zip(sentences, parses, strict=True)
    ]


def perplexity_over_trees(
    model: Punctuator, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
) -> float:
    """The perplexity per slot, over the trees of each sentence: see `Punctuator.log_prob_over_trees`."""
    return Evaluation.of(sentences, model.log_prob_over_trees(sentences, parses)).perplexity


def fit_tagger(
    model: Punctuator,
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: SlotTaggerRecipe | None = None,
    *,
    text: Iterable[Sentence] = (),
    seed: int = 0,
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> Punctuator:
    """Train a tagger of words for a model; the text is further sentences, whose trees are ignored.

    :param model: fitted to the same sentences, with a `BiaffineParser`, by `fit_parsed`.
    :param dev: sentences that choose epoch and weights; by default those that `pyropunct.fit` holds out.
    :returns: the model with `Punctuator.tagger`, read by its story for parser output.  The report has
        perplexities of dev: ``trees_perplexity`` over trees, ``perplexity`` of the tagger, and
        ``reading_perplexity`` of both.
    :raises MissingPartError: if the model has no parser.
    :raises TypeError: if its parser is of another kind.
    """
    seen, unseen = held_out(train) if dev is None else (tuple(train), tuple(dev))
    parser = model.parser
    if parser is None:
        raise MissingPartError(NO_PARSER)
    if not isinstance(parser, BiaffineParser):
        raise TypeError(
            f"a tagger cannot read what a parser of the kind {type(parser).__name__} makes of words"
        )
    tokens = model.vocabulary.tokens
    tagger = train_slot_tagger(
        parser, (*seen, *text), unseen, recipe, tokens=tokens, seed=seed, checkpoint=checkpoint, watch=watch
    )
    parses = parses_of(model, unseen)
    reading = with_tagger(model, tagger, unseen, parses, seed=seed)
    words, surfaces = zip(*((one.tree.forms, one.surface) for one in unseen), strict=True)
    of_words = tagger.log_prob(words, surfaces)
    report = {
        **tagger.report,
        "perplexity": Evaluation.of(unseen, of_words).perplexity,
        "trees_perplexity": perplexity_over_trees(model, unseen, parses),
        "reading_perplexity": perplexity_over_trees(reading, unseen, parses),
    }
    return replace(reading, tagger=replace(tagger, report=report))


def with_tagger(
    model: Punctuator,
    tagger: SlotTagger,
    unseen: Sequence[Sentence],
    parses: Sequence[Sequence[WeightedTree]],
    *,
    seed: int = 0,
) -> Punctuator:
    """The model with a tagger; its weight and share are learned from sentences that no part has seen."""
    reading = replace(
        model, tagger=tagger, parsed=fit_reading(model.for_parsed, tagger, unseen, parses, seed=seed)
    )
    return with_likeliest_shares(reading, unseen, parses, seed=seed)


def fit_reading(
    fitted: FittedStory,
    tagger: SlotTagger,
    sentences: Sequence[Sentence],
    parses: Sequence[Sequence[WeightedTree]],
    *,
    seed: int = 0,
) -> FittedStory:
    """A copy of a story for parser output that reads a tagger.

    The weights of `pyropunct.models.extensions` are learned by SVI; the other weights are not changed.

    :param sentences: at least one, unseen by story and tagger.
    """
    story = deepcopy(fitted.story)
    story.reading = Trust(fitted.vocabulary.inventory)
    parts = fitted.vocabulary, fitted.recipe, story, fitted.report
    found = FittedStory(*parts, tagger=tagger)
    pairs = [
        (one.tree, sentence.surface)
        for sentence, trees in zip(sentences, parses, strict=True)
        for one in sorted(trees, key=lambda tree: -tree.weight)[:TRUST_TREES]
    ]
    trees = found.encode_trees([tree for tree, _ in pairs])
    surfaces = [found.vocabulary.encode_surface(surface, tree) for tree, surface in pairs]
    model = collapse_trees(story)
    with torch.random.fork_rng(devices=[]), pyro.settings.context(module_local_params=True):
        torch.manual_seed(seed)
        orders = [torch.randperm(len(pairs)) for _ in range(TRUST_EPOCHS)]
        batches = [numbers for order in orders for numbers in order.split(TRUST_BATCH)]
        falls = {"start_factor": 1.0, "end_factor": 0.0, "total_iters": len(batches)}
        adam = {"optimizer": torch.optim.Adam, "optim_args": {"lr": TRUST_RATE}, **falls}
        rate = pyro.optim.PyroLRScheduler(torch.optim.lr_scheduler.LinearLR, adam)
        guide = AutoDelta(model, init_loc_fn=init_to_mean)
        for numbers in (batch.tolist() for batch in batches):
            svi = SVI(scale_likelihood(model, len(sentences) / len(numbers)), guide, rate, Trace_ELBO())
            svi.step(trees.pick(numbers), join_surfaces([surfaces[number] for number in numbers]))
            rate.step()
        values = {name.removeprefix("reading."): value.detach() for name, value in guide.median().items()}
    settle(story.reading, values)
    story.eval()
    return found


def with_likeliest_shares(
    model: Punctuator,
    sentences: Sequence[Sentence],
    parses: Sequence[Sequence[WeightedTree]],
    *,
    seed: int = 0,
) -> Punctuator:
    """The model with the shares of its networks (`pyropunct.restore.pooling`) that make slot strings most
    probable.

    :param sentences: at least one, unseen by all parts; `MOST_SHARED` of them are used.
    """
    some = range(0, len(sentences), -(-len(sentences) // MOST_SHARED))
    trees = [parses[number] for number in some]
    trusting = [replace(model, reader_share=share) for share in READER_SHARES[: None if model.reader else 1]]
    voices = [voices_of(one, trees) for one in trusting]
    total = dict.fromkeys(product(range(len(trusting)), SHARES), 0.0)
    for place, draws in enumerate(draws_of(model, trees, voices[0], DRAWS, seed)):
        known = model.vocabulary.known_surface(sentences[some[place]].surface)
        for reader, share in total:
            heard = voices[reader][place]
            assert heard is not None
            pool = pooled(draws, heard.each, share)
            column = {string: column for column, string in enumerate(pool.strings)}
            assert pool.shares is not None
            found = [
                pool.shares[slot, column[tuple(string)]] if tuple(string) in column else 0.0
                for slot, string in enumerate(known)
            ]
            total[reader, share] += float(np.log(np.maximum(found, LEAST_PROBABILITY)).sum())
    best, share = max(total, key=total.__getitem__)
    return replace(trusting[best], share=share)
