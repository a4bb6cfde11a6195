"""`fit_stream`: what it keeps, forgets and tells while it learns."""

from __future__ import annotations

import pytest

from streaming import bits, model, saved, write
from surelearn import SureTextClassifier, read

pytestmark = pytest.mark.usefixtures("small_blocks")


def test_the_old_model_is_left_if_the_first_block_is_refused(reviews, tmp_path):
    fitted = model().fit_stream(reviews)
    before = bits(fitted)
    with pytest.raises(read.BadInput, match=r"must have a column 'body', got 'text', 'label'"):
        fitted.fit_stream(reviews, text="body")
    with pytest.raises(
        read.BadInput, match=r"must have labels, got none\. Name their column by label\."
    ):
        fitted.fit_stream(write(tmp_path / "b.jsonl", [{"text": "a"}]))
    assert bits(fitted) == before


def test_a_source_that_is_refused_when_going_on_leaves_no_trace(reviews, tmp_path):
    fitted = model().fit_stream(reviews)
    before = saved(fitted, tmp_path / "m.sure")
    with pytest.raises(read.BadInput, match="line 1: expected a JSON object"):
        fitted.fit_stream(write(tmp_path / "b.jsonl", ["no record"]), resume=True)
    other = write(tmp_path / "c.jsonl", [{"text": "a", "label": 1}])
    with pytest.raises(TypeError, match="labels of the same type as before"):
        fitted.fit_stream(other, resume=True)
    assert saved(fitted, tmp_path / "m.sure") == before


def test_progress_tells_where_a_pass_is(reviews):
    seen = []
    fitted = model(passes=2).fit_stream(reviews, progress=seen.append)
    assert [p.number for p in seen] == sorted(p.number for p in seen)
    last = seen[-1]
    assert (last.number, last.passes, last.rows, last.n_bad) == (2, 2, 300, 0)
    assert last.n_bytes == last.total == reviews.stat().st_size
    assert last.mistakes == fitted.mistakes_[-1]
    first = [p for p in seen if p.number == 1]
    assert first[-1].mistakes == fitted.mistakes_[0]


def test_predict_sees_the_model_while_it_learns(reviews):
    fitted = model()
    seen = []
    fitted.fit_stream(reviews, progress=lambda p: seen.append(len(fitted.predict(["good film"]))))
    assert set(seen) == {1}


def test_fit_starts_anew_and_forgets_the_stream(reviews):
    fitted = model().fit_stream(reviews)
    assert fitted.stream_.ended
    fitted.fit(["a", "b"], ["x", "y"])
    assert not hasattr(fitted, "stream_")


def test_settings_cannot_change_when_going_on(reviews):
    fitted = model().fit_stream(reviews)
    fitted.ngram_range = (1, 2)
    with pytest.raises(ValueError, match="ngram_range must stay"):
        fitted.fit_stream(reviews, resume=True)


def test_a_subclass_is_refused_before_training_writes_checkpoints(reviews, tmp_path):
    class My(SureTextClassifier):
        pass

    seen = []
    with pytest.raises(TypeError, match="to be saved, got the subclass My"):
        My().fit_stream(reviews, checkpoint=tmp_path / "m.sure", progress=seen.append)
    assert not seen
    assert My().fit_stream(reviews).predict(["good film"]).shape == (1,)
