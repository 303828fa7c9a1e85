"""Scores of parsed words by hand; which differences are tested."""

import numpy as np
import pytest

from pyropunct.papers.options import ALL, AWAY, TOKENS, ParserSettings
from pyropunct.papers.transitions.arc_standard_parser import ParsedSentence
from pyropunct.papers.transitions.marked_sentences import MarkedSentence
from pyropunct.papers.transitions.parser_experiment import (
    COLUMNS,
    MARK_HEADS,
    MARKS,
    MARKS_AS_TOKENS,
    SENTENCES,
    ParserExperiment,
    ParsingResult,
    word_counts,
)
from pyropunct.significance import permutation_test

GOLD = MarkedSentence(
    ("a", ",", "b", "c", "."),
    ("X", ",", "X", "X", "."),
    (False, True, False, False, True),
    (3, 3, 0, 3, 3),
    ("s", "punct", "root", "o", "punct"),
)


def parsed(heads: tuple[int | None, ...], relations: str) -> ParsedSentence:
    return ParsedSentence(heads, tuple(relations.split()))


def test_marks_count_apart() -> None:
    found = [
        parsed((3, 1, 0, 3, 1), "s x root o x"),
        parsed((3, None, 0, 3, None), "s x root x x"),
        parsed((0, 3, 1, 1, 3), "root punct root o punct"),
        parsed((3, 3, 0, 2, 3), "s punct root o punct"),
    ]
    counts = word_counts(found, [GOLD] * 4)
    assert np.delete(counts, (SENTENCES, MARKS, MARK_HEADS), 1).tolist() == [
        *([3, 3, 3, 1, 1], [3, 3, 2, 1, 1]),
        *([3, 0, 0, 0, 0], [3, 2, 2, 0, 1]),
    ]
    result = ParsingResult(ALL, 1, counts, 1.0, 2.0, {})
    values = {column.key: column.value(result) for column in COLUMNS}
    assert (values["uas"], values["las"]) == pytest.approx((100 * 8 / 12, 100 * 7 / 12))
    assert (values["complete"], values["root"]) == (50, 75)
    assert counts[:, (MARKS, MARK_HEADS)].tolist() == [[2, 0], [0, 0], [2, 2], [2, 2]]
    assert values["marks_uas"] == pytest.approx(100 * 4 / 6)
    away = ParsingResult(AWAY, 1, counts[1:2], 1.0, 2.0, {})
    assert [column.cell(away) for column in COLUMNS if column.key == "marks_uas"] == ["–"]


def test_differences_are_from_marks_as_tokens_with_the_same_beam() -> None:
    random = np.random.default_rng(0)
    results = tuple(
        ParsingResult(
            treatment,
            beam,
            random.integers(1, 9, (40, 8)),
            1.0,
            2.0,
            {"lifted_sentences": 2},
        )
        for beam, treatment in [
            (1, ALL),
            (4, ALL),
            (4, TOKENS),
            (1, TOKENS),
        ]
    )
    experiment = ParserExperiment([GOLD] * 10, [GOLD] * 40, ParserSettings(permutations=200))
    table = experiment.table("Parsers", COLUMNS, results, (), MARKS_AS_TOKENS)
    first, second, *tokens = [system["p"] for system in table.to_json()]
    assert tokens == [{}, {}]
    tables = [result.counts for result in results]
    assert first["uas"] == permutation_test(tables[0][:, 1], tables[3][:, 1], 200)
    assert second["las"] == permutation_test(tables[1][:, 2], tables[2][:, 2], 200)
    _, rows = table.cells(str)
    assert [row[:2] for row in rows] == [["1", "all"], ["4", "all"], ["4", "tokens"], ["1", "tokens"]]
    assert [row[3] for row in rows][2:] == ["–", "–"]
