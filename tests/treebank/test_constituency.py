"""From phrase-structure trees to dependency trees: hand-made examples, and what holds of every tree."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given
from phrase_structures import (
    EMPTY,
    MARKS,
    WORDS,
    of_leaves,
    phrase,
    phrase_structure,
    phrases,
    spans,
    unescaped,
    written,
)

from pyropunct.text.lines import TreebankError
from pyropunct.treebank.conllu_block import DEPREL, FORM, MISC, UPOS, XPOS, Block, blocks_or_errors
from pyropunct.treebank.constituency import (
    Conversion,
    read_brackets,
    relation_of,
    without_empty_elements,
)
from pyropunct.treebank.head_rules import HeadRules, load_head_rules
from pyropunct.treebank.phrase_trees import PhraseTree, as_printed, universal_tag
from pyropunct.treebank.preparing import NO_WORD
from pyropunct.treebank.reading import read_text

ENGLISH = load_head_rules("english")
CHINESE = load_head_rules("chinese")


def conllu(text: str, rules: HeadRules = ENGLISH) -> str:
    return "".join(Conversion(rules).blocks(text.splitlines(), "trees.mrg"))


def block(text: str, rules: HeadRules = ENGLISH) -> Block:
    (only,) = blocks_or_errors(conllu(text, rules).split("\n"), "converted")
    assert isinstance(only, Block)
    return only


def arcs(text: str, rules: HeadRules = ENGLISH) -> list[str]:
    """For each word, marks left out, "word relation head"."""
    tokens = block(text, rules).tokens
    forms = ["-", *(token.columns[FORM] for token in tokens)]
    return [
        f"{token.columns[FORM]} {token.columns[DEPREL]} {forms[token.head]}"
        for token in tokens
        if token.columns[UPOS] != "PUNCT"
    ]


SUBJECT = """
( (S (NP-SBJ (DT The) (JJ old) (NN dog)) (VP (MD may) (VP (VB sleep) (NP-TMP (NN today)))) (. .)))
"""
APPOSITION = """
( (S (NP-SBJ (NP (NNP Clara)) (, ,) (NP (PRP$ my) (NN neighbor)) (, ,)) (VP (VBZ sings)) (. .)))
"""
COORDINATION = """
( (S (S (NP-SBJ (PRP She)) (VP (VBD bought) (NP (NP (NN bread)) (, ,) (NP (NN milk)) (CC and) (NP (NN tea)))))
     (, ,) (CC but) (S (NP-SBJ (NNS shops)) (VP (VBD closed) (PP (PP (IN at) (NP (CD five))) (CC or)
     (PP (IN after) (NP (NN dusk)))))) (. .)))
"""
RELATIVE = """
( (S (NP-SBJ (NP (DT the) (NN man)) (, ,)
     (SBAR (WHNP-1 (WP who)) (S (NP-SBJ (-NONE- *T*-1)) (VP (VBD slept)))) (, ,)) (VP (VBD left))))
"""
BARE_RELATIVE = """
( (NP (NP (DT the) (NN book)) (SBAR (WHNP-2 (-NONE- 0)) (S (NP-SBJ (PRP I)) (VP (VBP read)
     (NP (-NONE- *T*-2)))))))
"""
PARENTHESIS = """
( (S (NP-SBJ (PRP It)) (VP (VBZ is) (PRN (, ,) (S (NP-SBJ (PRP I)) (VP (VBP think))) (, ,))
     (ADJP-PRD (JJ late)))))
"""
QUOTATION = """
( (S (`` ``) (S-TPC-1 (NP-SBJ (PRP I)) (VP (VBP know))) (, ,) ('' '')
     (NP-SBJ (NNP Ann)) (VP (VBD said) (S (-NONE- *T*-1))) (. .)))
