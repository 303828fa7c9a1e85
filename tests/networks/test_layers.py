"""Layers of networks."""

import pytest
import torch

from pyropunct.networks.layers import SHORT, Bidirectional


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("words", [1, 2, SHORT, SHORT + 1])
def test_a_sentence_alone_has_the_states_that_torch_finds(words: int, dtype: torch.dtype) -> None:
    torch.manual_seed(words)
    layer, sentence = Bidirectional(7, 9).to(dtype), torch.randn(1, words, 7, dtype=dtype)
    mirror = torch.arange(words).flip(0)[None]
    with torch.no_grad():
        alone = layer(sentence, mirror)
    assert alone.dtype == dtype
    torch.testing.assert_close(alone, layer(sentence, mirror).detach())
