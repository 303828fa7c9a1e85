"""A model whose file holds further parts alone, and has its story from another model of the package."""

from pathlib import Path

import pytest
import torch
from model_files import changed, copied

from pyropunct.errors import ModelFileError
from pyropunct.fitted.saved_parts import SavedParts, further_parts
from pyropunct.nets.adapters import AdaptedEncoder
from pyropunct.punctuator import Punctuator
from pyropunct.shipped import place_of

pytestmark = pytest.mark.usefixtures("single_precision")


def test_it_has_the_story_of_the_other_and_its_own_networks() -> None:
    """The encoder need not be there until words are read."""
    small, large = (Punctuator.load(name) for name in ("en", "en-encoder"))
    for name, value in small.values.items():
        assert torch.equal(value, large.values[name])
    assert small.parsed is not None
    assert large.parsed is not None
    for name, value in small.parsed.values.items():
        assert torch.equal(value, large.parsed.values[name]) != name.startswith("reading.")
    assert isinstance(large.pretrained, AdaptedEncoder)
    assert small.pretrained is None
    assert large.parsed.tagger is large.tagger is not small.tagger
    assert isinstance(large.reader_pretrained, AdaptedEncoder)
    assert large.reader is not None
    assert large.reader.beside is not None
    assert small.reader is not None
    for name, weight in small.reader.network.state_dict().items():
        assert torch.equal(weight, large.reader.beside.network.state_dict()[name])


def test_what_its_file_holds() -> None:
    plain, tensors = Punctuator.load("en-encoder").to_parts(small=True)
    own, kept = further_parts(SavedParts("here", plain, tensors), "en")
    """The reader beside its own is that of the other."""
    networks = {"parser", "reader", "tagger", "pretrained", "reader_pretrained"}
    assert set(own) == {*networks, "reader_beside", "base", "base_checksum"}
    assert {name.partition("/")[0] for name in kept} == {*networks, "parsed"}
    assert all("/reading." in name for name in kept if name.startswith("parsed/"))


@pytest.mark.parametrize(("name", "value"), [("base", "de"), ("base_checksum", "0")])
def test_another_base_is_refused(tmp_path: Path, name: str, value: str) -> None:
    path = copied(place_of("en-encoder"), tmp_path / "model")
    with changed(path) as (description, _):
        description[name] = value
    with pytest.raises(ModelFileError, match=r"belongs to the model .* of another version of the package"):
        Punctuator.load(path)
