"""How a model learns from text: settings that a command reads without torch."""

from dataclasses import dataclass

from pyropunct.limits import Count


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a model learns from text.

    :ivar running: the text is running text, with sentences that end anywhere in lines.  Blank lines part
        paragraphs.
    :ivar most: the most sentences to learn from; of longer texts, parts from all over them.
    :ivar trees: trees of each sentence that weights are learned from: the best one, and draws.
    :ivar epochs: passes over them to learn these weights.
    """

    running: bool = False
    most: Count = 100_000
    trees: Count = 2
    epochs: Count = 3
