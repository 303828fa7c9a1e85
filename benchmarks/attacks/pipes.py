"""Random texts in several languages, and the pieces that a pipe delivers: lines keep their languages."""

import io
import random
from collections.abc import Iterator

from row import DONE, Row, row_of

from pyropunct.restore.stretches import in_languages, text_in_languages
from pyropunct.text.lines import ByteLines, TextPart

KNOWN = ("de", "en", "fr", "ru", "zh")
PIECES = ["\n", "\n", "\n\n", "\r\n", " ", "\t", " \n", "Ja.", "OK", "12", "\ufeff", "\ud7ff", "…", "id\t2\t"]
PIECES += ["wir mussten warten, weil der Zug nicht kam ", "we had to wait since the train was late "]
PIECES += [
    "nous avons attendu une heure le départ du train ",
    "нам пришлось ждать целый час ",
    "我们等了一个小时",
]
PIECES += ["musieliśmy czekać godzinę ", "اضطررنا إلى الانتظار ", "हमें इंतज़ार करना पड़ा "]


class Pipe(io.BytesIO):
    """Delivers a random number of bytes at a time."""

    def __init__(self, content: bytes, chance: random.Random) -> None:
        super().__init__(content)
        self._chance = chance

    def read1(self, size: int | None = -1) -> bytes:
        """The bytes that are there."""
        return super().read1(self._chance.choice([1, 2, 10, 100, 1000]))


def attack(tries: int, seed: int) -> Row:
    """Deliver so many texts, as lines and as running text."""
    return row_of("languages of lines from pipes", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(tries):
        running = chance.random() < 0.5
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 40)))
        part = TextPart(Pipe(text.encode(), chance), "text.txt", "text")
        found = [(code, b"".join(ByteLines(one.stream))) for code, one in in_languages(part, KNOWN, running)]
        whole = text_in_languages(text, KNOWN, running)
        same = found == [(code, lines.encode()) for code, lines in whole]
        yield f"{text!r}", DONE if same else f"running={running}: {found} for {whole}"
