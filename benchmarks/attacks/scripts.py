"""Random lines of several scripts: `multi` keeps words and white space, and tells of unknown languages.

It needs its encoder: see docs/guide/encoders.md.
"""

import random
import warnings
from collections.abc import Iterator

import torch
from row import DONE, Row, row_of
from unchanged import SPACES, problem

import pyropunct
from pyropunct.restore.stretches import text_in_languages

WORDS = """
    we went home because naïve cafe\u0301 o\u0308ffnen Zürich мы ждали целый час поезд ё и\u0306
    เราไป ตลาด กันเถอะ ต้องรอ 我们等了 一个小时 火车 第3 ぼくは 学校に 안녕하세요 ثم ذهبنا إلى الْبَيْتِ שָׁלוֹם
    הלכנו הביתה हमें इंतज़ार करना 👩‍👩‍👧‍👦 🎉 👍🏽 🇩🇪 1️⃣ Z͑͗a̷l͠g̴o̶ tiếng Việt İstanbul ΣΊΣΥΦΟΣ
    ოთხი հայ 𝔘𝔫𝔦 ﬁn ǅep
"""
MARKS = [*",.?!;:…—()«»“”„¿。，、؟،।׃ฯ", "\u200d", "\u200e", "\u200f", "\u2067"]


def attack(tries: int, seed: int) -> Row:
    """Restore ``tries`` texts of one to three lines, some with marks."""
    torch.set_num_threads(1)
    warnings.simplefilter("always")
    return row_of("lines of several scripts", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    model = pyropunct.load("multi", samples=5, trees=1)
    told = set[str]()
    for _ in range(tries):
        text = "\n".join(_line(chance) for _ in range(chance.randint(1, 3)))
        with warnings.catch_warnings(record=True) as caught:
            restored = model(text)
        told.update(str(warning.message) for warning in caught)
        unknown = {code for code, _ in text_in_languages(text, model.languages, False)} - {*model.languages}
        untold = [code for code in unknown if not any(f"language {code}:" in one for one in told)]
        wrong = problem(text, restored, kept=True) or (f"nothing tells of {untold}" if untold else DONE)
        yield f"{text!r} is {restored!r}", wrong


def _line(chance: random.Random) -> str:
    """A line of words from one script or from all, most without marks."""
    words = WORDS.split()
    if chance.random() < 0.5:
        words = words[chance.randrange(len(words)) :][:6]
    parts = [chance.choice(["", "", "", " ", "\t"])]
    for _ in range(chance.randint(0, 10)):
        mark = chance.choice(MARKS) if chance.random() < 0.1 else ""
        parts += [chance.choice(words), mark, chance.choice(SPACES)]
    return "".join(parts)
