"""Whatever heads and entries are written into a treebank, everything else in it stays."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import sentences

from pyropunct.tasks.explain.reattaching import reattached, with_accepted, with_proposals
from pyropunct.treebank.columns import COLUMN_NAMES
from pyropunct.treebank.conllu_block import DEPS, HEAD, ID, MISC
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence

Changed = Mapping[str, set[int]]


@st.composite
def treebanks(draw: st.DrawFn) -> tuple[str, Sentence]:
    """A file with comments around, and its one sentence, mostly with marks."""
    written = draw(sentences())
    comments = draw(
        st.lists(st.sampled_from(["# text = Ünd so", "#", "#x =", "# newdoc id = d"]), max_size=3)
    )
    text = "".join(f"{comment}\n" for comment in comments) + written.conllu
    [sentence] = read_text(text)
    return text, sentence


def wanted(data: st.DataObject, sentence: Sentence) -> dict[int, int]:
    """Heads for some of the marks."""
    words = st.sampled_from(sentence.layout.words)
    marks = [mark for slot in sentence.layout.marks for mark in slot]
    return {mark: data.draw(words) for mark in marks if data.draw(st.booleans())}


def changed(old: str, new: str) -> Changed:
    """The columns that differ, by the id of the token; all other lines are the same, in the same order."""
    found = {}
    for before, after in zip(old.split("\n"), new.split("\n"), strict=True):
        if before != after:
            columns = list(zip(before.split("\t"), after.split("\t"), strict=True))
            assert len(columns) == len(COLUMN_NAMES)
            found[before.split("\t")[ID]] = {
                place for place, (one, other) in enumerate(columns) if one != other
            }
    return found


def read_back(sentence: Sentence) -> Sentence:
    """The sentence as it is read when it has been written: the same words, marks and tree."""
    [again] = read_text(sentence.conllu())
    assert (again.tree, again.surface, again.conllu()) == (sentence.tree, sentence.surface, sentence.conllu())
    return again


@given(st.data(), treebanks())
def test_new_heads_change_marks_alone(data: st.DataObject, treebank: tuple[str, Sentence]) -> None:
    text, sentence = treebank
    heads = wanted(data, sentence)
    new = read_back(reattached(sentence, heads))
    assert {mark: new.layout.head(mark) for mark in heads} == heads
    for token, columns in changed(text, new.conllu()).items():
        assert int(token) in heads
        assert columns <= {HEAD, DEPS}


@given(st.data(), treebanks())
def test_entries_change_misc_alone(data: st.DataObject, treebank: tuple[str, Sentence]) -> None:
    """Entries of words, as ``--format conllu`` writes them, whatever the marks are."""
    text, sentence = treebank
    values = st.dictionaries(
        st.sampled_from(["PunctLeft", "PunctRight"]), st.sampled_from(["|", "\\", "“+,"])
    )
    misc = [data.draw(values) for _ in sentence.layout.words]
    new = sentence.conllu(misc)
    [again] = read_text(new)
    assert (again.conllu(), again.tree, again.surface) == (new, sentence.tree, sentence.surface)
    words = {str(word): {MISC} for word, entries in zip(sentence.layout.words, misc, strict=True) if entries}
    assert changed(text, new) == words


@given(st.data(), treebanks())
def test_proposals_that_nobody_accepts_leave_no_trace(
    data: st.DataObject, treebank: tuple[str, Sentence]
) -> None:
    text, sentence = treebank
    heads = wanted(data, sentence)
    proposed = read_back(with_proposals(sentence, {mark: (head, 0.9) for mark, head in heads.items()}))
    assert changed(text, proposed.conllu()) == {str(mark): {MISC} for mark in heads}
    assert with_accepted(proposed).conllu() == text
