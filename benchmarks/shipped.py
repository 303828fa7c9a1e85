"""Train the English models that come with the package, and print a table in docs/reference/models.md.

    python benchmarks/shipped.py en_ewt-ud-train.conllu en_ewt-ud-dev.conllu --encoder FOLDER
                                 --text masc-written.txt [--more speeches.txt --more textbook.txt ...]
                                 [--talk podcasts-train.txt --talk-dev podcasts-dev.txt]
                                 [--out FILE] [--work shipped.unfinished] [--folds 4] [--seed 0]
                                 [--device cuda] [--measure] [--story] [--reader]

The files are those of UD_English-EWT 2.16 (https://github.com/UniversalDependencies/UD_English-EWT) and the
written part of MASC (https://anc.org/data/masc), a sentence a line, whose trees the parser finds: weights for
parsed trees learn from both.  The tagger and the reader learn from ``--more`` texts too.  The reader also
learns from ``--talk``: a speaker's turn or a paragraph a line (https://github.com/thechangelog/transcripts).
It is tuned together with the first layers of the encoder in FOLDER (see `tuned_reader.py`), which the model
keeps.  One core takes an hour for ten million words.  The folder ``--work`` keeps what is trained: after an
interruption, the same command continues.  Delete the folder at the end.  ``--measure`` trains nothing and
measures the model that is there.  ``--story`` trains the story for given trees alone, and ``--reader`` the
reader alone; both keep all other parts.  ``--folds 0`` trains on the trees of the treebank alone.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from texts import alone, running
from tuned_reader import tuned_reader

from pyropunct import Punctuator, Sentence, fit, read_treebank
from pyropunct.files import digest_of, model_path, model_there
from pyropunct.fitted.evaluation import Evaluation, RestorationScores
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.fitted.recipes import TextSettings
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.jackknife import fold_recipe, jackknifed
from pyropunct.nets.parser import BiaffineParser, WeightedTree, attachment_scores, train_parser
from pyropunct.nets.reader import RunningReader, reader_scores
from pyropunct.nets.running_text import documents
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.restore.deciding import decide
from pyropunct.restore.parses import weighted_trees
from pyropunct.shipped import FOLDER
from pyropunct.tasks import SimulationSettings
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel, load_corrector
from pyropunct.text.marks import Surface
from pyropunct.train.adapting import LearnedText
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.parser_output import fit_parsed, fit_tagger

MARKS = ",.?!"
"""The marks whose F1 is told, besides that of all."""

SHARE, READER_SHARE = 0.5, 1.0
"""The shares of networks, and of the reader among them: nearly the greatest F1 on EWT dev and GUM dev."""

OF_TALK, DEV_DOCUMENTS = 3, 20
"""One in so many pieces of talk is read, and so many documents of other talk choose the reader's epoch."""

TAGGER, SENTENCES_OF_TEXT = SlotTaggerRecipe(epochs=5), 40_000
"""How the tagger is trained, and the most sentences of text that it learns from."""

