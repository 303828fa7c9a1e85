"""JSON of recognisers: strings are rewritten, all else stays."""

import json
from collections.abc import Sequence

import pytest

from pyropunct.errors import InputError
from pyropunct.text.marks import PAUSE
from pyropunct.text.passages import Found
from pyropunct.text.transcripts import rewrite_json

WHISPER = """{"text": " so i said\\tno he went home",
 "segments": [{"id": 0, "start": 1.50, "text": " so i said\\tno he",
   "words": [{"word": " so", "start": 1.50}, {"word": " i"},
    {"word": " said\\tno", "probability": 1e-3}, {"word": " he"}]},
  {"id": 1, "text": " went home", "words": [{"word": " went"}, {"word": " home"}]}], "language": "en"}"""

VOSK = """{"result": [{"conf": 1.0, "word": "so"}, {"word": "i"}, {"word": "said"}], "text": "so i said"}
{"result": [{"word": "no"}], "text": "no"}
"""


def reject(line: int, problem: str) -> None:
    raise AssertionError(f"{line}: {problem}")


def rewritten(text: str, news: dict[str, str], field: str | None = None) -> str:
    def rewrite(texts: Sequence[Found]) -> list[str]:
        asked.extend(one.text for one in texts)
        return [news[one.text] for one in texts]

    asked = list[str]()
    new = rewrite_json(text, rewrite, reject, field)
    assert sorted(asked) == sorted(news)
    return new


def test_whisper() -> None:
    """Its three copies of a text are read once, and numbers keep their digits."""
    new = rewritten(WHISPER, {"so i said\tno he went home": "So I said\tno. He went home."})
    assert '"probability": 1e-3' in new
    assert '"start": 1.50' in new
    plain = json.loads(new)
    assert plain["text"] == " So I said\tno. He went home."
    assert [part["text"] for part in plain["segments"]] == [" So I said\tno. He", " went home."]
    words = [word["word"] for part in plain["segments"] for word in part["words"]]
    assert words == [" So", " I", " said\tno.", " He", " went", " home."]


def test_silence() -> None:
    """It is read for all copies of a text, where words are apart; numbers keep their digits."""
    text = """{"text": "no he", "result":
        [{"word": "no", "start": 0, "end": 0.5}, {"word": "he", "start": %s, "end": 2}]}"""
    new = rewritten(text % 0.8, {f"no{4 * PAUSE} he": f"No.{4 * PAUSE} He"})
    assert new == text.replace("no he", "No. He").replace('"no"', '"No."').replace('"he"', '"He"') % 0.8
    assert rewritten(text % 0.5, {"no he": "no he"}) == text % 0.5


def test_vosk() -> None:
    """Its file has several values; a sentence may go on in the next one."""
    new = rewritten(VOSK, {"so i said no": "So I said no."})
    first, second = map(json.loads, new.splitlines())
    assert [one["word"] for one in first["result"]] == ["So", "I", "said"]
    assert (first["text"], second["text"], second["result"]) == ("So I said", "no.", [{"word": "no."}])


def test_speakers_have_their_own_text() -> None:
    segments = [{"text": text, "speaker": who} for text, who in (("hello", "A"), ("hi", "B"), ("there", "B"))]
    new = rewritten(json.dumps({"segments": segments}), {"hello": "Hello!", "hi there": "Hi there."})
    assert [one["text"] for one in json.loads(new)["segments"]] == ["Hello!", "Hi", "there."]


def test_a_path_names_other_places() -> None:
    text = '{"results": {"parts": [{"said": "a b", "text": "x"}, [{"said": "nested"}], {"said": "\\u00e9"}]}}'
    new = rewritten(text, {"a b é": "A b. É"}, "results.parts.said")
    assert new == text.replace("a b", "A b.").replace("\\u00e9", "\\u00c9")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON: Expecting property name"),
        (r'{"text": "\q"}', "is no JSON: Invalid"),
        ('{"text": 5}', "there is no text at segments.text, "),
        ("[" * 100_000, "is JSON that is nested too deeply"),
        ('{"a": "b"} trailing', "is no JSON: Expecting value"),
    ],
)
def test_no_text(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        rewrite_json(text, lambda texts: [one.text for one in texts], reject)


@pytest.mark.parametrize(
    ("escaped", "problem"),
    [
        ("\\ud800", "has half of a character in its text"),
        ("a\\u001e", "has the control character U+001E in its text (take it out)"),
        ("\\u001fb", "has the control character U+001F in its text (take it out)"),
    ],
)
def test_a_text_with_what_cannot_be_rewritten_stays(escaped: str, problem: str) -> None:
    problems = list[tuple[int, str]]()
    text = f'{{"segments": [\n{{"text": "{escaped}"}}], "text": "a"}}'
    assert rewrite_json(text, lambda texts: ["A." for _ in texts], lambda *one: problems.append(one)) == (
        text.replace('"a"', '"A."')
    )
    assert problems == [(2, problem)]
