"""What a treebank shows of how it writes."""

import json
from dataclasses import replace

import pytest

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.conventions import (
    WORD,
    Capitals,
    Conventions,
    SpacingStatistics,
    Written,
    at_the_beginning,
)
from pyropunct.treebank.orthography import learn_capitals, learn_conventions, learn_spacing
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

Token = tuple[str, str]


def sentence(*tokens: str, marks: str = "", glued: str = "") -> Sentence:
    """A sentence of tokens; those in ``marks`` are marks, and no space follows those in ``glued``."""
    root = next(number for number, token in enumerate(tokens, 1) if token not in marks.split())
    lines = []
    for number, token in enumerate(tokens, 1):
        tag, relation = ("PUNCT", "punct") if token in marks.split() else ("X", "dep")
        head, relation = (0, "root") if number == root else (root, relation)
        misc = "SpaceAfter=No" if token in glued.split() else "_"
        lines.append(f"{number}\t{token}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t{misc}\n")
    return read_text("".join(lines)).sentences[0]


def space(statistics: SpacingStatistics, left: str, right: str) -> bool:
    """Whether there is a space between two tokens, of which marks are written [like] this."""

    def token(written: str) -> Written:
        mark = written[1:-1] if written.startswith("[") and written.endswith("]") else ""
        return Written(mark or written, mark)

    return statistics.space(token(left), token(right))


FRENCH = [sentence("oui", ":", "non", "!", marks=": !")] * 5 + [
    sentence("«", "oui", "»", ",", "non", marks="« » ,", glued="»")
] * 5


@pytest.mark.parametrize(
    ("left", "right", "learned", "by_rule"),
    [
        ("oui", "[:]", True, False),
        ("[:]", "non", True, True),
        ("[«]", "oui", True, False),
        ("oui", "[»]", True, False),
        ("[»]", "[,]", False, False),
        # a pair that was not seen: as either does beside words
        ("[»]", "[:]", True, False),
        ("[»]", "[!]", True, False),
        ("[:]", "[«]", True, True),
        # marks that were not seen
        ("[(]", "oui", False, False),
        ("oui", "[.]", False, False),
        ("oui", "[—]", True, True),
        ("oui", "non", True, True),
        ("好", "好", False, False),
    ],
)
def test_spaces_of_the_treebank_and_of_the_rules(left: str, right: str, learned: bool, by_rule: bool) -> None:
    assert space(learn_spacing(FRENCH), left, right) is learned
    assert space(SpacingStatistics(), left, right) is by_rule


def test_a_word_of_another_script_has_spaces_as_most_words_of_the_treebank_have() -> None:
    english = learn_spacing([sentence("they", "came", "home", ".", marks=".", glued="home")])
    chinese = learn_spacing([sentence("我", "回", "家", "。", marks="。", glued="我 回 家")])
    for left, right in (("came", "中文"), ("中文", "home")):
        assert space(english, left, right)
        assert not space(chinese, left, right)
    for learned in (english, chinese):
        assert space(learned, "came", "home")
        assert not space(learned, "中文", "好")


def test_probability() -> None:
    """Three of four have a space; the rule, that there is none, counts for two more without."""
    four = [sentence("a", ";", "b", marks=";")] * 3 + [sentence("a", ";", "b", marks=";", glued="a ;")]
    statistics = learn_spacing(four)
    assert statistics.counts[WORD, ";"] == (3, 4)
    assert statistics.probability(Written("a"), Written(";", ";")) == pytest.approx(3 / 6)
    assert statistics.probability(Written(";", ";"), Written("a")) == pytest.approx(5 / 6)


def test_a_treebank_that_does_not_tell() -> None:
    """Without a mark that touches its neighbour, ``SpaceAfter`` was not taken down."""
    bare = [sentence("a", ",", "b", ".", marks=", .")] * 20
    assert learn_spacing(bare) == SpacingStatistics()


ENGLISH = (
    [sentence("do", "n't", "go", ".", marks=".", glued="do go")] * 15
    + [sentence("can", "not", ".", marks=".", glued="can not")] * 15
    + [sentence("can", "be", ".", marks=".", glued="be")] * 15
    + [sentence("is", "not", ".", marks=".", glued="not")] * 15
    + [sentence("$", str(number), ".", marks=".", glued=f"$ {number}") for number in range(15)]
    + [sentence("5", "pm", ".", marks=".", glued="5 pm")] * 8
)


@pytest.mark.parametrize(
    ("left", "right", "together"),
    [
        ("do", "n't", True),
        ("Would", "N'T", True),
        ("do", "be", False),
        ("can", "not", True),
        ("can", "be", False),
        ("is", "not", False),
        ("$", "99", True),
        ("5", "pm", False),  # too rare to tell from carelessness
    ],
)
def test_words_written_together(left: str, right: str, together: bool) -> None:
    assert space(learn_spacing(ENGLISH), left, right) is not together


def french(*forms: str, times: int = 15) -> list[Sentence]:
    """Sentences of words of which those that end in an apostrophe are written together with the next."""
    elided = " ".join(form for form in forms if form.endswith("'"))
    return [sentence(*forms, "!", marks="!", glued=f"{elided} {forms[-1]}")] * times


ELISIONS = [
    *french("je", "dis", "qu'", "il", "viendra", times=30),
    *french("qu'", "on", "parte"),
    *french("mais", "il", "viendra"),
    *french("elle", "parle", "d'", "une", "enquête", times=40),
    *french("d'", "autres", "et", "une", "autre"),
]


