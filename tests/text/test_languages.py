"""The language of a text, and of its lines."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyropunct.text import languages as module
from pyropunct.text.languages import (
    MOST_LETTERS,
    LanguagesOfLines,
    likely_language,
)

SENTENCES = {
    "ar": "اضطررنا إلى الانتظار ساعة قبل أن يغادر القطار المحطة",
    "cs": "museli jsme čekat hodinu, než vlak konečně odjel",
    "de": "Wir mussten eine Stunde warten, bevor der Zug endlich abfuhr.",
    "en": "We had to wait an hour before the train finally left the station.",
    "fi": "jouduimme odottamaan tunnin ennen kuin juna vihdoin lähti asemalta",
    "fr": "nous avons dû attendre une heure avant le départ du train",
    "he": "נאלצנו לחכות שעה עד שהרכבת יצאה סוף סוף מהתחנה",
    "it": "abbiamo dovuto aspettare un'ora prima che il treno partisse",
    "ja": "電車がやっと出るまで一時間も待たなければならなかった。",
    "nb": "vi måtte vente en time før toget endelig forlot stasjonen og kjørte videre",
    "ru": "нам пришлось ждать целый час, пока поезд наконец не ушёл",
    "zh": "我们等了一个小时，火车才终于离开了车站。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences(language: str) -> None:
    assert likely_language(SENTENCES[language], SENTENCES) == language
    assert likely_language(SENTENCES[language].upper(), SENTENCES) == language


def test_norwegian() -> None:
    for code in ("no", "nb", "nn"):
        assert likely_language(SENTENCES["nb"], ["de", code]) == code
    assert likely_language("eg veit ikkje kva dei heiter, men me har vore der", ["sv", "no"]) == "no"


@pytest.mark.parametrize("text", ["", " \n", "123", "\ud800", "\0"])
def test_texts_without_letters(text: str) -> None:
    """They are in a language that is known, if only to the model, whatever the order."""
    found = likely_language(text, ["de", "en", "fr"])
    assert found in ("de", "en", "fr")
    assert likely_language(text, ["fr", "en", "de", "xx"]) == found
    assert likely_language(text, ["yy", "xx"]) == "xx"


def test_a_text_may_be_in_a_language_that_is_not_known() -> None:
    """Where it surely is: "Ja, gut." looks like several languages, and Danish like Norwegian."""
    assert likely_language(SENTENCES["he"], ["de", "he"]) == "he"
    assert likely_language(SENTENCES["he"], ["de", "en"]) == "he"
    assert likely_language(SENTENCES["cs"], ["hr", "en", "no"]) == "cs"
    assert likely_language("Ja, gut.", ["en", "de"]) == "de"
    assert likely_language(SENTENCES["nb"], ["no", "da"]) == "no"
    mixed = f"{SENTENCES['en']} " * (MOST_LETTERS // 60) + "und so weiter " * 5000
    assert likely_language(mixed, ["de", "en"]) == "en"


def test_the_beginning_of_a_text_says_more_than_a_short_line() -> None:
    """As further behind in a file, of which others read the beginning."""
    line = "en stor mand"
    known = ["da", "no", "sv"]
    assert likely_language(line, known, "no") == "no"
    of_lines = LanguagesOfLines(known)
    of_lines.begin(["12", SENTENCES["nb"], SENTENCES["de"]])
    assert of_lines.of(line) == "no"
    assert of_lines.of(SENTENCES["de"]) == "de"


def test_the_model_is_loaded_once() -> None:
    module._identifier.cache_clear()
    texts = [*SENTENCES.values()] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: likely_language(text, SENTENCES), texts))
    assert module._identifier.cache_info().misses == 1
    assert found == [likely_language(text, SENTENCES) for text in texts]
