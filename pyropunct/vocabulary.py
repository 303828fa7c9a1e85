"""The types of a treebank: marks, punctemes, relations, tags, forms."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor

from pyropunct.errors import InputError
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import EMPTY, padded
from pyropunct.inference.story_inputs import OPENS
from pyropunct.models.symmetry import PARTNERS
from pyropunct.models.trees import READING, TREEBANK, TreeBatch, string_number
from pyropunct.text.marks import ABBREVIATION_DOT, BOUNDARIES, CLAUSE, SPECIAL, START, UNKNOWN, Surface
from pyropunct.treebank.functions import CLOSING, DELIMITING, FINAL, FUNCTIONS, SEPARATING, mark_functions
from pyropunct.treebank.tree import MAIN_TREEBANK, OPENERS, Tree, base, opens_clause
from pyropunct.untrusted import texts, types, whole_numbers

Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""A left and a right puncteme, as token ids."""

OTHER = ""
"""The relation, tag or form that stands for all that training has not shown; always number 0."""

MARK_COUNT = 5
MOST_MARKS = 200
"""How many kinds of marks there may be.  A channel has edits for each pair of them, and each string of marks
an automaton over these pairs: time and memory grow with the cube of their number."""

SHOWS_CLAUSES = "shows clauses"
"""In files of models: pages have the token `CLAUSE`, which versions up to 1.2 did not show."""

SHOWN = 10
"""How many of too many marks a message shows."""

RELATION_COUNT = 3
FORM_COUNT = 4