@pytest.mark.parametrize(
    ("left", "right", "together"),
    [
        ("qu'", "il", True),
        ("Qu'", "elle", True),
        ("d'", "une", True),
        ("mais", "il", False),
        ("Une", "enquête", False),
        ("et", "une", False),
    ],
)
def test_what_a_proclitic_explains_makes_no_enclitic(left: str, right: str, together: bool) -> None:
    """French "il" stands behind "qu'" more often than elsewhere, and is a word by itself all the same."""
    statistics = learn_spacing(ELISIONS)
    assert statistics.proclitics == {"qu'", "d'"}
    assert not statistics.enclitics | statistics.joined
    assert space(statistics, left, right) is not together


def test_parts_of_a_contraction_are_no_neighbours() -> None:
    """Spanish "del" is not "deel"; but the parts of "don't" are."""
    text = (
        "1-2\t{form}\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\t{one}\t_\tX\t_\t_\t0\troot\t_\t_\n"
        "2\t{two}\t_\tX\t_\t_\t1\tdep\t_\t_\n3\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    )
    spanish = read_text(text.format(form="del", one="de", two="el") * 20)
    assert space(learn_spacing(spanish), "de", "el")
    english = read_text(text.format(form="don't", one="do", two="n't") * 20)
    assert not space(learn_spacing(english), "do", "n't")


def test_quotation_marks() -> None:
    straight = sentence('"', "a", '"', marks='"', glued='" a')
    curly = sentence("“", "a", "”", marks="“ ”", glued="“ a")
    assert learn_conventions([straight, straight, curly]).quotes == {"“": '"', "”": '"'}
    assert learn_conventions([straight, curly, curly]).quotes == {}
    assert learn_conventions([straight]).written("“") == ('"', "“")
    assert Conventions().written("“") == ("“", "“")


def test_an_initial_is_no_enclitic() -> None:
    """Of "I'm", written as "i m" without an apostrophe, nothing follows for "J M"."""
    together = sentence("i", "m", "here", glued="i")
    statistics = learn_spacing([together] * 20 + FRENCH)
    assert not space(statistics, "i", "m")
    assert space(statistics, "Jay", "M")


def test_spaces_stand_beside_wide_symbols() -> None:
    statistics = SpacingStatistics()
    assert space(statistics, "like", "😀")
    assert space(statistics, "😀", "you")
    assert not space(statistics, "我", "在")


def test_abbreviations() -> None:
    treebank = [sentence("Mr.", "A.", "saw", "no.", "no", "mr.")] * 2 + [sentence("no", "etc.")]
    assert learn_conventions(treebank).abbreviations == {"mr", "a"}


@pytest.mark.parametrize("treebank", [[], FRENCH, ENGLISH], ids=["nothing", "French", "English"])
def test_json_round_trip(treebank: list[Sentence]) -> None:
    conventions = learn_conventions(treebank)
    assert Conventions.from_json(json.loads(json.dumps(conventions.to_json()))) == conventions


def test_older_models_know_nothing_of_capital_letters() -> None:
    plain = learn_conventions(ENGLISH).to_json()
    assert plain.pop("capitals") != Capitals().to_json()
    assert Conventions.from_json(plain) == replace(learn_conventions(ENGLISH), capitals=Capitals())


def test_embedded_treebank() -> None:
    """Its spaces are regular, so those of other sentences of it follow."""
    statistics = learn_spacing(read_treebank(embedded_treebank_path("train")))
    assert statistics.enclitics == {"’s"}
    assert not space(statistics, "Ann", "’s")
    assert not space(statistics, "[,]", "[”]")
    assert space(statistics, "[,]", "[“]")
    assert not space(statistics, "him", "[—]")


LINES = """1	{0}	_	DET	_	_	2	det	_	_
2	{1}	_	{2}	_	_	3	nsubj	_	_
3	runs	_	VERB	_	_	0	root	_	_

"""


def capitals(*nouns: tuple[str, str]) -> Capitals:
    return learn_capitals(read_text("".join(LINES.format("The", *noun) for noun in nouns)))


def test_what_is_counted() -> None:
    """Words inside sentences; the first words say nothing."""
    found = capitals(("dog", "NOUN"), ("Dog", "NOUN"), ("I", "PRON"), ("3", "NUM"))
    assert found.words == {"dog": (1, 2), "i": (1, 1), "runs": (0, 4)}
    assert found.tags == {"NOUN": (1, 2), "PRON": (1, 1), "VERB": (0, 4)}


@pytest.mark.parametrize(
    ("form", "tag", "inside"),
    [
        ("The", "DET", "the"),
        ("Anna", "PROPN", "Anna"),
        ("I", "PRON", "I"),
        ("He", "PRON", "he"),
        ("NASA", "NOUN", "NASA"),
        ("McBride", "X", "McBride"),
        ("A", "DET", "a"),
        ("2nd", "ADJ", "2nd"),
        ("狗", "NOUN", "狗"),
    ],
)
def test_rules_without_a_treebank(form: str, tag: str, inside: str) -> None:
    assert Capitals().inside(form, tag) == inside


def test_a_treebank_decides() -> None:
    """A word that was seen is as it was seen; of the others of its tag most decide, as of German nouns."""
    german = capitals(*[("Hund", "NOUN")] * 20, *[("eine", "NOUN")] * 4)
    assert german.inside("Katze", "NOUN") == "Katze"
    assert german.inside("Eine", "NOUN") == "eine"
    assert german.inside("Hund", "X") == "Hund"
    assert german.inside("Der", "DET") == "der"


def test_the_beginning() -> None:
    assert list(map(at_the_beginning, ["the", "iPhone", "NASA", "3", "ǆ"])) == [
        "The",
        "iPhone",
        "NASA",
        "3",
        "ǅ",
    ]