Parses = Sequence[Sequence[WeightedTree]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--text")
    parser.add_argument("--more", action="append", default=[])
    parser.add_argument("--talk", action="append", default=[])
    parser.add_argument("--talk-dev")
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=FOLDER / "en.safetensors")
    parser.add_argument("--work", type=Path, default=Path("shipped.unfinished"))
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--story", action="store_true")
    parser.add_argument("--reader", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dev = list(read_treebank(options.dev))
    train = [] if options.measure else list(read_treebank(options.train))
    if options.story or options.reader:
        write_with_new_part(options, train, dev)
    elif not options.measure:
        options.work.mkdir(parents=True, exist_ok=True)
        model = trained(options, train, dev)
        model.save(options.out, small=True)
        texts = [Path(file).read_text("utf-8") for file in [options.text, *options.more] if file]
        model = Punctuator.load(options.out)
        model = tagged(model, train, dev, texts, options.work / "tagger", TAGGER, options.seed)
        model = replace(model, share=SHARE, reader_share=READER_SHARE)
        pairs = simulated_pairs(
            train, copies=SimulationSettings.copies, seed=options.seed, parser=model.parser
        )
        channel = fit_channel(pairs, model.vocabulary.tokens)
        NoisyChannel(model, channel).save(options.out, small=True)
    for name, number in numbers(options.out, dev).items():
        print(f"| {name} | {number} |")


def trained(options: argparse.Namespace, train: Sequence[Sentence], dev: Sequence[Sentence]) -> Punctuator:
    """The model before it is made small; only one direction, as both are equally good on English dev."""
    work, folds, seed = options.work, options.folds, options.seed
    model = fit(train, dev, direction="left", seed=seed, checkpoint=work / "model", resume=True)
    model = replace(model, parser=_parser(train, dev, work, seed))
    model = replace(model, reader=_reader(options, model, train, dev))
    if not folds:
        return model
    sentences = []
    if options.text is not None:
        text = Path(options.text).read_text("utf-8")
        sentences = LearnedText(model, [text], TextSettings(trees=1)).examples
    parses = jackknifed(
        train,
        fold_recipe(ParserRecipe()),
        folds=folds,
        seed=seed,
        checkpoints=lambda fold: Checkpoint(work / f"fold-{fold + 1}"),
    )
    kept = Checkpoint(work / "parsed")
    return fit_parsed(model, train, parses, dev, text=sentences, seed=seed, checkpoint=kept)


def tagged(
    model: Punctuator,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    texts: Sequence[str],
    checkpoint: Path,
    recipe: SlotTaggerRecipe,
    seed: int,
) -> Punctuator:
    """A model with a tagger, which reads the states of the parser, as they are in the package.

    The story learns to read it on dev and other held-out text, so as not to trust it too much elsewhere.
    """
    if not texts:
        return fit_tagger(model, train, dev, recipe, seed=seed, checkpoint=Checkpoint(checkpoint))
    text = LearnedText(model, texts, TextSettings(trees=1, most=SENTENCES_OF_TEXT))
    both = [*dev, *text.dev]
    more = [*train, *text.once]
    return fit_tagger(model, train, both, recipe, text=more, seed=seed, checkpoint=Checkpoint(checkpoint))


def write_with_new_part(
    options: argparse.Namespace, train: Sequence[Sentence], dev: Sequence[Sentence]
) -> None:
    """Write the model with a new story or a new reader."""
    corrector = load_corrector(options.out)
    assert isinstance(corrector, NoisyChannel)
    model = corrector.model
    if options.story:
        model = with_story(model, fit(train, dev, direction="left", seed=options.seed))
    else:
        options.work.mkdir(parents=True, exist_ok=True)
        model = replace(model, reader=_reader(options, model, train, dev))
    replace(corrector, model=model).save(options.out, small=True)


def with_story(model: Punctuator, story: Punctuator) -> Punctuator:
    """A model with the story for given trees of another one, which was fitted to the same treebank."""
    before, after = (
        replace(one.vocabulary.without_clauses(), pairs=(), functions=()) for one in (model, story)
    )
    assert before == after, "another treebank has other types"
    names = ("vocabulary", "recipe", "story", "report", "slot_strings")
    return replace(model, **{name: getattr(story, name) for name in names})


def _parser(train: Iterable[Sentence], dev: Iterable[Sentence], work: Path, seed: int) -> BiaffineParser:
    path = work / "parser"
    if not model_path(path).exists():
        kept = Checkpoint(work / "parser.unfinished")
        write_model_file(path, *train_parser(train, dev, seed=seed, checkpoint=kept).to_parts())
    return BiaffineParser.from_parts(*read_model_file(path))


def _reader(
    options: argparse.Namespace, model: Punctuator, train: Sequence[Sentence], dev: Sequence[Sentence]
) -> RunningReader:
    """The reader with its own encoder, from text in the conventions of the model."""
    written = [
        document for file in [options.text, *options.more] if file for document in running(model, Path(file))
    ]
    single = [part for document in written for part in alone(document)][::3]
    talk = [document for file in options.talk for document in running(model, Path(file), OF_TALK)]
    talk_dev = running(model, Path(options.talk_dev)) if options.talk_dev else []
    texts, checkpoint = [*written, *single, *talk], Checkpoint(options.work / "reader")
    return tuned_reader(
        options.encoder, train, dev, texts, talk_dev[:DEV_DOCUMENTS], options.seed, options.device, checkpoint
    )


def numbers(path: Path, dev: Sequence[Sentence]) -> dict[str, str]:
    """How good a model with a parser is, and which one that is."""
    model = Punctuator.load(path)
    assert model.reader is not None
    running = reader_scores(model.reader, documents(dev))
    words = [sentence.tree.forms for sentence in dev]
    gold: Parses = [[WeightedTree(sentence.tree, 1.0, given=True)] for sentence in dev]
    parsed = weighted_trees(model, words)
    best = [trees[0].tree for trees in weighted_trees(model, words, 1)]
    scores = attachment_scores(best, [sentence.tree for sentence in dev])
    slots = sum(len(sentence.surface) for sentence in dev)
    over_trees = Evaluation(len(dev), slots, float(model.log_prob_over_trees(dev, parsed).sum()))
    given, found = _restored(model, gold, dev), _restored(model, parsed, dev)
    digest = digest_of(model_there(path))
    return {
        "perplexity, given trees": f"{model.evaluate(dev).perplexity:.4f}",
        "perplexity, words alone": f"{over_trees.perplexity:.4f}",
        "AED, given trees": f"{given.average_edit_distance:.4f}",
        "AED, words alone": f"{found.average_edit_distance:.4f}",
        "F1 of all marks, words alone": f"{found.overall().f1:.4f}",
        **{f"F1 of `{mark}`, words alone": f"{found.of_marks()[mark].f1:.4f}" for mark in MARKS},
        "UAS, LAS, tags of the parser": f"{scores.uas:.2f}, {scores.las:.2f}, {scores.upos:.2f}",
        "F1 of sentence ends; in lower case": f"{running.f1:.2f}; {running.lower_f1:.2f}",
        "case of lower-cased words": f"{running.case:.2f} %",
        "sentences, slots of dev": f"{len(dev):,}, {slots:,}",
        "checksum of the model": f"`{digest[:16]}`",
    }


def _restored(model: Punctuator, parses: Parses, dev: Sequence[Sentence]) -> RestorationScores:
    """What the default decoder makes of the sentences, seed 0."""
    scores = RestorationScores()
    surfaces: list[Surface] = [decision.surface for decision in decide(model, parses, seed=0)]
    for surface, sentence in zip(surfaces, dev, strict=True):
        scores.add(surface, sentence.surface)
    return scores


if __name__ == "__main__":
    main()
