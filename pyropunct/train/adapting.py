"""Adapting a model to text without trees.

In text the tree is latent::

    log p(x | words) = log sum over T of p(T | words) p(x | T)

The parser gives p(T | words) and is not changed.  If the attach model is local to an arc, the sum is over all
trees: see `pyropunct.train.all_trees`.  Otherwise weights for parser output
(`pyropunct.train.parser_output`) are learned from a few trees of each sentence: by Jensen's inequality the
mean of log p(x | T) is a lower bound.  Tagger, reader of running text and capital letters need no trees.

A share of the text is held out.  A new part replaces the old one only if perplexity there is lower and F1 of
all marks is not.  The weight of the tagger in the story is learned again on this share.

Example::

    from pathlib import Path

    import pyropunct

    model = pyropunct.adapt(pyropunct.load("en"), [Path("letters.txt")])
    print(model.report["text"]["after"])
"""

import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pyropunct.errors import MissingPartError
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.fitted.recipes import TextSettings
from pyropunct.models.attach.local import LocalAttach
from pyropunct.nets.adapters import AdaptedEncoder
from pyropunct.nets.parser import BiaffineParser, WeightedTree
from pyropunct.nets.pretrained import without_cache
from pyropunct.nets.reader import reader_scores
from pyropunct.nets.reader_training import ADAPTING, ADAPTING_RATE, train_reader
from pyropunct.nets.running_text import Document
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import decide
from pyropunct.restore.items import Item, chunks
from pyropunct.restore.parses import NO_PARSER, weighted_trees
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.lines import TextPart
from pyropunct.train.checkpoints import PartTrainings, Watching, forget_checkpoints, unwatched
from pyropunct.train.parser_output import (
    fit_parsed,
    fit_tagger,
    perplexity_over_trees,
    with_likeliest_shares,
    with_tagger,
)
from pyropunct.train.texts import Texts, collected, documents_of, parts_of_texts, with_parses
from pyropunct.treebank.orthography import learn_capitals
from pyropunct.treebank.sentence import Sentence

REPLACED = ("parsed", "tagger", "reader")
"""The parts of a model that learn from text."""

DRAWS = 200
"""Draws of each sentence in the scores of a model on held-out text."""

SHOWN = 10
"""Marks that are rarer in held-out text have no score of their own."""


class LearnedText:
    """Texts as training examples, parsed by the model's parser, and held-out sentences, with best trees.

    Raises the errors of `pyropunct.train.texts.parts_of_texts` too.

    :raises InputError: as `pyropunct.train.texts.collected` does.
    :raises MissingPartError: if there is no parser of the package's kind.
    """

    def __init__(
        self,
        model: Punctuator,
        texts: Iterable[TextPart | Path | str],
        settings: TextSettings | None = None,
        watching: Watching = unwatched,
    ) -> None:
        if not isinstance(model.parser, BiaffineParser):
            raise MissingPartError(NO_PARSER)
        settings = TextSettings() if settings is None else settings
        with watching("texts") as advance:
            read = _read(model, texts, settings.running)
            self.texts: Texts = collected(read, model.known_words, settings.most, advance)
        self._trees = settings.trees
        with watching("trees") as advance:
            parsed = with_parses(self.texts.train, model.parser, settings.trees, advance)
        self.examples = [sentence for trees in parsed for sentence in trees]
        self.dev = [best for [best] in with_parses(self.texts.dev, model.parser, 1)]

    @property
    def once(self) -> list[Sentence]:
        """The training sentences, each with its best tree only."""
        return self.examples[:: self._trees]

    @property
    def cased(self) -> list[Sentence]:
        """Training sentences whose capital letters are the text's own."""
        found = (sentence for block in self.texts.train for sentence in block)
        return [one for one, source in zip(self.once, found, strict=True) if source.cased]

    @property
    def documents(self) -> list[Document]:
        """Running text to train on."""
        return documents_of(self.texts.train)

    @property
    def held_out_documents(self) -> list[Document]:
        """Running text that is held out."""
        return documents_of(self.texts.dev)

    def with_capitals(self, model: Punctuator) -> Punctuator:
        """The model, with the capital letters of the text learned."""
        capitals = model.conventions.capitals + learn_capitals(self.cased)
        return replace(model, conventions=replace(model.conventions, capitals=capitals))


