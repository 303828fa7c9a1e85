"""What the commands print."""

import gc
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
import torch
from command_line import answer, complaint, environment, invoke, printed

from pyropunct.cli.console import treebank_lines
from pyropunct.cli.fit_report import fit_report
from pyropunct.cli.loading import AFTERWARDS, WHILE_READING, ModelUse
from pyropunct.cli.main import COMMANDS, main
from pyropunct.fitted.recipes import RECIPES
from pyropunct.punctuator import Punctuator
from pyropunct.restore.decoders import DECODERS
from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_help(arguments: list[str]) -> None:
    text = printed(*arguments, "--help")
    assert text.startswith("Usage: pyropunct")
    assert "--help" in text


def test_help_of_the_program_names_every_command() -> None:
    text = printed("--help")
    assert all(re.search(rf"^  {name} ", text, re.MULTILINE) for name in COMMANDS)


def test_garbage_is_looked_for_rarely_until_a_model_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def call() -> None:
        seen.append(gc.get_threshold()[0])
        ModelUse().load("en")
        seen.append(gc.get_threshold()[0])

    monkeypatch.setattr("pyropunct.cli.explain.rules", click.Command("rules", callback=call))
    monkeypatch.setattr(Punctuator, "load", lambda *_, **__: seen.append(gc.get_threshold()[0]))
    before = gc.get_threshold()
    printed("rules")
    assert seen == [WHILE_READING, WHILE_READING, AFTERWARDS]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_help_is_quick() -> None:
    """Nothing that takes long to import is imported for it; a command is imported alone."""
    script = (
        "import sys\n"
        "from pyropunct.cli.main import main\n"
        "heavy = {'torch', 'pyro', 'numba', 'rich', 'networkx', 'matplotlib'}\n"
        "main(['convert', '--help'], standalone_mode=False)\n"
        "print('pyropunct.cli.fit' in sys.modules)\n"
        "main(['--help'], standalone_mode=False)\n"
        "print(sorted({*heavy, 'numpy'} & set(sys.modules)))\n"
        f"for name in {list(COMMANDS)}:\n"
        "    main([name, '--help'], standalone_mode=False)\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if line in ("[]", "False")] == ["False", "[]", "[]"]


def test_choices_are_those_of_the_registries() -> None:
    assert f"[{'|'.join(DECODERS)}]" in printed("restore", "--help")
    for command in (("fit",), ("compare", "restoration")):
        assert f"[{'|'.join(RECIPES)}]" in printed(*command, "--help")


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).with_name("pyropunct")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"pyropunct, version \d+\.\d+\.\d+\n", done.stdout)


# fit


def test_fit_reports_every_epoch_and_every_direction(small: Path, tmp_path: Path) -> None:
    train, dev, out = small / "train.conllu", small / "dev.conllu", tmp_path / "deep" / "down"
    value = answer("fit", train, "--dev", dev, "--out", out, "--epochs", 2, "--seed", 3)
    assert value["model"] == f"{out}.safetensors"
    assert [epoch["number"] for epoch in value["epochs"]] == [1, 2]
    assert set(value["epochs"][0]) == {"number", "objective", "perplexity", "seconds"}
    assert (value["train_sentences"], value["dev_sentences"], value["seed"]) == (120, 30, 3)
    assert value["direction"] == min(value["directions"], key=value["directions"].get)
    assert set(value["directions"]) == {"left", "right"}
    assert value["treebanks"] == [
        {"path": str(path), "sentences": size, "omitted": 0, "omissions": [], "lifted": []}
        for path, size in ((train, 120), (dev, 30))
    ]
    assert set(value["edits"][0]) == {"before", "name", "after", "probability", "count"}
    evaluation = answer("evaluate", out, dev)
    assert evaluation["perplexity"] == pytest.approx(value["epochs"][-1]["perplexity"], rel=1e-4)
    assert [path.name for path in out.parent.iterdir()] == ["down.safetensors"]


