"""Models of several languages: what they have in common, and the model of each."""

import json
import runpy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from command_line import answer, complaint, invoke, printed, without_log
from conftest import fitted_with_parser
from problems import inventory, tree_batch

from pyropunct import Punctuator
from pyropunct.errors import MissingPartError
from pyropunct.fitted.stories import levels_of
from pyropunct.inference.machines.products import KEEP
from pyropunct.models.channel.languages import Languages
from pyropunct.models.learned import learned_scales, settle
from pyropunct.models.trees import TREEBANK
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import THRESHOLD, RestoreSettings
from pyropunct.tasks.explain.sprouted import FINAL_MARKS, IN_CLAUSE, RELATIONS
from pyropunct.tasks.explain.typology import PAIRS
from pyropunct.tasks.explain.typology_of_model import of_model
from pyropunct.text.conventions import WORD
from pyropunct.text.marks import common_marks, in_common_marks
from pyropunct.treebank.reading import Treebank, read_treebank

WIDE = {",": "、", ".": "。", "“": "「", "”": "」"}
"""The marks of a language with a script of its own."""


def in_script(text: str) -> str:
    """A treebank with the marks of `WIDE`."""
    return "\n".join(map(_line_in_script, text.split("\n")))


def _line_in_script(line: str) -> str:
    if not line.startswith("#"):
        number, *columns = line.split("\t")
        return "\t".join([number, *(WIDE.get(one, one) for one in columns[:1]), *columns[1:]])
    name, text, value = line.partition("text = ")
    return name + text + value.translate(str.maketrans(WIDE))


