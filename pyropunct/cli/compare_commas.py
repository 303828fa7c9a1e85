"""The command ``pyropunct compare-commas``."""

from functools import partial
from typing import TYPE_CHECKING

from pyropunct.cli.command import command
from pyropunct.cli.comparing import Folder, show
from pyropunct.cli.options import Json, ModelUse
from pyropunct.cli.training_reports import step_bar
from pyropunct.errors import UserError
from pyropunct.rivals.settings import CommaSettings

if TYPE_CHECKING:
    from pyropunct.rivals.shieber_tao_2003.comparison import CommaResult


@command
def compare_commas(
    train: str,
    dev: str,
    *,
    settings: CommaSettings,
    model: str | None = None,
    fit: bool = False,
    out: Folder = None,
    use: ModelUse,
    json: Json = False,
) -> None:
    """Restore the commas of DEV by the models of Shieber & Tao (2003), trained on TRAIN.

    Both are files of bracketed trees as in the Penn Treebank.  All words and other marks are given, and the
    trees.  Prints how good the commas are, and which differences are significant.

    :param model: compare with this model of latent punctuation, and on trees of its parser too: a model of
        your own, or en, the model of the package.
    :param fit: compare with a model that is fitted to TRAIN, with a parser; both take minutes or hours.
    """
    from pyropunct.rivals.shieber_tao_2003.comparison import compare_commas as run
    from pyropunct.rivals.shieber_tao_2003.sentences import COMMA, read_comma_sentences, require_commas
    from pyropunct.rivals.shieber_tao_2003.story_commas import story_results

    if fit and model is not None:
        raise UserError("--fit fits a model of its own: leave out --model")
    if fit:
        from pyropunct.rivals.shieber_tao_2003.fitting import compare_fitted

        use.start()
        show(partial(compare_fitted, train, dev, settings, out, watch=step_bar), json, out)
        return
    if out is not None:
        raise UserError("--out is for what --fit trains")
    story = None if model is None else use.load(model)
    if story is not None and COMMA not in story.vocabulary.tokens:
        raise UserError(f"{model}: the model has no comma among its marks")
    learned, measured = read_comma_sentences(train), read_comma_sentences(dev)
    require_commas(learned, train)
    others: list[CommaResult] = []
    if story is not None:
        others = story_results(story, dev, measured, settings, step_bar)
        if not others:
            problem = "the model has no parser (fit --parser), and was not fitted to converted trees"
            raise UserError(f"{model}: {problem}")
    parser = None if story is None else story.parser
    show(partial(run, learned, measured, settings, parser, others, watch=step_bar), json)
