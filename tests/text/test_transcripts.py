"""JSON of recognisers: strings are rewritten, all else stays."""

import json
import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from pyropunct.errors import InputError
from pyropunct.text.marks import PAUSE
from pyropunct.text.passages import UNALIGNED, TextWithLine
from pyropunct.text.transcripts import SHAPES, rewrite_json

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


def rewritten(text: str, news: dict[str, str], *fields: str) -> str:
    def rewrite(texts: Sequence[TextWithLine]) -> list[str]:
        asked.extend(one.text for one in texts)
        return [news[one.text] for one in texts]

    asked = list[str]()
    new = rewrite_json(text, rewrite, reject, *fields)
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


@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize(
    ("mark", "heard", "new", "words"),
    [
        (",", "however,@ we@ went", "However,@ we@ — went?!", ["However", ",", "we —", "went?!"]),
        ("-", "however -@ we@ went", "However. -@ (We –@ went)", ["However.", "-", "(We –", "went)"]),
        ("-", "however -@ we@ went", "However @-@ we@ “went”", ["However", "-", "we", "“went”"]),
    ],
)
def test_marks_of_their_own_beside_silence(
    space: str, mark: str, heard: str, new: str, words: list[str]
) -> None:
    """They and the white space stay, and new marks are inserted."""
    times = [("however", 0, 0.4), (mark, 0.4, 0.5), ("we", 1.0, 1.2), ("went", 1.2, 1.5)]
    entries = [{"word": space + word, "start": start, "end": end} for word, start, end in times]
    pauses = iter([7 * PAUSE, PAUSE] * 2)
    heard, new = (re.sub("@", lambda _: next(pauses), text) for text in (heard, new.replace(" @", " ")))
    text = json.dumps({"words": entries}, ensure_ascii=False)
    for entry, word in zip(entries, words, strict=True):
        entry["word"] = space + word
    assert json.loads(rewritten(text, {heard: new})) == {"words": entries}


@pytest.mark.parametrize(
    ("unit", "known"), [(1, True), (1e3, True), (1e7, True), (16e3, False), (0.03, False), (0, False)]
)
@pytest.mark.parametrize(
    ("times", "told"),
    [
        ("start end", "%d"),
        ("start_time end_time", '"%d"'),
        ("startTime endTime", '"%ds"'),
        ("offset duration", "%d"),
    ],
)
def test_units_of_time(unit: float, known: bool, times: str, told: str) -> None:
    """The length of words shows them."""
    words = list[str]()
    for word, start, end in (("so", 0, 0.4), ("we", 0.4, 0.8), ("went", 1.3, 1.5)):
        numbers = (start, end - start if "duration" in times else end)
        shown = (told.replace("%d", f"{number * unit:.4f}") for number in numbers)
        stamps = ", ".join(f'"{name}": {time}' for name, time in zip(times.split(), shown, strict=True))
        words.append(f'{{"word": "{word}", {stamps}}}')
    text = f'{{"words": [{", ".join(words)}]}}'
    with nullcontext() if known else pytest.warns(match="the unit of the times at words.word is unknown"):
        heard = f"so{PAUSE} we{6 * PAUSE} went" if known else "so we went"
        assert rewritten(text, {heard: heard}) == text


@pytest.mark.parametrize("name", ["alternatives", "nBest"])
def test_alternatives_are_restored_by_themselves(name: str) -> None:
    """The first ones are running text; of a word with times, others stay, but not those of a phrase."""
    texts = [{name: [{"said": text} for text in texts]} for texts in (["a b", "c"], ["d", "e f"])]
    new = rewritten(json.dumps(texts), {"a b d": "A b. D.", "c": "C.", "e f": "E, f!"}, f"{name}.said")
    said = [[one["said"] for one in part[name]] for part in json.loads(new)]
    assert said == [["A b.", "C."], ["D.", "E, f!"]]
    words = [{"start": 0, "end": 1, **part} for part in texts]
    others = {} if name == "alternatives" else {"c": "C.", "e f": "E, f!"}
    timed = rewritten(json.dumps(words), {"a b d": "A b. D.", **others}, f"{name}.said")
    assert ('"c"' in timed) == (not others)