def test_fit_prints_tables_and_says_that_the_channel_has_hardly_learned(small: Path, tmp_path: Path) -> None:
    options = ("--recipe", "rules", "--direction", "left", "--epochs", 1)
    text = printed("fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert f"{small}/train.conllu: 120 sentences" in text
    assert "dev perplexity" in text
    assert "expected count" in text
    assert text.endswith(f"model written to {tmp_path}/m.safetensors\n")
    [line] = (line for line in text.splitlines() if "near its prior" in line)
    assert " probabilities differ by over 0.25 from their shares, of pairs expected 5 times or more" in line


def test_fit_tells_which_of_equal_directions_is_kept(small: Path, tmp_path: Path) -> None:
    model, dev = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")
    assert model.recipe.direction == "right"
    for directions, line in (
        ({"left": 1.14641, "right": 1.1464}, "left 1.1464, right 1.1464; right is kept"),
        ({"right": 1.1464}, "right 1.1464"),
    ):
        tried = replace(model, report={**model.report, "directions": directions})
        told = fit_report(tried, [dev], tmp_path / "m", merged=True).text_parts
        assert f"dev perplexity per slot by direction: {line}" in told


def test_lines_with_the_time_tell_how_far_a_fit_is(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal: one for each epoch, and others if it is silent for long."""
    options = ("--direction", "left", "--epochs", 2, "--families", "head")
    treebanks = (small / "train.conllu", "--dev", small / "dev.conllu")
    arguments = ("fit", *treebanks, "--out", tmp_path / "m", *options)
    epoch = r"\d\d:\d\d:\d\d left, epoch {} of 2: "
    result = r"objective -?[\d.]+, dev perplexity [\d.]+, [\d,]+ sentences a second, \d+ s so far\n"
    ends = [(epoch + result).format(number) for number in (1, 2)]
    begin = r"\d\d:\d\d:\d\d preparing\n"
    assert re.fullmatch(begin + "".join(ends), invoke(*arguments).stderr)
    monkeypatch.setattr("pyropunct.cli.progress.SILENCE", 0.0)
    steps = [epoch.format(n) + f"{done} of 120 sentences\n" for n in (1, 2) for done in (64, 120)]
    expected = [begin, *steps[:2], ends[0], *steps[2:], ends[1]]
    assert re.fullmatch("".join(expected), invoke(*arguments).stderr)


def test_the_first_omitted_sentences_are_told_with_their_reasons() -> None:
    mark, word = "{}\tX\t_\tPUNCT\t_\t_\t0\troot\t_\t_", "1\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_"
    blocks = [f"# sent_id = s{number}\n{mark.format(1)}" for number in range(40)]
    told = list(treebank_lines([read_text("\n\n".join([*blocks, word]))]))
    reasons = ", ".join(f"s{number} (it has no word)" for number in range(5))
    assert told == ["<string>: 1 sentences", f"  40 omitted: {reasons} and 35 more"]


def test_fit_without_a_treebank_takes_the_embedded_ones(tmp_path: Path) -> None:
    options = ("--families", "symmetry", "--channel", "identity", "--direction", "left", "--epochs", 1)
    value = answer("fit", "--out", tmp_path / "m", *options)
    assert (value["train_sentences"], value["dev_sentences"], value["edits"]) == (1700, 200, [])


def test_recipe_and_changes_to_it_are_kept_with_the_model(small: Path, tmp_path: Path) -> None:
    options = ("--recipe", "paper", "--epochs", 1, "--families", "symmetry,head")
    options += ("--symmetry-weight", 0.5, "--economy-weight", 0.25)
    value = answer("fit", small / "train.conllu", "--out", tmp_path / "m", "--direction", "left", *options)
    assert math.isfinite(value["epochs"][-1]["perplexity"])
    recipe = Punctuator.load(tmp_path / "m").recipe
    assert (recipe.epochs, recipe.families) == (1, ("symmetry", "head"))
    assert (recipe.symmetry_weight, recipe.economy_weight) == (0.5, 0.25)
    assert (recipe.random_start, recipe.sentences_per_epoch, recipe.direction) == (True, 400, "left")


@pytest.mark.parametrize(
    "options",
    [
        ("--attach", "variants:PairFrequencies"),
        ("--channel", "variants:Stutter"),
        ("--guide", "normal"),
    ],
)
def test_variants(small: Path, tmp_path: Path, options: tuple[str, str]) -> None:
    out, dev = tmp_path / "m", small / "dev.conllu"
    value = answer(
        "fit",
        small / "train.conllu",
        "--dev",
        dev,
        "--out",
        out,
        "--epochs",
        1,
        "--direction",
        "right",
        *options,
    )
    last = value["epochs"][-1]["perplexity"]
    given = (out, dev, *(("--trust-variants",) if ":" in options[1] else ()))
    assert answer("evaluate", *given)["perplexity"] == pytest.approx(last, rel=1e-4)
    assert last < 20
    assert len(answer("underlying", *given)["sentences"]) == 30
    assert len(answer("sample", *given)["sentences"]) == 30


def test_every_command_that_loads_a_model_can_be_told_to_trust_it() -> None:
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    options = {name: {one.name for one in command.params} for name, command in commands.items() if command}
    loading = {name for name, own in options.items() if own & {"model", "models", "places"}}
    assert loading == {name for name, own in options.items() if "trust_variants" in own}
    own = {"compare", "convert", "corpus", "fit"}  # compare and corpus have commands that can
    assert loading == set(commands) - own


# evaluate


def test_evaluate(small: Path) -> None:
    value = answer("evaluate", small / "model", small / "dev.conllu")
    names = ["sentences", "omitted", "omissions", "impossible", "slots", "log_likelihood", "perplexity"]
    parts = ["last_slots", "other_slots", "unigram", "unigram_last_slots", "unigram_other_slots"]
    assert list(value) == [*names, "perplexity_with_trees", "balance", *parts]
    assert value["perplexity_with_trees"] > 2 * value["perplexity"]
    treebank = read_treebank(small / "dev.conllu")
    assert value["sentences"] == 30
    assert value["slots"] == sum(len(sentence.tree) + 1 for sentence in treebank)
    assert value["perplexity"] == pytest.approx(math.exp(-value["log_likelihood"] / value["slots"]), 1e-12)
    model = Punctuator.load(small / "model")
    assert value["log_likelihood"] == math.fsum(model.log_prob(list(treebank)).tolist())


def test_evaluate_counts_omitted_sentences(small: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.conllu"
    dot = "1\t!\t!\tPUNCT\t_\t_\t0\troot\t_\t_\n\n"
    odd.write_text((small / "dev.conllu").read_text(encoding="utf-8") + dot, encoding="utf-8")
    result = invoke("evaluate", small / "model", odd, "--json")
    value = json.loads(result.stdout)
    assert (value["sentences"], value["omitted"]) == (30, 1)
    line = (small / "dev.conllu").read_text(encoding="utf-8").count("\n") + 1
    assert value["omissions"] == [{"id": "#31", "line": line, "reason": "it has no word"}]
    assert result.stderr == f"pyropunct: {odd}: 1 omitted: #31 (it has no word)\n"


def test_evaluate_takes_a_thousand_marks_in_one_slot(small: Path, tmp_path: Path) -> None:
    """Each further mark costs the same: no probability is too small."""
    found = []
    for marks in (250, 500, 1000):
        path = tmp_path / f"{marks}.conllu"
        path.write_text(many_marks(marks), encoding="utf-8")
        found.append(answer("evaluate", small / "model", path)["log_likelihood"])
    assert found[2] < -1000
    assert found[2] - found[1] == pytest.approx(2 * (found[1] - found[0]), rel=1e-9)


def many_marks(number: int) -> str:
    """A sentence of one word, with many commas behind it."""
    commas = (f"{2 + place}\t,\t,\tPUNCT\t_\t_\t1\tpunct\t_\t_" for place in range(number))
    return "\n".join(("# sent_id = many", "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_", *commas)) + "\n\n"


def test_evaluate_leaves_out_what_is_impossible(small: Path, tmp_path: Path) -> None:
    """Where the channel never slips, nobody writes five commas; the other sentences are evaluated."""
    model = Punctuator.load(small / "model")
    model.story.channel.slip_logit = torch.tensor(-1e4)
    model.save(tmp_path / "model")
    dev = (small / "dev.conllu").read_text(encoding="utf-8")
    alone, both = tmp_path / "alone.conllu", tmp_path / "both.conllu"
    alone.write_text(many_marks(5), encoding="utf-8")
    both.write_text(many_marks(5) + dev + many_marks(6).replace("many", "more"), encoding="utf-8")
    without = answer("evaluate", tmp_path / "model", small / "dev.conllu")
    result = invoke("evaluate", tmp_path / "model", both, "--json")
    value, lines = json.loads(result.stdout), (1, dev.count("\n") + 9)
    what = "sentence {!r}: the model cannot produce {} behind the word 'Go' ("
    what += (
        "nothing that it has learned leads there: fit it to text that has this, or leave the sentence out)"
    )
    messages = [
        f"{both}:{line}: {what.format(name, marks)}"
        for line, name, marks in zip(lines, ("many", "more"), (", , , , ,", ", , , , , ,"), strict=True)
    ]
    assert value == {**without, "impossible": messages}
    first = f"{both}: 2 left out as impossible, with which the perplexity would be infinite"
    assert result.stderr.splitlines() == [f"pyropunct: {line}" for line in (first, *messages)]
    assert re.search(r"│ impossible +│ +2 │", invoke("evaluate", tmp_path / "model", both).stdout)
    for name, file in (("evaluate", alone), ("underlying", both)):
        assert complaint(2, name, tmp_path / "model", file) == f"{file}:1: {what.format('many', ', , , , ,')}"


def test_evaluate_prints_the_same_numbers_in_a_table(small: Path) -> None:
    value = answer("evaluate", small / "model", small / "dev.conllu")
    text = printed("evaluate", small / "model", small / "dev.conllu")
    for name in ("sentences", "omitted", "slots"):
        assert re.search(rf"│ {name} +│ +{value[name]:,} │", text)
    for name in ("log likelihood", "perplexity"):
        found = re.search(rf"│ {name} +│ +(-?[\d,.]+) │", text)
        assert found is not None
        assert len(re.sub(r"[^\d]", "", found[1])) <= 4
        assert float(found[1].replace(",", "")) == pytest.approx(value[name.replace(" ", "_")], rel=1e-3)
    assert "with trees: of heads, relations, tags and punctuation together, per slot\n" in text


def test_evaluate_tells_what_the_perplexity_means(small: Path) -> None:
    """Log-likelihoods of the last slots and of the others add up, for the model and for the unigrams."""
    value = answer("evaluate", small / "model", small / "dev.conllu")
    text = printed("evaluate", small / "model", small / "dev.conllu")
    whole = {name: value[name] for name in ("slots", "log_likelihood", "perplexity")}
    for prefix, sums in (("", whole), ("unigram_", value["unigram"])):
        last, others = (value[f"{prefix}{name}_slots"] for name in ("last", "other"))
        assert last["slots"] == 30
        assert last["slots"] + others["slots"] == sums["slots"]
        assert last["log_likelihood"] + others["log_likelihood"] == pytest.approx(sums["log_likelihood"])
        for one in (last, others, sums):
            assert one["perplexity"] == pytest.approx(math.exp(-one["log_likelihood"] / one["slots"]))
    assert value["perplexity"] < value["unigram"]["perplexity"]
    numbers = [value["last_slots"], value["unigram_last_slots"]]
    shown = [f"{one['perplexity']:.4g}" for one in numbers]
    assert re.search(rf"│ last of a sentence +│ +30 │ +{shown[0]} │ +{shown[1]} │", text)


def test_evaluate_with_a_model_that_knows_no_slots_of_its_training(small: Path, tmp_path: Path) -> None:
    replace(Punctuator.load(small / "model"), slot_strings=None).save(tmp_path / "old")
    value = answer("evaluate", tmp_path / "old", small / "dev.conllu")
    assert value["unigram"] is value["unigram_last_slots"] is value["unigram_other_slots"] is None
    assert value["last_slots"] == answer("evaluate", small / "model", small / "dev.conllu")["last_slots"]
    text = printed("evaluate", tmp_path / "old", small / "dev.conllu")
    assert re.search(r"│ others +│ +[\d,]+ │ +[\d.]+ │ +– │", text)
    assert "An older version has fitted this model" in text


# underlying and sample


def test_underlying_as_brackets(small: Path) -> None:
    lines = printed("underlying", small / "model", small / "dev.conllu").splitlines()
    assert len(lines) == 30
    assert all(line.startswith("root[") or line[0] != "[" for line in lines)


def test_underlying_as_conllu_goes_round(small: Path) -> None:
    text = printed("underlying", small / "model", small / "dev.conllu", "--format", "conllu")
    assert "PunctRight=" in text
    again, original = read_text(text), read_treebank(small / "dev.conllu")
    for one, other in zip(again, original, strict=True):
        assert (one.tree, one.surface, one.text()) == (other.tree, other.surface, other.text())


@pytest.mark.parametrize(("options", "trees"), [((), 1), (("--samples", 3), 3)])
def test_underlying_as_json(small: Path, options: tuple[str, int], trees: int) -> None:
    found = answer("underlying", small / "model", small / "dev.conllu", *options)["sentences"]
    for one, sentence in zip(found, read_treebank(small / "dev.conllu"), strict=True):
        assert (one["id"], one["forms"]) == (sentence.identifier, list(sentence.tree.forms))
        assert len(one["trees"]) == trees
        assert all(len(tree) == len(sentence.tree) for tree in one["trees"])
    text = printed("underlying", small / "model", small / "dev.conllu", *options, "--format", "json")
    assert json.loads(text)["sentences"] == found


def test_sample(small: Path) -> None:
    found = answer("sample", small / "model", small / "dev.conllu", "--samples", 3)["sentences"]
    text = printed("sample", small / "model", small / "dev.conllu", "--samples", 3)
    assert [line for one in found for line in one["texts"]] == text.splitlines()
    conllu = printed("sample", small / "model", small / "dev.conllu", "--samples", 3, "--format", "conllu")
    drawn = read_text(conllu)
    assert [sentence.text() for sentence in drawn] == text.splitlines()
    for number, sentence in enumerate(read_treebank(small / "dev.conllu")):
        assert drawn.sentences[3 * number].tree == sentence.tree
    balanced = printed("sample", small / "model", small / "dev.conllu", "--samples", 3, "--balanced")
    assert balanced.count("\n") == text.count("\n")
    assert all(line.count("“") == line.count("”") for line in balanced.splitlines())
    assert any(line.count("“") != line.count("”") for line in text.splitlines())


def test_conllu_has_omitted_sentences_as_they_were(small: Path, tmp_path: Path) -> None:
    odd = "# sent_id = odd\n# note\n1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n"
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:2]
    one, both = tmp_path / "one.conllu", tmp_path / "both.conllu"
    one.write_text("\n\n".join([*blocks, ""]), encoding="utf-8")
    both.write_text("\n\n".join([blocks[0], odd.strip(), blocks[1], ""]), encoding="utf-8")
    options = ("--attach-punctuation", "--format", "conllu")
    first, second, end = printed("underlying", small / "model", one, *options).split("\n\n")
    result = invoke("underlying", small / "model", both, *options)
    assert result.stdout.split("\n\n") == [first, odd.strip(), second, end]
    assert "1 omitted, written as they were: odd (it has no word)\n" in result.stderr


def test_draws_in_conllu_have_identifiers_of_their_own(small: Path, tmp_path: Path) -> None:
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:2]
    nameless = "\n".join(line for line in blocks[1].splitlines() if "sent_id" not in line)
    (tmp_path / "two.conllu").write_text("\n\n".join([blocks[0], nameless, ""]), encoding="utf-8")
    (first, _) = (one.identifier for one in read_treebank(tmp_path / "two.conllu"))
    text = printed("sample", small / "model", tmp_path / "two.conllu", "--samples", 2, "--format", "conllu")
    found = [one.identifier for one in read_text(text)]
    assert found == [f"{first}-1", f"{first}-2", "2-1", "2-2"]


def test_brackets_in_names_are_no_markup(small: Path, tmp_path: Path) -> None:
    odd = tmp_path / "[bold]x[red].conllu"
    odd.write_bytes((small / "dev.conllu").read_bytes())
    assert "[bold]x[red].conllu" in "".join(printed("evaluate", small / "model", odd).split())


def test_a_new_process_on_a_terminal_of_colours_prints_the_same_json(tmp_path: Path) -> None:
    trees = tmp_path / "trees.mrg"
    trees.write_text("(S (NP (NNP Ann)) (VP (VB go)) (. .))\n", encoding="utf-8")
    arguments = ("convert", trees, "--out", tmp_path / "trees.conllu", "--json")
    done = subprocess.run(
        [Path(sys.executable).with_name("pyropunct"), *arguments],
        env=environment(FORCE_COLOR="1", TERM="xterm-256color"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == answer(*arguments[:-1])
