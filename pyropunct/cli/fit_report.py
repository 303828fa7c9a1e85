"""The report of ``pyropunct fit``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyropunct.cli import console
from pyropunct.cli.rules_output import disagreement
from pyropunct.compare.table import cells_table
from pyropunct.fitted.story import Edit
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.learned import learned_rules
from pyropunct.treebank.reading import Treebank

EDITS_SHOWN = 20

STILL_NEAR_PRIOR = "the channel is still near its prior, and more epochs help"

ENCODER, TUNED = "encoder", "tuned encoder"
"""The kinds of pretrained features."""

NETWORKS: dict[str, tuple[str, str, dict[str, tuple[str, int]]]] = {
    "parser": (
        "parser",
        "parser on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}",
        {"uas": ("dev UAS", 2), "las": ("dev LAS", 2), "upos": ("dev tags", 2)},
    ),
    "mark_parser": (
        "parser of words and marks",
        "parser of words and marks on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}",
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

DECISIVE = {"parser": "las", "mark_parser": "las", "reader": "lower_f1"}
"""The score by which epochs are compared."""


def report(model: Punctuator, treebanks: Sequence[Treebank], path: Path, as_json: bool) -> None:
    """Print how training went, and the edits that the channel has learned.

    :param treebanks: the training treebanks, the main one first, and the dev treebank if there is one.
    :param path: the file of the model.
    """
    sentences = list(treebanks[0])
    edits = model.edits(sentences, merged=not as_json)[:EDITS_SHOWN]
    disagreeing = learned_rules(model, sentences, nunberg=False).disagreeing if edits else None
    if as_json:
        plain = _plain(model, treebanks, path, edits)
        console.print_json({**plain, "disagreeing": disagreeing})
        return
    console.describe_treebanks(treebanks)
    _print_trainings(model)
    if edits:
        columns = {"underlying": None, "becomes": None, "edit": None, "probability": 3, "expected count": 1}
        rows = [
            (" ".join(edit.before), " ".join(edit.after), edit.name, edit.probability, edit.count)
            for edit in edits
        ]
        console.show_table(cells_table("Learned edits", columns, rows))
    if disagreeing:
        console.say(f"{disagreement(disagreeing)} (see pyropunct rules): {STILL_NEAR_PRIOR}")
    for line in _scores(model):
        console.say(line)
    console.say(f"model written to {path}")


def _plain(
    model: Punctuator, treebanks: Sequence[Treebank], path: Path, edits: Sequence[Edit]
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
        **{kind.replace(" ", "_"): _place(model, kind) for kind in (ENCODER, TUNED)},
        "parser": _best_scores(model, "parser"),
        "parser_epochs": _epochs(model, "parser"),
        "mark_parser": _best_scores(model, "mark_parser"),
        "mark_parser_epochs": _epochs(model, "mark_parser"),
        "reader": _best_scores(model, "reader"),
        "reader_epochs": _epochs(model, "reader"),
        "parsed_trees": None if model.parsed is None else model.parsed.report,
        "tagger": None if model.tagger is None else {**model.tagger.report, "share": model.share},
    }


def _print_trainings(model: Punctuator) -> None:
    """Print tables of the epochs of all trainings; all numbers of networks but the loss are scores on dev."""
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
            console.show_table(cells_table(title, titles, rows))


def _scores(model: Punctuator) -> Iterator[str]:
    """Lines about the scores of all parts on dev, and about pretrained features."""
    tried = ", ".join(f"{name} {value:.4f}" for name, value in model.report["directions"].items())
    yield f"dev perplexity per slot by direction: {tried}"
    chosen, epochs = model.report["chosen"], len(model.report["epochs"])
    if chosen < epochs:
        yield f"dev chose epoch {chosen} of {epochs}"
    if encoder := _place(model, ENCODER):
        use = "to restore raw text" if model.attach_pretrained is None else "for whatever it does"
        yield f"the model needs the encoder {encoder} {use}"
    if tuned := _place(model, TUNED):
        yield f"the model has the encoder {tuned} in it, which was trained further with the parser"
    for network in DECISIVE:
        if scores := _best_scores(model, network):
            yield NETWORKS[network][1].format(**scores)
    if model.parsed is not None:
        yield (
            "dev perplexity per slot over trees of the parser: {perplexity:.4f}, with the weights for given "
            "trees {unparsed_perplexity:.4f}".format(**model.parsed.report)
        )
    if model.tagger is not None:
        yield (
            "dev perplexity per slot given words: trees of the parser {trees_perplexity:.4f}, tagger "
            "{perplexity:.4f}, both {mixed_perplexity:.4f}".format(**model.tagger.report)
            + f", with a share of {model.share:.2f} for the tagger"
        )


def _place(model: Punctuator, kind: str) -> str | None:
    """The place of the encoder that the model was trained with; None without one."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain["place"] if plain.get("kind") == kind else None


def _epochs(model: Punctuator, network: str) -> list[dict[str, Any]]:
    """The epochs of the training of a network, if the model has it and has trained it."""
    report = getattr(getattr(model, network), "report", None) or {}
    return list(report.get("epochs", ()))


def _best_scores(model: Punctuator, network: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one."""
    scores = [epoch["scores"] for epoch in _epochs(model, network) if epoch["scores"]]
    return max(scores, key=lambda epoch: epoch[DECISIVE[network]], default=None)
