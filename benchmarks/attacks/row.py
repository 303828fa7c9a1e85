"""A row of the table in docs/reference/reliability.md: what was tried, and what came of it."""

from typing import NamedTuple


class Row(NamedTuple):
    """The outcome of an attack.

    :ivar name: what was attacked, and how.
    :ivar tries: how often.
    :ivar outcomes: how often each allowed outcome was seen, such as "refused".
    :ivar failures: one line for each try with any other outcome.
    """

    name: str
    tries: int
    outcomes: dict[str, int]
    failures: list[str]

    def __str__(self) -> str:
        outcomes = ", ".join(f"{count:,} {name}" for name, count in sorted(self.outcomes.items()))
        return f"| {self.name} | {self.tries:,} | {outcomes} | {len(self.failures):,} |"
