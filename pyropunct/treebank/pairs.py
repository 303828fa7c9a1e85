"""Marks that come in pairs: brackets and quotation marks."""

from pyropunct.treebank.marks import Surface

CLOSERS = {
    **{"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "【": "】", "〔": "〕", "〈": "〉"},
    **{"《": "》", "「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "‹": "›"},
    **{"„": "“”", "‚": "‘’", "»": "«", "›": "‹"},
}
"""The marks that open a pair, each with those that may close it: German writes „so“ and »so«, Polish „so”."""

PAIRED = frozenset(CLOSERS).union(*CLOSERS.values())
"""The marks that come in pairs."""


def unpaired(surface: Surface) -> int:
    """The number of marks that open a pair that is not closed, or close one that is not open.

    A mark closes the last open pair if it can; otherwise it opens one, if it can do that.
    """
    waiting: list[str] = []
    alone = 0
    for mark in (mark for slot in surface for mark in slot if mark in PAIRED):
        if waiting and mark in CLOSERS[waiting[-1]]:
            waiting.pop()
        elif mark in CLOSERS:
            waiting.append(mark)
        else:
            alone += 1
    return alone + len(waiting)
