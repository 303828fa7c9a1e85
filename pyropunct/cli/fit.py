"""The command ``pyropunct fit``: its options, their preparation, and its report."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pyropunct.cli import console
from pyropunct.cli.command import Group, command
from pyropunct.cli.loading import Hardware, Json, check_device, read_file
from pyropunct.cli.report import Report
from pyropunct.cli.rules import disagreement
from pyropunct.cli.training_reports import Checkpoints, fit_watches
from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import SettingError, UserError
from pyropunct.files import model_path
from pyropunct.fitted.recipes import Recipe, named_recipe, parsed_setting
from pyropunct.fitted.variants import check_of_use, reads_pretrained, with_options
from pyropunct.limits import Count, NamesIn, NotNegative, Placeholder, Seed
from pyropunct.treebank.reading import Treebank, require_punctuation

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.punctuator import Punctuator

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
        held out.
    :ivar out: file for the model; the ending .safetensors is added if it is missing.
    :ivar direction: where the channel starts to read; by default the direction with the better perplexity.
    :ivar recipe: settings that predict best; for the neural attach model; for readable rules and trees; for
        your own attach models; or the paper's, partly guessed, which predict far worse (dev perplexity 1.8384
        instead of 1.2882 in English, 1.4649 instead of 1.1524 in Chinese).
    :ivar set: set another field of the recipe, such as edit_prior_scale=1, or an option of the attach model
        or the channel, such as channel.prior_keep=1; repeatable.
    :ivar parser: also train a parser, a reader of running text and a tagger, so that raw text can be
        restored.
    :ivar folds: with --parser: split TRAIN into this many parts, parse each with a model of the others, and
        train on these trees too.  This takes most of the time: 2 folds half of that of 4, and 0, for gold
        trees alone, none, but raw text is restored worse.  [default: 4]
    :ivar encoder: an encoder for the package transformers, whose states parser, reader and the neural attach
        model also read: a folder, a downloaded model, or an installed package with a model.
    :ivar fine_tune: with --parser and --encoder: also train adapters of the encoder, thin matrices beside its
        own weights, together with the reader of running text; all parts read the encoder through them.
    :ivar tagger: with --parser: also train a tagger of words, which the story for trees of the parser reads.
        [default: --tagger]
    :ivar mark_parser: with --parser: also train a parser that reads marks, for `pyropunct parse`; it takes as
        long again.
    :ivar text: with --parser: also learn from this text, whose trees the parser finds: a file, a folder or a
        pattern; repeatable.  See `pyropunct adapt --help`.
    :ivar seeds: fit this many models, starting with --seed; file names get the seed.  What `rules` shows for
        all of them is no accident of one seed.
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

    If there are several, the model is for the first one; the others help where they agree with it.
    """
    from pyropunct.corpus.inputs import files_of_several, parts_of
    from pyropunct.fitted.model_file import check_writable
    from pyropunct.nets.encoder import Encoder
    from pyropunct.nets.jackknife import FOLDS
    from pyropunct.nets.pretrained import Kept
    from pyropunct.train.fitting import fit as fit_model

    recipe = changed_recipe(options.recipe, options.set, changes, {*RECIPE_OPTIONS, "direction"})
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
    files = files_of_several(options.text)
    parts, dev = read_treebanks(train, options.dev)
    sentences = tuple(sentence for part in parts for sentence in part)
    pretrained = None
    if options.encoder is not None:
        source = Encoder(options.encoder)
        source.open()
        pretrained = Kept(source)  # so that features are computed once for all networks that read them
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
                texts=parts_of(files) if files else None,
                watching=fit_watches(min(folds, len(sentences))),
                seed=seed,
                resume=checkpoints.resume,
                **{name: getattr(options, name) for name in PASSED_ON},
            )
            model.save(file)
        report = FitReport(model, [*parts, *filter(None, [dev])], file, merged=not json)
        report.show("json" if json else "text")


def _check(options: FitOptions, recipe: Recipe) -> None:
    """:raises UserError: if options are for something that is not trained, or exclude each other."""
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


