"""Written words of raw text are split as the treebank splits them, and joined again."""

import json
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import chain

from pyropunct.cli.text_reports import RestorationReport
from pyropunct.draws import Draws
from pyropunct.restore.restoring import Restored, raw_text
from pyropunct.restore.rewriting import without_marks_in
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.treebank.orthography import learn_conventions
from pyropunct.treebank.reading import Treebank, read_text
from pyropunct.vocabulary import Vocabulary

WRITTEN = {
    "French": "l'|UE parle d'|une fête du=de|le chef que j'|ai vue qu'|il dit des=de|les uns l'|un d'|eux .",
    "Spanish": "el niño del=de|el pueblo va al=a|el mar dámelo=da|me|lo ya .",
    "German": "er geht zum=zu|dem Haus im=in|dem Garten .",
    "English": "I do|n't know it|'s a dog|'s life we can|not .",
}
CASES = {
    "French": [
        ("L'UE du Nord", ["L'", "UE", "de", "le", "Nord"]),
        ("Du chef", ["De", "le", "chef"]),
        ("j'arrive qu'elle", ["j'", "arrive", "qu'", "elle"]),
        ("l’arbre", ["l’", "arbre"]),
        ("des uns, qu'il", ["de", "les", "uns", "qu'", "il"]),
        ("DU CHEF", ["DE", "LE", "CHEF"]),
        ("d'l'arbre", ["d'", "l'", "arbre"]),
        ("dure l' d'", ["dure", "l'", "d'"]),
    ],
    "Spanish": [
        ("Al mar del norte", ["A", "el", "mar", "de", "el", "norte"]),
        ("Dámelo", ["Da", "me", "lo"]),
    ],
    "German": [("zum Baum im Wald", ["zu", "dem", "Baum", "in", "dem", "Wald"]), ("Zimmer", ["Zimmer"])],
    "English": [
        ("don't Can't Ann's", ["do", "n't", "Ca", "n't", "Ann", "'s"]),
        ("dON'T", ["dO", "N'T"]),
        ("cannot can not", ["can", "not", "can", "not"]),
    ],
}


def sentence(written: str) -> str:
    """A sentence in CoNLL-U, with a range for each written word that has its words after "="."""
    lines: list[str] = []
    number = 0
    words = written.split(" ")
    for word, following in pairwise([*words, ""]):
        form, _, parts = word.partition("=")
        forms = (parts or form).split("|")
        space = "SpaceAfter=No" if following in (".", "") else "_"
        if parts:
            lines.append(f"{number + 1}-{number + len(forms)}\t{form}" + "\t_" * 7 + f"\t{space}")
        for one, last in zip(forms, [*[False] * (len(forms) - 1), True], strict=True):
            number += 1
            misc = "_" if parts else space if last else "SpaceAfter=No"
            head, relation = (0, "root") if number == 1 else (1, "punct" if one == "." else "dep")
            tag = "PUNCT" if one == "." else "X"
            lines.append(f"{number}\t{one}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t{misc}")
    return "\n".join(lines) + "\n\n"


def treebank(language: str) -> Treebank:
    return read_text(sentence(WRITTEN[language]) * 20)


@cache
def reader(language: str) -> RawReader:
    words = Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, ",", "."), ("",), ("",), ("",), ((),))
    return RawReader(words, learn_conventions(treebank(language)))


@pytest.mark.parametrize(
    ("language", "text", "words"), [(name, *case) for name, some in CASES.items() for case in some]
)
def test_words(language: str, text: str, words: list[str]) -> None:
    source = reader(language).read(text)
    assert list(source.words) == words
    nothing = Restored(source, [()] * len(source.surface), 0.0, chain(source.words))
    assert raw_text(nothing, Conventions(), capital=False) == text.replace(",", "")


@pytest.mark.parametrize("language", WRITTEN)
@given(data=st.data())
def test_text_comes_back(language: str, data: st.DataObject) -> None:
    """In text and in CoNLL-U, with marks between written words."""
    reading = reader(language)
    written = [word.partition("=")[0].replace("|", "") for word in WRITTEN[language].split(" ")[:-1]]
    some = data.draw(st.lists(st.sampled_from(written), min_size=1, max_size=6))
    source = reading.read(" ".join(some))
    marks = [data.draw(st.sampled_from([(), (",",)])) for _ in source.surface]
    surface = [() if slot in source.inside else one for slot, one in enumerate(marks)]
    restored = Restored(source, surface, 0.0, chain(source.words))
    text = raw_text(restored, reading.conventions, capital=False)
    assert text.replace(",", "").split() == some
    report = RestorationReport.__new__(RestorationReport)
    report.conventions, report._capital = reading.conventions, False
    (again,) = read_text(report.conllu(restored.source, restored))
    assert again.text() == text
    assert again.tree.forms == source.words


@pytest.mark.parametrize("language", WRITTEN)
def test_splits_are_kept_with_the_conventions(language: str) -> None:
    conventions = learn_conventions(treebank(language))
    plain = json.loads(json.dumps(conventions.to_json()))
    assert Conventions.from_json(plain) == conventions
    assert conventions.splits
    del plain["splits"]
    assert not Conventions.from_json(plain).splits


def test_what_is_mostly_one_word_is_not_split() -> None:
    text = sentence("la=le|a mer") + sentence("la mer") * 3 + sentence("une=un|e mer")
    assert learn_conventions(read_text(text)).splits == {}


def test_no_mark_comes_into_a_written_word() -> None:
    source = reader("French").read("du chef j'ai")
    assert source.inside == [1, 4]
    strings = ((), (",",))
    draws = Draws(strings, np.ones((2, 6), np.int32), np.array([0.5, 0.5]))
    assert without_marks_in(draws, source.inside).numbers.tolist() == [[1, 0, 1, 1, 0, 1]] * 2
