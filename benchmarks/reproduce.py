"""Run the experiments behind the tables of the documentation, and write these tables into the pages.

    python benchmarks/reproduce.py FOLDER [NAME...] [--again] [--pages]

FOLDER holds treebanks of Universal Dependencies.  Each experiment takes at most 20 minutes on two cores;
where the whole would take longer, a part is cut, and named.  The tables that it prints are kept in
``docs/data``, with its commands, the commit, the date, and the fingerprint of the recipes and models that it
depends on.  An experiment whose fingerprint is the present one is not run again, but with ``--again``.
``--pages`` only writes the kept tables into the pages, between ``<!-- table NAME -->`` and ``<!-- end -->``.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pyropunct.files import json_text, written_whole
from pyropunct.fitted.recipes import RECIPES
from pyropunct.shipped import place_of

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data"
PLACE = re.compile(r"\{(.*?)\}")
LONGEST = 20
"""The most minutes that an experiment takes."""


class Experiment(NamedTuple):
    """A table of a page, and how it is made.

    :ivar commands: what prints it, in which ``{name}`` is the treebank NAME in the folder; if there are
        several, the rows of the later ones follow.
    :ivar depends: the recipes and models of the package on which the numbers depend.
    :ivar cut: what is left out, as it would take longer than 20 minutes.
    """

    page: str
    commands: tuple[str, ...]
    depends: tuple[str, ...]
    cut: str = ""


TREEBANKS = (
    "ar_padt-ud12-PART_small",
    "hi_hdtb-ud12-PART_small",
    "es_ancora-ud14-PART_small",
    "zh_gsd-ud14-PART",
    "en_ewt-ud14-PART",
)
"""Those of the paper's languages."""


def _permutation(name: str) -> tuple[str, str]:
    """Fit a model, and rephrase its treebank."""
    train, dev = (f"{{{name.replace('PART', part)}}}" for part in ("train", "dev"))
    fit = f"-m pyropunct fit {train} --dev {dev} --economy-weight 0 --out {{scratch}}/model --threads 2"
    return fit, f"benchmarks/rephrasing.py {{scratch}}/model {train} --sentences 1400 --threads 2"


EXPERIMENTS = {
    "heads": Experiment(
        "guide/reattachment.md",
        (
            "benchmarks/reattachment.py multi {es-dev} {fr-dev} {hr-dev} {ru-dev} {de-dev}",
            "benchmarks/reattachment.py en {en_ewt-ud216-dev}",
        ),
        ("multi", "en"),
    ),
    "counts": Experiment("rivals/tables.md", ("benchmarks/treebanks.py {} --counts",), ()),
    "channel": Experiment(
        "rivals/tables.md",
        ("benchmarks/treebanks.py {} --threads 2",),
        ("default",),
    ),
    "worth": Experiment(
        "rivals/tables.md",
        (
            "benchmarks/channel_worth.py {en_ewt-ud14-train} {en_ewt-ud14-dev} --every 6 --threads 2",
            "benchmarks/channel_worth.py {en_ewt-ud14-train} {en_ewt-ud14-dev} --every 6 --threads 2 "
            "--only default --recipe paper",
        ),
        ("default", "paper"),
        "five of six sentences",
    ),
    "underlying": Experiment(
        "experiments/index.md",
        (
            "benchmarks/underlying.py en {en_ewt-ud216-dev}",
            "benchmarks/underlying.py en {en_gum-v11-dev}",
            *(f"benchmarks/underlying.py multi {{{code}-dev}}" for code in ("de", "fr", "es", "ru")),
        ),
        ("en", "multi"),
    ),
    "paper": Experiment(
        "experiments/index.md",
        (
            "benchmarks/channel_worth.py {zh_gsd-ud14-train} {zh_gsd-ud14-dev} --only default --recipe paper "
            "--threads 2",
        ),
        ("paper",),
    ),
    "rules": Experiment(
        "guide/rules.md",
        ("benchmarks/rules_of_english.py {en_ewt-ud14-train} {en_ewt-ud14-dev} --threads 2",),
        ("rules", "default"),
    ),
    "permutation": Experiment(
        "reference/permutation.md",
        tuple(command for name in TREEBANKS for command in _permutation(name)),
        ("default",),
        "Chinese and English sentences behind the first 1,400",
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


def is_present(name: str) -> bool:
    """Whether the kept table was made with the present commands, recipes and models."""
    experiment, found = EXPERIMENTS[name], kept(name)
    return (
        bool(found)
        and found["commands"] == commands_of(experiment)
        and found["fingerprint"] == fingerprint(experiment)
    )


def commands_of(experiment: Experiment) -> list[str]:
    """The commands, as a reader types them."""
    return [f"python {command}" for command in experiment.commands]


def pages() -> list[Path]:
    """All pages."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


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
    made.add_argument("--again", action="store_true", help="run what is up to date again")
    made.add_argument("--pages", action="store_true", help="run nothing")
    options = made.parse_args()
    if unknown := set(options.names) - set(EXPERIMENTS):
        made.error(
            f"no experiment is called {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}"
        )
    for name in () if options.pages else options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        if options.again or not is_present(name):
            run(name, experiment, options.folder)
    for page in pages():
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def run(name: str, experiment: Experiment, folder: Path) -> None:
    """Run an experiment and keep its table."""
    files = {file.stem: file for file in sorted(folder.rglob("*.conllu"))} | {"": folder}
    began, table = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory() as scratch:
        files = {file.stem: str(file) for file in sorted(folder.rglob("*.conllu"))}
        files |= {"": str(folder), "scratch": scratch}
        for command in experiment.commands:
            print(f"{name}: python {command}", file=sys.stderr)
            rows = printed([PLACE.sub(lambda found: files[found[1]], word) for word in shlex.split(command)])
            table += rows[2:] if table else rows
    found = {
        "commands": commands_of(experiment),
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


def printed(words: list[str]) -> list[str]:
    """The rows of tables that a program prints."""
    paths = f"{ROOT / 'tutorials'}:{os.environ.get('PYTHONPATH', '')}"  # of the trigram model
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": paths},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return [line for line in done.stdout.splitlines() if line.startswith("|")]


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, text=True, capture_output=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
