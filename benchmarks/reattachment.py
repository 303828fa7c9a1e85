"""How often marks have the head of a treebank: by pyropunct, and by the rules of udapi, as a Markdown table.

    python benchmarks/reattachment.py MODEL FILE.conllu[:TREEBANK.conllu]...

First all marks hang on the root, so that no tool sees the heads of the treebank.  Then each tool starts from
the treebank's heads: ``ud.FixPunct`` keeps those it can, and pyropunct applies its proposals of 0.9.

Behind FILE:TREEBANK, pyropunct also learns from TREEBANK, such as the train part, how marks usually hang.
``pip install udapi`` first; without it there are no numbers of ``ud.FixPunct``.  The MODEL ``multi``
finds the language of each FILE.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pyropunct.cli.loading import TreebankUse
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.attachment_conventions import NO_CONVENTION, convention_of
from pyropunct.tasks.explain.guidelines import guided_heads, seen
from pyropunct.tasks.explain.proposals import proposals
from pyropunct.tasks.explain.reattaching import reattached
from pyropunct.treebank.conllu_block import HEAD, UPOS
from pyropunct.treebank.sentence import Sentence

Heads = list[dict[int, int]]
"""For each sentence the heads of its marks."""


FIX, ALONE, OURS, LIKE = "`ud.FixPunct`", "guidelines alone", "with T'", "by convention"
SHOWN = {"all": None, ",": frozenset(",،、，")}
"""The kinds of marks that have columns."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("model", metavar="MODEL")
    made.add_argument("files", metavar="FILE", nargs="+")
    options = made.parse_args()
    of_root = [f"{kind}: {name}" for kind in SHOWN for name in (FIX, ALONE, OURS, LIKE)]
    header = ["from the root", "marks", *of_root, f"from its heads: {FIX}", "proposals"]
    print(f"| {' | '.join(header)} |\n|---{'|--:' * (len(header) - 1)}|")
    for one in options.files:
        file, _, like = one.partition(":")
        model, treebank = TreebankUse(threads=1).load_for(options.model, file)
        sentences = list(treebank)
        learned = list(TreebankUse(threads=1).read(like).with_marks(model.meant)) if like else []
        own, found = [heads_of(sentence) for sentence in sentences], heads_by(model, sentences, learned)
        cells = [Path(file).name.removesuffix(".conllu"), f"{sum(map(len, own)):,}"]
        for kind in SHOWN:
            cells += [
                share(sentences, own, found.get(f"{name}, from the root"), kind)
                for name in (FIX, ALONE, OURS, LIKE)
            ]
        cells += [
            share(sentences, own, found.get(name), "all")
            for name in (f"{FIX}, from the treebank's heads", f"{OURS}, proposals")
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def heads_by(
    model: Punctuator, sentences: Sequence[Sentence], learned: Sequence[Sentence]
) -> dict[str, Heads]:
    """The heads of marks by each tool, and from where it starts; conventions are learned from sentences."""
    found = {}
    for name, start in (("the root", on_the_root(sentences)), ("the treebank's heads", sentences)):
        if fixed := fix_punct(start):
            found[f"{FIX}, from {name}"] = fixed
    plain = [[((), ())] * len(sentence.tree) for sentence in sentences]
    best = [tree for (tree,) in model.underlying(sentences)]
    convention = convention_of(seen(model, learned))
    rows = [(ALONE, plain, NO_CONVENTION), (OURS, best, NO_CONVENTION), (LIKE, best, convention)]
    for name, trees, usual in rows if learned else rows[:2]:
        guided = [guided_heads(*both, usual) for both in zip(sentences, trees, strict=True)]
        found[f"{name}, from the root"] = [
            {mark: head for mark, (head, _) in some.items()} for some in guided
        ]
    proposed = zip(sentences, proposals(model, sentences), strict=True)
    found[f"{OURS}, proposals"] = [
        heads_of(sentence) | {one.mark: one.proposed for one in some} for sentence, some in proposed
    ]
    return found


def share(sentences: Sequence[Sentence], own: Heads, heads: Heads | None, kind: str) -> str:
    """The share of the marks of a kind whose head is the treebank's."""
    agrees = []
    for sentence, right, found in zip(sentences, own, heads or (), strict=heads is not None):
        tokens = sentence.layout.block.tokens
        for mark in right:
            counted = SHOWN[kind] is None or SHOWN[kind].issuperset(sentence.layout.form(mark))
            if counted and tokens[mark - 1].columns[UPOS] == "PUNCT":
                agrees.append(found.get(mark, int(tokens[mark - 1].columns[HEAD])) == right[mark])
    return f"{sum(agrees) / len(agrees):.1%}" if agrees else "–"


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


if __name__ == "__main__":
    main()
