"""Options that several commands share, loading, and safe output files."""

import gc
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TextIO

from pyropunct.cli import console
from pyropunct.cli.progress import reading_bar, shows_bars
from pyropunct.errors import UserError
from pyropunct.files import model_there, real, remove_unwritten, written_whole
from pyropunct.limits import Help, Placeholder, Range, Seed
from pyropunct.text.lines import TreebankError

if TYPE_CHECKING:
    from pyropunct.punctuator import Punctuator
    from pyropunct.treebank.reading import Treebank

# Modules that need torch are imported inside the functions, so that --help answers at once.


MOST_THREADS = 1024
"""Torch fails with more threads than this, on any machine."""

Threads = Annotated[int, Range(1, MOST_THREADS)]
SentenceId = Annotated[str | None, Placeholder("ID"), Help("Only the sentence with this sent_id.")]
Json = Annotated[bool, Help("Print one JSON object and nothing else.")]


USUAL = gc.get_threshold()
WHILE_READING, AFTERWARDS = 100_000, 7_000
"""The numbers of new objects after which Python collects garbage, instead of 700: while modules and models
are read, and afterwards in loops, where circles of references may hold large tensors."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Collect garbage rarely while long-lived objects are made, and exempt these from later collections.

    This saves a quarter of the start-up time.
    """
    gc.set_threshold(WHILE_READING, *USUAL[1:])
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(AFTERWARDS, *USUAL[1:])


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """The hardware to use.

    :ivar threads: threads to use; by default all cores.
    """

    threads: Threads | None = None

    @rarely_collected()
    def start(self) -> None:
        """Use these threads from now on; tell users on a terminal if compilation comes first."""
        import torch

        from pyropunct.inference.compiling import is_compiled

        if self.threads is not None:
            torch.set_num_threads(self.threads)
        if shows_bars() and not is_compiled():
            console.tell("compiling the inner loops, this once: it takes 15 to 30 seconds")


def language_code(code: str) -> str:
    """:raises ValueError: if it is no code of a language, in two or three small letters."""
    if not re.fullmatch("[a-z]{2,3}", code):
        raise ValueError(f"{code!r} is no code of a language, such as de")
    return code


@dataclass(frozen=True, kw_only=True)
class ModelUse(Hardware):
    """How a model is loaded.

    :ivar threads: threads to use; more than one seldom help.
    :ivar encoder: new place of the encoder that MODEL was trained with, if it was moved.
    :ivar language: the language of FILE, by its code, for a MODEL of several; by default found for each line
        of raw text, or paragraph of running text.
    :ivar trust_variants: import the attach model and the channel that MODEL names from outside of pyropunct.
        This runs the code of their modules.
    """

    threads: Threads | None = 1
    encoder: Annotated[str | None, Placeholder("PLACE")] = None
    language: Annotated[str | None, Placeholder("CODE"), language_code] = None
    trust_variants: bool = False

    def load(self, model: str) -> "Punctuator":
        """Load a model; if a language is chosen, the model of this language.

        Raises UserError if there is none, or it names an untrusted variant.
        """
        from pyropunct.punctuator import Punctuator

        self.start()
        with rarely_collected():
            loaded = Punctuator.load(model, variants=self.trust_variants, encoder=self.encoder)
        return loaded if self.language is None else of_language(loaded, self.language)

    def load_one(self, model: str) -> "Punctuator":
        """Load a model of one language. Raises UserError if it is of several, and none is chosen."""
        loaded = self.load(model)
        if loaded.languages:
            raise UserError(f"{model}: is of several languages: choose one by --language")
        return loaded


@dataclass(frozen=True, kw_only=True)
class TrainingUse(ModelUse):
    """How a model is loaded by a command that trains networks.

    :ivar threads: threads to use; by default all cores.
    """

    threads: Threads | None = None


@dataclass(frozen=True, kw_only=True)
class TreebankUse(ModelUse):
    """How a model and a treebank are loaded.

    :ivar skip_bad: read on after malformed sentences in FILE: list them, leave them out, and copy them to
        CoNLL-U.
    """

    skip_bad: bool = False

    def read(self, file: str, *, tell: bool = False, need_sentences: bool = True) -> "Treebank":
        """`read_file`; the error about a malformed sentence names the option that reads on."""
        try:
            return read_file(file, tell=tell, skip_bad=self.skip_bad, need_sentences=need_sentences)
        except TreebankError as error:
            if self.skip_bad or not error.lines:
                raise
            raise UserError(f"{error} (--skip-bad reads on)") from error

    def load_for(
        self, model: str, file: str, *, tell: bool = False, need_sentences: bool = True
    ) -> "tuple[Punctuator, Treebank]":
        """Load a model and a treebank; see `for_treebank`.

        :param need_sentences: raise an error if all sentences are omitted.
        """
        treebank = self.read(file, tell=tell, need_sentences=need_sentences)
        return for_treebank(self.load(model), treebank)


