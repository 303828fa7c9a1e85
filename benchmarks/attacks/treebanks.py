"""Mutated CoNLL-U files: the reader accepts and writes them again, or refuses them in one line."""

import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from row import Row

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.lines import TreebankError, read_lines
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence

SECONDS = 10
"""The time after which a try counts as hanging."""

SENTENCES = 3
"""The most sentences of a file."""

HARD = """\
# newdoc id = hard
# sent_id = ranges
# text = Non gliel'ho dato, (dice)... "Sì!"
1\tNon\tnon\tADV\t_\t_\t5\tadvmod\t_\t_
2-4\tgliel'ho\t_\t_\t_\t_\t_\t_\t_\t_
2\tgli\tgli\tPRON\t_\t_\t5\tiobj\t_\t_
3\tlo\tlo\tPRON\t_\t_\t5\tobj\t_\t_
4\tho\tavere\tAUX\t_\t_\t5\taux\t_\t_
5\tdato\tdare\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6\t,\t,\tPUNCT\t_\t_\t5\tpunct\t_\t_
7\t(\t(\tPUNCT\t_\t_\t8\tpunct\t_\tSpaceAfter=No
8\tdice\tdire\tVERB\t_\tMood=Ind\t5\tparataxis\t_\tSpaceAfter=No
8.1\tlui\tlui\tPRON\t_\t_\t_\t_\t8:nsubj\t_
9\t)\t)\tPUNCT\t_\t_\t8\tpunct\t_\tSpaceAfter=No
10\t...\t...\tPUNCT\t_\t_\t5\tpunct\t_\t_
11\t"\t"\tPUNCT\t_\t_\t12\tpunct\t_\tSpaceAfter=No
12\tSì\tsì\tINTJ\t_\t_\t5\tdiscourse\t_\tSpaceAfter=No
13\t!\t!\tPUNCT\t_\t_\t12\tpunct\t_\tSpaceAfter=No
14\t"\t"\tPUNCT\t_\t_\t12\tpunct\t_\tSpacesAfter=\\n

# sent_id = crossing
1\tU.S.\tU.S.\tPROPN\tNNP\t_\t4\tnsubj\t_\t_
2\tcats\tcat\tNOUN\tNNS\t_\t1\tdep\t_\t_
3\tetc.\tetc.\tX\tFW\t_\t0\troot\t_\t_
4\tsleep\tsleep\tVERB\tVBP\t_\t3\tdep\t_\t_
5\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""
"""Ranges, an empty node, abbreviations, crossing arcs, marks in a row."""

PIECES = [
    *(
        "\t",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\u00a0",
        "\u2028",
        "\u200b",
        "\u202e",
        "\x00",
        "\x1b[31m",
        "\x85",
        "\ufeff",
    ),
    *("_", "0", "-1", "1", "2", "99", "1e9", "1-2", "3-2", "1.1", "0.1", "9" * 30, "٣", "#", "# text = "),
    *(
        "# sent_id = ",
        "punct",
        "PUNCT",
        "root",
        "SpaceAfter=No",
        "SpacesAfter=\\s\\n",
        "|",
        "=",
        "a=b|",
        "\\",
    ),
    *(".", ",", "(", ")", "“", "”", '"', "'", "«", "--", "...", "?!", "¿", "、", "ß", "語", "e\u0301", "😀"),
]
"""What is put somewhere into a file."""

NEW_MARKS = [(), (), (), (",",), (".",), ("”", "."), ("(",), ("--",), ("?!",)]
"""What stands in the slots of the sentences that are written anew."""


def attack(tries: int, seed: int) -> Row:
    """Mutate a file, read it, and write what was read, so often."""
    chance, outcomes, failures = random.Random(seed), Counter[str](), []
    whole = HARD + embedded_treebank_path("dev").read_text(encoding="utf-8")
    blocks = [block + "\n\n" for block in whole.strip().split("\n\n")]
    for number in range(tries):
        data = mutated(chance, blocks)
        try:
            with _limited():
                outcomes[_outcome(data, chance)] += 1
        except Exception as error:  # whatever comes is what this looks for
            failures.append(f"{number}: {type(error).__name__}: {error}: {data!r}")
    return Row("mutated CoNLL-U files, read and written again", tries, dict(outcomes), failures)


@contextmanager
def _limited() -> Iterator[None]:
    """Give up after `SECONDS`."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done in {SECONDS} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def mutated(chance: random.Random, blocks: list[str]) -> bytes:
    """Some sentences in a row with one to four mutations."""
    first = chance.randrange(len(blocks)) if chance.random() < 0.7 else 0
    text = "".join(blocks[first : first + chance.randint(1, SENTENCES)])
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(MUTATIONS)(text, chance)
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and chance.random() < 0.05:
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _put_in(text: str, chance: random.Random) -> str:
    place = chance.randint(0, len(text))
    return text[:place] + chance.choice(PIECES) + text[place + chance.choice([0, 0, 1, 5]) :]


def _change_field(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    place = chance.randrange(len(lines))
    fields = lines[place].split("\t")
    fields[chance.randrange(len(fields))] = chance.choice([*PIECES, *fields, str(chance.randint(0, 20))])
    lines[place] = "\t".join(fields)
    return "\n".join(lines)


def _move_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    line = lines[chance.randrange(len(lines))]
    if chance.random() < 0.5:
        lines.remove(line)
    if chance.random() < 0.7:
        lines.insert(chance.randint(0, len(lines)), line)
    return "\n".join(lines)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _repeat(text: str, chance: random.Random) -> str:
    place, size = chance.randint(0, len(text)), chance.randint(1, 40)
    return text[:place] + text[place : place + size] * chance.choice([2, 3, 50]) + text[place + size :]


MUTATIONS = [_put_in, _put_in, _change_field, _change_field, _change_field, _move_line, _cut, _repeat]


def _outcome(data: bytes, chance: random.Random) -> str:
    """What comes of reading and writing."""
    try:
        treebank = read_text("\n".join(read_lines(BytesIO(data), "mutated.conllu")), "mutated.conllu")
    except TreebankError as error:
        return _refused(str(error))
    for sentence in treebank:
        _write_again(sentence, chance)
    return "read"


def _refused(message: str) -> str:
    assert len(message.splitlines()) == 1, f"the message has several lines: {message}"
    assert message.isprintable(), f"the message has control characters: {message}"
    assert len(message) < 1000, "the message is long"
    return "refused"


def _write_again(sentence: Sentence, chance: random.Random) -> None:
    (same,) = read_text(sentence.conllu())
    assert (same.tree, same.surface) == (sentence.tree, sentence.surface), "unchanged, it is read otherwise"
    surface = [slot[:1] if slot[:1] in ((START,), (ABBREVIATION_DOT,)) else () for slot in sentence.surface]
    surface = [(*kept, *chance.choice(NEW_MARKS)) for kept in surface]
    (other,) = read_text(sentence.conllu_with_surface(surface))
    assert other.tree.forms == sentence.tree.forms, "with other marks it has other words"
    assert isinstance(sentence.text(surface), str)
