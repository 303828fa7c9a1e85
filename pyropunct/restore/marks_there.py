"""What the marks that a sentence has already mean for those to be restored."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyropunct.errors import UserError
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.restore.posterior import LONGEST_OPEN, evidence_of_marks
from pyropunct.restore.restoring import Source, has_marks
from pyropunct.restore.running import ends_sentence
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import ABBREVIATION_DOT, CLOSING, PAIRED, paired
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.preparing import MOST_MARKS
from pyropunct.vocabulary import Vocabulary


@dataclass(frozen=True)
class MarksThere:
    """What the marks that a sentence has already mean for those to be restored, under some settings.

    | the sentence | its marks stay | they tell about others | closed slots |
    |---|---|---|---|
    | some marks are hidden | hidden ones with ``keep`` | yes | inside words |
    | a line that ends with a final mark, by default | yes | no | all |
    | other raw text | yes, unless ``keep`` is false | yes, if there are some | inside words |
    | a treebank sentence | only with ``keep`` | then, if there are some | none |

    In a closed slot, no mark is put.  A line that `lacks_end` gets one beside its last marks.

    :ivar hidden: the hidden marks, as tokens of the model.
    """

    source: Source
    settings: RestoreSettings
    hidden: frozenset[str]

    @cached_property
    def is_complete(self) -> bool:
        """Whether a line ends with a final mark (or the dot of an abbreviation beside other marks)."""
        source = self.source
        asked = self.hidden or self.settings.marks is not None or self.settings.keep is not None
        if asked or not isinstance(source, RawSentence) or not source.words:
            return False
        last = source.surface[-1]
        if ABBREVIATION_DOT in last:
            return ends_sentence(last, "") or has_marks(source)
        return ends_sentence(last or source.words[-1][-1:], "")

    @property
    def stay(self) -> bool:
        """Whether existing marks stay, or existing hidden marks."""
        if isinstance(self.source, RawSentence):
            if self.source.settled:
                return True
            if not self.hidden:
                return self.settings.keep is not False
        return bool(self.settings.keep)

    @cached_property
    def tell(self) -> bool:
        """Whether they are evidence about others; with hidden marks, too many in a slot raise `UserError`."""
        most = max(map(len, self.source.surface))
        if self.hidden:
            if most > MOST_MARKS:
                raise UserError(f"it has {most:,} marks in one place, more than {MOST_MARKS:,}")
            return True
        longest = MOST_MARKS if self.settings.keep else LONGEST_OPEN
        return self.stay and has_marks(self.source) and not self.is_complete and most <= longest

    @cached_property
    def lacks_end(self) -> bool:
        """Whether a line ends with what closes pairs of marks, and not a sentence: ``"who is there"``."""
        *before, last = self.source.surface
        if not isinstance(self.source, RawSentence) or self.hidden or not self.tell:
            return False
        marks = [mark for slot in before for mark in slot if mark in PAIRED]
        closing = {place for _, place in paired([*marks, *(mark for mark in last if mark in PAIRED)])}
        places = range(len(marks), len(marks) + len(last))
        return (
            bool(last)
            and len(before) not in self.closed
            and CLOSING.issuperset(last)
            and closing.issuperset(places)
        )

    @property
    def closed(self) -> Sequence[int]:
        """The slots where no mark is put."""
        if not isinstance(self.source, RawSentence):
            return ()
        if self.source.settled or self.is_complete:
            return range(len(self.source.surface))
        return self.source.closed if self.settings.as_written else self.source.inside

    def evidence(self, vocabulary: Vocabulary) -> list[Evidence]:
        """The evidence about each slot."""
        return evidence_of_marks(
            vocabulary,
            self.source.surface,
            hidden=self.hidden,
            keep=self.stay,
            closed=self.closed,
            ends=self.lacks_end,
        )
