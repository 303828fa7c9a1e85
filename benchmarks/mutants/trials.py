"""The trials of many mutants, and what became of them."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutation import Mutant, sampled
from trial import NOT_IMPORTED, Runs, exit_status, forks, recorded

from pyropunct.inference.compiling import keep_compiled

ROOT = Path(__file__).parents[2]
COPIED = ("pyropunct", "tests", "docs", "tutorials", "benchmarks", "README.md", "pyproject.toml")


class Trials:
    """A folder of results, and what makes them."""

    def __init__(self, out: Path, settings: dict[str, Any]) -> None:
        self._out, self._settings, self._forks = out, settings, forks()
        self._tree, self._lines, self._results = out / "tree", out / "lines.json", out / "results.jsonl"
        self._source = self._tree / "pyropunct"

    def record(self) -> None:
        """Run the tests once, unless this is done."""
        if not self._tree.exists():
            _copy_sources(self._tree)
        if not self._lines.exists():
            print("recording which lines the tests run", flush=True)
            before, tests, slowest = (self._settings[name] for name in ("before", "tests", "slowest_test"))
            recorded(self._forks, self._tree, before, tests, self._lines, slowest)

    def results(self) -> Iterator[dict[str, Any]]:
        """What is known of each mutant."""
        if self._results.exists():
            yield from map(json.loads, self._results.read_text(encoding="utf-8").splitlines())

    def run(self, mutants: int, minutes: float) -> None:
        """Try mutants until so many have been tried, or the time is up."""
        runs = Runs.read(self._lines)
        known = {(result["path"], tuple(result["first"])): result for result in self.results()}
        counted = sum(result["outcome"] != "not imported" for result in known.values())
        end = time.monotonic() + 60 * minutes
        for mutant in sampled(self._source, self._settings["folders"], self._settings["seed"]):
            if counted >= mutants or time.monotonic() > end:
                return
            if (mutant.place.path, mutant.place.first) in known:
                continue
            result = self._tried(mutant, runs)
            counted += result["outcome"] != "not imported"
            with self._results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{counted:4} {result['outcome']:12} {result['path']}:{mutant.place.first[0]}", flush=True)

    def _tried(self, mutant: Mutant, runs: Runs) -> dict[str, Any]:
        began, path = time.monotonic(), Path("pyropunct", mutant.place.path)
        patterns = [one for one in self._settings["uncompiled"] if Path(mutant.place.path).match(one)]
        tests = [test for one in patterns for test in self._settings["uncompiled"][one]]
        seconds = self._settings["most_tests"]
        if not patterns:
            first, last = mutant.place.first[0], mutant.place.last[0]
            tests = list(runs.tests(str(path), first, last, seconds))
            seconds = sum(runs.seconds[test] for test in tests)
        if not tests:
            return self._result(mutant, "no test", 0, began)
        tree = self._out / "mutant"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self._tree, tree)
        (tree / path).write_text(mutant.source(self._source), encoding="utf-8")
        keep_compiled(tree / "pyropunct" / "inference")
        module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        status = exit_status(
            self._forks, tree, module, tests, not patterns, 3 * seconds + self._settings["grace"]
        )
        outcome = {0: "survived", 5: "no test", NOT_IMPORTED: "not imported"}.get(
            status, "killed" if status >= 0 else "too long"
        )
        return self._result(mutant, outcome, len(tests), began)

    def _result(self, mutant: Mutant, outcome: str, tests: int, began: float) -> dict[str, Any]:
        return {
            **mutant.place._asdict(),
            "operator": mutant.operator,
            "occurrence": mutant.occurrence,
            "difference": mutant.difference(self._source),
            "outcome": outcome,
            "tests": tests,
            "seconds": round(time.monotonic() - began, 1),
        }


def _copy_sources(tree: Path) -> None:
    """Copy the sources as they are when installed, with what numba has compiled of them."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name)  # the models and the inference are links
        else:
            shutil.copy2(ROOT / name, tree / name)


def report(results: list[dict[str, Any]]) -> str:
    """A table of what was caught in each room, and the changes that were not."""
    counted = [result for result in results if result["outcome"] != "not imported"]
    rooms = sorted({str(Path(result["path"]).parent) for result in counted})
    lines = ["| room | mutants | caught | share |", "|---|---|---|---|"]
    for room in [*rooms, "all"]:
        some = [result for result in counted if room in ("all", str(Path(result["path"]).parent))]
        caught = sum(result["outcome"] in ("killed", "too long") for result in some)
        lines.append(f"| `{room}` | {len(some)} | {caught} | {caught / len(some):.1%} |")
    for result in counted:
        if result["outcome"] in ("survived", "no test"):
            lines.append(
                f"\n{result['path']}:{result['first'][0]} {result['outcome']}\n{result['difference']}"
            )
    return "\n".join(lines)
