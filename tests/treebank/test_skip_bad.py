"""Malformed sentences that are omitted, files of omitted sentences alone, and doubled identifiers."""

from pathlib import Path

import pytest

from pyropunct.text.lines import LONGEST_LINE, TreebankError
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import read_text, read_treebank

GOOD = "# sent_id = good\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
BAD = GOOD.replace("good", "bad").replace("0\troot", "7\tdep")
NO_TREE = GOOD.replace("VERB", "PUNCT")


def test_malformed_sentences_are_omitted(tmp_path: Path) -> None:
    """With their bytes, whatever these are; the others are read as usual."""
    contents = (BAD + GOOD + GOOD.replace("Go", "ü") + BAD.replace("bad", "worse")).encode()
    contents = contents.replace("ü".encode(), b"\xfc")
    path = tmp_path / "some.conllu"
    path.write_bytes(contents)
    treebank = read_treebank(path, skip_bad=True)
    assert [sentence.conllu() for sentence in treebank] == [GOOD]
    no_head = "the head 7 is not one of the words 1 to 1"
    no_text = f"byte {contents.index(0xFC)} is 0xfc, which is not UTF-8 (save the file as UTF-8)"
    assert list(treebank.omitted) == [
        Omission("bad", 2, no_head, malformed=True),
        Omission("#3", 8, no_text, malformed=True),
        Omission("worse", 11, no_head, malformed=True),
    ]
    written = "".join(one.conllu() for one in treebank.in_order())
    assert written.encode(errors="surrogateescape") == contents


def test_the_first_malformed_sentence_is_an_error_that_counts_the_others() -> None:
    with pytest.raises(TreebankError) as caught:
        read_text(GOOD + BAD * 3, "f")
    problem = "the head 7 is not one of the words 1 to 1; 2 more sentences are malformed"
    assert str(caught.value) == f"f:5: sentence 'bad': {problem}"


def test_what_cannot_be_copied_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.conllu"
    path.write_text(GOOD + "# " + "x" * LONGEST_LINE + "\n" + GOOD)
    with pytest.raises(TreebankError, match=r":4: .*, so its sentence can be neither read nor copied$"):
        read_treebank(path, skip_bad=True)


def test_a_file_of_omitted_sentences_alone(tmp_path: Path) -> None:
    path = tmp_path / "some.conllu"
    path.write_text(NO_TREE)
    with pytest.raises(TreebankError, match=r"the only sentence is omitted: it has no word$"):
        read_treebank(path)
    [omission] = read_treebank(path, need_sentences=False).in_order()
    assert omission.conllu() == NO_TREE
    path.write_text("# a comment\n")
    with pytest.raises(TreebankError, match="there is no sentence"):
        read_treebank(path, need_sentences=False)


def test_doubled_identifiers() -> None:
    """Those of omitted sentences too; sentences without one have none in common."""
    without = GOOD.replace("# sent_id = good\n", "")
    treebank = read_text(GOOD + without * 2 + NO_TREE + GOOD.replace("good", "other") + GOOD)
    assert treebank.duplicates == {"good": [1, 8, 14]}
