"""Training for trees as a parser finds them.

A model of p(x | T) that has seen the trees of a treebank alone trusts the trees that a parser finds, mistakes
and all.  So restoration uses a second model p(x | T) of the same kind with the same tokens, trained on each
sentence twice: with its tree in the treebank, and with the tree of a parser that has not seen the sentence
(`pyropunct.nets.jackknife`).  Underlying trees and rules come from the first model, of the treebank's
trees.

Example::

    from dataclasses import replace

    from pyropunct import fit, read_treebank
    from pyropunct.nets.jackknife import jackknifed
    from pyropunct.nets.parser import train_parser
    from pyropunct.train.parsed_trees import fit_parsed

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    model = replace(fit(train, dev), parser=train_parser(train, dev))
    model = fit_parsed(model, train, jackknifed(train), dev)
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.nets.jackknife import with_trees
from pyropunct.nets.parser import WeightedTree, attachment_scores
from pyropunct.nets.pretrained import kept
from pyropunct.nets.training import Watch
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import weighted_trees
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.training import Training, held_out
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import with_pairs_of


class Parsed(NamedTuple):
    """A sentence, and the trees that a parser finds for its words."""

    sentence: Sentence
    trees: Sequence[WeightedTree]


def fit_parsed(
    model: Punctuator,
    train: Iterable[Sentence],
    parses: Iterable[Sequence[WeightedTree]],
    dev: Iterable[Sentence] | None = None,
    dev_parses: Iterable[Sequence[WeightedTree]] | None = None,
    *,
    text: Sequence[Sentence] = (),
    epochs: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    checkpoint: Checkpoint | None = None,
    watch: Watch | None = None,
) -> Punctuator:
    """Give a model what it needs for trees that a parser finds.

    :param model: fitted to the same sentences.
    :param train: the sentences that `pyropunct.fit` was given.
    :param parses: for each of them its trees, as `pyropunct.nets.jackknife.jackknifed` gives them.
    :param dev: sentences on which the epoch is chosen and perplexity is reported; without them every tenth
        training sentence is held out, with its trees.
    :param dev_parses: the trees of each of them; by default those over which restoration averages, of the
        model's parser.
    :param text: further sentences, with the trees that they are learned from; see `pyropunct.train.texts`.
    :param epochs: passes over all examples; by default as many as the model's recipe says.
    :param seed: equal seeds give equal models, on the same machine with the same number of threads.
    :param device: see `pyropunct.fit`.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :returns: the same model with `Punctuator.parsed`, whose report tells in ``scores`` how good the parser's
        trees of the treebank are, in ``perplexity`` how well it predicts the punctuation of dev over the
        parser's trees, and in ``unparsed_perplexity`` how well the given model does.
    :raises NoParserError: if neither dev has trees nor the model a parser.
    :raises ValueError: if there are not as many parses as sentences.
    :raises DivergedError: as `pyropunct.fit` does.
    :raises ModelFileError: if the checkpoint cannot be written, or gone on from.
    """
    pairs = _paired(train, parses)
    if dev is None:
        seen, unseen = held_out(pairs)
    else:
        dev = tuple(dev)
        if dev_parses is None:
            dev_parses = weighted_trees(model, [sentence.tree.forms for sentence in dev])
        seen, unseen = pairs, _paired(dev, dev_parses)
    sentences = [pair.sentence for pair in seen]
    sentences += with_trees(sentences, [pair.trees for pair in seen])
    sentences += text
    vocabulary = with_pairs_of(
        model.vocabulary, [(sentence.tree, sentence.surface) for sentence in sentences]
    )
    of_unseen = [pair.sentence for pair in unseen], [pair.trees for pair in unseen]
    last = with_trees(*of_unseen)
    pretrained = kept(model.attach_pretrained)
    # Economy makes underlying trees readable; nobody reads these, and likelihood predicts better.
    recipe = model.recipe.changed(economy_weight=0.0, **({} if epochs is None else {"epochs": epochs}))
    training = Training(vocabulary, sentences, last, recipe, seed, device, pretrained)
    training.run(checkpoint, watch)
    parsed = training.punctuator()
    report = {
        **parsed.report,
        "seed": seed,
        "scores": _scores(seen) if seen else None,
        "perplexity": perplexity_over_trees(parsed, *of_unseen),
        "unparsed_perplexity": perplexity_over_trees(replace(model, parsed=None), *of_unseen),
    }
    parsed.story.syntax = model.story.syntax  # what trees are like is not to be learned from a parser
    # A folder has one recipe, so a model that is read again says the same.
    of_parsed = replace(parsed, recipe=model.recipe, report=report, attach_pretrained=model.attach_pretrained)
    return replace(model, parsed=of_parsed)


def _paired(sentences: Iterable[Sentence], parses: Iterable[Sequence[WeightedTree]]) -> tuple[Parsed, ...]:
    return tuple(Parsed(*pair) for pair in zip(sentences, parses, strict=True))


def _scores(parsed: Sequence[Parsed]) -> dict[str, float]:
    """How good the first tree of each sentence is."""
    best, gold = [pair.trees[0].tree for pair in parsed], [pair.sentence.tree for pair in parsed]
    return attachment_scores(best, gold)._asdict()


def perplexity_over_trees(
    model: Punctuator, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
) -> float:
    """The perplexity per slot, over the trees of each sentence: see `Punctuator.log_prob_over_trees`."""
    return Evaluation.of(sentences, model.log_prob_over_trees(sentences, parses)).perplexity
