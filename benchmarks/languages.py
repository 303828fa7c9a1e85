"""Measure a model of many languages on their dev parts, and models of single languages beside it.

    python benchmarks/languages.py multi de=de-dev.conllu fr=fr-dev.conllu ... [--alone FOLDER] [--most 150]
    python benchmarks/languages.py multi --news de=news-de.txt fr=news-fr.txt ...

FOLDER holds models ``de.safetensors`` and so on, fitted with --parser to one language each.  Prints, for each
language, the perplexity given trees, F1 of all marks and of commas from words alone, and the edits that these
need by those of a period behind each sentence and nothing else; then the means of the languages that the
model has learned from, and of the others (*).  With ``--news`` (a document a line): F1 of ends, of commas and
of both, in running text in lower case.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean

import torch
from caution import edits_of_periods
from shipped import running

from pyropunct import Punctuator, Sentence, read_treebank
from pyropunct.files import model_there
from pyropunct.fitted.evaluation import MarkScore, RestorationScores
from pyropunct.restore.deciding import decide
from pyropunct.restore.parses import weighted_trees
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings, Thresholds
from pyropunct.text.raw_sentence import RawSentence

COLUMNS = ("perplexity", "F1", "F1 of ,", "edits")
LINE = 60
"""The words of a line of running text."""

NAMES = ("", "*")
"""What follows the name of a language: nothing if the model has learned from it, a star if not."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("dev", nargs="*")
    parser.add_argument("--news", nargs="+", default=[])
    parser.add_argument("--alone", type=Path)
    parser.add_argument("--most", type=int, default=150)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = Punctuator.load(options.model)
    if options.news:
        print_news(model, options.news)
        return
    print("| language |", " | ".join(COLUMNS), "|")
    print("|---|" + "---|" * len(COLUMNS))
    found: dict[str, list[list[float]]] = {name: [] for name in NAMES}
    for given in options.dev:
        code, _, path = given.partition("=")
        treebank, name = read_treebank(path), NAMES[code not in model.languages]
        found[name].append(measured(model.of(code), treebank.of_language(code)[: options.most]))
        print(row(code, name, found[name][-1]), flush=True)
        if options.alone is not None and model_there(options.alone / code).exists():
            alone = Punctuator.load(options.alone / code)
            print(row(code, ", alone", measured(alone, treebank[: options.most])), flush=True)
    for name, rows in found.items():
        if len(rows) > 1:
            print(row(f"mean of {len(rows)}", name, list(map(mean, zip(*rows, strict=True)))))


def row(code: str, name: str, numbers: Sequence[float]) -> str:
    """A line of the table."""
    return f"| {code}{name} | {' | '.join(f'{number:.3f}' for number in numbers)} |"


def measured(model: Punctuator, sentences: Sequence[Sentence]) -> list[float]:
    """The numbers of a line."""
    perplexity = model.evaluate(sentences).perplexity
    assert perplexity is not None
    return [perplexity, *scores(model, sentences)]


def scores(model: Punctuator, sentences: Sequence[Sentence]) -> Iterator[float]:
    """F1 of all marks and of commas from words alone, and edits by those of periods."""
    parses = weighted_trees(model, [sentence.tree.forms for sentence in sentences])
    restored = RestorationScores()
    decisions = decide(model, parses, decoder="f1", threshold=threshold(model), seed=0)
    for decision, sentence in zip(decisions, sentences, strict=True):
        restored.add(decision.surface, sentence.surface)
    commas = restored.of_marks().get(",")
    yield from (restored.overall().f1 or 0.0, 0.0 if commas is None else commas.f1 or 0.0)
    yield restored.edits / edits_of_periods(sentences)


ENDS, COMMA, NOTHING = "ends", ",", ""


def print_news(model: Punctuator, files: Sequence[str]) -> None:
    """The table of running text."""
    print("| language | F1 of ends | F1 of , | both |\n|---|---|---|---|")
    rows = []
    for code, _, path in (given.partition("=") for given in files):
        of_language = model.of(code)
        documents = running(of_language, Path(path))
        gold = [
            (word, ENDS if end else COMMA if COMMA in marks else NOTHING)
            for document in documents
            for word, end, marks in zip(*document, strict=True)
        ]
        found = dict(restored(of_language, [word.lower() for word, _ in gold]))
        pairs = [(right, found.get(place, NOTHING)) for place, right in placed(gold)]
        rows.append([100 * f1(pairs, kinds) for kinds in ((ENDS,), (COMMA,), (ENDS, COMMA))])
        print(f"| {code} | {' | '.join(f'{number:.1f}' for number in rows[-1])} |", flush=True)
    means = map(mean, zip(*rows, strict=True))
    print(f"| mean of {len(rows)} | {' | '.join(f'{number:.1f}' for number in means)} |")


def placed(words: Iterable[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    """For each word with letters or digits, how many are read with it, and what stands behind it."""
    place = 0
    for word, behind in words:
        letters = sum(map(str.isalnum, word))
        place += letters
        if letters:
            yield place, behind


def restored(model: Punctuator, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The marks that are restored behind the words of running text, in the form of `placed`."""
    restorer = Restorer(model, RestoreSettings(running=True, case="keep", samples=200))
    lines = [" ".join(words[place : place + LINE]) for place in range(0, len(words), LINE)]
    sentences = list(restorer.sentences(map(model.raw_reader.read, lines)))
    behind = list[tuple[str, str]]()
    for one in restorer.restore(sentences):
        assert isinstance(one.source, RawSentence)
        inner = [COMMA if COMMA in slot else NOTHING for slot in one.surface[1:-1]]
        behind += zip(one.source.words, [*inner, ENDS], strict=True)
    return placed(behind)


def f1(pairs: Sequence[tuple[str, str]], kinds: Sequence[str]) -> float:
    """F1 of some kinds of what stands behind words, right and found."""
    gold, restored = (sum(pair[side] in kinds for pair in pairs) for side in (0, 1))
    return MarkScore(gold, restored, sum(a == b and a in kinds for a, b in pairs)).f1 or 0.0


def threshold(model: Punctuator) -> Thresholds:
    """What `pyropunct restore` uses in the language of the model."""
    return RestoreSettings().in_language(model.conventions.caution, None).threshold


if __name__ == "__main__":
    main()
