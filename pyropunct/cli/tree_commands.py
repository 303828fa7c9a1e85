"""The commands ``pyropunct underlying``, ``sample`` and ``convert``, for trees."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import (
    CONLLU,
    Json,
    ModelUse,
    SeededUse,
    SentenceId,
    check_output,
    refuse,
    text_output,
)
from pyropunct.cli.progress import stream_bar
from pyropunct.cli.report import in_order, show_each, usable
from pyropunct.errors import UserError
from pyropunct.limits import Count, NotNegative, Placeholder, Range

if TYPE_CHECKING:
    from pyropunct.cli.sources import Work
    from pyropunct.cli.tree_reports import UnderlyingReport
    from pyropunct.fitted.evaluation import Balance
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.constituency import Conversion
    from pyropunct.treebank.sentence import Sentence

# Modules that are slow to import are imported inside the functions, so that --help answers at once.

ATTACHED = "--attach-punctuation writes trees: use it with --format conllu"

Format = Literal["brackets", "conllu", "text", "svg", "html", "json", "report", "tsv"]


@command
def underlying(
    model: str,
    file: str,
    *,
    format: Format = "brackets",
    samples: NotNegative = 0,
    sentence: SentenceId = None,
    attach_punctuation: bool = False,
    like: Annotated[str | None, Placeholder("TREEBANK")] = None,
    proposals: Literal["write", "apply"] | None = None,
    least: Annotated[float, Range(0, 1)] | None = None,
    use: SeededUse,
) -> None:
    """Show the underlying punctuation of FILE: that of the best derivation, or draws from the posterior.

    :param format: trees in some format; or a report on marks that probably have a wrong head in FILE, as
        lines of text by patterns or, with tsv, with tabs between columns; and on other odd punctuation.
    :param samples: draw this many trees from the posterior.
    :param attach_punctuation: with --format conllu: give each mark the head that the guidelines of UD and
        the best underlying tree give it, or that it would usually have in FILE.
    :param like: with --attach-punctuation: a treebank to learn from which heads are usual, instead of FILE.
    :param proposals: with --format conllu: "write" these other heads into MISC, where an annotator adds
        PunctAccept=Yes; then "apply" those that have it.
    :param least: with --format report or tsv, or --proposals write: the least probability of a proposal;
        by default 0.9.
    """
    listed = format in ("report", "tsv")
    refuse(
        {
            ATTACHED: attach_punctuation and format != "conllu",
            "--proposals goes with --format conllu, without --attach-punctuation and --samples": proposals
            and (format != "conllu" or attach_punctuation or samples),
            "--like is a treebank of heads of marks: use it with --attach-punctuation": like is not None
            and not attach_punctuation,
            f"--format {format} is about the best underlying trees: leave out --samples": samples and listed,
            "--least is that of proposals: use it with --format report, tsv or --proposals write": least
            is not None
            and not listed
            and proposals != "write",
        }
    )
    from pyropunct.cli.tree_reports import (
        UnderlyingReport,
        WrittenReport,
        accepted,
        maintainer_report,
        proposed,
    )
    from pyropunct.figures.page import MOST_DRAWINGS
    from pyropunct.tasks.explain.attachment_conventions import convention_of
    from pyropunct.tasks.explain.guidelines import seen
    from pyropunct.tasks.explain.proposals import LEAST

    least = LEAST if least is None else least
    punctuator, treebank = use.load_for(model, file, need_sentences=format != "conllu" and not listed)
    items = in_order(treebank, sentence, format)
    sentences = usable(items)
    console.tell_language(model, punctuator, file, sentences)
    if listed:
        maintainer_report(punctuator, treebank, items, least).show(format)
        return
    if proposals:
        write = proposals == "write"
        texts = proposed(punctuator, treebank, sentences, least) if write else accepted(sentences)
        show_each("writing", WrittenReport(format, None), treebank, items, ([text] for text in texts))
        return
    if format == "svg" and (number := len(sentences) * max(samples, 1)) > MOST_DRAWINGS:
        raise UserError(
            f"--format svg draws at most {MOST_DRAWINGS} trees, not {number}: choose one with --sentence, "
            "or make a page of all with --format html"
        )
    convention = None
    if attach_punctuation:
        source = treebank if like is None else use.read(like).with_marks(punctuator.meant)
        convention = convention_of(seen(punctuator, list(source)))
    report = UnderlyingReport(format, None, punctuator, convention)
    show_each("underlying", report, treebank, items, punctuator.underlying(sentences, samples))
    report.draw(treebank, model)
    _tell_oddities(report, punctuator.balance(sentences))


def _tell_oddities(report: "UnderlyingReport", balance: "Balance") -> None:
    """Tell of marks that are like words, of slips, and of halves of pairs."""
    if report.num_words:
        kept = "mark is like a word and keeps its head|marks are like words and keep their heads"
        told = console.counted(report.num_words, kept)
        console.tell(f"pyropunct: {told} (an emoticon, or another relation than punct)")
    if report.num_slips:
        places = console.counted(report.num_slips, "place|places")
        console.tell(f"pyropunct: at {places} between words, the underlying tree does not explain the marks")
    if balance.unmatched:
        console.tell(
            f"pyropunct: in the underlying trees, brackets and quotation marks at {balance.unmatched} of "
            f"{balance.bearing} constituents lack their partner ({balance.expected:.1f} expected)"
        )


def underlying_work(
    model: str, *, format: str = "brackets", attach_punctuation: bool = False, use: ModelUse
) -> "Work":
    """What the command does with a part of a corpus."""
    from pyropunct.cli.sources import Tools, text_work
    from pyropunct.cli.tree_reports import UnderlyingReport, WrittenReport
    from pyropunct.tasks.explain.attachment_conventions import NO_CONVENTION

    refuse({ATTACHED: attach_punctuation and format != "conllu"})

    def tools(punctuator: "Punctuator") -> Tools:
        convention = NO_CONVENTION if attach_punctuation else None  # a part does not tell
        report = UnderlyingReport(format, None, punctuator, convention, counts_slips=False)
        shown = report.conllu if format == "conllu" else report.text

        def texts(sentences: "Sequence[Sentence]") -> Iterator[str | None]:
            """The trees as text; an error in one of them is an error of its sentence alone."""
            for sentence, [tree] in zip(sentences, punctuator.underlying(sentences), strict=True):
                yield shown(sentence, tree)

        return Tools(lambda: texts, lambda out, _: WrittenReport(format, out))

    return text_work(use.load(model), tools)


@command
def sample(
    model: str,
    file: str,
    *,
    samples: Count = 1,
    format: Literal["text", "conllu", "json"] = "text",
    balanced: bool = False,
    use: SeededUse,
) -> None:
    """Draw surface punctuation for the trees of FILE, whose own punctuation is ignored.

    :param samples: draws for each tree.
    :param format: sentences with their drawn marks as text or CoNLL-U.
    :param balanced: draw only punctuation whose brackets and quotation marks are paired.
    """
    from pyropunct.cli.tree_reports import SampleReport

    punctuator, treebank = use.load_for(model, file, need_sentences=format != "conllu")
    draws = punctuator.sample(list(treebank), samples, balanced=balanced)
    report = SampleReport(format, punctuator.conventions)
    show_each("sampling", report, treebank, in_order(treebank, None, format), draws)


SHOWN = 10
"""The most unknown tags and labels that are listed."""


@command
def convert(
    files: Annotated[tuple[str, ...], Placeholder("FILE...")],
    *,
    out: str | None = None,
    head_rules: Annotated[str, Placeholder("english|chinese|FILE")] = "english",
    json: Json = False,
) -> None:
    """Convert phrase-structure trees to dependency trees in CoNLL-U, which the other commands read.

    Each FILE has bracketed trees as in the Penn Treebank; - is standard input.  Each maximal projection
    becomes a subtree, and its label becomes a relation.  Traces are left out.

    :param out: CoNLL-U file to write; by default standard output.
    :param head_rules: which daughter is the head of a phrase.
    """
    from pyropunct.text.lines import opened, read_lines
    from pyropunct.treebank.constituency import Conversion
    from pyropunct.treebank.head_rules import load_head_rules

    if json and out is None:
        raise click.UsageError("--json reports what was written: give a file with --out")
    conversion = Conversion(load_head_rules(head_rules))
    check_output(out, CONLLU, (*files, head_rules))
    with text_output(out) as output:
        for file in files:
            with opened(file) as (stream, name), stream_bar(stream, name) as advance:
                for block in conversion.blocks(read_lines(stream, name), name):
                    output.write(block)
                    advance()
    if json:
        console.print_json({"files": list(files), "out": out, **conversion.to_json()})
    else:
        _tell_conversion(conversion, ", ".join(files), out)


def _tell_conversion(conversion: "Conversion", source: str, out: str | None) -> None:
    if out is not None:
        counts = f"{conversion.trees:,} trees, {conversion.words:,} words, {conversion.marks:,} marks"
        console.say(f"{source}: {counts}, written to {out}")
    if conversion.empty:
        console.tell(f"pyropunct: {source}: trees of empty elements alone, left out: {conversion.empty}")
    for what, seen in (
        ("labels without a head rule, so that the default held", conversion.unknown_phrases),
        ("tags without a universal tag, which became X", conversion.unknown_tags),
    ):
        if seen:
            shown = [f"{label} {count}" for label, count in seen.most_common(SHOWN)]
            more = ", ..." if len(seen) > SHOWN else ""
            console.tell(f"pyropunct: {source}: {what}: {', '.join(shown)}{more}")
