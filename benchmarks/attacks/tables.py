"""Tables with commas, semicolons or tabs between cells, or a first line such as "sep=;": no cell moves."""

import csv
import io
import random
from collections.abc import Iterator, Sequence

from row import DONE, REFUSED, Row, row_of

from pyropunct.errors import InputError
from pyropunct.text.fields import rewrite_csv
from pyropunct.text.passages import TextWithLine

NAMES = ["id", "text", "a, b", "x;y", "2,5", "", 'q"', "long name"]
CELLS = ["so we went", "no, we didn't", "1;2", '"yes" he said', "", "3,5", "two\nlines", "a\tb", "sep=;", "é"]


def attack(tries: int, seed: int) -> Row:
    """Put marks into so many tables."""
    return row_of("tables with other delimiters", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(tries):
        delimiter, stream = chance.choice(",;\t|"), io.StringIO()
        names = [*chance.sample(NAMES, chance.randint(1, 4)), "text"]
        names = list(dict.fromkeys(chance.sample(names, len(names))))
        rows = [[chance.choice(CELLS) for _ in names] for _ in range(chance.randint(0, 4))]
        if chance.random() < 0.2 and rows:
            rows[-1].append(chance.choice(CELLS))
        quoting = chance.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
        writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        writer.writerows([names, *rows])
        is_said = delimiter == "|" or len(names) == 1 or chance.random() < 0.3
        text = (f"sep={delimiter}\n" if is_said else "") + stream.getvalue()
        try:
            found = rewrite_csv(text, _marked, lambda *_: None, "text")
        except InputError:
            yield repr(text), REFUSED
            continue
        body = found.removeprefix(f"sep={delimiter}\n") if is_said else found
        column = names.index("text")
        more = len(rows[-1]) > len(names) and rows[-1][-1] if rows else False
        used = rows[:-1] if more else rows
        wanted = [[*row[:column], _mark(row[column]), *row[column + 1 :]] for row in used]
        wanted += rows[len(used) :]
        again = list(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter))
        yield repr(text), DONE if again == [names, *wanted] else repr(found)


def _mark(text: str) -> str:
    return f'¿{text}, ;\t"|' if text else ""


def _marked(texts: Sequence[TextWithLine]) -> list[str]:
    return [_mark(one.text) for one in texts]
