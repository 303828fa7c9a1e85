"""How much sooner a command is done by two processes than by one.

    python benchmarks/processes.py -- pyropunct corpus evaluate MODEL IN {out} --processes {processes}

Runs the command with one and two processes, and again in the opposite order.  Prints wall-clock seconds,
processor time of all processes, and the share of their time that was *stolen* from a virtual machine (Linux).
"""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

TURNS = (1, 2, 2, 1)
STOLEN = 7
"""The column of stolen time in the first line of /proc/stat, without its name."""


class Cost(NamedTuple):
    """What a command took: seconds on the clock, of processors, and the share that was stolen."""

    clock: float
    processor: float
    stolen: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs="+", help="with {processes} and {out} in it")
    command = parser.parse_args().command
    table = Table("processes", "clock, s", "processor, s", "stolen, %")
    for processes in TURNS:
        cost = measured(command, processes)
        shown = f"{cost.clock:.1f}", f"{cost.processor:.1f}", f"{100 * cost.stolen:.0f}"
        table.add_row(str(processes), *shown)
    Console().print(table)


def measured(command: list[str], processes: int) -> Cost:
    """The cost of a command with so many processes; its output is deleted. A failure raises an error."""
    with tempfile.TemporaryDirectory() as folder:
        filled = [part.format(processes=processes, out=Path(folder) / "out") for part in command]
        before, start, cores = processor_seconds(), perf_counter(), core_times()
        subprocess.run(filled, check=True, capture_output=True)
        clock = perf_counter() - start
        passed = [new - old for new, old in zip(core_times(), cores, strict=True)]
        working = sum(passed) - passed[3] - passed[4]  # neither idle nor waiting for a disk
        return Cost(clock, processor_seconds() - before, passed[STOLEN] / working)


def processor_seconds() -> float:
    """Of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def core_times() -> list[int]:
    """What all cores have done since the machine was started, in ticks: see proc(5)."""
    return [int(count) for count in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]


if __name__ == "__main__":
    main()
