"""The fitted model, and everything that can be asked of it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyropunct.draws import Draws, draw_surfaces
from pyropunct.evaluation import Evaluation, EvaluationSums, WholeEvaluation
from pyropunct.inference import products
from pyropunct.inference.inside import best_derivation, expected_cost, log_evidence, opened, posterior_draws
from pyropunct.inference.problem import Problem, choice_rows
from pyropunct.inference.products import EDITS
from pyropunct.inference.pyro.handlers import ImpossibleSurfaceError, expected_uses, tree_problem
from pyropunct.models.drawing import ManyDraws
from pyropunct.models.learned import learned_scales, learned_values
from pyropunct.models.story import Punctuated, Story
from pyropunct.models.symmetry import unmatched_rows
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trees import TreeBatch
from pyropunct.networks.pretrained import Pretrained, PretrainedError, Remembered
from pyropunct.networks.sources import pretrained_from
from pyropunct.networks.trained import TrainedNetwork
from pyropunct.networks.vectors import KIND as VECTORS
from pyropunct.parsing import BiaffineParser, Parser, WeightedTree
from pyropunct.restore.cases import CaseMode
from pyropunct.restore.given import Known, evidence_about
from pyropunct.restore.posterior import Posterior
from pyropunct.restore.raw_words import RawReader
from pyropunct.restore.restoring import (
    SAMPLES,
    TREES,
    Posteriors,
    Restoration,
    decide,
    raw_text,
    tagged,
    weighted_trees,
)
from pyropunct.restore.running import Finding
from pyropunct.running import RunningReader
from pyropunct.shipped import lacking, place_of
from pyropunct.tagging import SlotTagger
from pyropunct.tagging.mixing import log_mixture
from pyropunct.training.model_folder import (
    ModelFolderError,
    NoFolderError,
    read_model_folder,
    write_model_folder,
)
from pyropunct.training.recipes import Recipe
from pyropunct.training.registry import Trusted, UnknownVariantError, require_trusted
from pyropunct.training.saved_parts import (
    SavedStory,
    by_kind,
    network_tensors,
    parsed_story,
    parsed_tensors,
    saved_network,
    saved_story,
    saved_tagger,
    story_tensors,
)
from pyropunct.training.slot_strings import SlotStrings
from pyropunct.treebank.conllu_block import TreebankError
from pyropunct.treebank.conventions import Conventions
from pyropunct.treebank.marks import Surface, display
from pyropunct.treebank.pairs import unpaired
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

BATCH_SIZE = 100
"""Sentences that are processed together."""

REJECTED, LEAST_REDRAWN = 20, 100
"""How often draws that are not balanced are made up for, and the least number of draws each time."""

Puncteme = tuple[str, ...]


class Edit(NamedTuple):
    """A learned edit of two neighbouring tokens.

    :ivar before: the two underlying tokens, as on the page.
    :ivar name: one of `pyropunct.inference.products.EDITS`.
    :ivar after: what they become.
    :ivar probability: the learned probability of this edit of the two tokens.
    :ivar count: the expected number of such edits in some sentences.
    """

    before: tuple[str, str]
    name: str
    after: tuple[str, ...]
    probability: float
    count: float  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


class ImpossibleSentenceError(TreebankError, ImpossibleSurfaceError):
    """A sentence of a treebank whose punctuation the model cannot produce."""


@dataclass(frozen=True)
class Punctuator:
    """A trained model of latent punctuation.

    :ivar vocabulary: the types that it knows.
    :ivar recipe: how it was trained.
    :ivar story: the generative story, a Pyro model, with the learned weights set on it: see
        `pyropunct.models.learned`.
    :ivar report: what happened in training, in plain JSON types.
    :ivar conventions: how the training treebank writes, for printing restored punctuation.
    :ivar parser: the parser of raw words, None if there is none.
    :ivar slot_strings: the strings of the slots of the training treebank, None for a model that older
        versions fitted.
    :ivar reader: the reader of running text, None if there is none.
    :ivar parsed: what was trained on trees that parsers have found, to be used on such: see
        `pyropunct.training.parsed_trees`.  None if there is no such thing.
    :ivar tagger: the tagger of words that is mixed with p(x | T) where a parser has found T, None if there is
        none: see `pyropunct.training.tagged_words`.
    :ivar share: the weight of the tagger in this mixture, from 0 to 1.
    :ivar attach_pretrained: gives the pretrained features of words that the attach model reads, None if it
        reads none.
    """

    vocabulary: Vocabulary
    recipe: Recipe
    story: Story
    report: Mapping[str, Any]
    conventions: Conventions = field(default_factory=Conventions)
    parser: Parser | None = None
    slot_strings: SlotStrings | None = None
    reader: RunningReader | None = None
    parsed: "Punctuator | None" = None
    tagger: SlotTagger | None = None
    share: float = 0.0
    attach_pretrained: Pretrained | None = None

    @property
    def for_parsed(self) -> "Punctuator":
        """The model for trees that a parser has found: `parsed`, else the model itself."""
        return self if self.parsed is None else self.parsed

    @property
    def pretrained(self) -> Pretrained | None:
        """What gives features of words to parser, reader and attach model, None if none of them reads such.

        :raises ValueError: if some of them read others.
        """
        networks = [one for one in (self.parser, self.reader) if isinstance(one, TrainedNetwork)]
        sources = [self.attach_pretrained, *(one.pretrained for one in networks)]
        found = [one for one in sources if one is not None]
        if any(one.identity() != found[0].identity() for one in found):
            raise ValueError("parts of the model were trained with different pretrained features of words")
        return found[0] if found else None

    def encode_trees(self, trees: Sequence[Tree]) -> TreeBatch:
        """A batch of trees as the story reads them; see `pyropunct.vocabulary.Vocabulary.encode_trees`.

        :raises PretrainedError: if the attach model reads pretrained features of words, and what gives them
            cannot be used.
        """
        return self.vocabulary.encode_trees(trees, self.attach_pretrained)

    @property
    def model(self) -> Story:
        """The story, a Pyro model with the learned weights."""
        return self.story

    @property
    def values(self) -> Mapping[str, Tensor]:
        """The learned weights: a value for each site of the story that had a prior in training."""
        return MappingProxyType(learned_values(self.story))

    @property
    def scales(self) -> Mapping[str, Tensor]:
        """The posterior standard deviation of each of `values`; empty unless training had a normal guide."""
        return MappingProxyType(learned_scales(self.story))

    @cached_property
    def raw_reader(self) -> RawReader:
        """Reads lines of raw text as words and marks."""
        return RawReader(self.vocabulary, self.conventions)

    @cached_property
    def _many_draws(self) -> ManyDraws:
        """The story, ready to be told many times."""
        return ManyDraws(self.story)

    def save(self, folder: str | Path, *, small: bool = False) -> None:
        """Write the model to a new folder, whole or not at all.

        The saved model is smaller than the fitted one.  Weights of the log-linear attach model near zero are
        left out and the others are rounded, see `pyropunct.models.attach.pruning`; the probabilities of the
        syntax model are saved in single precision, word vectors as with ``small``.  So a loaded model differs
        slightly from the fitted one, in the sixth digit of the perplexity.  Saving a loaded model again does
        not change it further.  No weights are left out of a model that has `scales`.

        :param small: round much more, see `pyropunct.models.attach.pruning.rounded` and
            `pyropunct.training.small_tensors.rounded_rows`: a zipped folder is a quarter as large, and the
            perplexity differs in the fourth digit.
        :raises ModelFolderError: if the folder exists and is not a model, if it cannot be written, or if the
            parser is not a `BiaffineParser`, or not the one that the tagger reads.
        :raises ValueError: as `pretrained` does.
        """
        pretrained = self.pretrained
        plain = {
            "vocabulary": self.vocabulary.to_json(),
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
            "conventions": self.conventions.to_json(),
        }
        if self.slot_strings is not None:
            plain["slot_strings"] = self.slot_strings.to_json()
        tensors = story_tensors(self.story, small)
        if self.parsed is not None:
            own = self.parsed.vocabulary.to_json()["pairs"]
            plain["parsed"] = {"pairs": own, "report": dict(self.parsed.report)}
            tensors |= parsed_tensors(self.parsed.story, small)
        if self.parser is not None:
            if not isinstance(self.parser, BiaffineParser):
                kind = type(self.parser).__name__
                raise ModelFolderError(f"{folder}: a model cannot be saved with a parser of the kind {kind}")
            plain["parser"], weights = self.parser.to_parts()
            tensors |= network_tensors("parser", weights, small)
        if self.reader is not None:
            plain["reader"], weights = self.reader.to_parts()
            tensors |= network_tensors("reader", weights, small)
        if self.attach_pretrained is not None:
            plain["attach"] = {"pretrained": self.attach_pretrained.identity()}
        if pretrained is not None:
            plain["pretrained"], weights = pretrained.to_parts()
            rounded = small or plain["pretrained"]["kind"] == VECTORS
            tensors |= network_tensors("pretrained", weights, rounded)
        if self.tagger is not None:
            if self.tagger.parser is not self.parser:
                raise ModelFolderError(f"{folder}: the model's tagger reads the states of another parser")
            plain["tagger"], weights = self.tagger.to_parts()
            plain["tagger"]["share"] = self.share
            tensors |= network_tensors("tagger", weights, small)
        write_model_folder(Path(folder), plain, tensors)

    @classmethod
    def load(
        cls, folder: str | Path, *, variants: Trusted = (), encoder: str | Path | None = None
    ) -> "Punctuator":
        """Read a model that `save` wrote.  No code in the folder is ever run, and none that it names.

        An encoder that the model was trained with is not in the folder.  It is opened when it is first
        needed: when words are parsed, or for any tree if the attach model reads what it says of words.

        :param folder: its folder, or the name of a model that comes with the package.
        :param variants: attach models and channels outside the package, each as ``module:Class``, that may be
            imported if the folder names them, which runs the code of their modules; True for any.
        :param encoder: where that encoder is now: see `pyropunct.networks.encoder.Encoder`.  By default it is
            looked for where it was in training.
        :raises ModelFolderError: if the folder is missing or damaged, or is not a model of this program.
        :raises PretrainedError: if ``encoder`` is given, but the model was trained without.
        :raises UntrustedVariantError: if it names an attach model or a channel outside the package that is
            not among ``variants``; its module has not been imported.
        :raises UnknownVariantError: if its attach model or channel cannot be found.
        """
        try:
            plain, tensors = read_model_folder(place_of(folder))
        except NoFolderError as error:
            raise NoFolderError(f"{error}{lacking(folder)}") from None
        try:
            named = {"attach model": plain["recipe"]["attach"], "channel": plain["recipe"]["channel"]}
            require_trusted(folder, named, variants)
            return cls._rebuilt(plain, tensors, encoder)
        except (UnknownVariantError, PretrainedError):
            raise
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            kind = type(error).__name__
            raise ModelFolderError(f"{folder}: cannot be made a model again: {kind}: {error}") from error

    @classmethod
    def _rebuilt(
        cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor], encoder: str | Path | None = None
    ) -> "Punctuator":
        kinds = by_kind(plain, tensors)
        pretrained = pretrained_from(plain.get("pretrained"), kinds["pretrained"], encoder)
        if pretrained is not None and "attach" in plain:
            pretrained = Remembered(pretrained)  # parser and attach model read the same sentences
        told = cls._of(saved_story(plain, kinds, pretrained))
        conventions = Conventions.from_json(plain["conventions"]) if "conventions" in plain else Conventions()
        parser = saved_network(BiaffineParser, "parser", plain, kinds, pretrained)
        tagger, share = None, 0.0
        if "tagger" in plain:
            tagger, share = saved_tagger(plain["tagger"], kinds["tagger"], told.vocabulary, parser)
        return replace(
            told,
            conventions=conventions,
            parser=parser,
            slot_strings=SlotStrings.from_json(plain["slot_strings"]) if "slot_strings" in plain else None,
            reader=saved_network(RunningReader, "reader", plain, kinds, pretrained),
            parsed=cls._of(parsed_story(plain, tensors, pretrained)) if "parsed" in plain else None,
            tagger=tagger,
            share=share,
        )

    @classmethod
    def _of(cls, told: SavedStory) -> "Punctuator":
        vocabulary, recipe, story, report, pretrained = told
        return cls(vocabulary, recipe, story, report, attach_pretrained=pretrained)

    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """log p(x | T) of each sentence, in natural logarithms.

        :returns: (sentences,) double precision.
        :raises ImpossibleSurfaceError: if a probability is zero.  Those of long slots are scaled, see
            `pyropunct.inference.long_strings`, so that marks may be as many as there are.
        """
        return torch.cat([_possible(part, problem) for part, problem in self.problems(sentences)])

    def log_prob_of_marks(self, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> Tensor:
        """log p(x | T) of some trees and punctuation, in natural logarithms; minus infinity is no error.

        :param trees: one for each punctuation; the same object is encoded once.
        :param surfaces: the punctuation tokens of the slots 0..n of each tree.
        :returns: (trees,) double precision.
        """
        found = []
        for first in range(0, len(trees), BATCH_SIZE):
            some = slice(first, first + BATCH_SIZE)
            distinct = {id(tree): tree for tree in trees[some]}
            place = {key: number for number, key in enumerate(distinct)}
            with torch.no_grad():
                batch = self.encode_trees([*distinct.values()])
                batch = batch.pick([place[id(tree)] for tree in trees[some]])
                problem = tree_problem(self.story, batch, self.vocabulary.encode_surfaces(surfaces[some]))
            found.append(log_evidence(problem).detach().cpu())
        return torch.cat(found)

    def log_prob_over_trees(
        self, sentences: Sequence[Sentence], parses: Sequence[Sequence[WeightedTree]]
    ) -> Tensor:
        """log p(x | words) of the punctuation of each sentence, in natural logarithms.

        It is averaged over the trees, and with a `tagger` it is the mixture of both::

            p(x | words) = (1 - share) sum over T of p(T | words) p(x | T)  +  share p(x | words, tagger)

        Where trees are given, the tagger is left out.

        :param parses: the trees of each sentence; their weights stand for p(T | words).
        :returns: (sentences,) double precision.
        :raises ImpossibleSurfaceError: as `log_prob` does.
        """
        flat = [
            (replace(sentence, tree=one.tree), one)
            for sentence, trees in zip(sentences, parses, strict=True)
            for one in trees
        ]
        joint = torch.tensor([one.weight for _, one in flat], dtype=torch.double).log()
        for given, model in ((True, self), (False, self.for_parsed)):
            places = [place for place, (_, one) in enumerate(flat) if one.given == given]
            if places:
                joint[places] += model.log_prob([flat[place][0] for place in places]).cpu()
        sizes = [len(trees) for trees in parses]
        found = torch.stack([part.logsumexp(0) for part in joint.split(sizes)])
        places = [place for place, trees in enumerate(parses) if not trees[0].given]
        if self.tagger is not None and places:
            some = [sentences[place] for place in places]
            of_words = self.tagger.log_prob([one.tree.forms for one in some], [one.surface for one in some])
            found[places] = log_mixture(found[places], of_words, self.share)
        return found

    def evaluate(self, sentences: Iterable[Sentence]) -> Evaluation:
        """How well the model predicts the punctuation of some sentences.

        :param sentences: one or more, which are worked on in batches; no more than one batch is kept.
        :raises ImpossibleSurfaceError: as `log_prob` does.
        """
        slots, parts = 0, []
        for part, problem in self.problems(sentences):
            slots += sum(len(sentence.surface) for sentence in part)
            parts.append(_possible(part, problem))
        found = torch.cat(parts)
        return Evaluation(len(found), slots, float(found.sum()))

    def evaluate_slots(
        self, sentences: Iterable[Sentence], impossible: list[ImpossibleSentenceError] | None = None
    ) -> "WholeEvaluation":
        """`evaluate`, for last slots of sentences and all others apart, and the same of `slot_strings`.

        In a sentence of n words the last slot counts with log p(x_n | x_0 .. x_n-1, T), the others with
        log p(x_0 .. x_n-1 | T), which is the sum of p(x | T) over all strings of the last slot.

        :param sentences: one or more, which are worked on in batches; no more than one batch is kept.
        :param impossible: takes an error for each sentence of probability zero, which is left out then, by
            both models.
        :returns: how well the model predicts them, how well the unigram model of slots does, if there is
            one, and how well the model predicts trees (without words) and punctuation together, if it has a
            model of trees.
        :raises ImpossibleSurfaceError: as `log_prob` does, if there is no list that takes it, or if all
            sentences are left out.
        """
        left_out: list[ImpossibleSentenceError] = [] if impossible is None else impossible
        sums = self.evaluation_sums(sentences, left_out)
        if left_out and (impossible is None or not sums.sentences):
            raise left_out[0]
        return sums.evaluation()

    def evaluation_sums(
        self, sentences: Iterable[Sentence], impossible: list[ImpossibleSentenceError]
    ) -> EvaluationSums:
        """The sums of `evaluate_slots`, which may be those of a part of a treebank.

        :param sentences: which are worked on in batches; no more than one batch is kept.
        :param impossible: as for `evaluate_slots`.
        """
        sums = EvaluationSums()
        syntax = self.story.syntax if isinstance(self.story.syntax, HeadOutward) else None
        for part, trees, problem in self._encoded(sentences):
            others = log_evidence(opened(problem, problem.forest.slot_start[1:] - 1)).detach()
            whole = _possible(part, problem, impossible)
            is_kept = whole > -torch.inf
            kept = [sentence for sentence, keeps in zip(part, is_kept.tolist(), strict=True) if keeps]
            sums.count(kept)
            sums.add("whole", whole[is_kept].tolist())
            sums.add("others", others[is_kept].tolist())
            if syntax is not None:
                sums.add("trees", syntax.log_prob(trees)[is_kept.cpu()].tolist())
            if self.slot_strings is not None:
                known = (self.vocabulary.known_surface(sentence.surface) for sentence in kept)
                for last, before in map(self.slot_strings.log_probs, known):
                    sums.add("unigram_last", [last])
                    sums.add("unigram_others", [before])
        return sums

    def underlying(
        self, sentences: Sequence[Sentence], samples: int = 0
    ) -> Iterator[list[list[tuple[Puncteme, Puncteme]]]]:
        """The underlying trees T' of each sentence.

        :param samples: how many draws from the posterior p(T' | T, x); 0 for the most probable T' alone.
        :returns: for each sentence its underlying trees, each with the left and right puncteme of every
            word's constituent.
        :raises ImpossibleSurfaceError: if there is no T' for a sentence, whose probability is zero.
        """
        for some, problem in self.problems(sentences):
            draws = posterior_draws(problem, samples) if samples else best_derivation(problem)[None]
            _require_explained(some, problem, draws)
            yield from map(list, zip(*(self.sprouted(problem, draw) for draw in draws), strict=True))

    def sprouted(self, problem: Problem, choices: Tensor) -> Iterator[list[tuple[Puncteme, Puncteme]]]:
        """The underlying tree T' of each tree of a problem: the punctemes of every word's constituent.

        :param problem: as `problems` gives it.
        :param choices: (nodes,) the pair that each node chooses from its set W_d.
        """
        for tree in range(len(problem.forest.node_start) - 1):
            yield [self._pair(problem, node, int(choices[node])) for node in problem.forest.nodes(tree)]

    def _pair(self, problem: Problem, node: int, choice: int) -> tuple[Puncteme, Puncteme]:
        left, right = problem.inventory.pairs[int(problem.relation[node])][choice]
        return self.vocabulary.decode_string(left), self.vocabulary.decode_string(right)

    def draws(
        self,
        trees: Sequence[Tree],
        samples: int | Sequence[int] = 1000,
        seed: int | None = None,
        *,
        alike: bool = False,
    ) -> Iterator[Draws]:
        """Many draws of surface punctuation from p(x | T) for each of some trees.

        The draws of a tree depend on the tree, the seed, the number of samples, and how many equal trees come
        before it.  They do not depend on the other trees or on the number of threads.

        :param samples: how many draws for each tree; a number, or one for each of them.
        :param seed: equal seeds give equal draws; by default torch draws a seed.
        :param alike: whether equal trees have equal draws, however many come before.
        :raises ValueError: if ``samples`` is not positive, or not a number for each tree, if ``seed`` is
            negative, or if the heads of a tree do not form a tree.
        """
        numbers = [samples] * len(trees) if isinstance(samples, int) else samples
        if len(numbers) != len(trees):
            raise ValueError(f"there are {len(trees)} trees, and numbers of draws for {len(numbers)}")
        if min(numbers, default=1) < 1:
            raise ValueError(f"samples is {samples}: at least one draw is needed")
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        if seed < 0:
            raise ValueError(f"seed is {seed}: it must not be negative")
        if not trees:
            return iter(())  # without a channel made ready that will not be used
        return draw_surfaces(
            self._many_draws, self.vocabulary, trees, numbers, seed, alike, self.attach_pretrained
        )

    def sample(
        self, sentences: Sequence[Sentence], samples: int = 1, *, balanced: bool = False
    ) -> Iterator[list[Surface]]:
        """Surface punctuation drawn from p(x | T) for the tree of each sentence: see `draws`.

        :param balanced: draw from p(x | T, x is balanced): brackets and quotation marks come in pairs.  This
            is exact, by rejection.
        :returns: for each sentence its draws, each with the tokens of the slots 0..n.
        :raises ImpossibleSurfaceError: if balanced ones are too rare to be drawn.
        """
        drawn = self.draws([sentence.tree for sentence in sentences], samples)
        for sentence, found in zip(sentences, drawn, strict=True):
            surfaces: list[Surface] = [found.surface(draw) for draw in range(len(found))]
            yield self._balanced(sentence, surfaces) if balanced else surfaces

    def _balanced(self, sentence: Sentence, surfaces: Sequence[Surface]) -> list[Surface]:
        """As many draws as there are surfaces, from their distribution, but balanced."""
        balanced = [surface for surface in surfaces if not unpaired(surface)]
        for _ in range(REJECTED):
            if len(balanced) >= len(surfaces):
                return balanced[: len(surfaces)]
            [found] = self.draws([sentence.tree], max(len(surfaces), LEAST_REDRAWN))
            redrawn = (found.surface(draw) for draw in range(len(found)))
            balanced += [surface for surface in redrawn if not unpaired(surface)]
        raise ImpossibleSurfaceError(
            f"sentence {sentence.identifier!r}: too few draws have brackets and quotation marks in pairs"
        )

    def restore(
        self,
        sentences: Sequence[Sequence[str] | Tree],
        *,
        decoder: str = "mbr",
        samples: int = SAMPLES,
        trees: int = TREES,
        seed: int | None = None,
    ) -> list[Surface]:
        """Punctuation for raw words, or for trees (Li, Wang & Eisner 2019, section 6.1).

        `pyropunct.treebank.printing.print_words` makes text of the result.

        :param sentences: for each sentence its words, which are parsed, or its tree.
        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: how many draws each sentence has; more draws estimate the expected loss better.
        :param trees: at most this many trees of the parser share the draws of a sentence.
        :param seed: equal seeds give equal results; by default torch draws a seed.
        :returns: for each sentence of n words the tokens of the slots 0..n.
        :raises NoParserError: if there are raw words and the model has no parser.
        :raises TypeError: if a string stands where words are needed: see `restore_text`.
        """
        parses = weighted_trees(self, sentences, trees)
        decisions = decide(self, parses, decoder=decoder, samples=samples, seed=seed)
        return [decision.surface for decision in decisions]

    def posterior(
        self,
        sentence: Sequence[str] | Tree,
        known: Sequence[Known],
        *,
        hidden: Collection[str] = (),
        samples: int = SAMPLES,
        trees: int = TREES,
        seed: int | None = None,
    ) -> Posterior:
        """The punctuation of a sentence of n words, given what is known of it: p(x, T | words, evidence).

        :param sentence: its words, which are parsed, or its tree.
        :param known: for each of the slots 0..n its marks, None if nothing is known, or evidence, see
            `pyropunct.inference.evidence`; that of slot 0 has the sentence start as its first token.
        :param hidden: marks that may be lacking in slots whose marks are given; those that are there are
            left out first.
        :param samples: how many draws.
        :param trees: at most this many trees of the parser are averaged over.
        :param seed: equal seeds give equal draws; by default torch draws a seed.
        :returns: weighted draws.  Three quarters of those of the trees are made with a better proposal than
            the first.  If the model has a tagger and the words are parsed, as many again are the tagger's.
        :raises ValueError: if the model does not know a hidden mark, or there is evidence for more or fewer
            slots than there are.
        :raises ImpossibleSurfaceError: if nothing explains the evidence; it names slot and sentence.
        :raises NoParserError: if there are raw words and the model has no parser.
        """
        [parses] = weighted_trees(self, [sentence], trees)
        if seed is None:
            seed = int(torch.randint(2**63 - 1, ()))
        evidence = evidence_about(self.vocabulary, known, hidden)
        [of_words] = tagged(self, [parses])
        draws = Posteriors(self).of(parses, evidence, seed, of_words)
        for size in (samples // 4, samples - samples // 4):
            if size:
                posterior = draws.more(size)
        return posterior

    def restore_text(
        self,
        text: str,
        *,
        decoder: str = "mbr",
        samples: int = SAMPLES,
        trees: int = TREES,
        seed: int = 0,
        capital: bool = True,
        running: bool = False,
        case: CaseMode = "auto",
    ) -> str:
        """Raw text with its punctuation restored, as the command ``pyropunct restore`` prints it.

        Punctuation that is there is removed first, and words and the spaces between them stay.

        :param text: one sentence a line, or running text.  Lines that are too long for a sentence, or with
            marks inside that end sentences, are running text if the model has a reader of such.
        :param decoder: one of `pyropunct.restore.decoders.DECODERS`.
        :param samples: how many draws each sentence has.
        :param trees: how many trees of the parser the draws of a sentence are spread over.
        :param seed: equal seeds give equal results.
        :param capital: whether sentences begin with a capital letter.
        :param running: whether sentences are to be found: see `pyropunct.restore.running.SentenceFinder`.
        :param case: whether words get the case that the reader of running text finds probable: "auto" if they
            have none, "restore", or "keep".
        :returns: as many lines, unless ``running``.
        :raises NoParserError: if the model has no parser.
        :raises NoReaderError: if running text is to be read, or case to be restored, and the model has no
            reader of running text.
        """
        lines = text.split("\n")
        items = (
            self.raw_reader.read(line, number, "\n" * (number < len(lines)))
            for number, line in enumerate(lines, 1)
        )
        sources = list(Finding(self.reader, running, case, capital).sentences(items))
        restoration = Restoration(
            self, decoder=decoder, samples=samples, trees=trees, seed=seed, case=case, capital=capital
        )
        restored = restoration.restore(sources)
        return "".join(
            raw_text(one, self.conventions, capital=capital) + source.end
            for one, source in zip(restored, sources, strict=True)
        )

    def dream(self, sentences: int = 1) -> Iterator[Punctuated]:
        """Whole punctuated sentences (T, T', x), trees and all; `pyropunct.explain.dreams` shows them."""
        for _ in range(sentences):
            yield self.story()

    def unmatched(self, sentences: Sequence[Sentence]) -> Tensor:
        """E[c(T') | T, x] of each sentence, where c counts the nodes with unmatched symmetric tokens.

        Source: Li, Wang & Eisner (2019, section 2.3).

        :returns: (sentences,).
        """
        inventory = self.vocabulary.inventory
        table = unmatched_rows(inventory, self.vocabulary.tokens)
        costs = (
            expected_cost(problem, table[choice_rows(inventory, problem.relation)])[1].detach()
            for _, problem in self.problems(sentences)
        )
        return torch.cat(list(costs))

    def edits(self, sentences: Sequence[Sentence], *, merged: bool = False) -> list[Edit]:
        """The learned edits, with their expected counts under p(T' | T, x) in some sentences.

        :param merged: whether the edits of two identical tokens that have the same outcome are one: left and
            right absorption are "absorption", and transposition is "keep".
        :returns: the most frequent edits first; no edits if the channel has none.
        """
        total = self.edit_counts(sentences)
        return [] if total is None else self._named_edits(total, merged)

    def edit_counts(self, sentences: Sequence[Sentence]) -> Tensor | None:
        """(tokens, tokens, 4) the expected number of times that each edit happens, under p(T' | T, x).

        None if the channel has no edits, or if there are no sentences.
        """
        total: Tensor | None = None
        for part in _parts(sentences):
            uses = self.story.channel.transducer.edit_counts(expected_uses(self.story, *self._encode(part)))
            if uses is None:
                return None
            total = uses if total is None else total + uses
        return total

    def _named_edits(self, counts: Tensor, merged: bool) -> list[Edit]:
        probabilities = self.edit_probabilities()
        assert probabilities is not None  # a channel with counts of edits has their probabilities
        if merged:
            counts, probabilities = _merged(counts), _merged(probabilities)
        edits = []
        for a, b, edit in (counts > 0).nonzero().tolist():
            first, second = display(self.vocabulary.tokens[a]), display(self.vocabulary.tokens[b])
            after = products.Edit(a, b, edit).after_of(first, second)
            edits.append(
                Edit(
                    (first, second),
                    "absorption" if merged and a == b and edit else EDITS[edit],
                    after,
                    float(probabilities[a, b, edit]),
                    float(counts[a, b, edit]),
                )
            )
        return sorted(edits, key=lambda edit: -edit.count)

    def edit_probabilities(self) -> Tensor | None:
        """(tokens, tokens, 4) the probabilities of the edits of tokens a b; None for a channel without edits.

        The last dimension is in the order of `pyropunct.inference.products.EDITS`.
        """
        with torch.no_grad():
            return self.story.channel.edit_table()

    def problems(self, sentences: Iterable[Sentence]) -> Iterator[tuple[Sequence[Sentence], Problem]]:
        """The sentences in batches, each with what the functions of `pyropunct.inference.inside` sum over.

        No more than one batch is kept.
        """
        return ((part, problem) for part, _, problem in self._encoded(sentences))

    def _encoded(
        self, sentences: Iterable[Sentence]
    ) -> Iterator[tuple[Sequence[Sentence], TreeBatch, Problem]]:
        """`problems`, with the trees of each batch."""
        for part in _parts(sentences):
            trees, surfaces = self._encode(part)
            with torch.no_grad():
                problem = tree_problem(self.story, trees, surfaces)
            yield part, trees, problem

    def _encode(self, sentences: Sequence[Sentence]) -> tuple[TreeBatch, Tensor]:
        trees = self.encode_trees([sentence.tree for sentence in sentences])
        return trees, self.vocabulary.encode_surfaces([sentence.surface for sentence in sentences])


def _merged(edits: Tensor) -> Tensor:
    """(tokens, tokens, 4) numbers of edits: of identical tokens, all of the same outcome with the first."""
    merged, same = edits.clone(), torch.arange(len(edits))
    keep, left, right, transposed = edits[same, same].unbind(-1)
    nothing = torch.zeros_like(keep)
    merged[same, same] = torch.stack((keep + transposed, left + right, nothing, nothing), -1)
    return merged


def _possible(
    sentences: Sequence[Sentence], problem: Problem, impossible: list[ImpossibleSentenceError] | None = None
) -> Tensor:
    """log p(x | T) of each sentence.

    :param impossible: takes an error for each sentence whose log p(x | T) is minus infinity.
    :raises ImpossibleSurfaceError: as `Punctuator.log_prob` does, if there is no list that takes it.
    """
    found = log_evidence(problem).detach()
    errors = [_too_unlikely(sentences[place]) for place in (found == -torch.inf).nonzero()[:, 0].tolist()]
    if impossible is not None:
        impossible += errors
    elif errors:
        raise errors[0]
    return found


def _require_explained(sentences: Sequence[Sentence], problem: Problem, choices: Tensor) -> None:
    """Make sure that all sentences have underlying trees.

    :param choices: (draws, nodes), -1 for those of a sentence that has none.
    :raises ImpossibleSurfaceError: naming the first that has none.
    """
    lost = (choices < 0).any(0).nonzero()[:, 0].to(problem.forest.node_start.device)
    if len(lost):
        tree = int(torch.searchsorted(problem.forest.node_start, lost[0], right=True)) - 1
        raise _too_unlikely(sentences[tree])


def _too_unlikely(sentence: Sentence) -> ImpossibleSentenceError:
    block, marks = sentence.layout.block, [len(slot) for slot in sentence.surface]
    most = f"most marks, {max(marks)}, are in slot {marks.index(max(marks))}"
    problem = f"the model cannot produce its punctuation; {most}"
    return ImpossibleSentenceError(block.path, problem, block.first_line, block.identifier)


def _parts(sentences: Iterable[Sentence]) -> Iterator[Sequence[Sentence]]:
    rest = iter(sentences)
    while part := tuple(islice(rest, BATCH_SIZE)):
        yield part
