"""What maintainers of treebanks see: malformed sentences, doubled identifiers, no usable one, columns."""

from pathlib import Path

import pytest
from command_line import complaint, invoke

pytestmark = pytest.mark.usefixtures("single_precision")

GOOD = "# sent_id = s{0}\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
BAD = GOOD.replace("0\troot", "7\tdep").replace("s{0}", "bad{0}")
REASON = "the head 7 is not one of the words 1 to 1"


def test_all_malformed_sentences_are_listed_and_copied(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.conllu"
    path.write_text(GOOD.format(1) + "".join(map(BAD.format, range(22))) + GOOD.format(2))
    contents = path.read_bytes().replace(b"bad21\n1\tGo", b"bad21\n1\tG\xf6")
    path.write_bytes(contents)
    first = f"{path}:5: sentence 'bad0': {REASON}; 21 more sentences are malformed (--skip-bad reads on)"
    assert complaint(2, "underlying", small / "model", path) == first
    for options in (("--proposals", "apply"), ("--attach-punctuation",), ()):
        result = invoke("underlying", small / "model", path, "--skip-bad", "--format", "conllu", *options)
        assert (result.exit_code, result.stdout_bytes) == (0, contents)
        told = result.stderr.splitlines()
        assert told[:2] == [
            f"pyropunct: {path}: 22 malformed sentences left out; output in CoNLL-U keeps them as they are",
            f"pyropunct: {path}:5: sentence 'bad0': {REASON}",
        ]
        assert len(told) == 22
        assert told[-1] == f"pyropunct: {path}: and 2 more"


@pytest.mark.parametrize("options", [(), ("--attach-punctuation",), ("--proposals", "write")])
def test_a_file_of_omitted_sentences_alone_is_copied(
    small: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "some.conllu"
    path.write_text(GOOD.format(1).replace("VERB", "PUNCT"))
    result = invoke("underlying", small / "model", path, "--format", "conllu", *options)
    assert (result.exit_code, result.stdout) == (0, path.read_text())
    assert result.stderr == f"pyropunct: {path}: 1 omitted, written as they were: s1 (it has no word)\n"
    assert "the only sentence is omitted" in complaint(2, "underlying", small / "model", path)


def test_doubled_identifiers_are_told(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.conllu"
    path.write_text("".join(map(GOOD.format, (1, 2, 2, 1, 1))))
    result = invoke("sample", small / "model", path)
    assert result.exit_code == 0
    told = "2 sent_ids occur more than once: the first is 's1', in lines 1 and 10"
    assert result.stderr == f"pyropunct: {path}: {told}\n"


def test_some_sentences_of_conllu_plus_begin_with_its_columns(small: Path, tmp_path: Path) -> None:
    """One that is chosen, and the first of several draws."""
    named = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC NEW\n"
    path = tmp_path / "some.conllup"
    path.write_text(named + "".join(map(GOOD.format, (1, 2))).replace("_\n", "_\t*\n"))
    chosen = ("underlying", small / "model", path, "--format", "conllu", "--proposals", "write")
    assert invoke(*chosen, "--sentence", "s2").stdout == named + GOOD.format(2).replace("_\n", "_\t*\n")
    drawn = invoke("sample", small / "model", path, "--format", "conllu", "--samples", 2).stdout
    assert drawn.startswith(f"{named}# sent_id = s1-1\n")
    assert drawn.count(named) == 1