"""
QUESTION = """
( (SBARQ (WHNP-1 (WP What)) (SQ (VBD did) (NP-SBJ (NNP Ann)) (VP (VB say) (NP (-NONE- *T*-1)))) (. ?)))
"""
FLAT = "(NP (NNP Mary) (CC and) (NNP John) (POS 's))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            SUBJECT,
            "The dt dog, old jj dog, dog np:sbj may, may root -, sleep vp may, today np:tmp sleep",
        ),
        (APPOSITION, "Clara np:sbj sings, my prp neighbor, neighbor np Clara, sings root -"),
        (
            COORDINATION,
            "She np:sbj bought, bought root -, bread np bought, milk np bread, and cc bread, tea np bread, "
            "but cc bought, shops np:sbj closed, closed s bought, at pp closed, five np at, or cc at, "
            "after pp at, dusk np after",
        ),
        (RELATIVE, "the dt man, man np:sbj left, who sbar man, slept s who, left root -"),
        (BARE_RELATIVE, "the dt book, book root -, I np:sbj read, read sbar book"),
        (PARENTHESIS, "It np:sbj is, is root -, I np:sbj think, think prn is, late adjp:prd is"),
        (QUOTATION, "I np:sbj know, know s:tpc said, Ann np:sbj said, said root -"),
        (QUESTION, "What whnp did, did root -, Ann np:sbj did, say vp did"),
        (FLAT, "Mary nnp 's, and cc 's, John nnp 's, 's root -"),
        ("(NP ($ $) (CD 5) (-NONE- *U*))", "$ root -, 5 cd $"),
        ("(XP-SBJ (NN a) (ÄP (NN b)) (7 (RB c) (RB d)))", "a root -, b äp a, c adv a, d rb c"),
        ("(UH Yes)", "Yes root -"),
    ],
)
def test_english_heads(text: str, expected: str) -> None:
    assert arcs(text) == expected.split(", ")


CHINESE_SENTENCE = """
<S ID=7>
( (IP-HLN (NP-PN-SBJ (NR 张三)) (PU ，) (VP (ADVP (AD 也)) (VP (VV 说) (IP-OBJ (NP-SBJ (-NONE- *pro*))
  (VP (BA 把) (IP (NP-SBJ (CP (WHNP-1 (-NONE- *OP*)) (CP (IP (VP (VA 新))) (DEC 的))) (NP (NN 书)))
  (VP (VV 卖) (AS 了))))))) (PU 。)) )
