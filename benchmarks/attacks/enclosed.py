"""Random Markdown, subtitles and tables: without the marks that were put in, the file is the old one."""

import json
import random
import re
from collections.abc import Iterator, Sequence

from row import DONE, REFUSED, Row, row_of

from pyropunct.cli.enclosed import KINDS
from pyropunct.errors import InputError
from pyropunct.text.passages import Reject, TextWithLine

PIECES = [*"*_`~<>[]()!#-+|\\\"'.,:;&", " ", "  ", "\t", "\n", "\n\n", "> ", "- [ ] ", "1. ", "](u)", "<i>"]
PIECES += ["</i>", "a", "Bc", "d1", "é", "```", "---\n", "\0", "\r", "{\\an8}", "♪", "5 * 3 * 2", "(*mine*)"]
PIECES += ["00:01.000 --> 00:02.000\n", "99:00:00,000 --> 99:00:01,000\n"]


def attack(tries: int, seed: int) -> Row:
    """Put random marks into so many files, and take them out again."""
    return row_of("marks in Markdown, subtitles and tables", _tries(tries, random.Random(seed)))


def _unchanged(kind: str, text: str, reject: Reject, *fields: str) -> str:
    return KINDS[kind](text, lambda texts: [each.text for each in texts], reject, *fields)


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    def marked(texts: Sequence[TextWithLine]) -> list[str]:
        return [
            re.sub(r"\w+", lambda one: chance.choice(["", "¿"]) + one[0] + "‽", each.text) for each in texts
        ]

    def reject(line: int, problem: str) -> None:
        """Text that stays as it is."""

    for _ in range(tries):
        kind = chance.choice(["md", "srt", "vtt", "csv", "tsv", "json"])
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 60)))
        is_table = kind in ("csv", "tsv")
        text, fields = ("text\n" + text, ["text"]) if is_table else (text, [])
        if kind == "json" and chance.random() < 0.9:
            text = json.dumps(
                [{"text": each} for each in text.split("1")], ensure_ascii=chance.random() < 0.5
            )
        try:
            new, old = KINDS[kind](text, marked, reject, *fields), text
            if kind == "json":
                new, old = (json.dumps(json.loads(one), ensure_ascii=False) for one in (new, old))
            same = re.sub("[¿‽]", "", new) == old
            same = same and _unchanged(kind, text, reject, *fields) == text
            yield f"{kind} {text!r}", DONE if same else "changed"
        except InputError:
            yield f"{kind} {text!r}", REFUSED
