"""Sentences for edited underlying trees (Li, Wang & Eisner 2019, section 6.3).

When constituents move or are deleted, the others keep their punctemes, and the channel makes new surface
punctuation::

    rephraser = Rephraser(model)
    tree = next(rephraser.underlying([sentence]))
    shorter = tree.without(tree.with_relation("advcl"))
    print(rephraser.best(shorter).text())

`permuted` has the three rephrasings of Table 6: the dependents of nouns and verbs in new orders.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.machines.evidence import String
from pyropunct.models.channel.slip import SLIP
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import BASE, FULL, VARIANTS
from pyropunct.tasks.explain.derivations import Derivations, SproutedToken, ways_of
from pyropunct.tasks.explain.hanging import hung
from pyropunct.tasks.rephrase.ordering import WordOrder, families
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.conventions import Capitals, Conventions, at_the_beginning
from pyropunct.text.marks import ABBREVIATION_DOT, CLAUSE, START, UNKNOWN, Surface
from pyropunct.treebank.conllu_block import DEPREL, FORM, HEAD, UPOS, Block, read_block
from pyropunct.treebank.conllu_writer import write_items
from pyropunct.treebank.layout import Layout
from pyropunct.treebank.preparing import prepare
from pyropunct.treebank.repunctuate import Item, arrange, quote_style
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, mark_heads

Choose = Callable[[Sequence[str]], tuple[str, ...]]
"""From an underlying string to a surface string."""

Outcomes = tuple[tuple[String, ...], NDArray[np.float64]]
"""Surface strings, and their probabilities."""


class Regenerator:
    """Makes surface strings of underlying strings: a model's channel without slip, run forward."""

    def __init__(self, model: FittedStory) -> None:
        self._model, self._ways = model, ways_of(model)
        self._known: dict[String, Outcomes] = {}

    def best(self, underlying: Sequence[str]) -> tuple[str, ...]:
        """argmax of p(x | u) over x; p(x | u) sums over all edits that lead to x."""
        strings, chances = self._outcomes(underlying)
        return self._shown(strings[int(chances.argmax())], underlying)

    def draw(self, underlying: Sequence[str], generator: np.random.Generator) -> tuple[str, ...]:
        """A surface string drawn from p(x | u)."""
        strings, chances = self._outcomes(underlying)
        return self._shown(strings[generator.choice(len(strings), p=chances)], underlying)

    def _outcomes(self, underlying: Sequence[str]) -> Outcomes:
        numbers = self._model.vocabulary.token_number
        u = tuple(numbers.get(token, numbers[UNKNOWN]) for token in underlying)
        if u not in self._known:
            chances = self._ways.outcomes(u, leaving_out=[SLIP])
            self._known[u] = tuple(chances), np.array(list(chances.values()))
        return self._known[u]

    def _shown(self, surface: String, underlying: Sequence[str]) -> tuple[str, ...]:
        """The tokens of a surface string; unknown tokens are those of the underlying string."""
        known = self._model.vocabulary.token_number
        unknown = iter([token for token in underlying if token not in known])
        tokens = self._model.vocabulary.decode_string(surface)
        return tuple(next(unknown, token) if token == UNKNOWN else token for token in tokens)


class Rephraser:
    """Makes sentences of edited underlying trees.

    :param recapitalise: whether the new first word gets the capital letter of the old one.
    :param regenerate: whether all slots get new surface punctuation.  Otherwise a slot between the same words
        with the same underlying string keeps its surface string.
    """

    def __init__(self, model: Punctuator, *, recapitalise: bool = True, regenerate: bool = False) -> None:
        self._model, self._recapitalise, self._regenerate = model, recapitalise, regenerate
        self._channel = Regenerator(model)

    @property
    def conventions(self) -> Conventions:
        """The conventions of the model's treebank."""
        return self._model.conventions

    def underlying(self, sentences: Sequence[Sentence]) -> Iterator[UnderlyingTree]:
        """The best underlying tree of each sentence."""
        derivations = Derivations(self._model)
        for sentence, (best,) in zip(sentences, self._model.underlying(sentences), strict=True):
            yield UnderlyingTree.of(sentence, best, derivations.of(sentence, best))

    def best(self, tree: UnderlyingTree) -> Sentence:
        """The sentence of a tree with its most probable surface; the original, if the tree is unchanged.

        Otherwise words have the heads of the projective tree, even if arcs crossed in the treebank.
        """
        return self._sentence(tree, self._channel.best)

    def draw(self, tree: UnderlyingTree, generator: np.random.Generator) -> Sentence:
        """The sentence of a tree with surface punctuation drawn from p(x | u)."""
        return self._sentence(tree, lambda underlying: self._channel.draw(underlying, generator))

    def _sentence(self, tree: UnderlyingTree, choose: Choose) -> Sentence:
        kept = {} if self._regenerate else unchanged_slots(tree)
        unknown = {CLAUSE}.difference(self._model.vocabulary.tokens)
        surface = [
            tree.sentence.surface[kept[slot]]
            if slot in kept
            else choose([sprouted.token for sprouted in string if sprouted.token not in unknown])
            for slot, string in enumerate(tree.strings)
        ]
        if tree.words == tree.original.words and surface == list(tree.sentence.surface):
            return tree.sentence
        forms = _recapitalised(tree, self.conventions.capitals) if self._recapitalise else {}
        return _written(tree, surface, kept, forms, self.conventions)


