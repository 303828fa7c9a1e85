"""Queries in the language of Grew (https://grew.fr) for what ``underlying --format conllu`` writes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks.explain.mark_functions import OF_PAIRS
from pyropunct.tasks.explain.tree_text import puncteme_entries
from pyropunct.treebank.sentence import Puncteme, Sentence


def relation_names(model: FittedStory, sentences: Iterable[Sentence]) -> Mapping[str, list[str]]:
    """The names that treebank sentences have for each relation that a model knows."""
    known = model.vocabulary
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted({name for sentence in sentences for name in sentence.tree.relations}):
        found[known.relations[known.relation_number(name)]].append(name)
    return found


def grew_query(relations: Iterable[str], left: Puncteme, right: Puncteme) -> str | None:
    """The query for constituents with one of some relations and a pair of punctemes.

    It does not find those with marks around a part, whose entries have these marks too.  None for marks that
    CoNLL-U escapes.
    """
    if any(character in mark for mark in (*left, *right) for character in "|\\"):
        return None
    [entries] = puncteme_entries([(left, right)])
    features = [f"{name}={_quoted(entries[name])}" if name in entries else f"!{name}" for name in SIDES]
    if not OF_PAIRS.isdisjoint((*left, *right)):
        features.append("!PunctPart")
    return f"pattern {{ X [{', '.join(features)}]; * -[{'|'.join(relations)}]-> X }}"


SIDES = ("PunctLeft", "PunctRight")


def _quoted(text: str) -> str:
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'
