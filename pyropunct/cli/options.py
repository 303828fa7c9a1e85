"""Options that several commands share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pyropunct.cli.loading import use_threads
from pyropunct.limits import Help, Placeholder, Range, Seed

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator

MOST_THREADS = 1024
"""More than this break down in torch, on any machine."""

Threads = Annotated[int, Range(1, MOST_THREADS)]
SentenceId = Annotated[str | None, Placeholder("ID"), Help("Only the sentence with this sent_id.")]
Json = Annotated[bool, Help("Print one JSON object and nothing else.")]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that works.

    :ivar threads: threads to use; by default all cores.
    """

    threads: Threads | None = None

    def start(self) -> None:
        """Use these threads from now on."""
        use_threads(self.threads)


@dataclass(frozen=True, kw_only=True)
class ModelUse(Machine):
    """How a model is loaded.

    :ivar encoder: where the encoder is now that MODEL was trained with, if it has moved.
    :ivar trust_variants: import the attach model and the channel that MODEL names, even if they are no part
        of pyropunct.  This runs the code of their modules.
    """

    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    trust_variants: bool = False

    def load(self, model: str) -> "Punctuator":
        """Load a model.

        :raises UserError: if there is no model, or it names an untrusted variant outside the package.
        """
        from pyropunct.punctuator import Punctuator

        self.start()
        return Punctuator.load(model, variants=self.trust_variants, encoder=self.encoder)


@dataclass(frozen=True, kw_only=True)
class SeededUse(ModelUse):
    """How a model is loaded that draws by chance."""

    seed: Seed = 0

    def load(self, model: str) -> "Punctuator":
        """Load a model and set the seed."""
        import pyro

        pyro.set_rng_seed(self.seed)
        return super().load(model)
