"""The language of a text, and of its lines."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyropunct.errors import SettingError
from pyropunct.text import languages as module
from pyropunct.text.languages import MOST_LETTERS, language_of, likely_language

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
    found, probability = language_of(SENTENCES[language], SENTENCES)
    assert found == language
    assert 0.9 < probability <= 1
    assert language_of(SENTENCES[language].upper(), SENTENCES)[0] == language


def test_only_the_given_languages() -> None:
    text = SENTENCES["de"]
    assert language_of(text, ["de"]) == ("de", 1)
    assert language_of(text, {"he", "nl", "xx", "tlh"})[0] == "nl"
    assert language_of(SENTENCES["he"], ("en", "fr"))[1] < 0.9
    for unknown in ([], ["xx"], "?"):
        with pytest.raises(SettingError, match="no known language is among"):
            language_of(text, unknown)


def test_norwegian() -> None:
    text = SENTENCES["nb"]
    for code in ("no", "nb", "nn"):
        assert language_of(text, ["de", code])[0] == code
    assert language_of(text, ["nn", "no", "nb"]) == ("nb", 1)
    assert language_of("eg veit ikkje kva dei heiter, men me har vore der", ["sv", "no"])[0] == "no"


def test_probabilities_are_those_of_the_library() -> None:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    library = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    library.set_languages(["da", "nl", "de"])
    for text in ("die man", "en stor mand", "was", "", "1"):
        found, probability = language_of(text, ["da", "nl", "de"])
        wanted = dict(library.rank(text))
        assert probability == pytest.approx(max(wanted.values()), abs=1e-5)
        assert wanted[found] == max(wanted.values())


@pytest.mark.parametrize("text", ["", " \n", "123", "\ud800", "\0", "ᚠᚢᚦᚨᚱᚲ ᛁᛟ"])
def test_texts_in_no_language(text: str) -> None:
    found, probability = language_of(text, ["de", "en", "fr"])
    assert found in ("de", "en", "fr")
    assert 1 / 3 <= probability + 1e-9 < 0.9
    assert language_of(text, {"fr", "en", "de"}) == (found, probability)


def test_a_long_text_may_be_in_a_language_that_is_not_known() -> None:
    """A short one may not: "Ja, gut." looks like several languages."""
    assert likely_language(SENTENCES["he"] * 3, ["de", "he"]) == "he"
    assert likely_language(SENTENCES["he"] * 3, ["de", "en"]) == "he"
    assert likely_language("Ja, gut.", ["en", "de"]) == "de"
    assert likely_language("Ja, gut.", ["en"]) == "en"
    mixed = f"{SENTENCES['en']} " * (MOST_LETTERS // 60) + "und so weiter " * 5000
    assert likely_language(mixed, ["de", "en"]) == "en"


def test_the_model_is_loaded_once() -> None:
    module._loaded.cache_clear()
    texts = [*SENTENCES.values()] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: language_of(text, SENTENCES), texts))
    assert module._loaded.cache_info().misses == 1
    assert found == [language_of(text, SENTENCES) for text in texts]