def _read(
    model: Punctuator, texts: Iterable[TextPart | Path | str], running: bool
) -> Iterator[Iterable[Item]]:
    """The sentences of each text, as restoration reads them; lower-cased ones get capital letters."""
    restorer = Restorer(model, RestoreSettings(running=running))
    for part in parts_of_texts(texts):
        stream = restorer.read(part, tolerant=True)
        yield chain.from_iterable(map(restorer.in_their_cases, chunks(stream, stream)))


def adapt(
    model: Punctuator,
    texts: Iterable[TextPart | Path | str],
    treebank: Iterable[Sentence] = (),
    settings: TextSettings | None = None,
    *,
    seed: int = 0,
    device: str = "cpu",
    checkpoint: Path | None = None,
    resume: bool = False,
    watching: Watching = unwatched,
) -> Punctuator:
    """Adapt a model to how text is punctuated.

    The parser stays, and so does everything about given trees: rules, underlying trees, restoration.  The
    report's ``text`` counts sentences (``read``, ``train``, ``dev``, ``left_out``), has the scores ``before``
    and ``after`` on dev, see `HeldOut.scores`, and lists the ``new`` parts.  Raises the other errors of
    `pyropunct.fit` too.

    :param model: a loaded model, such as ``pyropunct.load("en")``.
    :param texts: a list of texts (strings: one sentence a line, paragraphs, or running text) and of files,
        folders or patterns (`Path`, raw text or CoNLL-U).
    :param checkpoint: save the state of each training after every epoch, in files named after this path.
    :param resume: continue from these files; otherwise they are deleted.
    :raises InputError: if there are too few sentences, they have no punctuation, or they are in another
        language than the model.
    :raises MissingPartError: if the model has no parser of the package's kind.
    :raises TypeError: if the model is not loaded, the texts are not a list, or one of them is neither a text
        nor a `Path`, or is a file's name.
    :raises InputError: if a file is missing or cannot be read.
    """
    if not isinstance(model, Punctuator):
        raise TypeError(
            f'adapt takes a loaded model, such as pyropunct.load("en"), not {reprlib.repr(model)}'
        )
    settings, treebank = TextSettings() if settings is None else settings, tuple(treebank)
    parts = PartTrainings(seed, checkpoint, watching)
    reading = _reading(model)
    if not resume:
        forget_checkpoints(checkpoint, REPLACED)
    text = LearnedText(model, texts, settings, watching)
    held_out = HeldOut(model, text)
    with parts.part("parsed") as watched:
        # where trees are summed out, no single tree has to be chosen
        is_local = isinstance(model.story.attach, LocalAttach)
        examples, latent = (treebank, text.once) if is_local else ([*treebank, *text.examples], ())
        new = fit_parsed(
            model,
            (),
            (),
            text.dev,
            held_out.parses,
            text=examples,
            latent=latent,
            epochs=settings.epochs,
            device=device,
            **watched,
        )
    if model.tagger is not None:
        new = with_tagger(new, model.tagger, text.dev, held_out.parses, seed=seed)
    result = held_out.better(new, model)
    with parts.part("tagger") as watched:
        new = fit_tagger(result, treebank, text.dev, text=text.once, **watched)
    result = held_out.better(new, result)
    with parts.part("reader") as watched:
        held_out_texts = text.held_out_documents
        reader = train_reader(treebank, texts=text.documents, dev_texts=held_out_texts, **reading, **watched)
    reader = replace(reader, beside=model.reader_beside)
    result = held_out.better_reader(replace(result, reader=reader), result)
    if result.tagger is not None:
        result = with_likeliest_shares(result, text.dev, held_out.parses, seed=seed)
    result = text.with_capitals(result)
    report = {
        **text.texts.report(),
        "treebank": len(treebank),
        "before": held_out.scores(model),
        "after": held_out.scores(result),
        "new": [name for name in REPLACED if getattr(result, name) is not getattr(model, name)],
    }
    return replace(result, report={**model.report, "text": report})