@dataclass(frozen=True, kw_only=True)
class SeededUse(TreebankUse):
    """How a model that draws is loaded."""

    seed: Seed = 0

    def load(self, model: str) -> "Punctuator":
        """Load a model and set the seed."""
        import pyro

        pyro.set_rng_seed(self.seed)
        return super().load(model)


def of_language(model: "Punctuator", code: str) -> "Punctuator":
    """The model of a language; says if it has not learned from this one."""
    if not model.languages:
        raise UserError(f"--language {code}: the model is of one language")
    chosen = model.of(code)
    if code not in model.languages:
        from pyropunct.text.languages import not_learned

        console.tell(f"pyropunct: {not_learned(code, model.languages)}")
    return chosen


def for_treebank(model: "Punctuator", treebank: "Treebank") -> "tuple[Punctuator, Treebank]":
    """A model and a treebank with its marks.  Of several languages, the model is for that of the treebank."""
    if model.languages:
        from pyropunct.text.languages import likely_language

        words = " ".join(form for sentence in treebank for form in sentence.tree.forms)
        model = of_language(model, likely_language(words, model.languages))
    return model, treebank.with_marks(model.meant)


def refuse(problems: Mapping[str, object]) -> None:
    """Raises UserError with the first problem whose value is true: options that exclude each other."""
    for problem, there in problems.items():
        if there:
            raise UserError(problem)


# Input


def read_file(
    path: str, *, tell: bool = False, skip_bad: bool = False, need_sentences: bool = True
) -> "Treebank":
    """Read a CoNLL-U file with a progress bar; ``tell`` of left out sentences. Raises TreebankError."""
    from pyropunct.treebank.reading import read_treebank

    with reading_bar(path) as progress:
        treebank = read_treebank(path, progress=progress, skip_bad=skip_bad, need_sentences=need_sentences)
    console.tell_malformed(treebank)
    console.tell_duplicates(treebank)
    if tell:
        console.tell_omitted(treebank.path, treebank.omitted)
    return treebank


def check_device(device: str) -> None:
    """Check that torch can use a device. Raises UserError if it cannot."""
    import torch

    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises many kinds, some of several lines
        raise UserError(f"--device {device}: {str(error).splitlines()[0]}") from error


# Files that commands write: never over their own input, and never over a file of another kind

HEAD = 1 << 16
"""How many bytes of a file are looked at to tell what it is."""


class Kind(NamedTuple):
    """A kind of file, with a name for messages; ``is_one`` recognises a file by its first bytes."""

    name: str
    is_one: Callable[[bytes], bool]


SVG = Kind("a picture in SVG", lambda head: b"<svg" in head)
CONLLU = Kind("CoNLL-U", lambda head: any(line.count(b"\t") == 9 for line in head.splitlines()))


def check_output(out: str | None, kind: Kind, inputs: Iterable[str | None]) -> None:
    """Raises UserError if an output file is an input or in one, is of another kind, or cannot be written.

    Removes unfinished files of killed processes.
    """
    if out is None:
        return
    path = real(Path(out))
    for given in inputs:
        if given not in (None, "-") and is_in(path, Path(given)):
            raise UserError(f"{out}: is an input file, so it cannot be the output too")
    if path.is_dir():
        raise UserError(f"{out}: is a folder, not a file to write to")
    if path.is_block_device():
        raise UserError(f"{out}: is a device, not a file to write to")
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head and not kind.is_one(head):
            raise UserError(f"{out}: is there already and is not {kind.name}; choose another name")
    if not path.parent.is_dir():
        raise UserError(f"{out}: the folder {path.parent} does not exist")
    remove_unwritten(path.parent, f"{path.name}.")


def is_in(path: Path, source: Path) -> bool:
    """Whether a place to write to is a file, model or folder, under any name, or lies in it."""
    source = model_there(source)
    if not source.exists():
        return False
    path = real(path)
    same = path.samefile(source) if path.exists() else path == real(source)
    return same or real(source) in path.parents


def write_output(out: str, content: bytes) -> None:
    """Write a file that `check_output` has checked; after a failure the old content is intact."""
    with written_whole(Path(out)) as stream:
        stream.write(content)


@contextmanager
def text_output(out: str | None) -> Iterator[TextIO]:
    """A stream for such a file, or the standard output for None."""
    if out is None:
        yield sys.stdout
        return
    with written_whole(Path(out)) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
        yield text
        text.detach()