</S>
"""


def test_chinese_heads() -> None:
    expected = (
        "张三 np:pnsbj 说, 也 advp 说, 说 root -, 把 ip:obj 说, "
        "新 cp 书, 的 dec 新, 书 np:sbj 卖, 卖 ip 把, 了 as 卖"
    )
    assert arcs(CHINESE_SENTENCE, CHINESE) == expected.split(", ")
    assert read_text(conllu(CHINESE_SENTENCE, CHINESE)).sentences[0].text() == "张三，也说把新的书卖了。"


def test_whole_sentence() -> None:
    """Every column of a sentence with quotation marks, an enclitic, brackets and a trace."""
    text = """(TOP (S (`` ``) (NP-SBJ-1 (PRP It)) (VP (VBZ 's) (-NONE- *-1) (ADJP-PRD|X (JJ either\\/or)))
    ('' '') (PRN (-LRB- -LRB-) (NP (NN %)) (-RRB- -RRB-)) (. .)))"""
    assert conllu(text).splitlines() == [
        "# sent_id = trees-1",
        "# text = “It's either/or” (%).",
        "1\t“\t_\tPUNCT\t``\t_\t3\tpunct\t_\tLevel=2|Leaf=``|SpaceAfter=No",
        "2\tIt\t_\tPRON\tPRP\t_\t3\tnp:sbj\t_\tPhrase=NP-SBJ-1|Level=2|SpaceAfter=No",
        "3\t's\t_\tVERB\tVBZ\t_\t0\troot\t_\tPhrase=VP>S>TOP",
        "4\teither/or\t_\tADJ\tJJ\t_\t3\tadjp:prd\t_\t"
        "Phrase=ADJP-PRD\\pX|Level=1|Leaf=either\\\\/or|SpaceAfter=No",
        "5\t”\t_\tPUNCT\t''\t_\t3\tpunct\t_\tLevel=2|Leaf=''",
        "6\t(\t_\tPUNCT\t-LRB-\t_\t7\tpunct\t_\tLevel=2|Leaf=-LRB-|SpaceAfter=No",
        "7\t%\t_\tNOUN\tNN\t_\t3\tprn\t_\tPhrase=NP>PRN|Level=2|SpaceAfter=No",
        "8\t)\t_\tPUNCT\t-RRB-\t_\t7\tpunct\t_\tLevel=2|Leaf=-RRB-|SpaceAfter=No",
        "9\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\tLevel=2",
        "",
    ]


def test_marks_beside_the_tree() -> None:
    """An outer bracket without a label may hold marks too."""
    (sentence,) = read_text(conllu("( (`` ``) (S (VP (VB Go))) (. !) )"))
    assert sentence.surface == (("\t^", "“"), ("!",))
    assert block("( (S (VP (VB Go))) (. !) )").tokens[0].columns[MISC].startswith("Phrase=VP>S>ROOT")


def test_several_trees() -> None:
    """Trees may share lines or stretch over them; what has no word is left out."""
    text = "(UH Yes) (UH\n\nNo\n)(S (. ?))\n( (S (-NONE- *)) )\n(NP (, ,) (X (: --)) (. .))(NN End)"
    conversion = Conversion(ENGLISH)
    treebank = read_text("".join(conversion.blocks(text.splitlines(), "<stdin>")))
    assert [one.identifier for one in treebank] == ["stdin-1", "stdin-2", "stdin-6"]
    assert [one.identifier for one in treebank.omitted] == ["stdin-3", "stdin-5"]
    assert treebank.omitted[0].reason == NO_WORD
    counts = (conversion.trees, conversion.words, conversion.marks, conversion.empty)
    assert counts == (5, 3, 4, 1)


def test_counts_of_what_is_unknown() -> None:
    conversion = Conversion(ENGLISH)
    list(conversion.blocks(["(A-1 (B (QQ c)) (B (QQ d) (QQ e)) (, ,))", "(A (NN b) (NN c))"], "f"))
    assert conversion.unknown_tags == {"QQ": 3}
    assert conversion.unknown_phrases == {"A": 2, "B": 1}


@pytest.mark.parametrize(
    ("label", "relation"),
    [
        ("NP", "np"),
        ("PP-LOC-CLR-2", "pp:locclr"),
        ("NP-SBJ=3", "np:sbj"),
        ("ADVP|PRT", "advp"),
        ("PRP$", "prp"),
        ("-LRB-", "lrb"),
        ("$", ""),
    ],
)
def test_relations(label: str, relation: str) -> None:
    assert relation_of(label) == relation


@pytest.mark.parametrize(
    ("tag", "upos"),
    [
        ("VBZ", "VERB"),
        ("DEG", "PART"),
        ("NOUN", "NOUN"),
        ("``", "PUNCT"),
        ("$,", "PUNCT"),
        ("$", "SYM"),
        ("Q", None),
    ],
)
def test_universal_tags(tag: str, upos: str | None) -> None:
    assert universal_tag(tag) == upos


@pytest.mark.parametrize(
    ("word", "tag", "printed"),
    [
        ("``", "``", "“"),
        ('"', "''", "”"),
        ("'", "``", "‘"),
        ("'", "POS", "'"),
        ("-LCB-", "-LRB-", "{"),
        ("1\\/2", "CD", "1/2"),
    ],
)
def test_printed_words(word: str, tag: str, printed: str) -> None:
    assert as_printed(word, tag) == printed


# The pages in docs/

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "constituency.md").read_text(encoding="utf-8")


def test_example_of_the_page() -> None:
    """The tree of the page becomes the table below it, which leaves some columns and SpaceAfter out."""
    lines = [line.split() for line in PAGE.splitlines() if line.startswith("    ")]
    table = [line for line in lines if len(line) == 7 and line[0].isdecimal()]
    tree = PAGE[PAGE.index("    ( (S") : PAGE.index("    1  ")]
    found = [token.columns for token in block(tree).tokens]
    shown = [[one[0], one[1], one[3], one[4], one[6], one[7], one[9]] for one in found]
    assert [[*one[:6], one[6].removesuffix("|SpaceAfter=No")] for one in shown] == table


# What holds of every tree

trees = phrases(WORDS + MARKS + EMPTY)


def tokens_below(tree: PhraseTree) -> list[PhraseTree]:
    return [node for node, _ in spans(tree) if node.word]


def is_mark(leaf: PhraseTree) -> bool:
    return universal_tag(leaf.category) == "PUNCT"


def with_words(tree: PhraseTree) -> PhraseTree:
    """The tree without its empty elements, if there is a word in it."""
    pruned = without_empty_elements(tree)
    assume(pruned is not None and not all(map(is_mark, tokens_below(pruned))))
    assert pruned is not None
    return pruned


def subtree(heads: Sequence[int], top: int) -> set[int]:
    """The words, counted from 1, at and below one of them."""
    below = {top}
    while more := {word for word, head in enumerate(heads, 1) if head in below} - below:
        below |= more
    return below


@given(trees)
def test_words_are_preserved(tree: PhraseTree) -> None:
    leaves = tokens_below(with_words(tree))
    tokens = block(written(tree)).tokens
    assert [token.columns[FORM] for token in tokens] == [as_printed(leaf.word, leaf.label) for leaf in leaves]
    assert [token.columns[XPOS] for token in tokens] == [leaf.label for leaf in leaves]
    assert [token.columns[UPOS] == "PUNCT" for token in tokens] == list(map(is_mark, leaves))
    assert all(token.columns[DEPREL] == "punct" for token in tokens if token.columns[UPOS] == "PUNCT")


@given(trees)
def test_maximal_projections_are_subtrees(tree: PhraseTree) -> None:
    """Each phrase has one head; the largest phrase of each head is its subtree; so the tree is projective."""
    pruned = with_words(tree)
    tokens = block(written(tree)).tokens
    heads = [token.head for token in tokens]
    largest: dict[int, set[int]] = {}
    for node, span in spans(pruned):
        inside = {position + 1 for position in span}
        tops = [number for number in inside if heads[number - 1] not in inside]
        words = [number for number in tops if tokens[number - 1].columns[UPOS] != "PUNCT"]
        if words:
            assert tops == words
            assert len(words) == 1
            assert node.word or node.label in unescaped(tokens[words[0] - 1].columns[MISC])
            largest.setdefault(words[0], inside)
    assert {head: subtree(heads, head) for head in largest} == largest
    (sentence,) = read_text(conllu(written(tree)))
    assert sentence.lifted == 0
    assert sentence.tree.relations.count("root") == 1


@given(trees)
def test_tree_comes_back(tree: PhraseTree) -> None:
    """But for empty elements, and for phrases of several marks and no word."""
    pruned = with_words(tree)
    for node, span in spans(pruned):
        assume(len(span) == 1 or not all(map(is_mark, tokens_below(node))))
    assert phrase_structure(block(written(tree))) == pruned


@given(trees)
def test_marks_do_not_matter(tree: PhraseTree) -> None:
    """The tree of words is the same if there are no marks."""
    with_words(tree)
    unpunctuated = of_leaves(tree, {*WORDS})
    assert unpunctuated is not None
    (sentence,), (bare,) = read_text(conllu(written(tree))), read_text(conllu(written(unpunctuated)))
    assert sentence.tree == bare.tree


@given(phrases(WORDS + MARKS, most_leaves=8))
def test_outer_bracket_does_not_matter(tree: PhraseTree) -> None:
    assert conllu(f"( {written(tree)} )") == conllu(written(tree))


# Files


def test_read_brackets(tmp_path: Path) -> None:
    path = tmp_path / "my trees.mrg"
    path.write_text(SUBJECT + APPOSITION + RELATIVE, encoding="utf-8")
    treebank = read_brackets(path)
    assert treebank.path == str(path)
    assert [one.identifier for one in treebank] == ["my-trees-1", "my-trees-2", "my-trees-3"]
    assert treebank.sentences[1].text() == "Clara, my neighbor, sings."
    assert treebank.sentences[1].surface == (("\t^",), (",",), (), (",",), (".",))
    rules = tmp_path / "rules"
    rules.write_text("* right\n", encoding="utf-8")
    assert read_brackets(path, str(rules)).sentences[0].tree.heads == (3, 3, 6, 6, 6, 0)


def test_deep_trees() -> None:
    tree = phrase("S", *tokens_below(phrase("X", PhraseTree("NN", 1, "a"))))
    for _ in range(197):
        tree = phrase("S", tree)
    assert len(block(written(tree)).tokens) == 1
    with pytest.raises(
        TreebankError, match=r"^f:1: sentence '#1': more than 200 brackets are open at a time$"
    ):
        list(Conversion(ENGLISH).blocks([written(phrase("S", phrase("S", tree)))], "f"))
