"""The command ``pyropunct fit``."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pyropunct.cli.command import Changes, command
from pyropunct.cli.frame import interrupts
from pyropunct.cli.loading import check_device, read_file
from pyropunct.cli.options import Json, Machine
from pyropunct.cli.training_reports import fit_watches
from pyropunct.errors import FAILURE, FailureError, UserError
from pyropunct.files import model_path, remove_unwritten
from pyropunct.fitted.recipes import Recipe, named_recipe
from pyropunct.fitted.variant_options import (
    SettingError,
    check_of_use,
    parsed_setting,
    reads_pretrained,
    with_options,
)
from pyropunct.limits import NamesIn, NotNegative, Placeholder, Seed

if TYPE_CHECKING:
    from pyropunct.nets.pretrained import Kept
    from pyropunct.train.ranks import Ranks
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

RECIPE_OPTIONS = ("attach", "channel", "epochs", "guide", "symmetry_weight", "economy_weight", "families")
"""The settings of a recipe that have options; --set has all others."""


def several(folds: int) -> int:
    """:raises ValueError: if there is one fold."""
    if folds == 1:
        raise ValueError("one fold has no others to learn from")
    return folds


@dataclass(frozen=True, kw_only=True)
class FitOptions(Machine):
    """What is trained, and where.

    :ivar dev: treebank to report perplexity on, like the first TRAIN; by default a tenth of all is held out.
    :ivar out: file for the model; without the ending .safetensors, it gets this ending.
    :ivar direction: where the channel starts to read; by default the direction with the better perplexity.
    :ivar recipe: settings that predict best; for the neural attach model; for rules and trees that read well;
        for attach models of one's own; or the paper's.
    :ivar set: set another field of the recipe, such as edit_prior_scale=1, or an option of the attach model
        or the channel, such as channel.prior_keep=1; repeatable.
    :ivar parser: train a parser too, a reader of running text and a tagger, so that raw text can be restored.
    :ivar folds: with --parser: parse each of so many parts of TRAIN by what is learned from the others, and
        train for trees of the parser too; 0 for gold trees alone.  [default: 4]
    :ivar encoder: an encoder that the package transformers loads, whose states parser, reader and the neural
        attach model get too: a folder, a model that was downloaded before, or an installed package with a
        model.
    :ivar fine_tune: with --parser and --encoder: train the encoder further, together with the parser, which
        alone reads it then; --device cuda makes it bearable.
    :ivar vectors: vectors of words in the text format of word2vec, in the place of an encoder.
    :ivar tagger: with --parser: train a tagger of words too, whose predictions are mixed with those given
        trees of the parser.  [default: --tagger]
    :ivar resume: continue a fit that was interrupted.
    :ivar device: device of the weights, as torch names it.
    """

    dev: str | None = None
    out: str = "pyropunct-model.safetensors"
    direction: Literal["auto", "left", "right"] = "auto"
    recipe: Annotated[str, NamesIn("pyropunct.fitted.recipes:RECIPES")] = "default"
    set: Annotated[tuple[str, ...], Placeholder("NAME=VALUE")] = ()
    parser: bool = False
    folds: Annotated[NotNegative, several] | None = None
    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    fine_tune: bool = False
    vectors: Annotated[str | None, Placeholder("FILE")] = None
    tagger: bool | None = None
    resume: bool = False
    device: str = "cpu"
    seed: Seed = 0


@command
def fit(
    train: tuple[str, ...] = (),
    *,
    changes: Annotated[dict[str, Any], Changes(Recipe, *RECIPE_OPTIONS)],
    options: FitOptions,
    json: Json = False,
) -> None:
    """Train a model on TRAIN, a CoNLL-U file; by default on the treebank inside the package.

    Of several, the first is the one that the model is for; the others help with what they have in common.
    """
    from pyropunct.cli.fit_report import report
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.nets.parser import FOLDS
    from pyropunct.train.fitting import fit as fit_model
    from pyropunct.train.ranks import device_of_rank, started

    file = model_path(options.out)
    options = replace(options, device=device_of_rank(options.device))
    with started(options.device) as ranks, _reported_by_first(ranks):
        with ranks.first_says_why():
            recipe = _changed(options, changes)
            _check(options, recipe)
            if ranks.first:
                check_writable(options.out)
            checkpoints = Checkpoints(file.with_suffix(".unfinished"), options.resume)
            checkpoints.require()
            options.start()
            check_device(options.device)
            treebanks = _read(train, options.dev)
            pretrained = _pretrained(options.encoder, options.vectors, treebanks)
        folds = FOLDS if options.folds is None else options.folds
        fit_all = partial(
            fit_model,
            treebanks.train,
            treebanks.dev,
            recipe,
            parser=options.parser,
            folds=folds,
            tagger=options.tagger is not False,
            pretrained=pretrained,
            fine_tune=options.fine_tune,
            direction=options.direction,
            seed=options.seed,
            device=options.device,
            checkpoint=checkpoints.first,
            resume=options.resume,
            ranks=ranks,
        )
        if not ranks.first:
            fit_all()
            return
        with checkpoints.kept():
            model = fit_all(watching=fit_watches(recipe.epochs, min(folds, len(treebanks.train))))
            model.save(file)
    report(model, [*treebanks.parts, *filter(None, [treebanks.dev])], file, json)


@contextmanager
def _reported_by_first(ranks: "Ranks") -> Iterator[None]:
    """Let the first of several processes report the error that ends all of them.

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