def test_pieces_of_words() -> None:
    """Where strings begin with spaces, one without goes on; signals of the recogniser are no text."""
    times = {
        " im": (0, 200),
        "portant": (200, 400),
        " so": (900, 1000),
        ".": (1000, 1000),
        "[_TT_50]": (0, 0),
    }
    tokens = [{"text": text, "offsets": {"from": a, "to": b}} for text, (a, b) in times.items()]
    text = json.dumps({"transcription": [{"text": " important so.", "tokens": tokens}]})
    new = json.loads(rewritten(text, {f"important{6 * PAUSE} so.": f"Important.{6 * PAUSE} (So)."}))
    [part] = new["transcription"]
    assert part["text"] == " Important. (So)."
    assert [one["text"] for one in part["tokens"]] == [" Im", "portant.", " (So)", ".", "[_TT_50]"]


@pytest.mark.parametrize("nobody", [{}, {"speakerTag": 0}])
def test_google_repeats_all_words_with_their_speakers(nobody: dict[str, int]) -> None:
    """The transcript and the words without speakers agree with them."""
    plain = [{"word": word, **nobody} for word in ("so", "we", "went")]
    tagged = [{"word": word, "speakerTag": who} for word, who in (("so", 1), ("we", 2), ("went", 2))]
    results = [
        {"alternatives": [{"transcript": "so we", "words": plain[:2]}]},
        {"alternatives": [{"transcript": " went", "words": plain[2:]}]},
        {"alternatives": [{"words": tagged}]},
    ]
    new = json.loads(rewritten(json.dumps({"results": results}), {"so": "So?", "we went": "We went."}))
    first, second, last = (result["alternatives"][0] for result in new["results"])
    assert (first["transcript"], second["transcript"]) == ("So? We", " went.")
    for words in (first["words"] + second["words"], last["words"]):
        assert [one["word"] for one in words] == ["So?", "We", "went."]


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


TALKS = {
    "AssemblyAI": """{"text": "so, we went", "words": [
        {"text": "so,", "start": 0, "end": 400, "speaker": "B"},
        {"text": "we", "start": 400, "end": 700, "speaker": "A"}, {"text": "went", "speaker": "A"}],
        "utterances": [{"speaker": "B", "text": "so,"}, {"speaker": "A", "text": "we went"}]}""",
    "AWS": """{"results": {"transcripts": [{"transcript": "so, we went"}], "items": [
        {"start_time": "0.0", "end_time": "0.4", "alternatives": [{"content": "so"}, {"content": "sew"}]},
        {"alternatives": [{"content": ","}], "type": "punctuation"},
        {"start_time": "0.4", "end_time": "0.7", "speaker_label": "s", "alternatives": [{"content": "we"}]},
        {"speaker_label": "s", "alternatives": [{"content": "went"}]}]}}""",
    "Azure": """{"combinedRecognizedPhrases": [{"display": "so, we went"}], "recognizedPhrases": [
        {"nBest": [{"lexical": "x y", "display": "so, we", "words": [
          {"word": "so,", "offsetInTicks": 0, "durationInTicks": 4e6},
          {"word": "we", "offsetInTicks": 4e6, "durationInTicks": 3e6}],
          "displayWords": [{"displayText": "so,"}, {"displayText": "we"}]}]},
        {"nBest": [{"display": "went", "displayWords": [{"displayText": "went"}], "words": [
          {"word": "went"}]}]}]}""",
    "Deepgram": """{"results": {"channels": [{"alternatives": [{"transcript": "so, we went", "words": [
        {"word": "so,", "punctuated_word": "so,", "start": 0, "end": 0.4, "speaker": 0},
        {"word": "we", "punctuated_word": "we", "start": 0.4, "end": 0.7, "speaker": 1},
        {"word": "went", "punctuated_word": "went", "start": 0.7, "end": 0.9, "speaker": 1}]}]}]}}""",
    "Google": """{"results": [{"alternatives": [{"transcript": "so, we", "words": [
          {"word": "so,", "startTime": "0s", "endTime": "0.4s"}, {"word": "we", "endTime": "0.7s"}]}]},
        {"alternatives": [{"transcript": " went", "words": [{"word": "went", "speakerTag": 2}]}]}]}""",
    "Kaldi": """{"words": [{"w": "so", "s": 0, "e": 0.4}, {"w": ",", "s": 0.4, "e": 0.4},
        {"w": "we", "s": 0.4, "e": 0.7}, {"w": "went", "s": 0.7, "e": 0.9}]}""",
    "Speechmatics": """{"results": [
        {"start_time": 0, "end_time": 0.4, "alternatives": [{"content": "so"}]},
        {"start_time": 0.4, "end_time": 0.4, "alternatives": [{"content": ","}], "type": "punctuation"},
        {"start_time": 0.4, "end_time": 0.7, "alternatives": [{"content": "we"}]},
        {"start_time": 0.7, "end_time": 0.9, "alternatives": [{"content": "went"}]}]}""",
    "whisper.cpp": """{"transcription": [{"text": " so, we", "offsets": {"from": 0, "to": 700}},
        {"text": " went", "offsets": {"from": 700, "to": 900}}], "result": {"language": "en"}}""",
}