def unchanged_slots(tree: UnderlyingTree) -> dict[int, int]:
    """The original number of each slot between the same words with the same underlying string."""
    behind = len(tree.sentence.tree) + 1
    before = tree.original.strings
    kept = {}
    for slot, (left, right) in enumerate(pairwise([0, *tree.words, behind])):
        if right == left + 1 and _tokens(tree.strings[slot]) == _tokens(before[left]):
            kept[slot] = left
    return kept


def _tokens(string: Sequence[SproutedToken]) -> list[tuple[str, int]]:
    return [(sprouted.token, sprouted.word) for sprouted in string]


def _recapitalised(tree: UnderlyingTree, capitals: Capitals) -> dict[int, str]:
    """New forms of the old and the new first word of a sentence."""
    forms, tags = tree.sentence.tree.forms, tree.sentence.tree.tags
    first = tree.words[0]
    if first == 1 or forms[0][:1].islower():
        return {}
    return {1: capitals.inside(forms[0], tags[0]), first: at_the_beginning(forms[first - 1])}


def _written(
    tree: UnderlyingTree,
    surface: Surface,
    kept: Mapping[int, int],
    forms: Mapping[int, str],
    conventions: Conventions,
) -> Sentence:
    """The sentence that an edited tree makes with surface punctuation."""
    layout = tree.sentence.layout
    slots = range(len(tree.words) + 1)
    marks = tuple(layout.marks[kept[slot]] if slot in kept else () for slot in slots)
    # A slot with new marks has those that belong to the words around it.
    dotted = [False, *(ABBREVIATION_DOT in tree.sentence.surface[word] for word in tree.words)]
    own = [(ABBREVIATION_DOT,) if dot else (START,) * (not slot) for slot, dot in enumerate(dotted)]
    known = tuple(layout.surface[kept[slot]] if slot in kept else own[slot] for slot in slots)
    new = Layout(
        _with_heads(_with_forms(tree.sentence, forms), tree, marks),
        tuple(layout.words[word - 1] for word in tree.words),
        marks,
        known,
    )
    heads = [new.words[head - 1] for head in mark_heads(tree.tree)]
    quoting = replace(conventions, quotes={**conventions.quotes, **quote_style(layout)})
    return sentence_of(tree.sentence, new, arrange(new, surface, quoting), heads, conventions)


def _with_forms(sentence: Sentence, forms: Mapping[int, str]) -> Block:
    """The block with new forms of some words and of the multiword tokens that begin with them."""
    block, columns = sentence.layout.block, {}
    ranges = list(block.ranges)
    for word, form in forms.items():
        token = sentence.layout.words[word - 1]
        dot = sentence.layout.form(token).removeprefix(sentence.tree.forms[word - 1])
        columns[token] = {FORM: form + dot}
        for number, multiword in enumerate(ranges):
            if multiword.first == token:
                changed = list(multiword.columns)
                changed[FORM] = form[:1] + changed[FORM][1:]
                ranges[number] = replace(multiword, columns=tuple(changed))
    return replace(block.changed(columns), ranges=tuple(ranges))


def _with_heads(block: Block, tree: UnderlyingTree, marks: Sequence[Sequence[int]]) -> Block:
    """The block with the heads of the words in the tree, and heads without crossing arcs for kept marks."""
    words = tree.sentence.layout.words
    place = {words[word - 1]: number for number, word in enumerate(tree.words, start=1)}
    wanted = {mark: place.get(block.tokens[mark - 1].head, 0) for slot in marks for mark in slot}
    found = hung(tree.tree.heads, marks, wanted)
    heads = {mark: words[tree.words[head - 1] - 1] for mark, head in found.items()}
    for word in tree.words:
        head = tree.sentence.tree.heads[word - 1]
        heads[words[word - 1]] = words[head - 1] if head else 0
    return block.changed({token: {HEAD: str(head)} for token, head in heads.items()})