@pytest.fixture(scope="module")
def files(small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Treebanks of two languages: the second one has a fifth of the sentences, and marks of its own."""
    folder = tmp_path_factory.mktemp("languages")
    found = {"en": small / "train.conllu", "en dev": small / "dev.conllu"}
    for name, source, size in (("ja", "en", 25), ("ja dev", "en dev", 30)):
        text = "\n\n".join(found[source].read_text("utf-8").split("\n\n")[:size]) + "\n\n"
        found[name] = folder / f"{name}.conllu"
        found[name].write_text(in_script(text), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def place(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of both, fitted as a user would."""
    place = tmp_path_factory.mktemp("model") / "two"
    options = ("--direction", "left", "--epochs", 4, "--out", place)
    dev = ("--dev", f"en={files['en dev']}", "--dev", f"ja={files['ja dev']}")
    fitted_with_parser(f"en={files['en']}", f"ja={files['ja']}", *dev, *options)
    return place


@pytest.fixture(scope="module")
def model(place: Path) -> Punctuator:
    return Punctuator.load(place)


@pytest.fixture(scope="module")
def dev(files: dict[str, Path]) -> dict[str, Treebank]:
    return {code: read_treebank(files[f"{code} dev"]).of_language(code) for code in ("en", "ja")}


# The story


def test_levels_by_hand() -> None:
    """Tokens 0 and 2 are of one class; only the second language has a level of its own."""
    channel = Languages(3, functions=("a", "b", "a"), treebanks=("", "de", "fr"), prior_keep=1.5)
    values = {
        "class_logits": torch.randn(2, 2, 4),
        "pair_logits": torch.randn(3, 3, 4),
        "own_logits": torch.stack([torch.zeros(3, 3, 4), torch.randn(3, 3, 4)]),
    }
    assert channel.class_logits.shape == (2, 2, 4)
    settle(channel, values)
    of = {0: 0, 1: 1, 2: 0}
    for a in range(3):
        for b in range(3):
            shared = values["class_logits"][of[a], of[b]] + values["pair_logits"][a, b]
            for language in (0, 1):
                assert torch.allclose(channel.logits_of(language)[a, b], shared)
            assert torch.allclose(channel.logits_of(2)[a, b], shared + values["own_logits"][1, a, b])
    assert torch.allclose(channel.edit_table(), channel.logits_of(0).softmax(-1))


def test_a_pair_that_nothing_is_known_of_behaves_as_its_classes_do() -> None:
    channel = Languages(2, treebanks=("", "de"), prior_keep=2.0)
    values = {"class_logits": torch.zeros(1, 1, 4), "pair_logits": torch.zeros(2, 2, 4)}
    values["class_logits"][..., KEEP] = 3.0
    settle(channel, {**values, "own_logits": torch.zeros(1, 2, 2, 4)})
    assert torch.allclose(channel.logits_of(1).softmax(-1)[0, 1], channel.logits_of(0).softmax(-1)[1, 1])


def test_each_tree_has_the_edits_of_its_language() -> None:
    """Trees of one language share a table; trees of several have one each, that of none the shared one."""
    some, trees = inventory(), tree_batch([[0, 1], [2, 0], [0]], [0] * 5)
    channel = Languages(some.num_tokens, treebanks=("", "de", "fr"))
    sizes = some.num_tokens, some.num_tokens, 4
    settle(
        channel,
        {
            "class_logits": torch.randn(1, 1, 4),
            "pair_logits": torch.randn(sizes),
            "own_logits": torch.randn(2, *sizes),
        },
    )
    assert channel.weights_of(trees)["edit"].equal(channel.edit_table())
    of_words = torch.tensor([2, 1, 0])[trees.forest.tree]
    mixed = replace(trees, more={TREEBANK: of_words})
    found = channel.weights_of(mixed)["edit"]
    assert found.shape == (3, *sizes)
    for table, language in zip(found, (2, 1, 0), strict=True):
        assert table.equal(channel.logits_of(language).softmax(-1))
    alike = replace(trees, more={TREEBANK: torch.full_like(of_words, 2)})
    assert channel.weights_of(alike)["edit"].equal(found[0])


# A model, and that of each language


def test_a_language_is_what_it_is_among_several(model: Punctuator, dev: dict[str, Treebank]) -> None:
    """In a batch of both, alone, and by its own model, which a file keeps."""
    both = [one for pair in zip(dev["en"][:5], dev["ja"][:5], strict=True) for one in pair]
    together = model.log_prob(both)
    for place, code in enumerate(("en", "ja")):
        own = model.of(code)
        assert own.recipe.channel == "sliding-window"
        assert own.log_prob(dev[code][:5]).tolist() == pytest.approx(together[place::2].tolist(), rel=1e-9)
        assert model.log_prob(dev[code][:5]).tolist() == pytest.approx(together[place::2].tolist(), rel=1e-9)
        nameless = [replace(one, tree=replace(one.tree, treebank="")) for one in dev[code][:5]]
        assert own.log_prob(nameless).equal(own.log_prob(dev[code][:5]))


def test_the_model_of_a_language_can_be_saved(
    model: Punctuator, dev: dict[str, Treebank], tmp_path: Path
) -> None:
    own = model.of("ja")
    own.save(tmp_path / "ja")
    again = Punctuator.load(tmp_path / "ja")
    assert again.log_prob(dev["ja"][:5]).tolist() == pytest.approx(
        own.log_prob(dev["ja"][:5]).tolist(), rel=1e-3
    )
    assert again.conventions == own.conventions
    with pytest.raises(MissingPartError, match="the model is of one language"):
        again.of("en")


def test_a_language_that_is_not_known_has_what_all_have(model: Punctuator) -> None:
    levels, other = levels_of(model), model.of("it")
    assert levels is not None
    assert torch.allclose(other.edit_probabilities(), levels.edit_table())
    assert other.conventions == model.conventions


def test_uncertainty_of_levels_adds_up(model: Punctuator) -> None:
    levels = levels_of(model)
    scales = learned_scales(levels)
    own = model.of("ja").scales["channel.channel.edit_logits"]
    classes = scales["class_logits"][levels._class][:, levels._class]
    number = model.vocabulary.treebanks.index("ja") - 1
    squares = classes.square() + scales["pair_logits"].square() + scales["own_logits"][number].square()
    assert torch.allclose(own, squares.sqrt())


# Marks


def test_marks_of_scripts() -> None:
    assert common_marks({"、": 9, "。": 3})["、"] == ","
    assert "、" not in common_marks({"、": 9, "，": 30})
    assert common_marks({"«": 1})["«"] == "“"
    assert (",," in common_marks({",,": 1}), ",," in common_marks({})) == (True, False)


def test_quotation_marks_of_all_styles() -> None:
    reader = Punctuator.load("multi").of("de").raw_reader
    for text in ("„so“", "»so«", "«so»", "„so”", "「so」", "“so”"):
        assert "".join(in_common_marks(text, common_marks({}))) == "“so”"
        read = reader.read(f"er sagt {text} so").surface
        assert [marks for marks in read if marks] == [("\t^",), ("“",), ("”",)], text


def test_swedish_quotation_marks() -> None:
    """In a treebank that writes them so; elsewhere such a mark closes."""
    assert in_common_marks("”a”b", common_marks({"”": 9, "“": 1})) == ["“", "a", "”", "b"]
    assert in_common_marks("”a”b", common_marks({"”": 9, "“": 9})) == [*"”a”b"]
    assert in_common_marks("a»b«c»", common_marks({})) == ["a", "“", "b", "”", "c", "”"]


def test_marks_are_written_as_the_language_does(
    model: Punctuator, files: dict[str, Path], dev: dict[str, Treebank]
) -> None:
    plain = read_treebank(files["ja dev"])
    own = model.of("ja")
    assert {mark: own.conventions.quotes[mark] for mark in (",", ".")} == {",": "、", ".": "。"}
    for before, one in zip(plain, dev["ja"], strict=True):
        assert one.text() == before.text()
        assert one.conllu_with_surface(one.surface, own.conventions) == before.conllu()
    line = own.raw_reader.read("she left、 he stayed。")
    assert [mark for slot in line.surface[1:] for mark in slot] == [",", "."]


# The commands


def test_the_language_of_a_treebank_is_found_or_told(place: Path, files: dict[str, Path]) -> None:
    told = answer("evaluate", place, files["ja dev"], "--language", "ja")
    model = Punctuator.load(place).of("ja")
    own = model.evaluate(read_treebank(files["ja dev"]).of_language("ja"))
    assert told["perplexity"] == pytest.approx(own.perplexity, rel=1e-6)
    found = answer("evaluate", place, files["en dev"])
    assert found["perplexity"] == pytest.approx(
        answer("evaluate", place, files["en dev"], "--language", "en")["perplexity"]
    )
    assert printed("underlying", place, files["ja dev"], "--language", "ja").count("\n") == 30


def test_a_language_that_is_not_known_is_named(place: Path, files: dict[str, Path]) -> None:
    result = invoke("evaluate", place, files["en dev"], "--language", "it")
    assert result.exit_code == 0
    assert without_log(result.stderr) == (
        "pyropunct: the model has not learned from texts in the language it: it does what the languages "
        "that it knows have in common (en ja)\n"
    )


def test_typology_of_a_model(place: Path, model: Punctuator) -> None:
    """What all have in common, and each language; of one with less data, less is certain."""
    value = answer("typology", place, "--least", 0.5)
    assert value["languages"] == ["all", "en", "ja"]
    shares = {
        (one["of"], one["outcome"], one["language"]): one for one in value["shares"] if one["table"] == PAIRS
    }
    assert {language for *_, language in shares} == {"all", "en", "ja"}
    for of in {of for of, *_ in shares}:
        outcomes = [
            one["share"] for (pair, _, language), one in shares.items() if (pair, language) == (of, "all")
        ]
        assert sum(outcomes) == pytest.approx(1, abs=1e-5)
    assert all(one["low"] - 1e-6 <= one["share"] <= one["high"] + 1e-6 for one in shares.values())
    both = [
        (shares[of, outcome, "en"], shares[of, outcome, "ja"])
        for of, outcome, code in shares
        if code == "ja" and (of, outcome, "en") in shares
    ]
    assert both
    most_certain = learned_scales(model.story)["channel.channel.own_logits"].flatten(1).min(1).values
    assert most_certain[0] < most_certain[1]
    counted = [one for one in of_model(model, least=0.5) if one.table != PAIRS]
    assert {len(one.shares) for one in counted} == {3}
    assert {one.table for one in counted} >= {RELATIONS, IN_CLAUSE, FINAL_MARKS}


def test_the_language_of_a_text_is_found_or_told(
    place: Path, model: Punctuator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has the marks of the language, and so do treebanks that are restored."""
    text = tmp_path / "text.txt"
    text.write_text("Clara sings\nDoris knows that she sings\n", encoding="utf-8")
    english, wide = (printed("restore", place, text, "--language", code) for code in ("en", "ja"))
    assert english.endswith(".\n")
    assert wide.endswith("。\n")
    assert printed("restore", place, text, "--force") == english
    assert model(text.read_text("utf-8")) == english
    assert [one.text for one in model.details(["Clara sings"])[0]] == ["Clara", "sings"]
    assert model.of("ja")(text.read_text("utf-8")) == wide
    monkeypatch.setattr(
        "pyropunct.text.languages.likely_language", lambda text, *_: "ja" if "a" in text else "en"
    )
    knows = "Doris knows that she sings"
    both = model([knows, None, "ding dong"])
    assert (both[0][-1], both[1], both[2][-1]) == ("。", None, ".")
    assert list(model(iter([knows]))) == both[:1]
    with pytest.raises(TypeError, match="not a mapping"):
        model({"a": "b"})


def test_unknown_words_are_of_the_language(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of several languages knows few words of each: it does not take them for another language."""
    monkeypatch.setattr("pyropunct.text.languages.MANY_WORDS", 0)
    monkeypatch.setattr("pyropunct.text.languages.LETTERS_TO_JUDGE", 1)
    text = tmp_path / "text.txt"
    text.write_text("ihmiset laulavat\n", encoding="utf-8")
    assert printed("restore", place, text, "--language", "en") != text.read_text("utf-8")


def test_words_without_spaces_are_told_of(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a model that knows such words; here it is made to."""
    text = tmp_path / "text.txt"
    text.write_text("彼女 は 歌う\nゲーム入力のレスポンスをよくするため\n" * 2, encoding="utf-8")
    command = ("restore", place, text, "--language", "ja", "--force")
    assert invoke(*command).stderr == ""
    monkeypatch.setattr("pyropunct.cli.sources.UNSPACED_WORD", WORD)
    monkeypatch.setattr("pyropunct.text.unspaced._cutter", lambda language: None)  # not installed
    problem = "is read as one word: put spaces between the words, or install the extra unspaced"
    problem = f"ゲーム入力のレスポンスを… {problem}"
    assert invoke(*command).stderr == f"pyropunct: {text}:2: {problem}\n"


def test_restored_treebanks_keep_what_they_had(place: Path, files: dict[str, Path]) -> None:
    """New marks are those of the language too."""
    result = invoke("restore", place, files["ja dev"], "--language", "ja", "--format", "conllu", "--keep")
    before, after = (
        [line.split("\t")[1] for line in text.split("\n") if "\tPUNCT\t" in line]
        for text in (files["ja dev"].read_text("utf-8"), result.stdout)
    )
    assert len(before) < len(after)
    assert WIDE.keys().isdisjoint(after)
    scores = json.loads(
        printed("restore", place, files["ja dev"], "--language", "ja", "--score", "--format", "json")
    )
    right = {one["mark"]: one["right"] for one in scores["marks"]}
    assert right["."] > 10  # none would be, if marks were compared as they are written


def test_a_saved_language_reads_its_marks(place: Path, files: dict[str, Path], tmp_path: Path) -> None:
    """The commands say the same with the model of a language and with its file."""
    Punctuator.load(place).of("ja").save(tmp_path / place.name)
    for command in ("underlying", "typology", "evaluate"):
        several = invoke(command, place, files["ja dev"], "--language", "ja").stdout
        assert "UNK" not in several
        assert invoke(command, tmp_path / place.name, files["ja dev"]).stdout == several


@pytest.mark.parametrize("options", [("--recipe", "default"), ("--channel", "identity")], ids=" ".join)
def test_other_channels_know_languages_too(
    files: dict[str, Path], dev: dict[str, Treebank], tmp_path: Path, options: Sequence[str]
) -> None:
    train = f"en={files['en']}", f"ja={files['ja']}"
    usual = ("--epochs", 1, "--direction", "left", "--threads", 1, "--out", tmp_path / "m")
    printed("fit", *train, *options, *usual)
    model = Punctuator.load(tmp_path / "m")
    nameless = [replace(one, tree=replace(one.tree, treebank="")) for one in dev["ja"][:5]]
    assert model.of("ja").log_prob(nameless).equal(model.log_prob(dev["ja"][:5]))
    assert not model.of("en").log_prob(nameless).equal(model.log_prob(dev["ja"][:5]))


@pytest.mark.parametrize("damage", [3, {"ja": 3}, {"en": {"pairs": {"? ?": "x"}, "tallies": [[1]]}}], ids=str)
def test_damaged_counts(model: Punctuator, damage: object, tmp_path: Path) -> None:
    replace(model, report={**model.report, "languages": damage}).save(tmp_path / "damaged")
    assert "are damaged" in complaint(2, "typology", tmp_path / "damaged")


def mistakes(files: dict[str, Path], small: Path) -> Iterator[tuple[str, list[object]]]:
    yield "has no language", ["fit", f"en={files['en']}", files["ja"]]
    yield "has no language", ["fit", f"en={files['en']}", "--dev", files["en dev"]]
    yield "the model is of one language", ["evaluate", small / "model", files["en dev"], "--language", "en"]
    yield "fit one to CODE=FILE", ["typology", small / "model"]
    yield "there is no such file", ["fit", "en=missing.conllu"]
    yield "there is no such file", ["fit", "all=missing.conllu"]
    yield "is for several languages", ["fit", files["en"], "--recipe", "languages"]
    yield "is no code of a language", ["evaluate", small / "model", files["en dev"], "--language", "German"]


def test_mistakes(files: dict[str, Path], small: Path) -> None:
    for problem, arguments in mistakes(files, small):
        assert problem in complaint(2, *arguments)


def test_each_language_has_its_thresholds(
    model: Punctuator, dev: dict[str, Treebank], tmp_path: Path
) -> None:
    """They are chosen on dev, saved, and used where nobody gives others."""
    program = Path(__file__).parents[2] / "benchmarks" / "caution.py"
    caution = SimpleNamespace(**runpy.run_path(str(program)))
    cautious = caution.with_caution(model, dev, samples=20)
    for code, sentences in dev.items():
        conventions = cautious.languages[code]
        scored = caution.scores_from_words(model.of(code), sentences, caution.FACTORS, samples=20, seed=0)
        scores = dict(zip(caution.FACTORS, scored, strict=True))
        fewest = min(one.edits for one in scores.values())
        assert scores[conventions.caution].edits <= max(fewest, caution.edits_of_periods(sentences))
        assert conventions.ends in caution.ENDS
    cautious.save(tmp_path / "cautious")
    assert Punctuator.load(tmp_path / "cautious").languages == cautious.languages
    own = replace(model, conventions=replace(model.conventions, caution=2.0, ends=0.6))
    running = Restorer(own, RestoreSettings(running=True, style="full")).settings
    assert running.threshold == {**dict.fromkeys(".?!", 0.2), ",": 0.28, "": 0.4}
    assert running.ends == 0.6
    given = RestoreSettings(running=True, threshold=0.3, ends=0.1)
    assert Restorer(own, given).settings == given
    line = Restorer(own, RestoreSettings()).settings
    assert (line.threshold, line.ends) == ({**dict.fromkeys(".?!", THRESHOLD), "": 2 * THRESHOLD}, None)
