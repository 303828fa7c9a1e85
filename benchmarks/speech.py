"""Punctuate running words without case, as a recogniser of speech gives them, and count marks.

    python benchmarks/speech.py MODEL words.tsv
    python benchmarks/speech.py --text words.tsv >words.txt

A line of the file has a word, a tab, and O, COMMA, PERIOD or QUESTION for what stands behind the word: the
format of Che et al. (2016) and Tilk & Alumae (2016).  ``--text`` prints sentences, a line each, from which
`pyropunct adapt` learns.  Otherwise the words are punctuated as running text; a Markdown table has F1 of
commas, periods, question marks and all three; exclamation marks and semicolons count as periods, colons and
dashes as commas, as they do in these papers."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

import pyropunct
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.shipped import DEFAULT
from pyropunct.text.marks import START
from pyropunct.text.raw_sentence import line_of

MARKS = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
COUNTED_AS = {"!": ".", ";": ".", ":": ",", "-": ",", "–": ",", "—": ","}
AT_ONCE = 5000
"""Words that are read as one line."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("places", nargs="+", metavar="[MODEL] FILE")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--threshold", type=float, default=RestoreSettings.threshold)
    options = parser.parse_args()
    *model, file = options.places
    rows = list(read(Path(file)))
    if options.text:
        print("\n".join(sentences(rows)))
        return
    torch.set_num_threads(1)
    settings = RestoreSettings(
        running=True, case="keep", samples=200, threshold=options.threshold, as_written=False
    )
    name = model[0] if model else DEFAULT
    restorer = Restorer(pyropunct.load(name), settings)
    scores = RestorationScores()
    for first in range(0, len(rows), AT_ONCE):
        part = rows[first : first + AT_ONCE]
        gold = [(mark,) if mark else () for _, mark in part]
        scores.add(restored(restorer, [word for word, _ in part]), gold)
    print(
        "| model | words of | number | F1 of `,` | `.` | `?` | all | precision | recall |\n"
        + "|---" * 9
        + "|"
    )
    of_marks, overall = scores.of_marks(), scores.overall()
    numbers = [of_marks[mark].f1 if mark in of_marks else None for mark in ",.?"]
    numbers += [overall.f1, overall.precision, overall.recall]
    cells = " | ".join(f"{number or 0:.3f}" for number in numbers)
    print(f"| {name} | {Path(file).stem} | {len(rows):,} | {cells} |")


def read(file: Path) -> Iterator[tuple[str, str]]:
    """The words, each with the mark behind it."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            word, name = line.split("\t")
            yield word, MARKS[name.strip()]


def sentences(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The sentences as text."""
    words: list[str] = []
    for word, mark in rows:
        words.append(word + mark)
        if mark in (".", "?"):
            yield " ".join(words)
            words = []
    if words:
        yield " ".join(words)


def restored(restorer: Restorer, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The mark behind each word, as it is counted."""
    found: list[tuple[str, ...]] = []
    lines = list(restorer.sentences([line_of(words)]))
    for sentence in restorer.restore(lines):
        for slot in sentence.surface[1:]:
            marks = [COUNTED_AS.get(mark, mark) for mark in slot if mark != START]
            counted = [mark for mark in marks if mark in MARKS.values()]
            found.append(tuple(sorted(counted, key="?.,".index)[:1]))
    return found


if __name__ == "__main__":
    main()
