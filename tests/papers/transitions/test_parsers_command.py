"""``pyropunct compare parsers``: what it prints, saves and refuses."""

from pathlib import Path

from command_line import complaint, printed

from pyropunct.fitted.model_file import read_model_file
from pyropunct.papers.transitions.arc_standard_parser import ArcStandardParser
from pyropunct.papers.transitions.marked_sentences import have_language_tags, marked_sentences
from pyropunct.treebank.reading import read_treebank

BAD_INPUT = 2


def line(number: int, form: str, tag: str, head: int, relation: str) -> str:
    return "\t".join([str(number), form, "_", tag, "_", "_", str(head), relation, "_", "_"])


def test_a_table_and_parsers_that_are_saved(small: Path, tmp_path: Path) -> None:
    train, dev, out = small / "train.conllu", small / "dev.conllu", tmp_path / "parsers"
    options = ("--beams", "1,2", "--iterations", 3, "--permutations", 100)
    text = printed("compare", "parsers", train, dev, *options, "--out", out)
    rows = [row.split("│") for row in text.splitlines() if row.startswith("│")]
    treatments = ["tokens", "away", "paired", "all"]
    assert [(row[1].strip(), row[2].strip()) for row in rows] == [
        (beam, treatment) for beam in "12" for treatment in treatments
    ]
    assert "Trained on 120 sentences" in text
    parser = ArcStandardParser.from_parts(*read_model_file(out / "parts" / "all-2"))
    treebank = read_treebank(dev)
    sentences = marked_sentences(treebank, universal=not have_language_tags(treebank))
    found = [
        (parsed.heads[place], sentence.heads[place])
        for parsed, sentence in zip(parser.parse(sentences), sentences, strict=True)
        for place, mark in enumerate(sentence.marks)
        if not mark
    ]
    assert (out / "comparison.md").read_text(encoding="utf-8").startswith("## Parsers")
    assert rows[-1][3].strip() == f"{100 * sum(one == other for one, other in found) / len(found):.2f}"


def test_bad_input_is_told_in_one_line(small: Path, tmp_path: Path) -> None:
    train, dev = small / "train.conllu", small / "dev.conllu"
    empty, marks, lonely = (tmp_path / f"{name}.conllu" for name in ("empty", "marks", "lonely"))
    empty.write_text("", encoding="utf-8")
    marks.write_text(line(1, "!", "PUNCT", 0, "root") + "\n\n", encoding="utf-8")
    lonely.write_text(line(1, "Go", "VERB", 0, "root") + "\n" + line(2, "!", "PUNCT", 1, "punct") + "\n\n")
    assert (
        complaint(BAD_INPUT, "compare", "parsers", empty, dev) == f"{empty}: there is no sentence in the file"
    )
    assert complaint(BAD_INPUT, "compare", "parsers", train, marks).endswith(
        "the only sentence is omitted: it has no word"
    )
    assert complaint(BAD_INPUT, "compare", "parsers", lonely, dev) == (
        f"{lonely}: there is no sentence of two words or more, so no arc to learn from"
    )
    assert complaint(BAD_INPUT, "compare", "parsers", train, dev, "--marks", "all,some").startswith(
        "Invalid value for '--marks': there is no treatment 'some'; there are tokens, away, paired, all"
    )
    for beams in ("0", "1,x", "", "9999"):
        told = complaint(BAD_INPUT, "compare", "parsers", train, dev, "--beams", beams)
        assert told.startswith("Invalid value for '--beams': give widths from 1 to 1024 with commas between")
    assert complaint(BAD_INPUT, "compare", "parsers", train, dev, "--out", train).startswith(
        f"{train}: cannot write there: "
    )
