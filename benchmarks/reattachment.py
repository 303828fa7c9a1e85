"""How often marks have the head of a treebank: by pyropunct, and by the rules of udapi, as Markdown tables.

    python benchmarks/reattachment.py MODEL FILE.conllu...

First all marks hang on the root, so that no tool sees the heads of the treebank.  Then each tool starts from
them: ``ud.FixPunct`` keeps what it can, pyropunct changes what it proposes with a probability of 0.9.

``pip install udapi`` first; without it there are no rows of ``ud.FixPunct``.  MODEL may be ``multi``, which
finds the language of each FILE.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from pyropunct.cli.loading import TreebankUse
from pyropunct.tasks.explain.guidelines import guided_heads
from pyropunct.tasks.explain.proposals import LEAST, proposals
from pyropunct.tasks.explain.reattaching import reattached
from pyropunct.treebank.conllu_block import HEAD, UPOS
from pyropunct.treebank.sentence import Sentence

KINDS = {
    ". ? !": frozenset(".?!…"),
    ",": frozenset(",،、，"),
    "quotation": frozenset("\"'`“”„‘’‚«»‹›"),
    "brackets": frozenset("()[]{}"),
    "dashes": frozenset("-–—―"),
    ": ;": frozenset(":;"),
}
OTHERS = "others"
Heads = list[dict[int, int]]
"""For each sentence the heads of its marks."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL")
    made.add_argument("files", metavar="FILE", nargs="+")
    options = made.parse_args()
    for file in options.files:
        model, treebank = TreebankUse(threads=1).load_for(options.model, file)
        sentences = list(treebank)
        rows = {}
        for name, start in (("the root", on_the_root(sentences)), ("the treebank's heads", sentences)):
            if fixed := fix_punct(start):
                rows[f"`ud.FixPunct`, from {name}"] = fixed
        plain = [[((), ())] * len(sentence.tree) for sentence in sentences]
        best = [tree for (tree,) in model.underlying(sentences)]
        for name, trees in (("guidelines alone", plain), ("pyropunct", best)):
            guided = [guided_heads(*both) for both in zip(sentences, trees, strict=True)]
            rows[f"{name}, from the root"] = [
                {mark: head for mark, (head, _) in some.items()} for some in guided
            ]
        own = [heads_of(sentence) for sentence in sentences]
        changed = {
            sentence.layout.block.first_line: dict(heads)
            for sentence, heads in zip(sentences, own, strict=True)
        }
        for one in chain.from_iterable(proposals(model, sentences)):
            changed[one.sentence.layout.block.first_line][one.mark] = one.proposed
        rows[f"pyropunct, proposals of {LEAST}"] = list(changed.values())
        print(f"\n{Path(file).name}\n")
        print_table(sentences, own, rows)


def heads_of(sentence: Sentence) -> dict[int, int]:
    layout = sentence.layout
    return {mark: layout.head(mark) for slot in layout.marks for mark in slot}


def on_the_root(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with all marks on the root."""
    roots = (sentence.layout.words[sentence.tree.heads.index(0)] for sentence in sentences)
    return [
        reattached(sentence, dict.fromkeys(heads_of(sentence), root))
        for sentence, root in zip(sentences, roots, strict=True)
    ]


def fix_punct(sentences: Sequence[Sentence]) -> Heads | None:
    """The heads of marks by udapi's ``ud.FixPunct``; None if it is not installed."""
    try:
        from udapi.block.ud.fixpunct import FixPunct
        from udapi.core.document import Document
    except ImportError:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".conllu", encoding="utf-8") as file:
        file.write("".join(sentence.conllu() for sentence in sentences))
        file.flush()
        document = Document(file.name)
    FixPunct().run(document)
    trees = (bundle.get_tree() for bundle in document.bundles)
    return [
        {mark: tree.descendants[mark - 1].parent.ord for mark in heads_of(sentence)}
        for sentence, tree in zip(sentences, trees, strict=True)
    ]


def kind_of(form: str) -> str:
    return next((kind for kind, marks in KINDS.items() if marks.issuperset(form)), OTHERS)


def print_table(sentences: Sequence[Sentence], own: Heads, rows: dict[str, Heads]) -> None:
    """The share of marks whose head is the treebank's."""
    marks = Counter(kind for kind, _ in agreements(sentences, own, own))
    kinds = ["all", *(kind for kind in (*KINDS, OTHERS) if marks[kind])]
    print(f"| the head of the treebank | {' | '.join(f'`{kind}`' for kind in kinds)} |")
    print("|---" * (len(kinds) + 1) + "|")
    print(f"| marks | {' | '.join(f'{marks[kind]:,}' for kind in kinds)} |")
    for name, heads in rows.items():
        same = Counter(kind for kind, agrees in agreements(sentences, own, heads) if agrees)
        print(f"| {name} | {' | '.join(f'{same[kind] / marks[kind]:.1%}' for kind in kinds)} |")


def agreements(sentences: Sequence[Sentence], own: Heads, heads: Heads) -> Iterator[tuple[str, bool]]:
    """For each mark its kind, and again all, with whether it has the head of the treebank."""
    for sentence, right, found in zip(sentences, own, heads, strict=True):
        tokens = sentence.layout.block.tokens
        for mark in right:
            if tokens[mark - 1].columns[UPOS] == "PUNCT":
                agrees = found.get(mark, int(tokens[mark - 1].columns[HEAD])) == right[mark]
                yield from ((kind, agrees) for kind in (kind_of(sentence.layout.form(mark)), "all"))


if __name__ == "__main__":
    main()