# What it begins with


def changed_recipe(
    name: str, settings: Sequence[str], changes: dict[str, Any], elsewhere: Collection[str]
) -> Recipe:
    """A recipe with the settings of ``--set``, and changes by options; ``elsewhere`` names all options."""
    from pyropunct.models.attach.templates import FAMILIES

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


def read_treebanks(train: Sequence[str], dev: str | None) -> tuple[list[Treebank], Treebank | None]:
    """Training treebanks, the main one first, and the dev treebank if there is one.

    Trees of all but the main one have the name of their file. Raises UserError for a repeated treebank.
    """
    if not train:
        train, dev = [str(embedded_treebank_path("train"))], dev or str(embedded_treebank_path("dev"))
    for place, path in enumerate(train):
        if path in train[:place]:
            raise UserError(f"{path} is given twice")
    first, *others = (read_file(path) for path in train)
    require_punctuation(first)
    named = [part.named(Path(part.path).stem) for part in others]
    return [first, *named], None if dev is None else read_file(dev)


# Its report

EDITS_SHOWN = 20

STILL_NEAR_PRIOR = "the channel is still near its prior there: train on a larger treebank"

_TREES = "{name} on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}"
_OF_TREES = {"uas": ("dev UAS", 2), "las": ("dev LAS", 2), "upos": ("dev tags", 2)}
NETWORKS: dict[str, tuple[str, str, dict[str, tuple[str, int]]]] = {
    "parser": ("parser", _TREES, _OF_TREES),
    "mark_parser": ("parser of words and marks", _TREES, _OF_TREES),
    "reader": (
        "reader of running text",
        "reader on dev: F1 of sentence ends {f1:.2f}, in lower case {lower_f1:.2f}; case {case:.2f}",
        {"f1": ("dev F1 of ends", 2), "lower_f1": ("in lower case", 2), "case": ("dev case", 2)},
    ),
    "tagger": ("tagger", "", {"perplexity": ("dev perplexity", 4)}),
}
"""For each network its name, a line about its best epoch, and its scores with titles and decimals."""

OBJECTIVE = """\
objective   what training makes small: minus the log-probability of marks and
            weights, with all penalties, per sentence; compare it within a fit"""

DECISIVE = {"parser": "las", "mark_parser": "las", "reader": "lower_f1"}
"""The score by which epochs are compared."""


