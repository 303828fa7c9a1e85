"""What commands write never destroys what they read, nor files of another kind."""

import errno
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import command, complaint, environment, invoke, one_line, printed
from model_files import copied

from pyropunct.figures.plots import label, svg
from pyropunct.files import written_whole

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT, FAILURE = 2, 1


@pytest.fixture
def treebank(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(small / "dev.conllu", tmp_path / "dev.conllu"))


@pytest.mark.parametrize("plotting", ["rules", "typology"])
def test_a_plot_over_something_else(small: Path, treebank: Path, plotting: str) -> None:
    """The treebank under three names, the model, and what has nothing to do with it."""
    folder = treebank.parent
    model = copied(small / "model", folder / "model")
    (folder / "link").symlink_to(treebank)
    os.link(treebank, folder / "hard link")
    (folder / "thesis.tex").write_text("mine")
    is_input = "is an input file, so it cannot be the output too"
    problems = {
        "dev.conllu": is_input,
        "link": is_input,
        "hard link": is_input,
        "model.safetensors": is_input,
        "thesis.tex": "is there already and is not a picture in SVG; choose another name",
        ".": "is a folder, not a file to write to",
        "none/plot.svg": f"the folder {folder / 'none'} does not exist",
    }
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name, problem in problems.items():
        message = complaint(BAD_INPUT, plotting, model, treebank, "--plot", folder / name)
        assert message == f"{folder / name}: {problem}"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_plot_over_a_disk(small: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = treebank.parent / "disk"
    monkeypatch.setattr(Path, "is_block_device", lambda path: path.name == "disk")
    message = complaint(BAD_INPUT, "rules", small / "model", treebank, "--plot", disk)
    assert message == f"{disk}: is a device, not a file to write to"


def test_a_plot_over_an_older_one(small: Path, treebank: Path) -> None:
    plot = treebank.parent / "plot.svg"
    for _ in range(2):
        printed("rules", small / "model", treebank, "--plot", plot)
        ElementTree.fromstring(plot.read_text(encoding="utf-8"))
    assert sorted(path.name for path in treebank.parent.iterdir()) == ["dev.conllu", "plot.svg"]


def test_unfinished_files_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    source, killed, other = tmp_path / "trees", tmp_path / ".t.abc.new", tmp_path / ".trees.abc.new"
    source.write_text("(S (NP (NNP Mary)) (VP (VBD came)) (. .))\n")
    killed.write_text("half")
    other.write_text("half of another file")
    printed("convert", source, "--out", tmp_path / "t")
    assert {path.name for path in tmp_path.iterdir()} == {"trees", "t", other.name}


def test_scratch_files_have_names_that_nobody_can_foresee(tmp_path: Path) -> None:
    """An input, or a link that somebody has put there, is not written over."""
    source, out, victim = tmp_path / "t.unfinished", tmp_path / "t", tmp_path / "victim"
    source.write_text("(S (NP (NNP Mary)) (VP (VBD came)) (. .))\n")
    victim.write_text("mine")
    (tmp_path / "u.unfinished").symlink_to(victim)
    for one in (out, tmp_path / "u"):
        printed("convert", source, "--out", one)
        assert one.read_text(encoding="utf-8").startswith("# sent_id")
    assert source.read_text().startswith("(S ")
    assert victim.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 5


def test_conversion_over_something_else(tmp_path: Path) -> None:
    source, other = tmp_path / "t.mrg", tmp_path / "notes.md"
    source.write_text("(S (NP (NNP Mary)) (VP (VBD came)) (. .))\n")
    other.write_text("# My notes\n")
    message = complaint(BAD_INPUT, "convert", source, "--out", other)
    assert message == f"{other}: is there already and is not CoNLL-U; choose another name"
    assert other.read_text() == "# My notes\n"


def test_a_corrector_over_its_model(small: Path) -> None:
    for out in (small / "model", small / "model.safetensors"):
        arguments = (small / "train.conllu", "--model", small / "model", "--out", out)
        message = complaint(BAD_INPUT, "fit-correction", *arguments)
        assert message == f"--out {out}: is the model that is given; choose another name"


def test_links_and_rights_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    mask = os.umask(0o022)
    os.umask(mask)
    for content, rights in ((b"one", 0o666 & ~mask), (b"two", 0o640)):
        with written_whole(link) as stream:
            stream.write(content)
        assert (file.read_bytes(), file.stat().st_mode & 0o777) == (content, rights)
        assert link.is_symlink()
        file.chmod(0o640)
    with pytest.raises(AttributeError), written_whole(link) as stream:
        stream.no_such_method(b"three")
    assert file.read_bytes() == b"two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_file_that_does_not_fit_on_the_disk(tmp_path: Path) -> None:
    """The message names it, and the old one is there."""
    old = tmp_path / "old"
    old.write_text("old", encoding="utf-8")
    with pytest.raises(OSError, match="File too large") as told, written_whole(old):
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    assert told.value.filename == str(old)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_text("utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_on_a_full_disk(tmp_path: Path) -> None:
    source = tmp_path / "t.mrg"
    source.write_text("(S (NP (NNP Mary)) (VP (VBD came)) (. .))\n")
    message = complaint(FAILURE, "convert", source, "--out", "/dev/full")
    assert message == "cannot write the results: No space left on device"


# Limits of torch


def test_more_threads_than_torch_can_start(small: Path) -> None:
    result = invoke("evaluate", small / "model", small / "dev.conllu", "--threads", 100_000)
    assert result.exit_code == BAD_INPUT
    assert "100000 is not in the range 1<=x<=1024" in result.stderr


@pytest.mark.parametrize("failure", ["ImportError('no symbol')", "OSError('libtorch.so: cannot open')"])
def test_a_torch_that_cannot_be_loaded(tmp_path: Path, failure: str) -> None:
    (tmp_path / "torch.py").write_text(f"raise {failure}\n")
    start, changed = command("evaluate", "m", "t"), environment(PYTHONPATH=str(tmp_path))
    done = subprocess.run(start, env=changed, capture_output=True, text=True, check=False)
    message = one_line(done.returncode, done.stdout, done.stderr, FAILURE)
    kind, reason = failure.rstrip("')").split("('")
    assert message == f"{kind}: {reason} (set PYROPUNCT_DEBUG=1 to see where)"


# Labels


def test_labels_are_neither_tex_nor_control_characters() -> None:
    def draw(figure: object) -> None:
        figure.subplots().set_yticks([0], [label("$a_1$\x01 \x1b[31m \ufffe")], parse_math=False)  # type: ignore

    drawing = ElementTree.fromstring(svg(draw, 2, 2))
    texts = ["".join(element.itertext()) for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert any("$a_1$\ufffd \ufffd[31m \ufffd" in text for text in texts)
