"""Sentences with marks for the tests of this folder."""

from pyropunct.papers.transitions.marked_sentences import MarkedSentence

SENTENCES = [
    MarkedSentence(
        ("(", "“", "Congress", "'s", "Environmental", "Buccaneers", ",", "”", "Sept.", "18", ")", "."),
        ("(", "``", "NNP", "POS", "NNP", "NNS", ",", "''", "NNP", "CD", ")", "."),
        tuple(form in {"(", "“", ",", "”", ")", "."} for form in "(“C'EB,”S1)."),
        (6, 6, 6, 3, 6, 0, 6, 6, 6, 9, 6, 6),
        (
            *("punct", "punct", "poss", "case", "amod", "root"),
            *("punct", "punct", "date", "num", "punct", "punct"),
        ),
    ),
    MarkedSentence(
        ("Clara", ",", "a", "dog", ",", "sang", "--", "we", "heard", "--", "“", "songs", "”", "!"),
        ("NNP", ",", "DT", "NN", ",", "VBD", ":", "PRP", "VBD", ":", "``", "NNS", "''", "."),
        tuple(one in ",-“”!" for one in "C,ad,s-wh-“s”!"),
        (6, 4, 4, 1, 4, 0, 9, 9, 6, 9, 12, 6, 12, 6),
        tuple("spdaprpnpppopp"),
    ),
    MarkedSentence(
        ("In", "Rome", ",", "dogs", "that", "we", "saw", "and", "heard", "sing"),
        ("IN", "NNP", ",", "NNS", "WDT", "PRP", "VBD", "CC", "VBD", "VBP"),
        (False, False, True, *[False] * 7),
        (2, 10, 10, 10, 7, 7, 4, 9, 7, 0),
        ("case", "obl", "punct", "nsubj", "obj", "nsubj", "acl", "cc", "conj", "root"),
    ),
]
"""The first is an example of the paper, of which it does not give the tree."""
