"""``pyropunct compare joint``: what it prints, saves and refuses."""

from pathlib import Path

from command_line import answer, complaint, printed

from pyropunct.fitted.model_file import read_model_file
from pyropunct.papers.transitions.arc_eager_parser import ArcEagerParser
from pyropunct.papers.transitions.mark_crf import MarkCRF
from pyropunct.papers.transitions.marked_sentences import have_language_tags
from pyropunct.papers.transitions.streams import streams
from pyropunct.treebank.reading import read_treebank

BAD_INPUT = 2
QUICK = ("--iterations", 1, "--folds", 2, "--permutations", 50, "--threads", 1)


def line(number: int, form: str, tag: str, head: int, relation: str) -> str:
    return "\t".join([str(number), form, "_", tag, "_", "_", str(head), relation, "_", "_"])


def test_a_table_and_systems_that_are_saved(
    small: Path, tmp_path: Path, model_with_parser: Path, single_precision: None
) -> None:
    train, dev, out = small / "train.conllu", small / "dev.conllu", tmp_path / "systems"
    options = (*QUICK, "--samples", 5, "--sentences", "3,2", "--model", model_with_parser)
    text = printed("compare", "joint", train, dev, *options, "--out", out)
    rows = [[cell.strip() for cell in row.split("│")] for row in text.splitlines() if row.startswith("│")]
    systems = ["crf", "cascaded", "unified", "restoration"]
    assert [row[1:3] for row in rows] == 2 * [[size, name] for size in "32" for name in systems]
    assert "Trained on 120 sentences in streams of 10" in text
    treebank = read_treebank(dev)
    measured = streams(treebank, 2, universal=not have_language_tags(treebank))
    crf = MarkCRF.from_parts(*read_model_file(out / "parts" / "crf"))
    parser = ArcEagerParser.from_parts(*read_model_file(out / "parts" / "cascaded"))
    assert len(parser.parse(measured, crf.predict(measured))) == len(measured)


def test_some_systems(small: Path) -> None:
    arguments = ("compare", "joint", small / "train.conllu", small / "dev.conllu", "--systems", "unified,crf")
    value = answer(*arguments, *QUICK, "--sentences", 3, "--beam", 2, "--seed", 1)
    assert [(row["system"], row["sentences"]) for row in value["rows"]] == [("unified", 3), ("crf", 3)]
    unified, crf = value["rows"]
    assert 0 < unified["las"] <= unified["uas"] < 100
    assert crf["las"] is None
    assert set(crf["p"]) == {"middle", "full", "any", "ends"}
    assert (value["train"]["sentences"], value["dev"]["sentences"]) == (120, 30)
    assert value["settings"]["beam"] == 2


def test_bad_input_is_told_in_one_line(small: Path, tmp_path: Path) -> None:
    train, dev = small / "train.conllu", small / "dev.conllu"
    empty, marks, one = (tmp_path / f"{name}.conllu" for name in ("empty", "marks", "one"))
    empty.write_text("", encoding="utf-8")
    marks.write_text("# newdoc\n" + line(1, "!", "PUNCT", 0, "root") + "\n\n", encoding="utf-8")
    one.write_text(line(1, "Go", "VERB", 0, "root") + "\n\n", encoding="utf-8")
    assert (
        complaint(BAD_INPUT, "compare", "joint", empty, dev) == f"{empty}: there is no sentence in the file"
    )
    assert complaint(BAD_INPUT, "compare", "joint", train, marks).endswith(
        "the only sentence is omitted: it has no word"
    )
    assert complaint(BAD_INPUT, "compare", "joint", one, dev) == (
        f"{one}: there is one stream of 10 sentences; marks for cascaded come from others"
    )
    for sizes in ("0", "3,x", "1001"):
        assert complaint(BAD_INPUT, "compare", "joint", train, dev, "--sentences", sizes) == (
            "Invalid value for '--sentences': give numbers from 1 to 1000 with commas between them, not "
            f"'{sizes}' (see pyropunct compare joint --help)"
        )
    assert complaint(BAD_INPUT, "compare", "joint", train, dev, "--systems", "crf,some").startswith(
        "Invalid value for '--systems': there is no system 'some'; there are crf, cascaded, unified, restor"
    )
    assert complaint(BAD_INPUT, "compare", "joint", train, dev, "--out", train).startswith(
        f"{train}: cannot write"
    )
    assert complaint(BAD_INPUT, "compare", "joint", train, dev, "--model", small / "model").startswith(
        "the model has no reader of running text"
    )
