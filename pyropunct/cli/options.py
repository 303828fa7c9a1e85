"""Options that several commands share."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from pyropunct.cli.command import Registered
from pyropunct.cli.frame import BAD_INPUT, OneLineError
from pyropunct.cli.loading import load_model, use_threads
from pyropunct.limits import Help, NamesIn, Placeholder, Range, Seed

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
        self.start()
        return load_model(model, self.trust_variants, self.encoder)


@dataclass(frozen=True, kw_only=True)
class Drawing(ModelUse):
    """How a model is loaded that draws by chance."""

    seed: Seed = 0

    def load(self, model: str) -> "Punctuator":
        """Load a model and set the seed."""
        import pyro

        self.start()
        pyro.set_rng_seed(self.seed)
        return super().load(model)


tables_option = click.option(
    "--format",
    "shape",
    type=click.Choice(["table", "tsv", "csv", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or all digits for programs: values separated by tabs or commas, or JSON.",
)
examples_option = click.option(
    "--examples",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Show so many places in FILE for each, according to the best underlying trees.",
)
WIDEST_BEAM = 1024
"""The widest beam of parsers with transitions."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Equal seeds give equal results.",
)
sentence_option = click.option(
    "--sentence", "identifier", metavar="ID", help="Only the sentence with this sent_id."
)

trust_option = click.option(
    "--trust-variants",
    is_flag=True,
    help="Import the attach model and the channel that MODEL names, even if they are no part of pyropunct.  "
    "This runs the code of their modules.",
)

encoder_option = click.option(
    "--encoder",
    metavar="PLACE",
    help="Where the encoder is now that MODEL was trained with, if it is no longer where it was.",
)

input_option = click.option(
    "--input",
    "kind",
    type=click.Choice(["auto", "text", "conllu"]),
    default="auto",
    show_default=True,
    help="The kind of FILE; by default recognised by its name or its first lines.",
)

threads_option = click.option(
    "--threads", type=click.IntRange(1, MOST_THREADS), help="Threads to use; by default all cores."
)

trees_option = click.option(
    "--trees",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Average over at most this many trees of the parser.",
)

permutations_option = click.option(
    "--permutations",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Permutations in each significance test.",
)

decoder_option = click.option(
    "--decoder",
    type=Registered(NamesIn("pyropunct.restore.decoders:DECODERS")),
    default="mbr",
    show_default=True,
    help="Take the draw of least expected edit distance, decide each slot separately, or take the most "
    "frequent draw.",
)


def chosen_names(
    given: str | None, known: Collection[str], option: str, kind: str | None = None
) -> tuple[str, ...]:
    """The names in an option, each once; all that are known, if the option is not there.

    :param given: names with commas between them.
    :param option: what it is called, without dashes.
    :param kind: what is chosen; by default the option is its plural.
    :raises OneLineError: if one is unknown, or none is named.
    """
    if given is None:
        return tuple(known)
    chosen = tuple(dict.fromkeys(filter(None, given.split(","))))
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        kind = option.removesuffix("s") if kind is None else kind
        problem = f"there is no {kind} {unknown[0] if unknown else given!r}"
        raise OneLineError(f"--{option}: {problem}; there are {', '.join(known)}", BAD_INPUT)
    return chosen


def decoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read text or CoNLL-U and decide on punctuation."""
    options = (
        input_option,
        click.option(
            "--samples",
            type=click.IntRange(1),
            default=1000,
            show_default=True,
            help="The most draws for each sentence; fewer where the decision is clear.",
        ),
        decoder_option,
        trees_option,
        click.option("--parse", is_flag=True, help="Parse the words of CoNLL-U input anew."),
    )
    for option in reversed(options):
        command = option(command)
    return command
