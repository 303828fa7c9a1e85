"""The experiments behind the tables of the documentation, which `reproduce.py` runs."""

from collections.abc import Iterable
from typing import NamedTuple


class Experiment(NamedTuple):
    """A table of a page, and how it is made.

    :ivar commands: what prints it, in which ``{name}`` is the treebank NAME in the folder; if there are
        several, the rows of the later ones follow.  If the last one is `pyropunct compare`, its first
        table is taken from its folder in ``{scratch}``.
    :ivar depends: the settings and the models of the package on which the numbers depend.
    :ivar cut: the part that is left out to stay within 25 minutes.
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


LANGUAGES = "de fr es pt ro nl sv no da fi ru hr tr he id ja zh ko it pl"
"""Languages with a small treebank, those that `multi` has not learned from last."""


NEWS = "da de es fi fr hr hu id it nl no pl pt ro ru sv tr cs lt lv sk sl uk"
"""Languages of running news, with capital letters; `multi` has learned from no trees of the last six."""


def _permutation(name: str) -> tuple[str, str]:
    """Fit a model, and rephrase its treebank."""
    train, dev = (f"{{{name.replace('PART', part)}}}" for part in ("train", "dev"))
    settings = "--economy-weight 0 --set clauses=false --set page_decides=false"
    fit = f"-m pyropunct fit {train} --dev {dev} {settings} --out {{scratch}}/model --threads 2"
    return fit, f"benchmarks/rephrasing.py {{scratch}}/model {train} --sentences 1400 --threads 2"


def _parsers(name: str) -> str:
    """Parsers with marks as properties, greedy ones."""
    return f"-m pyropunct compare parsers {{{name}-train}} {{{name}-dev}} --beams 1 --out {{scratch}}/parsers"


def _joint(name: str) -> str:
    """Marks, ends and trees of three sentences in running words."""
    return (
        f"-m pyropunct compare joint {{{name}-train}} {{{name}-dev}} --sentences 3 --iterations 8 --folds 3 "
        "--samples 200 --model en --threads 1 --out {scratch}/joint"
    )


RELATIVE = " ".join(f"{{{code}-train}}" for code in ["fi", "ru", "pt", "fr", "es", "nl", "da", "sv"])
"""Treebanks of languages that `multi` knows, with relative clauses annotated."""


BY = "--by place,finite --format markdown"
PAGE_ROWS = (
    "^before (acl:relcl, behind its head, finite|acl .no subtype., behind its head, not finite"
    "|advcl, behind its head, .*finite): a comma|^behind advcl, before its head, .*finite: a comma"
    "|^on both sides of acl:relcl, behind its head, finite"
)
"""Commas of relative and other clauses of nouns, and of adverbial clauses by place and finiteness."""


OPENERS = {
    "en-EWT": "en_ewt-ud216",
    "en-GUM": "en_gum-v11",
    **{
        f"{code}-{folder}": f"{folder}/{code}"
        for folder, codes in {
            "small": ("de", "fi", "fr", "it", "ja", "pl", "pt", "ru", "sv", "tr"),
            "open": ("da", "es", "he", "hr", "id", "ko", "nl", "no", "ro", "tr", "zh"),
            "more": ("cs", "fa", "id", "lt", "lv", "ru", "sk", "sl", "sr", "uk"),
        }.items()
        for code in codes
    },
}
"""All treebanks of releases since 2.0, by language and folder."""


def _openers(table: str, names: Iterable[str] = OPENERS) -> Experiment:
    """A table of commas behind openers."""
    files = " ".join(f"{name}={{{OPENERS[name]}-train}},{{{OPENERS[name]}-dev}}" for name in names)
    return Experiment("guide/openers.md", (f"benchmarks/clause_openers.py {table} {files}",), ())


EXPERIMENTS = {
    "openers": _openers("treebanks"),
    "openers-kinds": _openers("kinds"),
    "openers-examples": _openers("examples", ["en-EWT", "fr-small", "pl-small", "uk-more"]),
    "section": Experiment(
        "guide/section.md",
        (
            f"-m pyropunct typology --page {RELATIVE} {BY} --match '{PAGE_ROWS}'",
            f"-m pyropunct typology multi {RELATIVE} {BY} --match "
            "'^(acl:relcl, behind its head, finite|advcl, behind its head, .*finite): commas'",
        ),
        ("multi",),
    ),
    "heads": Experiment(
        "guide/reattachment.md",
        (
            "benchmarks/reattachment.py multi {es-dev}:{es-train} {fr-dev}:{fr-train} "
            "{hr-dev}:{hr-train} {ru-dev}:{ru-train} {de-dev}:{de-train}",
            "benchmarks/reattachment.py en {en_ewt-ud216-dev}:{en_ewt-ud216-train}",
        ),
        ("multi", "en"),
    ),
    "counts": Experiment("reference/results.md", ("benchmarks/treebanks.py {} --counts",), ()),
    "channel": Experiment(
        "reference/results.md",
        ("benchmarks/treebanks.py {} --threads 2",),
        ("plain",),
    ),
    "worth": Experiment(
        "reference/results.md",
        (
            "benchmarks/channel_worth.py {en_ewt-ud14-train} {en_ewt-ud14-dev} --every 6 --threads 2",
            "benchmarks/channel_worth.py {en_ewt-ud14-train} {en_ewt-ud14-dev} --every 6 --threads 2 "
            '--only "the paper\'s recipe" --seeds 1',
        ),
        ("plain", "paper"),
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
            "benchmarks/channel_worth.py {zh_gsd-ud14-train} {zh_gsd-ud14-dev} --direction left "
            '--only "the paper\'s recipe" --seeds 1 --threads 2',
        ),
        ("paper",),
    ),
    "distances": Experiment(
        "reference/related.md",
        ("docs/figures/distances.py en EWT={en_ewt-ud216-dev} GUM={en_gum-v11-dev}",),
        ("en",),
    ),
    "rules": Experiment(
        "guide/rules.md",
        (
            "benchmarks/rules_of_english.py {en_ewt-ud216-train},{en_gum-v11-train} "
            "{en_ewt-ud216-dev},{en_gum-v11-dev} --recipes rules,rules,rules,default --every 2 --threads 2",
        ),
        ("rules", "default"),
        "every second sentence",
    ),
    "permutation": Experiment(
        "guide/rephrasing.md",
        tuple(command for name in TREEBANKS for command in _permutation(name)),
        ("plain",),
        "Chinese and English sentences behind the first 1,400",
    ),
    "parsers-journal": Experiment(
        "rivals/ma-2014.md",
        (
            "-m pyropunct convert {wsj-sample-train} --out {scratch}/train.conllu",
            "-m pyropunct convert {wsj-sample-dev} --out {scratch}/dev.conllu",
            "-m pyropunct compare parsers {scratch}/train.conllu {scratch}/dev.conllu --iterations 10 "
            "--beams 1,8 --out {scratch}/parsers",
        ),
        (),
    ),
    "parsers-ewt": Experiment("rivals/ma-2014.md", (_parsers("en_ewt-ud216"),), ()),
    "parsers-gum": Experiment("rivals/ma-2014.md", (_parsers("en_gum-v11"),), ()),
    "genres": Experiment(
        "rivals/zhang-2013.md",
        (
            f"{_parsers('en_ewt-ud216')} --marks tokens,away",
            "benchmarks/parsed_groups.py {scratch}/parsers {en_ewt-ud216-dev} --by genre",
        ),
        (),
    ),
    "joint-ewt": Experiment("rivals/zhang-2013.md", (_joint("en_ewt-ud216"),), ("en",)),
    "joint-gum": Experiment("rivals/zhang-2013.md", (_joint("en_gum-v11"),), ("en",)),
    "comma-claims": Experiment(
        "rivals/shieber-tao-2003.md", ("benchmarks/commas.py claims {wsj-sample-train} {wsj-sample-dev}",), ()
    ),
    "comma-models": Experiment(
        "rivals/shieber-tao-2003.md",
        (
            "-m pyropunct convert {wsj-sample-train} --out {scratch}/train.conllu",
            "-m pyropunct convert {wsj-sample-dev} --out {scratch}/dev.conllu",
            "-m pyropunct fit {scratch}/train.conllu --dev {scratch}/dev.conllu --out {scratch}/m",
            "benchmarks/commas.py models {wsj-sample-train} {wsj-sample-dev} --story {scratch}/m",
        ),
        ("default",),
    ),
    "comma-constituents": Experiment(
        "rivals/shieber-tao-2003.md",
        ("benchmarks/commas.py constituents {wsj-sample-train} {wsj-sample-dev}",),
        (),
    ),
    "en": Experiment(
        "reference/models.md",
        ("benchmarks/shipped.py {en_ewt-ud216-train} {en_ewt-ud216-dev} --measure",),
        ("en",),
    ),
    "pairs": Experiment(
        "reference/models.md",
        tuple(
            f"benchmarks/pairs.py {model} {{en_gum-v11-dev}} {{en_ewt-ud216-dev}}"
            for model in ("en", "en-encoder")
        ),
        ("en", "en-encoder"),
        "dev sentences behind the first 700",
    ),
    **{
        f"running-{name}": Experiment(
            "reference/models.md",
            (f"benchmarks/running.py {name} {{en_gum-v11-dev}} {{en_ewt-ud216-dev}}",),
            (name,),
        )
        for name in ("en", "en-encoder")
    },
    "speech": Experiment(
        "reference/models.md",
        tuple(f"benchmarks/speech.py {model} {{ted-dev}}" for model in ("en", "en-encoder")),
        ("en", "en-encoder"),
    ),
    "learners": Experiment(
        "guide/correcting.md",
        ("benchmarks/correcting.py {jfleg-dev} en en-encoder",),
        ("en", "en-encoder"),
    ),
    "correctors": Experiment(
        "reference/correction.md",
        (
            "benchmarks/correcting.py {jfleg-dev} en --train {en_ewt-ud216-train} --dev {en_ewt-ud216-dev} "
            "--every 8",
        ),
        ("en",),
        "seven of eight training sentences",
    ),
    "news": Experiment(
        "guide/typology.md",
        ("benchmarks/running_news.py multi " + " ".join(f"{code}={{news-{code}}}" for code in NEWS.split()),),
        ("multi",),
    ),
    "languages": Experiment(
        "guide/typology.md",
        (
            "benchmarks/languages.py multi en={en_ewt-ud216-dev} "
            + " ".join(f"{code}={{{code}-dev}}" for code in LANGUAGES.split())
            + " ar={ar_padt-ud12-dev_small} hi={hi_hdtb-ud12-dev_small} --most 100",
        ),
        ("multi",),
        "dev sentences behind the first 100",
    ),
    **{
        f"restoring-{code}": Experiment(
            "reference/results.md",
            (f"benchmarks/restoration.py {{}} --only {code}",),
            ("restoring",),
            "training sentences beyond 1,500, and two of four folds",
        )
        for code in ("ar", "zh", "en", "hi", "es")
    },
}
"""The experiments by their names."""
