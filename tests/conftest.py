from collections.abc import Iterator

import pyro
import pytest
import torch


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