class FitReport(Report):
    """How training went, and the edits that the channel has learned.

    :param treebanks: those of training, the main one first, and dev if there is one.
    :param merged: whether edits that differ only in their context are merged.
    """

    def __init__(
        self, model: "Punctuator", treebanks: Sequence[Treebank], path: Path, *, merged: bool
    ) -> None:
        from pyropunct.tasks.explain.learned import learned_rules

        self._model, self._treebanks, self._path = model, treebanks, path
        sentences = list(treebanks[0])
        self._edits = model.edits(sentences, merged=merged)[:EDITS_SHOWN]
        self._disagreeing = (
            learned_rules(model, sentences, nunberg=False).disagreeing if self._edits else None
        )

    def plain(self) -> dict[str, Any]:
        """All facts about the parts of the model, and the edits."""
        model, networks = self._model, dict[str, Any]()
        for network in DECISIVE:
            networks |= {network: _best_scores(model, network), f"{network}_epochs": _epochs(model, network)}
        return {
            "model": str(self._path),
            **model.report,
            "direction": model.recipe.direction,
            "treebanks": [
                {
                    "path": treebank.path,
                    "sentences": len(treebank),
                    **console.plain_omissions(treebank.omitted),
                    "lifted": list(treebank.lifted_sentences),
                }
                for treebank in self._treebanks
            ],
            "edits": [edit._asdict() for edit in self._edits],
            "encoder": _encoder_of(model),
            **networks,
            "parsed_trees": None if model.parsed is None else model.parsed.report,
            "tagger": None if model.tagger is None else model.tagger.report,
            "disagreeing": self._disagreeing,
        }

    def told(self) -> "Iterator[Table[Any] | str]":
        """The treebanks, tables of the epochs and of the edits, and lines about scores."""
        from pyropunct.compare.table import cells_table

        yield from console.treebank_lines(self._treebanks)
        yield from self._trainings()
        if self._edits:
            words = dict.fromkeys(("underlying", "becomes", "edit"))
            rows = [
                (" ".join(edit.before), " ".join(edit.after), edit.name, edit.probability, edit.count)
                for edit in self._edits
            ]
            yield cells_table("Learned edits", {**words, "probability": 3, "expected count": 1}, rows)
        if self._disagreeing:
            yield f"{disagreement(self._disagreeing)} (see pyropunct rules): {STILL_NEAR_PRIOR}"
        yield from self._scores()
        yield f"model written to {self._path}"

    def _trainings(self) -> "Iterator[Table[Any]]":
        """Tables of the epochs of all trainings; all numbers of networks but the loss are scores on dev."""
        from pyropunct.compare.table import cells_table

        model = self._model
        story = {"objective": ("objective", 4), "perplexity": ("dev perplexity", 4)}
        trainings = [("Training", model.report["epochs"], story)]
        for network, (name, _, scores) in NETWORKS.items():
            if network == "tagger" and model.parsed is not None:
                trainings.append(("Training on trees of the parser", model.parsed.report["epochs"], story))
            columns = {"loss": ("loss", 4), **scores}
            trainings.append((f"Training of the {name}", _epochs(model, network), columns))
        for title, epochs, columns in trainings:
            if epochs:
                values = [{**epoch, **(epoch.get("scores") or {})} for epoch in epochs]
                rows = [[epoch.get(key) for key in ("number", *columns, "seconds")] for epoch in values]
                titles = {"epoch": None, **dict(columns.values()), "seconds": 0}
                yield cells_table(title, titles, rows, [OBJECTIVE] if "objective" in columns else ())

    def _scores(self) -> Iterator[str]:
        """Lines about the scores of all parts on dev, and about pretrained features."""
        model = self._model
        directions = model.report["directions"]
        tried = ", ".join(f"{name} {value:.4f}" for name, value in directions.items())
        kept = f"; {model.recipe.direction} is kept" if len(directions) > 1 else ""
        yield f"dev perplexity per slot by direction: {tried}{kept}"
        chosen, epochs = model.report["chosen"], len(model.report["epochs"])
        if chosen < epochs:
            yield f"dev chose epoch {chosen} of {epochs}"
        if encoder := _encoder_of(model):
            use = "to restore raw text" if model.attach_pretrained is None else "for whatever it does"
            yield f"the model needs the encoder {encoder} {use}"
        for network in DECISIVE:
            if scores := _best_scores(model, network):
                name, line, _ = NETWORKS[network]
                yield line.format(name=name, **scores)
        if model.parsed is not None:
            yield (
                "dev perplexity per slot over trees of the parser: {perplexity:.4f}, with the weights for "
                "given trees {unparsed_perplexity:.4f}".format(**model.parsed.report)
            )
        if model.tagger is not None:
            yield (
                "dev perplexity per slot given words: trees of the parser {trees_perplexity:.4f}, tagger "
                "{perplexity:.4f}, story that reads the tagger {reading_perplexity:.4f}".format(
                    **model.tagger.report
                )
            )


def _encoder_of(model: "Punctuator") -> str | None:
    """The place of the encoder that the model was trained with; None without one."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain.get("place")


def _epochs(model: "Punctuator", network: str) -> list[dict[str, Any]]:
    """The epochs of the training of a network, if the model has it and has trained it."""
    report = getattr(getattr(model, network), "report", None) or {}
    return list(report.get("epochs", ()))


def _best_scores(model: "Punctuator", network: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one."""
    scores = [epoch["scores"] for epoch in _epochs(model, network) if epoch["scores"]]
    return max(scores, key=lambda epoch: epoch[DECISIVE[network]], default=None)
