"""The report of ``pyropunct fit``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.fitted.story import Edit
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.

EDITS_SHOWN = 20

ENCODER, TUNED, VECTORS = "encoder", "tuned encoder", "vectors"
"""The kinds of pretrained features."""

NETWORKS: dict[str, tuple[str, str, dict[str, tuple[str, int]]]] = {
    "parser": (
        "parser",
        "parser on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}",
        {"uas": ("dev UAS", 2), "las": ("dev LAS", 2), "upos": ("dev tags", 2)},
    ),
    "reader": (
        "reader of running text",
        "reader on dev: F1 of sentence ends {f1:.2f}, in lower case {lower_f1:.2f}; case {case:.2f}",
        {"f1": ("dev F1 of ends", 2), "lower_f1": ("in lower case", 2), "case": ("dev case", 2)},
    ),
    "tagger": ("tagger", "", {"perplexity": ("dev perplexity", 4)}),
}
"""For each network its name, a line about its best epoch, and its scores with titles and decimals."""

DECISIVE = {"parser": "las", "reader": "lower_f1"}
"""The score by which epochs are compared."""


def report(model: "Punctuator", treebanks: "Sequence[Treebank]", path: Path, as_json: bool) -> None:
    """Print how training went, and the edits that the channel has learned.

    :param treebanks: the training treebanks, the main one first, and the dev treebank if there is one.
    :param path: the file of the model.
    """
    edits = model.edits(list(treebanks[0]), merged=not as_json)
    if as_json:
        console.print_json(_plain(model, treebanks, path, edits[:EDITS_SHOWN]))
        return
    for treebank in treebanks:
        for line in console.describe_treebank(treebank):
            console.say(line)
    _print_trainings(model)
    if edits:
        _print_edits(edits[:EDITS_SHOWN])
    _print_scores(model)
    console.say(f"model written to {path}")


def _plain(
    model: "Punctuator", treebanks: "Sequence[Treebank]", path: Path, edits: "Sequence[Edit]"
) -> dict[str, Any]:
    return {
        "model": str(path),
        **model.report,
        "direction": model.recipe.direction,
        "treebanks": [
            {
                "path": treebank.path,
                "sentences": len(treebank),
                **console.plain_omissions(treebank.omitted),
                "lifted": list(treebank.lifted_sentences),
            }
            for treebank in treebanks
        ],
        "edits": [edit._asdict() for edit in edits],
        **{kind.replace(" ", "_"): _place(model, kind) for kind in (ENCODER, TUNED, VECTORS)},
        "parser": _best_scores(model, "parser"),
        "parser_epochs": _epochs(model, "parser"),
        "reader": _best_scores(model, "reader"),
        "reader_epochs": _epochs(model, "reader"),
        "parsed_trees": None if model.parsed is None else model.parsed.report,
        "tagger": None if model.tagger is None else {**model.tagger.report, "share": model.share},
    }


def _print_trainings(model: "Punctuator") -> None:
    """Print the epochs of all trainings."""
    story = {"objective": ("objective", 4), "perplexity": ("dev perplexity", 4)}
    trainings = [("Training", model.report["epochs"], story)]
    for network, (name, _, scores) in NETWORKS.items():
        if network == "tagger" and model.parsed is not None:
            trainings.append(("Training on trees of the parser", model.parsed.report["epochs"], story))
        columns = {"loss": ("loss", 4), **scores}
        trainings.append((f"Training of the {name}", _epochs(model, network), columns))
    for title, epochs, columns in trainings:
        if epochs:
            _print_epochs(title, epochs, columns)


def _print_scores(model: "Punctuator") -> None:
    """Print scores of all parts on dev."""
    tried = ", ".join(f"{name} {value:.4f}" for name, value in model.report["directions"].items())
    console.say(f"dev perplexity per slot by direction: {tried}")
    if encoder := _place(model, ENCODER):
        use = "to restore raw text" if model.attach_pretrained is None else "for whatever it does"
        console.say(f"the model needs the encoder {encoder} {use}")
    if tuned := _place(model, TUNED):
        console.say(f"the model has the encoder {tuned} in it, which was trained further with the parser")
    if vectors := _place(model, VECTORS):
        console.say(f"the model reads word vectors of {vectors}, which it has in it")
    for network in DECISIVE:
        if scores := _best_scores(model, network):
            console.say(NETWORKS[network][1].format(**scores))
    if model.parsed is not None:
        console.say(
            "dev perplexity per slot over trees of the parser: {perplexity:.4f}, with the weights for given "
            "trees {unparsed_perplexity:.4f}".format(**model.parsed.report)
        )
    if model.tagger is not None:
        console.say(
            "dev perplexity per slot given words: trees of the parser {trees_perplexity:.4f}, tagger "
            "{perplexity:.4f}, both {mixed_perplexity:.4f}".format(**model.tagger.report)
            + f", with a share of {model.share:.2f} for the tagger"
        )


def _print_edits(edits: "Sequence[Edit]") -> None:
    from pyropunct.compare.table import Column, Table

    columns: list[Column[Edit]] = [
        Column("before", "underlying", lambda edit: " ".join(edit.before)),
        Column("after", "becomes", lambda edit: " ".join(edit.after)),
        Column("name", "edit", lambda edit: edit.name),
        Column("probability", "probability", lambda edit: edit.probability, 3),
        Column("count", "expected count", lambda edit: edit.count, 1),
    ]
    console.show_table(Table("Learned edits", columns, edits))


def _print_epochs(title: str, epochs: list[dict[str, Any]], columns: dict[str, tuple[str, int]]) -> None:
    """Print a table of epochs.

    :param columns: titles and decimals of numbers; of networks, all but the loss are scores on dev.
    """
    from pyropunct.compare.table import Column, Table

    def column(key: str, title: str, decimals: int) -> "Column[dict[str, Any]]":
        return Column(key, title, lambda epoch: {**epoch, **(epoch.get("scores") or {})}.get(key), decimals)

    shown = [column(key, *named) for key, named in {**columns, "seconds": ("seconds", 0)}.items()]
    number: Column[dict[str, Any]] = Column("number", "epoch", lambda epoch: epoch["number"])
    console.show_table(Table(title, [number, *shown], epochs))


def _place(model: "Punctuator", kind: str) -> str | None:
    """The place of the encoder or of the vectors that the model was trained with; None without them."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain["place"] if plain.get("kind") == kind else None


def _epochs(model: "Punctuator", network: str) -> list[dict[str, Any]]:
    """The epochs of the training of a network, if the model has it and has trained it."""
    report = getattr(getattr(model, network), "report", None) or {}
    return list(report.get("epochs", ()))


def _best_scores(model: "Punctuator", network: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one."""
    scores = [epoch["scores"] for epoch in _epochs(model, network) if epoch["scores"]]
    return max(scores, key=lambda epoch: epoch[DECISIVE[network]], default=None)
