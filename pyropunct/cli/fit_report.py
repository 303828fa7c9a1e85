"""What ``pyropunct fit`` says when it is done."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyropunct.cli import console

if TYPE_CHECKING:
    from pyropunct.fitted.edits import Edit
    from pyropunct.fitted.story import FittedStory
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.

EDITS_SHOWN = 20

ENCODER, TUNED, VECTORS = "encoder", "tuned encoder", "vectors"
"""The kinds of pretrained features."""

PARSER_COLUMNS = {"uas": "dev UAS", "las": "dev LAS", "upos": "dev tags"}
READER_COLUMNS = {"f1": "dev F1 of ends", "lower_f1": "in lower case", "case": "dev case"}
TAGGER_COLUMNS = {"perplexity": "dev perplexity"}
"""Scores of an epoch, and what the table of epochs calls them."""


def report(model: "Punctuator", treebanks: "Sequence[Treebank]", folder: Path, as_json: bool) -> None:
    """Print how training went, and what the channel has learned.

    :param treebanks: those that it was trained on, the main one first, and the dev treebank if there is one.
    :param folder: where the model was written to.
    """
    edits = model.edits(list(treebanks[0]), merged=not as_json)
    if as_json:
        console.print_json(_plain(model, treebanks, folder, edits[:EDITS_SHOWN]))
        return
    for treebank in treebanks:
        for line in console.describe_treebank(treebank):
            console.say(line)
    _print_trainings(model)
    if edits:
        console.print_edits(edits, EDITS_SHOWN)
    _print_scores(model)
    console.say(f"model written to {folder}")


def _plain(
    model: "Punctuator", treebanks: "Sequence[Treebank]", folder: Path, edits: "Sequence[Edit]"
) -> dict[str, Any]:
    return {
        "model": str(folder),
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
        "parser": _best_scores(_parser_epochs(model), "las"),
        "parser_epochs": _parser_epochs(model),
        "reader": _best_scores(_reader_epochs(model), "lower_f1"),
        "reader_epochs": _reader_epochs(model),
        "parsed_trees": None if model.parsed is None else model.parsed.report,
        "tagger": None if model.tagger is None else {**model.tagger.report, "share": model.share},
    }


def _print_trainings(model: "Punctuator") -> None:
    """The epochs of all that was trained."""
    _print_epochs("Training", model)
    if parser_epochs := _parser_epochs(model):
        _print_network_epochs("Training of the parser", parser_epochs, PARSER_COLUMNS)
    if reader_epochs := _reader_epochs(model):
        _print_network_epochs("Training of the reader of running text", reader_epochs, READER_COLUMNS)
    if model.parsed is not None:
        _print_epochs("Training on trees of the parser", model.parsed)
    if model.tagger is not None:
        _print_network_epochs("Training of the tagger", model.tagger.report["epochs"], TAGGER_COLUMNS, 4)


def _print_scores(model: "Punctuator") -> None:
    """How good all that was trained is on dev."""
    tried = ", ".join(f"{name} {value:.4f}" for name, value in model.report["directions"].items())
    console.say(f"dev perplexity per slot by direction: {tried}")
    if encoder := _place(model, ENCODER):
        use = "to restore raw text" if model.attach_pretrained is None else "for whatever it does"
        console.say(f"the model needs the encoder {encoder} {use}")
    if tuned := _place(model, TUNED):
        console.say(f"the model has the encoder {tuned} in it, which was trained further with the parser")
    if vectors := _place(model, VECTORS):
        console.say(f"the model reads word vectors of {vectors}, which it has in it")
    if scores := _best_scores(_parser_epochs(model), "las"):
        console.say("parser on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}".format(**scores))
    if scores := _best_scores(_reader_epochs(model), "lower_f1"):
        console.say(
            "reader on dev: F1 of sentence ends {f1:.2f}, in lower case {lower_f1:.2f}; "
            "case {case:.2f}".format(**scores)
        )
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


def _print_epochs(title: str, model: "FittedStory") -> None:
    rows = [
        [
            str(epoch["number"]),
            f"{epoch['objective']:.4f}",
            f"{epoch['perplexity']:.4f}",
            f"{epoch['seconds']:.0f}",
        ]
        for epoch in model.report["epochs"]
    ]
    console.print_table(title, ["epoch", "objective", "dev perplexity", "seconds"], rows)


def _place(model: "Punctuator", kind: str) -> str | None:
    """Where the encoder is, or the vectors were, that the model was trained with; None if without such."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain["place"] if plain.get("kind") == kind else None


def _parser_epochs(model: "Punctuator") -> list[dict[str, Any]]:
    """The epochs of the training of the model's parser, if it has one."""
    from pyropunct.nets.parser import BiaffineParser

    return list(model.parser.report["epochs"]) if isinstance(model.parser, BiaffineParser) else []


def _reader_epochs(model: "Punctuator") -> list[dict[str, Any]]:
    """The epochs of the training of the model's reader of running text, if it has one."""
    return [] if model.reader is None else list(model.reader.report["epochs"])


def _print_network_epochs(
    title: str, epochs: list[dict[str, Any]], columns: dict[str, str], decimals: int = 2
) -> None:
    """The epochs of a network, with the scores on dev that the columns are for."""
    rows = []
    for epoch in epochs:
        scores = epoch["scores"]
        shares = (
            ["-"] * len(columns) if scores is None else [f"{scores[name]:.{decimals}f}" for name in columns]
        )
        rows.append([str(epoch["number"]), f"{epoch['loss']:.4f}", *shares, f"{epoch['seconds']:.0f}"])
    console.print_table(title, ["epoch", "loss", *columns.values(), "seconds"], rows)


def _best_scores(epochs: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one.

    :param name: of the score by which epochs are compared.
    """
    scores = [epoch["scores"] for epoch in epochs if epoch["scores"]]
    return max(scores, key=lambda some: some[name], default=None)
