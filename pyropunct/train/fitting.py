"""Fitting: from a treebank to a `Punctuator`."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyropunct.fitted.evaluation import SlotStrings
from pyropunct.fitted.recipes import OF_TREEBANKS, Recipe
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.jackknife import FOLDS, fold_recipe, jackknifed
from pyropunct.nets.parser import train_parser
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.reader_training import ADAPTING, ADAPTING_RATE, train_reader
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.nets.trainer import Watch
from pyropunct.punctuator import Punctuator
from pyropunct.train.checkpoints import PartTrainings, Watching, checkpoint_of, forget_checkpoints, unwatched
from pyropunct.train.parser_output import fit_parsed, fit_tagger
from pyropunct.train.story_training import Training, held_out
from pyropunct.treebank.orthography import learn_conventions
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import MAIN_TREEBANK
from pyropunct.vocabulary import build_vocabulary


@dataclass(frozen=True)
class NetworkRecipes:
    """The settings of the networks that `fit` trains beside the story."""

    parser: ParserRecipe = field(default_factory=ParserRecipe)
    reader: ReaderRecipe = field(default_factory=ReaderRecipe)
    tagger: SlotTaggerRecipe = field(default_factory=SlotTaggerRecipe)


def fit(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: Recipe | None = None,
    *,
    parser: bool = False,
    folds: int = FOLDS,
    tagger: bool = True,
    mark_parser: bool = False,
    networks: NetworkRecipes | None = None,
    pretrained: Pretrained | None = None,
    fine_tune: bool = False,
    direction: str = "auto",
    seed: int = 0,
    device: str = "cpu",
    checkpoint: Path | None = None,
    resume: bool = False,
    watching: Watching = unwatched,
) -> Punctuator:
    """Train a model of latent punctuation; with a parser, everything that restores raw text.

    The story is fitted first, see `fit_story`.  With ``parser``, a parser and a reader of running text
    follow, then weights for parser output and a tagger of words (`pyropunct.train.parser_output`).

    Example::

        from pyropunct import fit, read_treebank

        model = fit(read_treebank("train.conllu"), read_treebank("dev.conllu"), parser=True)
        print(model("however the meeting ended without a vote"))

    :param dev: sentences for choices and for the reported perplexity; see `fit_story`.
    :param parser: train the parts for raw text too.
    :param folds: the number of parts for jackknifing the parser, to fit weights for parser output; fewer than
        2 skip these weights.
    :param tagger: train a tagger of words, if there is a parser.
    :param mark_parser: train a parser of words and marks too, if there is a parser: see
        `pyropunct.tasks.explain.punctuated_trees`.  It does not read a fine-tuned encoder.
    :param pretrained: features of words for parser and reader.  They are computed anew for each part, unless
        it is a `pyropunct.nets.pretrained.CachedFeatures`.
    :param fine_tune: train adapters of the encoder ``pretrained`` together with the reader; all parts read
        the encoder through them, see `pyropunct.nets.adapters`.
    :param checkpoint: save the state of each training after every epoch, in files named after this path.
    :param resume: continue from these files; otherwise they are deleted at the start.
    :raises UserError: if the objective of a step or the perplexity of an epoch is not finite.
    :raises ModelFileError: if a checkpoint cannot be written or resumed from.
    :raises MissingPartError: if ``pretrained`` cannot be used.
    :raises VariantError: if the recipe names an unknown variant.
    :raises ValueError: if nothing reads ``pretrained``, or ``fine_tune`` has no parser or encoder.
    :raises VariantError: if a variant outside the package breaks the rules of the story: see
        `pyropunct.models.checking`.
    """
    train, dev = tuple(train), None if dev is None else tuple(dev)
    recipe = Recipe() if recipe is None else recipe
    if fine_tune and not parser:
        raise ValueError("an encoder is trained further together with a parser, and there is none")
    if pretrained is not None and not parser:
        raise ValueError("pretrained features of words are for a parser, and there is none")
    number = min(folds, len(train))
    parts = PartTrainings(seed, checkpoint, watching)
    if not resume:
        folds_of_parser = (f"fold-{fold + 1}" for fold in range(number))
        others = "parser", "mark_parser", "reader", "parsed", "tagger"
        forget_checkpoints(checkpoint, (*others, *folds_of_parser))
    networks = NetworkRecipes() if networks is None else networks
    reader = None
    if fine_tune:
        with parts.part("reader") as watched:
            options: dict[str, Any] = {"pretrained": pretrained, "encoder_rate": ADAPTING_RATE}
            reader = train_reader(train, dev, ADAPTING, **options, **watched)
        pretrained = reader.pretrained
    with watching("story") as watch:
        model = fit_story(
            train,
            dev,
            recipe,
            direction=direction,
            seed=seed,
            device=device,
            checkpoint=checkpoint,
            resume=resume,
            watch=watch,
        )
    if not parser:
        return model
    options = {"pretrained": pretrained, "device": device}
    with parts.part("parser") as watched:
        trained = train_parser(train, dev, networks.parser, **options, **watched)
    if reader is None:
        with parts.part("reader") as watched:
            reader = train_reader(train, dev, networks.reader, pretrained=pretrained, **watched)
    model = replace(model, parser=trained, reader=reader)
    if mark_parser:
        with parts.part("mark_parser") as watched:
            marked = train_parser(train, dev, networks.parser, marks=True, **options, **watched)
        model = replace(model, mark_parser=marked)
    if number > 1:
        with watching("folds") as watch:
            parses = jackknifed(
                train,
                fold_recipe(networks.parser),
                folds=number,
                seed=seed,
                **options,
                checkpoints=lambda fold: checkpoint_of(checkpoint, f"fold-{fold + 1}"),
                watch=watch,
            )
        with parts.part("parsed") as watched:
            model = fit_parsed(model, train, parses, dev, device=device, **watched)
    if tagger:
        with parts.part("tagger") as watched:
            model = fit_tagger(model, train, dev, networks.tagger, **watched)
    return model


def fit_story(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: Recipe | None = None,
    *,
    direction: str = "auto",
    seed: int = 0,
    device: str = "cpu",
    checkpoint: Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> Punctuator:
    """Train the story alone: maximise equation (5) of Li, Wang & Eisner (2019).

    Several treebanks (see `Tree.treebank`) are learned together with the feature family "treebanks".  If all
    of them have names, they are languages, see `Treebank.of_language`, and the model is for all of them: see
    `Punctuator.of`.  Takes the same parameters and raises the same errors as `fit`, except:

    :param dev: sentences that choose epoch and direction; by default every tenth training sentence.
    :param direction: "left", "right", or "auto" to train both and keep the better on dev.
    """
    recipe = Recipe() if recipe is None else recipe
    train, dev = held_out(train) if dev is None else (tuple(train), tuple(dev))
    vocabulary = build_vocabulary(
        [(sentence.tree, sentence.surface) for sentence in train],
        flanking=recipe.flanking,
        clauses=recipe.clauses,
    )
    if len(vocabulary.treebanks) > 1 and OF_TREEBANKS not in recipe.families:
        recipe = replace(recipe, families=(*recipe.families, OF_TREEBANKS))
    if not resume:
        forget_checkpoints(checkpoint, ("left", "right"))
    fitted, tried = [], {}
    for each in ("left", "right") if direction == "auto" else (direction,):
        directed = replace(recipe, direction=each)
        training = Training(vocabulary, train, dev, directed, seed, device)
        training.run(checkpoint_of(checkpoint, each), watch)
        fitted.append(training.punctuator())
        tried[each] = training.perplexity
    best = min(fitted, key=lambda model: tried[model.recipe.direction])
    surfaces = (vocabulary.known_surface(sentence.surface) for sentence in train)
    main = [sentence for sentence in train if sentence.tree.treebank == MAIN_TREEBANK]
    of = {name: [one for one in train if one.tree.treebank == name] for name in vocabulary.treebanks[1:]}
    return replace(
        best,
        report={**best.report, "directions": tried, "seed": seed},
        conventions=learn_conventions(main),
        languages={} if main else {name: learn_conventions(some) for name, some in of.items()},
        slot_strings=SlotStrings.count(surfaces, len(vocabulary.tokens) - 1),
    )
