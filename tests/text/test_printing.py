"""Words and marks as text and as CoNLL-U."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.conventions import Conventions, SpacingStatistics
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_sentence import Slot, WrittenMark, print_words
from pyropunct.treebank.conllu_writer import print_conllu
from pyropunct.treebank.orthography import learn_conventions
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.tree import Tree

DOT = ABBREVIATION_DOT
STRAIGHT = Conventions(quotes={"“": '"', "”": '"', "‘": "'", "’": "'"})
CLITICS = Conventions(
    SpacingStatistics({}, frozenset(["n't"]), frozenset(["$"]), frozenset([("can", "not")]))
)


@pytest.mark.parametrize(
    ("words", "surface", "text"),
    [
        (["Hello", "Ann"], [[START], [","], ["!"]], "Hello, Ann!"),
        (["Hello", "Ann"], [[], [","], ["!"]], "Hello, Ann!"),
        ([], [[START, "?!"]], "?!"),
        ([], [[START]], ""),
        (["a", "b"], [[START, "(", "“"], ["”", ",", "“"], ["”", ")", "."]], "(“a”, “b”)."),
        (["well", "known"], [[START], ["-"], []], "well-known"),
        (["a", "b"], [[START], ["--"], []], "a -- b"),
        (["qué", "es"], [[START, "¿"], [], ["?"]], "¿qué es?"),
        (["你", "好", "2", "a"], [[START], ["，"], [], [], ["。"]], "你，好2 a。"),
        # abbreviation dots
        (["Mr", "A", "etc"], [[START], [DOT], [DOT, ","], [DOT, "."]], "Mr. A., etc."),
        (["etc"], [[START], [DOT, "."]], "etc."),
        (["etc"], [[START], [".", DOT]], "etc."),
        (["etc"], [[START], [DOT, "?"]], "etc.?"),
        (["etc"], [[START], [DOT, "”", "."]], "etc.”."),
        (["a"], [[START, DOT, "."], []], ". a"),
        # unknown marks
        (["a", "b"], [[START, UNKNOWN], [UNKNOWN, ","], [UNKNOWN]], "a, b"),
    ],
)
def test_text(words: Sequence[str], surface: Sequence[Sequence[str]], text: str) -> None:
    assert print_words(words, surface, Conventions()) == text


def test_quotation_marks_of_the_treebank() -> None:
    surface = [[START, "“"], ["‘"], ["’", "”", "."]]
    assert print_words(["a", "b"], surface, STRAIGHT) == "\"a 'b'\"."


def test_words_written_together() -> None:
    words = ["we", "can", "not", "do", "n't", "$", "5"]
    assert print_words(words, [[]] * 8, CLITICS) == "we cannot don't $5"
    assert print_words(words, [[], [], ["("], [], [")"], [], [], []], CLITICS) == "we can (not do) n't $5"


def test_white_space_of_the_input_stays() -> None:
    words = ["we", "can", "not", "do", "n't"]
    slots = [*(Slot(space=space) for space in ("", "\u00a0", " ", "  ", "\t")), Slot()]
    for surface, text in (
        ([[], [], [], [], [], []], "we\u00a0can not  do\tn't"),
        ([[], [","], [], [], [], ["."]], "we,\u00a0can not  do\tn't."),
        ([[], [], [], ["("], [",", "“"], ["”"]], "we\u00a0can not  (do,\t“n't”"),
        ([[], [], [], ["—"], ["-"], []], "we\u00a0can not —  do -\tn't"),
    ):
        assert print_words(words, surface, CLITICS, slots=slots) == text
    touching = [*(Slot(space=space) for space in ("", " ", " ", " ", "")), Slot()]
    assert print_words(words, [[]] * 6, Conventions(), slots=touching) == "we can not don't"


def test_slots_that_have_the_same_marks_stay_as_they_are() -> None:
    first = Slot((WrittenMark("“", "«", ""),), "\u202f")
    comma, last = Slot((WrittenMark(",", "，", "\t"),)), Slot((WrittenMark(".", ".", " "),))
    slots = [first, comma, last]
    same = [slot.tokens for slot in slots]
    assert print_words(["a", "b"], same, STRAIGHT, slots=slots) == "«\u202fa\t，b ."
    assert print_words(["a", "b"], [same[0], [",", "”"], []], STRAIGHT, slots=slots) == '«\u202fa，"\tb'


def test_white_space_of_the_input_in_conllu() -> None:
    slots = [*(Slot(space=space) for space in ("", "\u00a0", "", " ", "\t")), Slot()]
    text = print_conllu(TREE, [[], [], [], [","], [], []], Conventions(), "1", slots=slots)
    assert "# text = mr Hayesour, boss sang\n" in text
    assert read_text(text)[0].text() == "mr Hayesour, boss sang"


@pytest.mark.parametrize(
    ("word", "capital"),
    [
        ("hello", "Hello"),
        ("Hello", "Hello"),
        ("élan", "Élan"),
        ("iPhone", "iPhone"),
        ("3rd", "3rd"),
        ("ǆ", "ǅ"),
        ("हम", "हम"),
    ],
)
def test_capital(word: str, capital: str) -> None:
    surface = [[START, "“"], [], ["”"]]
    assert print_words([word, "you"], surface, Conventions(), capital=True) == f"“{capital} you”"
    assert print_words([word, "you"], surface, Conventions()) == f"“{word} you”"


TREE = Tree(
    (2, 5, 4, 2, 0), ("nmod", "nsubj", "nmod", "appos", "root"), ("NOUN", "PROPN", "PRON", "NOUN", "VERB"),
    ("mr", "Hayes", "our", "boss", "sang"),
)  # fmt: skip
SURFACE = [[START, "“"], [DOT], [","], [], [","], [".", "”"]]


def test_conllu() -> None:
    assert print_conllu(TREE, SURFACE, STRAIGHT, "7", capital=True) == (
        "# sent_id = 7\n"
        '# text = "Mr. Hayes, our boss, sang."\n'
        '1\t"\t"\tPUNCT\t``\t_\t8\tpunct\t_\tSpaceAfter=No\n'
        "2\tMr.\t_\tNOUN\t_\t_\t3\tnmod\t_\t_\n"
        "3\tHayes\t_\tPROPN\t_\t_\t8\tnsubj\t_\tSpaceAfter=No\n"
        "4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_\n"
        "5\tour\t_\tPRON\t_\t_\t6\tnmod\t_\t_\n"
        "6\tboss\t_\tNOUN\t_\t_\t3\tappos\t_\tSpaceAfter=No\n"
        "7\t,\t,\tPUNCT\t_\t_\t8\tpunct\t_\t_\n"
        "8\tsang\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "9\t.\t.\tPUNCT\t_\t_\t8\tpunct\t_\tSpaceAfter=No\n"
        "10\t\"\t\"\tPUNCT\t''\t_\t8\tpunct\t_\t_\n"
        "\n"
    )


@pytest.mark.parametrize("conventions", [Conventions(), STRAIGHT], ids=["curly", "straight"])
def test_conllu_reads_back(conventions: Conventions) -> None:
    """Tree, punctuation and text of the embedded treebank come back."""
    for sentence in read_treebank(embedded_treebank_path("dev")).sentences[:50]:
        text = print_conllu(sentence.tree, sentence.surface, conventions, sentence.identifier)
        (again,) = read_text(text)
        assert (again.identifier, again.tree, again.surface) == (
            sentence.identifier,
            sentence.tree,
            sentence.surface,
        )
        assert f"# text = {again.text()}\n" in text


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb", "a\r"])
def test_words_that_nobody_could_read_again(word: str) -> None:
    tree = replace(TREE, forms=("mr", word, *TREE.forms[2:]))
    with pytest.raises(ValueError, match="cannot be written: it is empty, or has a tab or a line end"):
        print_conllu(tree, SURFACE, Conventions(), "1")


def test_learned_text_is_the_text_of_the_treebank() -> None:
    conventions = learn_conventions(read_treebank(embedded_treebank_path("train")))
    for sentence in read_treebank(embedded_treebank_path("dev")):
        assert print_words(sentence.tree.forms, sentence.surface, conventions) == sentence.text()


def test_wrong_number_of_slots() -> None:
    with pytest.raises(ValueError, match="2 words have 3 slots, not 2"):
        print_words(["a", "b"], [[], []], Conventions())
    with pytest.raises(ValueError, match="5 words have 6 slots, not 1"):
        print_conllu(TREE, [[]], Conventions(), "1")
