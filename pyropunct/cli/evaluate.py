"""The command ``pyropunct evaluate``."""

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.options import Json, ModelUse


@command
def evaluate(model: str, file: str, *, use: ModelUse, json: Json = False) -> None:
    """Measure how well MODEL predicts the punctuation of FILE, a CoNLL-U file, given its trees.

    The perplexity with trees is that of heads, relations, tags and punctuation together.
    """
    from pyropunct.cli.evaluate_output import Result, measured
    from pyropunct.text.lines import Part, opened
    from pyropunct.treebank.reading import nothing_kept

    punctuator = use.load(model)
    with opened(file) as (stream, name), console.stream_bar(stream, name) as advance:
        sums, items, impossible = measured(punctuator, Part(stream, name, "conllu"), advance)
    omitted = items.omitted
    if not sums.sentences:
        raise impossible[0] if impossible else nothing_kept(name, omitted)
    console.tell_omitted(name, omitted)
    messages = list(map(str, impossible))
    if messages:
        left_out = f"{len(messages)} left out as impossible"
        console.tell(f"pyropunct: {name}: {left_out}, with which the perplexity would be infinite")
    for message in messages[: console.IDS_SHOWN]:
        console.tell(f"pyropunct: {message}")
    counts = {"omitted": len(omitted), "impossible": len(impossible)}
    result = Result(name, sums.evaluation(), counts)
    result.tell(json, {**console.plain_omissions(omitted), "impossible": messages})
