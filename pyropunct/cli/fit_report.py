"""What ``pyropunct fit`` prints of the training, and of the edits that the channel has learned."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from pyropunct.cli import console
from pyropunct.cli.report import Report
from pyropunct.cli.rule_reports import disagreement
from pyropunct.punctuator import Punctuator
from pyropunct.tables import Table, cells_table
from pyropunct.tasks.explain.learned_rules import learned_rules
from pyropunct.treebank.reading import Treebank

EDITS_SHOWN = 20

STILL_NEAR_PRIOR = "the channel is still near its prior there: train on a larger treebank"

TREES = "on dev: UAS {uas:.2f}, LAS {las:.2f}, tags {upos:.2f}"
NETWORKS = {
    "parser": ("las", f"parser {TREES}"),
    "mark_parser": ("las", f"parser of words and marks {TREES}"),
    "reader": (
        "lower_f1",
        "reader on dev: F1 of sentence ends {f1:.2f}, in lower case {lower_f1:.2f}; case {case:.2f}",
    ),
}
"""For each network the score by which epochs are compared, and a line about the best epoch."""

OBJECTIVE = """\
objective   what training makes small: minus the log-probability of marks and
            weights, with all penalties, per sentence; compare it within a fit"""


def fit_report(model: Punctuator, treebanks: Sequence[Treebank], path: Path, *, merged: bool) -> Report:
    """How training went, and the edits that the channel has learned.

    :param treebanks: those of training, the main one first, and dev if there is one.
    :param merged: whether edits that differ only in their context are merged.
    """
    sentences = list(treebanks[0])
    edits = model.edits(sentences, merged=merged)[:EDITS_SHOWN]
    disagreeing = learned_rules(model, sentences, nunberg=False).disagreeing if edits else None
    networks = dict[str, Any]()
    for network in NETWORKS:
        networks |= {network: _best_scores(model, network), f"{network}_epochs": _epochs(model, network)}
    plain = {
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
        "encoder": _encoder_of(model),
        **networks,
        "parsed_trees": None if model.parsed is None else model.parsed.report,
        "tagger": None if model.tagger is None else model.tagger.report,
        "disagreeing": disagreeing,
    }
    told: list[Table[Any] | str] = [*console.treebank_lines(treebanks), *_trainings(model)]
    if edits:
        words = dict.fromkeys(("underlying", "becomes", "edit"))
        rows = [
            (" ".join(edit.before), " ".join(edit.after), edit.name, edit.probability, edit.count)
            for edit in edits
        ]
        columns = {**words, "probability": 3, "expected count": 1}
        told.append(cells_table("Learned edits", columns, rows))
    if disagreeing:
        told.append(f"{disagreement(disagreeing)} (see pyropunct rules): {STILL_NEAR_PRIOR}")
    return Report(plain, [*told, *_scores(model), f"model written to {path}"])


def _trainings(model: Punctuator) -> Iterator[Table[Any]]:
    """Tables of the epochs of the story, and of its weights for trees of the parser."""
    columns = {"epoch": None, "objective": 4, "dev perplexity": 4, "seconds": 0}
    trainings = {"Training": model.report["epochs"]}
    if model.parsed is not None:
        trainings["Training on trees of the parser"] = model.parsed.report["epochs"]
    for title, epochs in trainings.items():
        if epochs:
            names = ("number", "objective", "perplexity", "seconds")
            rows = [[epoch.get(name) for name in names] for epoch in epochs]
            yield cells_table(title, columns, rows, [OBJECTIVE])


def _scores(model: Punctuator) -> Iterator[str]:
    """Lines about the scores of all parts on dev, and about pretrained features."""
    directions = model.report["directions"]
    tried = ", ".join(f"{name} {value:.4f}" for name, value in directions.items())
    kept = f"; {model.recipe.direction} is kept" if len(directions) > 1 else ""
    yield f"dev perplexity per slot by direction: {tried}{kept}"
    chosen, epochs = model.report["chosen"], len(model.report["epochs"])
    if chosen < epochs:
        yield f"dev chose epoch {chosen} of {epochs}"
    if encoder := _encoder_of(model):
        yield f"the model needs the encoder {encoder} to restore raw text"
    for network, (_, line) in NETWORKS.items():
        if scores := _best_scores(model, network):
            yield line.format(**scores)
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


def _encoder_of(model: Punctuator) -> str | None:
    """The place of the encoder that the model was trained with; None without one."""
    plain = {} if model.pretrained is None else model.pretrained.to_parts()[0]
    return plain.get("place")


def _epochs(model: Punctuator, network: str) -> list[dict[str, Any]]:
    """The epochs of the training of a network, if the model has it and has trained it."""
    report = getattr(getattr(model, network), "report", None) or {}
    return list(report.get("epochs", ()))


def _best_scores(model: Punctuator, network: str) -> dict[str, Any] | None:
    """The scores of the epoch that did best on the dev treebank, if there was one."""
    scores = [epoch["scores"] for epoch in _epochs(model, network) if epoch["scores"]]
    return max(scores, key=itemgetter(NETWORKS[network][0]), default=None)