def sentence_of(
    sentence: Sentence, layout: Layout, items: Sequence[Item], heads: Sequence[int], conventions: Conventions
) -> Sentence:
    """The sentence with words and marks in another order.

    Tokens that were neighbours before keep the space between them; other spaces follow the conventions.

    :param heads: for each slot the token id of the head of new marks.
    """
    origin = sentence.layout.block
    lines = tuple(
        write_items(layout, items, heads, conventions).removesuffix(2 * origin.end).split(origin.end)
    )
    block = read_block(lines, origin.path, origin.first_line, 1, origin.order, origin.end)
    block = replace(block, identifier=origin.identifier)
    written = prepare(block, True)
    assert isinstance(written, Sentence)  # it has words, and nothing hangs on its marks
    return written


def learn_surface_order(sentences: Iterable[Sentence]) -> WordOrder:
    """Learn the order of all tokens, marks too, for base and half; raises `ValueError` without dependents."""
    return WordOrder.learn(family for sentence in sentences for family in families(surface_tree(sentence)))


def learn_underlying_order(trees: Iterable[UnderlyingTree]) -> WordOrder:
    """Learn the order of words of underlying trees with their punctemes, for full; raises `ValueError`."""
    return WordOrder.learn(family for tree in trees for family in families(tree.tree, tree.punctemes))


def permuted(
    variant: str,
    order: WordOrder,
    rephraser: Rephraser,
    trees: Sequence[UnderlyingTree],
    generator: np.random.Generator,
    *,
    best: bool = False,
) -> Iterator[Sentence]:
    """Yields each sentence with the dependents of its nouns and verbs in a drawn order.

    Equal generators give base and half the same order of words.

    :param variant: one of `VARIANTS`.
    :param rephraser: makes the punctuation, except for base; of all slots if it regenerates, as in the paper.
    :param trees: the unedited underlying trees of the sentences.
    :raises ValueError: if there is no such variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"permutations are {', '.join(VARIANTS)}, not {variant}")
    if variant == FULL:
        words = order.reorder([tree.tree for tree in trees], generator, [tree.punctemes for tree in trees])
    else:
        tokens = order.reorder([surface_tree(tree.sentence) for tree in trees], generator)
        words = [words_among(tree.sentence, places) for tree, places in zip(trees, tokens, strict=True)]
    for number, tree in enumerate(trees):
        if variant == BASE:
            yield _with_tokens(tree.sentence, tokens[number], rephraser.conventions)
        else:
            edited = tree.reordered(words[number])
            yield rephraser.best(edited) if best else rephraser.draw(edited, generator)


def surface_tree(sentence: Sentence) -> Tree:
    """The tree of all tokens, marks too; a mark whose arc crosses another gets a higher head."""
    layout, tree = sentence.layout, sentence.tree
    number = layout.numbers
    wanted = {mark: number[layout.head(mark)] for slot in layout.marks for mark in slot}
    heads = dict(zip(layout.words, tree.heads, strict=True)) | hung(tree.heads, layout.marks, wanted)
    columns = [token.columns for token in layout.block.tokens]
    return Tree(
        tuple(layout.words[heads[token] - 1] if heads[token] else 0 for token in sorted(heads)),
        tuple(column[DEPREL] for column in columns),
        tuple(column[UPOS] for column in columns),
        tuple(column[FORM] for column in columns),
        treebank=tree.treebank,
    )


def words_among(sentence: Sentence, tokens: Sequence[int]) -> tuple[int, ...]:
    """The words among the tokens of a sentence, in their order, numbered as words."""
    number = sentence.layout.numbers
    return tuple(number[token] for token in tokens if token in number)


def _with_tokens(sentence: Sentence, tokens: Sequence[int], conventions: Conventions) -> Sentence:
    """The sentence with all its tokens in another order, with the heads of the surface tree."""
    layout, tree = sentence.layout, surface_tree(sentence)
    if list(tokens) == sorted(tokens):
        return sentence
    mark = dict(layout.directed())
    heads = {token: {HEAD: str(head)} for token, head in enumerate(tree.heads, start=1)}
    new = layout.changed(heads)
    items = [Item(layout.form(token), token, 0, mark.get(token, "")) for token in tokens]
    return sentence_of(sentence, new, items, [], conventions)
