"""The types of a training treebank."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.errors import InputError
from pyropunct.inference.machines.evidence import EMPTY
from pyropunct.models.trees import join_surfaces
from pyropunct.text.marks import ABBREVIATION_DOT, CLAUSE, START, UNKNOWN, Surface
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import OTHER, Vocabulary, build_vocabulary, word_shape

CHAIN = Tree((2, 0, 2), ("nsubj", "root", "obj:x"), ("NOUN", "VERB", "NOUN"), ("Rain", "stops", "play"))
SURFACE: Surface = ((START,), (",",), (), (".",))


def vocabulary(*more: tuple[Tree, Surface]) -> Vocabulary:
    return build_vocabulary([(CHAIN, SURFACE)] * 5 + list(more))


def test_marks_seen_five_times_are_types() -> None:
    rare = (START,), ("(",), (), ("!",)
    found = vocabulary((CHAIN, rare))
    assert found.tokens == (START, ABBREVIATION_DOT, UNKNOWN, ",", ".")
    assert found.encode_surface(rare).tolist() == [[0], [2], [EMPTY], [2]]


@pytest.mark.parametrize("surface", ["Hello, x.", ("", ",", ".")])
def test_a_slot_has_a_tuple_of_marks(surface: Surface) -> None:
    found = vocabulary()
    for encode in (found.encode_surface, lambda one: found.encode_surfaces([one])):
        with pytest.raises(TypeError, match=r"^a surface is a tuple of marks for each slot, .* not '[H,]'$"):
            encode(surface)


def test_two_hundred_kinds_of_marks_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyropunct.vocabulary.MOST_MARKS", 2)
    more = (START,), ("!",), ("(",), (")",)
    assert len(vocabulary(*[(CHAIN, more)] * 4).tokens) == 5
    with pytest.raises(InputError, match=r"^5 kinds of marks stand 5 times or more .* 2 at most.*: ! "):
        vocabulary(*[(CHAIN, more)] * 5)


def test_relations_and_forms_need_some_examples() -> None:
    other = Tree((0, 1, 1), ("root", "rare", "obj:x"), ("X", "NOUN", "X"), ("Rain", "STOPS", "again"))
    found = vocabulary((other, SURFACE))
    assert found.relations == (OTHER, "nsubj", "obj:x", "root")
    assert found.forms == (OTHER, "play", "rain", "stops")
    assert found.tags == (OTHER, "NOUN", "VERB", "X")
    batch = found.encode_trees([other])
    assert batch.relation.tolist() == [3, 0, 2]
    assert batch.form.tolist() == [2, 3, 0]
    assert batch.shape.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("kind", "name", "least"), [("tokens", "!", 5), ("relations", "new", 3), ("forms", "oh", 4)]
)
def test_how_often_a_type_must_be_seen(kind: str, name: str, least: int) -> None:
    cry: tuple[Tree, Surface] = (Tree((0,), ("new",), ("X",), ("Oh",)), ((START,), ("!",)))
    known = [name in getattr(vocabulary(*[cry] * count), kind) for count in (least - 1, least)]
    assert known == [False, True]


def test_a_subtype_backs_off_to_its_relation() -> None:
    found = vocabulary()
    names = ["root", "root:sub", "obj:x", "obj:y", "obj", "never"]
    assert [found.relation_number(name) for name in names] == [3, 3, 2, 0, 0, 0]


def pairs_of(found: Vocabulary, relation: str) -> set[tuple[str, str]]:
    pairs = found.pairs[found.relation_number(relation)]
    return {tuple(" ".join(found.decode_string(side)) for side in pair) for pair in pairs}  # type: ignore[misc]


def test_pairs_are_those_around_a_constituent_and_their_halves() -> None:
    """Beside them every single token alone, on either side, and nothing."""
    found = vocabulary((CHAIN, ((START, ","), (), (), (".", ","))))
    tokens = (ABBREVIATION_DOT, UNKNOWN, ",", ".")
    always = {("", ""), *((token, "") for token in tokens), *(("", token) for token in tokens)}
    assert pairs_of(found, "never") == always
    assert pairs_of(found, "root") == always | {(",", ". ,"), ("", ". ,"), (",", ",")}  # and without "."
    assert pairs_of(found, "nsubj") == always
    assert pairs_of(found, "obj:x") == always | {("", ". ,")}
    assert all(list(pairs) == sorted(set(pairs)) for pairs in found.pairs)


def test_flanking_pairs_are_those_around_a_constituent() -> None:
    """Both sides at once, and the empty pair."""
    found = build_vocabulary([(CHAIN, SURFACE)] * 5, flanking=True)
    comma, period = found.token_number[","], found.token_number["."]
    pairs = dict(zip(found.relations, found.pairs, strict=True))
    assert {name: set(some) for name, some in pairs.items()} == {
        OTHER: {((), ())},
        "nsubj": {((), ()), ((), (comma,))},
        "root": {((), ()), ((), (period,))},
        "obj:x": {((), ()), ((), (period,))},
    }


def test_json_gives_an_equal_vocabulary() -> None:
    found = vocabulary()
    assert Vocabulary.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize("name", ["tokens", "tags"])
def test_half_of_a_character_is_refused(name: str) -> None:
    """JSON may have it, but it cannot be written."""
    plain = json.loads(json.dumps(vocabulary().to_json()))
    plain[name].append("\ud800")
    with pytest.raises(ValueError, match=f"the list of {name} has half of a character"):
        Vocabulary.from_json(plain)


@given(st.lists(st.lists(st.sampled_from([",", ".", ABBREVIATION_DOT]), max_size=4), min_size=1, max_size=6))
def test_known_strings_are_decoded_again(slots: list[list[str]]) -> None:
    found = vocabulary()
    encoded = found.encode_surface(slots).tolist()
    assert [list(found.decode_string(row)) for row in encoded] == slots


def test_batches_side_by_side() -> None:
    found = vocabulary()
    batch = found.encode_trees([CHAIN, CHAIN])
    assert len(batch) == 2
    assert batch.relation.tolist() == [1, 3, 2, 1, 3, 2]
    one = batch.pick([1])
    assert (len(one), one.relation.tolist(), one.forest.root.tolist()) == (1, [1, 3, 2], [1])
    surface = join_surfaces([found.encode_surface(SURFACE), found.encode_surface([[","] * 2])])
    assert surface.tolist()[3:] == [[4, EMPTY], [3, 3]]


@pytest.mark.parametrize(
    ("form", "shape"),
    [
        ("rain", 1),
        ("Rain", 2),
        ("RAIN", 3),
        ("I", 5),
        ("don't", 1),
        ("1.", 4),
        ("42", 4),
        ("4th", 4),
        ("—", 0),
        ("雨", 0),
    ],
)
def test_word_shape(form: str, shape: int) -> None:
    assert word_shape(form) == shape


def test_every_relation_may_sprout_balanced_pairs() -> None:
    """Delimiting marks on both sides, and brackets, though they were seen around other relations only."""
    tree = Tree((0, 1, 1, 1), ("root", "appos", "obj:x", "nsubj"), ("X",) * 4, ("a", "b", "c", "d"))
    appositions = [(tree, ((START,), (",",), (",",), (), (".",)))] * 5
    brackets = [(tree, ((START,), ("(",), (")",), (), (".",)))] * 5
    found = vocabulary(*appositions, *brackets)
    number = found.token_number
    assert dict(zip(found.tokens, found.functions, strict=True))[","] == "delimiting"
    for pairs in found.pairs:
        assert {((number[","],), (number[","],)), ((number["("],), (number[")"],))} <= set(pairs)
        assert ((number["."],), (number["."],)) not in pairs
    assert Vocabulary.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(ValueError, match=r"^the functions of tokens are not one of delimiting, "):
        Vocabulary.from_json(json.loads(json.dumps(found.to_json())) | {"functions": ["no"] * len(number)})


def test_no_trees() -> None:
    batch = vocabulary().encode_trees([])
    assert (len(batch.relation), batch.forest.num_trees, batch.forest.num_slots) == (0, 0, 0)


def test_surfaces_begin_with_a_token_where_clauses_begin() -> None:
    """Decoded ones do not, nor do texts."""
    tree = Tree((3, 3, 0), ("mark", "nsubj", "root"), ("SCONJ", "NOUN", "VERB"), ("if", "rain", "stops"))
    surface: Surface = (START,), (",",), (), (".",)
    found = build_vocabulary([(tree, surface)] * 5, clauses=True)
    start, comma, stop, clause = map(found.token_number.__getitem__, (START, ",", ".", CLAUSE))
    encoded = found.encode_surface(surface, tree)
    assert encoded.tolist() == [[start, EMPTY], [clause, comma], [EMPTY, EMPTY], [stop, EMPTY]]
    assert [found.decode_string(row) for row in encoded.tolist()] == list(map(tuple, surface))
    assert found.without_clauses().encode_surface(surface, tree).tolist()[1] == [comma]
    with pytest.raises(ValueError, match="show where clauses begin: encode surfaces with their trees"):
        found.encode_surface(surface)


def test_conjunctions_have_no_commas_on_both_sides() -> None:
    """Their neighbours sprout these; one on either side is possible."""
    tree = Tree((3, 3, 0), ("cc", "advmod", "root"), ("CCONJ", "ADV", "VERB"), ("and", "now", "stop"))
    surface: Surface = (START, ","), (",",), (",",), (".",)
    found = build_vocabulary([(tree, surface)] * 5)
    comma = (found.token_number[","],)
    pairs = dict(zip(found.relations, found.pairs, strict=True))
    assert (comma, comma) in pairs["advmod"]
    assert (comma, comma) not in pairs["cc"]
    assert {(comma, ()), ((), comma)} <= set(pairs["cc"])
