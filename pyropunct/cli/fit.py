"""The command ``pyropunct fit``."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pyropunct.cli.command import Group, command
from pyropunct.cli.loading import check_device
from pyropunct.cli.options import Json, Machine
from pyropunct.cli.training_reports import fit_watches
from pyropunct.errors import UserError
from pyropunct.files import model_path
from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.variants import reads_pretrained
from pyropunct.limits import NamesIn, NotNegative, Placeholder, Seed

RECIPE_OPTIONS = ("attach", "channel", "epochs", "guide", "symmetry_weight", "economy_weight", "families")
"""The settings of a recipe that have options; --set has all others."""

PASSED_ON = ("parser", "mark_parser", "fine_tune", "direction", "seed", "device", "resume")
"""The options that `pyropunct.fit` takes as they are."""


def several(folds: int) -> int:
    """:raises ValueError: if there is one fold."""
    if folds == 1:
        raise ValueError("one fold has no others to learn from")
    return folds


@dataclass(frozen=True, kw_only=True)
class FitOptions(Machine):
    """What is trained, and where.

    :ivar dev: treebank that chooses epoch and direction, like the first TRAIN; by default a tenth of all is
        held out.
    :ivar out: file for the model; without the ending .safetensors, it gets this ending.
    :ivar direction: where the channel starts to read; by default the direction with the better perplexity.
    :ivar recipe: settings that predict best; for the neural attach model; for rules and trees that read well;
        for attach models of one's own; or the paper's.
    :ivar set: set another field of the recipe, such as edit_prior_scale=1, or an option of the attach model
        or the channel, such as channel.prior_keep=1; repeatable.
    :ivar parser: train a parser too, a reader of running text and a tagger, so that raw text can be restored.
    :ivar folds: with --parser: parse each of so many parts of TRAIN by what is learned from the others, and
        train for trees of the parser too.  These parsers take most of the time: 2 folds half of that of 4,
        and 0, for gold trees alone, none, but raw text is restored worse.  [default: 4]
    :ivar encoder: an encoder that the package transformers loads, whose states parser, reader and the neural
        attach model get too: a folder, a model that was downloaded before, or an installed package with a
        model.
    :ivar fine_tune: with --parser and --encoder: train the encoder further, together with the parser, which
        alone reads it then; --device cuda makes it bearable.
    :ivar tagger: with --parser: train a tagger of words too, whose predictions are mixed with those given
        trees of the parser.  [default: --tagger]
    :ivar mark_parser: with --parser: train another one that reads marks too, for `pyropunct parse`; it takes
        as long again.
    :ivar text: with --parser: text to learn from besides, whose trees the parser finds: a file, a folder or a
        pattern; repeatable.  See `pyropunct adapt --help`.
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
    tagger: bool | None = None
    mark_parser: bool = False
    text: Annotated[tuple[str, ...], Placeholder("FILES")] = ()
    resume: bool = False
    device: str = "cpu"
    seed: Seed = 0


@command
def fit(
    train: tuple[str, ...] = (),
    *,
    changes: Annotated[dict[str, Any], Group(Recipe, RECIPE_OPTIONS)],
    options: FitOptions,
    json: Json = False,
) -> None:
    """Train a model on TRAIN, a CoNLL-U file; by default on the treebank inside the package.

    Of several, the first is the one that the model is for; the others help with what they have in common.
    """
    from pyropunct.cli.fit_report import report
    from pyropunct.cli.fit_setup import Checkpoints, changed_recipe, pretrained_source, read_treebanks
    from pyropunct.corpus.inputs import files_of_several, parts_of
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.nets.jackknife import FOLDS
    from pyropunct.train.fitting import fit as fit_model

    file = model_path(options.out)
    recipe = changed_recipe(options.recipe, options.set, changes, {*RECIPE_OPTIONS, "direction"})
    _check(options, recipe)
    check_writable(options.out)
    checkpoints = Checkpoints(file.with_suffix(".unfinished"), options.resume)
    options.start()
    check_device(options.device)
    files = files_of_several(options.text)
    parts, dev = read_treebanks(train, options.dev)
    sentences = tuple(sentence for part in parts for sentence in part)
    pretrained = pretrained_source(options.encoder)
    folds = FOLDS if options.folds is None else options.folds
    with checkpoints.kept():
        model = fit_model(
            sentences,
            dev,
            recipe,
            folds=folds,
            tagger=options.tagger is not False,
            pretrained=pretrained,
            checkpoint=checkpoints.first,
            texts=parts_of(files) if files else None,
            watching=fit_watches(min(folds, len(sentences))),
            **{name: getattr(options, name) for name in PASSED_ON},
        )
        model.save(file)
    report(model, [*parts, *filter(None, [dev])], file, json)


def _check(options: FitOptions, recipe: Recipe) -> None:
    """:raises UserError: if there are options for what is not trained, or two that exclude each other."""
    parser, encoder = options.parser, options.encoder is not None
    reads = parser or reads_pretrained(recipe)
    unread = (
        "is for --parser, and for attach models such as neural: the attach model "
        f"{recipe.attach!r} does not read it"
    )
    wrong = {
        "--folds is for --parser: there are no trees of a parser without it": options.folds and not parser,
        f"--encoder {unread}": encoder and not reads,
        "--fine-tune is for --parser and --encoder together": options.fine_tune and not (parser and encoder),
        "--text is for --parser and --folds: a parser finds its trees": options.text
        and (not parser or options.folds == 0),
        "--mark-parser is for --parser, which it stands beside": options.mark_parser and not parser,
        "--tagger is for --parser: without it only given trees are punctuated": options.tagger and not parser,
    }
    for problem, there in wrong.items():
        if there:
            raise UserError(problem)
