"""How often marks have the same head in a treebank, by the model, and by another tool, as a Markdown table.

    python benchmarks/reattachment.py MODEL FILE.conllu [--other OTHER.conllu] [--name NAME]

OTHER.conllu is what another tool made of FILE.conllu: the same sentences and tokens with other heads.  It is
compared on the marks of those sentences that pyropunct keeps.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import torch

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import Derivations
from pyropunct.tasks.explain.reattaching import mark_attachments, reattached
from pyropunct.text.lines import read_lines
from pyropunct.treebank.conllu_block import FORM, Block, blocks_or_errors
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

TREEBANK, MODEL = "treebank", "pyropunct"
SHOWN = 5
"""Forms of marks that have a line of their own."""


def main() -> None:
    options = _parser().parse_args()
    torch.set_num_threads(options.threads)
    others = None if options.other is None else _other_blocks(options.file, options.other)
    agreed: dict[tuple[str, str], Counter[str]] = {}
    marks: Counter[str] = Counter()
    crossed: Counter[str] = Counter()
    for sentence, repaired in _repaired(options.model, options.file):
        blocks = {TREEBANK: sentence.layout.block, MODEL: repaired.layout.block}
        if others is not None:
            blocks[options.name] = others[sentence.layout.block.first_line]
        _count(sentence, blocks, agreed, marks, crossed)
    _print_table(agreed, marks, crossed)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL", type=Path)
    made.add_argument("file", metavar="FILE", type=Path)
    made.add_argument("--other", type=Path, help="what another tool made of FILE")
    made.add_argument("--name", default="other", help="the name of that tool")
    made.add_argument("--threads", type=int, default=1)
    return made


def _repaired(model: Path, file: Path) -> Iterator[tuple[Sentence, Sentence]]:
    """Each sentence as it is, and with the heads that the model gives its marks."""
    punctuator, sentences = Punctuator.load(model), list(read_treebank(file))
    derivations = Derivations(punctuator)
    for sentence, trees in zip(sentences, punctuator.underlying(sentences), strict=True):
        attachments = mark_attachments(sentence, derivations.of(sentence, trees[0]))
        yield sentence, reattached(sentence, attachments)


def _other_blocks(file: Path, other: Path) -> dict[int, Block]:
    """What the other tool made of each sentence, by the line of ``file`` at which the sentence starts."""
    old, new = _blocks(file), _blocks(other)
    if [_forms(block) for block in old] != [_forms(block) for block in new]:
        sys.exit(f"{other}: its sentences are not those of {file}, token by token")
    return {before.first_line: after for before, after in zip(old, new, strict=True)}


def _blocks(path: Path) -> list[Block]:
    """The sentences of a file, which is known to be CoNLL-U."""
    with path.open("rb") as stream:
        return [
            block
            for block in blocks_or_errors(read_lines(stream, str(path)), str(path))
            if isinstance(block, Block)
        ]


def _forms(block: Block) -> list[str]:
    return [token.columns[FORM] for token in block.tokens]


def _ids(block: Block) -> range:
    return range(1, len(block.tokens) + 1)


def _count(
    sentence: Sentence,
    blocks: dict[str, Block],
    agreed: dict[tuple[str, str], Counter[str]],
    marks: Counter[str],
    crossed: Counter[str],
) -> None:
    """Count marks by form, those on which two agree, and for each the marks whose arcs cross others."""
    for mark in (mark for slot in sentence.layout.marks for mark in slot):
        form = sentence.layout.form(mark)
        marks[form] += 1
        for one, other in combinations(blocks, 2):
            same = blocks[one].tokens[mark - 1].head == blocks[other].tokens[mark - 1].head
            agreed.setdefault((one, other), Counter())[form] += same
        for name, block in blocks.items():
            crossed[name] += _crosses(block, mark)


def _crosses(block: Block, mark: int) -> bool:
    """Whether the arc of a mark crosses another arc."""
    left, right = sorted((mark, block.tokens[mark - 1].head))
    arcs = (sorted((token, block.tokens[token - 1].head)) for token in _ids(block))
    return any(0 < a < left < b < right or left < a < right < b for a, b in arcs)


def _print_table(
    agreed: dict[tuple[str, str], Counter[str]], marks: Counter[str], crossed: Counter[str]
) -> None:
    frequent = [form for form, _ in marks.most_common(SHOWN)]
    header = ["the same head in", "all", *(f"`{form}`" for form in frequent), "the others"]
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    total = [marks.total(), *(marks[form] for form in frequent)]
    print(_row("marks", [f"{count:,}" for count in [*total, total[0] - sum(total[1:])]]))
    for (one, other), same in agreed.items():
        counts = [same.total(), *(same[form] for form in frequent)]
        counts.append(counts[0] - sum(counts[1:]))
        sizes = [*total, total[0] - sum(total[1:])]
        shares = [f"{count / max(size, 1):.1%}" for count, size in zip(counts, sizes, strict=True)]
        print(_row(f"{one}, {other}", shares))
    print("\nMarks whose arc crosses another: " + ", ".join(f"{name} {n}" for name, n in crossed.items()))


def _row(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
