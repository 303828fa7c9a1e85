"""How the time to put marks into files grows with their size: ratios of the time for 2n and n.

python benchmarks/files.py --size 20000
"""

import argparse
import re
import time
from collections.abc import Sequence

from pyropunct.cli.enclosed import KINDS
from pyropunct.text.passages import Found

FILES = {
    "cues of a scene": ("srt", "", "00:00:01,000 --> 00:00:02,000\n<i>we found</i> it\n\n"),
    "lines of a paragraph": ("md", "", "we *found* it `here`\n"),
    "runs of backticks": ("md", "", "a ` b `` c ``` "),
    "stars": ("md", "a ", "*"),
    "quoted cells": ("csv", "text\n", '"we found it"\n'),
}


def marked(texts: Sequence[Found]) -> list[str]:
    """The texts with a comma behind each word."""
    return [re.sub(r"(\w+)", r"\1,", found.text) for found in texts]


def seconds(kind: str, text: str) -> float:
    """The processor time for a file."""
    start = time.process_time()
    KINDS[kind](text, marked, lambda line, problem: None, "text" if kind == "csv" else None)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=20_000)
    size = parser.parse_args().size
    print("| file | n | s | 2n: s | ratio |\n|---|---|---|---|---|")
    for name, (kind, first, piece) in FILES.items():
        once, twice = (seconds(kind, first + piece * count) for count in (size, 2 * size))
        print(f"| {name} | {size:,} | {once:.2f} | {twice:.2f} | {twice / once:.1f} |", flush=True)


if __name__ == "__main__":
    main()
