"""Heads of marks by the guidelines of Universal Dependencies, and by T'."""

from collections.abc import Mapping

import pytest
from sentences import annotated

from pyropunct.tasks.explain.guidelines import GuidedHead, guided_heads
from pyropunct.treebank.sentence import Sentence


def heads(sentence: Sentence, sprouts: Mapping[str, tuple[str, str]] | None = None) -> list[tuple[str, str]]:
    """The marks with the forms of their heads, given what the constituents of some words sprout."""
    found = guided(sentence, sprouts or {})
    return [(sentence.layout.form(mark), sentence.layout.form(head)) for mark, (head, _) in found.items()]


def guided(sentence: Sentence, sprouts: Mapping[str, tuple[str, str]]) -> dict[int, GuidedHead]:
    sides = [sprouts.get(form, ("", "")) for form in sentence.tree.forms]
    return guided_heads(sentence, [(tuple(left.split()), tuple(right.split())) for left, right in sides])


COMMAS = (",", ",")


@pytest.mark.parametrize(
    ("tokens", "sprouts", "expected"),
    [
        # A mark between conjuncts hangs on the one that follows, whatever sprouted it.
        (
            "We/2/nsubj sell/0/root lamps/2/obj ,/3/punct chairs/3/conj ,/3/punct and/8/cc "
            "beds/3/conj ./2/punct",
            {"lamps": ("", ","), "chairs": COMMAS},
            [(",", "chairs"), (",", "beds"), (".", "sell")],
        ),
        # The clause or the subject?  T' tells which is between commas.
        (
            "Ann/7/nsubj ,/7/punct whom/5/obj you/5/nsubj know/1/acl ,/7/punct came/0/root ./7/punct",
            {"know": COMMAS},
            [(",", "know"), (",", "know"), (".", "came")],
        ),
        (
            "Ann/7/nsubj ,/7/punct whom/5/obj you/5/nsubj know/1/acl ,/7/punct came/0/root ./7/punct",
            {"Ann": ("", ","), "know": (",", "")},
            [(",", "know"), (",", "Ann"), (".", "came")],
        ),
        # A clause at the beginning depends on what follows.
        (
            "If/3/mark you/3/nsubj go/6/advcl ,/6/punct I/6/nsubj stay/0/root ./6/punct",
            {},
            [(",", "go"), (".", "stay")],
        ),
        # A quotation that is no constituent: the marks hang on what is inside, next to them.
        (
            "They/2/nsubj build/0/root “/2/punct a/5/det court/2/obj ,/2/punct so/9/mark laws/9/nsubj "
            "hold/2/advcl ”/5/punct ./2/punct",
            {},
            [("“", "court"), (",", "hold"), ("”", "hold"), (".", "build")],
        ),
        # Two quoted sentences, and a verb of saying.
        (
            "“/2/punct lost/6/ccomp ./6/punct won/2/parataxis ”/6/punct said/0/root Ann/6/nsubj ./6/punct",
            {},
            [("“", "lost"), (".", "lost"), ("”", "lost"), (".", "said")],
        ),
        # A quotation that the verb of saying interrupts.
        (
            "of/3/case «/5/punct these/9/obl »/5/punct he/6/nsubj said/0/root «/6/punct less/9/advmod "
            "credible/6/ccomp »/6/punct ./6/punct",
            {},
            [("«", "these"), ("»", "these"), ("«", "credible"), ("»", "credible"), (".", "said")],
        ),
        # A final mark within a quotation belongs to it.
        (
            "Il/2/nsubj dit/0/root :/2/punct “/2/punct c'/6/nsubj tôt/2/ccomp !/2/punct ”/2/punct ./2/punct",
            {},
            [(":", "tôt"), ("“", "tôt"), ("!", "tôt"), ("”", "tôt"), (".", "dit")],
        ),
        # Dots of an interjection, and of the sentence.
        (
            "Well/6/discourse ./6/punct ./6/punct ./6/punct I/6/nsubj tried/0/root ./1/punct ./1/punct",
            {},
            [(".", "Well")] * 3 + [(".", "tried")] * 2,
        ),
        # A list with numbers: brackets on the numbers, the colon on the list, the comma on its second item.
        (
            "needs/0/root :/1/punct (/1/punct a/6/discourse )/1/punct patience/1/obj ,/6/punct (/1/punct "
            "b/11/discourse )/1/punct time/6/conj ./1/punct",
            {},
            [
                (":", "patience"),
                ("(", "a"),
                (")", "a"),
                (",", "time"),
                ("(", "b"),
                (")", "b"),
                (".", "needs"),
            ],
        ),
        # A dash in place of the copula, and a dash before an apposition.
        ("Ann/3/nsubj —/1/punct doctor/0/root ./3/punct", {}, [("—", "doctor"), (".", "doctor")]),
        (
            "Ann/4/nsubj is/4/cop —/1/punct doctor/0/root —/1/punct surgeon/4/appos ./4/punct",
            {},
            [("—", "doctor"), ("—", "surgeon"), (".", "doctor")],
        ),
        # Dots within a sentence; hyphens within words and names.
        (
            "am/4/case 3/4/nummod~ ./4/punct mai/5/obl kam/0/root ./4/punct",
            {},
            [(".", "3"), (".", "kam")],
        ),
        ("on/3/case~ -/1/punct~ site/0/root work/3/dep ./3/punct", {}, [("-", "on"), (".", "site")]),
        ("al/0/root~ -/3/punct~ Qaeda/1/flat ./1/punct", {}, [("-", "al"), (".", "al")]),
        # Marks without their partners.
        (
            "lost/0/root again/1/advmod~ ”/1/punct ,/1/punct said/1/parataxis Ann/5/nsubj ./1/punct",
            {},
            [("”", "lost"), (",", "said"), (".", "lost")],
        ),
        (
            "Ann/4/nsubj ,/4/punct ¿/4/punct qué/0/root fue/4/cop ?/1/punct",
            {},
            [(",", "Ann"), ("¿", "qué"), ("?", "qué")],
        ),
        # Several marks in one token, within a quotation; a pair that encloses no word.
        (
            "„/2/punct Was/5/ccomp ?!/5/punct “/2/punct fragte/0/root ,/2/punct Ann/5/nsubj ./5/punct",
            {},
            [("„", "Was"), ("?!", "Was"), ("“", "Was"), (",", "Ann"), (".", "fragte")],
        ),
        (
            "kam/0/root (/1/punct !/1/punct )/1/punct heute/1/advmod",
            {},
            [("(", "kam"), ("!", "kam"), (")", "kam")],
        ),
        # Brackets around dots hang with them on a constituent beside them, not on the verb.
        (
            "They/2/nsubj say/0/root (/2/punct~ .../2/punct~ )/2/punct that/8/mark we/8/nsubj "
            "go/2/ccomp ./2/punct",
            {},
            [("(", "go"), ("...", "go"), (")", "go"), (".", "say")],
        ),
        (
            "The/2/det text/8/nsubj (/8/punct~ ./8/punct ./8/punct ./8/punct~ )/8/punct says/0/root "
            "so/8/advmod",
            {},
            [(mark, "text") for mark in "(...)"],
        ),
        (
            "They/2/nsubj say/0/root “/9/punct the/5/det text/9/nsubj [/9/punct …/9/punct ]/9/punct "
            "is/2/ccomp ”/9/punct",
            {},
            [("“", "is"), ("[", "text"), ("…", "text"), ("]", "text"), ("”", "is")],
        ),
        # Brackets that touch a name; a note behind the sentence is no continuation.
        (
            "function/5/nsubj f/1/appos~ (/2/punct~ )/2/punct returns/0/root",
            {},
            [("(", "f"), (")", "f")],
        ),
        (
            "lived/0/root in/3/case Rome/1/obl~ ./1/punct [/6/punct 17/1/dep ]/6/punct",
            {},
            [(".", "lived"), ("[", "17"), ("]", "17")],
        ),
        # A hyphen at the end of a word that goes on elsewhere.
        ("Lohn/0/root~ -/1/punct und/4/cc Kosten/1/conj", {}, [("-", "Lohn")]),
        # Emoticons, and marks that stand for words, stay.
        ("food/0/root !/1/punct :-)/1/punct See/1/parataxis", {}, [("!", "food")]),
        ("Room/0/root +/3/cc* board/1/conj ./3/punct", {}, [(".", "Room")]),
    ],
)
def test_guidelines(
    tokens: str, sprouts: dict[str, tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    assert heads(annotated(tokens), sprouts) == expected
