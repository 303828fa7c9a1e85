"""CoNLL-U Plus: columns in any order, further ones, and missing ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import Written, sentences, surfaces

from pyropunct.text.lines import TreebankError
from pyropunct.treebank.columns import COLUMN_NAMES
from pyropunct.treebank.reading import read_text, recognised

MORE = ("PARSEME:MWE", *COLUMN_NAMES)
SHORT = ("ID", "FORM", "UPOS", "HEAD", "DEPREL")


def plus(conllu: str, order: tuple[str, ...]) -> str:
    """The same with columns in this order; a further column holds the id again."""
    lines = [f"# global.columns = {' '.join(order)}"]
    for line in conllu.split("\n"):
        cells = dict(zip(COLUMN_NAMES, line.split("\t"), strict=False))
        named = {**cells, "PARSEME:MWE": f"of {cells['ID']}"}
        lines.append("\t".join(named[name] for name in order) if "\t" in line else line)
    return "\n".join(lines)


def plain(conllu: str, order: tuple[str, ...]) -> str:
    """The ten columns alone."""
    lines = []
    for line in conllu.split("\n")[1:]:
        cells = dict(zip(order, line.split("\t"), strict=False))
        lines.append("\t".join(cells[name] for name in COLUMN_NAMES) if "\t" in line else line)
    return "\n".join(lines)


@given(st.data(), sentences(), st.permutations(MORE))
def test_it_is_plain_conllu_with_other_columns(
    data: st.DataObject, written: Written, order: list[str]
) -> None:
    """What is read, and whatever is written, is the same but for the columns."""
    columns = tuple(order)
    [usual], [other] = read_text(written.conllu), read_text(plus(written.conllu, columns))
    assert (other.tree, other.surface, other.text()) == (usual.tree, usual.surface, usual.text())
    assert other.conllu() == plus(written.conllu, columns)
    misc = [{"Punct": "x"}] * len(usual.tree)
    assert other.conllu(misc) == plus(usual.conllu(misc), columns)
    surface = data.draw(surfaces(len(usual.surface)))
    assert plain(other.conllu_with_surface(surface), columns) == usual.conllu_with_surface(surface)


SENTENCE = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"


def test_columns_that_are_not_needed_may_lack() -> None:
    """What would have to stand in one of them is an error; it is not lost."""
    text = plus(SENTENCE, SHORT)
    [sentence] = read_text(text, "f")
    assert sentence.conllu([{}]) == text
    with pytest.raises(TreebankError) as caught:
        sentence.conllu([{"PunctRight": "!"}])
    problem = "the file has no column MISC for PunctRight=! (add the column, with _ in each line)"
    assert str(caught.value) == f"f:1: {problem}"


@pytest.mark.parametrize("name", SHORT)
def test_a_needed_column_is_missing(name: str) -> None:
    with pytest.raises(TreebankError) as caught:
        read_text(plus(SENTENCE, tuple(one for one in MORE if one != name)), "f")
    assert str(caught.value) == f"f:1: global.columns does not name the column {name}, which is needed"


def test_a_column_is_named_twice() -> None:
    with pytest.raises(TreebankError, match=r"^f:1: global\.columns names the column MISC twice$"):
        read_text(plus(SENTENCE, (*MORE, "MISC")), "f")


def test_errors_name_the_columns_and_the_line_of_the_file() -> None:
    """Also if the line that names the columns stands alone; it is then written with the first sentence."""
    named, *lines = plus(SENTENCE, MORE).split("\n")
    [sentence] = read_text("\n".join([named, "", *lines]))
    assert sentence.conllu() == "\n".join([named, *lines])
    for place, problem in (
        (2, "the column FORM is empty"),
        (7, "the line has 1 column, not the 11 of global.columns"),
    ):
        broken = [named, "", *lines, "x"]
        broken[2] = broken[2].replace("Go", "") if place == 2 else broken[2]
        with pytest.raises(TreebankError, match=f"^f:{place + (place == 2)}: sentence '#.': {problem}"):
            read_text("\n".join(broken), "f")


def test_it_is_recognised_by_its_first_line() -> None:
    text = plus(SENTENCE, ("FORM", *(one for one in MORE if one != "FORM")))
    lines = text.encode().splitlines(keepends=True)
    found, kind = recognised(iter(lines), "<stdin>")
    assert (list(found), kind) == (lines, "conllu")
    assert recognised(iter(lines[1:]), "<stdin>")[1] == "text"
