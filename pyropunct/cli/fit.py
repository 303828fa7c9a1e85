"""The command ``pyropunct fit``: its options, their preparation, and its report."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pyropunct.cli import console
from pyropunct.cli.command import Group, command
from pyropunct.cli.loading import Hardware, Json, check_device, read_file, refuse
from pyropunct.cli.progress import Checkpoints, fit_watches, sentence_bar
from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import SettingError, UserError
from pyropunct.files import model_path
from pyropunct.fitted.recipes import Recipe, named_recipe, parsed_setting
from pyropunct.fitted.variants import check_of_use, with_options
from pyropunct.limits import Count, NamesIn, NotNegative, Placeholder, Seed
from pyropunct.treebank.reading import Treebank, require_punctuation

# Modules that need torch are imported inside the functions, so that --help answers at once.

RECIPE_OPTIONS = ("attach", "channel", "epochs", "guide", "symmetry_weight", "economy_weight", "families")
"""The settings of a recipe that have options; --set has all others."""

PASSED_ON = ("parser", "mark_parser", "fine_tune", "direction", "device")
"""The options that `pyropunct.fit` takes as they are."""


def several(folds: int) -> int:
    """:raises ValueError: if there is one fold."""
    if folds == 1:
        raise ValueError("one fold has no others to learn from")
    return folds


@dataclass(frozen=True, kw_only=True)
class FitOptions(Hardware):
    """What is trained, and where.

    :ivar dev: treebank that chooses epoch and direction, like the first TRAIN; by default a tenth of all is
        held out.  Repeatable: several choose together.
    :ivar out: file for the model; the ending .safetensors is added if it is missing.
    :ivar direction: where the channel starts to read; by default the direction with the better perplexity.
    :ivar recipe: settings that predict best; for readable rules and trees; for your own attach models; or the
        paper's, partly guessed, which predict worse.  Languages have their own, with which they borrow from
        one another.
    :ivar set: set another field of the recipe, such as edit_prior_scale=1, or an option of the attach model
        or the channel, such as channel.prior_keep=1; repeatable.
    :ivar parser: also train a parser, a reader of running text and a tagger, so that raw text can be
        restored.
    :ivar folds: with --parser: split TRAIN into this many parts, parse each with a model of the others, and
        train on these trees too.  This takes most of the time: 2 folds take half as long as 4.  0 trains on
        gold trees alone, and raw text is restored worse.  [default: 4]
    :ivar encoder: an encoder for the package transformers, whose states parser and reader also read: a
        folder, a downloaded model, or an installed package with a model.
    :ivar fine_tune: with --parser and --encoder: also train adapters of the encoder, thin matrices beside its
        own weights, together with the reader of running text; all parts read the encoder through them.
    :ivar tagger: with --parser: also train a tagger of words, which the story for trees of the parser reads.
        [default: --tagger]
    :ivar mark_parser: with --parser: also train a parser that reads marks, for `pyropunct parse`; it takes as
        long again.
    :ivar seeds: fit this many models, starting with --seed; file names get the seed.  What `rules` shows for
        all of them is no accident of one seed.
    :ivar resume: continue a fit that was interrupted.
    :ivar device: device of the weights, as torch names it.
    """

    dev: Annotated[tuple[str, ...], Placeholder("FILE")] = ()
    out: str = "pyropunct-model.safetensors"
    direction: Literal["auto", "left", "right"] = "auto"
    recipe: Annotated[str | None, NamesIn("pyropunct.fitted.recipes:RECIPES")] = None
    set: Annotated[tuple[str, ...], Placeholder("NAME=VALUE")] = ()
    parser: bool = False
    folds: Annotated[NotNegative, several] | None = None
    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    fine_tune: bool = False
    tagger: bool | None = None
    mark_parser: bool = False
    seeds: Count = 1
    resume: bool = False
    device: str = "cpu"
    seed: Seed = 0

    def files(self) -> dict[int, Path]:
        """The file for the model of each seed."""
        path, seeds = model_path(self.out), range(self.seed, self.seed + self.seeds)
        several = {seed: path.with_stem(f"{path.stem}-{seed}") for seed in seeds}
        return several if self.seeds > 1 else {self.seed: path}


@command
def fit(
    train: tuple[str, ...] = (),
    *,
    changes: Annotated[dict[str, Any], Group(Recipe, RECIPE_OPTIONS)],
    options: FitOptions,
    json: Json = False,
) -> None:
    """Train a model on TRAIN, a CoNLL-U file; by default on the treebank inside the package.

    If there are several, the model is for the first one; the others help where they agree with it.  If each
    is CODE=FILE, such as de=german.conllu, the model is for all of these languages: give --dev CODE=FILE too.
    """
    from pyropunct.cli.fit_report import fit_report
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.fitted.stories import levels_of
    from pyropunct.nets.encoder import Encoder
    from pyropunct.nets.jackknife import FOLDS
    from pyropunct.nets.pretrained import CachedFeatures
    from pyropunct.tasks.explain.typology_of_model import with_counts
    from pyropunct.train.fitting import fit as fit_model

    several = any(map(language_and_file, train))
    name = options.recipe or ("languages" if several else "default")
    recipe = changed_recipe(name, options.set, changes, {*RECIPE_OPTIONS, "direction"})
    if recipe.channel == "languages" and not several:
        raise UserError("the channel languages is for several languages: give CODE=FILE of each")
    _check(options, recipe)
    check_writable(options.out)
    outputs = {
        file: (seed, Checkpoints(file.with_suffix(".unfinished"), options.resume, alone=options.seeds == 1))
        for seed, file in options.files().items()
    }
    for file in outputs:
        check_writable(file)
    options.start()
    check_device(options.device)
    parts, devs = read_treebanks(train, options.dev)
    sentences = [sentence for part in parts for sentence in part]
    dev = [sentence for part in devs for sentence in part] if devs else None
    pretrained = None
    if options.encoder is not None:
        source = Encoder(options.encoder)
        source.open()
        pretrained = CachedFeatures(source)  # features are computed once for all networks that read them
    folds = FOLDS if options.folds is None else options.folds
    for file, (seed, checkpoints) in outputs.items():
        if checkpoints.are_over(file):
            console.tell(f"pyropunct: {file}: is there, and stays")
            continue
        with checkpoints.kept():
            model = fit_model(
                sentences,
                dev,
                recipe,
                folds=folds,
                tagger=options.tagger is not False,
                pretrained=pretrained,
                checkpoint=checkpoints.first,
                watching=fit_watches(min(folds, len(sentences))),
                seed=seed,
                resume=checkpoints.resume,
                **{name: getattr(options, name) for name in PASSED_ON},
            )
            model.save(file)
            if levels_of(model) and model.scales:
                with sentence_bar("languages", 2 * len(sentences)) as advance:
                    with_counts(model, sentences, advance).save(file)
        report = fit_report(model, [*parts, *devs], file, merged=not json)
        report.show("json" if json else "text")


def _check(options: FitOptions, recipe: Recipe) -> None:
    """:raises UserError: if options are for something that is not trained, or exclude each other."""
    parser, encoder = options.parser, options.encoder is not None
    refuse(
        {
            "--folds is for --parser: there are no trees of a parser without it": options.folds
            and not parser,
            "--encoder is for --parser: the attach model does not read it": encoder and not parser,
            "--fine-tune is for --parser and --encoder together": options.fine_tune
            and not (parser and encoder),
            "--mark-parser is for --parser, which it stands beside": options.mark_parser and not parser,
            "--tagger is for --parser: without it only given trees are punctuated": options.tagger
            and not parser,
        }
    )


fit.sections = {
    "Files": "dev out resume json",
    "Model": "recipe set attach channel direction guide symmetry_weight economy_weight families epochs",
    "Reading of raw text": "parser folds encoder fine_tune tagger mark_parser",
}


# What it begins with


def changed_recipe(
    name: str, settings: Sequence[str], changes: dict[str, Any], elsewhere: Collection[str]
) -> Recipe:
    """A recipe with the settings of ``--set``, and changes by options; ``elsewhere`` names all options."""
    from pyropunct.models.attach.features import FAMILIES

    of_variants = [text for text in settings if "." in text.partition("=")[0]]
    try:
        others = dict(parsed_setting(text, elsewhere) for text in settings if text not in of_variants)
        recipe = with_options(named_recipe(name, **others, **changes), of_variants)
        check_of_use(recipe, others)
    except SettingError as error:
        raise UserError(f"--set: {error}") from error
    unknown = set(recipe.families) - set(FAMILIES)
    if unknown or not recipe.families:
        names = ",".join(sorted(unknown)) or "none"
        raise UserError(f"--families takes some of {','.join(FAMILIES)}, not {names}")
    check_of_use(recipe, {"families"} & changes.keys())
    return recipe


def read_treebanks(train: Sequence[str], dev: Sequence[str]) -> tuple[list[Treebank], list[Treebank]]:
    """Training treebanks, the main one first, and dev treebanks.

    Trees of all but the main one have the name of their file, those of languages its code. Raises UserError
    for a repeated treebank, or if some files are of languages and others are not.
    """
    if not train:
        train, dev = [str(embedded_treebank_path("train"))], dev or [str(embedded_treebank_path("dev"))]
    for place, path in enumerate(train):
        if path in train[:place]:
            raise UserError(f"{path} is given twice")
    languages = [language_and_file(path) for path in (*train, *dev)]
    if any(languages):
        found = []
        for path, named in zip((*train, *dev), languages, strict=True):
            if named is None:
                raise UserError(f"{path}: has no language, but other files do: give CODE=FILE for all")
            treebank = read_file(named[1])
            require_punctuation(treebank)
            found.append(treebank.of_language(named[0]))
        return found[: len(train)], found[len(train) :]
    first, *others = (read_file(path) for path in train)
    require_punctuation(first)
    return [first, *(part.named(Path(part.path).stem) for part in others)], list(map(read_file, dev))


def language_and_file(given: str) -> tuple[str, str] | None:
    """The parts of ``CODE=FILE``; None for a file alone.  "all" is no code: `typology` shows it for all."""
    match = re.fullmatch("(?!all=)([a-z]{2,3})=(.+)", given)
    return None if match is None or Path(given).exists() else (match[1], match[2])
