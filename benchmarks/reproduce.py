"""Run the experiments behind the tables of the documentation, and write these tables into the pages.

    python benchmarks/reproduce.py FOLDER [NAME...] [--again] [--pages]

FOLDER holds treebanks of Universal Dependencies.  Each experiment takes at most 20 minutes on two cores;
where the whole would take longer, it says what is cut.  The tables that it prints are kept in ``docs/data``,
with its commands, the commit, the date, and the fingerprint of the recipes and models that it depends on.  An
experiment whose fingerprint is the present one is not run again, but with ``--again``.  ``--pages`` only
writes the kept tables into the pages, between ``<!-- table NAME -->`` and ``<!-- end -->``.
"""

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pyropunct.files import json_text, written_whole
from pyropunct.fitted.recipes import RECIPES
from pyropunct.shipped import place_of

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data"
LONGEST = 20
"""The most minutes that an experiment takes."""


class Experiment(NamedTuple):
    """A table of a page, and how it is made.

    :ivar commands: what prints it, in which ``{name}`` is the treebank NAME in the folder; if there are
        several, the rows of the later ones follow.
    :ivar depends: the recipes and models of the package on which the numbers depend.
    :ivar cut: what is left out to keep the time.
    """

    page: str
    commands: tuple[str, ...]
    depends: tuple[str, ...]
    cut: str = ""


EXPERIMENTS = {
    "heads": Experiment(
        "guide/reattachment.md",
        (
            "benchmarks/reattachment.py multi {es-dev} {fr-dev} {hr-dev} {ru-dev} {de-dev}",
            "benchmarks/reattachment.py en {en_ewt-ud216-dev}",
        ),
        ("multi", "en"),
    ),
    "channel": Experiment(
        "rivals/tables.md",
        ("benchmarks/treebanks.py {} --only ar,zh,hi,es --threads 2",),
        ("default",),
        "English, which takes an hour",
    ),
}
"""The experiments by their names."""


def fingerprint(experiment: Experiment) -> str:
    """A checksum of the recipes and models on which an experiment depends."""
    digest = hashlib.sha256()
    for name in experiment.depends:
        recipe = RECIPES.get(name)
        digest.update(place_of(name).read_bytes() if recipe is None else json_text(recipe.to_json()).encode())
    return digest.hexdigest()[:16]


def kept(name: str) -> dict[str, Any]:
    """What an experiment has printed, and when; empty if it was never run."""
    place = DATA / f"{name}.json"
    return json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}


def with_tables(text: str) -> str:
    """A page with the kept tables; those that were never made stay as they are."""

    def table(found: re.Match[str]) -> str:
        rows = kept(found[1]).get("table")
        return found[0] if rows is None else "\n".join([f"<!-- table {found[1]} -->", *rows, "<!-- end -->"])

    return re.sub(r"<!-- table ([\w-]+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("folder", metavar="FOLDER", type=Path)
    made.add_argument("names", metavar="NAME", nargs="*")
    made.add_argument("--again", action="store_true", help="run what has been run with these recipes too")
    made.add_argument("--pages", action="store_true", help="run nothing")
    options = made.parse_args()
    for name in () if options.pages else options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        if options.again or kept(name).get("fingerprint") != fingerprint(experiment):
            run(name, experiment, options.folder)
    for page in {experiment.page for experiment in EXPERIMENTS.values()}:
        place = ROOT / "docs" / page
        place.write_text(with_tables(place.read_text(encoding="utf-8")), encoding="utf-8")


def run(name: str, experiment: Experiment, folder: Path) -> None:
    """Run an experiment and keep its table."""
    files = {file.stem: file for file in sorted(folder.rglob("*.conllu"))} | {"": folder}
    began, table = time.monotonic(), list[str]()
    for command in experiment.commands:
        words = [
            re.sub(r"\{(.*?)\}", lambda found: str(files[found[1]]), word) for word in shlex.split(command)
        ]
        print(f"{name}: python {command}", file=sys.stderr)
        done = subprocess.run([sys.executable, *words], cwd=ROOT, check=True, text=True, capture_output=True)
        rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
        table += rows[2:] if table else rows
    found = {
        "commands": [f"python {command}" for command in experiment.commands],
        "cut": experiment.cut,
        "depends": experiment.depends,
        "fingerprint": fingerprint(experiment),
        "commit": _git("rev-parse", "--short", "HEAD"),
        "date": datetime.now(UTC).date().isoformat(),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "table": table,
    }
    DATA.mkdir(exist_ok=True)
    with written_whole(DATA / f"{name}.json") as stream:
        stream.write((json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    print(f"{name}: {found['minutes']} minutes", file=sys.stderr)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, text=True, capture_output=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
