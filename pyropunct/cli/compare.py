"""The commands ``pyropunct compare``: each trains the systems of an experiment and compares them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import Hardware, Json, TrainingUse, check_device, read_file
from pyropunct.cli.progress import step_bar
from pyropunct.errors import UserError
from pyropunct.limits import Help, NamesIn, Placeholder
from pyropunct.papers.options import (
    CASCADED,
    RESTORATION,
    CommaSettings,
    CorrectionSettings,
    JointSettings,
    ParserSettings,
    RestorationSettings,
)
from pyropunct.shipped import DEFAULT

if TYPE_CHECKING:
    from pyropunct.papers.experiment import Experiment
    from pyropunct.treebank.reading import Treebank

Folder = Annotated[
    str | None,
    Placeholder("DIR"),
    Help(
        "Folder for trained parts and results. After an interruption, the same command continues with them."
    ),
]


@command
def restoration(
    train: str,
    dev: str,
    *,
    test: Annotated[str | None, Placeholder("FILE")] = None,
    out: Annotated[str, Placeholder("DIR")] = "comparison",
    settings: RestorationSettings,
    recipe: Annotated[str, NamesIn("pyropunct.fitted.recipes:RECIPES")] = "default",
    quick: bool = False,
    machine: Hardware,
    json: Json = False,
) -> None:
    """Train all systems on TRAIN and compare them on DEV, or on --test; all are CoNLL-U files.

    Prints perplexity and average edit distance with gold and predicted trees, and significance.  The folder
    --out gets the tables in Markdown and all results in JSON.  It keeps trained parts: after an
    interruption, the same command continues.

    :param test: measure on this treebank; DEV is then only used for early stopping.
    :param out: folder for trained parts and results.
    :param recipe: the recipe of the models of latent punctuation: see `pyropunct fit --help`.
    :param quick: train everything for one epoch and take at most 50 draws, to check that it works.
    """
    from pyropunct.fitted.recipes import PLAIN, named_recipe
    from pyropunct.papers.li_2019.restoration_experiment import RestorationExperiment
    from pyropunct.papers.li_2019.restorers import Conditions
    from pyropunct.treebank.reading import require_punctuation

    machine.start()
    check_device(settings.device)
    conditions = Conditions(**vars(settings), recipe=named_recipe(recipe, **PLAIN))
    treebanks = [read_file(path) for path in (train, dev, test) if path is not None]
    require_punctuation(treebanks[0])
    _ = conditions.pretrained  # a missing encoder is an error before anything is trained
    learned, measured, *tests = treebanks
    conditions = conditions.quick() if quick else conditions
    unseen = tests[0] if tests else None
    _show(
        RestorationExperiment(learned, measured, conditions, out, step_bar, test=unseen), json, out, treebanks
    )


@command
def commas(
    train: str,
    dev: str,
    *,
    settings: CommaSettings,
    model: str | None = None,
    fit: bool = False,
    out: Folder = None,
    use: TrainingUse,
    json: Json = False,
) -> None:
    """Restore the commas of DEV by the models of Shieber & Tao (2003), trained on TRAIN.

    Both are files of bracketed trees as in the Penn Treebank.  All words, other marks and trees are given.
    Prints scores of commas, and significance.

    :param model: compare with this model of latent punctuation, also on trees of its parser: a file, or en,
        the model of the package.
    :param fit: compare with a model and a parser fitted to TRAIN, which takes minutes or hours.
    """
    from pyropunct.papers.shieber_tao_2003.comma_experiment import (
        CommaExperiment,
        FittedCommaExperiment,
        story_results,
    )
    from pyropunct.papers.shieber_tao_2003.sentences import COMMA, read_comma_sentences, require_commas

    if fit and model is not None:
        raise UserError("--fit fits a model of its own: leave out --model")
    if fit:
        use.start()
        _show(FittedCommaExperiment(train, dev, settings, out, step_bar), json, out)
        return
    if out is not None:
        raise UserError("--out is for what --fit trains")
    story = None if model is None else use.load_one(model)
    if story is not None and COMMA not in story.vocabulary.tokens:
        raise UserError(f"{model}: the model has no comma among its marks")
    learned, measured = read_comma_sentences(train), read_comma_sentences(dev)
    require_commas(learned, train)
    others = [] if story is None else story_results(story, dev, measured, settings, step_bar)
    if story is not None and not others:
        problem = "the model has no parser (fit --parser), and was not fitted to converted trees"
        raise UserError(f"{model}: {problem}")
    parser = None if story is None else story.parser
    _show(CommaExperiment(learned, measured, settings, None, step_bar, parser=parser, others=others), json)


@command
def joint(
    train: str,
    dev: str,
    *,
    settings: JointSettings,
    model: str = DEFAULT,
    out: Folder = None,
    use: TrainingUse,
    json: Json = False,
) -> None:
    """Find marks, ends of sentences and trees in running words of DEV; both files are CoNLL-U.

    Sentences of a document of DEV are joined, in lower case and without punctuation.  The systems are a CRF,
    a parser that reads its marks, and one that predicts marks itself, after Zhang, Wu, Yang & Li (2013),
    trained on TRAIN; and restoration of running text by a model.

    :param model: the model that restores running text.
    """
    from pyropunct.papers.transitions.joint_experiment import JointExperiment
    from pyropunct.papers.transitions.marked_sentences import have_language_tags
    from pyropunct.papers.transitions.streams import SENTENCES, streams
    from pyropunct.text.lines import TreebankError

    use.start()
    restores = use.load_one(model) if RESTORATION in settings.systems else None
    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned = streams(treebanks[0], universal=universal)
    if len(learned) < 2 and CASCADED in settings.systems:
        problem = f"there is one stream of {SENTENCES} sentences; marks for {CASCADED} come from others"
        raise TreebankError(train, problem)
    measured = {size: streams(treebanks[1], size, universal=universal) for size in settings.sentences}
    _show(JointExperiment(learned, measured, settings, out, step_bar, model=restores), json, out, treebanks)


@command
def parsers(
    train: str, dev: str, *, settings: ParserSettings, out: Folder = None, json: Json = False
) -> None:
    """Parse DEV by shift-reduce parsers of Ma, Zhang & Zhu (2014), trained on TRAIN; both are CoNLL-U files.

    Compares four treatments of marks and several beam widths.  Prints how many words get the right head, and
    which differences from marks as tokens are significant.
    """
    from pyropunct.papers.transitions.marked_sentences import have_language_tags, marked_sentences
    from pyropunct.papers.transitions.parser_experiment import ParserExperiment
    from pyropunct.text.lines import TreebankError

    treebanks = read_file(train), read_file(dev)
    universal = not all(map(have_language_tags, treebanks))
    learned, measured = (marked_sentences(treebank, universal=universal) for treebank in treebanks)
    if not any(sentence.marks.count(False) > 1 for sentence in learned):
        raise TreebankError(train, "there is no sentence of two words or more, so no arc to learn from")
    _show(ParserExperiment(learned, measured, settings, out, step_bar), json, out, treebanks)


@command
def correction(
    train: str,
    dev: str,
    *,
    settings: CorrectionSettings,
    model: str = DEFAULT,
    learners: Annotated[str | None, Placeholder("FILE")] = None,
    corrected: Annotated[str | None, Placeholder("FILE.conllu")] = None,
    use: TrainingUse,
    json: Json = False,
) -> None:
    """Correct simulated errors in DEV by several systems fitted to TRAIN.

    The systems are: no change; restoration, which reads only words; the corrector of Li, Wang & Eisner (2019,
    section 6.2); a BiLSTM-CRF that reads the wrong punctuation; and the noisy channel.

    :param model: the model of right text, fitted to TRAIN.
    :param learners: measure on sentences of learners too: a file of JSON lines, or a CoNLL-U file with
        --corrected.
    :param corrected: the corrections of --learners in CoNLL-U; sentences whose trees differ without
        punctuation are left out.
    """
    from pyropunct.papers.li_2019.correction_experiment import CorrectionExperiment
    from pyropunct.tasks.correct.gold_corrections import read_learner_treebanks, read_learners
    from pyropunct.treebank.reading import require_punctuation

    if learners is None:
        if corrected is not None:
            raise UserError("--corrected is for --learners: give both")
        written = []
    elif corrected is None:
        written = read_learners(learners)
    else:
        written = read_learner_treebanks(learners, corrected)
    clean = use.load_one(model)
    if written and clean.parser is None:
        raise UserError(f"--learners: {model} has no parser for the sentences of learners")
    treebanks = read_file(train), read_file(dev)
    for treebank in treebanks:
        require_punctuation(treebank)
        console.tell_omitted(treebank.path, treebank.omitted)
    learned, measured = map(list, treebanks)
    _show(
        CorrectionExperiment(learned, measured, settings, None, step_bar, model=clean, learners=written), json
    )


@click.group()
def compare() -> None:
    """Train the systems of an experiment on one file, measure them on another, and compare them."""


for _one in (restoration, commas, joint, parsers, correction):
    compare.add_command(_one)


def _show(
    experiment: "Experiment", json: bool, folder: str | None = None, treebanks: "Iterable[Treebank]" = ()
) -> None:
    try:
        results = experiment.run()
    except KeyboardInterrupt:
        if folder is None:
            raise
        kept = f": trained parts are kept in {folder}; continue with the same command"
        raise KeyboardInterrupt(kept) from None
    if json:
        console.print_json(results.to_json())
        return
    for line in console.treebank_lines(treebanks):
        console.say(line)
    for table in results.tables.values():
        console.show_table(table)
    if folder is not None:
        console.say(f"tables and all numbers written to {folder}")
