"""The CRF over words and tags that predicts marks."""

from pathlib import Path

import pytest

from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.papers.transitions.machine import FULL, MIDDLE, NONE
from pyropunct.papers.transitions.mark_crf import MarkCRF, train_mark_crf
from pyropunct.papers.transitions.streams import Stream


def stream(text: str) -> Stream:
    """Words between spaces, with what stands behind them; a full stop ends a sentence."""
    tokens = text.split()
    forms = tuple(token.rstrip(",.") for token in tokens)
    marks = tuple(FULL if one[-1] == "." else MIDDLE if one[-1] == "," else NONE for one in tokens)
    ends = [place for place, mark in enumerate(marks, start=1) if mark == FULL]
    sizes = tuple(end - start for start, end in zip([0, *ends], ends, strict=False))
    return Stream(forms, tuple(form[:1] for form in forms), marks, (), (), sizes)


STREAMS = [stream("so, go. we saw it, but left. so, stay."), stream("it left, but we go. we saw it.")]


def test_marks_depend_on_words_and_tags_around() -> None:
    crf = train_mark_crf(STREAMS, penalty=0.01, least=1)
    assert crf.predict(STREAMS) == [one.targets for one in STREAMS]
    [found] = crf.predict([stream("so you saw it but we go.")])
    assert found == (MIDDLE, NONE, NONE, MIDDLE, NONE, NONE, FULL)


def test_rare_features_have_no_weight_and_weights_have_a_penalty() -> None:
    often, all_of_them = (train_mark_crf(STREAMS, least=least) for least in (2, 1))
    assert len(often.keys) < len(all_of_them.keys)
    assert set(often.keys.tolist()) < set(all_of_them.keys.tolist())
    assert not often.weights[0].any()
    weak = train_mark_crf(STREAMS, penalty=100.0)
    assert weak.weights.abs().max() < often.weights.abs().max() / 5


def test_a_stream_ends_with_a_full_stop_and_may_have_no_word() -> None:
    crf = train_mark_crf(STREAMS)
    assert crf.predict([stream(""), stream("we saw")]) == [(), (NONE, FULL)]


def test_there_must_be_a_word_to_learn_from() -> None:
    for some in ([], [stream("")]):
        with pytest.raises(ValueError, match="no sentence to learn from"):
            train_mark_crf(some)


def test_a_saved_crf_is_the_same(tmp_path: Path) -> None:
    crf = train_mark_crf(STREAMS)
    write_model_file(tmp_path / "crf", *crf.to_parts())
    loaded = MarkCRF.from_parts(*read_model_file(tmp_path / "crf"))
    assert (loaded.weights == crf.weights).all()
    assert loaded.predict(STREAMS) == crf.predict(STREAMS)


def test_other_parts_are_refused() -> None:
    plain, tensors = train_mark_crf(STREAMS, iterations=1).to_parts()
    with pytest.raises(ValueError, match="not the parts of a CRF over marks"):
        MarkCRF.from_parts(plain, {"keys": tensors["keys"]})