def _reading(model: Punctuator) -> dict[str, Any]:
    """How the reader is trained: further, if the model has one."""
    if model.reader is None:
        return {}
    # The first epochs help most.  A reader of much text was trained in larger steps than a small text allows.
    further = {
        name: getattr(ADAPTING, name) for name in ("epochs", "least_steps", "learning_rate", "averaging")
    }
    recipe = replace(model.reader.recipe, **further, batch_words=min(model.reader.recipe.batch_words, 1000))
    options: dict[str, Any] = {
        "recipe": recipe,
        "first": model.reader,
        "pretrained": model.reader.pretrained,
    }
    if isinstance(without_cache(model.reader.pretrained), AdaptedEncoder):
        options["encoder_rate"] = ADAPTING_RATE
    return options


class HeldOut:
    """Compares models on held-out text, over the trees of the given model's parser."""

    def __init__(self, model: Punctuator, text: LearnedText) -> None:
        self._sentences, self._documents = text.dev, text.held_out_documents
        self.parses: list[list[WeightedTree]] = weighted_trees(
            model, [sentence.tree.forms for sentence in self._sentences]
        )
        self._least = self.f1(model)

    def perplexity(self, model: Punctuator) -> float:
        """Perplexity per slot, averaged over the trees, tagger included."""
        return perplexity_over_trees(model, self._sentences, self.parses)

    def better(self, new: Punctuator, old: Punctuator) -> Punctuator:
        """The new model if its perplexity is lower, and its F1 not below the given model's; else the old."""
        better = self.perplexity(new) < self.perplexity(old)
        return new if better and self.f1(new) >= self._least else old

    def f1(self, model: Punctuator) -> float:
        """F1 of all marks, by the decoder for F1."""
        return self._restored(model, "f1").overall().f1 or 0.0

    def better_reader(self, new: Punctuator, old: Punctuator) -> Punctuator:
        """The model with the better reader of running text, unless the reader's own marks are worse."""
        if new.reader is None or old.reader is None:
            return new if old.reader is None else old
        found, before = (reader_scores(one, self._documents) for one in (new.reader, old.reader))
        return new if found.merit > before.merit and found.lower_marks >= before.lower_marks else old

    def scores(self, model: Punctuator) -> dict[str, Any]:
        """Scores of a model on the held-out text, as sentences and as running text.

        :returns: ``perplexity`` per slot; ``aed``, edits per slot; ``f1`` of all marks, and of each in
            ``marks``; and F1 of sentence ends in percent, ``ends`` as written and ``lower_ends`` in lower
            case, None without a reader.
        """
        by_edits, by_marks = (self._restored(model, decoder) for decoder in ("mbr", "f1"))
        read = None if model.reader is None else reader_scores(model.reader, self._documents)
        return {
            "perplexity": self.perplexity(model),
            "aed": by_edits.average_edit_distance,
            "f1": by_marks.overall().f1,
            "marks": {mark: score.f1 for mark, score in by_marks.of_marks().items() if score.gold >= SHOWN},
            "ends": None if read is None else read.f1,
            "lower_ends": None if read is None else read.lower_f1,
        }

    def _restored(self, model: Punctuator, decoder: str) -> RestorationScores:
        scores = RestorationScores()
        decisions = decide(model, self.parses, decoder=decoder, samples=DRAWS, seed=0)
        for sentence, decision in zip(self._sentences, decisions, strict=True):
            scores.add(decision.surface, sentence.surface)
        return scores
