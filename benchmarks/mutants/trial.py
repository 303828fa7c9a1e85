"""Some tests in a process of their own, on a copy of the sources: to record what they run, or on a mutant."""

import importlib
import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

PRELOADED = [
    "torch",
    "pyro",
    "pyro.infer.autoguide",
    "numba",
    "pytest",
    "hypothesis",
    "coverage",
    "click",
    "rich",
]
"""Imported once: each process is forked from one that has them."""

QUIETLY = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
"""Options of pytest."""

NOT_IMPORTED = 90
"""The exit status of a process that cannot import the mutant."""

WAITING = 8
"""On a busy machine a process may take so many times the processor time that it may use."""


def forks() -> Any:
    """The context of `multiprocessing` that makes such processes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def recorded(
    forks: Any, tree: Path, before: Sequence[str], tests: Sequence[str], out: Path, slowest: float
) -> None:
    """Run tests in a tree after those that compile; write which lines each runs and how long it takes."""
    process = forks.Process(target=_record, args=(tree, before, tests, out, slowest))
    process.start()
    process.join()


def exit_status(
    forks: Any, tree: Path, module: str, tests: Sequence[str], compiled: bool, seconds: float
) -> int:
    """What becomes of tests on a mutant: 0 if all pass; negative if they had to be stopped."""
    process = forks.Process(target=_try, args=(tree, module, tests, compiled, seconds))
    process.start()
    process.join(WAITING * seconds)
    if process.exitcode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return int(process.exitcode)


def _enter(tree: Path, compiled: bool, output: str) -> None:
    """Make this process one in which the package is that of the tree."""
    os.setsid()
    with open(output, "w", encoding="utf-8") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ["PYTHONPATH"] = str(tree)
    if not compiled:
        import numba

        numba.config.DISABLE_JIT = True
        os.environ["NUMBA_DISABLE_JIT"] = "1"


def _try(tree: Path, module: str, tests: Sequence[str], compiled: bool, seconds: float) -> None:
    _enter(tree, compiled, f"{tree}.log")
    whole = int(process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
    try:
        importlib.import_module(module)
    except BaseException:
        os._exit(NOT_IMPORTED)
    import pytest

    os._exit(pytest.main(["-x", *QUIETLY, *tests]))


def _record(tree: Path, before: Sequence[str], tests: Sequence[str], out: Path, slowest: float) -> None:
    _enter(tree, True, f"{out}.log")
    import coverage
    import pytest

    pytest.main([*QUIETLY, *before])
    lines = coverage.Coverage(data_file=None, source=[str(tree / "pyropunct")], config_file=False)
    lines.start()
    recorder = _Recorder(lines, slowest)
    pytest.main([*QUIETLY, *tests], plugins=[recorder])
    lines.stop()
    data = lines.get_data()
    where = {
        str(Path(path).relative_to(tree)): {
            line: [test for test in contexts if test in recorder.seconds]
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    out.write_text(json.dumps({"lines": where, "seconds": recorder.seconds}), encoding="utf-8")
    os._exit(0)


class _TooSlowError(Exception):
    pass


class _Recorder:
    """Has each test's lines recorded under its name, and stops those that are too slow."""

    def __init__(self, lines: Any, slowest: float) -> None:
        self._lines, self._slowest = lines, slowest
        self.seconds: dict[str, float] = {}
        signal.signal(signal.SIGPROF, self._stop)

    def _stop(self, *_: object) -> None:
        raise _TooSlowError

    def pytest_runtest_setup(self, item: Any) -> None:
        self._lines.switch_context(item.nodeid)

    def pytest_runtest_call(self, item: Any) -> None:
        self._began = process_time()
        signal.setitimer(signal.ITIMER_PROF, self._slowest)

    def pytest_runtest_teardown(self, item: Any) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = process_time() - self._began


class Runs(NamedTuple):
    """Which tests run each line of each file, and how long each takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, path: Path) -> "Runs":
        """What `recorded` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def tests(self, path: str, first: int, last: int, most: float) -> Iterator[str]:
        """The tests that run some lines, the quickest first; else those that run any of the file, or all."""
        of_file = self.lines.get(path, {})
        found = {test for line in range(first, last + 1) for test in of_file.get(str(line), ())}
        found = found or {test for tests in of_file.values() for test in tests} or set(self.seconds)
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            most -= self.seconds[test]
            if most < 0:
                return
            yield test