def said(value: Any, path: Sequence[str]) -> list[str]:
    """The strings at a path, of alternatives the first."""
    if isinstance(value, list):
        return [one for item in value for one in said(item, path)]
    if isinstance(value, dict) and path:
        below = value.get(path[0])
        return said(below[:1] if below and path[0] in ("alternatives", "nBest") else below, path[1:])
    return [value] if isinstance(value, str) and not path else []


@pytest.mark.parametrize("shape", TALKS)
def test_transcript_and_words_agree(shape: str) -> None:
    new = rewrite_json(TALKS[shape], lambda texts: [f"{one.text.upper()}!" for one in texts], reject)
    found = [" ".join(said(json.loads(new), path.split("."))) for path in SHAPES[shape]]
    texts = {re.sub(r"\s+(,)?", lambda gap: gap[1] or " ", one.strip()) for one in found if one}
    assert texts <= {"SO, WE WENT!", "SO,! WE WENT!", "SO, WE! WENT!"}
    assert len(texts) == 1
    assert "went" not in new
    for stays in re.findall('"(?:sew|x y|en)"', TALKS[shape]):
        assert stays in new


def test_a_path_names_other_places() -> None:
    text = '{"results": {"parts": [{"said": "a b", "text": "x"}, [{"said": "nested"}], {"said": "\\u00e9"}]}}'
    new = rewritten(text, {"a b é": "A b. É", "x": "X."}, "results.parts.said", "results.parts.text")
    assert new == text.replace("a b", "A b.").replace("\\u00e9", "\\u00c9").replace('"x"', '"X."')


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON: Expecting property name"),
        (r'{"text": "\q"}', "is no JSON: Invalid"),
        ('{"text": 5}', "there is no known place of text: it has no named strings"),
        ('{"a": {"b": ["x", "y"]}, "c": "z"}', "no known place of text: choose by --field from a.b, c"),
        (json.dumps(dict.fromkeys("abcdefghijk", "x")), "from a, b, c, d, e, f, g, h, i, j$"),
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


def test_a_text_whose_words_change_stays() -> None:
    """The line where it begins is told."""
    problems = list[tuple[int, str]]()
    text = '{"segments": [\n{"text": "a"}, {"text": "b"}],\n"text": "c"}'
    new = rewrite_json(text, lambda texts: ["x"] * len(texts), lambda *one: problems.append(one))
    assert (new, problems) == (text, [(2, UNALIGNED), (3, UNALIGNED)])
