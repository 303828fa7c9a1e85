"""The rules of the preprocessing, on small sentences, on random ones and on a real treebank."""

import importlib.metadata
import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import Written, sentences

from pyropunct.text.lines import TreebankError
from pyropunct.text.marks import ABBREVIATION_DOT, START, STRAIGHT
from pyropunct.treebank.preparing import MOST_MARKS, NO_WORD
from pyropunct.treebank.reading import Treebank, read_text, read_treebank
from pyropunct.treebank.sentence import Sentence


def conllu(*tokens: tuple[Any, ...]) -> str:
    """CoNLL-U from (form, head, relation) or (form, head, relation, upos, xpos)."""
    lines = []
    for number, token in enumerate(tokens, 1):
        form, head, relation, *tags = token
        upos, xpos = (tags + ["X", "_"][len(tags) :])[:2]
        lines.append("\t".join([str(number), form, "_", upos, xpos, "_", str(head), relation, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def only(*tokens: tuple[Any, ...]) -> Sentence:
    (sentence,) = read_text(conllu(*tokens)).sentences
    return sentence


def test_tree_and_surface() -> None:
    sentence = only(
        ("Hail", 0, "root", "NOUN"),
        (",", 1, "punct", "PUNCT"),
        ("hail", 1, "flat:again", "INTJ"),
        ("!", 1, "punct", "PUNCT"),
        ("!", 1, "punct", "PUNCT"),
    )
    assert sentence.tree.heads == (0, 1)
    assert sentence.tree.relations == ("root", "flat:again")
    assert sentence.tree.tags == ("NOUN", "INTJ")
    assert sentence.tree.forms == ("Hail", "hail")
    assert sentence.surface == ((START,), (",",), ("!", "!"))
    assert sentence.lifted == 0


def test_initial_marks_follow_the_start() -> None:
    assert only(("¿", 2, "punct"), ("a", 0, "root")).surface == ((START, "¿"), ())


def test_punctuation_is_by_tag_or_by_relation() -> None:
    text = conllu(("a", 0, "root"), ("@", 1, "punct:x", "SYM"), ("-", 1, "dep", "PUNCT"))
    assert read_text(text).sentences[0].surface == ((START,), ("@", "-"))
    by_tag = read_text(text, punctuation_relation=False).sentences[0]
    assert by_tag.tree.forms == ("a", "@")
    assert by_tag.surface == ((START,), (), ("-",))


@pytest.mark.parametrize(
    ("form", "word", "slot"),
    [
        ("etc.", "etc", (ABBREVIATION_DOT, ",")),
        ("U.S.", "U.S", (ABBREVIATION_DOT, ",")),
        ("...", "...", (",",)),
        ("so...", "so...", (",",)),
        (".", ".", (",",)),
        ("a.b", "a.b", (",",)),
    ],
)
def test_abbreviation_dots(form: str, word: str, slot: tuple[str, ...]) -> None:
    sentence = only((form, 0, "root"), (",", 1, "punct"))
    assert sentence.tree.forms == (word,)
    assert sentence.surface == ((START,), slot)
    assert sentence.text() == f"{form} ,"


def test_quotes_are_directed_and_printed_straight() -> None:
    sentence = only(
        ('"', 2, "punct", "PUNCT", "``"),
        ("No", 0, "root"),
        ("'", 4, "punct"),
        ("no", 2, "dep"),
        ("'", 4, "punct"),
        ('"', 4, "punct", "PUNCT", "''"),
    )
    assert sentence.surface == ((START, "“"), ("‘",), ("’", "”"))
    assert sentence.text() == "\" No ' no ' \""


def test_lifting_after_the_punctuation_is_gone() -> None:
    sentence = only(("a", 4, "x"), (",", 4, "punct"), ("b", 0, "root"), ("c", 3, "y"), ("d", 1, "z"))
    assert sentence.tree.heads == (2, 0, 2, 2)
    assert sentence.tree.relations == ("x", "root", "y", "z")
    assert sentence.lifted == 2


def test_omissions() -> None:
    text = (
        "# sent_id = good\n" + conllu(("a", 0, "root"))
        + "# sent_id older\n" + conllu(("!", 0, "root", "PUNCT"))
        + conllu(("a", 0, "root"), ("(", 1, "punct"), ("b", 2, "dep"))
        + conllu((":", 0, "root", "PUNCT"), (")", 1, "punct"))
        + conllu(("a", 0, "root"), *[(",", 1, "punct")] * (MOST_MARKS + 1))
        + conllu(("a", 0, "root"), *[(",", 1, "punct")] * MOST_MARKS)
    )  # fmt: skip
    treebank = read_text(text)
    assert [sentence.identifier for sentence in treebank] == ["good", "#6"]
    assert [(omission.identifier, omission.line, omission.reason) for omission in treebank.omitted] == [
        ("older", 4, NO_WORD),
        ("#3", 7, "token 3 depends on the punctuation mark ( (token 2)"),
        ("#4", 11, "token 2 depends on the punctuation mark : (token 1)"),
        ("#5", 14, "it has 1,001 marks in one place, more than 1,000"),
    ]


def test_counts_of_lifted_arcs() -> None:
    crossing = conllu(("a", 2, "x"), ("b", 0, "root"), ("c", 1, "y"))
    treebank = read_text("# sent_id = s\n" + crossing + conllu(("a", 0, "root")) + crossing)
    assert treebank.lifted_arcs == 2
    assert treebank.lifted_sentences == ("s", "#3")
    assert len(treebank) == 3


def test_standard_input_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    data = conllu(("a", 0, "root")).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data * 2)))
    calls: list[tuple[int, int]] = []
    treebank = read_treebank("-", progress=lambda done, total: calls.append((done, total)))
    assert treebank.path == "<stdin>"
    assert calls == [(1, 4), (3, 4)]


