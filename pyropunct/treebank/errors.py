"""The error that names a place in a treebank."""

from pyropunct.errors import UserError
from pyropunct.treebank.showing import shortened, visible

LONGEST_PROBLEM = 400
"""The most characters in which an error describes the problem."""

NO_SENTENCE = "there is no sentence in the file"
"""The problem of an empty file, of whatever format."""


class TreebankError(UserError, ValueError):
    """A treebank that cannot be used.

    Its text is one line, ``FILE:LINE: sentence 'ID': problem (remedy)``.  Parts that do
    not apply are left out.

    :ivar path: the file.
    :ivar line: the line, counted from 1, or None if the error is not about a line.
    :ivar sentence: the identifier of the sentence, or None if the error is not about a sentence.
    :ivar reason: the text without file and line.
    """

    def __init__(self, path: str, problem: str, line: int | None = None, sentence: str | None = None) -> None:
        self.path = path
        self.line = line
        self.sentence = sentence
        place = path if line is None else f"{path}:{line}"
        whose = "" if sentence is None else f"sentence {shortened(repr(sentence), LONGEST_PROBLEM)}: "
        self.reason = visible(f"{whose}{shortened(problem, LONGEST_PROBLEM)}")
        super().__init__(f"{visible(place)}: {self.reason}")
