"""The command ``pyropunct fit``."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pyropunct.cli.fit_report import report
from pyropunct.cli.frame import BAD_INPUT, FAILURE, OneLineError, interrupts, polite
from pyropunct.cli.loading import check_device, read_file, use_threads
from pyropunct.cli.options import json_option, seed_option, threads_option
from pyropunct.cli.training_reports import (
    jackknife_watch,
    parser_watch,
    reader_watch,
    tagger_watch,
    training_watch,
)
from pyropunct.files import remove_unwritten
from pyropunct.fitted.recipe_settings import CHOICES, SettingError, parsed_setting
from pyropunct.fitted.recipes import RECIPES, named_recipe
from pyropunct.fitted.registry import ATTACH, CHANNEL

if TYPE_CHECKING:
    from pyropunct.fitted.recipes import Recipe
    from pyropunct.nets.parser import BiaffineParser
    from pyropunct.nets.pretrained import Kept
    from pyropunct.nets.reader import RunningReader
    from pyropunct.punctuator import Punctuator
    from pyropunct.train.checkpoints import Checkpoint
    from pyropunct.train.ranks import Ranks
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

# Modules that need torch are imported inside the functions, so that --help answers at once.


def _finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise click.BadParameter("this is not a finite number", context, parameter)
    return value


def _folds(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    if value == 1:
        raise click.BadParameter("one fold has no others to learn from", context, parameter)
    return value


@click.command()
@click.argument("train", nargs=-1)
@click.option(
    "--dev",
    help="Treebank to report perplexity on, like the first TRAIN; by default a tenth of all is held out.",
)
@click.option("--out", default="pyropunct-model", show_default=True, help="Folder for the model.")
@click.option("--attach", help=f"Attach model: {', '.join(ATTACH)}, or module:Class.")
@click.option("--channel", help=f"Noisy channel: {', '.join(CHANNEL)}, or module:Class.")
@click.option("--direction", type=click.Choice(["auto", "left", "right"]), default="auto", show_default=True)
@click.option(
    "--recipe",
    type=click.Choice(list(RECIPES)),
    default="default",
    show_default=True,
    help="Settings that predict best; for the neural attach model; for rules and trees that read well; for "
    "attach models of one's own; or the paper's.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1),
    help="Passes over the data, instead of the recipe's; a parser's are separate.",
)
@click.option(
    "--guide",
    type=click.Choice(CHOICES["guide"]),
    help="Point estimate, or normal posterior: of the channel, or of all weights.",
)
@click.option(
    "--symmetry-weight",
    type=click.FloatRange(0),
    callback=_finite,
    help="xi: the weight of the penalty on unbalanced punctemes.",
)
@click.option(
    "--economy-weight",
    type=click.FloatRange(0),
    callback=_finite,
    help="kappa: the weight of the penalty on marks that explain nothing or sit further inside than need be; "
    f"{RECIPES['default'].economy_weight:g} in the default recipe.",
)
@click.option("--families", help="Feature families of the attach model, separated by commas.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set another field of the recipe, such as edit_prior_scale=1, or an option of the attach model or "
    "the channel, such as channel.prior_keep=1; repeatable.",
)
@click.option(
    "--parser",
    is_flag=True,
    help="Train a parser too, a reader of running text and a tagger, so that raw text can be restored.",
)
@click.option(
    "--folds",
    type=click.IntRange(0),
    callback=_folds,
    help="With --parser: parse each of so many parts of TRAIN by what is learned from the others, and train "
    "for trees of the parser too; 0 for gold trees alone.  [default: 4]",
)
@click.option(
    "--encoder",
    metavar="PLACE",
    help="An encoder that the package transformers loads, whose states parser, reader and the neural attach "
    "model get too: a folder, a model that was downloaded before, or an installed package with a model.",
)
@click.option(
    "--fine-tune",
    is_flag=True,
    help="With --parser and --encoder: train the encoder further, together with the parser, which alone "
    "reads it then; --device cuda makes it bearable.",
)
@click.option(
    "--vectors",
    metavar="FILE",
    help="Vectors of words in the text format of word2vec, in the place of an encoder.",
)
@click.option(
    "--tagger/--no-tagger",
    default=None,
    help="With --parser: train a tagger of words too, which is mixed with what the parser's trees tell.  "
    "[default: --tagger]",
)
@click.option("--resume", is_flag=True, help="Continue a fit that was interrupted.")
@click.option("--device", default="cpu", show_default=True, help="Device of the weights, as torch names it.")
@seed_option
@threads_option
@json_option
@polite
def fit(
    train: tuple[str, ...],
    dev: str | None,
    out: str,
    direction: str,
    recipe: str,
    settings: tuple[str, ...],
    parser: bool,
    folds: int | None,
    encoder: str | None,
    fine_tune: bool,
    vectors: str | None,
    tagger: bool | None,
    resume: bool,
    device: str,
    seed: int,
    threads: int | None,
    as_json: bool,
    **changes: Any,
) -> None:
    """Train a model on TRAIN, a CoNLL-U file; by default on the treebank inside the package.

    Of several, the first is the one that the model is for; the others help with what they have in common.
    """
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.train.ranks import device_of_rank, started

    folder, device = Path(out), device_of_rank(device)
    with started(device) as ranks, _told_by_first(ranks):
        with ranks.first_says_why():
            changed = _changed(recipe, changes, settings)
            _check_options(parser, folds, encoder, vectors, fine_tune, tagger, changed)
            if ranks.first:
                check_writable(folder)
            checkpoint = folder.with_name(f"{folder.name}.unfinished") / "checkpoint"
            if resume and not _kept(checkpoint):
                raise OneLineError(f"{checkpoint.parent}: there is nothing to resume", BAD_INPUT)
            use_threads(threads)
            check_device(device)
            treebanks = _read(train, dev)
            pretrained = _pretrained(encoder, vectors, treebanks)
            frozen = None if fine_tune else pretrained
        train_attach = partial(
            _train, treebanks, changed, direction, frozen, seed, device, checkpoint, resume, ranks
        )
        if not ranks.first:
            train_attach()
            return
        with _kept_epochs(checkpoint, resume):
            model = train_attach()
            if parser:
                source = _Source(pretrained, fine_tune)
                trained = _train_parser(treebanks, source, seed, device, checkpoint)
                model = replace(model, parser=trained)
                model = replace(model, reader=_train_reader(treebanks, frozen, seed, checkpoint))
                model = _train_on_parsed(model, treebanks, folds, source, seed, device, checkpoint)
                if tagger is not False:
                    model = _train_tagger(model, treebanks, seed, checkpoint)
            model.save(folder)
    report(model, [*treebanks.parts, *filter(None, [treebanks.dev])], folder, as_json)


@contextmanager
def _told_by_first(ranks: "Ranks") -> Iterator[None]:
    """Let the first of several processes tell what ends all of them.

    :raises SystemExit: in the others.
    """
    from pyropunct.train.ranks import RankGoneError

    try:
        with interrupts():
            yield
    except (KeyboardInterrupt, RankGoneError):
        if ranks.first:
            raise
        raise SystemExit(FAILURE) from None


@contextmanager
def _kept_epochs(checkpoint: Path, resume: bool) -> Iterator[None]:
    """Keep finished epochs while what is inside goes on, and say so if it does not come to its end."""
    from pyropunct.fitted.model_file import ModelFileError
    from pyropunct.train.checkpoints import own_folder
    from pyropunct.train.ranks import RankGoneError

    with own_folder(checkpoint.parent):
        if not resume:
            _forget(checkpoint)
        advice = (
            f"finished epochs are kept in {checkpoint.parent}; continue with the same command and --resume"
        )
        try:
            with interrupts():
                yield
        except KeyboardInterrupt:
            raise OneLineError(
                f"interrupted: {advice if _kept(checkpoint) else 'no epoch was finished'}", FAILURE
            ) from None
        except RankGoneError as error:
            raise OneLineError(
                f"{error}: {advice if _kept(checkpoint) else 'no epoch was finished'}", FAILURE
            ) from error
        except ModelFileError as error:
            if _kept(checkpoint) and not resume:
                raise OneLineError(f"{error}; {advice}", FAILURE) from error
            raise
        _forget(checkpoint)


def _check_options(
    parser: bool,
    folds: int | None,
    encoder: str | None,
    vectors: str | None,
    fine_tune: bool,
    tagger: bool | None,
    recipe: "Recipe",
) -> None:
    """:raises OneLineError: if there are options for what is not trained."""
    if folds and not parser:
        raise OneLineError("--folds is for --parser: there are no trees of a parser without it", BAD_INPUT)
    _check_sources(encoder, vectors, parser, recipe)
    if fine_tune and not (parser and encoder):
        raise OneLineError("--fine-tune is for --parser and --encoder together", BAD_INPUT)
    if tagger and not parser:
        raise OneLineError("--tagger is for --parser: without it only given trees are punctuated", BAD_INPUT)


def _kept(checkpoint: Path) -> list[Path]:
    """The checkpoints that exist: one for each training that has begun."""
    return sorted(checkpoint.parent.glob(f"{checkpoint.name}.*"))


def _forget(checkpoint: Path) -> None:
    """Delete the checkpoints, and what a fit that was killed has left of one that it was writing."""
    for path in _kept(checkpoint):
        path.unlink(missing_ok=True)
    remove_unwritten(checkpoint.parent, checkpoint.name)


def _changed(name: str, changes: dict[str, Any], settings: Iterable[str]) -> "Recipe":
    """A named recipe, with the changes that the options make.

    :param changes: values of the options that are settings, by name; None where an option is not given.
    :param settings: the texts of ``--set``.
    """
    from pyropunct.fitted.variant_options import check_of_use, with_options
    from pyropunct.models.attach.templates import FAMILIES

    options = [text for text in settings if "." in text.partition("=")[0]]
    try:
        others = dict(parsed_setting(one, {*changes, "direction"}) for one in settings if one not in options)
        given = others | {key: value for key, value in changes.items() if value is not None}
        if "families" in given:
            given["families"] = tuple(filter(None, given["families"].split(",")))
        recipe = with_options(named_recipe(name, **given), options)
        check_of_use(recipe, others)
    except SettingError as error:
        raise OneLineError(f"--set: {error}", BAD_INPUT) from error
    unknown = set(recipe.families) - set(FAMILIES)
    if unknown or not recipe.families:
        raise OneLineError(
            f"--families takes some of {','.join(FAMILIES)}, not {','.join(sorted(unknown)) or 'none'}",
            BAD_INPUT,
        )
    if changes.get("families") is not None:
        check_of_use(recipe, {"families"})
    return recipe


class _Treebanks(NamedTuple):
    """What a model is fitted to.

    :ivar parts: the training treebanks; the first is the one that the model is for.
    :ivar dev: the dev treebank, if there is one.
    """

    parts: "list[Treebank]"
    dev: "Treebank | None"

    @property
    def train(self) -> "tuple[Sentence, ...]":
        """The sentences of all training treebanks."""
        return tuple(sentence for part in self.parts for sentence in part)


def _read(train: Sequence[str], dev: str | None) -> _Treebanks:
    """Read the treebanks; all training treebanks but the first have the names of their files in their trees.

    :raises OneLineError: if a training treebank is given twice.
    """
    from pyropunct.embedded import embedded_treebank_path
    from pyropunct.treebank.reading import require_punctuation

    if not train:
        train, dev = [str(embedded_treebank_path("train"))], dev or str(embedded_treebank_path("dev"))
    for place, path in enumerate(train):
        if path in train[:place]:
            raise OneLineError(f"{path} is given twice", BAD_INPUT)
    first, *others = (read_file(path) for path in train)
    require_punctuation(first)
    named = [part.named(Path(part.path).stem) for part in others]
    return _Treebanks([first, *named], None if dev is None else read_file(dev))


def _train(
    treebanks: _Treebanks,
    recipe: "Recipe",
    direction: str,
    pretrained: "Kept | None",
    seed: int,
    device: str,
    checkpoint: Path,
    resume: bool,
    ranks: "Ranks",
) -> "Punctuator":
    from pyropunct.fitted.variant_options import reads_pretrained
    from pyropunct.train.fitting import fit as train_model

    with training_watch(recipe.epochs) if ranks.first else nullcontext() as watch:
        return train_model(
            treebanks.train,
            treebanks.dev,
            recipe,
            direction=direction,
            pretrained=pretrained if reads_pretrained(recipe) else None,
            seed=seed,
            device=device,
            checkpoint=checkpoint,
            resume=resume,
            ranks=ranks,
            watch=watch,
        )


def _check_sources(encoder: str | None, vectors: str | None, parser: bool, recipe: "Recipe") -> None:
    """:raises OneLineError: if both are given, or one of them where nothing would read it."""
    from pyropunct.fitted.variant_options import reads_pretrained

    for option, value in (("--encoder", encoder), ("--vectors", vectors)):
        if value is not None and not parser and not reads_pretrained(recipe):
            raise OneLineError(
                f"{option} is for --parser, and for attach models such as neural: the attach model "
                f"{recipe.attach!r} does not read it",
                BAD_INPUT,
            )
    if encoder is not None and vectors is not None:
        raise OneLineError("--encoder and --vectors exclude each other", BAD_INPUT)


def _pretrained(encoder: str | None, vectors: str | None, treebanks: _Treebanks) -> "Kept | None":
    """What gives features of words, each of which is computed once for all that reads them."""
    from pyropunct.nets.encoder import Encoder
    from pyropunct.nets.pretrained import Kept
    from pyropunct.nets.vectors import read_vectors

    if encoder is not None:
        source = Encoder(encoder)
        source.open()
        return Kept(source)
    if vectors is not None:
        words = {word for one in [*treebanks.train, *(treebanks.dev or ())] for word in one.tree.forms}
        return Kept(read_vectors(vectors, words))
    return None


class _Source(NamedTuple):
    """What gives features of words to parsers.

    :ivar pretrained: gives them, if anything does.
    :ivar tuned: whether it is an encoder that is trained with each parser.
    """

    pretrained: "Kept | None"
    tuned: bool

    @property
    def options(self) -> dict[str, Any]:
        """The same as arguments of `pyropunct.nets.parser.train_parser`."""
        from pyropunct.nets.parser.training import ENCODER_RATE

        return {"pretrained": self.pretrained, "encoder_rate": ENCODER_RATE if self.tuned else 0.0}


def _train_parser(
    treebanks: _Treebanks, source: _Source, seed: int, device: str, checkpoint: Path
) -> "BiaffineParser":
    from pyropunct.nets.parser import ParserRecipe, train_parser

    train, dev = treebanks.train, treebanks.dev
    kept = _checkpoint(checkpoint, "parser")
    with parser_watch() as watch:
        return train_parser(
            train,
            dev,
            ParserRecipe(),
            **source.options,
            seed=seed,
            device=device,
            checkpoint=kept,
            watch=watch,
        )


def _train_reader(
    treebanks: _Treebanks, pretrained: "Kept | None", seed: int, checkpoint: Path
) -> "RunningReader":
    from pyropunct.nets.reader import ReaderRecipe, train_reader

    train, dev = treebanks.train, treebanks.dev
    kept = _checkpoint(checkpoint, "reader")
    with reader_watch() as watch:
        return train_reader(
            train, dev, ReaderRecipe(), pretrained=pretrained, seed=seed, checkpoint=kept, watch=watch
        )


def _train_on_parsed(
    model: "Punctuator",
    treebanks: _Treebanks,
    folds: int | None,
    source: _Source,
    seed: int,
    device: str,
    checkpoint: Path,
) -> "Punctuator":
    """The model with what it needs for trees of the parser, unless that was switched off."""
    from pyropunct.nets.parser import FOLDS, ParserRecipe, fold_recipe, jackknifed
    from pyropunct.train.parsed_trees import fit_parsed

    train = treebanks.train
    number = min(FOLDS if folds is None else folds, len(train))
    if number < 2:
        return model
    with jackknife_watch(number) as watch_parser:
        parses = jackknifed(
            train,
            fold_recipe(ParserRecipe()),
            folds=number,
            **source.options,
            seed=seed,
            device=device,
            checkpoints=lambda fold: _checkpoint(checkpoint, f"fold-{fold + 1}"),
            watch=watch_parser,
        )
    kept = _checkpoint(checkpoint, "parsed")
    with training_watch(model.recipe.epochs, "trees of the parser, ") as watch:
        return fit_parsed(
            model, train, parses, treebanks.dev, seed=seed, device=device, checkpoint=kept, watch=watch
        )


def _train_tagger(model: "Punctuator", treebanks: _Treebanks, seed: int, checkpoint: Path) -> "Punctuator":
    from pyropunct.nets.tagger import SlotTaggerRecipe
    from pyropunct.train.tagged_words import fit_tagger

    train, dev = treebanks.train, treebanks.dev
    recipe, kept = SlotTaggerRecipe(), _checkpoint(checkpoint, "tagger")
    with tagger_watch() as watch:
        return fit_tagger(model, train, dev, recipe=recipe, seed=seed, checkpoint=kept, watch=watch)


def _checkpoint(path: Path, what: str) -> "Checkpoint":
    """The checkpoint of a part of the fit."""
    from pyropunct.train.checkpoints import Checkpoint

    return Checkpoint(path.with_name(f"{path.name}.{what}"))