@dataclass(frozen=True)
class Vocabulary:
    """Numbers for the types of a training treebank, and the puncteme pairs W_d of each relation d.

    Tokens begin with `SPECIAL`; those with fewer than 5 in training are UNKNOWN (Li, Wang & Eisner 2019,
    section 4).  Relations, tags and forms (lower-cased words) begin with `OTHER`.

    :ivar treebanks: sources of the examples, beginning with `MAIN_TREEBANK`, which also stands for unknown
        ones.
    :ivar main: the source of trees that do not name one.
    :ivar functions: what each token does, see `pyropunct.treebank.functions`; empty in files of earlier
        versions.
    """

    tokens: tuple[str, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    forms: tuple[str, ...]
    pairs: tuple[tuple[Pair, ...], ...]
    treebanks: tuple[str, ...] = (MAIN_TREEBANK,)
    functions: tuple[str, ...] = ()
    main: str = MAIN_TREEBANK

    @cached_property
    def inventory(self) -> Inventory:
        """The sets W_d for the inference engine; START is at the left of every sentence."""
        number = self.token_number
        return Inventory(len(self.tokens), self.pairs, number[START], clause_token=number.get(CLAUSE))

    @cached_property
    def token_number(self) -> dict[str, int]:
        """The number of each token."""
        return {token: number for number, token in enumerate(self.tokens)}

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        return tuple(  # type: ignore[return-value]
            {name: number for number, name in enumerate(names)}
            for names in (self.relations, self.tags, self.forms)
        )

    def without_clauses(self) -> "Vocabulary":
        """The same without the token `CLAUSE`, which is the last one."""
        if CLAUSE not in self.tokens:
            return self
        return replace(self, tokens=self.tokens[:-1], functions=self.functions[:-1])

    def relation_number(self, relation: str) -> int:
        """The number of a relation; falls back to the relation without its subtype, then to `OTHER`."""
        numbers = self._numbers[0]
        return numbers.get(relation, numbers.get(relation.partition(":")[0], 0))

    def encode_trees(self, trees: Sequence[Tree], read: Sequence[Tensor] | None = None) -> TreeBatch:
        """A batch of trees with the same columns of strings, as vectors over all their N words.

        :param read: for each tree of n words (n + 1, tokens) log-odds of tokens, see
            `pyropunct.models.extensions`.
        """
        _, tags, forms = self._numbers
        more = self._numbers_of_strings(trees)
        if CLAUSE in self.token_number:
            more[OPENS] = torch.tensor(
                [one for tree in trees for one in opens_clause(tree)], dtype=torch.long
            )
        if len(self.treebanks) > 1:
            of = {name: number for number, name in enumerate(self.treebanks)}
            named = torch.tensor([of.get(tree.treebank or self.main, 0) for tree in trees])
            more[TREEBANK] = named.repeat_interleave(torch.tensor([len(tree) for tree in trees]))
        relations = {relation for tree in trees for relation in tree.relations}
        numbers = {relation: self.relation_number(relation) for relation in relations}
        forest = forest_of([tree.heads for tree in trees])
        if read is not None:
            slots = torch.cat([torch.zeros(0, len(self.tokens)), *read])
            more[READING] = torch.stack([slots[forest.left_slot], slots[forest.right_slot]], 1)
        return TreeBatch(
            forest,
            torch.tensor([numbers[relation] for tree in trees for relation in tree.relations]),
            torch.tensor([tags.get(tag, 0) for tree in trees for tag in tree.tags]),
            torch.tensor([forms.get(form.lower(), 0) for tree in trees for form in tree.forms]),
            torch.tensor([word_shape(form) for tree in trees for form in tree.forms]),
            more=more,
        )

    def _numbers_of_strings(self, trees: Sequence[Tree]) -> dict[str, Tensor]:
        """The `string_number` of each string in the columns of the trees."""
        columns = [tree.strings() for tree in trees]
        found = {}
        for name in columns[0] if columns else ():
            strings = [tuple(string) for one in columns for string in one[name]]
            distinct = list(dict.fromkeys(strings))
            numbers = dict(zip(distinct, map(string_number, self._strings(distinct)), strict=True))
            found[name] = torch.tensor([numbers[string] for string in strings])
        return found

    def encode_surface(self, surface: Surface, tree: Tree | None = None) -> Tensor:
        """(n + 1, L) token numbers of the slot strings of a sentence, padded with -1 to the longest.

        :param tree: needed if the vocabulary has the token `CLAUSE`, which the strings then begin with where
            a clause of the tree begins.
        :raises TypeError: if a slot string is not a sequence of marks but a string.
        :raises ValueError: if the tree is needed and not given, or of another size.
        """
        return self.encode_surfaces([surface], None if tree is None else [tree])

    def encode_surfaces(self, surfaces: Sequence[Surface], trees: Sequence[Tree] | None = None) -> Tensor:
        """(S, L) token numbers of all S slot strings of several sentences, as in `encode_surface`."""
        strings = [string for surface in surfaces for string in self._strings(surface)]
        clause = self.token_number.get(CLAUSE)
        if clause is not None:
            if trees is None:
                raise ValueError(
                    "the model's pages show where clauses begin: encode surfaces with their trees"
                )
            begins = [one for tree in trees for one in (False, *opens_clause(tree))]
            strings = [[clause] * one + string for one, string in zip(begins, strings, strict=True)]
        return padded(strings)

    def encode_string(self, marks: Sequence[str]) -> list[int]:
        """The token numbers of the marks of one slot; raises `TypeError` as `encode_surface` does."""
        if isinstance(marks, str):
            raise TypeError(f"a surface is a tuple of marks for each slot, such as (',',), not {marks!r}")
        known, unknown = self.token_number, self.token_number[UNKNOWN]
        return [known.get(token, unknown) for token in marks]

    def _with_function(self, function: str) -> list[int]:
        """The numbers of the tokens with a function."""
        return [number for number, one in enumerate(self.functions) if one == function]

    def _strings(self, surface: Surface) -> list[list[int]]:
        return [self.encode_string(marks) if marks else [] for marks in surface]  # most slots are empty

    def known_surface(self, surface: Surface) -> list[tuple[str, ...]]:
        """The surface with UNKNOWN for unknown tokens."""
        return [tuple(self.tokens[number] for number in string) for string in self._strings(surface)]

    def decode_string(self, encoded: Iterable[int]) -> tuple[str, ...]:
        """The tokens of a padded slot string or puncteme, without `CLAUSE`."""
        skipped = EMPTY, self.token_number.get(CLAUSE)
        return tuple(self.tokens[number] for number in encoded if number not in skipped)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for `from_json`."""
        return asdict(self) | {SHOWS_CLAUSES: True}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Vocabulary":
        """The vocabulary that `to_json` wrote. Raises ValueError if damaged: compiled code indexes by it."""
        tokens = types("the list of tokens", plain["tokens"], SPECIAL)
        if not all(tokens):
            raise ValueError("there is a mark without a character")
        if len(tokens) > len(SPECIAL) + MOST_MARKS:
            raise ValueError(f"there are {len(tokens)} kinds of marks, more than {MOST_MARKS}")
        names = {
            name: types(f"the list of {name}", plain[name], (OTHER,))
            for name in ("relations", "tags", "forms")
        }
        treebanks = types("the list of treebanks", plain.get("treebanks", [MAIN_TREEBANK]), (MAIN_TREEBANK,))
        main = plain.get("main", MAIN_TREEBANK)
        if main not in treebanks:
            raise ValueError(f"the main treebank {main!r} is not among the treebanks")
        if len(plain["pairs"]) != len(names["relations"]):
            raise ValueError("there are not as many lists of pairs of punctemes as relations")

        def puncteme(numbers: Any) -> tuple[int, ...]:
            return whole_numbers("a puncteme", numbers, len(tokens))

        pairs = tuple(
            tuple((puncteme(left), puncteme(right)) for left, right in some) for some in plain["pairs"]
        )
        functions = texts("the functions of tokens", plain.get("functions", ()))
        if len(functions) not in (0, len(tokens)) or not set(functions) <= set(FUNCTIONS):
            raise ValueError(f"the functions of tokens are not one of {', '.join(FUNCTIONS)} for each")
        return cls(
            tokens,
            **names,
            pairs=pairs,
            functions=functions,
            treebanks=treebanks,
            main=main,
        )


@lru_cache(1 << 16)
def word_shape(form: str) -> int:
    """The shape of a word: 0 other, 1 lower case, 2 capitalised, 3 capitals, 4 digits, 5 one capital."""
    letters = [letter for letter in form if letter.isalpha()]
    if any(unicodedata.category(letter) == "Nd" for letter in form):
        return 4
    if not letters or not any(letter.isupper() or letter.islower() for letter in letters):
        return 0
    if not letters[0].isupper():
        return 1
    if len(letters) == 1:
        return 5
    return 3 if all(letter.isupper() for letter in letters) else 2


def build_vocabulary(
    examples: Sequence[tuple[Tree, Surface]], *, flanking: bool = False, clauses: bool = False
) -> Vocabulary:
    """Collect the types of a training treebank (Li, Wang & Eisner 2019, section 4).

    W_d holds every pair of slot strings seen around a constituent with relation d, also without the final
    marks and the abbreviation dot on the right, which may belong to others, and with its delimiting marks
    behind the closing ones, where the channel may have moved them from; each of these strings alone on its
    side; every single token alone on either side; every delimiting token on both sides; every opening token
    with each that closes it; and the empty pair.  Conjunctions and subordinators (`OPENERS`) have no pair
    with delimiting tokens on both sides: these belong to their neighbours.
    `OTHER`, for unseen relations, has the pairs of the rare relations.
    START stands outside all constituents and is part of no puncteme.

    :param flanking: W_d holds only the pairs of strings seen around a constituent, as in the paper.
    :param clauses: the channel has a token for the beginning of a clause: see `opens_clause`.
    :raises InputError: if there are more than `MOST_MARKS` kinds of marks.
    """
    marks = Counter(mark for _, surface in examples for slot in surface for mark in slot)
    frequent = sorted(mark for mark, count in marks.items() if count >= MARK_COUNT and mark not in SPECIAL)
    if len(frequent) > MOST_MARKS:
        rarest = " ".join(sorted(frequent, key=marks.__getitem__)[:SHOWN])
        raise InputError(
            f"{len(frequent)} kinds of marks stand {MARK_COUNT} times or more in the training treebank, but "
            f"a model takes {MOST_MARKS} at most; are these marks of punctuation: {rarest}?"
        )
    tokens = (*SPECIAL, *frequent, *([CLAUSE] if clauses else []))
    seen = Counter(relation for tree, _ in examples for relation in tree.relations)
    relations = (OTHER, *sorted(name for name, count in seen.items() if count >= RELATION_COUNT))
    tags = (OTHER, *sorted({tag for tree, _ in examples for tag in tree.tags}))
    words = Counter(form.lower() for tree, _ in examples for form in tree.forms)
    forms = (OTHER, *sorted(word for word, count in words.items() if count >= FORM_COUNT))
    treebanks = dict.fromkeys([MAIN_TREEBANK, *(tree.treebank for tree, _ in examples)])
    function = mark_functions(examples)
    functions = tuple(function.get(mark, SEPARATING) for mark in tokens)
    vocabulary = Vocabulary(tokens, relations, tags, forms, (), tuple(treebanks), functions)
    return with_pairs_of(vocabulary, examples, flanking=flanking)


def with_pairs_of(
    vocabulary: Vocabulary, examples: Sequence[tuple[Tree, Surface]], *, flanking: bool = False
) -> Vocabulary:
    """The same types, with the sets W_d of these examples."""
    singles = [(number,) for number, token in enumerate(vocabulary.tokens) if token not in BOUNDARIES]
    always: set[Pair] = {((), ())} | {(one, ()) for one in singles} | {((), one) for one in singles}
    pairs = [{((), ())} if flanking else set(always) for _ in vocabulary.relations]
    seen = Counter[Pair]()
    forest = forest_of([tree.heads for tree, _ in examples])
    strings = [
        tuple(number for number in string if number > 0)  # without START
        for _, surface in examples
        for string in vocabulary._strings(surface)
    ]
    of_others = {*vocabulary._with_function(FINAL), vocabulary.token_number[ABBREVIATION_DOT]}
    enclosing = [tuple(number for number in string if number not in of_others) for string in strings]
    closing, delimiting = set(vocabulary._with_function(CLOSING)), set(vocabulary._with_function(DELIMITING))
    moved = [
        tuple(sorted(string, key=lambda number: number in delimiting)) if closing & set(string) else string
        for string in enclosing
    ]
    relations = [vocabulary.relation_number(relation) for tree, _ in examples for relation in tree.relations]
    edges = zip(relations, forest.left_slot.tolist(), forest.right_slot.tolist(), strict=True)
    for relation, left_slot, right_slot in edges:
        left, right = strings[left_slot], strings[right_slot]
        if flanking:
            pairs[relation].add((left, right))
            continue
        for one in (right, enclosing[right_slot], moved[right_slot]):
            pairs[relation] |= {(left, one), (left, ()), ((), one)}
        seen[left, right] += 1
    if not flanking:
        balanced = set(_balanced_pairs(vocabulary, seen))
        pairs = [some | balanced for some in pairs]
        for name, own in zip(vocabulary.relations, pairs, strict=True):
            if base(name) in OPENERS:
                own -= {pair for pair in own if all(delimiting & set(side) for side in pair)}
    return replace(vocabulary, pairs=tuple(tuple(sorted(some)) for some in pairs))


def _balanced_pairs(vocabulary: Vocabulary, seen: Mapping[Pair, int]) -> Iterator[Pair]:
    """Two delimiting tokens, and an opening with a closing token; if both may do both, seen often."""
    number = vocabulary.token_number
    for delimiting in vocabulary._with_function(DELIMITING):
        yield (delimiting,), (delimiting,)
    for opening, closers in PARTNERS.items():
        for closing in closers:
            if opening in number and closing in number:
                pair = (number[opening],), (number[closing],)
                if opening not in PARTNERS.get(closing, ()) or seen[pair] >= MARK_COUNT:
                    yield pair