@given(sentences())
def test_slots_and_words_make_the_sentence_again(written: Written) -> None:
    (sentence,) = read_text(written.conllu).sentences
    assert len(sentence.surface) == len(sentence.tree) + 1
    assert sentence.surface[0][0] == START
    forms = []
    for word, slot in zip(("", *sentence.tree.forms), sentence.surface, strict=True):
        if slot[:1] == (ABBREVIATION_DOT,):
            word += "."
        forms += [word] * bool(word) + [mark for mark in slot if not mark.startswith("\t")]
    for form, original in zip(forms, written.forms, strict=True):
        assert form == original or form in STRAIGHT[original]


@given(sentences())
def test_the_original_text_is_printed(written: Written) -> None:
    (sentence,) = read_text(written.conllu).sentences
    assert sentence.text() == written.text
    assert sentence.text(sentence.surface) == written.text
    assert sentence.conllu() == written.conllu
    assert sentence.conllu_with_surface(sentence.surface) == written.conllu


@given(sentences())
def test_relations_stay_with_their_words(written: Written) -> None:
    (sentence,) = read_text(written.conllu).sentences
    words = [form for form, mark in zip(written.forms, written.is_mark, strict=True) if not mark]
    numbers = [number for number, mark in enumerate(written.is_mark, 1) if not mark]
    for form, word, number, relation in zip(
        words, sentence.tree.forms, numbers, sentence.tree.relations, strict=True
    ):
        assert relation in ("root", f"r{number}")
        assert word in (form, form[:-1])


@pytest.fixture(scope="module")
def turkish() -> dict[str, Treebank]:
    files = importlib.metadata.files("turkish-treebanks") or []
    return {path.name: read_treebank(str(path.locate())) for path in files if path.suffix == ".conllu"}


@pytest.mark.parametrize(
    ("name", "kept", "omitted", "lifted_arcs", "lifted_sentences"),
    [("web.conllu", 2541, 0, 160, 115), ("wiki.conllu", 2308, 2, 336, 188)],
)
def test_counts_of_the_turkish_treebanks(
    turkish: dict[str, Treebank], name: str, kept: int, omitted: int, lifted_arcs: int, lifted_sentences: int
) -> None:
    treebank = turkish[name]
    assert (len(treebank), len(treebank.omitted)) == (kept, omitted)
    assert (treebank.lifted_arcs, len(treebank.lifted_sentences)) == (lifted_arcs, lifted_sentences)


@pytest.mark.parametrize("name", ["web.conllu", "wiki.conllu"])
def test_round_trip_of_the_turkish_treebanks(turkish: dict[str, Treebank], name: str) -> None:
    for sentence in turkish[name]:
        assert f"# text = {sentence.text()}" in sentence.layout.block.lines
        assert sentence.conllu_with_surface(sentence.surface) == sentence.conllu()


STRANGE = st.text(
    st.sampled_from("ab .,|=-#_\u2028\u2029\x85\x0b\x1c\u00a0\u200b\x1b"), min_size=1, max_size=4
)


@given(st.lists(st.tuples(STRANGE, STRANGE, st.booleans()), min_size=1, max_size=4))
def test_what_is_accepted_comes_back(rows: list[tuple[str, str, bool]]) -> None:
    """Whatever characters it has: its lines are those of the file, and they are read again as they were."""
    lines = [
        f"{number}\t{form}\t_\t{'PUNCT' if mark else 'X'}\t_\t_\t{number - 1}\tdep\t_\t{misc}"
        for number, (form, misc, mark) in enumerate(rows, 1)
    ]
    text = "\n".join(["# note", *lines]) + "\n\n"
    try:
        treebank = read_text(text + "1\tgo\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    except TreebankError:
        return
    written = "".join(item.conllu() for item in treebank.in_order())
    assert written == text + "1\tgo\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    assert len(read_text(written).in_order()) == 2