class Checkpoints(NamedTuple):
    """The checkpoints of a fit: one for each training that has begun.

    :ivar folder: where they are kept until the model is saved.
    :ivar resume: whether the fit goes on from those that are there.
    """

    folder: Path
    resume: bool

    @property
    def first(self) -> Path:
        """The checkpoint of the story; the others have endings."""
        return self.folder / "checkpoint"

    def there(self) -> list[Path]:
        """The files that exist."""
        return sorted(self.folder.glob(f"{self.first.name}.*"))

    def require(self) -> None:
        """:raises UserError: if the fit is to go on, but none is there."""
        if self.resume and not self.there():
            raise UserError(f"{self.folder}: there is nothing to resume")

    def forget(self) -> None:
        """Delete the files, and those that a fit that was killed has half written."""
        for path in self.there():
            path.unlink(missing_ok=True)
        remove_unwritten(self.folder, self.first.name)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep finished epochs during a training, and say so if it does not come to its end."""
        from pyropunct.fitted.model_file import ModelFileError
        from pyropunct.train.checkpoints import own_folder
        from pyropunct.train.ranks import RankGoneError

        with own_folder(self.folder):
            if not self.resume:
                self.forget()
            advice = f"finished epochs are kept in {self.folder}; continue with the same command and --resume"
            try:
                with interrupts():
                    yield
            except (KeyboardInterrupt, RankGoneError) as error:
                problem = "interrupted" if isinstance(error, KeyboardInterrupt) else error
                rest = advice if self.there() else "no epoch was finished"
                raise FailureError(f"{problem}: {rest}") from error
            except ModelFileError as error:
                if self.there() and not self.resume:
                    raise FailureError(f"{error}; {advice}") from error
                raise
            self.forget()


def _changed(options: FitOptions, changes: dict[str, Any]) -> Recipe:
    """The recipe that is named, with the changes that options make.

    :param changes: values of the options that are settings, by name.
    """
    from pyropunct.models.attach.templates import FAMILIES

    of_variants = [text for text in options.set if "." in text.partition("=")[0]]
    elsewhere = {*RECIPE_OPTIONS, "direction"}
    try:
        others = dict(parsed_setting(text, elsewhere) for text in options.set if text not in of_variants)
        recipe = with_options(named_recipe(options.recipe, **others, **changes), of_variants)
        check_of_use(recipe, others)
    except SettingError as error:
        raise UserError(f"--set: {error}") from error
    unknown = set(recipe.families) - set(FAMILIES)
    if unknown or not recipe.families:
        names = ",".join(sorted(unknown)) or "none"
        raise UserError(f"--families takes some of {','.join(FAMILIES)}, not {names}")
    check_of_use(recipe, {"families"} & changes.keys())
    return recipe


def _check(options: FitOptions, recipe: Recipe) -> None:
    """:raises UserError: if there are options for what is not trained, or two that exclude each other."""
    if options.folds and not options.parser:
        raise UserError("--folds is for --parser: there are no trees of a parser without it")
    for name, value in (("--encoder", options.encoder), ("--vectors", options.vectors)):
        if value is not None and not options.parser and not reads_pretrained(recipe):
            raise UserError(
                f"{name} is for --parser, and for attach models such as neural: the attach model "
                f"{recipe.attach!r} does not read it"
            )
    if options.encoder is not None and options.vectors is not None:
        raise UserError("--encoder and --vectors exclude each other")
    if options.fine_tune and not (options.parser and options.encoder):
        raise UserError("--fine-tune is for --parser and --encoder together")
    if options.tagger and not options.parser:
        raise UserError("--tagger is for --parser: without it only given trees are punctuated")


class _Treebanks(NamedTuple):
    """The treebanks that a model is fitted to.

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

    :raises UserError: if a training treebank is given twice.
    """
    from pyropunct.embedded import embedded_treebank_path
    from pyropunct.treebank.reading import require_punctuation

    if not train:
        train, dev = [str(embedded_treebank_path("train"))], dev or str(embedded_treebank_path("dev"))
    for place, path in enumerate(train):
        if path in train[:place]:
            raise UserError(f"{path} is given twice")
    first, *others = (read_file(path) for path in train)
    require_punctuation(first)
    named = [part.named(Path(part.path).stem) for part in others]
    return _Treebanks([first, *named], None if dev is None else read_file(dev))


def _pretrained(encoder: str | None, vectors: str | None, treebanks: _Treebanks) -> "Kept | None":
    """The source of features of words, each of which is computed once for all networks that read them."""
    from pyropunct.nets.encoder import Encoder
    from pyropunct.nets.pretrained import Kept
    from pyropunct.nets.vectors import read_vectors

    if encoder is not None:
        source = Encoder(encoder)
        source.open()
        return Kept(source)
    if vectors is not None:
        sentences = [*treebanks.train, *(treebanks.dev or ())]
        return Kept(read_vectors(vectors, {word for sentence in sentences for word in sentence.tree.forms}))
    return None
