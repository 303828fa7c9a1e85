"""Run the experiments behind the tables of the documentation, and write these tables into the pages.

    python benchmarks/reproduce.py FOLDER [NAME...] [--again] [--pages] [--test FOLDER]

FOLDER holds treebanks, for some tables also texts, learners' corrections or words with marks.  Each takes
at most 25 minutes of processor time; where the whole would take longer, a part is cut, and named.  The tables
that it prints are kept as records in ``docs/data``, with its commands, the commit, the date, the versions,
and checksums of the settings, models and data that it depends on.  A record is written by a run alone, which
needs committed programs, and has a checksum of its own, so that it cannot be edited unnoticed.  An experiment
is skipped if all that it depends on is the same, and no file that it imports has changed since the commit;
``--again`` runs it all the same.  ``--pages`` only writes the kept tables into the pages, between
``<!-- table NAME -->`` and ``<!-- end -->``; between several names, it writes the rows of all.  Below a table
stand the date and the commit.  It prints how old each table is: the number of commits that have changed files
that its experiment imports.

``--test`` measures on held-out files, such as ``de-test.conllu`` where an experiment has ``de-dev``.  Dev
parts then choose epochs only.  Its tables are kept in ``docs/data/test``, and stand before those of dev.
It needs the package as README.md installs it, with the extra ``test``.
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
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments import EXPERIMENTS, TREEBANKS, Experiment
from sources import changes, git, sources

from pyropunct.files import digest_of, json_text, written_whole
from pyropunct.fitted.recipes import PLAIN, RECIPES, Recipe
from pyropunct.papers.li_2019.restorers import Conditions
from pyropunct.shipped import place_of

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data"
PLACE = re.compile(r"\{(.*?)\}")
TIMES = ("sentences/s", "training s", "training seconds", "words/s")
"""The columns that differ from run to run."""

VERSIONS = ("pyropunct", "torch", "pyro-ppl", "numpy")
"""The packages whose versions a record names."""

LONGEST = 25
"""The most minutes of processor time that an experiment takes."""


SETTINGS: Mapping[str, Any] = {
    **RECIPES,
    "restoring": Conditions(),
    "plain": Recipe(**PLAIN),
}
"""The settings that tables depend on; those of restoring have the recipes of taggers and parsers, and plain
ones ask nothing of underlying trees."""


SCORING = ("reattachment.py", "underlying.py", "languages.py")
"""The programs that learn nothing from the dev parts they read."""

TESTING = ("treebanks.py", "restoration.py")
"""The programs that have the option ``--test``."""

KINDS = ("txt", "tsv", "jsonl", "mrg", "conllu")
"""How the names of data end: texts, words with marks, corrected sentences, and treebanks."""

SUFFIXES = ("", "_small")
"""How the names of test files may end."""


def test_of(place: str, tests: Path) -> str | None:
    """The name of the test file that belongs to a dev file, if the folder or one below it has such a file."""
    name = place.rpartition("/")[2].removesuffix("_small").replace("-dev", "-test")
    found = (one for suffix in SUFFIXES for one in sorted(tests.rglob(f"{name}{suffix}.conllu")))
    return next((one.stem for one in found), None)


def on_test(command: str, tests: Path) -> str | None:
    """A command that measures on held-out files, by their names; None if it has none, or cannot."""
    program, *words = shlex.split(command)
    if program.endswith(TESTING) and "--counts" not in words:
        return f"{command} --test {{test}}"
    found = dict[str, str | None]()
    for place in PLACE.findall(command):
        found[place] = test_of(place, tests) if "-dev" in place else place
    if not program.endswith(SCORING) or not any(found[place] for place in found if "-dev" in place):
        return None
    kept = [word for word in words if all(found[place] for place in PLACE.findall(word))]
    return " ".join([program, *(PLACE.sub(lambda place: f"{{{found[place[1]]}}}", word) for word in kept)])


def refuse_known(tests: Path, folder: Path) -> None:
    """Refuse test files that are copies of dev or training files under another name."""
    known = {digest_of(Path(file)): name for name, file in files_of(folder).items()}
    for file in map(Path, files_of(tests).values()):
        if digest_of(file) in known:
            sys.exit(f"{file.name}: is the file {known[digest_of(file)]}, so that it is no test file")


def fingerprint(experiment: Experiment) -> str:
    """A checksum of the settings and models on which an experiment depends."""
    digest = hashlib.sha256()
    for name in experiment.depends:
        recipe = SETTINGS.get(name)
        digest.update(place_of(name).read_bytes() if recipe is None else json_text(recipe.to_json()).encode())
    return digest.hexdigest()[:16]


def kept(name: str, on: str = "") -> dict[str, Any]:
    """What an experiment has printed, and when, on "test" or on dev parts; empty if it was never run."""
    place = DATA / on / f"{name}.json"
    return json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}


def digest_of_record(record: Mapping[str, Any]) -> str:
    """A checksum of a record, without that which it has."""
    rest = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:16]


def uncommitted() -> str:
    """Files that differ from the last commit, but for pages and records, which runs write."""
    return git("status", "--porcelain", "--", ".", ":!docs/*.md", ":!docs/data", ":!README.md") or ""


def has_present_settings(name: str) -> bool:
    """Whether the kept table was made with the present commands, recipes and models."""
    experiment, found = EXPERIMENTS[name], kept(name)
    return (
        bool(found)
        and found["commands"] == commands_of(experiment)
        and found["fingerprint"] == fingerprint(experiment)
    )


def is_present(name: str, folder: Path) -> bool:
    """Whether also the data are the same, and the sources."""
    return (
        has_present_settings(name)
        and kept(name).get("data") == checksums(EXPERIMENTS[name], files_of(folder))
        and age(name) == 0
    )


def age(name: str) -> int | None:
    """The number of changes of files that an experiment imports since its table was made; None if unknown."""
    return changes(kept(name)["commit"], set().union(*map(sources, EXPERIMENTS[name].commands)))


def files_of(folder: Path) -> dict[str, str]:
    """The data of the folder, by their names and by those of their folders too."""
    found = [file for kind in KINDS for file in sorted(folder.rglob(f"*.{kind}"))]
    files = {f"{file.parent.name}/{file.stem}": str(file) for file in found}
    return files | {file.stem: str(file) for file in found}


def checksums(experiment: Experiment, files: Mapping[str, str]) -> dict[str, str]:
    """The checksums of the treebanks that the commands name, those of all languages for a whole folder."""
    names = {name for command in experiment.commands for name in PLACE.findall(command)}
    if "" in names:
        names |= {name.replace("PART", part) for name in TREEBANKS for part in ("train", "dev")}
    if "test" in names:
        names |= {name for name in files if name.partition("-test")[1]}
    there = sorted(name for name in names if name in files and Path(files[name]).is_file())
    return {name: digest_of(Path(files[name]))[:16] for name in there}


def commands_of(experiment: Experiment) -> list[str]:
    """The commands, as a reader types them."""
    return [f"python {command}" for command in experiment.commands]


def pages() -> list[Path]:
    """All pages."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def with_tables(text: str) -> str:
    """A page with the kept tables; those that were never made stay as they are."""

    def table(found: re.Match[str]) -> str:
        tables = [kept(name).get("table", []) for name in found[1].split()]
        rows = [row for place, table in enumerate(tables) for row in (table[2:] if place else table)]
        for name in found[1].split():
            if test := kept(name, "test"):
                rows = [
                    f"On test parts, which chose nothing ({test['date']}):",
                    "",
                    *test["table"],
                    "",
                    *rows,
                ]
        if not all(tables):
            return found[0]
        return "\n".join([f"<!-- table {found[1]} -->", *rows, "", origin(found[1].split()), "<!-- end -->"])

    return re.sub(r"<!-- table ([\w -]+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def origin(names: list[str]) -> str:
    """The line below a table: the dates and commits of its runs, their minutes, and what is left out."""
    runs = list(map(kept, names))
    dates, commits = (sorted({run[key] for run in runs}) for key in ("date", "commit"))
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    minutes = max(1, round(sum(run["minutes"] for run in runs)))
    spent = f"{minutes} minutes" if minutes > 1 else "a minute"
    cut = {run["cut"] for run in runs if run["cut"]}
    left_out = f" Left out: {'; '.join(sorted(cut))}." if cut else ""
    return f"*Run on {days}, commit {', '.join(commits)}; {spent} of a core.{left_out}*"


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("folder", metavar="FOLDER", type=Path)
    made.add_argument("names", metavar="NAME", nargs="*")
    made.add_argument("--again", action="store_true", help="also run experiments whose table is up to date")
    made.add_argument("--pages", action="store_true", help="run nothing")
    made.add_argument("--test", metavar="FOLDER", type=Path, help="measure on the test parts there")
    options = made.parse_args()
    if not options.pages and (changed := uncommitted()):
        made.error(f"commit these changes first, since a record names the commit that was run:\n{changed}")
    if options.test is not None:
        refuse_known(options.test, options.folder)
    if unknown := set(options.names) - set(EXPERIMENTS):
        made.error(
            f"no experiment is called {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}"
        )
    for name in filter(kept, EXPERIMENTS) if options.pages else ():
        print(f"{name}: of {kept(name)['date']}; its code has changed in {age(name)} commits since")
    for name in () if options.pages else options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        if options.test is not None:
            commands = [on_test(command, options.test) for command in experiment.commands]
            experiment = experiment._replace(commands=tuple(filter(None, commands)))
            if experiment.commands:
                run(name, experiment, options.folder, options.test)
            else:
                print(f"{name}: measures nothing on these test files", file=sys.stderr)
        elif options.again or not is_present(name, options.folder):
            run(name, experiment, options.folder)
    for page in pages():
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def run(name: str, experiment: Experiment, folder: Path, tests: Path | None = None) -> None:
    """Run an experiment and keep its table, on the files of ``tests`` or on dev parts."""
    began, table = _processor_minutes(), list[str]()
    with tempfile.TemporaryDirectory() as scratch:
        files = files_of(folder) | {"": str(folder), "scratch": scratch}
        files |= {} if tests is None else files_of(tests) | {"test": str(tests)}
        for command in experiment.commands:
            print(f"{name}: python {command}", file=sys.stderr)
            words = [PLACE.sub(lambda found: files[found[1]], word) for word in shlex.split(command)]
            rows = [line for line in printed(words).splitlines() if line.startswith("|")]
            if command == experiment.commands[-1] and not rows:
                page = next(Path(scratch).rglob("comparison.md")).read_text(encoding="utf-8")
                rows = [line for line in page.split("\n## ")[0].splitlines() if line.startswith("|")]
            table += rows[2:] if table else rows
    if not table[2:]:
        print(f"{name}: measures nothing on these files", file=sys.stderr)
        return
    found = {
        "commands": commands_of(experiment),
        "cut": experiment.cut,
        "depends": experiment.depends,
        "fingerprint": fingerprint(experiment),
        "data": checksums(experiment, files),
        "commit": git("rev-parse", "--short", "HEAD"),
        "versions": {name: metadata.version(name) for name in VERSIONS},
        "date": datetime.now(UTC).date().isoformat(),
        "minutes": round(_processor_minutes() - began, 1),
        "table": without_times(table),
    }
    place = DATA / ("" if tests is None else "test")
    place.mkdir(parents=True, exist_ok=True)
    with written_whole(place / f"{name}.json") as stream:
        record = found | {"digest": digest_of_record(found)}
        stream.write((json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
    print(f"{name}: {found['minutes']} minutes", file=sys.stderr)


def without_times(lines: list[str]) -> list[str]:
    """The lines of a table without its columns of `TIMES`."""
    rows = [line.split("|")[1:-1] for line in lines]
    kept = [place for place, name in enumerate(rows[0]) if name.strip() not in TIMES]
    return [f"|{'|'.join(row[place] for place in kept)}|" for row in rows]


def printed(words: list[str]) -> str:
    """What a program prints."""
    paths = f"{ROOT / 'tutorials'}:{os.environ.get('PYTHONPATH', '')}"  # of the trigram model
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": paths},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout


def _processor_minutes() -> float:
    """Of all programs that have ended; other work on the machine does not count."""
    used = os.times()
    return (used.children_user + used.children_system) / 60


if __name__ == "__main__":
    main()
