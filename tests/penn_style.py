"""The sentences of the embedded treebank as bracketed trees in the style of the Penn Treebank."""

from collections.abc import Iterator, Sequence

from phrase_structures import leaf, phrase

from pyropunct.treebank.phrase_trees import PhraseTree
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

TAGS = {"ADJ": "JJ", "ADP": "IN", "ADV": "RB", "AUX": "MD", "CCONJ": "CC", "DET": "DT", "INTJ": "UH"}
TAGS |= {"NOUN": "NN", "NUM": "CD", "PART": "TO", "PRON": "PRP", "PROPN": "NNP", "SCONJ": "IN", "VERB": "VBD"}
TAGS |= {"X": "FW"}
SPECIAL_TAGS = {"’s": "POS", "who": "WP"}
MARK_TAGS = {"“": ("``", "``"), "”": ("''", "''"), "(": ("-LRB-",) * 2, ")": ("-RRB-",) * 2, ",": (",", ",")}
MARK_TAGS |= {mark: (".", mark) for mark in ".?!"} | {mark: (":", mark) for mark in ";:—"}

AUXILIARIES = {"aux", "aux:pass", "cop"}
IN_BASE_PHRASE = {"det", "det:predet", "amod", "compound", "nummod", "nmod:poss", "flat"}
SECOND_CLAUSES = {"conj", "parataxis"}
FUNCTIONS = {"nsubj": "SBJ", "nsubj:pass": "SBJ", "vocative": "VOC", "xcomp": "PRD", "advcl": "ADV"}


def penn_style(sentence: Sentence) -> PhraseTree:
    """The phrase-structure tree of a sentence, with its marks, in a bracket without a label."""
    layout = sentence.layout
    forms = [layout.form(token) for token in layout.words]
    marks = [[leaf(*MARK_TAGS[layout.form(token)]) for token in slot] for slot in layout.marks]
    clause = _Builder(sentence.tree, forms).phrase_of(sentence.tree.heads.index(0) + 1)
    inside = tuple(_with_marks(clause, iter(marks[1:-1])))
    return phrase("", phrase(clause.label, *marks[0], *inside, *marks[-1]))


def _with_marks(tree: PhraseTree, slots: Iterator[list[PhraseTree]]) -> Iterator[PhraseTree]:
    """The daughters of a phrase, with the marks of the slots inside it."""
    for number, daughter in enumerate(tree.daughters):
        if number:
            yield from next(slots)
        yield daughter if daughter.word else phrase(daughter.label, *_with_marks(daughter, slots))


class _Builder:
    def __init__(self, tree: Tree, forms: Sequence[str]) -> None:
        self._tree, self._forms = tree, forms

    def phrase_of(self, word: int) -> PhraseTree:
        """The phrase of a word with all that depends on it but a coordinating conjunction."""
        relation = self._tree.relations[word - 1]
        left = [one for one in self._dependents(word) if one < word][::-1]
        right = [one for one in self._dependents(word) if one > word]
        if any(self._relation(one) == "nsubj" for one in left) or self._tree.tags[word - 1] == "VERB":
            tree = self._clause(word, left, right)
        else:
            tree = self._nominal(word, left, right)
        function = FUNCTIONS.get(relation) or ("TPC" if relation == "ccomp" and self._is_left(word) else "")
        label = "PRN" if relation == "parataxis" and self._is_left(word) else tree.label
        return phrase("-".join(filter(None, [label, function])), *tree.daughters)

    def _dependents(self, word: int) -> list[int]:
        heads = enumerate(self._tree.heads, start=1)
        return [one for one, head in heads if head == word and self._tree.relations[one - 1] != "cc"]

    def _relation(self, word: int) -> str:
        return self._tree.relations[word - 1]

    def _is_left(self, word: int) -> bool:
        return word < self._tree.heads[word - 1]

    def _leaf(self, word: int) -> PhraseTree:
        form = self._forms[word - 1]
        return leaf(SPECIAL_TAGS.get(form) or TAGS[self._tree.tags[word - 1]], form)

    def _small(self, word: int) -> PhraseTree:
        """A modifier inside a base phrase: without a phrase if it is one word."""
        return self.phrase_of(word) if self._dependents(word) else self._leaf(word)

    def _with_conjunction(self, word: int) -> list[PhraseTree]:
        """The phrase of a word, after the coordinating conjunction that depends on it, if one does."""
        pairs = enumerate(zip(self._tree.heads, self._tree.relations, strict=True), start=1)
        conjunctions = [one for one, (head, relation) in pairs if (head, relation) == (word, "cc")]
        return [*map(self._leaf, conjunctions), self.phrase_of(word)]

    def _nominal(self, word: int, left: list[int], right: list[int]) -> PhraseTree:
        """A phrase of a noun, adjective or adverb, or a prepositional phrase."""
        tag = self._tree.tags[word - 1]
        category = {"ADJ": "ADJP", "ADV": "ADVP", "INTJ": "INTJ", "SCONJ": "SBAR"}.get(tag, "NP")
        before = [one for one in left[::-1] if self._relation(one) not in {"case", *AUXILIARIES}]
        base = [one for one in right if self._relation(one) in {*IN_BASE_PHRASE, "case"}]
        outside = [one for one in right if one not in base]
        tree = phrase(category, *map(self._small, before), self._leaf(word), *map(self._small, base))
        if outside:
            adjoined = [daughter for one in outside for daughter in self._with_conjunction(one)]
            tree = phrase(category, tree, *adjoined)
        for one in left:
            if self._relation(one) == "case":
                tree = phrase("PP", self._leaf(one), tree)
            elif self._relation(one) in AUXILIARIES:
                tree = phrase("VP", self._leaf(one), tree)
        return tree

    def _clause(self, word: int, left: list[int], right: list[int]) -> PhraseTree:
        second = [one for one in right if self._relation(one) in SECOND_CLAUSES]
        inner = [one for one in right if one not in second]
        nominal_left = [one for one in left if self._relation(one) in {*IN_BASE_PHRASE, "case"}]
        if self._tree.tags[word - 1] == "VERB":
            tree = phrase("VP", self._leaf(word), *map(self.phrase_of, inner))
        else:
            tree = self._nominal(word, nominal_left, inner)
        tree = self._with_left(tree, [one for one in left if one not in nominal_left], word)
        if second:
            added = [daughter for one in second for daughter in self._with_conjunction(one)]
            tree = phrase(tree.label, tree, *added)
        return tree

    def _with_left(self, tree: PhraseTree, left: list[int], word: int) -> PhraseTree:
        """Add auxiliaries, subject, openings and subordinators, from the verb outwards."""
        waiting: list[PhraseTree] = []
        has_subject = False
        for one in left:
            relation = self._relation(one)
            if relation in AUXILIARIES:
                label = "SQ" if has_subject else "VP"
                tree, waiting = phrase(label, self._leaf(one), *waiting, tree), []
            elif relation == "mark" and self._forms[one - 1] == "to":
                tree, waiting = phrase("VP", self._leaf(one), *waiting, tree), []
            elif relation == "mark":
                clause = phrase("S", *waiting, tree)
                tree, waiting = phrase("SBAR", self._leaf(one), clause), []
            else:
                has_subject |= relation.startswith("nsubj")
                waiting.insert(0, self.phrase_of(one))
        if self._relation(word) == "acl:relcl":
            return phrase("SBAR", phrase("WHNP", *waiting[0].daughters), phrase("S", *waiting[1:], tree))
        if waiting or (tree.label == "VP" and self._relation(word) != "conj"):
            tree = phrase("SBARQ" if tree.label == "SQ" else "S", *waiting, tree)
        return tree
