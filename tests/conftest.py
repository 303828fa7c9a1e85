import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyro
import pytest
import torch
from command_line import answer, printed
from encoders import made_encoder
from hypothesis import settings
from numba.core.caching import IndexDataCacheFile

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.punctuator import Punctuator
from pyropunct.train.fitting import NetworkRecipes
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

# No deadline, since a function is compiled when it is first called.
settings.register_profile("tests", max_examples=30, deadline=None)
settings.load_profile("tests")


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    """Processes that compile the same function save it in turn, since they overwrite each other's index of
    it.
    """
    save = IndexDataCacheFile.save

    def save_alone(self: Any, key: Any, data: Any) -> None:
        with open(Path(self._cache_path) / "saving.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            save(self, key, data)

    if hasattr(config, "workerinput"):
        IndexDataCacheFile.save = save_alone


@pytest.fixture(autouse=True)
def fresh_pyro() -> Iterator[None]:
    """Double precision, one thread, a fixed seed, and parameters that belong to their module."""
    default, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.double)
    torch.set_num_threads(1)
    pyro.set_rng_seed(0)
    with pyro.settings.context(module_local_params=True):
        yield
    pyro.clear_param_store()
    torch.set_default_dtype(default)
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def no_progress(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lines of progress on slow machines, where tests look at standard error."""
    if request.module.__name__ != "test_progress":
        monkeypatch.setattr("pyropunct.cli.progress.QUIET", float("inf"))


@pytest.fixture
def single_precision(fresh_pyro: None) -> None:
    """As in a process of a user."""
    torch.set_default_dtype(torch.float)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process to need it makes, and all processes that run tests then use."""
    of_process = factory.getbasetemp()
    folder = (of_process.parent if "PYTEST_XDIST_WORKER" in os.environ else of_process) / f"{name} of all"
    with open(folder.with_suffix(".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            make(half)
            half.rename(folder)
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, not to be changed, with train.conllu and dev.conllu, and a model fitted to them."""
    return made_once(tmp_path_factory, "small", make_small)


def make_small(folder: Path) -> None:
    """Write the files of `small`."""
    for split, size in (("train", 120), ("dev", 30)):
        text = embedded_treebank_path(split).read_text(encoding="utf-8")
        sentences = "\n\n".join(text.split("\n\n")[:size])
        (folder / f"{split}.conllu").write_text(sentences + "\n\n", encoding="utf-8")
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    options = ("--direction", "right", "--epochs", 3, "--threads", 1)
    printed("fit", train, "--dev", dev, "--out", folder / "model", *options)


@pytest.fixture(scope="session")
def train(small: Path) -> list[Sentence]:
    """The sentences of the small train.conllu."""
    return list(read_treebank(small / "train.conllu"))


@pytest.fixture(scope="session")
def dev(small: Path) -> list[Sentence]:
    """The sentences of the small dev.conllu."""
    return list(read_treebank(small / "dev.conllu"))


@pytest.fixture(scope="session")
def model_with_parser(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a parser, neither of them good.  Use it as it is; copy what a test changes."""

    def make(folder: Path) -> None:
        make_model_with_parser(small, folder / "model")

    return made_once(tmp_path_factory, "restore", make) / "model"


@pytest.fixture(scope="module")
def parser(model_with_parser: Path) -> BiaffineParser:
    """The parser of `model_with_parser`."""
    found = Punctuator.load(model_with_parser).parser
    assert isinstance(found, BiaffineParser)
    return found


def make_model_with_parser(small: Path, folder: Path) -> None:
    """Write the model of `model_with_parser`."""
    files = small / "train.conllu", "--dev", small / "dev.conllu"
    value = fitted_with_parser(*files, "--out", folder, "--direction", "right", "--epochs", 1)
    assert set(value["parser"]) == {"words", "uas", "las", "upos"}
    assert value["parsed_trees"]["perplexity"] > 1
    assert set(value["reader"]) == {"words", "f1", "lower_f1", "case", "lower_marks"}
    assert value["tagger"]["reading_perplexity"] > 1


def try_few_shares(patch: pytest.MonkeyPatch) -> None:
    """The shares of networks are tried in fifths, not in twentieths."""
    patch.setattr("pyropunct.train.parser_output.SHARES", tuple(number / 5 for number in range(6)))


def fitted_with_parser(*arguments: object) -> dict[str, Any]:
    """What `fit` answers that trains small networks."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)  # as in a process of a user
    with pytest.MonkeyPatch.context() as patch:
        networks = NetworkRecipes(
            ParserRecipe(epochs=3, least_steps=0, batch_words=200, lstm_size=50),
            ReaderRecipe(epochs=2, least_steps=0, form_size=8, lstm_size=12),
            SlotTaggerRecipe(epochs=2, least_steps=0, batch_words=100, slot_size=20),
        )
        patch.setattr("pyropunct.train.fitting.NetworkRecipes", lambda: networks)
        try_few_shares(patch)
        value = answer("fit", *arguments, "--threads", 1, "--parser", "--folds", 2)
    torch.set_default_dtype(default)
    return value


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an encoder that has learned nothing.  Use it as it is; copy what a test changes."""
    return made_encoder(tmp_path_factory.mktemp("encoder") / "model")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A scheduler of Dask with two workers in this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as local,
        distributed.Client(local, set_as_default=False) as found,
    ):
        yield found
