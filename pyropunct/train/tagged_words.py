"""Training of the tagger that is mixed with p(x | T) where a parser has found the trees.

The tagger (`pyropunct.nets.tagger`) reads what the parser's network makes of the words, but no tree: it need
not take any arc for certain, and makes other mistakes than a model of trees.  How much weight it has in the
mixture is found by maximum likelihood, on sentences that neither it nor the model was trained on.

Example::

    from dataclasses import replace

    from pyropunct import fit, read_treebank
    from pyropunct.nets.parser import train_parser
    from pyropunct.train.tagged_words import fit_tagger

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    model = replace(fit(train, dev), parser=train_parser(train, dev))
    model = fit_tagger(model, train, dev)
"""

from collections.abc import Iterable
from dataclasses import replace

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger import likeliest_share, log_mixture, train_slot_tagger
from pyropunct.nets.training import AnyCheckpoint, Watch
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import NoParserError, weighted_trees
from pyropunct.train.training import held_out
from pyropunct.treebank.sentence import Sentence


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
    """Give a model a tagger of words.

    :param model: fitted to the same sentences, with a `BiaffineParser`; its weights for trees of a parser are
        trained before.
    :param train: the sentences that `pyropunct.fit` was given.
    :param dev: sentences by which the epoch of the tagger and its share are chosen; without them those that
        `pyropunct.fit` holds out, which the parser has seen.
    :param recipe: the settings of the tagger.
    :param text: further sentences to learn from, whose trees are not looked at.
    :param seed: equal seeds give equal models, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :returns: the same model with `Punctuator.tagger` and `Punctuator.share`.  The report of the tagger tells
        the perplexities of dev: ``trees_perplexity`` over the parser's trees, ``perplexity`` of the tagger,
        and ``mixed_perplexity`` of the mixture.
    :raises NoParserError: if the model has no parser.
    :raises TypeError: if its parser is of another kind.
    :raises ValueError: if there is no sentence.
    :raises ModelFileError: if the checkpoint cannot be written, or gone on from.
    """
    seen, unseen = held_out(train) if dev is None else (tuple(train), tuple(dev))
    parser, words = model.parser, [sentence.tree.forms for sentence in unseen]
    if parser is None:
        raise NoParserError
    if not isinstance(parser, BiaffineParser):
        raise TypeError(
            f"a tagger cannot read what a parser of the kind {type(parser).__name__} makes of words"
        )
    tokens = model.vocabulary.tokens
    tagger = train_slot_tagger(
        parser, (*seen, *text), unseen, recipe, tokens=tokens, seed=seed, checkpoint=checkpoint, watch=watch
    )
    plain, parses = replace(model, tagger=None), weighted_trees(model, words)
    over_trees = plain.log_prob_over_trees(unseen, parses).cpu()
    of_words = tagger.log_prob(words, [sentence.surface for sentence in unseen])
    share = likeliest_share(over_trees, of_words)
    report = {
        **tagger.report,
        "perplexity": Evaluation.of(unseen, of_words).perplexity,
        "trees_perplexity": Evaluation.of(unseen, over_trees).perplexity,
        "mixed_perplexity": Evaluation.of(unseen, log_mixture(over_trees, of_words, share)).perplexity,
    }
    return replace(model, tagger=replace(tagger, report=report), share=share)
