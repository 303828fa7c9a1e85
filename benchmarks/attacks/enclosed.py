"""Random Markdown, subtitles, JSON and tables: marks are put in, and nothing else changes."""

import csv
import io
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from material import INPUTS
from row import DONE, Try, compared, tried

from pyropunct.cli.enclosed import KINDS
from pyropunct.text.fields import rewrite_csv
from pyropunct.text.passages import TextWithLine

LISTS = INPUTS["enclosed"]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Put marks into a file."""
    for number in range(tries):
        yield (_file if number % 2 else _table)(chance)


def _stays(line: int, problem: str) -> None:
    """Called about text that stays as it is."""


def _file(chance: random.Random) -> Try:
    """A file of any kind; its tables have cells with quotes in odd places."""
    kind = chance.choice(["md", "srt", "vtt", "csv", "tsv", "json"])
    text = "".join(chance.choice([*LISTS["signs"], *LISTS["pieces"]]) for _ in range(chance.randint(0, 60)))
    if kind in ("csv", "tsv"):
        text = "text\n" + text
    if kind == "json" and chance.random() < 0.9:
        parts = [{"text": each} for each in text.split("1")]
        text = json.dumps(parts, ensure_ascii=chance.random() < 0.5)
    return f"{kind} {text!r}", tried(_with_random_marks, kind, text, chance)


def _with_random_marks(kind: str, text: str, chance: random.Random) -> str:
    """Without the marks that are put in, the file is the old one."""

    def marked(texts: Sequence[TextWithLine]) -> list[str]:
        return [
            re.sub(r"\w+", lambda one: chance.choice(["", "¿"]) + one[0] + "‽", each.text) for each in texts
        ]

    fields = ["text"] if kind in ("csv", "tsv") else []
    new, old = KINDS[kind](text, marked, _stays, *fields), text
    if kind == "json":
        new, old = (json.dumps(json.loads(one), ensure_ascii=False) for one in (new, old))
    same = KINDS[kind](text, lambda texts: [each.text for each in texts], _stays, *fields)
    return DONE if re.sub("[¿‽]", "", new) == old and same == text else "changed"


def _table(chance: random.Random) -> Try:
    """A table with commas, semicolons or tabs between cells, or a first line such as "sep=;"."""
    delimiter, stream = chance.choice(",;\t|"), io.StringIO()
    names = [*chance.sample(LISTS["names"], chance.randint(1, 4)), "text"]
    names = list(dict.fromkeys(chance.sample(names, len(names))))
    rows = [[chance.choice(LISTS["cells"]) for _ in names] for _ in range(chance.randint(0, 4))]
    if chance.random() < 0.2 and rows:
        rows[-1].append(chance.choice(LISTS["cells"]))
    quoting = chance.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerows([names, *rows])
    is_told = delimiter == "|" or len(names) == 1 or chance.random() < 0.3
    first = f"sep={delimiter}\n" if is_told else ""
    text = first + stream.getvalue()
    return repr(text), tried(_with_delimiters, text, first, delimiter, names, rows)


def _with_delimiters(text: str, first: str, delimiter: str, names: list[str], rows: list[list[str]]) -> str:
    """No cell moves; a row with more cells than names stays."""

    def marked(one: str) -> str:
        return f'¿{one}, ;\t"|' if one else ""

    found = rewrite_csv(text, lambda texts: [marked(one.text) for one in texts], _stays, "text")
    again = list(csv.reader(io.StringIO(found.removeprefix(first), newline=""), delimiter=delimiter))
    column, wanted = names.index("text"), [names]
    for row in rows:
        stays = any(row[len(names) :])
        wanted.append(row if stays else [*row[:column], marked(row[column]), *row[column + 1 :]])
    return compared(again, wanted)
